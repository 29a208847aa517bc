//! A call that has its arguments: what it shows to whoever keeps books and records, and how it
//! asks for approvals before and while it runs.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use serde_json::Value;

use super::refusal::{approval_code, approval_text};
use super::{CallProgress, CallStep, ExecutorParts};
use crate::approval::{
    ApprovalNeed, AskMidCall, Form, FormAnswer, NotApproved, Questioner, Waiting,
};
use crate::context::CallContext;
use crate::error::ToolError;
use crate::event::{ToolEvent, ToolEventKind};
use crate::tool::{Tool, ToolDefinition, ToolInput};

/// Everything that a call needs to speak for itself, also from within its own tool.
pub(super) struct LiveCall {
    pub(super) parts: Arc<ExecutorParts>,
    pub(super) progress: Arc<dyn CallProgress>,
    pub(super) tool: Arc<dyn Tool>,
    pub(super) call_id: Arc<str>,
    pub(super) input: ToolInput,
    pub(super) ctx: CallContext,
    /// The keys of the needs that were met for this very call.
    pub(super) met: Mutex<HashSet<String>>,
}

impl LiveCall {
    pub(super) fn definition(&self) -> &ToolDefinition {
        self.tool.definition()
    }

    /// Waits until one need is met.
    pub(super) async fn settle(&self, need: ApprovalNeed) -> Result<(), NotApproved> {
        if self.met().contains(&need.key) {
            return Ok(());
        }
        let key = need.key.clone();
        let desk = &self.parts.approvals;
        desk.settle(&self.questioner(), need, self).await?;
        self.met().insert(key);
        Ok(())
    }

    fn questioner(&self) -> Questioner<'_> {
        Questioner {
            call_id: &self.call_id,
            definition: self.definition(),
            input: &self.input,
            ctx: &self.ctx,
        }
    }

    /// Asks whoever keeps the books for the last time. `false` when the tool must not be handed
    /// the call any more.
    pub(super) fn hand_over(&self) -> bool {
        if !self.progress.hand_over(&self.call_id) || self.ctx.abort.is_cancelled() {
            return false;
        }
        self.emit(|| ToolEventKind::Started {
            arguments: self.redacted_arguments(),
        });
        true
    }

    pub(super) fn emit(&self, kind: impl FnOnce() -> ToolEventKind) {
        let tool = self.definition().id.as_str();
        emit(&self.parts, &self.call_id, &self.ctx, tool, kind);
    }

    fn redacted_arguments(&self) -> Value {
        self.parts.redactor.value(self.input.value())
    }

    fn met(&self) -> std::sync::MutexGuard<'_, HashSet<String>> {
        self.met.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The one place where events leave the executor.
pub(super) fn emit(
    parts: &ExecutorParts,
    call_id: &Arc<str>,
    ctx: &CallContext,
    tool: &str,
    kind: impl FnOnce() -> ToolEventKind,
) {
    if !parts.events.is_enabled() {
        return;
    }
    parts.events.emit(&ToolEvent {
        call_id: Arc::clone(call_id),
        parent_call: ctx.parent_call.clone(),
        run_id: Arc::clone(&ctx.run_id),
        cell_id: ctx.cell_id.clone(),
        tool: parts.redactor.text(tool).into(),
        kind: kind(),
    });
}

impl Waiting for LiveCall {
    fn begins(&self, reason: &str) {
        self.progress.step(&self.call_id, CallStep::ApprovalPending);
        self.emit(|| ToolEventKind::PendingApproval {
            reason: self.parts.redactor.text(reason),
            arguments: self.redacted_arguments(),
        });
    }

    fn ends(&self) {
        self.progress.step(&self.call_id, CallStep::ApprovalSettled);
    }
}

#[async_trait]
impl AskMidCall for LiveCall {
    async fn ask(&self, need: ApprovalNeed) -> Result<(), ToolError> {
        let reason = need.reason.clone();
        self.settle(need).await.map_err(|why| {
            let text = approval_text(&why);
            ToolError::new(approval_code(&why), format!("The call {reason}: {text}"))
        })
    }

    async fn fill(&self, form: Form) -> FormAnswer {
        let desk = &self.parts.approvals;
        desk.fill(&self.questioner(), form, self).await
    }
}
