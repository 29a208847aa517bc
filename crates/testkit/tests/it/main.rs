//! Integration tests: one binary for the crate.

mod parked;
mod promises;
mod support;
