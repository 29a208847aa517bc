//! Declaration files: what MCP servers offer, as TypeScript.
//!
//! `mcp/index.d.ts` names the servers, `mcp/<server>.d.ts` declares one. Every file is a global script
//! that stands alone: what several files need is declared in each, as interfaces that merge. The
//! invariant: whatever a server's names, descriptions and schemas hold, each file parses, type-checks
//! and declares every tool under the identifier that calls it; the work for one server is bounded.

mod comment;
mod print;
mod server;

use std::fmt::Write as _;

use crate::catalog::Catalog;
use crate::entry::Entry;
use crate::mcp::{McpSpace, Operation};

/// The path of the file that names the servers.
pub const INDEX_PATH: &str = "mcp/index.d.ts";

/// One virtual file.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DeclarationFile {
    /// For example `mcp/github.d.ts`.
    pub path: String,
    /// What it declares, in one line.
    pub description: String,
    /// TypeScript.
    pub content: String,
}

/// What every file needs; interfaces, because those of several files merge.
const SHARED: &str = "\
/** One block of a result. Binary content is not in it: put its `ref` into the output to show it. */
interface McpContent { type: string; text?: string; mimeType?: string; bytes?: number; ref?: string; uri?: string; name?: string; resource?: { uri: string; mimeType?: string; text?: string } }
/** What a call resolves to. A tool that failed sets `isError`; nothing is thrown for that. */
interface McpToolResult<T = unknown> { content: McpContent[]; structuredContent?: T; isError?: boolean }
";

/// All files: the index, then one for each server.
pub(crate) fn files(catalog: &Catalog) -> Vec<DeclarationFile> {
    let servers = catalog.servers();
    if servers.is_empty() {
        return Vec::new();
    }
    let mut files = vec![DeclarationFile {
        path: INDEX_PATH.to_owned(),
        description: format!("the MCP servers of this run: {}", servers.len()),
        content: index(catalog),
    }];
    files.extend(servers.iter().map(|space| DeclarationFile {
        path: path_of(space),
        description: format!("{}: {}", shown_name(space), standing(catalog, space)),
        content: server::file(catalog, space, |_| true),
    }));
    files
}

/// The file that declares a server.
pub(crate) fn path_of(space: &McpSpace) -> String {
    format!("mcp/{}.d.ts", space.identifier)
}

/// A server's file with the members that `is_wanted` names alone.
pub(crate) fn excerpt(
    catalog: &Catalog,
    space: &McpSpace,
    is_wanted: impl Fn(&Entry) -> bool,
) -> String {
    server::file(catalog, space, is_wanted)
}

fn index(catalog: &Catalog) -> String {
    let mut text = String::from(
        "/**\n * The MCP servers of this run. Each file declares what can be called.\n",
    );
    for space in catalog.servers() {
        let _ = writeln!(
            text,
            " * - MCP.{}: {}, {}",
            space.identifier,
            comment::line(&standing(catalog, space), 300),
            path_of(space)
        );
    }
    text.push_str(" */\n");
    text.push_str("declare namespace MCP {\n  /** The servers, as data. */\n");
    text.push_str("  function $api(): Promise<{ kind: string; scope: string; header: string; servers: Array<{ identifier: string; serverName: string; toolCount: number }>; note: string }>;\n}\n");
    text.push_str(SHARED);
    text
}

/// How many tools a server has, or why it has none.
fn standing(catalog: &Catalog, space: &McpSpace) -> String {
    if let Some(why) = &space.server.unavailable {
        return format!("unavailable: {}", comment::line(why, 200));
    }
    let tools = catalog.members(space);
    match tools
        .filter(|entry| entry.operation == Operation::Tool)
        .count()
    {
        1 => "1 tool".to_owned(),
        count => format!("{count} tools"),
    }
}

fn shown_name(space: &McpSpace) -> String {
    format!("the MCP server {}", comment::line(&space.server.name, 100))
}
