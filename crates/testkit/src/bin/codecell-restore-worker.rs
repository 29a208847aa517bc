//! Restores guests that another process parked, and runs them to their next pause.
//!
//! Started by the tests of suspension; see `codecell_testkit::parked`.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    let sandbox = codecell_testkit::engine::sandbox();
    let inner = sandbox.clone();
    match sandbox.run("worker", move |thread| {
        codecell_testkit::parked::serve(&inner, thread)
    }) {
        Ok(Some(Ok(()))) => ExitCode::SUCCESS,
        _ => ExitCode::FAILURE,
    }
}
