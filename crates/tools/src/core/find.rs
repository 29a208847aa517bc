//! `find`: files by glob.

use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use globset::{GlobBuilder, GlobMatcher};
use serde::Deserialize;
use serde_json::{Value, json};

use super::adapt::{Files, define};
use super::error::CoreError;
use super::file_tool::{FileTool, FileWork};
use super::stop::Stop;
use super::workspace::{Entry, EntryKind, Resolved, Seen, Tree, TreeOptions, shown};
use crate::{Tool, ToolOutput};

/// Paths given when the call asks for no number.
const DEFAULT_LIMIT: usize = 1000;
/// Longest glob taken.
const MAX_GLOB_BYTES: usize = 1024;

#[derive(Deserialize)]
struct Args {
    pattern: String,
    path: Option<String>,
    limit: Option<usize>,
}

/// The tool.
pub(crate) fn tool(files: Arc<Files>) -> Result<Arc<dyn Tool>, CoreError> {
    let description = "Find files by glob, such as *.rs, src/**/*.{ts,tsx} or **/test_*. A pattern without / matches file names \
        at any depth, one with / the path below `path`. Leaves out what ignore files name, .git, and hidden entries unless the pattern names them.";
    let definition = define("find", description, parameters())?
        .read_only()
        .with_output(output());
    Ok(FileTool::<Args>::shared(definition, files))
}

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "minLength": 1, "description": "Glob: *, ?, **, [a-z], {a,b}"},
            "path": {"type": "string", "description": "Directory to search, relative to the workspace; without it the workspace"},
            "limit": {"type": "integer", "minimum": 1, "description": "Most paths; 1000 without it"}
        },
        "required": ["pattern"],
        "additionalProperties": false
    })
}

fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "paths": {"type": "array", "items": {"type": "string"}, "description": "Files, relative to the workspace, sorted"},
            "truncated": {"type": "boolean", "description": "There may be more"}
        },
        "required": ["paths", "truncated"]
    })
}

impl FileWork for Args {
    fn run(&self, files: &Files, stop: &Stop) -> Result<ToolOutput, CoreError> {
        find(files, self, stop).map(ToolOutput::details)
    }
}

fn find(files: &Files, args: &Args, stop: &Stop) -> Result<Value, CoreError> {
    let pattern = Pattern::new(&args.pattern)?;
    let given = args.path.as_deref().unwrap_or(".");
    let limit = args
        .limit
        .unwrap_or(DEFAULT_LIMIT)
        .min(files.limits.result_count);
    let (fd, start) = match files.workspace.resolve(given)? {
        Resolved::Directory { fd, path } => (fd, path),
        Resolved::File(_) => {
            return Err(CoreError::NotADirectory {
                path: given.to_owned(),
            });
        }
        Resolved::Missing(_) => return Err(files.workspace.missing(given)),
    };
    let options = TreeOptions {
        hidden: pattern.hidden,
        ignore: true,
        recurse: true,
        max_entries: files.limits.walk_entries,
    };
    let mut paths = Vec::new();
    let mut more = false;
    let below = start.clone();
    let seen = Tree::new(&files.workspace, stop, options).walk(fd, start, &mut |entry| {
        if pattern.matches(entry, &below) && is_file(files, entry) {
            more = paths.len() == limit;
            if more {
                return Ok(ControlFlow::Break(()));
            }
            paths.push(shown(&entry.path));
        }
        Ok(ControlFlow::Continue(()))
    })?;
    Ok(json!({"paths": paths, "truncated": more || seen == Seen::Part}))
}

/// A link counts if it leads to a file inside, so that every path found can be read.
fn is_file(files: &Files, entry: &Entry<'_>) -> bool {
    match entry.kind {
        EntryKind::File => true,
        EntryKind::Link => files.workspace.open_file(&shown(&entry.path)).is_ok(),
        EntryKind::Directory | EntryKind::Other => false,
    }
}

struct Pattern {
    glob: GlobMatcher,
    /// Matched against the path below the start, not against the name.
    whole: bool,
    hidden: bool,
}

impl Pattern {
    fn new(text: &str) -> Result<Self, CoreError> {
        if text.len() > MAX_GLOB_BYTES {
            return Err(CoreError::Input(format!(
                "pattern is longer than {MAX_GLOB_BYTES} bytes"
            )));
        }
        let text = text.strip_prefix("./").unwrap_or(text);
        let glob = GlobBuilder::new(text).literal_separator(true).build();
        let glob = glob.map_err(|error| {
            CoreError::Input(format!("pattern is no valid glob: {}", error.kind()))
        })?;
        let hidden = text
            .split(['/', '{', ','])
            .any(|part| part.starts_with('.'));
        Ok(Self {
            glob: glob.compile_matcher(),
            whole: text.contains('/'),
            hidden,
        })
    }

    fn matches(&self, entry: &Entry<'_>, start: &Path) -> bool {
        if self.whole {
            self.glob
                .is_match(entry.path.strip_prefix(start).unwrap_or(&entry.path))
        } else {
            self.glob.is_match(entry.name)
        }
    }
}
