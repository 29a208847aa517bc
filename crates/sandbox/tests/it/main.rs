//! Integration tests: one binary for the crate.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    clippy::panic,
    reason = "tests"
)]

mod cache;
mod guest;
mod harness;
mod hooks;
mod liar;
mod replies;
mod snapshots;
