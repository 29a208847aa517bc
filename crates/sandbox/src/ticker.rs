//! The ticker: raises the epoch each millisecond while a guest runs.
//!
//! It decides nothing; each running guest judges itself at the tick. Without a running guest it
//! sleeps, after a short linger that spares steady use a wake-up per entry.

use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::sync::{Arc, OnceLock};
use std::thread::Thread;
use std::time::Duration;

use wasmtime::Engine;

use crate::error::SandboxError;

const TICK: Duration = Duration::from_millis(1);

/// Ticks without a guest before the ticker sleeps.
const LINGER_TICKS: u32 = 50;

#[derive(Debug, Default)]
struct Shared {
    running: AtomicUsize,
    asleep: AtomicBool,
    closed: AtomicBool,
    ticks: AtomicUsize,
}

/// A ticker thread, started at first use and ended with its owner.
#[derive(Debug)]
pub(crate) struct Ticker {
    engine: Engine,
    shared: Arc<Shared>,
    thread: OnceLock<Thread>,
}

/// Keeps the ticker going while it lives.
#[derive(Debug)]
pub(crate) struct Running<'a> {
    ticker: &'a Ticker,
}

impl Ticker {
    pub(crate) fn new(engine: Engine) -> Self {
        Self {
            engine,
            shared: Arc::default(),
            thread: OnceLock::new(),
        }
    }

    /// Starts the thread, so that [`enter`](Self::enter) cannot fail later.
    pub(crate) fn start(&self) -> Result<(), SandboxError> {
        let (engine, shared) = (self.engine.clone(), Arc::clone(&self.shared));
        let spawned = std::thread::Builder::new()
            .name("codecell-ticker".to_owned())
            .spawn(move || tick(&engine, &shared));
        let handle = spawned.map_err(|error| SandboxError::Thread(error.to_string()))?;
        // The handle is dropped: the thread ends by itself when the owner is gone.
        let _ = self.thread.set(handle.thread().clone());
        Ok(())
    }

    /// Announces a running guest.
    pub(crate) fn enter(&self) -> Running<'_> {
        self.shared.running.fetch_add(1, Ordering::SeqCst);
        if self.shared.asleep.load(Ordering::SeqCst) {
            self.wake();
        }
        Running { ticker: self }
    }

    fn wake(&self) {
        if let Some(thread) = self.thread.get() {
            thread.unpark();
        }
    }

    #[cfg(test)]
    fn ticks(&self) -> usize {
        self.shared.ticks.load(Ordering::SeqCst)
    }

    #[cfg(test)]
    fn is_asleep(&self) -> bool {
        self.shared.asleep.load(Ordering::SeqCst)
    }
}

impl Drop for Running<'_> {
    fn drop(&mut self) {
        self.ticker.shared.running.fetch_sub(1, Ordering::SeqCst);
    }
}

impl Drop for Ticker {
    fn drop(&mut self) {
        self.shared.closed.store(true, Ordering::SeqCst);
        self.wake();
    }
}

fn tick(engine: &Engine, shared: &Shared) {
    let mut idle_ticks = 0;
    while !shared.closed.load(Ordering::SeqCst) {
        if idle_ticks >= LINGER_TICKS {
            sleep_until_entered(shared);
            idle_ticks = 0;
        }
        std::thread::sleep(TICK);
        engine.increment_epoch();
        shared.ticks.fetch_add(1, Ordering::SeqCst);
        let idle = shared.running.load(Ordering::SeqCst) == 0;
        idle_ticks = if idle { idle_ticks + 1 } else { 0 };
    }
}

/// Raising the flag before looking at the count, both in one total order, cannot miss an entry:
/// whoever counts up after the look finds the flag.
fn sleep_until_entered(shared: &Shared) {
    shared.asleep.store(true, Ordering::SeqCst);
    while shared.running.load(Ordering::SeqCst) == 0 && !shared.closed.load(Ordering::SeqCst) {
        std::thread::park();
    }
    shared.asleep.store(false, Ordering::SeqCst);
}

#[cfg(test)]
mod tests {
    use std::time::Instant;

    use super::*;

    fn until(what: impl Fn() -> bool) -> bool {
        let start = Instant::now();
        while !what() {
            if start.elapsed() > Duration::from_secs(20) {
                return false;
            }
            std::thread::yield_now();
        }
        true
    }

    #[test]
    fn it_sleeps_without_guests_and_wakes_for_one() {
        let ticker = Ticker::new(Engine::default());
        ticker.start().unwrap();
        assert!(until(|| ticker.is_asleep()));
        let asleep = ticker.ticks();
        let running = ticker.enter();
        assert!(until(|| ticker.ticks() > asleep + 5));
        drop(running);
        assert!(until(|| ticker.is_asleep()));
    }

    #[test]
    fn it_never_sleeps_under_a_guest() {
        let ticker = Ticker::new(Engine::default());
        ticker.start().unwrap();
        let _running = ticker.enter();
        let start = ticker.ticks();
        assert!(until(|| ticker.ticks() > start + 2 * LINGER_TICKS as usize));
    }
}
