//! Time and randomness as the cells see them, handed in by whoever builds the process.
//!
//! Nothing in this crate asks the system for the time or for random bytes except through these two
//! traits, so a test decides both. The invariant: unix time is used for what guests and people
//! read, [`Instant`]s for every deadline.

use std::sync::{Mutex, PoisonError};
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

/// Random bytes asked of the system at once: what some cells need, so that most ask nothing.
const STOCK_BYTES: usize = 1024;

/// The operating system's random bytes, and never anything weaker. They are fetched in stocks; a byte
/// is given out once, and wiped.
pub struct OsRandomness {
    stock: Mutex<Stock>,
}

struct Stock {
    bytes: [u8; STOCK_BYTES],
    used: usize,
}

impl std::fmt::Debug for OsRandomness {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("OsRandomness").finish_non_exhaustive()
    }
}

impl OsRandomness {
    /// Makes sure that the system has random bytes to give.
    ///
    /// # Errors
    /// The system's own reason, in words.
    pub fn new() -> Result<Self, String> {
        let mut bytes = [0; STOCK_BYTES];
        getrandom::fill(&mut bytes).map_err(|error| error.to_string())?;
        Ok(Self {
            stock: Mutex::new(Stock { bytes, used: 0 }),
        })
    }

    fn take<const N: usize>(&self) -> [u8; N] {
        // Nothing panics between the two halves of giving bytes out.
        let mut stock = self.stock.lock().unwrap_or_else(PoisonError::into_inner);
        if stock.used + N > STOCK_BYTES {
            fill(&mut stock.bytes);
            stock.used = 0;
        }
        let mut taken = [0; N];
        let place = stock.used..stock.used + N;
        taken.copy_from_slice(&stock.bytes[place.clone()]);
        stock.bytes[place].fill(0);
        stock.used += N;
        taken
    }
}

impl Randomness for OsRandomness {
    fn bits(&self) -> u128 {
        u128::from_ne_bytes(self.take())
    }

    fn seed(&self) -> [u8; 32] {
        self.take()
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

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn no_stock_is_given_out_twice() {
        let randomness = OsRandomness::new().unwrap();
        let seeds: HashSet<_> = (0..100).map(|_| randomness.seed()).collect();
        let bits: HashSet<_> = (0..100).map(|_| randomness.bits()).collect();
        assert_eq!((seeds.len(), bits.len()), (100, 100));
        assert!(!seeds.contains(&[0; 32]) && !bits.contains(&0));
    }
}
