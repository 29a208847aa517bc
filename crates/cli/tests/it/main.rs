//! The real binary, in a home of its own: what a person types, sees and gets back.

#![forbid(unsafe_code)]
#![expect(
    clippy::expect_used,
    clippy::panic,
    clippy::unwrap_used,
    reason = "helpers of tests fail like tests"
)]

mod completions;
mod config;
mod doctor;
mod durable;
mod exec;
mod guide;
mod harness;
mod help;
mod interrupts;
mod mcp;
mod mistakes;
mod oauth;
mod pty;
mod servers;
mod terminal;
mod tools;
