//! Integration tests: one binary for the crate. Files and environment are maps; no test touches
//! the machine.
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

mod clamps;
mod edit;
mod errors;
mod foreign;
mod generated;
mod includes;
mod layers;
mod support;
