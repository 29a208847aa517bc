//! The seam for others to look at calls: before one is judged for approval, and after it ended.
//!
//! A hook can refuse a call, replace its arguments or demand an approval. It cannot allow what
//! policy removed: policy has been applied before.

use async_trait::async_trait;
use serde_json::Value;

use crate::approval::ApprovalNeed;
use crate::context::CallContext;
use crate::executor::CallReport;
use crate::tool::ToolDefinition;

/// What a hook wants of a call that is about to be made.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct BeforeCall {
    /// Refuse, and why. The first hook that refuses ends the call.
    pub block: Option<String>,
    /// Other arguments. The last hook wins, but after one demanded an approval only that one.
    pub arguments: Option<Value>,
    /// Ask first. The first demand stays.
    pub require_approval: Option<ApprovalNeed>,
}

/// One look-on at every call.
#[async_trait]
pub trait Hook: Send + Sync {
    /// A name for errors and records.
    fn id(&self) -> &str;

    /// Looks at a call before its arguments are checked.
    ///
    /// # Errors
    /// A failing hook blocks the call; the text is for records, not for the model.
    async fn before(
        &self,
        tool: &ToolDefinition,
        arguments: &Value,
        ctx: &CallContext,
    ) -> Result<BeforeCall, String>;

    /// Looks at a call that ended, refused ones included. `tool` is `None` for a call of something
    /// that the run does not have.
    async fn after(&self, tool: Option<&ToolDefinition>, report: &CallReport, ctx: &CallContext) {
        let _ = (tool, report, ctx);
    }
}
