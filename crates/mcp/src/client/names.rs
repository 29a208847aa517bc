//! Names that rules can write: `<server>__<tool>` in a small alphabet.
//!
//! Source: the contract's rules for the names of MCP tools. The guest spells tools in its own way;
//! these names are for policy alone.

use std::collections::HashSet;

/// The longest server part, in characters.
const MAX_SERVER_CHARS: usize = 30;

/// The longest name, in characters.
const MAX_NAME_CHARS: usize = 64;

/// The safe name of each server, in their order; case is not told apart.
pub(super) fn of_servers<'a>(names: impl Iterator<Item = &'a str>) -> Vec<String> {
    let mut taken = HashSet::new();
    names
        .map(|name| unique(&clean(name, "mcp-"), MAX_SERVER_CHARS, &mut taken))
        .collect()
}

/// The safe names of one server's tools, in their order.
pub(super) struct ToolNames {
    server: String,
    taken: HashSet<String>,
}

impl ToolNames {
    pub(super) fn new(server: &str) -> Self {
        Self {
            server: server.to_owned(),
            taken: HashSet::new(),
        }
    }

    pub(super) fn next(&mut self, tool: &str) -> String {
        let name = format!("{}__{}", self.server, clean(tool, "tool-"));
        unique(&name, MAX_NAME_CHARS, &mut self.taken)
    }
}

/// Only letters, digits, `_` and `-`, the first a letter.
fn clean(name: &str, prefix: &str) -> String {
    let is_fine = |c: char| c.is_ascii_alphanumeric() || c == '_' || c == '-';
    let cleaned: String = name
        .chars()
        .map(|c| if is_fine(c) { c } else { '-' })
        .collect();
    match cleaned.starts_with(|c: char| c.is_ascii_alphabetic()) {
        true => cleaned,
        false => format!("{prefix}{cleaned}"),
    }
}

/// The name, cut to its limit, with a number if it is taken.
fn unique(name: &str, max_chars: usize, taken: &mut HashSet<String>) -> String {
    let mut candidate: String = name.chars().take(max_chars).collect();
    let mut number = 2_usize;
    while !taken.insert(candidate.to_lowercase()) {
        let suffix = format!("-{number}");
        let kept = max_chars.saturating_sub(suffix.len());
        candidate = name.chars().take(kept).chain(suffix.chars()).collect();
        number += 1;
    }
    candidate
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn servers_get_names_that_rules_can_write() {
        let names = [
            "github",
            "GitHub",
            "my server",
            "my.server",
            "9lives",
            "é",
            "-x",
        ];
        assert_eq!(
            of_servers(names.into_iter()),
            [
                "github",
                "GitHub-2",
                "my-server",
                "my-server-2",
                "mcp-9lives",
                "mcp--",
                "mcp--x"
            ]
        );
        let long = "a".repeat(50);
        let both = of_servers([long.as_str(), long.as_str()].into_iter());
        assert_eq!(both, ["a".repeat(30), format!("{}-2", "a".repeat(28))]);
    }

    #[test]
    fn tools_get_them_too() {
        let mut names = ToolNames::new("s");
        let tools = ["get", "Get", "a/b", "a.b", "1", &"x".repeat(80)];
        let names: Vec<_> = tools.iter().map(|tool| names.next(tool)).collect();
        assert_eq!(
            names[..5],
            ["s__get", "s__Get-2", "s__a-b", "s__a-b-2", "s__tool-1"]
        );
        assert_eq!(names[5].len(), 64);
    }
}
