//! Foreign text inside of comments.
//!
//! The invariant: nothing that comes out of here ends a comment, begins a line of its own, or turns
//! the direction of what follows.

/// The text as one line of at most `max_chars` characters.
pub(super) fn line(text: &str, max_chars: usize) -> String {
    let mut joined = String::new();
    let mut chars = 0;
    let mut is_apart = false;
    for c in text.chars().filter(|c| breaks(*c) || is_kept(*c)) {
        if breaks(c) {
            is_apart = chars > 0;
            continue;
        }
        if chars + usize::from(is_apart) >= max_chars {
            joined.push('…');
            break;
        }
        if std::mem::take(&mut is_apart) {
            joined.push(' ');
            chars += 1;
        }
        joined.push(c);
        chars += 1;
    }
    closed(&joined)
}

/// The text as lines of a comment, each with what stands before it; at most `max_chars` characters.
pub(super) fn lines(text: &str, before: &str, max_chars: usize, out: &mut String) {
    let cut: String = text.chars().take(max_chars).collect();
    let is_cut = cut.len() < text.len();
    let mut all = cut.split(is_line_break).map(|line| {
        let kept: String = line.chars().filter(|c| is_kept(*c)).collect();
        closed(kept.trim_end())
    });
    let mut blank = false;
    let mut any = false;
    for line in &mut all {
        if line.is_empty() {
            blank = any;
            continue;
        }
        if std::mem::take(&mut blank) {
            out.push_str(before.trim_end());
            out.push('\n');
        }
        any = true;
        out.push_str(before);
        out.push_str(&line);
        out.push('\n');
    }
    if is_cut {
        out.push_str(before);
        out.push_str("…\n");
    }
}

fn breaks(c: char) -> bool {
    c.is_whitespace() || is_line_break(c)
}

fn is_line_break(c: char) -> bool {
    matches!(
        c,
        '\n' | '\r' | '\u{b}' | '\u{c}' | '\u{85}' | '\u{2028}' | '\u{2029}'
    )
}

/// Tabs stay; other control characters and marks that change the direction of text do not.
fn is_kept(c: char) -> bool {
    let turns = matches!(
        c,
        '\u{200e}' | '\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2066}'..='\u{2069}' | '\u{61c}' | '\u{feff}'
    );
    (c == '\t' || !c.is_control()) && !turns
}

/// Without anything that would end the comment.
fn closed(text: &str) -> String {
    text.replace("*/", "*\\/")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn nothing_ends_the_comment_or_turns_it() {
        assert_eq!(line("a */ b\n\n c\u{202e}d\u{0}", 100), "a *\\/ b cd");
        assert_eq!(line("*\u{0}/ *\u{202e}/", 100), "*\\/ *\\/");
        assert_eq!(line("one two three", 7), "one two…");
        assert_eq!(line(&"x".repeat(50), 10), format!("{}…", "x".repeat(10)));
        let mut out = String::new();
        lines("a\r\n\n\nb*/\u{2028}*\u{0}/c\n", " * ", 100, &mut out);
        assert_eq!(out, " * a\n *\n * b*\\/\n * *\\/c\n");
        out.clear();
        lines("abc\ndef", "", 5, &mut out);
        assert_eq!(out, "abc\nd\n…\n");
    }
}
