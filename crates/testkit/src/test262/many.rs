//! Many tests, side by side on all processors.

use std::num::NonZero;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;

use codecell_sandbox::Sandbox;

use super::{Harness, Outcome, Test, run};

/// Runs every test; the outcomes are in the order of the tests.
#[must_use]
pub fn run_all(sandbox: &Sandbox, harness: Harness, tests: Vec<Test>) -> Vec<(Test, Outcome)> {
    let work = Arc::new((harness, tests));
    let next = Arc::new(AtomicUsize::new(0));
    let (send, receive) = mpsc::channel();
    let threads = std::thread::available_parallelism().map_or(1, NonZero::get);
    for _ in 0..threads {
        let (work, next, send, inner) = (work.clone(), next.clone(), send.clone(), sandbox.clone());
        let job = move |thread: &codecell_sandbox::GuestThread| {
            loop {
                let index = next.fetch_add(1, Ordering::Relaxed);
                let Some(test) = work.1.get(index) else { break };
                // The receiver waits below; it cannot be gone.
                let _ = send.send((index, run::run(&inner, thread, &work.0, test)));
            }
        };
        // A refused worker leaves its share to the others; without any, every test counts as not run.
        let _ = sandbox.spawn("test262", job);
    }
    drop(send);
    let mut outcomes: Vec<Outcome> = vec![Err("not run".to_owned()); work.1.len()];
    for (index, outcome) in receive {
        outcomes[index] = outcome;
    }
    work.1.iter().cloned().zip(outcomes).collect()
}
