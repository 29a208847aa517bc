//! Approvals: what is asked, of whom, and what an answer covers.
//!
//! What a person sees is exactly what is dispatched afterwards: a request shares the one
//! [`ToolInput`] that the tool will get. There is no default that says yes: without somebody to
//! ask, the configured fallback answers, and it is a refusal unless the configuration says
//! otherwise.

mod desk;
mod escape;
mod form;

use std::fmt;
use std::sync::Arc;

use async_trait::async_trait;
use codecell_catalog::ToolId;

pub use desk::{ApprovalDesk, ApprovalMode, ApprovalOptions, AskFallback};
pub(crate) use desk::{NotApproved, Questioner, Waiting};
pub use escape::escape_for_display;
pub use form::{Choice, Field, FieldKind, Form, FormAnswer, FormRequest};

use crate::error::ToolError;
use crate::tool::{ToolDefinition, ToolInput};

/// One thing that has to be allowed before a call goes on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ApprovalNeed {
    /// What a lasting answer is filed under, together with the tool's id: the same key is the same
    /// question.
    pub key: String,
    /// Why this is asked, as a short clause for a person: `changes files in the workspace`.
    pub reason: String,
    /// What a lasting answer covers, for a person: `every call of write`.
    pub covers: String,
    /// One yes is enough for the session: the same key is not asked again.
    pub asked_once: bool,
}

impl ApprovalNeed {
    /// The question that stands for a whole tool that changes something.
    #[must_use]
    pub fn of_tool(definition: &ToolDefinition) -> Self {
        Self {
            key: "call".to_owned(),
            reason: "can change things outside the sandbox".to_owned(),
            covers: format!("every call of {}", definition.name()),
            asked_once: false,
        }
    }
}

/// A question on its way to a person.
#[derive(Debug, Clone)]
pub struct ApprovalRequest {
    /// The call that waits.
    pub call_id: Arc<str>,
    /// The tool.
    pub tool: ToolId,
    /// Exactly what will be dispatched.
    pub input: ToolInput,
    /// What is asked.
    pub need: ApprovalNeed,
    /// The agent on whose behalf the call is made.
    pub agent_id: Arc<str>,
    /// Its session.
    pub session_key: Arc<str>,
    /// The run.
    pub run_id: Arc<str>,
    /// The cell, if a cell calls.
    pub cell_id: Option<Arc<str>>,
    /// The call of the model that this one is nested in.
    pub parent_call: Option<Arc<str>>,
}

impl ApprovalRequest {
    /// Why this is asked, safe to print.
    #[must_use]
    pub fn shown_reason(&self) -> String {
        escape_for_display(&self.need.reason)
    }

    /// The arguments as compact JSON, safe to print: the same JSON value as is dispatched.
    #[must_use]
    pub fn shown_arguments(&self) -> String {
        escape_for_display(self.input.text())
    }
}

/// An answer.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Decision {
    /// This call.
    Once,
    /// This call, and every question with the same key from the same cell.
    ThisCell,
    /// This call, and every question with the same key in the same session.
    ThisTool,
    /// No, and why if the person said so.
    Deny {
        /// The person's own words, for the model.
        reason: Option<String>,
    },
    /// There is nobody to ask.
    Unavailable,
}

/// Somebody who can be asked. The executor asks one question of a session at a time.
#[async_trait]
pub trait Approver: Send + Sync {
    /// Asks, and waits for the answer. The future is dropped when the call is aborted.
    async fn ask(&self, request: &ApprovalRequest) -> Decision;

    /// Has a form filled in. What comes back is checked by whoever asked. The future is dropped when
    /// the call is aborted.
    async fn fill(&self, request: &FormRequest) -> FormAnswer {
        let _ = request;
        FormAnswer::Unavailable
    }
}

/// How a running tool asks for something that its arguments could not tell, such as the target of
/// a redirect, or the real place of a path behind a link.
#[derive(Clone, Default)]
pub struct MidCallApprovals(Option<Arc<dyn AskMidCall>>);

impl MidCallApprovals {
    /// The executor's own way to ask.
    #[must_use]
    pub fn new(ask: Arc<dyn AskMidCall>) -> Self {
        Self(Some(ask))
    }

    /// Asks, unless the same key was allowed for this very call, cell or session already.
    ///
    /// # Errors
    /// `approval_denied` or a kin of it; it says nothing about what the tool did before.
    pub async fn ask(&self, need: ApprovalNeed) -> Result<(), ToolError> {
        match &self.0 {
            Some(asking) => asking.ask(need).await,
            None => Err(ToolError::new(
                "approval_unavailable",
                format!("nobody can be asked to allow a call that {}", need.reason),
            )),
        }
    }

    /// Has a form filled in; a filled one fits, with its defaults in it.
    pub async fn fill(&self, form: Form) -> FormAnswer {
        match &self.0 {
            Some(asking) => asking.fill(form).await,
            None => FormAnswer::Unavailable,
        }
    }
}

impl fmt::Debug for MidCallApprovals {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let state = if self.0.is_some() {
            "reachable"
        } else {
            "nobody"
        };
        write!(f, "MidCallApprovals({state})")
    }
}

/// What stands behind [`MidCallApprovals`].
#[async_trait]
pub trait AskMidCall: Send + Sync {
    /// Asks, unless the same key was allowed already.
    ///
    /// # Errors
    /// Why the tool must not go on.
    async fn ask(&self, need: ApprovalNeed) -> Result<(), ToolError>;

    /// Has a form filled in.
    async fn fill(&self, form: Form) -> FormAnswer {
        let _ = form;
        FormAnswer::Unavailable
    }
}
