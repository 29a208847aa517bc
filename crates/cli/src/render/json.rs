//! JSON for people: indented without being understood, so that numbers, order and depth stay as
//! they are.

/// Indents one JSON text by two spaces a level. The text must be valid JSON; whatever else it may
/// be, the result holds the same characters besides white space.
pub(crate) fn indent(text: &str) -> String {
    let mut out = String::with_capacity(text.len() * 2);
    let mut depth = 0usize;
    let mut chars = text.chars().peekable();
    while let Some(c) = chars.next() {
        match c {
            '"' => {
                out.push('"');
                copy_string(&mut chars, &mut out);
            }
            '{' | '[' => {
                out.push(c);
                skip_space(&mut chars);
                if let Some(end) = chars.next_if(|&next| next == '}' || next == ']') {
                    out.push(end);
                } else {
                    depth += 1;
                    new_line(&mut out, depth);
                }
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                new_line(&mut out, depth);
                out.push(c);
            }
            ',' => {
                out.push(c);
                new_line(&mut out, depth);
            }
            ':' => out.push_str(": "),
            c if c.is_ascii_whitespace() => {}
            c => out.push(c),
        }
    }
    out
}

fn copy_string(chars: &mut impl Iterator<Item = char>, out: &mut String) {
    while let Some(c) = chars.next() {
        out.push(c);
        match c {
            '\\' => out.extend(chars.next()),
            '"' => return,
            _ => {}
        }
    }
}

fn skip_space(chars: &mut std::iter::Peekable<std::str::Chars<'_>>) {
    while chars.next_if(char::is_ascii_whitespace).is_some() {}
}

fn new_line(out: &mut String, depth: usize) {
    out.push('\n');
    for _ in 0..depth {
        out.push_str("  ");
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn indents_as_the_library_does() {
        let text =
            r#"{"a":[1,2.50,{}],"b":{"c":"x,{\"y\\"},"d":[],"e":null,"f":12345678901234567890}"#;
        let value: serde_json::Value = serde_json::from_str(text).unwrap();
        let expected = serde_json::to_string_pretty(&value)
            .unwrap()
            .replace("2.5,", "2.50,");
        assert_eq!(indent(text), expected);
    }

    #[test]
    fn white_space_of_the_sender_makes_no_difference() {
        assert_eq!(indent(" [ 1 ,\n { } ] "), indent("[1,{}]"));
    }

    #[test]
    fn depth_beyond_the_parser_is_fine() {
        let deep = format!("{}1{}", "[".repeat(512), "]".repeat(512));
        let indented = indent(&deep);
        assert_eq!(indented.split_whitespace().collect::<String>(), deep);
    }
}
