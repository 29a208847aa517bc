//! One sandbox for all tests of a binary, so that the guest is loaded once.

#![expect(clippy::panic, reason = "no test can go on without a sandbox")]

use std::sync::OnceLock;

use codecell_sandbox::{Sandbox, SandboxOptions};

use crate::places::engine_cache;

/// The sandbox that the tests of this process share.
///
/// # Panics
///
/// When the sandbox cannot start: no test of it can go on then.
#[must_use]
pub fn sandbox() -> Sandbox {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    let start = || {
        let options = SandboxOptions {
            cache_dir: Some(engine_cache()),
            ..SandboxOptions::default()
        };
        Sandbox::new(&options).unwrap_or_else(|error| panic!("the sandbox does not start: {error}"))
    };
    SANDBOX.get_or_init(start).clone()
}
