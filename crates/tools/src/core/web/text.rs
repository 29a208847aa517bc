//! From a body to text.

use crate::core::error::CoreError;

/// Columns that HTML is laid out in.
const WIDTH: usize = 100;
/// Bytes looked at when the server does not say what it sends.
const SNIFF_BYTES: usize = 1024;

/// What a body is, by its declared type.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Html,
    Text,
    Binary,
    /// Not declared.
    Unknown,
}

/// The kind of a `Content-Type`.
pub(super) fn kind(content_type: &str) -> Kind {
    let essence = content_type
        .split(';')
        .next()
        .unwrap_or("")
        .trim()
        .to_ascii_lowercase();
    let suffix = |end: &str| essence.ends_with(end);
    match essence.as_str() {
        "" => Kind::Unknown,
        "text/html" | "application/xhtml+xml" => Kind::Html,
        "application/json"
        | "application/xml"
        | "application/javascript"
        | "application/ecmascript"
        | "application/yaml"
        | "application/x-yaml"
        | "application/toml"
        | "application/x-ndjson"
        | "application/jsonl"
        | "application/x-sh"
        | "application/sql"
        | "application/graphql"
        | "application/x-www-form-urlencoded" => Kind::Text,
        _ if essence.starts_with("text/")
            || suffix("+json")
            || suffix("+xml")
            || suffix("+yaml") =>
        {
            Kind::Text
        }
        _ => Kind::Binary,
    }
}

/// Whether bytes of undeclared type read as text.
pub(super) fn looks_like_text(body: &[u8]) -> bool {
    let head = &body[..body.len().min(SNIFF_BYTES)];
    let valid = match std::str::from_utf8(head) {
        Ok(_) => true,
        // A character cut by the limit is no sign of anything.
        Err(error) => error.error_len().is_none(),
    };
    valid && !head.contains(&0)
}

/// The body as text, in the charset that its type declares.
pub(super) fn decode(body: &[u8], content_type: &str) -> String {
    let lower = content_type.to_ascii_lowercase();
    let charset = lower
        .split(';')
        .find_map(|part| part.trim().strip_prefix("charset="))
        .map(|name| name.trim_matches(['"', '\'', ' ']));
    match charset {
        Some("iso-8859-1" | "latin1" | "windows-1252" | "us-ascii")
            if std::str::from_utf8(body).is_err() =>
        {
            body.iter().map(|byte| char::from(*byte)).collect()
        }
        _ => {
            String::from_utf8_lossy(body.strip_prefix(b"\xef\xbb\xbf").unwrap_or(body)).into_owned()
        }
    }
}

/// HTML as readable text; a page whose layout could take too long comes as it is, without scripts and the like.
///
/// # Errors
/// [`CoreError::Transfer`] if it cannot be laid out.
pub(super) fn readable(html: &str) -> Result<String, CoreError> {
    let html = super::tame::cut(html);
    if !super::tame::is_tame(&html) {
        return Ok(html);
    }
    html2text::config::plain()
        .allow_width_overflow()
        .no_link_wrapping()
        .string_from_read(html.as_bytes(), WIDTH)
        .map_err(|error| {
            CoreError::Transfer(format!("the page cannot be laid out as text: {error}"))
        })
}
