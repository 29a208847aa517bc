//! What several modules need.

#![expect(
    clippy::expect_used,
    reason = "a test that panics is a test that fails"
)]

use codecell_sandbox::{GuestThread, Sandbox};
use codecell_testkit::engine::sandbox;

/// Runs a job on a guest thread of the shared sandbox.
pub(crate) fn on_guest_thread<T: Send + 'static>(
    job: impl FnOnce(&Sandbox, &GuestThread) -> T + Send + 'static,
) -> T {
    let sandbox = sandbox();
    let inner = sandbox.clone();
    sandbox
        .run("test", move |thread| job(&inner, thread))
        .expect("a free thread")
        .expect("the job ended")
}
