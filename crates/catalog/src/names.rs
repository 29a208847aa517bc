//! Names that JavaScript can use: `tools.<name>` and `MCP.<server>.<tool>`.
//!
//! A safe name of `tools.*` is the tool's name itself when it is an ASCII identifier, else its
//! words in camelCase. It follows a dot, so reserved words of the language are fine. Two tools that
//! come to the same name get none, and no name shadows a helper or a property that the language
//! itself looks up. MCP names always take the camelCase form; there a clash gets a number.

use std::collections::{HashMap, HashSet};

use crate::entry::Entry;
use crate::id::Source;

/// The helpers of the `tools` object, which no tool's name shadows.
pub const HELPER_NAMES: [&str; 4] = ["search", "describe", "call", "callRaw"];

/// Properties that the engine or common code looks up on any object.
const LANGUAGE_NAMES: [&str; 15] = [
    "then",
    "toJSON",
    "constructor",
    "prototype",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toString",
    "toLocaleString",
    "valueOf",
    "__proto__",
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
];

/// Names that an MCP server's object has itself.
const MCP_MEMBERS: [&str; 3] = ["$api", "resources", "prompts"];

/// Words that cannot name a function in a declaration file.
const RESERVED_WORDS: [&str; 55] = [
    "abstract",
    "any",
    "arguments",
    "as",
    "async",
    "await",
    "boolean",
    "break",
    "case",
    "catch",
    "class",
    "const",
    "continue",
    "debugger",
    "declare",
    "default",
    "delete",
    "do",
    "else",
    "enum",
    "eval",
    "export",
    "extends",
    "false",
    "finally",
    "for",
    "function",
    "if",
    "implements",
    "import",
    "in",
    "instanceof",
    "interface",
    "let",
    "new",
    "null",
    "package",
    "private",
    "protected",
    "public",
    "return",
    "static",
    "super",
    "switch",
    "this",
    "throw",
    "true",
    "try",
    "typeof",
    "undefined",
    "var",
    "void",
    "while",
    "with",
    "yield",
];

/// Whether the text is an ASCII identifier: a letter, `_` or `$`, then those and digits.
pub fn is_identifier(text: &str) -> bool {
    let word = |b: u8| b.is_ascii_alphanumeric() || b == b'_' || b == b'$';
    text.bytes().all(word) && text.bytes().next().is_some_and(|b| !b.is_ascii_digit())
}

/// The camelCase identifier of a name: its ASCII letters and digits, split at everything else,
/// with leading digits dropped. `None` when no letter is left.
pub fn identifier(name: &str) -> Option<String> {
    let mut result = String::with_capacity(name.len());
    for word in name.split(|c: char| !c.is_ascii_alphanumeric()) {
        let word = match result.is_empty() {
            true => word.trim_start_matches(|c: char| c.is_ascii_digit()),
            false => word,
        };
        let mut chars = word.chars();
        let Some(first) = chars.next() else { continue };
        let first = match result.is_empty() {
            true => first.to_ascii_lowercase(),
            false => first.to_ascii_uppercase(),
        };
        result.push(first);
        result.push_str(chars.as_str());
    }
    (!result.is_empty()).then_some(result)
}

/// The name under which `tools` would show a tool, if it were alone.
pub(crate) fn safe_name(name: &str) -> Option<String> {
    let candidate = match is_identifier(name) {
        true => name.to_owned(),
        false => identifier(name)?,
    };
    let taken =
        HELPER_NAMES.contains(&candidate.as_str()) || LANGUAGE_NAMES.contains(&candidate.as_str());
    (!taken).then_some(candidate)
}

/// The safe names of all entries, by position; MCP entries have none.
pub(crate) fn safe_names(entries: &[Entry]) -> Vec<Option<String>> {
    let mut names: Vec<Option<String>> = entries
        .iter()
        .map(|entry| match entry.source() {
            Source::Mcp => None,
            Source::OpenClaw | Source::Client => safe_name(entry.name()),
        })
        .collect();
    let mut uses: HashMap<String, usize> = HashMap::with_capacity(names.len());
    for name in names.iter().flatten() {
        *uses.entry(name.clone()).or_default() += 1;
    }
    for name in &mut names {
        if name.as_ref().is_some_and(|name| uses[name] > 1) {
            *name = None;
        }
    }
    names
}

/// The identifier of `name`, with the first number that makes it free in `taken`.
pub(crate) fn numbered(name: &str, fallback: &str, taken: &mut HashSet<String>) -> String {
    numbered_by(name, fallback, taken, str::to_owned)
}

/// As [`numbered`], for names that are files as well: they differ in more than the case of letters.
pub(crate) fn numbered_as_file(name: &str, fallback: &str, taken: &mut HashSet<String>) -> String {
    numbered_by(name, fallback, taken, str::to_ascii_lowercase)
}

fn numbered_by(
    name: &str,
    fallback: &str,
    taken: &mut HashSet<String>,
    key: impl Fn(&str) -> String,
) -> String {
    let base = identifier(name).unwrap_or_else(|| fallback.to_owned());
    let is_free = |candidate: &str, taken: &HashSet<String>| {
        !taken.contains(&key(candidate))
            && !MCP_MEMBERS.contains(&candidate)
            && !LANGUAGE_NAMES.contains(&candidate)
            && RESERVED_WORDS.binary_search(&candidate).is_err()
    };
    let mut candidate = base.clone();
    let mut number = 2_usize;
    while !is_free(&candidate, taken) {
        candidate = format!("{base}{number}");
        number += 1;
    }
    taken.insert(key(&candidate));
    candidate
}
