//! The sandbox of a command.

use codecell_sandbox::{CacheState, Sandbox, SandboxOptions};

use super::settings::Settings;
use crate::error::CliError;
use crate::streams::Streams;

/// What the person sees while the guest is compiled, which takes seconds and happens once.
const COMPILING: &str = "preparing the sandbox engine, once for this machine";

/// Starts the sandbox for one cell at a time.
///
/// # Errors
///
/// [`CliError::Unavailable`] when the engine cannot start.
pub(crate) fn start(streams: &Streams, settings: &Settings) -> Result<Sandbox, CliError> {
    let compiling = |_: &str| {
        if streams.shows_progress() {
            streams.progress(COMPILING);
        } else {
            streams.note(COMPILING);
        }
    };
    let memory = settings.agent.code_mode.memory_limit_bytes();
    let options = SandboxOptions {
        cache_dir: settings.cache_dir.clone(),
        max_guests: 1,
        max_queued: 1,
        max_memory_bytes: u32::try_from(memory).unwrap_or(u32::MAX),
        one_shot: true,
        progress: Some(&compiling),
    };
    let sandbox = Sandbox::new(&options).map_err(|error| CliError::Unavailable {
        message: error.to_string(),
        hint: "codecell doctor looks at what this machine allows".to_owned(),
    });
    streams.end_progress();
    if let Ok(sandbox) = &sandbox
        && let CacheState::Unusable { reason } = sandbox.info().cache
    {
        streams.warn(&format!(
            "the compiled engine cannot be kept, so every command compiles it anew: {reason}"
        ));
    }
    sandbox
}
