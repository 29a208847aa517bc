//! Time and randomness as the cells see them, handed in by whoever builds the process.
//!
//! Nothing in this crate asks the system for the time or for random bytes except through these two
//! traits, so a test decides both. The invariant: unix time is used for what guests and people
//! read, [`Instant`]s for every deadline.

use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// The two clocks.
pub trait Clock: Send + Sync {
    /// Microseconds since the Unix epoch.
    fn unix_us(&self) -> u64;

    /// The monotonic clock that deadlines are measured on.
    fn now(&self) -> Instant;
}

/// Source of ids and of the guests' seeds.
pub trait Randomness: Send + Sync {
    /// 128 unpredictable bits.
    fn bits(&self) -> u128;

    /// 32 unpredictable bytes: the source of all randomness of one leg.
    fn seed(&self) -> [u8; 32];
}

/// The system's clocks.
#[derive(Clone, Copy, Debug, Default)]
pub struct SystemClock;

impl Clock for SystemClock {
    fn unix_us(&self) -> u64 {
        let since = SystemTime::now().duration_since(UNIX_EPOCH);
        since.map_or(0, micros)
    }

    fn now(&self) -> Instant {
        Instant::now()
    }
}

/// The operating system's random bytes, and never anything weaker.
#[derive(Clone, Debug)]
pub struct OsRandomness {
    _checked: (),
}

impl OsRandomness {
    /// Makes sure that the system has random bytes to give.
    ///
    /// # Errors
    /// The system's own reason, in words.
    pub fn new() -> Result<Self, String> {
        let mut probe = [0_u8; 16];
        getrandom::fill(&mut probe).map_err(|error| error.to_string())?;
        Ok(Self { _checked: () })
    }
}

impl Randomness for OsRandomness {
    fn bits(&self) -> u128 {
        let mut bytes = [0_u8; 16];
        fill(&mut bytes);
        u128::from_ne_bytes(bytes)
    }

    fn seed(&self) -> [u8; 32] {
        let mut bytes = [0_u8; 32];
        fill(&mut bytes);
        bytes
    }
}

/// Fills from the system. It answered when this value was made and cannot stop answering
/// afterwards; an interrupted request is asked again.
fn fill(bytes: &mut [u8]) {
    while getrandom::fill(bytes).is_err() {
        std::thread::yield_now();
    }
}

/// Whole microseconds of a duration.
pub(crate) fn micros(duration: Duration) -> u64 {
    u64::try_from(duration.as_micros()).unwrap_or(u64::MAX)
}

/// Whole milliseconds of a duration.
pub(crate) fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
