//! Small steps over source text between the positions that the parser reports.

/// The offset of the first character at or after `from` that is neither white space nor in a comment.
pub(crate) fn skip_trivia(text: &str, from: usize) -> usize {
    let mut at = from.min(text.len());
    while let Some(rest) = text.get(at..) {
        let trimmed = rest.trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}');
        at = text.len() - trimmed.len();
        if trimmed.starts_with("//") {
            at += trimmed
                .find(['\n', '\r', '\u{2028}', '\u{2029}'])
                .unwrap_or(trimmed.len());
        } else if let Some(comment) = trimmed.strip_prefix("/*") {
            at += comment.find("*/").map_or(trimmed.len(), |end| end + 4);
        } else {
            break;
        }
    }
    at
}

/// The identifier-like word at `at`, empty if there is none.
pub(super) fn word(text: &str, at: usize) -> &str {
    let rest = text.get(at..).unwrap_or("");
    let end = rest
        .find(|c: char| !(c.is_alphanumeric() || matches!(c, '_' | '$')))
        .unwrap_or(rest.len());
    &rest[..end]
}

/// The byte at `at` behind blanks and comments, with its offset.
pub(super) fn next_byte(text: &str, at: usize) -> (usize, u8) {
    let at = skip_trivia(text, at);
    (at, text.as_bytes().get(at).copied().unwrap_or(0))
}

/// Whether a line ends between two offsets.
pub(super) fn breaks_line(text: &str, start: usize, end: usize) -> bool {
    text.get(start..end)
        .is_some_and(|between| between.contains(['\n', '\r', '\u{2028}', '\u{2029}']))
}

/// The last character before `at` that is not white space, comments included as they stand.
pub(super) fn previous_byte(text: &str, at: usize) -> u8 {
    text.get(..at)
        .and_then(|before| before.trim_end().bytes().last())
        .unwrap_or(b';')
}
