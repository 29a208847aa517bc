//! `write`: a whole file, new or replaced, in one step.

use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::adapt::{Files, define, require_git_named, write_needs};
use super::error::CoreError;
use super::file_tool::{FileTool, FileWork};
use super::stop::Stop;
use super::workspace::{Change, Expect, Place, Resolved, commit_all, shown};
use crate::{ApprovalNeed, Tool, ToolDefinition, ToolError, ToolOutput};

#[derive(Deserialize)]
struct Args {
    path: String,
    content: String,
}

/// The tool.
pub(crate) fn tool(files: Arc<Files>) -> Result<Arc<dyn Tool>, CoreError> {
    let description = format!(
        "Write a whole text file of the workspace: it is made, with the directories above it, or replaced in one step. \
         At most {} MiB. To change part of a file use edit.",
        files.limits.write_bytes / (1024 * 1024)
    );
    let definition = define("write", &description, parameters())?.with_output(output());
    Ok(FileTool::<Args>::shared(definition, files))
}

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "File, relative to the workspace"},
            "content": {"type": "string", "description": "The whole new content"}
        },
        "required": ["path", "content"],
        "additionalProperties": false
    })
}

fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "bytes": {"type": "integer"},
            "created": {"type": "boolean", "description": "The file did not exist before"}
        },
        "required": ["path", "bytes", "created"]
    })
}

impl FileWork for Args {
    fn run(&self, files: &Files, stop: &Stop) -> Result<ToolOutput, CoreError> {
        write(files, self, stop).map(ToolOutput::details)
    }

    fn needs(&self, definition: &ToolDefinition) -> Result<Vec<ApprovalNeed>, ToolError> {
        Ok(write_needs(definition, [self.path.as_str()].into_iter()))
    }
}

fn write(files: &Files, args: &Args, stop: &Stop) -> Result<Value, CoreError> {
    check_size(&args.path, args.content.len(), files.limits.write_bytes)?;
    let _turn = files.workspace.write_turn();
    let place = target(files, &args.path)?;
    require_git_named(&args.path, &place.path)?;
    let created = place.stat.is_none();
    let path = shown(&place.path);
    let staged = files
        .workspace
        .stage(place, args.content.as_bytes(), Expect::Anything, None)?;
    stop.check()?;
    commit_all(vec![Change::Put(staged)])?;
    Ok(json!({"path": path, "bytes": args.content.len(), "created": created}))
}

fn target(files: &Files, path: &str) -> Result<Place, CoreError> {
    match files.workspace.resolve(path)? {
        Resolved::File(place) | Resolved::Missing(place) => Ok(place),
        Resolved::Directory { .. } => Err(CoreError::NotAFile {
            path: path.to_owned(),
            kind: "directory",
        }),
    }
}

/// Refuses content larger than the tools write.
pub(crate) fn check_size(path: &str, bytes: usize, limit_bytes: u64) -> Result<(), CoreError> {
    if bytes as u64 <= limit_bytes {
        return Ok(());
    }
    Err(CoreError::TooLarge {
        path: path.to_owned(),
        bytes: bytes as u64,
        limit_bytes,
        advice: "write it in parts with the shell",
    })
}
