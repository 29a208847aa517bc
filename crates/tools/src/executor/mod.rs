//! The one way from a name and arguments to a tool.
//!
//! Every call takes the same road, and nothing leaves it early but by a refusal: resolve among the
//! effective tools, hooks, arguments against the schema, approvals, turn, abort, dispatch, outcome,
//! hooks, records. A call is handed to its tool at most once; nothing is ever repeated here.

mod call;
mod dispatch;
mod gate;
mod live;
mod refusal;
mod report;

use std::panic::AssertUnwindSafe;
use std::sync::Arc;
use std::time::Duration;

use codecell_catalog::Scope;
use codecell_protocol::{CallState, EffectKind};
use futures::FutureExt as _;
use serde_json::Value;
use tokio::time::Instant;

pub use report::{CallFailure, CallReport};

use crate::approval::ApprovalDesk;
use crate::context::CallContext;
use crate::event::{EventSink, ToolEventKind};
use crate::hook::Hook;
use crate::output::ToolOutput;
use crate::redact::Redactor;
use crate::schema::SchemaCache;
use crate::tool::Tool;
use crate::toolset::ToolSet;
use call::Call;
use gate::Gates;
use refusal::Refusal;

/// One call to be made.
#[derive(Debug, Clone)]
pub struct CallRequest {
    /// The caller's id of the call, unique within its run.
    pub call_id: Arc<str>,
    /// The tool's id, or an unambiguous bare name.
    pub tool: Arc<str>,
    /// Which tools the name may mean.
    pub scope: Scope,
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
}

/// Whoever keeps the books of a call. Called on the call's own task; must return quickly.
pub trait CallProgress: Send + Sync {
    /// Takes note of one step.
    fn step(&self, call_id: &str, step: CallStep);

    /// The tool is about to be given the call. After `true`, no clear outcome means `unknown`;
    /// after `false`, which whoever closed the books meanwhile answers, the tool never hears of it.
    fn hand_over(&self, call_id: &str) -> bool;
}

/// Keeps no books.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoProgress;

impl CallProgress for NoProgress {
    fn step(&self, _call_id: &str, _step: CallStep) {}

    fn hand_over(&self, _call_id: &str) -> bool {
        true
    }
}

/// The executor's limits.
#[derive(Debug, Clone, Copy)]
pub struct ExecutorOptions {
    /// How long a tool may go on after an abort before it is dropped.
    pub abort_grace: Duration,
    /// The most bytes of one call's arguments, as JSON.
    pub max_input_bytes: usize,
    /// The most bytes of one tool's result: text, details and binary content together.
    pub max_output_bytes: usize,
}

/// Source: the contract's limit of one bridge message.
const MAX_MESSAGE_BYTES: usize = 16 * 1024 * 1024;

/// The deepest nesting of arguments. Source: the contract's JSON depth.
pub const MAX_JSON_DEPTH: usize = 512;

impl Default for ExecutorOptions {
    fn default() -> Self {
        Self {
            abort_grace: Duration::from_millis(250),
            max_input_bytes: MAX_MESSAGE_BYTES,
            max_output_bytes: MAX_MESSAGE_BYTES,
        }
    }
}

/// What an executor is made of.
pub struct ExecutorParts {
    /// The limits.
    pub options: ExecutorOptions,
    /// Where calls wait for a person.
    pub approvals: ApprovalDesk,
    /// Who looks at calls, in this order.
    pub hooks: Vec<Arc<dyn Hook>>,
    /// Where events go.
    pub events: Arc<dyn EventSink>,
    /// What is taken out of events.
    pub redactor: Redactor,
}

/// The one executor of a process.
pub struct Executor {
    parts: Arc<ExecutorParts>,
    gates: Gates,
    schemas: SchemaCache,
}

/// The end of a call, before it is told to anybody.
struct Ended {
    state: CallState,
    outcome: Result<ToolOutput, (String, String)>,
}

impl From<Refusal> for Ended {
    fn from(refusal: Refusal) -> Self {
        Self {
            state: CallState::NotStarted,
            outcome: Err((refusal.code().to_owned(), refusal.to_string())),
        }
    }
}

impl Executor {
    /// An executor of these parts.
    #[must_use]
    pub fn new(parts: ExecutorParts) -> Self {
        Self {
            parts: Arc::new(parts),
            gates: Gates::default(),
            schemas: SchemaCache::default(),
        }
    }

    /// Where calls wait for a person; for forgetting the answers of what has ended.
    #[must_use]
    pub fn approvals(&self) -> &ApprovalDesk {
        &self.parts.approvals
    }

    /// Makes one call, from its name to its report. It always reports: panics of tools, hooks and
    /// approvers end in it.
    ///
    /// Dropping the future drops the tool's; whoever kept the books of a call that was handed over
    /// then has to count it as unknown.
    pub async fn call(
        &self,
        set: &ToolSet,
        request: CallRequest,
        progress: Arc<dyn CallProgress>,
    ) -> CallReport {
        let begun = Instant::now();
        let CallRequest {
            call_id,
            tool: asked,
            scope,
            args,
            ctx,
        } = request;
        let resolved = set.resolve(&asked, scope).map(Arc::clone);
        let ended = match &resolved {
            Err(error) => Refusal::from(error.clone()).into(),
            Ok(tool) => {
                let call = Call {
                    executor: self,
                    tool,
                    call_id: &call_id,
                    ctx: &ctx,
                };
                call.run(args, progress).await.unwrap_or_else(Ended::from)
            }
        };
        let tool = resolved.ok();
        let report = report(call_id, asked, tool.as_ref(), ended, begun.elapsed());
        self.announce(&report, &ctx).await;
        self.after_hooks(tool.as_ref(), &report, &ctx).await;
        report
    }

    async fn announce(&self, report: &CallReport, ctx: &CallContext) {
        let elapsed = report.elapsed;
        let failure = report.failure();
        let code = || {
            failure
                .as_ref()
                .map_or_else(String::new, |failure| failure.code.clone())
        };
        let asked = failure.as_ref().map(|failure| &*failure.tool);
        let tool = report.tool.as_ref().map(|id| id.as_str()).or(asked);
        let kind = || match (report.state, &failure) {
            (CallState::NotStarted, _) => ToolEventKind::Blocked { code: code() },
            (_, None) => ToolEventKind::Completed { elapsed },
            (_, Some(_)) => ToolEventKind::Error {
                code: code(),
                elapsed,
            },
        };
        live::emit(
            &self.parts,
            &report.call_id,
            ctx,
            tool.unwrap_or_default(),
            kind,
        );
    }

    async fn after_hooks(
        &self,
        tool: Option<&Arc<dyn Tool>>,
        report: &CallReport,
        ctx: &CallContext,
    ) {
        for hook in &self.parts.hooks {
            let looking = hook.after(tool.map(|tool| tool.definition()), report, ctx);
            if AssertUnwindSafe(looking).catch_unwind().await.is_err() {
                tracing::error!(hook = hook.id(), "a hook failed after a call");
            }
        }
    }
}

fn report(
    call_id: Arc<str>,
    asked: Arc<str>,
    tool: Option<&Arc<dyn Tool>>,
    ended: Ended,
    elapsed: Duration,
) -> CallReport {
    let definition = tool.map(|tool| tool.definition());
    let named = definition.map_or(asked, |definition| definition.id.as_str().into());
    let Ended { state, outcome } = ended;
    CallReport {
        call_id,
        tool: definition.map(|definition| definition.id.clone()),
        state,
        effect: definition.map_or(EffectKind::Write, |definition| definition.effect()),
        outcome: outcome.map_err(|(code, message)| CallFailure {
            code,
            message,
            tool: named,
            effect_status: state,
        }),
        elapsed,
        returns_json: definition.is_some_and(|definition| definition.returns_json),
    }
}
