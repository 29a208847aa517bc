//! The road of one call of a tool that exists, from its arguments to its end.
//!
//! Up to the hand-over every step can only refuse, and a refusal means that nothing has happened.
//! From the hand-over on, only the tool's own clear answer settles what happened.

use std::collections::HashSet;
use std::panic::{self, AssertUnwindSafe};
use std::sync::{Arc, Mutex};

use codecell_catalog::{Source, input_signature};
use futures::FutureExt as _;
use serde_json::Value;
use tokio::time::Instant;

use super::dispatch;
use super::live::LiveCall;
use super::refusal::Refusal;
use super::{CallProgress, Ended, Executor, MAX_JSON_DEPTH};
use crate::approval::{ApprovalNeed, MidCallApprovals};
use crate::context::CallContext;
use crate::event::ToolEventKind;
use crate::output::json_bytes_above;
use crate::schema::defaults;
use crate::tool::{Tool, ToolInput};

/// One call of a tool that exists.
pub(super) struct Call<'a> {
    pub(super) executor: &'a Executor,
    pub(super) tool: &'a Arc<dyn Tool>,
    pub(super) call_id: &'a Arc<str>,
    pub(super) ctx: &'a CallContext,
}

impl Call<'_> {
    pub(super) async fn run(
        &self,
        args: Value,
        progress: Arc<dyn CallProgress>,
    ) -> Result<Ended, Refusal> {
        let gates = &self.executor.gates;
        let execution = self.tool.definition().execution;
        let place = self
            .unless_aborted(gates.arrive(&self.ctx.session_key, execution))
            .await?;
        let (args, demanded) = self.before_hooks(self.with_defaults(args)).await?;
        let live = Arc::new(self.admit(args, progress)?);
        self.approve(&live, demanded).await?;
        let _turn = self.unless_aborted(place.turn()).await?;
        if self.ctx.abort.is_cancelled() {
            return Err(self.aborted());
        }
        self.hand_over(live).await
    }

    /// Servers may count on what their schemas assume. Defaults that the schema itself refuses are
    /// left to the server, all of them.
    fn with_defaults(&self, args: Value) -> Value {
        let definition = self.tool.definition();
        if definition.id.source() != Source::Mcp {
            return args;
        }
        let given = match args {
            Value::Null => Value::Object(serde_json::Map::new()),
            given => given,
        };
        let mut filled = given.clone();
        if !defaults::fill(&definition.parameters, &mut filled) {
            return given;
        }
        let check = self.executor.schemas.get(&definition.parameters);
        let fits = |input: &Value| check.as_ref().is_ok_and(|check| check.check(input).is_ok());
        match !fits(&filled) && fits(&given) {
            true => given,
            false => filled,
        }
    }

    /// Runs the hooks over the arguments. Once a hook has demanded an approval, only that hook may
    /// change them.
    async fn before_hooks(
        &self,
        mut args: Value,
    ) -> Result<(Value, Option<ApprovalNeed>), Refusal> {
        let mut demanded: Option<ApprovalNeed> = None;
        for hook in &self.executor.parts.hooks {
            let looking = hook.before(self.tool.definition(), &args, self.ctx);
            let looked = self
                .unless_aborted(AssertUnwindSafe(looking).catch_unwind())
                .await?;
            let wish = match looked {
                Ok(Ok(wish)) => wish,
                Ok(Err(reason)) => {
                    let reason = self.executor.parts.redactor.text(&reason);
                    tracing::error!(hook = hook.id(), reason, "a hook failed before a call");
                    return Err(Refusal::HookFailed { tool: self.name() });
                }
                Err(_panic) => return Err(Refusal::HookFailed { tool: self.name() }),
            };
            if let Some(reason) = wish.block {
                return Err(Refusal::Blocked {
                    tool: self.name(),
                    reason,
                });
            }
            if let (Some(changed), None) = (wish.arguments, &demanded) {
                args = changed;
            }
            demanded = demanded.or(wish.require_approval);
        }
        Ok((args, demanded))
    }

    /// Checks the arguments; from here on they do not change.
    fn admit(&self, args: Value, progress: Arc<dyn CallProgress>) -> Result<LiveCall, Refusal> {
        if !depth_within(&args, MAX_JSON_DEPTH) {
            return Err(Refusal::ArgumentsTooDeep {
                tool: self.name(),
                max_depth: MAX_JSON_DEPTH,
            });
        }
        let input = ToolInput::new(args);
        let max_bytes = self.executor.parts.options.max_input_bytes;
        if let Some(bytes) = json_bytes_above(input.value(), max_bytes) {
            return Err(Refusal::ArgumentsTooLarge {
                tool: self.name(),
                bytes,
                max_bytes,
            });
        }
        self.check_schema(&input)?;
        Ok(LiveCall {
            parts: Arc::clone(&self.executor.parts),
            progress,
            tool: Arc::clone(self.tool),
            call_id: Arc::clone(self.call_id),
            input,
            ctx: self.ctx.clone(),
            met: Mutex::new(HashSet::new()),
        })
    }

    fn check_schema(&self, input: &ToolInput) -> Result<(), Refusal> {
        let definition = self.tool.definition();
        let check = self.executor.schemas.get(&definition.parameters);
        let check = check.map_err(|error| Refusal::Unusable {
            tool: self.name(),
            error,
        })?;
        check
            .check(input.value())
            .map_err(|mismatch| Refusal::Arguments {
                tool: self.name(),
                mismatch,
                signature: input_signature(&definition.parameters),
            })
    }

    async fn approve(
        &self,
        live: &LiveCall,
        demanded: Option<ApprovalNeed>,
    ) -> Result<(), Refusal> {
        let examine = || self.tool.approvals(&live.input, self.ctx);
        let own = panic::catch_unwind(AssertUnwindSafe(examine))
            .map_err(|_panic| Refusal::Unexamined { tool: self.name() })??;
        for need in own.into_iter().chain(demanded) {
            live.settle(need)
                .await
                .map_err(|why| Refusal::NotApproved {
                    tool: self.name(),
                    why,
                })?;
        }
        Ok(())
    }

    async fn hand_over(&self, live: Arc<LiveCall>) -> Result<Ended, Refusal> {
        let options = &self.executor.parts.options;
        let mut ctx = self.ctx.clone();
        ctx.approvals = MidCallApprovals::new(Arc::clone(&live) as Arc<_>);
        if !live.hand_over() {
            return Err(self.aborted());
        }
        let mut witness = Witness {
            live: &live,
            begun: Instant::now(),
            returned: false,
        };
        let input = live.input.clone();
        let returned = dispatch::dispatch(&**self.tool, input, &ctx, options.abort_grace).await;
        witness.returned = true;
        let (state, outcome) =
            dispatch::conclude(self.tool.definition(), returned, options.max_output_bytes);
        Ok(Ended { state, outcome })
    }

    async fn unless_aborted<T>(&self, work: impl Future<Output = T>) -> Result<T, Refusal> {
        tokio::select! {
            biased;
            () = self.ctx.abort.cancelled() => Err(self.aborted()),
            done = work => Ok(done),
        }
    }

    fn aborted(&self) -> Refusal {
        Refusal::Aborted { tool: self.name() }
    }

    /// How the tool is called in texts for the model.
    fn name(&self) -> String {
        self.tool.definition().name().to_owned()
    }
}

/// Leaves a record even if the call's future is dropped after the call was handed over.
struct Witness<'a> {
    live: &'a LiveCall,
    begun: Instant,
    returned: bool,
}

impl Drop for Witness<'_> {
    fn drop(&mut self) {
        if !self.returned {
            self.live.emit(|| ToolEventKind::Error {
                code: "aborted".to_owned(),
                elapsed: self.begun.elapsed(),
            });
        }
    }
}

fn depth_within(value: &Value, levels: usize) -> bool {
    match value {
        Value::Array(items) => {
            levels > 0 && items.iter().all(|item| depth_within(item, levels - 1))
        }
        Value::Object(fields) => {
            levels > 0 && fields.values().all(|field| depth_within(field, levels - 1))
        }
        _ => true,
    }
}
