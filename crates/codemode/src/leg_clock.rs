//! The clock of one leg: how long an `exec` or a `wait` may take, and when guest code may start.
//!
//! Pure arithmetic on instants that are handed in. While the guest is idle and every outstanding
//! call waits for a person, the clock stands still, for at most the hold. The invariant: the leg
//! answers at the latest after timeout plus hold, whatever happens.

use std::time::{Duration, Instant};

/// Guest code never starts with less than this left, nor with less than half of the timeout.
const MIN_START: Duration = Duration::from_millis(250);

/// The clock of one leg.
#[derive(Clone, Debug)]
pub(crate) struct LegClock {
    start: Instant,
    timeout: Duration,
    /// `None` for a hold without a bound.
    hold: Option<Duration>,
    held: Duration,
    held_since: Option<Instant>,
}

impl LegClock {
    pub(crate) fn new(start: Instant, timeout: Duration, hold: Option<Duration>) -> Self {
        Self {
            start,
            timeout,
            hold,
            held: Duration::ZERO,
            held_since: None,
        }
    }

    pub(crate) fn start(&self) -> Instant {
        self.start
    }

    /// Stops or restarts the clock.
    pub(crate) fn set_held(&mut self, is_held: bool, now: Instant) {
        match (is_held, self.held_since) {
            (true, None) => self.held_since = Some(now),
            (false, Some(since)) => {
                self.held = self.bounded(self.held + now.saturating_duration_since(since));
                self.held_since = None;
            }
            _ => {}
        }
    }

    /// When the leg must answer, as things stand; `None` while it is held without a bound.
    pub(crate) fn deadline(&self) -> Option<Instant> {
        let held = match (self.held_since, self.hold) {
            (None, _) => self.held,
            (Some(_), Some(hold)) => hold,
            (Some(_), None) => return None,
        };
        Some(self.start + self.timeout + held)
    }

    /// Whether enough is left to start guest code again. That restarts the clock, so what is left
    /// of a hold does not count.
    pub(crate) fn may_start(&self, now: Instant) -> bool {
        let needed = MIN_START.min(self.timeout / 2);
        let mut running = self.clone();
        running.set_held(false, now);
        running
            .deadline()
            .is_none_or(|deadline| deadline.saturating_duration_since(now) >= needed)
    }

    fn bounded(&self, held: Duration) -> Duration {
        self.hold.map_or(held, |hold| held.min(hold))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const MS: Duration = Duration::from_millis(1);

    #[test]
    fn without_approvals_the_deadline_is_the_timeout() {
        let start = Instant::now();
        let clock = LegClock::new(start, 1000 * MS, Some(500 * MS));
        assert_eq!(clock.deadline(), Some(start + 1000 * MS));
        assert!(clock.may_start(start + 750 * MS));
        assert!(!clock.may_start(start + 751 * MS));
    }

    #[test]
    fn a_short_leg_needs_half_of_itself() {
        let start = Instant::now();
        let clock = LegClock::new(start, 100 * MS, Some(MS));
        assert!(clock.may_start(start + 50 * MS));
        assert!(!clock.may_start(start + 51 * MS));
    }

    #[test]
    fn time_spent_on_approvals_is_given_back_up_to_the_hold() {
        let start = Instant::now();
        let mut clock = LegClock::new(start, 1000 * MS, Some(500 * MS));
        clock.set_held(true, start + 100 * MS);
        assert_eq!(clock.deadline(), Some(start + 1500 * MS));
        clock.set_held(false, start + 300 * MS);
        assert_eq!(clock.deadline(), Some(start + 1200 * MS));
        clock.set_held(true, start + 400 * MS);
        clock.set_held(false, start + 1400 * MS);
        assert_eq!(clock.deadline(), Some(start + 1500 * MS));
    }

    #[test]
    fn the_rest_of_a_hold_is_no_time_for_guest_code() {
        let start = Instant::now();
        let mut clock = LegClock::new(start, 1000 * MS, Some(5000 * MS));
        clock.set_held(true, start + 900 * MS);
        assert!(!clock.may_start(start + 950 * MS));
        clock.set_held(false, start + 950 * MS);
        assert_eq!(clock.deadline(), Some(start + 1050 * MS));
    }

    #[test]
    fn at_a_terminal_a_person_has_all_the_time() {
        let start = Instant::now();
        let mut clock = LegClock::new(start, 1000 * MS, None);
        clock.set_held(true, start);
        assert_eq!(clock.deadline(), None);
        assert!(clock.may_start(start + Duration::from_secs(3600)));
        clock.set_held(false, start + Duration::from_secs(3600));
        assert_eq!(clock.deadline(), Some(start + Duration::from_secs(3601)));
    }
}
