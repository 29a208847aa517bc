//! 820 TypeScript inputs against what TypeScript itself makes of them.
//!
//! The token streams are compared after removing what printers may choose: semicolons, quotes, the words
//! `var`, `let` and `const`, trailing commas and parentheses. Every difference that remains is listed with
//! its reason in `typescript_differences.txt`; a difference that is not listed, or a listed one that is gone,
//! fails the test.

use std::collections::{BTreeMap, BTreeSet};
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
                    .filter(|c| !c.is_whitespace())
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
    if out.first().is_some_and(|token| token == "\"usestrict\"") {
        out.remove(0);
    }
    while let Some(at) = out
        .windows(3)
        .position(|three| three == ["export", "{", "}"])
    {
        out.drain(at..at + 3);
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

/// What became of one case: the kind of difference and its reason, or nothing if it agrees.
fn judge(row: &Value) -> Option<(&'static str, String)> {
    let input = text(row, "input").unwrap();
    let refused = diagnoses(row) || row["throws"].is_string();
    let module = [
        "import ",
        "export {",
        "export =",
        "export default",
        "export *",
        "export as",
        "export type",
    ];
    let kind = match strip_types(input) {
        Err(error) if refused => {
            return (error.is_empty()).then(|| ("refused", "without a reason".to_owned()));
        }
        Err(error) if error.starts_with("decorators") => return Some(("decorator", String::new())),
        Err(_) if module.iter().any(|word| input.contains(word)) => "module",
        Err(error) => return Some(("refused", error)),
        Ok(_) if diagnoses(row) && row["throws"].is_string() => "accepted",
        Ok(_) if diagnoses(row) => return None,
        Ok(ours) => {
            let ours = tokens(&ours);
            let theirs = [row["ts603"]["output"].as_str(), text(row, "expected")];
            if theirs.iter().flatten().any(|output| tokens(output) == ours) {
                return None;
            }
            if module.iter().any(|word| input.contains(word)) {
                "module"
            } else {
                "different"
            }
        }
    };
    Some((kind, String::new()))
}

/// Why a case may differ; the file lists every one.
const LISTED: &str = include_str!("typescript_differences.txt");

#[test]
fn agrees_with_typescript() {
    let Some(rows) = data::rows("typescript/cases.jsonl") else {
        return;
    };
    let mut report = String::new();
    let mut counts = BTreeMap::<&str, usize>::new();
    for row in &rows {
        let Some((kind, reason)) = judge(row) else {
            continue;
        };
        *counts.entry(kind).or_default() += 1;
        writeln!(
            report,
            "{kind}: {} {}: {reason}",
            text(row, "source").unwrap(),
            text(row, "name").unwrap()
        )
        .unwrap();
    }
    let listed: BTreeSet<&str> = LISTED
        .lines()
        .filter(|line| line.contains(':') && !line.starts_with('#'))
        .collect();
    let found: BTreeSet<&str> = report.lines().map(str::trim_end).collect();
    eprintln!(
        "TypeScript: ran {}, differ {} {counts:?}, expected to differ {}",
        rows.len(),
        found.len(),
        listed.len()
    );
    let unlisted: Vec<_> = found.difference(&listed).collect();
    assert!(
        unlisted.is_empty(),
        "not in typescript_differences.txt: {unlisted:#?}"
    );
    let agree: Vec<_> = listed.difference(&found).collect();
    assert!(
        agree.is_empty(),
        "in typescript_differences.txt, but they agree: {agree:#?}"
    );
}
