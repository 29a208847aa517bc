//! Integration tests: one binary for the crate.
#![cfg_attr(
    test,
    expect(
        clippy::unwrap_used,
        clippy::expect_used,
        clippy::print_stderr,
        reason = "tests"
    )
)]

mod data;
mod hostile;
mod programs;
mod properties;
mod texts;
mod typescript_oracle;
