//! The tools of a command: core tools over the workspace, policy, approvals, the one executor.

use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use codecell_tools::core::{CoreOptions, CoreTools, WebOptions};
use codecell_tools::{
    ApprovalDesk, ApprovalMode, ApprovalOptions, CallContext, Executor, ExecutorOptions,
    ExecutorParts, Policy, Redactor, ToolSet, ToolSource,
};

use super::settings::{Settings, refused_policy};
use super::{Base, convert};
use crate::activity::Activity;
use crate::approve::TerminalApprover;
use crate::args::{ApproveMode, FilterArgs};
use crate::error::CliError;
use crate::surroundings::ConfigFile;

/// The tools of a command and the way to call them.
pub(crate) struct Tooling {
    /// The core tools; dropping them kills what runs in the background.
    pub(crate) core: Arc<CoreTools>,
    /// What policy left.
    pub(crate) set: ToolSet,
    /// The one way to call it.
    pub(crate) executor: Arc<Executor>,
    /// What the tools are doing.
    pub(crate) activity: Arc<Activity>,
    /// Who is asked.
    pub(crate) approver: Arc<TerminalApprover>,
}

impl Tooling {
    /// Opens the workspace, makes the tools and applies policy.
    ///
    /// # Errors
    ///
    /// [`CliError::Config`] when rules contradict each other or leave nothing,
    /// [`CliError::Workspace`] when the workspace cannot be opened.
    pub(crate) fn build(
        base: &Base,
        settings: &Settings,
        filter: &FilterArgs,
        approve: ApproveMode,
    ) -> Result<Self, CliError> {
        let core = Arc::new(open_core(base, settings)?);
        let config = &settings.loaded.config;
        let rules = convert::policy(config.tools(), &settings.agent, &filter.allow, &filter.deny)
            .map_err(|error| refused_policy(&error))?;
        let policy = Policy::build(&rules).map_err(|error| refused_policy(&error))?;
        let sources: [Arc<dyn ToolSource>; 1] = [Arc::clone(&core) as _];
        let set = ToolSet::build(&sources, &policy).map_err(|error| refused_policy(&error))?;
        for (label, entry) in set.unknown_allow_entries() {
            base.streams.warn(&format!(
                "`{entry}`, allowed by {label}, names no tool that exists here"
            ));
        }
        let approver = Arc::new(TerminalApprover::new(Arc::clone(&base.streams)));
        let activity = Arc::new(Activity::default());
        let executor = Executor::new(ExecutorParts {
            options: ExecutorOptions::default(),
            approvals: desk(settings, approve, &approver),
            hooks: Vec::new(),
            events: Arc::clone(&activity) as _,
            redactor: Redactor::default(),
        });
        Ok(Self {
            core,
            set,
            executor: Arc::new(executor),
            activity,
            approver,
        })
    }
}

fn desk(settings: &Settings, mode: ApproveMode, approver: &Arc<TerminalApprover>) -> ApprovalDesk {
    let options = ApprovalOptions {
        mode: match mode {
            ApproveMode::Ask => ApprovalMode::Ask,
            ApproveMode::Never => ApprovalMode::Never,
            ApproveMode::Always => ApprovalMode::Always,
        },
        fallback: convert::ask_fallback(settings.loaded.config.exec().ask_fallback()),
        ttl: Duration::from_secs(settings.agent.code_mode.approval_ttl_seconds()),
    };
    ApprovalDesk::new(options, Some(Arc::clone(approver) as _))
}

fn open_core(base: &Base, settings: &Settings) -> Result<CoreTools, CliError> {
    let config = &settings.loaded.config;
    let mut options = CoreOptions::new(&settings.workspace);
    options.denied = denied(settings, base.config_file()?.as_ref());
    options.child_env = base.surroundings.child_env();
    options.limits.exec_default_timeout_ms = config.exec().timeout_ms();
    options.limits.exec_max_timeout_ms = options
        .limits
        .exec_max_timeout_ms
        .max(config.exec().timeout_ms());
    options.web = WebOptions {
        allow_hosts: config.web_fetch().allow_hosts.clone(),
        allow_private: config.web_fetch().allow_private_network,
        ..WebOptions::default()
    };
    CoreTools::new(&options).map_err(|error| CliError::Workspace {
        path: settings.workspace.clone(),
        reason: error.to_string(),
    })
}

/// What no file tool reaches, wherever the workspace is.
fn denied(settings: &Settings, config: Option<&ConfigFile>) -> Vec<std::path::PathBuf> {
    let named = config.map(|file| file.path.as_path());
    let read = settings.loaded.report.file.as_deref();
    let all = [
        settings.state_dir.as_deref(),
        settings.cache_dir.as_deref(),
        named,
        read,
    ];
    all.into_iter().flatten().map(Path::to_owned).collect()
}

/// The context of a call that a person makes from the command line.
pub(crate) fn direct_context(settings: &Settings) -> CallContext {
    let session = settings.workspace.display().to_string();
    CallContext::new(&settings.agent.id, &session, &session)
}
