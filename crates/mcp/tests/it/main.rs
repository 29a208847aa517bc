//! The room's integration tests: one binary.
//!
//! The same binary is the scripted servers that the tests talk to: see [`fake`].
#![cfg_attr(
    test,
    expect(clippy::unwrap_used, reason = "a test that cannot go on fails")
)]

mod calls;
mod fake;
mod http;
mod life;
mod lists;
mod questions;
mod support;
mod tls;

/// No test by itself: here a test binary that was started as a server becomes one.
#[test]
fn become_a_server() {
    fake::serve_if_asked();
}
