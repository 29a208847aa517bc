//! Code mode of a command: one run, whose scope is state folder, workspace and agent.

use std::sync::Arc;
use std::time::{Duration, Instant};

use codecell_codemode::{
    CodeMode, CodeModeOptions, CodeModeParts, OsRandomness, OutputOverflow, ProcessLimits,
    RunContext, Scope, SnapshotStore, SystemClock,
};
use codecell_config as config;
use codecell_protocol::Language;
use codecell_sandbox::Sandbox;
use tokio::runtime::Handle;
use tokio_util::sync::CancellationToken;

use super::settings::Settings;
use super::tooling::Tooling;
use crate::error::CliError;
use crate::machine;

/// Code mode over these tools. To be called on the runtime that the tools run on.
///
/// # Errors
///
/// [`CliError::Unavailable`] when the system has no random bytes to give.
pub(crate) fn build(
    settings: &Settings,
    tooling: &Tooling,
    sandbox: Sandbox,
    store: Option<Arc<dyn SnapshotStore>>,
) -> Result<CodeMode, CliError> {
    let randomness = OsRandomness::new().map_err(|reason| CliError::Unavailable {
        message: format!("the system gives no random bytes: {reason}"),
        hint: "codecell takes them from getrandom(2); a sandbox around it may block that call"
            .to_owned(),
    })?;
    Ok(CodeMode::new(CodeModeParts {
        sandbox,
        executor: Arc::clone(&tooling.executor),
        clock: Arc::new(SystemClock),
        randomness: Arc::new(randomness),
        runtime: Handle::current(),
        limits: process_limits(&settings.agent.code_mode),
        hooks: Vec::new(),
        transport: None,
        store,
        keep_records: settings.agent.code_mode.records(),
    }))
}

/// Half of the memory for guests and a quarter for suspended cells, where nothing is configured.
fn process_limits(options: &config::CodeModeOptions) -> ProcessLimits {
    let defaults = ProcessLimits::default();
    let memory = match (
        options.max_guest_memory_bytes(),
        options.max_suspended_bytes(),
    ) {
        (Some(_), Some(_)) => None,
        _ => machine::memory_bytes(),
    };
    let share = |parts: u64, default: u64| memory.map_or(default, |bytes| bytes / parts);
    ProcessLimits {
        max_guest_memory_bytes: options
            .max_guest_memory_bytes()
            .unwrap_or_else(|| share(2, defaults.max_guest_memory_bytes)),
        max_suspended_bytes: options
            .max_suspended_bytes()
            .unwrap_or_else(|| share(4, defaults.max_suspended_bytes)),
    }
}

/// The run of this command. `time` is the deadline that the person set, `person` says whether
/// somebody can be asked.
pub(crate) fn run_context(
    settings: &Settings,
    tooling: &Tooling,
    abort: CancellationToken,
    time: Option<Duration>,
    person: bool,
) -> RunContext {
    let workspace = settings.workspace.display().to_string();
    let owner = settings
        .state_dir
        .as_ref()
        .map_or_else(String::new, |state| state.display().to_string());
    let scope = Scope::new(&owner, &settings.agent.id, &workspace, &workspace);
    RunContext {
        abort,
        deadline: time.and_then(|time| Instant::now().checked_add(time)),
        ..RunContext::new(scope, tooling.set.clone())
    }
    .with_options(convert(&settings.agent.code_mode, person))
}

/// Code mode's options for a command. With a person at the terminal an approval holds an answer
/// back without bound.
pub(crate) fn convert(options: &config::CodeModeOptions, person: bool) -> CodeModeOptions {
    CodeModeOptions {
        languages: options
            .languages()
            .iter()
            .map(|&one| language(one))
            .collect(),
        timeout_ms: options.timeout_ms(),
        memory_limit_bytes: options.memory_limit_bytes(),
        max_output_bytes: options.max_output_bytes(),
        max_snapshot_bytes: options.max_snapshot_bytes(),
        max_pending_tool_calls: options.max_pending_tool_calls(),
        snapshot_ttl_seconds: options.snapshot_ttl_seconds(),
        search_default_limit: options.search_default_limit(),
        max_search_limit: options.max_search_limit(),
        max_suspended_runs: options.max_suspended_runs(),
        output_overflow: match options.output_overflow() {
            config::OutputOverflow::Fail => OutputOverflow::Fail,
            config::OutputOverflow::Truncate => OutputOverflow::Truncate,
        },
        prompt_index_chars: options.prompt_index_chars(),
        max_guest_ms: options.max_guest_ms(),
        approval_hold_ms: (!person).then(|| options.approval_hold_ms()),
        approval_ttl_seconds: options.approval_ttl_seconds(),
        ..CodeModeOptions::default()
    }
}

fn language(language: config::Language) -> Language {
    match language {
        config::Language::JavaScript => Language::JavaScript,
        config::Language::TypeScript => Language::TypeScript,
    }
}
