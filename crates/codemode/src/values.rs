//! JSON across the bridge: arguments from the guest, results of tools to it.
//!
//! What a program sees of a result is decided here and nowhere else: its details, else its only
//! text, else its content blocks, with references in the place of binary content.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use codecell_catalog::{Operation, ToolId};
use codecell_sandbox::Method;
use codecell_tools::{CallReport, ContentBlock, ToolOutput, ToolSet};
use serde::Serialize as _;
use serde_json::ser::{Formatter, Serializer};
use serde_json::{Value, json};

use codecell_protocol::CallState;

use crate::calls::Answer;
use crate::deep_json::{self, DeepJsonError};
use crate::limits::JSON_DEPTH_LEVELS;
use crate::mcp_result;
use crate::reply::Rejection;
use crate::run_state::RunState;

/// Reads arguments.
///
/// # Errors
/// A text for the program.
pub(crate) fn parse(json: &str) -> Result<Value, String> {
    if json.is_empty() {
        return Ok(Value::Null);
    }
    deep_json::parse(json, JSON_DEPTH_LEVELS as usize).map_err(|error| match error {
        DeepJsonError::TooDeep => format!(
            "the arguments are nested deeper than {JSON_DEPTH_LEVELS} levels; pass flatter data"
        ),
        DeepJsonError::Malformed => "the arguments are not JSON".to_owned(),
    })
}

/// The answer to a call that gave a result.
pub(crate) fn answer(
    method: Method,
    tool: &Arc<str>,
    tools: &ToolSet,
    report: &CallReport,
    run: &RunState,
) -> Answer {
    let Ok(output) = &report.outcome else {
        return Answer::Json("null".to_owned());
    };
    if method == Method::CallRaw {
        let value =
            json!({"tool": compact(tools, report.tool.as_ref()), "result": raw(output, run)});
        return json_answer(&value, tool, report.state);
    }
    if method == Method::Mcp {
        let value = mcp_result::of(output, operation_of(tools, report.tool.as_ref()), run);
        return json_answer(&value, tool, report.state);
    }
    if output.is_error {
        return Answer::Reject(tool_error(tool, output, report.state));
    }
    let value = match output.content.as_slice() {
        blocks if output.details.is_none() && !matches!(blocks, [ContentBlock::Text(_)]) => {
            Cow::Owned(with_references(blocks, run))
        }
        _ => report.value().unwrap_or(Cow::Owned(Value::Null)),
    };
    match value {
        Cow::Owned(Value::String(text)) => Answer::Text(text),
        Cow::Borrowed(Value::String(text)) => Answer::Text(text.clone()),
        value => json_answer(&value, tool, report.state),
    }
}

fn json_answer(value: &Value, tool: &Arc<str>, state: CallState) -> Answer {
    match shallow_json(value, JSON_DEPTH_LEVELS) {
        Some(json) => Answer::Json(json),
        None => Answer::Reject(Rejection::reply_too_deep(tool, state, JSON_DEPTH_LEVELS)),
    }
}

/// The text of a value that is nested at most so deep; what is deeper is not looked at.
fn shallow_json(value: &Value, levels: u64) -> Option<String> {
    let mut text = Vec::new();
    let mut printer = Serializer::with_formatter(&mut text, Shallow { levels });
    value.serialize(&mut printer).ok()?;
    String::from_utf8(text).ok()
}

/// Prints compactly, and fails when a value nests deeper than so many levels: a walk of its own would take as long
/// as half of the printing.
struct Shallow {
    levels: u64,
}

impl Shallow {
    fn open<W: io::Write + ?Sized>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        let left = self.levels.checked_sub(1);
        self.levels = left.ok_or_else(|| io::Error::other("nested too deeply"))?;
        writer.write_all(bracket)
    }

    fn close<W: io::Write + ?Sized>(&mut self, writer: &mut W, bracket: &[u8]) -> io::Result<()> {
        self.levels += 1;
        writer.write_all(bracket)
    }
}

impl Formatter for Shallow {
    fn begin_array<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"[")
    }

    fn end_array<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"]")
    }

    fn begin_object<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.open(writer, b"{")
    }

    fn end_object<W: io::Write + ?Sized>(&mut self, writer: &mut W) -> io::Result<()> {
        self.close(writer, b"}")
    }
}

fn operation_of(tools: &ToolSet, id: Option<&ToolId>) -> Operation {
    let entry = id.and_then(|id| tools.catalog().get(id));
    entry.map_or(Operation::Tool, |entry| entry.operation)
}

fn compact(tools: &ToolSet, id: Option<&ToolId>) -> Value {
    let entry = id.and_then(|id| tools.catalog().get(id));
    entry
        .and_then(|entry| serde_json::to_value(entry.compact()).ok())
        .unwrap_or(Value::Null)
}

/// The whole result, with references in the place of binary content.
fn raw(output: &ToolOutput, run: &RunState) -> Value {
    let mut raw = output.raw();
    if output.content.iter().any(|block| block.binary().is_some()) {
        raw["content"] = with_references(&output.content, run);
    }
    raw
}

pub(crate) fn with_references(blocks: &[ContentBlock], run: &RunState) -> Value {
    let mut store = run.binary();
    blocks.iter().map(|block| store.for_guest(block)).collect()
}

/// A result that says of itself that it is an error.
fn tool_error(tool: &Arc<str>, output: &ToolOutput, state: CallState) -> Rejection {
    let texts: Vec<&str> = output
        .content
        .iter()
        .filter_map(|block| match block {
            ContentBlock::Text(text) => Some(text.as_str()),
            _ => None,
        })
        .collect();
    let message = match texts.join("\n") {
        text if text.is_empty() => format!("{tool} reported an error without a text"),
        text => text,
    };
    Rejection::new("tool_error", message, Some(Arc::clone(tool)), state)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replies_nest_as_deep_as_arguments_and_no_deeper() {
        let nested = |levels: u64| (0..levels).fold(json!(1), |inner, _| json!([{"a": inner}]));
        let deepest = nested(JSON_DEPTH_LEVELS / 2);
        let text = shallow_json(&deepest, JSON_DEPTH_LEVELS);
        assert_eq!(text, Some(deepest.to_string()));
        let deeper = json!([deepest]);
        assert_eq!(shallow_json(&deeper, JSON_DEPTH_LEVELS), None);
        let wide = json!([[], {}, [[]], "ä\n", -0.5, {"b": null}]);
        assert_eq!(shallow_json(&wide, 3), Some(wide.to_string()));
        assert_eq!(shallow_json(&wide, 2), None);
        assert_eq!(shallow_json(&json!([]), 0), None);
    }

    #[test]
    fn arguments_are_read_or_refused_with_advice() {
        assert_eq!(parse(""), Ok(Value::Null));
        assert_eq!(parse("{\"a\":1}"), Ok(json!({"a": 1})));
        let deep = "[".repeat(513) + &"]".repeat(513);
        assert_eq!(
            parse(&deep),
            Err("the arguments are nested deeper than 512 levels; pass flatter data".into())
        );
        assert_eq!(parse("{"), Err("the arguments are not JSON".into()));
    }
}
