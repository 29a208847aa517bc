//! `ls`: the entries of one directory.

use std::ops::ControlFlow;
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::adapt::{Files, define};
use super::error::CoreError;
use super::file_tool::{FileTool, FileWork};
use super::stop::Stop;
use super::workspace::{Entry, EntryKind, Resolved, Seen, Tree, TreeOptions};
use crate::{Tool, ToolOutput};

/// Entries given when the call asks for no number.
const DEFAULT_LIMIT: usize = 1000;

#[derive(Deserialize)]
struct Args {
    path: Option<String>,
    limit: Option<usize>,
}

/// The tool.
pub(crate) fn tool(files: Arc<Files>) -> Result<Arc<dyn Tool>, CoreError> {
    let description =
        "List one directory of the workspace, sorted by name, hidden entries included.";
    let definition = define("ls", description, parameters())?
        .read_only()
        .with_output(output());
    Ok(FileTool::<Args>::shared(definition, files))
}

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "Directory, relative to the workspace; without it the workspace"},
            "limit": {"type": "integer", "minimum": 1, "description": "Most entries; 1000 without it"}
        },
        "additionalProperties": false
    })
}

fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "entries": {"type": "array", "items": {
                "type": "object",
                "properties": {
                    "name": {"type": "string"},
                    "type": {"type": "string", "enum": ["file", "directory", "link", "other"]},
                    "bytes": {"type": "integer", "description": "Size of a file; 0 for everything else"}
                },
                "required": ["name", "type", "bytes"]
            }},
            "truncated": {"type": "boolean", "description": "There are more entries"}
        },
        "required": ["entries", "truncated"]
    })
}

impl FileWork for Args {
    fn run(&self, files: &Files, stop: &Stop) -> Result<ToolOutput, CoreError> {
        ls(files, self, stop).map(ToolOutput::details)
    }
}

fn ls(files: &Files, args: &Args, stop: &Stop) -> Result<Value, CoreError> {
    let given = args.path.as_deref().unwrap_or(".");
    let limit = args
        .limit
        .unwrap_or(DEFAULT_LIMIT)
        .min(files.limits.result_count);
    let (fd, path) = match files.workspace.resolve(given)? {
        Resolved::Directory { fd, path } => (fd, path),
        Resolved::File(_) => {
            return Err(CoreError::NotADirectory {
                path: given.to_owned(),
            });
        }
        Resolved::Missing(_) => return Err(files.workspace.missing(given)),
    };
    let options = TreeOptions {
        hidden: true,
        ignore: false,
        recurse: false,
        max_entries: files.limits.walk_entries,
    };
    let mut entries = Vec::new();
    let mut more = false;
    let seen = Tree::new(&files.workspace, stop, options).walk(fd, path, &mut |entry| {
        more = entries.len() == limit;
        if more {
            return Ok(ControlFlow::Break(()));
        }
        entries.push(line(entry));
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(json!({"entries": entries, "truncated": more || seen == Seen::Part}))
}

fn line(entry: &Entry<'_>) -> Value {
    let (kind, bytes) = match entry.kind {
        EntryKind::File => ("file", entry.stat().map_or(0, |stat| stat.st_size)),
        EntryKind::Directory => ("directory", 0),
        EntryKind::Link => ("link", 0),
        EntryKind::Other => ("other", 0),
    };
    json!({"name": entry.name.to_string_lossy(), "type": kind, "bytes": bytes})
}
