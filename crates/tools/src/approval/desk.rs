//! The desk at which calls wait for a person: one question of a session at a time, and a memory of
//! answers that cover more than one call.
//!
//! There is one desk in a process, whatever number of cells and sessions run. A remembered answer
//! holds for the same owner, agent, session, tool definition and question only.

use std::collections::{HashMap, HashSet};
use std::panic::AssertUnwindSafe;
use std::sync::{Arc, Mutex, PoisonError, Weak};
use std::time::Duration;

use codecell_catalog::ContentHash;
use futures::FutureExt as _;

use super::{ApprovalNeed, ApprovalRequest, Approver, Decision, Form, FormAnswer, FormRequest};
use crate::context::CallContext;
use crate::tool::{ToolDefinition, ToolInput};

/// The most remembered answers; beyond it all questions are asked again.
const MAX_REMEMBERED: usize = 10_000;

/// Whether there is anything to ask.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum ApprovalMode {
    /// A person is asked.
    #[default]
    Ask,
    /// Nothing that needs an approval is done.
    Never,
    /// Everything that policy leaves is approved.
    Always,
}

/// What holds when there is nobody to ask.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum AskFallback {
    /// The call is refused.
    #[default]
    Deny,
    /// The call goes on.
    Allow,
}

/// How approvals are handled.
#[derive(Debug, Clone, Copy)]
pub struct ApprovalOptions {
    /// Whether there is anything to ask.
    pub mode: ApprovalMode,
    /// What holds when there is nobody to ask.
    pub fallback: AskFallback,
    /// How long a question stays open, the wait for its turn included.
    pub ttl: Duration,
}

impl Default for ApprovalOptions {
    fn default() -> Self {
        Self {
            mode: ApprovalMode::default(),
            fallback: AskFallback::default(),
            ttl: Duration::from_secs(DEFAULT_TTL_SECONDS),
        }
    }
}

/// Source: the contract's `approvalTtlSeconds`.
const DEFAULT_TTL_SECONDS: u64 = 86_400;

/// Why something was not approved.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum NotApproved {
    /// A person said no.
    Denied { reason: Option<String> },
    /// There is nobody to ask.
    Unavailable,
    /// Approvals are switched off.
    SwitchedOff,
    /// Nobody answered in time.
    Expired,
    /// The call was aborted while it waited.
    Aborted,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
enum Reach {
    Cell(Arc<str>),
    Session,
}

#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct Grant {
    owner: Arc<str>,
    agent_id: Arc<str>,
    session_key: Arc<str>,
    reach: Reach,
    /// Of the whole definition: an id that comes to mean something else is asked anew.
    tool: ContentHash,
    key: String,
}

/// Somebody to ask, and what they have answered.
pub struct ApprovalDesk {
    options: ApprovalOptions,
    approver: Option<Arc<dyn Approver>>,
    turns: Turns,
    grants: Mutex<HashSet<Grant>>,
}

/// Held while a question is open, one for each session: somebody who does not answer holds up nobody
/// else. Fair, so questions of a session are asked in the order of arrival.
#[derive(Default)]
struct Turns(Mutex<HashMap<SessionName, Weak<Turn>>>);

type Turn = tokio::sync::Mutex<()>;
type SessionName = (Arc<str>, Arc<str>, Arc<str>);

impl Turns {
    fn of(&self, call: &Questioner<'_>) -> Arc<Turn> {
        let ctx = call.ctx;
        let name = (
            Arc::clone(&ctx.owner),
            Arc::clone(&ctx.agent_id),
            Arc::clone(&ctx.session_key),
        );
        let mut turns = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(turn) = turns.get(&name).and_then(Weak::upgrade) {
            return turn;
        }
        turns.retain(|_, turn| turn.strong_count() > 0);
        let turn = Arc::default();
        turns.insert(name, Arc::downgrade(&turn));
        turn
    }
}

/// Who is told that a call begins and ends to wait for a person.
pub(crate) trait Waiting: Send + Sync {
    /// `reason` is a short clause, as of an [`ApprovalNeed`].
    fn begins(&self, reason: &str);
    fn ends(&self);
}

/// Calls [`Waiting::ends`] even if the future is dropped in the middle.
struct WaitGuard<'a>(&'a dyn Waiting);

impl Drop for WaitGuard<'_> {
    fn drop(&mut self) {
        self.0.ends();
    }
}

impl ApprovalDesk {
    /// A desk. Without an approver the fallback answers every question.
    #[must_use]
    pub fn new(options: ApprovalOptions, approver: Option<Arc<dyn Approver>>) -> Self {
        Self {
            options,
            approver,
            turns: Turns::default(),
            grants: Mutex::default(),
        }
    }

    /// Forgets the answers that were given for one cell.
    pub fn forget_cell(&self, cell_id: &str) {
        self.grants()
            .retain(|grant| !matches!(&grant.reach, Reach::Cell(cell) if &**cell == cell_id));
    }

    /// Forgets every answer of one session of this owner and agent.
    pub fn forget_session(&self, owner: &str, agent_id: &str, session_key: &str) {
        self.grants().retain(|grant| {
            *grant.owner != *owner
                || *grant.agent_id != *agent_id
                || *grant.session_key != *session_key
        });
    }

    /// Waits until one need is met.
    pub(crate) async fn settle(
        &self,
        call: &Questioner<'_>,
        need: ApprovalNeed,
        waiting: &dyn Waiting,
    ) -> Result<(), NotApproved> {
        match self.options.mode {
            ApprovalMode::Always => return Ok(()),
            ApprovalMode::Never => return Err(NotApproved::SwitchedOff),
            ApprovalMode::Ask => {}
        }
        if self.is_granted(call, &need) {
            return Ok(());
        }
        let Some(approver) = &self.approver else {
            return self.fall_back();
        };
        waiting.begins(&need.reason);
        let _guard = WaitGuard(waiting);
        let asking = tokio::time::timeout(self.options.ttl, self.ask(call, need, &**approver));
        tokio::select! {
            biased;
            () = call.ctx.abort.cancelled() => Err(NotApproved::Aborted),
            answer = asking => answer.unwrap_or(Err(NotApproved::Expired)),
        }
    }

    async fn ask(
        &self,
        call: &Questioner<'_>,
        need: ApprovalNeed,
        approver: &dyn Approver,
    ) -> Result<(), NotApproved> {
        let turn = self.turns.of(call);
        let _turn = turn.lock().await;
        // The answer to an earlier question may have covered this one.
        if self.is_granted(call, &need) {
            return Ok(());
        }
        let request = call.request(need);
        let asking = AssertUnwindSafe(approver.ask(&request)).catch_unwind();
        // Somebody who fails while being asked has not said yes.
        let decision = asking.await.unwrap_or(Decision::Deny {
            reason: Some("the approval could not be asked for".to_owned()),
        });
        let need = request.need;
        match decision {
            Decision::Once if need.asked_once => self.remember(call, need, Reach::Session),
            Decision::Once => {}
            Decision::ThisCell => self.remember(call, need, call.cell()),
            Decision::ThisTool => self.remember(call, need, Reach::Session),
            Decision::Deny { reason } => return Err(NotApproved::Denied { reason }),
            Decision::Unavailable => return self.fall_back(),
        }
        Ok(())
    }

    /// Has a form filled in by a person. No setting answers in their place: where approvals are
    /// switched off nobody is asked, and where everything is approved a person still is.
    pub(crate) async fn fill(
        &self,
        call: &Questioner<'_>,
        form: Form,
        waiting: &dyn Waiting,
    ) -> FormAnswer {
        let approver = match &self.approver {
            Some(approver) if self.options.mode != ApprovalMode::Never => approver,
            _ => return FormAnswer::Unavailable,
        };
        waiting.begins("wants something filled in by a person");
        let _guard = WaitGuard(waiting);
        let request = call.form(form);
        let asking = async {
            let turn = self.turns.of(call);
            let _turn = turn.lock().await;
            let asking = AssertUnwindSafe(approver.fill(&request)).catch_unwind();
            asking.await.unwrap_or(FormAnswer::Declined)
        };
        let answer = tokio::select! {
            biased;
            () = call.ctx.abort.cancelled() => FormAnswer::Cancelled,
            answer = tokio::time::timeout(self.options.ttl, asking) => {
                answer.unwrap_or(FormAnswer::Cancelled)
            }
        };
        match answer {
            FormAnswer::Filled(given) => {
                let filled = request.form.filled(given);
                filled.map_or(FormAnswer::Declined, FormAnswer::Filled)
            }
            other => other,
        }
    }

    fn fall_back(&self) -> Result<(), NotApproved> {
        match self.options.fallback {
            AskFallback::Deny => Err(NotApproved::Unavailable),
            AskFallback::Allow => Ok(()),
        }
    }

    fn is_granted(&self, call: &Questioner<'_>, need: &ApprovalNeed) -> bool {
        let grants = self.grants();
        if grants.is_empty() {
            return false;
        }
        [call.cell(), Reach::Session]
            .into_iter()
            .any(|reach| grants.contains(&call.grant(need.key.clone(), reach)))
    }

    fn remember(&self, call: &Questioner<'_>, need: ApprovalNeed, reach: Reach) {
        let mut grants = self.grants();
        if grants.len() >= MAX_REMEMBERED {
            grants.clear();
        }
        grants.insert(call.grant(need.key, reach));
    }

    fn grants(&self) -> std::sync::MutexGuard<'_, HashSet<Grant>> {
        self.grants.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The call that asks.
pub(crate) struct Questioner<'a> {
    pub(crate) call_id: &'a Arc<str>,
    pub(crate) definition: &'a ToolDefinition,
    pub(crate) input: &'a ToolInput,
    pub(crate) ctx: &'a CallContext,
}

impl Questioner<'_> {
    fn cell(&self) -> Reach {
        let cell = self.ctx.cell_id.as_ref().unwrap_or(&self.ctx.run_id);
        Reach::Cell(Arc::clone(cell))
    }

    fn grant(&self, key: String, reach: Reach) -> Grant {
        Grant {
            owner: Arc::clone(&self.ctx.owner),
            agent_id: Arc::clone(&self.ctx.agent_id),
            session_key: Arc::clone(&self.ctx.session_key),
            reach,
            tool: self.definition.entry().definition_hash(),
            key,
        }
    }

    fn form(&self, form: Form) -> FormRequest {
        FormRequest {
            form,
            tool: self.definition.id.clone(),
            run_id: Arc::clone(&self.ctx.run_id),
            cell_id: self.ctx.cell_id.clone(),
            parent_call: self.ctx.parent_call.clone(),
        }
    }

    fn request(&self, need: ApprovalNeed) -> ApprovalRequest {
        ApprovalRequest {
            call_id: Arc::clone(self.call_id),
            tool: self.definition.id.clone(),
            input: self.input.clone(),
            need,
            agent_id: Arc::clone(&self.ctx.agent_id),
            session_key: Arc::clone(&self.ctx.session_key),
            run_id: Arc::clone(&self.ctx.run_id),
            cell_id: self.ctx.cell_id.clone(),
            parent_call: self.ctx.parent_call.clone(),
        }
    }
}
