//! Makes arguments readable for a person without letting them act on the terminal.
//!
//! The result of escaping JSON is JSON of the same value: what is shown is what is dispatched.

use std::fmt::Write as _;

/// The text with every character that a terminal or a reader's eye could be deceived by written as
/// `\uXXXX`: controls, bidirectional marks, invisible characters, odd spaces and separators.
#[must_use]
pub fn escape_for_display(text: &str) -> String {
    let mut shown = String::with_capacity(text.len());
    for c in text.chars() {
        if !deceives(c) {
            shown.push(c);
            continue;
        }
        for unit in c.encode_utf16(&mut [0; 2]) {
            // Writing to a String cannot fail.
            let _ = write!(shown, "\\u{unit:04x}");
        }
    }
    shown
}

fn deceives(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}' | '\u{34f}' | '\u{61c}' | '\u{115f}' | '\u{1160}' | '\u{17b4}' | '\u{17b5}'
            | '\u{180b}'..='\u{180f}' | '\u{200b}'..='\u{200f}' | '\u{2028}'..='\u{202e}'
            | '\u{2060}'..='\u{206f}' | '\u{3164}' | '\u{fe00}'..='\u{fe0f}' | '\u{feff}'
            | '\u{ffa0}' | '\u{fff0}'..='\u{fffb}' | '\u{1d173}'..='\u{1d17a}'
            | '\u{e0000}'..='\u{e0fff}')
        || (c.is_whitespace() && c != ' ')
        || is_private_use(c)
}

fn is_private_use(c: char) -> bool {
    matches!(c, '\u{e000}'..='\u{f8ff}' | '\u{f0000}'..='\u{10ffff}')
}

#[cfg(test)]
mod tests {
    use serde_json::{Value, json};

    use super::escape_for_display;

    #[test]
    fn what_is_shown_is_the_same_json() {
        let sent = json!({
            "plain": "héllo 世界 a b",
            "tricks": "\u{1b}[2J\u{9b}31m\u{202e}gpj.exe\u{200b}\u{2028}\u{7f}\u{a0}\u{e0041}\u{feff}",
        });
        let shown = escape_for_display(&sent.to_string());
        assert_eq!(serde_json::from_str::<Value>(&shown).ok(), Some(sent));
        assert_eq!(
            shown,
            "{\"plain\":\"héllo 世界 a b\",\"tricks\":\"\\u001b[2J\\u009b31m\\u202egpj.exe\\u200b\\u2028\\u007f\\u00a0\\udb40\\udc41\\ufeff\"}"
        );
    }
}
