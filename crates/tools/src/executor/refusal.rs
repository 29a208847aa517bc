//! Every reason for which the executor itself ends a call, its code and its text.

use codecell_catalog::{ResolveError, ToolId};

use crate::approval::NotApproved;
use crate::error::ToolError;
use crate::schema::{Mismatch, SchemaError};
use crate::toolset::LookupError;

/// Why a call was not handed to its tool. Nothing has happened.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Refusal {
    /// The name leads to no tool that can be called.
    #[error(transparent)]
    Lookup(#[from] LookupError),
    /// The tool's schema cannot be used, so its arguments cannot be checked.
    #[error(
        "`{tool}` cannot be called: the schema of its arguments is unusable, because {error}. Only its owner can correct that; use another tool."
    )]
    Unusable { tool: String, error: SchemaError },
    /// The schema refuses the arguments.
    #[error("{}", mismatch_text(tool, mismatch, signature))]
    Arguments {
        tool: String,
        mismatch: Mismatch,
        signature: String,
    },
    /// The arguments are too long.
    #[error(
        "`{tool}` was not called: its arguments are {bytes} bytes of JSON, and {max_bytes} is the most for one call. Split the work over several calls."
    )]
    ArgumentsTooLarge {
        tool: String,
        bytes: usize,
        max_bytes: usize,
    },
    /// The arguments are nested too deeply.
    #[error("`{tool}` was not called: its arguments are nested more than {max_depth} levels deep.")]
    ArgumentsTooDeep { tool: String, max_depth: usize },
    /// The tool itself found the arguments impossible when it was asked what needs an approval.
    #[error("{0}")]
    Tool(#[from] ToolError),
    /// The tool crashed when it was asked what needs an approval.
    #[error("`{tool}` was not called: it failed while its arguments were examined.")]
    Unexamined { tool: String },
    /// A hook refused.
    #[error("`{tool}` was not called: it was blocked. {reason}")]
    Blocked { tool: String, reason: String },
    /// A hook failed.
    #[error("`{tool}` was not called: Tool call blocked because before_tool_call hook failed.")]
    HookFailed { tool: String },
    /// It was not approved.
    #[error("`{tool}` was not called: {}", approval_text(why))]
    NotApproved { tool: String, why: NotApproved },
    /// The call was aborted before it was handed over.
    #[error("`{tool}` was not called: the run was aborted first.")]
    Aborted { tool: String },
}

impl Refusal {
    /// The word that programs compare.
    pub(super) fn code(&self) -> &str {
        match self {
            Self::Lookup(LookupError::Resolve(ResolveError::Unknown { .. })) => "unknown_tool",
            Self::Lookup(LookupError::Resolve(ResolveError::Ambiguous { .. })) => "ambiguous_tool",
            Self::Lookup(LookupError::Resolve(ResolveError::Mcp { .. })) => "mcp_tool",
            Self::Lookup(LookupError::Mcp(_)) => "unknown_tool",
            Self::Lookup(LookupError::Gone { .. }) => "tool_gone",
            Self::Unusable { .. } | Self::Unexamined { .. } => "tool_unavailable",
            Self::Arguments { .. }
            | Self::ArgumentsTooLarge { .. }
            | Self::ArgumentsTooDeep { .. } => "invalid_arguments",
            Self::Tool(error) => error.code(),
            Self::Blocked { .. } | Self::HookFailed { .. } => "blocked",
            Self::NotApproved { why, .. } => approval_code(why),
            Self::Aborted { .. } => "aborted",
        }
    }
}

pub(super) fn approval_code(why: &NotApproved) -> &'static str {
    match why {
        NotApproved::Denied { .. } => "approval_denied",
        NotApproved::Unavailable | NotApproved::SwitchedOff => "approval_unavailable",
        NotApproved::Expired => "approval_expired",
        NotApproved::Aborted => "aborted",
    }
}

pub(super) fn approval_text(why: &NotApproved) -> String {
    match why {
        NotApproved::Denied { reason: None } => {
            "Denied by user. Do not repeat the call; ask what to do instead.".to_owned()
        }
        NotApproved::Denied {
            reason: Some(reason),
        } => format!("Denied by user: {reason}"),
        NotApproved::Unavailable => {
            "it needs an approval, and there is nobody to ask (no approval route).".to_owned()
        }
        NotApproved::SwitchedOff => {
            "it needs an approval, and this run approves nothing.".to_owned()
        }
        NotApproved::Expired => "Approval timed out.".to_owned(),
        NotApproved::Aborted => "Approval cancelled (run aborted).".to_owned(),
    }
}

fn mismatch_text(tool: &str, mismatch: &Mismatch, signature: &str) -> String {
    let mut text = format!("`{tool}` was not called: its arguments do not fit.");
    for problem in &mismatch.problems {
        text.push_str("\n- ");
        text.push_str(problem);
    }
    if mismatch.more > 0 {
        text.push_str(&format!("\n- and {} more", mismatch.more));
    }
    text.push_str(&format!("\nExpected: {tool}({signature})"));
    text
}

/// Why a call that was handed over gave no result that can be used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub(super) enum Breakdown {
    /// The tool crashed.
    #[error(
        "`{tool}` crashed in the middle of the call. Whether it had effects is unknown: look before you call it again."
    )]
    Crashed { tool: ToolId },
    /// The call was aborted in the middle.
    #[error(
        "`{tool}` was aborted in the middle of the call. Whether it had effects is unknown: look before you call it again."
    )]
    Aborted { tool: ToolId },
    /// The result is too large to be passed on.
    #[error(
        "`{tool}` did its work, but its result has {bytes} bytes, and {max_bytes} is the most that one call can return. Do not repeat the call as it is; ask for less."
    )]
    OutputTooLarge {
        tool: ToolId,
        bytes: usize,
        max_bytes: usize,
    },
}

impl Breakdown {
    /// The word that programs compare.
    pub(super) fn code(&self) -> &'static str {
        match self {
            Self::Crashed { .. } => "tool_crashed",
            Self::Aborted { .. } => "aborted",
            Self::OutputTooLarge { .. } => "result_too_large",
        }
    }
}
