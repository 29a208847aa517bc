//! Between the core tools and the traits of this crate: blocking work, failures, approvals.

use std::sync::Arc;

use super::error::CoreError;
use super::options::CoreLimits;
use super::stop::Stop;
use super::workspace::Workspace;
use crate::{ApprovalNeed, CallContext, ToolDefinition, ToolError};

/// What all file tools share.
#[derive(Debug)]
pub(crate) struct Files {
    pub(crate) workspace: Arc<Workspace>,
    pub(crate) limits: CoreLimits,
}

/// Runs `work` on a blocking thread; it is told to stop when the call is aborted or its future dropped.
pub(crate) async fn blocking<T, F>(ctx: &CallContext, work: F) -> Result<T, CoreError>
where
    T: Send + 'static,
    F: FnOnce(&Stop) -> Result<T, CoreError> + Send + 'static,
{
    let token = ctx.abort.child_token();
    let stop = Stop::new(token.clone());
    let _stops_when_dropped = token.drop_guard();
    let task = tokio::task::spawn_blocking(move || {
        stop.check()?;
        work(&stop)
    });
    task.await.unwrap_or_else(|error| {
        Err(CoreError::Process(format!(
            "the work ended without a result: {error}"
        )))
    })
}

impl From<CoreError> for ToolError {
    fn from(error: CoreError) -> Self {
        let message = error.to_string();
        let failure = Self::new(error.code(), message);
        if matches!(error, CoreError::HalfDone { .. }) {
            failure
        } else {
            failure.without_effect()
        }
    }
}

impl CoreError {
    /// The word that programs compare.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Input(_) | Self::BadPath { .. } => "invalid_arguments",
            Self::Outside { .. } => "outside_workspace",
            Self::Denied { .. } => "denied_path",
            Self::NeedsApproval { .. } => "needs_approval",
            Self::Missing { .. } => "not_found",
            Self::Exists { .. } => "already_exists",
            Self::NotAFile { .. } => "not_a_file",
            Self::NotADirectory { .. } => "not_a_directory",
            Self::Loop { .. } => "link_loop",
            Self::TooLarge { .. } => "too_large",
            Self::Binary { .. } => "binary_file",
            Self::Changed { .. } => "changed",
            Self::NoSpace { .. } => "no_space",
            Self::ReadOnly { .. } => "read_only",
            Self::Permission { .. } => "permission_denied",
            Self::Io { .. } => "io",
            Self::Mismatch(_) => "no_match",
            Self::Patch(_) => "bad_patch",
            Self::HalfDone { .. } => "half_done",
            Self::Process(_) => "process",
            Self::Refused(_) => "refused",
            Self::Transfer(_) => "transfer",
            Self::Stopped => "aborted",
        }
    }
}

/// Whether `path`, taken by its words alone, goes through `.git`. Case is ignored: some file systems do.
pub(crate) fn names_git(path: &std::path::Path) -> bool {
    path.components()
        .any(|c| c.as_os_str().eq_ignore_ascii_case(".git"))
}

/// The question of a tool that changes files, and a second one if any of `paths` goes through `.git`.
pub(crate) fn write_needs<'a>(
    definition: &ToolDefinition,
    mut paths: impl Iterator<Item = &'a str>,
) -> Vec<ApprovalNeed> {
    let mut needs = vec![ApprovalNeed {
        reason: "changes files in the workspace".to_owned(),
        ..ApprovalNeed::of_tool(definition)
    }];
    if let Some(path) = paths.find(|path| names_git(std::path::Path::new(path))) {
        needs.push(ApprovalNeed {
            key: "git".to_owned(),
            reason: format!(
                "changes `{path}` inside .git, which can make later git commands run programs"
            ),
            covers: format!("changes inside .git by {}", definition.name()),
            asked_once: false,
        });
    }
    needs
}

/// Refuses a change inside `.git` that the arguments did not name as such, so that nobody was asked.
pub(crate) fn require_git_named(given: &str, real: &std::path::Path) -> Result<(), CoreError> {
    if names_git(real) && !names_git(std::path::Path::new(given)) {
        return Err(CoreError::NeedsApproval {
            path: super::workspace::shown(real),
            what: "a change inside `.git`",
        });
    }
    Ok(())
}

/// The definition of a core tool.
pub(crate) fn define(
    name: &str,
    description: &str,
    parameters: serde_json::Value,
) -> Result<ToolDefinition, CoreError> {
    ToolDefinition::core(name, description, parameters)
        .map_err(|error| CoreError::Input(error.to_string()))
}
