//! Who makes a call, and what can stop it.

use std::sync::Arc;

use tokio::time::Instant;
use tokio_util::sync::CancellationToken;

use crate::approval::MidCallApprovals;

/// The run, session and cell that a call belongs to. Cheap to clone.
#[derive(Debug, Clone)]
pub struct CallContext {
    /// The person or principal behind the process; empty where there is only one.
    pub owner: Arc<str>,
    /// The agent on whose behalf the call is made.
    pub agent_id: Arc<str>,
    /// The session's stable key.
    pub session_key: Arc<str>,
    /// The session's current id.
    pub session_id: Arc<str>,
    /// The run: one agent turn, or one command.
    pub run_id: Arc<str>,
    /// The cell that makes the call; `None` for a direct call.
    pub cell_id: Option<Arc<str>>,
    /// The call of the model that this one is nested in: the `exec` call of a cell.
    pub parent_call: Option<Arc<str>>,
    /// Who asked, where a channel knows it.
    pub sender: Option<Arc<str>>,
    /// Where they asked.
    pub channel: Option<Arc<str>>,
    /// Stops the call. Tools that wait or that own processes must watch it.
    pub abort: CancellationToken,
    /// When the caller stops waiting; advice for tools that can answer in parts.
    pub deadline: Option<Instant>,
    /// How the tool asks while it runs; filled in by the executor.
    pub approvals: MidCallApprovals,
}

impl CallContext {
    /// A context for a call outside of any cell, with everything optional left out.
    #[must_use]
    pub fn new(agent_id: &str, session: &str, run_id: &str) -> Self {
        Self {
            owner: "".into(),
            agent_id: agent_id.into(),
            session_key: session.into(),
            session_id: session.into(),
            run_id: run_id.into(),
            cell_id: None,
            parent_call: None,
            sender: None,
            channel: None,
            abort: CancellationToken::new(),
            deadline: None,
            approvals: MidCallApprovals::default(),
        }
    }
}
