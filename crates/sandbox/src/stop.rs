//! When a running guest must stop, and why.
//!
//! The two-step stop: first a flag in the guest's control block, which the engine honours at its
//! next poll with its stack and output intact; some milliseconds later a trap, for loops that never
//! poll. Both are decided on the guest's own thread, in the epoch callback, so nobody ever touches a
//! running guest's memory from outside. The first reason found is the one reported.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use crate::clock::ThreadClock;
use crate::input::Entry;

/// Time between asking the engine to stop and trapping.
pub(crate) const GRACE: Duration = Duration::from_millis(2);

/// A slice longer than this steps aside for others.
const LONG_SLICE: Duration = Duration::from_millis(10);

/// Stops guests from outside. Clones share one state.
#[derive(Clone, Debug, Default)]
pub struct StopHandle {
    aborted: Arc<AtomicBool>,
}

impl StopHandle {
    /// A handle that has not been used.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    /// Asks every guest that runs, or will be run, with this handle to stop. It may be called at any
    /// instant from any thread, and again without effect. A running guest ends within some 5 ms.
    pub fn abort(&self) {
        self.aborted.store(true, Ordering::Release);
    }

    /// Whether [`abort`](Self::abort) was called.
    #[must_use]
    pub fn is_aborted(&self) -> bool {
        self.aborted.load(Ordering::Acquire)
    }
}

/// Why the host stops a guest.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Reason {
    Aborted,
    Deadline,
    GuestBudget,
}

/// What the epoch callback has to do.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Verdict {
    Continue,
    /// Continue; the slice has become a long one just now.
    Long,
    Interrupt,
    Trap,
}

/// The watch over one slice.
#[derive(Debug)]
pub(crate) struct Watch {
    stop: StopHandle,
    deadline: Instant,
    budget: Duration,
    clock: ThreadClock,
    stopping: Option<(Reason, Instant)>,
    is_long: bool,
}

impl Watch {
    /// Starts watching a slice that begins now on this thread.
    pub(crate) fn start(entry: &Entry, stop: &StopHandle) -> Self {
        Self {
            stop: stop.clone(),
            deadline: entry.deadline,
            budget: entry.guest_budget,
            clock: ThreadClock::start(),
            stopping: None,
            is_long: false,
        }
    }

    /// The reason to stop at this instant, if there is one.
    pub(crate) fn due(&self, now: Instant) -> Option<Reason> {
        if self.stop.is_aborted() {
            return Some(Reason::Aborted);
        }
        if now >= self.deadline {
            return Some(Reason::Deadline);
        }
        // Processor time never exceeds wall time, so the system call is made only near the end.
        let spent = now.saturating_duration_since(self.clock.wall_start()) >= self.budget
            && self.clock.spent() >= self.budget;
        spent.then_some(Reason::GuestBudget)
    }

    /// Judges a running slice.
    pub(crate) fn check(&mut self, now: Instant) -> Verdict {
        if let Some((_, since)) = self.stopping {
            return if now.saturating_duration_since(since) >= GRACE {
                Verdict::Trap
            } else {
                Verdict::Continue
            };
        }
        if let Some(reason) = self.due(now) {
            self.stopping = Some((reason, now));
            return Verdict::Interrupt;
        }
        let long = now.saturating_duration_since(self.clock.wall_start()) >= LONG_SLICE;
        if long && !std::mem::replace(&mut self.is_long, true) {
            return Verdict::Long;
        }
        Verdict::Continue
    }

    /// Time that is left until the deadline.
    pub(crate) fn until_deadline(&self) -> Duration {
        self.deadline.saturating_duration_since(Instant::now())
    }

    /// Why the slice was asked to stop, if it was.
    pub(crate) fn reason(&self) -> Option<Reason> {
        self.stopping.map(|(reason, _)| reason)
    }

    /// Processor time of this thread since the start of the slice.
    pub(crate) fn spent(&self) -> Duration {
        self.clock.spent()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn entry(deadline: Instant, guest_budget: Duration) -> Entry {
        Entry {
            now_us: 0,
            seed: None,
            deadline,
            guest_budget,
        }
    }

    const HOUR: Duration = Duration::from_secs(3600);

    #[test]
    fn deadline_interrupts_then_traps_after_the_grace() {
        let now = Instant::now();
        let mut watch = Watch::start(&entry(now + HOUR, HOUR), &StopHandle::new());
        assert_eq!(watch.check(now), Verdict::Continue);
        assert_eq!(watch.check(now + HOUR), Verdict::Interrupt);
        assert_eq!(watch.check(now + HOUR + GRACE / 2), Verdict::Continue);
        assert_eq!(watch.check(now + HOUR + GRACE), Verdict::Trap);
        assert_eq!(watch.reason(), Some(Reason::Deadline));
    }

    #[test]
    fn the_first_reason_is_kept() {
        let now = Instant::now();
        let stop = StopHandle::new();
        let mut watch = Watch::start(&entry(now, HOUR), &stop);
        assert_eq!(watch.check(now), Verdict::Interrupt);
        stop.abort();
        assert_eq!(watch.check(now + GRACE), Verdict::Trap);
        assert_eq!(watch.reason(), Some(Reason::Deadline));
    }

    #[test]
    fn abort_wins_over_a_passed_deadline() {
        let now = Instant::now();
        let stop = StopHandle::new();
        let watch = Watch::start(&entry(now, HOUR), &stop);
        stop.clone().abort();
        assert_eq!(watch.due(now), Some(Reason::Aborted));
    }

    #[test]
    fn an_empty_budget_is_spent_at_once() {
        let now = Instant::now();
        let watch = Watch::start(&entry(now + HOUR, Duration::ZERO), &StopHandle::new());
        assert_eq!(watch.due(Instant::now()), Some(Reason::GuestBudget));
    }

    #[test]
    fn a_slice_becomes_long_once() {
        let now = Instant::now();
        let mut watch = Watch::start(&entry(now + HOUR, HOUR), &StopHandle::new());
        let later = Instant::now() + LONG_SLICE;
        assert_eq!(watch.check(later), Verdict::Long);
        assert_eq!(watch.check(later), Verdict::Continue);
    }
}
