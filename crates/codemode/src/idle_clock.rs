//! The clock of a suspended cell: how long it may stay idle, and how long it may live.
//!
//! Pure arithmetic on instants that are handed in. Idle time does not run while a `wait` is in
//! flight or an approval is pending; a new suspension starts a fresh count. The life of the cell
//! runs always.

use std::time::{Duration, Instant};

/// The clock of one cell.
#[derive(Clone, Debug)]
pub(crate) struct IdleClock {
    life_end: Instant,
    ttl: Duration,
    idle: Duration,
    idle_since: Option<Instant>,
}

impl IdleClock {
    /// A clock that does not count yet.
    pub(crate) fn new(born: Instant, life: Duration) -> Self {
        Self {
            life_end: born + life,
            ttl: Duration::ZERO,
            idle: Duration::ZERO,
            idle_since: None,
        }
    }

    /// Starts a fresh count.
    pub(crate) fn restart(&mut self, ttl: Duration, now: Instant) {
        self.ttl = ttl;
        self.idle = Duration::ZERO;
        self.idle_since = Some(now);
    }

    /// Starts a fresh count of the same length.
    pub(crate) fn restart_same(&mut self, now: Instant) {
        self.restart(self.ttl, now);
    }

    /// How long the cell may stay idle.
    pub(crate) fn ttl(&self) -> Duration {
        self.ttl
    }

    /// Stops the count where it stands.
    pub(crate) fn pause(&mut self, now: Instant) {
        if let Some(since) = self.idle_since.take() {
            self.idle += now.saturating_duration_since(since);
        }
    }

    /// Goes on counting.
    pub(crate) fn resume(&mut self, now: Instant) {
        self.idle_since.get_or_insert(now);
    }

    /// When the cell expires, as things stand.
    pub(crate) fn expires_at(&self) -> Instant {
        match self.idle_since {
            Some(since) => self
                .life_end
                .min(since + self.ttl.saturating_sub(self.idle)),
            None => self.life_end,
        }
    }

    /// When the cell's life ends, idle or not.
    pub(crate) fn life_end(&self) -> Instant {
        self.life_end
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const SECOND: Duration = Duration::from_secs(1);

    #[test]
    fn idle_time_runs_only_while_nothing_is_pending() {
        let born = Instant::now();
        let mut clock = IdleClock::new(born, 1000 * SECOND);
        assert_eq!(clock.expires_at(), born + 1000 * SECOND);
        clock.restart(10 * SECOND, born + SECOND);
        assert_eq!(clock.expires_at(), born + 11 * SECOND);
        clock.pause(born + 5 * SECOND);
        assert_eq!(clock.expires_at(), born + 1000 * SECOND);
        clock.resume(born + 100 * SECOND);
        assert_eq!(clock.expires_at(), born + 106 * SECOND);
        clock.restart(10 * SECOND, born + 101 * SECOND);
        assert_eq!(clock.expires_at(), born + 111 * SECOND);
    }

    #[test]
    fn life_ends_whatever_happens() {
        let born = Instant::now();
        let mut clock = IdleClock::new(born, 20 * SECOND);
        clock.restart(15 * SECOND, born + 10 * SECOND);
        assert_eq!(clock.expires_at(), born + 20 * SECOND);
        assert_eq!(clock.life_end(), born + 20 * SECOND);
    }
}
