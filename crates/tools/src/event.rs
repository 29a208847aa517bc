//! What happens to calls, told to whoever keeps records.
//!
//! Arguments in an event have passed redaction; results are not part of events.

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

/// One step in the life of a call.
#[derive(Debug, Clone, PartialEq)]
pub struct ToolEvent {
    /// The call.
    pub call_id: Arc<str>,
    /// The call of the model that it is nested in.
    pub parent_call: Option<Arc<str>>,
    /// The run.
    pub run_id: Arc<str>,
    /// The cell, if a cell calls.
    pub cell_id: Option<Arc<str>>,
    /// The tool's id, or the name that was asked for if there is no such tool.
    pub tool: Arc<str>,
    /// What happened.
    pub kind: ToolEventKind,
}

/// What happened to a call.
#[derive(Debug, Clone, PartialEq)]
pub enum ToolEventKind {
    /// A person is asked.
    PendingApproval {
        /// What is asked.
        reason: String,
        /// The redacted arguments.
        arguments: Value,
    },
    /// The tool has been handed the call.
    Started {
        /// The redacted arguments.
        arguments: Value,
    },
    /// The tool reported success.
    Completed {
        /// How long the whole call took, waiting included.
        elapsed: Duration,
    },
    /// The call ended in an error after it was handed over.
    Error {
        /// The word that programs compare.
        code: String,
        /// How long the whole call took.
        elapsed: Duration,
    },
    /// The call was refused before it was handed over.
    Blocked {
        /// The word that programs compare.
        code: String,
    },
}

/// Where events go. Must return quickly and must not fail.
pub trait EventSink: Send + Sync {
    /// Keeps one event.
    fn emit(&self, event: &ToolEvent);

    /// Whether events are worth making at all.
    fn is_enabled(&self) -> bool {
        true
    }
}

/// Keeps nothing.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoEvents;

impl EventSink for NoEvents {
    fn emit(&self, _event: &ToolEvent) {}

    fn is_enabled(&self) -> bool {
        false
    }
}
