//! Integration tests: one binary for the crate.
#![cfg_attr(
    test,
    expect(
        clippy::unwrap_used,
        clippy::panic,
        reason = "a test that cannot go on fails"
    )
)]

mod approvals;
mod arguments;
mod calls;
mod core;
mod denied;
mod hooks;
mod policy;
mod properties;
mod real_schemas;
mod support;
mod texts;
mod turns;
