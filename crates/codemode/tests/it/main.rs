//! Integration tests: one binary for the crate. Every test goes through the public interface.
#![cfg_attr(
    test,
    expect(
        clippy::unwrap_used,
        clippy::panic,
        reason = "a test that cannot go on fails"
    )
)]

mod advice;
mod approvals;
mod cells;
mod effects;
mod failures;
mod hostile;
mod life;
mod limits;
mod mcp;
mod output;
mod pages;
mod recorded;
mod support;
mod surface;
