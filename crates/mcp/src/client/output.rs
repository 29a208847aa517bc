//! From a result of the protocol to the output of a tool.

use std::sync::Arc;

use base64::Engine as _;
use base64::engine::general_purpose::{GeneralPurpose, GeneralPurposeConfig};
use base64::{alphabet, engine::DecodePaddingMode};
use codecell_tools::{ContentBlock, ResourceContent, ToolOutput};
use serde_json::{Map, Value};

/// Base64 as servers write it: with or without padding.
const BASE64: GeneralPurpose = GeneralPurpose::new(
    &alphabet::STANDARD,
    GeneralPurposeConfig::new().with_decode_padding_mode(DecodePaddingMode::Indifferent),
);

/// The output of a tool call.
///
/// # Errors
/// What is wrong with the result, when it is none.
pub(super) fn of_call(result: Value) -> Result<ToolOutput, String> {
    let Value::Object(mut fields) = result else {
        return Err("the result of a tool is an object".to_owned());
    };
    let content = match fields.remove("content") {
        Some(Value::Array(blocks)) => blocks.into_iter().map(block).collect(),
        None | Some(Value::Null) => Vec::new(),
        Some(_) => return Err("`content` is no array".to_owned()),
    };
    let is_error = fields.get("isError") == Some(&Value::Bool(true));
    // Before 2024-11-05 servers answered with `toolResult`.
    let details = fields
        .remove("structuredContent")
        .or_else(|| fields.remove("toolResult"));
    Ok(ToolOutput {
        content,
        details,
        is_error,
    })
}

/// A block that nobody knows, or that is broken, stays readable as its JSON.
fn block(value: Value) -> ContentBlock {
    let known = value.as_object().and_then(known_block);
    known.unwrap_or_else(|| ContentBlock::Text(value.to_string()))
}

fn known_block(fields: &Map<String, Value>) -> Option<ContentBlock> {
    let text = |key: &str| fields.get(key)?.as_str().map(str::to_owned);
    Some(match fields.get("type")?.as_str()? {
        "text" => ContentBlock::Text(text("text")?),
        "image" => ContentBlock::Image {
            mime_type: text("mimeType")?,
            data: bytes(fields.get("data")?)?,
        },
        "audio" => ContentBlock::Audio {
            mime_type: text("mimeType")?,
            data: bytes(fields.get("data")?)?,
        },
        "resource" => resource(fields.get("resource")?.as_object()?)?,
        "resource_link" => ContentBlock::ResourceLink {
            uri: text("uri")?,
            name: text("name").unwrap_or_default(),
            mime_type: text("mimeType"),
        },
        _ => return None,
    })
}

fn resource(fields: &Map<String, Value>) -> Option<ContentBlock> {
    let text = |key: &str| fields.get(key)?.as_str().map(str::to_owned);
    let content = match (text("text"), fields.get("blob")) {
        (Some(text), _) => ResourceContent::Text(text),
        (None, Some(blob)) => ResourceContent::Bytes(bytes(blob)?),
        (None, None) => return None,
    };
    Some(ContentBlock::Resource {
        uri: text("uri")?,
        mime_type: text("mimeType"),
        content,
    })
}

fn bytes(value: &Value) -> Option<Arc<[u8]>> {
    let text = value.as_str()?;
    BASE64.decode(text.trim()).ok().map(Into::into)
}

#[cfg(test)]
mod tests {
    use super::*;
    use serde_json::json;

    #[test]
    fn every_kind_of_block_is_read() {
        let result = json!({"content": [
            {"type": "text", "text": "a"},
            {"type": "image", "mimeType": "image/png", "data": "AQI="},
            {"type": "audio", "mimeType": "audio/wav", "data": "AQI"},
            {"type": "resource", "resource": {"uri": "u:1", "text": "t"}},
            {"type": "resource", "resource": {"uri": "u:2", "blob": "AQ==", "mimeType": "x/y"}},
            {"type": "resource_link", "uri": "u:3", "name": "n"},
        ], "structuredContent": {"a": 1}, "isError": true});
        let output = of_call(result).unwrap();
        assert_eq!(output.details, Some(json!({"a": 1})));
        assert!(output.is_error);
        let kinds: Vec<_> = output.content.iter().map(ContentBlock::kind).collect();
        assert_eq!(
            kinds,
            [
                "text",
                "image",
                "audio",
                "resource",
                "resource",
                "resource_link"
            ]
        );
        let binary: Vec<_> = output
            .content
            .iter()
            .filter_map(ContentBlock::binary)
            .collect();
        let binary: Vec<_> = binary
            .iter()
            .map(|(mime, data)| (*mime, data.len()))
            .collect();
        assert_eq!(binary, [("image/png", 2), ("audio/wav", 2), ("x/y", 1)]);
    }

    #[test]
    fn what_is_unknown_or_broken_stays_readable() {
        for odd in [
            json!({"type": "video", "data": "AQ=="}),
            json!({"type": "image", "mimeType": "image/png", "data": "%%%"}),
            json!({"type": "resource", "resource": {"uri": "u"}}),
            json!("text"),
        ] {
            let output = of_call(json!({"content": [odd]})).unwrap();
            assert_eq!(output.content, [ContentBlock::Text(odd.to_string())]);
        }
        assert_eq!(of_call(json!({})).unwrap(), ToolOutput::default());
        assert_eq!(
            of_call(json!({"toolResult": 5})).unwrap().details,
            Some(json!(5))
        );
        assert!(of_call(json!([])).is_err());
        assert!(of_call(json!({"content": "text"})).is_err());
    }
}
