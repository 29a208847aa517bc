//! How guests that run at the same time share the processors.
//!
//! The system's scheduler alone would let a few spinning guests delay everyone else, and each other's
//! deadlines, by tens of milliseconds. So a guest that has run for long steps aside by itself: it is
//! asked each millisecond anyway whether it must stop, and sleeps there while a young slice runs, or
//! in turns when there are more long ones than processors. A sleeper is woken in time for its own
//! deadline, and is never asked to sleep twice without having run in between.

use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

/// How long a guest steps aside for young slices.
const COURTESY: Duration = Duration::from_millis(1);

/// The longest that a guest waits for its turn among long ones.
const MAX_TURN: Duration = Duration::from_millis(12);

/// The slices that run now.
#[derive(Debug)]
pub(crate) struct Crowd {
    young: AtomicUsize,
    long: AtomicUsize,
    processors: usize,
}

/// One running slice. It counts until it is dropped.
#[derive(Debug)]
pub(crate) struct Member {
    crowd: Arc<Crowd>,
    is_long: bool,
}

impl Crowd {
    pub(crate) fn new(processors: usize) -> Self {
        Self {
            young: AtomicUsize::new(0),
            long: AtomicUsize::new(0),
            processors: processors.max(1),
        }
    }

    pub(crate) fn enter(self: &Arc<Self>) -> Member {
        self.young.fetch_add(1, Ordering::Relaxed);
        Member {
            crowd: Arc::clone(self),
            is_long: false,
        }
    }
}

impl Member {
    /// From now on this slice steps aside for others.
    pub(crate) fn becomes_long(&mut self) {
        if !std::mem::replace(&mut self.is_long, true) {
            self.crowd.long.fetch_add(1, Ordering::Relaxed);
            self.crowd.young.fetch_sub(1, Ordering::Relaxed);
        }
    }

    /// How long this slice should sleep now.
    pub(crate) fn pause(&self) -> Option<Duration> {
        if !self.is_long {
            return None;
        }
        if self.crowd.young.load(Ordering::Relaxed) > 0 {
            return Some(COURTESY);
        }
        let rounds = self
            .crowd
            .long
            .load(Ordering::Relaxed)
            .div_ceil(self.crowd.processors);
        let turns = u32::try_from(rounds.saturating_sub(1)).unwrap_or(u32::MAX);
        (turns > 0).then(|| COURTESY.saturating_mul(turns).min(MAX_TURN))
    }
}

impl Drop for Member {
    fn drop(&mut self) {
        let counter = if self.is_long {
            &self.crowd.long
        } else {
            &self.crowd.young
        };
        counter.fetch_sub(1, Ordering::Relaxed);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn long(crowd: &Arc<Crowd>, count: usize) -> Vec<Member> {
        let mut members: Vec<Member> = (0..count).map(|_| crowd.enter()).collect();
        members.iter_mut().for_each(Member::becomes_long);
        members
    }

    #[test]
    fn as_many_as_processors_run_on() {
        let crowd = Arc::new(Crowd::new(2));
        let members = long(&crowd, 2);
        assert_eq!(members[0].pause(), None);
    }

    #[test]
    fn more_than_processors_take_turns() {
        let crowd = Arc::new(Crowd::new(2));
        assert_eq!(long(&crowd, 3)[0].pause(), Some(COURTESY));
        assert_eq!(long(&crowd, 16)[0].pause(), Some(7 * COURTESY));
        assert_eq!(long(&crowd, 1000)[0].pause(), Some(MAX_TURN));
        assert_eq!(long(&crowd, 1)[0].pause(), None);
    }

    #[test]
    fn long_ones_step_aside_for_a_young_one_which_does_not() {
        let crowd = Arc::new(Crowd::new(8));
        let members = long(&crowd, 1);
        let young = crowd.enter();
        assert_eq!((members[0].pause(), young.pause()), (Some(COURTESY), None));
        drop(young);
        assert_eq!(members[0].pause(), None);
    }
}
