//! Integration tests: one binary for the crate.
#![expect(
    clippy::unwrap_used,
    clippy::print_stderr,
    reason = "a test that cannot go on has failed; one that skips says so"
)]

mod catalog;
mod index;
mod properties;
mod search;
mod servers;
mod signatures;
mod support;
mod typescript;
