//! How a call ended.

use std::borrow::Cow;
use std::sync::Arc;
use std::time::Duration;

use codecell_catalog::ToolId;
use codecell_protocol::{CallState, EffectKind};
use serde_json::Value;

use crate::output::{ContentBlock, ToolOutput};

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
    /// Where the call stands in the ledger.
    pub state: CallState,
    /// What the tool can change; `Write` if there is no such tool, because nothing vouches for it.
    pub effect: EffectKind,
    /// The result, which may itself say that it is an error, or why there is none.
    pub outcome: Result<ToolOutput, CallFailure>,
    /// From the request to the report, waiting included.
    pub elapsed: Duration,
    pub(super) returns_json: bool,
}

impl CallReport {
    /// The value that `tools.call` resolves to, if the call gave a result.
    #[must_use]
    pub fn value(&self) -> Option<Cow<'_, Value>> {
        let output = self.outcome.as_ref().ok()?;
        Some(output.value(self.returns_json))
    }

    /// Why `tools.call` rejects: there is no result, or the result says that it is an error.
    /// (`MCP.*` calls resolve to a result that is an error; they look at `outcome`.)
    #[must_use]
    pub fn failure(&self) -> Option<CallFailure> {
        match &self.outcome {
            Err(failure) => Some(failure.clone()),
            Ok(output) if output.is_error => Some(CallFailure {
                code: "tool_error".to_owned(),
                message: error_text(output),
                tool: self.tool.as_ref().map_or("", ToolId::as_str).into(),
                effect_status: self.state,
            }),
            Ok(_) => None,
        }
    }
}

/// What a result that is an error says.
fn error_text(output: &ToolOutput) -> String {
    let texts: Vec<&str> = output
        .content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    match (texts.as_slice(), &output.details) {
        ([], Some(details)) => details.to_string(),
        ([], None) => "the tool reported an error without saying which".to_owned(),
        (texts, _) => texts.join("\n"),
    }
}
