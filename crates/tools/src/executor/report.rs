//! How a call ended.

use std::sync::Arc;
use std::time::Duration;

use codecell_catalog::ToolId;
use codecell_protocol::{CallState, EffectKind};
use serde_json::Value;

use super::CallRequest;
use crate::output::ToolOutput;

/// Why a call gave no result.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct CallFailure {
    /// The word that programs compare.
    pub code: String,
    /// The text for the model.
    pub message: String,
    /// The tool's id, or what was asked for if there is no such tool.
    pub tool: Arc<str>,
    /// Whether anything can have happened.
    pub effect_status: CallState,
}

/// How a call ended.
#[derive(Debug, Clone)]
pub struct CallReport {
    /// The call.
    pub call_id: Arc<str>,
    /// The tool's id; `None` if there is no such tool.
    pub tool: Option<ToolId>,
    /// Where the call stands.
    pub state: CallState,
    /// What the tool can change.
    pub effect: EffectKind,
    /// The result, which may itself say that it is an error, or why there is none.
    pub outcome: Result<ToolOutput, CallFailure>,
    /// From the request to the report, waiting included.
    pub elapsed: Duration,
    pub(crate) returns_json: bool,
}

impl CallReport {
    /// The value that `tools.call` resolves to, if the call gave a result.
    #[must_use]
    pub fn value(&self) -> Option<Value> {
        let output = self.outcome.as_ref().ok()?;
        Some(output.value(self.returns_json))
    }

    pub(crate) fn unknown_tool(request: CallRequest, tool: Option<ToolId>) -> Self {
        Self {
            call_id: request.call_id,
            tool,
            state: CallState::NotStarted,
            effect: EffectKind::Write,
            outcome: Err(CallFailure {
                code: "unknown_tool".to_owned(),
                message: format!("There is no tool `{}`.", request.tool),
                tool: request.tool,
                effect_status: CallState::NotStarted,
            }),
            elapsed: Duration::ZERO,
            returns_json: false,
        }
    }
}
