//! The parts of a query: one request often asks for several things, a sentence each.
//!
//! Parts are cut at the ends of sentences, at line breaks and at `|`. Commas and *and* are not
//! cuts: what stands on both sides of them mostly belongs to one thing.

/// The most parts of one query; the last one holds the rest.
const MAX_PARTS: usize = 8;

/// The parts of a query that says more than one thing; none otherwise.
pub(crate) fn parts(query: &str) -> Vec<&str> {
    let mut parts = Vec::new();
    let mut from = 0;
    let mut chars = query.char_indices().peekable();
    while let Some((at, c)) = chars.next() {
        let next = chars.peek().map(|(_, next)| *next);
        if parts.len() + 1 < MAX_PARTS && is_end(c, next) {
            push(&mut parts, &query[from..at]);
            from = at + c.len_utf8();
        }
    }
    push(&mut parts, &query[from..]);
    if parts.len() < 2 {
        parts.clear();
    }
    parts
}

fn push<'a>(parts: &mut Vec<&'a str>, part: &'a str) {
    if part.chars().any(char::is_alphanumeric) {
        parts.push(part.trim());
    }
}

/// Whether a part ends with this character: a full stop inside a number or a name ends nothing.
fn is_end(c: char, next: Option<char>) -> bool {
    match c {
        '.' | '!' | '?' | ';' => next.is_none_or(char::is_whitespace),
        '\n' | '|' | '。' | '！' | '？' | '；' => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    #[test]
    fn queries_are_cut_where_something_else_begins() {
        let cut = |query: &str| super::parts(query).join(" / ");
        insta::assert_snapshot!(
            [
                "weather in Paris",
                "Find a hotel. Then book a flight!  Thanks?",
                "price of 3.5 kg of node.js books",
                "weather|climate",
                "first\nsecond; third",
                "查天气。订酒店",
                "...",
            ]
            .map(|query| format!("{query:?} => {}", cut(query)))
            .join("\n"),
            @r#"
        "weather in Paris" => 
        "Find a hotel. Then book a flight!  Thanks?" => Find a hotel / Then book a flight / Thanks
        "price of 3.5 kg of node.js books" => 
        "weather|climate" => weather / climate
        "first\nsecond; third" => first / second / third
        "查天气。订酒店" => 查天气 / 订酒店
        "..." => 
        "#
        );
        assert_eq!(super::parts(&"a. ".repeat(100)).len(), super::MAX_PARTS);
    }
}
