//! What the guest gets of an MCP call: the protocol's own shapes, with binary content left outside.
//!
//! A tool's result keeps its blocks even when it has a structured value, and one that says that it
//! failed is a result like others. Resources and prompts are the server's own objects; the bytes in
//! them stay on the host, as those of blocks do.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use codecell_catalog::Operation;
use codecell_tools::{ContentBlock, ResourceContent, ToolOutput};
use serde_json::{Map, Value, json};

use crate::run_state::RunState;
use crate::values::with_references;

/// The media type of content that names none.
const UNKNOWN_TYPE: &str = "application/octet-stream";

/// The result for the guest.
pub(crate) fn of(output: &ToolOutput, operation: Operation, run: &RunState) -> Value {
    match (operation, &output.details) {
        (Operation::Tool, _) | (_, None) => tool_result(output, run),
        (_, Some(details)) => without_bytes(details, run),
    }
}

fn tool_result(output: &ToolOutput, run: &RunState) -> Value {
    let mut result = json!({"content": with_references(&output.content, run)});
    if let Some(details) = &output.details {
        result["structuredContent"] = details.clone();
    }
    if output.is_error {
        result["isError"] = Value::Bool(true);
    }
    result
}

/// The object of a server with a reference in the place of every `blob` of its contents and of the
/// `data` of every block of its messages.
fn without_bytes(details: &Value, run: &RunState) -> Value {
    let mut details = details.clone();
    let items = |details: &mut Value, list: &str, visit: &dyn Fn(&mut Value)| {
        let items = details.get_mut(list).and_then(Value::as_array_mut);
        items.into_iter().flatten().for_each(visit);
    };
    items(&mut details, "contents", &|item| resource(item, run));
    items(&mut details, "messages", &|message| {
        if let Some(content) = message.get_mut("content") {
            block(content, run);
        }
    });
    details
}

fn block(content: &mut Value, run: &RunState) {
    if let Some(inner) = content.get_mut("resource") {
        return resource(inner, run);
    }
    let Some(fields) = content.as_object_mut() else {
        return;
    };
    let is_audio = fields.get("type").and_then(Value::as_str) == Some("audio");
    take_bytes(fields, "data", run, |_, mime_type, data| match is_audio {
        true => ContentBlock::Audio { mime_type, data },
        false => ContentBlock::Image { mime_type, data },
    });
}

fn resource(item: &mut Value, run: &RunState) {
    let Some(fields) = item.as_object_mut() else {
        return;
    };
    take_bytes(fields, "blob", run, |fields, mime_type, data| {
        let uri = fields.get("uri").and_then(Value::as_str);
        ContentBlock::Resource {
            uri: uri.unwrap_or_default().to_owned(),
            mime_type: Some(mime_type),
            content: ResourceContent::Bytes(data),
        }
    });
}

/// Moves the bytes behind `key` into the run's store; what is no base64 is left out with a note.
fn take_bytes(
    fields: &mut Map<String, Value>,
    key: &str,
    run: &RunState,
    keep: impl FnOnce(&Map<String, Value>, String, Arc<[u8]>) -> ContentBlock,
) {
    let Some(Value::String(text)) = fields.get(key) else {
        return;
    };
    let decoded = STANDARD.decode(text);
    fields.remove(key);
    let Ok(bytes) = decoded else {
        fields.insert("note".into(), "not kept: it is not base64".into());
        return;
    };
    let mime_type = fields.get("mimeType").and_then(Value::as_str);
    let mime_type = mime_type.unwrap_or(UNKNOWN_TYPE).to_owned();
    let block = keep(fields, mime_type, bytes.into());
    let kept = with_references(std::slice::from_ref(&block), run);
    for name in ["bytes", "ref", "note"] {
        if let Some(value) = kept.get(0).and_then(|kept| kept.get(name)) {
            fields.insert(name.to_owned(), value.clone());
        }
    }
}
