//! `exec` and `process`: shell commands, in the foreground and in the background.
//!
//! Invariant: when a foreground call returns, fails or is dropped, and when the tools are dropped, nothing that a
//! command started runs any more (`hunt.rs` says what could escape). The shell itself is not confined to
//! the workspace: that is what its approval is for.

mod env;
mod hunt;
mod job;
mod output;
mod process;
mod sessions;
mod watch;

use std::collections::BTreeMap;
use std::process::ExitStatus;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::time::Instant;

use super::adapt::define;
use super::error::CoreError;
use crate::{ApprovalNeed, CallContext, Tool, ToolDefinition, ToolError, ToolInput, ToolOutput};
pub use env::CHILD_VARIABLES;
pub(crate) use job::Shell;
use job::{Job, Order, exit_code, lock};
pub(crate) use process::ProcessTool;
pub(crate) use sessions::Sessions;

/// The tool.
pub(crate) struct ExecTool {
    definition: ToolDefinition,
    shell: Arc<Shell>,
    sessions: Arc<Sessions>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Args {
    command: String,
    cwd: Option<String>,
    #[serde(default)]
    env: BTreeMap<String, String>,
    timeout_ms: Option<u64>,
    #[serde(default)]
    background: bool,
}

impl ExecTool {
    pub(crate) fn new(shell: Arc<Shell>, sessions: Arc<Sessions>) -> Result<Self, CoreError> {
        let limits = &shell.limits;
        let description = format!(
            "Run a shell command. A command that fails is a result with its exitCode, not an error. Ends with all it started, \
             after {} s unless timeoutMs says otherwise (at most {} s); each stream keeps {} KiB, its beginning and end. \
             With background: true it goes on, and process polls, writes to or kills it.",
            limits.exec_default_timeout_ms / 1000,
            limits.exec_max_timeout_ms / 1000,
            limits.exec_output_bytes / 1024
        );
        let definition = define("exec", &description, parameters(limits.exec_max_timeout_ms))?
            .with_output(output());
        Ok(Self {
            definition,
            shell,
            sessions,
        })
    }
}

fn parameters(max_timeout_ms: u64) -> Value {
    json!({
        "type": "object",
        "properties": {
            "command": {"type": "string", "minLength": 1, "description": "Given to the shell with -c; its standard input is empty"},
            "cwd": {"type": "string", "description": "Directory, relative to the workspace; without it the workspace"},
            "env": {"type": "object", "additionalProperties": {"type": "string"}, "description": "Variables added to its environment"},
            "timeoutMs": {"type": "integer", "minimum": 1, "maximum": max_timeout_ms, "description": "After this it is killed"},
            "background": {"type": "boolean", "description": "Return at once with a sessionId for process"}
        },
        "required": ["command"],
        "additionalProperties": false
    })
}

fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "exitCode": {"type": ["integer", "null"], "description": "128 and the signal if it was killed; null if it was stopped for time or still runs"},
            "stdout": {"type": "string"},
            "stderr": {"type": "string"},
            "durationMs": {"type": "integer"},
            "truncated": {"type": "boolean", "description": "The middle of a stream was left out"},
            "timedOut": {"type": "boolean", "description": "It was killed after timeoutMs"},
            "sessionId": {"type": "string", "description": "Of a background command"}
        },
        "required": ["exitCode", "stdout", "stderr", "durationMs", "truncated"]
    })
}

#[async_trait]
impl Tool for ExecTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: ToolInput, ctx: &CallContext) -> Result<ToolOutput, ToolError> {
        let args: Args = input.parse()?;
        let timeout = args
            .timeout_ms
            .map(|ms| Duration::from_millis(ms.min(self.shell.limits.exec_max_timeout_ms)));
        let order = Order {
            command: &args.command,
            cwd: args.cwd.as_deref().unwrap_or("."),
            env: &args.env,
            interactive: args.background,
        };
        if args.background {
            let id = self
                .sessions
                .start(&self.shell, &order, timeout, &ctx.session_key)?;
            let value = json!({"exitCode": null, "stdout": "", "stderr": "", "durationMs": 0, "truncated": false, "sessionId": id});
            return Ok(ToolOutput::details(value));
        }
        let timeout = timeout.unwrap_or(Duration::from_millis(
            self.shell.limits.exec_default_timeout_ms,
        ));
        let job = self.shell.spawn(&order)?;
        foreground(job, timeout, ctx).await.map(ToolOutput::details)
    }

    fn approvals(&self, _: &ToolInput, _: &CallContext) -> Result<Vec<ApprovalNeed>, ToolError> {
        let reason = "runs a command that the workspace does not confine".to_owned();
        Ok(vec![ApprovalNeed {
            reason,
            ..ApprovalNeed::of_tool(&self.definition)
        }])
    }
}

async fn foreground(
    mut job: Job,
    timeout: Duration,
    ctx: &CallContext,
) -> Result<Value, ToolError> {
    let started = Instant::now();
    let ended = tokio::select! {
        status = job.wait() => Some(status.map_err(|e| ToolError::new("process", format!("the shell cannot be waited for: {e}")))?),
        () = tokio::time::sleep(timeout) => None,
        () = ctx.abort.cancelled() => {
            job.end().await;
            return Err(ToolError::new("aborted", "the command was stopped with all it started; what it did before is not undone"));
        }
    };
    let duration = started.elapsed();
    job.end().await;
    Ok(report(&job, ended, duration))
}

fn report(job: &Job, status: Option<ExitStatus>, duration: Duration) -> Value {
    let (stdout, cut_out) = lock(&job.stdout).take();
    let (stderr, cut_err) = lock(&job.stderr).take();
    let mut value = json!({
        "exitCode": status.map(exit_code),
        "stdout": stdout,
        "stderr": stderr,
        "durationMs": millis(duration),
        "truncated": cut_out || cut_err,
    });
    if status.is_none() {
        value["timedOut"] = Value::Bool(true);
    }
    value
}

fn millis(duration: Duration) -> u64 {
    u64::try_from(duration.as_millis()).unwrap_or(u64::MAX)
}
