//! The sandbox of a command.

use codecell_sandbox::{CacheState, Sandbox, SandboxOptions};

use super::settings::Settings;
use crate::error::CliError;
use crate::streams::Streams;

/// What the person sees while the guest is compiled, which takes seconds and happens once.
const COMPILING: &str = "preparing the sandbox engine, once for this machine";

/// How many cells a command runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Cells {
    /// One, and then the process ends.
    One,
    /// As many at once as are configured, for as long as somebody asks.
    Many,
}

/// Starts the sandbox.
///
/// # Errors
///
/// [`CliError::Unavailable`] when the engine cannot start.
pub(crate) fn start(
    streams: &Streams,
    settings: &Settings,
    cells: Cells,
) -> Result<Sandbox, CliError> {
    let compiling = |_: &str| {
        if streams.shows_progress() {
            streams.progress(COMPILING);
        } else {
            streams.note(COMPILING);
        }
    };
    let code_mode = &settings.agent.code_mode;
    let running = u32::try_from(code_mode.max_running_cells()).unwrap_or(u32::MAX);
    let (max_guests, max_queued) = match cells {
        Cells::One => (1, 1),
        Cells::Many => (running, SandboxOptions::default().max_queued),
    };
    let options = SandboxOptions {
        cache_dir: settings.cache_dir.clone(),
        max_guests,
        max_queued,
        max_memory_bytes: u32::try_from(code_mode.memory_limit_bytes()).unwrap_or(u32::MAX),
        one_shot: cells == Cells::One,
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
