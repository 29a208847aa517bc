//! Text of others on a person's terminal: nothing in it may move the cursor, hide, or reorder.
//!
//! Whatever a program, a tool or a file says passes through here before a terminal sees it. The
//! result is for reading only: it is never dispatched, stored or compared.

use std::fmt::Write as _;

/// `text` with every invisible or directing character written out, as `\u{1b}`; line feeds and tabs
/// stay.
pub(crate) fn visible(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        if c == '\n' || c == '\t' || !is_deceptive(c) {
            out.push(c);
        } else {
            // Writing into a String cannot fail.
            let _ = write!(out, "\\u{{{:x}}}", c as u32);
        }
    }
    out
}

/// As [`visible`], on one line.
pub(crate) fn visible_line(text: &str) -> String {
    visible(text).replace('\n', "\\n").replace('\t', " ")
}

/// As [`visible`], with every line but the first indented: our own lines begin at the left, so that
/// no text of others can look like one.
pub(crate) fn foreign(text: &str) -> String {
    visible(text).replace('\n', "\n  ")
}

/// Control characters, and those of Unicode that are not seen or change the order of others.
fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(
            c,
            '\u{ad}'
                | '\u{61c}'
                | '\u{115f}'
                | '\u{1160}'
                | '\u{180e}'
                | '\u{200b}'..='\u{200f}'
                | '\u{2028}'..='\u{202e}'
                | '\u{2060}'..='\u{206f}'
                | '\u{3164}'
                | '\u{fe00}'..='\u{fe0f}'
                | '\u{feff}'
                | '\u{ffa0}'
                | '\u{fff9}'..='\u{fffb}'
                | '\u{e0000}'..='\u{e0fff}'
        )
}

/// A text cut for the eye, and what was left out.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Cut {
    /// The part that is shown.
    pub(crate) shown: String,
    /// Characters that are not shown.
    pub(crate) hidden_chars: usize,
}

/// At most `max_lines` lines and `max_chars` characters of `text`.
pub(crate) fn cut(text: &str, max_lines: usize, max_chars: usize) -> Cut {
    let lines_end = text
        .match_indices('\n')
        .nth(max_lines.saturating_sub(1))
        .map_or(text.len(), |(at, _)| at);
    let chars_end = text
        .char_indices()
        .nth(max_chars)
        .map_or(text.len(), |(at, _)| at);
    let end = lines_end.min(chars_end);
    Cut {
        shown: text[..end].to_owned(),
        hidden_chars: text[end..].chars().count(),
    }
}

/// The first `max_chars` characters of one line of `text`, with `…` where it was cut.
pub(crate) fn one_line(text: &str, max_chars: usize) -> String {
    let line = visible_line(text.lines().next().unwrap_or_default());
    let cut = cut(&line, 1, max_chars.saturating_sub(1));
    match (cut.hidden_chars, text.lines().nth(1)) {
        (0 | 1, None) => line,
        _ => format!("{}…", cut.shown.trim_end()),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sequences_that_steer_a_terminal_are_written_out() {
        assert_eq!(
            visible("\u{1b}[2J\r\u{7}ok\u{9b}31m"),
            r"\u{1b}[2J\u{d}\u{7}ok\u{9b}31m"
        );
    }

    #[test]
    fn reordered_and_unseen_text_is_written_out() {
        assert_eq!(
            visible("a\u{202e}b\u{2066}c\u{200b}\u{feff}\u{e0041}"),
            r"a\u{202e}b\u{2066}c\u{200b}\u{feff}\u{e0041}"
        );
    }

    #[test]
    fn only_our_own_lines_begin_at_the_left() {
        assert_eq!(
            foreign("one\n(timeout, run_deadline)\r\nhint: x\u{85}hint: y"),
            "one\n  (timeout, run_deadline)\\u{d}\n  hint: x\\u{85}hint: y"
        );
    }

    #[test]
    fn ordinary_text_stays() {
        let text = "Grüße 日本 👍\n\tindented";
        assert_eq!(visible(text), text);
    }

    #[test]
    fn cuts_count_what_they_hide() {
        assert_eq!(
            cut("a\nb\nc", 2, 100),
            Cut {
                shown: "a\nb".into(),
                hidden_chars: 2
            }
        );
        assert_eq!(
            cut("äöü", 9, 2),
            Cut {
                shown: "äö".into(),
                hidden_chars: 1
            }
        );
        assert_eq!(
            cut("abc", 9, 3),
            Cut {
                shown: "abc".into(),
                hidden_chars: 0
            }
        );
    }

    #[test]
    fn one_line_says_that_there_was_more() {
        assert_eq!(one_line("short", 10), "short");
        assert_eq!(one_line("first\nsecond", 10), "first…");
        assert_eq!(one_line("a very long line", 7), "a very…");
    }
}
