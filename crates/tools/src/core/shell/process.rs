//! `process`: looking after background commands.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use serde::Deserialize;
use serde_json::{Value, json};
use tokio::io::AsyncWriteExt as _;

use super::sessions::{Session, Sessions};
use crate::core::adapt::define;
use crate::core::error::CoreError;
use crate::{ApprovalNeed, CallContext, Tool, ToolDefinition, ToolError, ToolInput, ToolOutput};

/// Most text of one `write`.
const MAX_INPUT_BYTES: usize = 64 * 1024;
/// How long a command that does not read is waited for.
const WRITE_TIME: Duration = Duration::from_secs(10);

/// The tool.
pub(crate) struct ProcessTool {
    definition: ToolDefinition,
    sessions: Arc<Sessions>,
}

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Args {
    action: Action,
    session_id: Option<String>,
    input: Option<String>,
}

#[derive(Clone, Copy, PartialEq, Eq, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    List,
    Poll,
    Write,
    Kill,
}

impl ProcessTool {
    pub(crate) fn new(sessions: Arc<Sessions>) -> Result<Self, CoreError> {
        let description = "Look after commands that exec started with background: true. list gives all; poll gives the state and the output \
            since the last poll; write sends input to its standard input; kill ends it with all it started.";
        let definition = define("process", description, parameters())?.with_output(output());
        Ok(Self {
            definition,
            sessions,
        })
    }
}

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "action": {"type": "string", "enum": ["list", "poll", "write", "kill"]},
            "sessionId": {"type": "string", "description": "From exec or list; needed by all but list"},
            "input": {"type": "string", "description": "For write; a line ends with \\n"}
        },
        "required": ["action"],
        "additionalProperties": false
    })
}

fn output() -> Value {
    let state = json!({
        "sessionId": {"type": "string"},
        "running": {"type": "boolean"},
        "exitCode": {"type": ["integer", "null"]},
        "durationMs": {"type": "integer"}
    });
    let mut listed = state.clone();
    listed["command"] = json!({"type": "string"});
    let mut properties = state;
    properties["stdout"] =
        json!({"type": "string", "description": "poll and kill: since the last look"});
    properties["stderr"] = json!({"type": "string"});
    properties["truncated"] =
        json!({"type": "boolean", "description": "The middle of a stream was left out"});
    properties["written"] = json!({"type": "integer", "description": "write: bytes"});
    properties["sessions"] = json!({"type": "array", "items": {"type": "object", "properties": listed}, "description": "list"});
    json!({"type": "object", "properties": properties})
}

#[async_trait]
impl Tool for ProcessTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: ToolInput, ctx: &CallContext) -> Result<ToolOutput, ToolError> {
        let args: Args = input.parse()?;
        if args.action == Action::List {
            return Ok(ToolOutput::details(self.sessions.list(&ctx.session_key)));
        }
        let id = args.session_id.as_deref().ok_or_else(|| {
            ToolError::invalid_arguments("sessionId is needed by every action but list")
        })?;
        let session = self.sessions.get(id, &ctx.session_key)?;
        let value = match args.action {
            Action::Write => write(&session, id, args.input, ctx).await?,
            Action::Kill => {
                session.kill().await;
                session.poll()
            }
            Action::Poll | Action::List => session.poll(),
        };
        Ok(ToolOutput::details(value))
    }

    /// Looking changes nothing.
    fn approvals(
        &self,
        input: &ToolInput,
        _: &CallContext,
    ) -> Result<Vec<ApprovalNeed>, ToolError> {
        let args: Args = input.parse()?;
        Ok(match args.action {
            Action::List | Action::Poll => Vec::new(),
            Action::Write | Action::Kill => {
                let reason = "steers a running command".to_owned();
                vec![ApprovalNeed {
                    reason,
                    ..ApprovalNeed::of_tool(&self.definition)
                }]
            }
        })
    }
}

async fn write(
    session: &Session,
    id: &str,
    input: Option<String>,
    ctx: &CallContext,
) -> Result<Value, ToolError> {
    let input = input.ok_or_else(|| ToolError::invalid_arguments("write needs input"))?;
    if input.len() > MAX_INPUT_BYTES {
        return Err(ToolError::invalid_arguments(format!(
            "input has {} bytes, at most {MAX_INPUT_BYTES} are taken",
            input.len()
        )));
    }
    let sending = async {
        let mut stdin = session.stdin.lock().await;
        let pipe = stdin
            .as_mut()
            .ok_or_else(|| std::io::Error::from(std::io::ErrorKind::BrokenPipe))?;
        pipe.write_all(input.as_bytes()).await?;
        pipe.flush().await
    };
    tokio::select! {
        sent = sending => match sent {
            Ok(()) => Ok(json!({"sessionId": id, "written": input.len()})),
            Err(_) => Err(ToolError::no_effect("process", format!("{id} does not take input any more"))),
        },
        () = tokio::time::sleep(WRITE_TIME) => Err(ToolError::new("process", format!("{id} has not read its input for 10 s; part of it may be sent"))),
        () = ctx.abort.cancelled() => Err(ToolError::new("aborted", "the call was stopped; part of the input may be sent")),
    }
}
