//! The first judge of declarations, in process; TypeScript's own compiler is the second.

use codecell_script::{Language, PrepareOptions, prepare};

/// Parses declarations with the parser that reads programs: they are types and nothing else.
///
/// # Errors
/// What does not parse, or would be left to run.
pub fn check_types(text: &str) -> Result<(), String> {
    let options = PrepareOptions {
        language: Some(Language::TypeScript),
        max_source_bytes: usize::MAX,
        ..PrepareOptions::default()
    };
    let prepared = prepare(text, &options).map_err(|error| format!("{error}\n{text}"))?;
    // All of it is types: nothing is left to run.
    match without_comments(&prepared.body).trim_matches(|c: char| c.is_whitespace() || c == ';') {
        "" => Ok(()),
        rest => Err(format!("left to run: {rest}")),
    }
}

/// Only block comments stand outside of types.
fn without_comments(text: &str) -> String {
    let mut left = String::new();
    let mut rest = text;
    while let Some((before, comment)) = rest.split_once("/*") {
        left.push_str(before);
        rest = comment.split_once("*/").map_or("", |(_, after)| after);
    }
    left.retain(|c| !c.is_whitespace() && c != ';');
    left + rest.trim().trim_matches(';')
}
