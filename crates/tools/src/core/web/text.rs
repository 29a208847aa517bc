//! From a body to text.

use crate::core::error::CoreError;

/// Columns that HTML is laid out in.
const WIDTH: usize = 100;
/// Bytes looked at when the server does not say what it sends.
const SNIFF_BYTES: usize = 1024;
/// Deepest nesting that is laid out; beyond it the markup is given as it is.
const MAX_DEPTH: usize = 256;

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

/// HTML as readable text.
///
/// # Errors
/// [`CoreError::Transfer`] if it cannot be laid out.
pub(super) fn readable(html: &str) -> Result<String, CoreError> {
    if depth(html) > MAX_DEPTH {
        return Ok(html.to_owned());
    }
    html2text::config::plain()
        .allow_width_overflow()
        .no_link_wrapping()
        .string_from_read(html.as_bytes(), WIDTH)
        .map_err(|error| {
            CoreError::Transfer(format!("the page cannot be laid out as text: {error}"))
        })
}

/// An upper bound of the nesting of elements.
///
/// Layout time grows with depth times size, so a hostile page could cost minutes.
fn depth(html: &str) -> usize {
    let bytes = html.as_bytes();
    let (mut depth, mut deepest) = (0usize, 0);
    for (at, _) in bytes.iter().enumerate().filter(|(_, byte)| **byte == b'<') {
        match bytes.get(at + 1) {
            Some(b'/') => depth = depth.saturating_sub(1),
            Some(next) if next.is_ascii_alphabetic() && !is_void(&bytes[at + 1..]) => {
                depth += 1;
                deepest = deepest.max(depth);
            }
            _ => {}
        }
    }
    deepest
}

/// Elements that are never closed, or whose end tag is usually left out.
fn is_void(tag: &[u8]) -> bool {
    const NAMES: [&[u8]; 16] = [
        b"area", b"base", b"br", b"col", b"dd", b"dt", b"hr", b"img", b"input", b"li", b"link",
        b"meta", b"option", b"p", b"source", b"wbr",
    ];
    let len = tag
        .iter()
        .take_while(|byte| byte.is_ascii_alphanumeric())
        .count();
    NAMES
        .iter()
        .any(|name| tag[..len].eq_ignore_ascii_case(name))
}
