//! The result of a tool that succeeded, and the one value that a program sees of it.

use std::borrow::Cow;
use std::io;
use std::sync::Arc;

use serde_json::{Value, json};

/// One piece of a result, in MCP's terms.
///
/// Binary content stays on the host as bytes: code mode gives the guest a reference to it.
#[derive(Debug, Clone, PartialEq)]
pub enum ContentBlock {
    /// Text for the model.
    Text(String),
    /// An image.
    Image {
        /// The media type, such as `image/png`.
        mime_type: String,
        /// The undecoded file.
        data: Arc<[u8]>,
    },
    /// A sound.
    Audio {
        /// The media type, such as `audio/wav`.
        mime_type: String,
        /// The undecoded file.
        data: Arc<[u8]>,
    },
    /// An embedded resource.
    Resource {
        /// Where the resource says that it lives.
        uri: String,
        /// The media type, if known.
        mime_type: Option<String>,
        /// Its content.
        content: ResourceContent,
    },
    /// A link to a resource that was not sent along.
    ResourceLink {
        /// Where the resource lives.
        uri: String,
        /// Its name.
        name: String,
        /// The media type, if known.
        mime_type: Option<String>,
    },
}

/// The content of an embedded resource.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum ResourceContent {
    /// Text.
    Text(String),
    /// Bytes.
    Bytes(Arc<[u8]>),
}

impl ContentBlock {
    /// The bytes that have to stay on the host, with their media type, if the block has any.
    #[must_use]
    pub fn binary(&self) -> Option<(&str, &Arc<[u8]>)> {
        match self {
            Self::Image { mime_type, data } | Self::Audio { mime_type, data } => {
                Some((mime_type, data))
            }
            Self::Resource {
                mime_type,
                content: ResourceContent::Bytes(data),
                ..
            } => Some((mime_type.as_deref().unwrap_or(UNKNOWN_MEDIA_TYPE), data)),
            _ => None,
        }
    }

    /// The word that names the kind of block on the wire.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Text(_) => "text",
            Self::Image { .. } => "image",
            Self::Audio { .. } => "audio",
            Self::Resource { .. } => "resource",
            Self::ResourceLink { .. } => "resource_link",
        }
    }

    /// The block as JSON, with `{type, mimeType, bytes}` in the place of binary content.
    #[must_use]
    pub fn to_json(&self) -> Value {
        if let Some((mime_type, data)) = self.binary() {
            return json!({"type": self.kind(), "mimeType": mime_type, "bytes": data.len()});
        }
        match self {
            Self::Text(text) => json!({"type": "text", "text": text}),
            Self::Resource {
                uri,
                mime_type,
                content: ResourceContent::Text(text),
            } => {
                json!({"type": "resource", "resource": {"uri": uri, "mimeType": mime_type, "text": text}})
            }
            Self::ResourceLink {
                uri,
                name,
                mime_type,
            } => json!({"type": "resource_link", "uri": uri, "name": name, "mimeType": mime_type}),
            _ => json!({"type": self.kind()}),
        }
    }

    /// Bytes of payload, for limits.
    #[must_use]
    pub fn len_bytes(&self) -> usize {
        match self {
            Self::Text(text) => text.len(),
            Self::Image { data, .. } | Self::Audio { data, .. } => data.len(),
            Self::Resource { uri, content, .. } => {
                uri.len()
                    + match content {
                        ResourceContent::Text(text) => text.len(),
                        ResourceContent::Bytes(data) => data.len(),
                    }
            }
            Self::ResourceLink { uri, name, .. } => uri.len() + name.len(),
        }
    }
}

const UNKNOWN_MEDIA_TYPE: &str = "application/octet-stream";

/// The result of a tool call that reached its end.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct ToolOutput {
    /// What a model would be shown.
    pub content: Vec<ContentBlock>,
    /// The structured value, if the tool has one; programs see this one first.
    pub details: Option<Value>,
    /// The tool says that it failed, though it answered (MCP's `isError`).
    pub is_error: bool,
}

impl ToolOutput {
    /// A result that is one structured value.
    #[must_use]
    pub fn details(value: Value) -> Self {
        Self {
            details: Some(value),
            ..Self::default()
        }
    }

    /// A result that is one text.
    pub fn text(text: impl Into<String>) -> Self {
        Self {
            content: vec![ContentBlock::Text(text.into())],
            ..Self::default()
        }
    }

    /// The value that `tools.call` resolves to: the details; else the only text, parsed if the tool
    /// declares that it is JSON and it is; else the content blocks.
    #[must_use]
    pub fn value(&self, returns_json: bool) -> Cow<'_, Value> {
        if let Some(details) = &self.details {
            return Cow::Borrowed(details);
        }
        Cow::Owned(match self.content.as_slice() {
            [ContentBlock::Text(text)] => text_value(text, returns_json),
            blocks => Value::Array(blocks.iter().map(ContentBlock::to_json).collect()),
        })
    }

    /// The whole result as JSON, for `tools.callRaw`.
    #[must_use]
    pub fn raw(&self) -> Value {
        let mut raw = json!({
            "content": self.content.iter().map(ContentBlock::to_json).collect::<Vec<_>>(),
        });
        if let Some(details) = &self.details {
            raw["details"] = details.clone();
        }
        if self.is_error {
            raw["isError"] = Value::Bool(true);
        }
        raw
    }
}

/// How long `value` is as compact JSON, in bytes; the text is not made.
#[must_use]
pub fn json_bytes(value: &Value) -> usize {
    let mut counter = Counter(0);
    // A value of JSON always serialises, and the counter never fails.
    let _ = serde_json::to_writer(&mut counter, value);
    counter.0
}

/// How long `value` is as compact JSON, in bytes, if that is more than `max_bytes`.
///
/// Counting takes as long as printing, so a bound that is quick to find is asked first.
#[must_use]
pub(crate) fn json_bytes_above(value: &Value, max_bytes: usize) -> Option<usize> {
    if most_json_bytes(value) <= max_bytes {
        return None;
    }
    let bytes = json_bytes(value);
    (bytes > max_bytes).then_some(bytes)
}

/// The longest text of a number of JSON, in bytes, with some to spare.
const NUMBER_BYTES: usize = 32;

/// At least as many bytes as `value` has as compact JSON: as if everything in its texts were escaped.
fn most_json_bytes(value: &Value) -> usize {
    let text = |text: &str| text.len().saturating_mul(6).saturating_add(2);
    match value {
        Value::Null | Value::Bool(_) => 5,
        Value::Number(_) => NUMBER_BYTES,
        Value::String(inner) => text(inner),
        Value::Array(items) => items.iter().fold(2, |sum: usize, item| {
            sum.saturating_add(most_json_bytes(item)).saturating_add(1)
        }),
        Value::Object(fields) => fields.iter().fold(2, |sum: usize, (key, field)| {
            sum.saturating_add(text(key))
                .saturating_add(most_json_bytes(field))
                .saturating_add(2)
        }),
    }
}

struct Counter(usize);

impl io::Write for Counter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        self.0 += bytes.len();
        Ok(bytes.len())
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

fn text_value(text: &str, returns_json: bool) -> Value {
    let parsed = returns_json.then(|| serde_json::from_str(text).ok());
    parsed
        .flatten()
        .unwrap_or_else(|| Value::String(text.to_owned()))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_quick_bound_is_never_below_the_text() {
        let values = [
            json!(null),
            json!(false),
            json!([]),
            json!({}),
            json!([[], {}, [1]]),
            json!(u64::MAX),
            json!(i64::MIN),
            json!(-f64::MIN_POSITIVE),
            json!(f64::MAX),
            json!("\u{0}\u{1f}\"\\ä中😀"),
            json!({"\u{0}": "\u{7f}", "": [true, -0.1, {"a": null}]}),
        ];
        for value in values {
            let bytes = json_bytes(&value);
            assert_eq!(bytes, value.to_string().len());
            assert!(most_json_bytes(&value) >= bytes, "{value}");
            assert_eq!(json_bytes_above(&value, bytes), None);
            assert_eq!(json_bytes_above(&value, bytes - 1), Some(bytes));
        }
    }
}
