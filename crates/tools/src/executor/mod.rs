//! The one way from a name and arguments to a tool.

mod report;

use std::sync::Arc;
use std::time::Duration;

use serde_json::Value;

pub use report::{CallFailure, CallReport};

use crate::context::CallContext;
use crate::event::EventSink;
use crate::hook::Hook;
use crate::toolset::ToolSet;

/// One call to be made.
#[derive(Debug, Clone)]
pub struct CallRequest {
    /// The caller's id of the call, unique within its run.
    pub call_id: Arc<str>,
    /// The tool's id, or an unambiguous bare name.
    pub tool: Arc<str>,
    /// The arguments; `null` stands for none.
    pub args: Value,
    /// Who calls.
    pub ctx: CallContext,
}

/// A moment in a call that its caller must know of.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallStep {
    /// The call waits for a person: the caller's clocks stand still.
    ApprovalPending,
    /// The call no longer waits for a person.
    ApprovalSettled,
    /// The tool is given the call now: from here on, no clear outcome means `unknown`.
    HandedOver,
}

/// Whoever keeps the books of a call. Called on the call's own task; must return quickly.
pub trait CallProgress: Send + Sync {
    /// Takes note of one step.
    fn step(&self, call_id: &str, step: CallStep);
}

/// Keeps no books.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl CallProgress for NoProgress {
    fn step(&self, _call_id: &str, _step: CallStep) {}
}

/// What an executor can be told.
#[derive(Debug, Clone)]
pub struct ExecutorOptions {
    /// How long a tool may go on after an abort before it is dropped.
    pub abort_grace: Duration,
    /// The most bytes of one tool's result: text, details and binary content together.
    pub max_output_bytes: usize,
}

impl Default for ExecutorOptions {
    fn default() -> Self {
        Self {
            abort_grace: Duration::from_millis(250),
            max_output_bytes: 16 * 1024 * 1024,
        }
    }
}

/// The one executor of a process.
pub struct Executor {
    options: ExecutorOptions,
    hooks: Vec<Arc<dyn Hook>>,
    events: Arc<dyn EventSink>,
}

impl Executor {
    /// An executor without hooks.
    #[must_use]
    pub fn new(options: ExecutorOptions, events: Arc<dyn EventSink>) -> Self {
        Self {
            options,
            hooks: Vec::new(),
            events,
        }
    }

    /// Makes one call, from its name to its report. Never panics, and never fails to report.
    ///
    /// Dropping the future drops the tool's; whoever kept the books of a call that was handed over
    /// then has to count it as unknown.
    pub async fn call(
        &self,
        set: &ToolSet,
        request: CallRequest,
        progress: Arc<dyn CallProgress>,
    ) -> CallReport {
        let _ = (&self.options, &self.hooks, &self.events, progress);
        let _ = set;
        CallReport::unknown_tool(request, None)
    }
}
