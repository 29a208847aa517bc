//! Integration tests: one binary for the crate.

mod callable;
mod declarations;
mod globals;
mod hostile;
mod oracles;
mod parked;
mod promises;
mod soak;
mod support;
mod test262;
