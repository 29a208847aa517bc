//! Texts as models send them, and what becomes of each: data in, text out.
//!
//! The files in `texts/` hold the inputs, separated by lines of `=====`; the snapshots hold the outcomes.

use std::fmt::Write as _;

use codecell_script::{PrepareOptions, Prepared, ScriptError, prepare};

fn visible(text: &str) -> String {
    text.replace(' ', "·")
        .replace('\u{a0}', "⍽")
        .replace('\u{3000}', "□")
}

fn describe(input: &str, outcome: &Result<Prepared, ScriptError>) -> String {
    let mut out = format!(
        "===== {}\n",
        input
            .trim_end_matches('\n')
            .escape_debug()
            .to_string()
            .replace("\\n", "⏎")
            .replace("\\\"", "\"")
            .replace("\\'", "'")
    );
    match outcome {
        Err(error) => {
            writeln!(out, "{}: {error}", error.kind()).unwrap();
            if let Some(frame) = error.frame() {
                writeln!(out, "{frame}").unwrap();
            }
        }
        Ok(program) => {
            let inferred = if program.inferred { ", inferred" } else { "" };
            write!(out, "{}{inferred}", program.language).unwrap();
            if !program.prefix.is_empty() {
                write!(out, ", {}…{}", program.prefix, program.suffix).unwrap();
            }
            if program.body != input {
                write!(out, "\n{}", visible(&program.body)).unwrap();
            }
            out.push('\n');
            if let Some(hint) = &program.hint {
                writeln!(out, "hint: {hint}").unwrap();
            }
            for warning in &program.warnings {
                writeln!(
                    out,
                    "{} {}:{}: {}",
                    warning.kind, warning.line, warning.column, warning.message
                )
                .unwrap();
            }
            let uses = &program.uses;
            let flags = [
                (uses.tools_dynamic, "tools[*]"),
                (uses.all_tools, "ALL_TOOLS"),
                (uses.api, "API"),
                (uses.mcp, "MCP"),
                (uses.namespaces, "namespaces"),
                (uses.results, "results"),
                (uses.global_object, "globals"),
            ];
            let flags: Vec<&str> = flags
                .iter()
                .filter(|(set, _)| *set)
                .map(|(_, name)| *name)
                .collect();
            if !flags.is_empty() || !uses.tools.is_empty() {
                writeln!(out, "uses: {:?} {}", uses.tools, flags.join(" ")).unwrap();
            }
            if program.directive != codecell_script::Directive::default() {
                writeln!(out, "{:?}", program.directive).unwrap();
            }
        }
    }
    out
}

fn report(texts: &str) -> String {
    let unescape = |text: &str| {
        let text = text.strip_suffix('\n').unwrap_or(text);
        ["u{feff}", "u{2028}", "u{202e}", "u{1b}", "0"].iter().fold(
            text.to_owned(),
            |text, name| {
                let character = match *name {
                    "u{feff}" => "\u{feff}",
                    "u{2028}" => "\u{2028}",
                    "u{202e}" => "\u{202e}",
                    "u{1b}" => "\u{1b}",
                    _ => "\0",
                };
                text.replace(&format!("%{name}"), character)
            },
        )
    };
    let parts = texts.split("=====\n").map(unescape);
    parts
        .map(|text| describe(&text, &prepare(&text, &PrepareOptions::default())))
        .collect()
}

#[test]
fn what_models_send() {
    insta::assert_snapshot!(report(include_str!("texts/accepted.txt")));
}

#[test]
fn what_tries_to_leave_the_wrapper() {
    insta::assert_snapshot!(report(include_str!("texts/wrapper.txt")));
}

#[test]
fn module_access() {
    insta::assert_snapshot!(report(include_str!("texts/modules.txt")));
}

#[test]
fn shell_and_python() {
    insta::assert_snapshot!(report(include_str!("texts/foreign.txt")));
}

#[test]
fn types_become_blanks() {
    insta::assert_snapshot!(report(include_str!("texts/typescript.txt")));
}

#[test]
fn uses_of_globals() {
    insta::assert_snapshot!(report(include_str!("texts/uses.txt")));
}

#[test]
fn syntax_errors() {
    insta::assert_snapshot!(report(include_str!("texts/syntax.txt")));
}
