//! Hands a call to its tool, and survives whatever the tool does.

use std::panic::AssertUnwindSafe;
use std::time::Duration;

use codecell_protocol::CallState;
use futures::FutureExt as _;

use super::refusal::Breakdown;
use crate::context::CallContext;
use crate::error::{FailureEffect, ToolError};
use crate::output::{ToolOutput, json_bytes_above};
use crate::tool::{Tool, ToolDefinition, ToolInput};

/// How a call that was handed over came back.
pub(super) enum Returned {
    /// The tool answered.
    Answer(Result<ToolOutput, ToolError>),
    /// The tool panicked.
    Crashed,
    /// The tool was dropped after an abort.
    Aborted,
}

/// Runs the tool to its answer. After an abort it has `grace` to answer by itself, then it is
/// dropped.
pub(super) async fn dispatch(
    tool: &dyn Tool,
    input: ToolInput,
    ctx: &CallContext,
    grace: Duration,
) -> Returned {
    let running = AssertUnwindSafe(async { tool.call(input, ctx).await }).catch_unwind();
    tokio::pin!(running);
    let ended = tokio::select! {
        biased;
        ended = &mut running => ended,
        () = ctx.abort.cancelled() => match tokio::time::timeout(grace, &mut running).await {
            Ok(ended) => ended,
            Err(_) => return Returned::Aborted,
        },
    };
    ended.map_or(Returned::Crashed, Returned::Answer)
}

/// What the ledger, and what the caller, is told of it.
pub(super) fn conclude(
    definition: &ToolDefinition,
    returned: Returned,
    max_output_bytes: usize,
) -> (CallState, Result<ToolOutput, (String, String)>) {
    let id = || definition.id.clone();
    let broke = |state, breakdown: Breakdown| {
        (
            state,
            Err((breakdown.code().to_owned(), breakdown.to_string())),
        )
    };
    match returned {
        Returned::Crashed => broke(CallState::Unknown, Breakdown::Crashed { tool: id() }),
        Returned::Aborted => broke(CallState::Unknown, Breakdown::Aborted { tool: id() }),
        Returned::Answer(Err(error)) => {
            let clean = error.effect() == FailureEffect::None || definition.failure_is_clean();
            let text = (error.code().to_owned(), bounded(error.message()));
            (failure_state(clean), Err(text))
        }
        Returned::Answer(Ok(output)) => {
            let state = match output.is_error {
                true => failure_state(definition.failure_is_clean()),
                false => CallState::Committed,
            };
            match bytes_above(&output, max_output_bytes) {
                Some(bytes) => broke(
                    state,
                    Breakdown::OutputTooLarge {
                        tool: id(),
                        bytes,
                        max_bytes: max_output_bytes,
                    },
                ),
                None => (state, Ok(output)),
            }
        }
    }
}

/// The longest message of a tool's failure, in bytes.
const MAX_MESSAGE_BYTES: usize = 64 * 1024;

fn bounded(message: &str) -> String {
    if message.len() <= MAX_MESSAGE_BYTES {
        return message.to_owned();
    }
    let end = message.floor_char_boundary(MAX_MESSAGE_BYTES);
    format!(
        "{} [cut: the message has {} bytes]",
        &message[..end],
        message.len()
    )
}

fn failure_state(clean: bool) -> CallState {
    match clean {
        true => CallState::Failed,
        false => CallState::Unknown,
    }
}

/// The bytes of a result that has more than `max_bytes`.
fn bytes_above(output: &ToolOutput, max_bytes: usize) -> Option<usize> {
    let content: usize = output.content.iter().map(|block| block.len_bytes()).sum();
    let room = max_bytes.saturating_sub(content);
    let details = output.details.as_ref();
    match details.and_then(|details| json_bytes_above(details, room)) {
        Some(details) => Some(content.saturating_add(details)),
        None => (content > max_bytes).then_some(content),
    }
}
