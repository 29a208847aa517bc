//! The index of callable names that goes into `exec`'s description.
//!
//! It becomes part of a prompt, so its bytes depend on the catalog and the options alone, it ends
//! at a whole line, and nothing that an MCP server or a client wrote comes into it: their tools are
//! only counted, servers by the identifiers that the program uses.

use std::fmt::Write as _;

use crate::catalog::Catalog;
use crate::entry::Entry;
use crate::id::Source;
use crate::mcp::{McpSpace, Operation};
use crate::signature::{UNDECLARED, input_signature, output_signature};

/// The default bound of the index, in characters.
pub const DEFAULT_INDEX_CHARS: usize = 8_000;

/// The largest bound of the index, in characters.
pub const MAX_INDEX_CHARS: usize = 65_536;

/// The most MCP servers that are named.
const MAX_NAMED_SERVERS: usize = 40;

/// What the index may show.
#[derive(Clone, Debug)]
pub struct IndexOptions {
    /// The bound of the whole text, footer included, in characters; at most [`MAX_INDEX_CHARS`].
    /// Zero gives an empty text.
    pub max_chars: usize,
}

impl Default for IndexOptions {
    fn default() -> Self {
        Self {
            max_chars: DEFAULT_INDEX_CHARS,
        }
    }
}

pub(crate) fn render(catalog: &Catalog, options: &IndexOptions) -> String {
    let max_chars = options.max_chars.min(MAX_INDEX_CHARS);
    let own = ordered(catalog);
    let others = other_sources(catalog);
    let mut lines = Vec::new();
    let mut chars = 0;
    for (at, entry) in &own {
        let line = line(catalog, *at, entry);
        chars += line.chars().count();
        if chars > max_chars {
            break;
        }
        lines.push(line);
    }
    // The footer grows as lines go, so the first that fits shows the most.
    loop {
        let mut text = lines.concat();
        text.push_str(&footer(own.len() - lines.len(), &others));
        if text.chars().count() <= max_chars {
            return text;
        }
        if lines.pop().is_none() {
            return String::new();
        }
    }
}

/// The entries that get a line, those with declared outputs first.
fn ordered(catalog: &Catalog) -> Vec<(usize, &Entry)> {
    let ours = || {
        let all = catalog.entries().iter().enumerate();
        all.filter(|(_, entry)| entry.source() == Source::OpenClaw)
    };
    let declared = ours().filter(|(_, entry)| entry.output_schema.is_some());
    let undeclared = ours().filter(|(_, entry)| entry.output_schema.is_none());
    declared.chain(undeclared).collect()
}

fn line(catalog: &Catalog, at: usize, entry: &Entry) -> String {
    let name = catalog.safe_name_at(at).unwrap_or(entry.id.as_str());
    match entry.trusted {
        false => format!("- {name} -> {UNDECLARED}\n"),
        true => {
            let input = input_signature(&entry.parameters);
            let output = output_signature(entry.output_schema.as_deref());
            format!("- {name} {input} -> {output}\n")
        }
    }
}

/// What says how many tools have no line, and how to find them.
fn footer(left_out: usize, others: &str) -> String {
    let mut footer = String::new();
    if left_out > 0 {
        let noun = if left_out == 1 { "tool" } else { "tools" };
        let _ = writeln!(
            footer,
            "{left_out} more {noun} not listed: find them with tools.search(\"keywords\")."
        );
    }
    footer.push_str(others);
    footer
}

fn other_sources(catalog: &Catalog) -> String {
    let mut text = String::new();
    let servers = catalog.servers();
    if !servers.is_empty() {
        let named: Vec<String> = servers
            .iter()
            .take(MAX_NAMED_SERVERS)
            .map(|space| format!("MCP.{} ({})", space.identifier, standing(catalog, space)))
            .collect();
        let more = servers.len() - named.len();
        let rest = if more > 0 {
            format!(" and {more} more")
        } else {
            String::new()
        };
        let _ = writeln!(
            text,
            "MCP servers (number of tools): {}{rest}: find their tools with API.search(\"keywords\").",
            named.join(", "),
        );
    }
    match catalog.counts().client {
        0 => {}
        1 => text.push_str("1 tool of the client: find it with tools.search(\"keywords\").\n"),
        n => {
            let _ = writeln!(
                text,
                "{n} tools of the client: find them with tools.search(\"keywords\")."
            );
        }
    }
    text
}

/// What is in the brackets behind a server's name.
fn standing(catalog: &Catalog, space: &McpSpace) -> String {
    if space.server.unavailable.is_some() {
        return "unavailable".to_owned();
    }
    let members = catalog.members(space);
    let tools = members.filter(|entry| entry.operation == Operation::Tool);
    tools.count().to_string()
}
