//! From a result of the surface to what an MCP client gets.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use codecell_tools::{ContentBlock, ResourceContent, SurfaceResult, SurfaceTool};
use rmcp::model::{
    CallToolResult, ContentBlock as Block, Resource, ResourceContents, Tool, ToolAnnotations,
};
use serde_json::Value;

/// What the addresses of kept values begin with.
const SAVED_PREFIX: &str = "codecell://saved/";

/// A tool of the surface as MCP shows it.
pub(crate) fn tool(tool: &SurfaceTool) -> Tool {
    let object = |schema: &Value| schema.as_object().cloned().unwrap_or_default();
    let mut shown = Tool::new(
        tool.name.to_string(),
        tool.description.to_string(),
        object(&tool.input_schema),
    );
    shown.output_schema = tool
        .output_schema
        .as_ref()
        .map(|schema| object(schema).into());
    let annotations = tool.annotations.as_deref().cloned();
    // Ours, and checked by a test: what does not fit is left out rather than made up.
    shown.annotations =
        annotations.and_then(|hints| serde_json::from_value::<ToolAnnotations>(hints).ok());
    shown
}

/// A result: the text for the model, the structured result, the binary content that it names, and
/// links to what was too large to be sent.
pub(crate) fn result(result: SurfaceResult) -> CallToolResult {
    let mut content = vec![Block::text(result.text)];
    content.extend(result.content.iter().filter_map(block));
    content.extend(saved_link(&result.details));
    let mut sent = if result.is_error {
        CallToolResult::error(content)
    } else {
        CallToolResult::success(content)
    };
    sent.structured_content = Some(result.details);
    sent
}

fn block(block: &ContentBlock) -> Option<Block> {
    Some(match block {
        ContentBlock::Text(text) => Block::text(text.as_str()),
        ContentBlock::Image { mime_type, data } => {
            Block::image(STANDARD.encode(data), mime_type.as_str())
        }
        ContentBlock::Audio { mime_type, data } => {
            Block::audio(STANDARD.encode(data), mime_type.as_str())
        }
        ContentBlock::Resource {
            uri,
            mime_type,
            content,
        } => Block::resource(embedded(uri, mime_type.as_deref(), content)),
        ContentBlock::ResourceLink {
            uri,
            name,
            mime_type,
        } => {
            let mut link = Resource::new(uri.as_str(), name.as_str());
            link.mime_type.clone_from(mime_type);
            Block::resource_link(link)
        }
    })
}

fn embedded(uri: &str, mime_type: Option<&str>, content: &ResourceContent) -> ResourceContents {
    let contents = match content {
        ResourceContent::Text(text) => ResourceContents::text(text.as_str(), uri),
        ResourceContent::Bytes(data) => ResourceContents::blob(STANDARD.encode(data), uri),
    };
    match mime_type {
        Some(mime_type) => contents.with_mime_type(mime_type),
        None => contents,
    }
}

/// The link to the value that a result says was kept because it was too large.
fn saved_link(details: &Value) -> Option<Block> {
    let saved = details
        .get("saved")
        .or_else(|| details.get("failure")?.get("saved"))?;
    let id = saved.get("id")?.as_str()?;
    let bytes = saved.get("bytes").and_then(Value::as_u64).unwrap_or(0);
    Some(Block::resource_link(saved_resource(id, bytes)))
}

/// A kept value as a resource.
pub(crate) fn saved_resource(id: &str, bytes: u64) -> Resource {
    Resource::new(saved_uri(id), id)
        .with_title("A value that a cell kept")
        .with_mime_type("application/json")
        .with_size(bytes)
}

/// The address of a kept value.
pub(crate) fn saved_uri(id: &str) -> String {
    format!("{SAVED_PREFIX}{id}")
}

/// The id of a kept value in an address.
pub(crate) fn saved_id(uri: &str) -> Option<&str> {
    uri.strip_prefix(SAVED_PREFIX)
}
