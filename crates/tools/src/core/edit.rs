//! `edit`: replaces passages of a file, all or none.
//!
//! Every `oldText` is looked for in the file as it was, and must be there exactly once; edits do not see each other's results.

use std::ops::Range;
use std::sync::Arc;
use std::time::Duration;

use serde::Deserialize;
use serde_json::{Value, json};

use super::adapt::{Files, define, require_git_named, write_needs};
use super::error::CoreError;
use super::file_tool::{FileTool, FileWork};
use super::stop::Stop;
use super::workspace::{Change, Expect, commit_all, shown};
use super::write::check_size;
use crate::{ApprovalNeed, Tool, ToolDefinition, ToolError, ToolOutput};

/// Most edits of one call.
const MAX_EDITS: usize = 200;
/// Longest diff given back.
const MAX_DIFF_BYTES: usize = 64 * 1024;
/// After this the diff is coarser, never wrong.
const DIFF_TIME: Duration = Duration::from_secs(1);
/// Lines compared to name the nearest one.
const NEAR_LINES: usize = 20_000;

#[derive(Deserialize)]
struct Args {
    path: String,
    edits: Vec<Edit>,
}

#[derive(Deserialize)]
struct Edit {
    #[serde(rename = "oldText")]
    old_text: String,
    #[serde(rename = "newText")]
    new_text: String,
}

/// The tool.
pub(crate) fn tool(files: Arc<Files>) -> Result<Arc<dyn Tool>, CoreError> {
    let description = "Replace passages of a text file. Each oldText must be in the file exactly once, byte for byte; \
        all edits are made, or none. Gives a diff.";
    let definition = define("edit", description, parameters())?.with_output(output());
    Ok(FileTool::<Args>::shared(definition, files))
}

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "File, relative to the workspace"},
            "edits": {
                "type": "array", "minItems": 1, "maxItems": MAX_EDITS,
                "description": "Replacements, each looked for in the file as it is now",
                "items": {
                    "type": "object",
                    "properties": {
                        "oldText": {"type": "string", "minLength": 1, "description": "Text that is in the file exactly once"},
                        "newText": {"type": "string", "description": "What takes its place"}
                    },
                    "required": ["oldText", "newText"],
                    "additionalProperties": false
                }
            }
        },
        "required": ["path", "edits"],
        "additionalProperties": false
    })
}

fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "replaced": {"type": "integer", "description": "Number of edits made"},
            "diff": {"type": "string", "description": "Unified diff"}
        },
        "required": ["path", "replaced", "diff"]
    })
}

impl FileWork for Args {
    fn run(&self, files: &Files, stop: &Stop) -> Result<ToolOutput, CoreError> {
        edit(files, self, stop).map(ToolOutput::details)
    }

    fn needs(&self, definition: &ToolDefinition) -> Result<Vec<ApprovalNeed>, ToolError> {
        Ok(write_needs(definition, [self.path.as_str()].into_iter()))
    }
}

fn edit(files: &Files, args: &Args, stop: &Stop) -> Result<Value, CoreError> {
    let limit = files.limits.write_bytes;
    let _turn = files.workspace.write_turn();
    let old = files.workspace.read_text(&args.path, limit, stop)?;
    require_git_named(&args.path, &old.place.path)?;
    let new = replace_all(&args.path, &old.text, &args.edits)?;
    check_size(&args.path, new.len(), limit)?;
    let path = shown(&old.place.path);
    let staged = files
        .workspace
        .stage(old.place, new.as_bytes(), Expect::Same(old.stat), None)?;
    stop.check()?;
    commit_all(vec![Change::Put(staged)])?;
    Ok(json!({"path": path, "replaced": args.edits.len(), "diff": diff(&path, &old.text, &new)}))
}

fn replace_all(path: &str, text: &str, edits: &[Edit]) -> Result<String, CoreError> {
    if edits.is_empty() || edits.len() > MAX_EDITS {
        return Err(CoreError::Input(format!(
            "edits needs 1 to {MAX_EDITS} entries, it has {}",
            edits.len()
        )));
    }
    let mut found = Vec::with_capacity(edits.len());
    for (index, edit) in edits.iter().enumerate() {
        let (range, new_text) = locate(path, text, edit).map_err(|why| {
            CoreError::Mismatch(format!("edit {} of {}: {why}", index + 1, edits.len()))
        })?;
        found.push((range, new_text, index + 1));
    }
    found.sort_by_key(|(range, ..)| range.start);
    if let Some(pair) = found
        .windows(2)
        .find(|pair| pair[0].0.end > pair[1].0.start)
    {
        return Err(CoreError::Mismatch(format!(
            "edits {} and {} overlap at line {}; nothing was changed, join them into one",
            pair[0].2,
            pair[1].2,
            line_of(text, pair[1].0.start)
        )));
    }
    let mut new = String::with_capacity(text.len());
    let mut from = 0;
    for (range, new_text, _) in &found {
        new.push_str(&text[from..range.start]);
        new.push_str(new_text);
        from = range.end;
    }
    new.push_str(&text[from..]);
    Ok(new)
}

/// Where the old text is, and the new text with the line ends of the file.
fn locate(path: &str, text: &str, edit: &Edit) -> Result<(Range<usize>, String), String> {
    if edit.old_text.is_empty() {
        return Err(
            "oldText is empty; to add text, give a passage beside it and repeat that in newText"
                .to_owned(),
        );
    }
    if edit.old_text == edit.new_text {
        return Err("oldText and newText are the same".to_owned());
    }
    let (old, new) = line_ends_of(text, edit);
    let mut starts = text.match_indices(old.as_str()).map(|(start, _)| start);
    match (starts.next(), starts.next()) {
        (Some(start), None) if !overlaps_itself(text, &old, start) => {
            Ok((start..start + old.len(), new))
        }
        (Some(first), second) => {
            let second = second.unwrap_or(first + 1);
            let count = 1 + starts.count() + 1;
            Err(format!(
                "oldText is in `{path}` {count} times (lines {} and {}{}); nothing was changed, add lines around it",
                line_of(text, first),
                line_of(text, second),
                if count > 2 { ", …" } else { "" }
            ))
        }
        (None, _) => Err(format!(
            "oldText is not in `{path}`; nothing was changed{}",
            nearest(text, &old)
        )),
    }
}

/// Whether `old` also begins inside its own match, as `aa` does in `aaa`: then which one is meant cannot be told.
fn overlaps_itself(text: &str, old: &str, start: usize) -> bool {
    let next = start + text[start..].chars().next().map_or(1, char::len_utf8);
    text[next..].find(old).is_some()
}

/// Models write `\n`; in a file whose lines end in `\r\n` that means its line end.
fn line_ends_of(text: &str, edit: &Edit) -> (String, String) {
    let given = || (edit.old_text.clone(), edit.new_text.clone());
    let unix = edit.old_text.contains('\n') || edit.new_text.contains('\n');
    if !unix
        || edit.old_text.contains('\r')
        || !text.contains("\r\n")
        || text.contains(&edit.old_text) && edit.old_text.contains('\n')
    {
        return given();
    }
    let windows = |s: &str| s.replace("\r\n", "\n").replace('\n', "\r\n");
    (windows(&edit.old_text), windows(&edit.new_text))
}

fn line_of(text: &str, offset: usize) -> usize {
    text.as_bytes()[..offset]
        .iter()
        .filter(|b| **b == b'\n')
        .count()
        + 1
}

/// The line of `text` that looks most like the first line of `old`, as a hint.
pub(crate) fn nearest(text: &str, old: &str) -> String {
    let wanted = old
        .lines()
        .map(str::trim)
        .find(|line| !line.is_empty())
        .unwrap_or("");
    let lines = text.lines().take(NEAR_LINES).enumerate();
    let scored = lines.map(|(index, line)| (likeness(line.trim(), wanted), index, line));
    match scored.max_by_key(|(score, index, _)| (*score, std::cmp::Reverse(*index))) {
        Some((score, index, line)) if score >= 50 => {
            let shown: String = line.chars().take(120).collect();
            format!("; the nearest line is {}: {shown:?}", index + 1)
        }
        _ => String::new(),
    }
}

/// Percent of the longer text that both share at their beginning and end.
fn likeness(a: &str, b: &str) -> usize {
    let longer = a.len().max(b.len());
    if longer == 0 {
        return 0;
    }
    let prefix = a.bytes().zip(b.bytes()).take_while(|(x, y)| x == y).count();
    let room = a.len().min(b.len()) - prefix;
    let suffix = a
        .bytes()
        .rev()
        .zip(b.bytes().rev())
        .take(room)
        .take_while(|(x, y)| x == y)
        .count();
    (prefix + suffix) * 100 / longer
}

fn diff(path: &str, old: &str, new: &str) -> String {
    let diff = similar::TextDiff::configure()
        .timeout(DIFF_TIME)
        .diff_lines(old, new);
    let mut text = diff
        .unified_diff()
        .context_radius(3)
        .header(&format!("a/{path}"), &format!("b/{path}"))
        .to_string();
    if text.len() > MAX_DIFF_BYTES {
        let end = text.floor_char_boundary(MAX_DIFF_BYTES);
        text.truncate(end);
        text.push_str("\n[the diff goes on; it was cut here]\n");
    }
    text
}
