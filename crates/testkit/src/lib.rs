//! Development only: hermetic environments, redaction, the data from outside, fakes and oracles.
//!
//! No crate outside of tests depends on this one. Whatever is here makes a test the same on every
//! machine: nothing of the developer's home, environment or terminal reaches the code under test.

#![forbid(unsafe_code)]

pub mod data;
pub mod engine;
pub mod hermetic;
pub mod hostile;
pub mod oracles;
pub mod parked;
pub mod places;
pub mod promises;
pub mod redact;
pub mod servers;
pub mod soak;
pub mod test262;
