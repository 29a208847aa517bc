//! `grep`: lines by regular expression, with ripgrep's own searcher.
//!
//! Files come from the confined walk as opened descriptors: the searcher never sees a path.

use std::fs::File;
use std::io::{self, Read};
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::Arc;

use grep_regex::{RegexMatcher, RegexMatcherBuilder};
use grep_searcher::{
    BinaryDetection, Searcher, SearcherBuilder, Sink, SinkContext, SinkContextKind, SinkMatch,
};
use ignore::overrides::{Override, OverrideBuilder};
use serde::Deserialize;
use serde_json::{Value, json};

use super::adapt::{Files, define};
use super::error::CoreError;
use super::file_tool::{FileTool, FileWork};
use super::options::CoreLimits;
use super::stop::Stop;
use super::workspace::{EntryKind, Resolved, Seen, Tree, TreeOptions, shown};
use crate::{Tool, ToolOutput};

/// Matches given when the call asks for no number.
const DEFAULT_LIMIT: usize = 1000;
const MAX_CONTEXT: usize = 20;
const MAX_PATTERN_BYTES: usize = 8 * 1024;
/// Largest compiled expression.
const REGEX_BYTES: usize = 10 * 1024 * 1024;
/// Longest line held in memory.
const LINE_BYTES: usize = 16 * 1024 * 1024;

#[derive(Deserialize)]
#[serde(rename_all = "camelCase")]
struct Args {
    pattern: String,
    path: Option<String>,
    glob: Option<String>,
    #[serde(default)]
    literal: bool,
    #[serde(default)]
    ignore_case: bool,
    #[serde(default)]
    context: usize,
    limit: Option<usize>,
}

/// The tool.
pub(crate) fn tool(files: Arc<Files>) -> Result<Arc<dyn Tool>, CoreError> {
    let description = format!(
        "Search file contents line by line with a regular expression (Rust syntax, as ripgrep). Leaves out binary files, hidden \
         entries, .git and what ignore files name. Lines are cut at {} characters.",
        files.limits.grep_line_chars
    );
    let definition = define("grep", &description, parameters())?
        .read_only()
        .with_output(output());
    Ok(FileTool::<Args>::shared(definition, files))
}

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "pattern": {"type": "string", "minLength": 1, "description": "Regular expression, matched within single lines"},
            "path": {"type": "string", "description": "File or directory, relative to the workspace; without it the workspace"},
            "glob": {"type": "string", "description": "Only files that match, such as *.rs; !*.md leaves files out"},
            "literal": {"type": "boolean", "description": "pattern is plain text"},
            "ignoreCase": {"type": "boolean", "description": "Upper and lower case are the same"},
            "context": {"type": "integer", "minimum": 0, "maximum": MAX_CONTEXT, "description": "Lines given before and after each match"},
            "limit": {"type": "integer", "minimum": 1, "description": "Most matches; 1000 without it"}
        },
        "required": ["pattern"],
        "additionalProperties": false
    })
}

fn output() -> Value {
    let lines =
        json!({"type": "array", "items": {"type": "string"}, "description": "Only with context"});
    json!({
        "type": "object",
        "properties": {
            "matches": {"type": "array", "items": {
                "type": "object",
                "properties": {
                    "path": {"type": "string"},
                    "line": {"type": "integer", "description": "Counted from 1"},
                    "text": {"type": "string", "description": "The line"},
                    "before": lines.clone(),
                    "after": lines
                },
                "required": ["path", "line", "text"]
            }},
            "truncated": {"type": "boolean", "description": "There may be more matches"}
        },
        "required": ["matches", "truncated"]
    })
}

impl FileWork for Args {
    fn run(&self, files: &Files, stop: &Stop) -> Result<ToolOutput, CoreError> {
        grep(files, self, stop).map(ToolOutput::details)
    }
}

fn grep(files: &Files, args: &Args, stop: &Stop) -> Result<Value, CoreError> {
    let mut search = Search::new(files, args, stop)?;
    let given = args.path.as_deref().unwrap_or(".");
    let mut seen = Seen::All;
    match files.workspace.resolve(given)? {
        Resolved::File(_) => {
            let opened = files.workspace.open_file(given)?;
            let path = opened.path().clone();
            search.file(opened.file, &path)?;
        }
        Resolved::Directory { fd, path } => {
            let options = TreeOptions {
                hidden: false,
                ignore: true,
                recurse: true,
                max_entries: files.limits.walk_entries,
            };
            seen = Tree::new(&files.workspace, stop, options).walk(fd, path, &mut |entry| {
                let wanted = entry.kind == EntryKind::File && search.wants(&entry.path);
                if let Some((file, _)) = wanted.then(|| entry.open()).flatten() {
                    search.file(file, &entry.path)?;
                }
                Ok(if search.full {
                    ControlFlow::Break(())
                } else {
                    ControlFlow::Continue(())
                })
            })?;
        }
        Resolved::Missing(_) => return Err(files.workspace.missing(given)),
    }
    Ok(
        json!({"matches": search.matches, "truncated": search.full || search.skipped || seen == Seen::Part}),
    )
}

struct Search<'a> {
    matcher: RegexMatcher,
    searcher: Searcher,
    globs: Option<Override>,
    limits: &'a CoreLimits,
    stop: &'a Stop,
    context: bool,
    limit: usize,
    bytes: usize,
    matches: Vec<Value>,
    full: bool,
    /// Part of a file was not searched: it is too large.
    skipped: bool,
}

impl<'a> Search<'a> {
    fn new(files: &'a Files, args: &Args, stop: &'a Stop) -> Result<Self, CoreError> {
        let context = args.context.min(MAX_CONTEXT);
        let mut searcher = SearcherBuilder::new();
        searcher
            .binary_detection(BinaryDetection::quit(0))
            .line_number(true)
            .heap_limit(Some(LINE_BYTES))
            .before_context(context)
            .after_context(context);
        Ok(Self {
            matcher: matcher(args)?,
            searcher: searcher.build(),
            globs: args.glob.as_deref().map(globs).transpose()?,
            limits: &files.limits,
            stop,
            context: context > 0,
            limit: args
                .limit
                .unwrap_or(DEFAULT_LIMIT)
                .min(files.limits.result_count),
            bytes: 0,
            matches: Vec::new(),
            full: false,
            skipped: false,
        })
    }

    fn wants(&self, path: &Path) -> bool {
        self.globs
            .as_ref()
            .is_none_or(|globs| !globs.matched(Path::new("/").join(path), false).is_ignore())
    }

    /// Searches one file. A file that cannot be read to its end is passed over; its matches so far stay, unless it turns out to be binary.
    fn file(&mut self, file: File, path: &Path) -> Result<(), CoreError> {
        let first = self.matches.len();
        let mut reader = Bounded {
            file,
            left: self.limits.grep_file_bytes,
            cut: false,
            stop: self.stop,
        };
        let mut sink = Matches {
            path: shown(path),
            context: self.context,
            limit: self.limit,
            byte_limit: self.limits.grep_output_bytes,
            line_chars: self.limits.grep_line_chars,
            found: &mut self.matches,
            bytes: &mut self.bytes,
            full: &mut self.full,
            before: Vec::new(),
            binary: false,
        };
        let result = self
            .searcher
            .search_reader(&self.matcher, &mut reader, &mut sink);
        let binary = sink.binary;
        if binary {
            self.matches.truncate(first);
            self.full = false;
        }
        self.stop.check()?;
        self.skipped |= (reader.cut || result.is_err()) && !binary;
        Ok(())
    }
}

fn matcher(args: &Args) -> Result<RegexMatcher, CoreError> {
    if args.pattern.len() > MAX_PATTERN_BYTES {
        return Err(CoreError::Input(format!(
            "pattern is longer than {MAX_PATTERN_BYTES} bytes"
        )));
    }
    let mut builder = RegexMatcherBuilder::new();
    builder
        .case_insensitive(args.ignore_case)
        .fixed_strings(args.literal)
        .size_limit(REGEX_BYTES)
        .dfa_size_limit(REGEX_BYTES)
        .line_terminator(Some(b'\n'));
    builder.build(&args.pattern).map_err(|error| {
        CoreError::Input(format!(
            "pattern is no usable regular expression: {error}. For plain text set literal: true; \
             look-around and back-references do not exist, and a pattern cannot span lines"
        ))
    })
}

fn globs(glob: &str) -> Result<Override, CoreError> {
    let bad = |error: ignore::Error| CoreError::Input(format!("glob is not valid: {error}"));
    let mut builder = OverrideBuilder::new("/");
    builder.add(glob).map_err(bad)?;
    builder.build().map_err(bad)
}

/// A file that ends early when the call is stopped or its limit is reached.
struct Bounded<'a> {
    file: File,
    left: u64,
    cut: bool,
    stop: &'a Stop,
}

impl Read for Bounded<'_> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.stop.is_set() || self.left == 0 {
            self.cut = true;
            return Ok(0);
        }
        let room = into
            .len()
            .min(usize::try_from(self.left).unwrap_or(usize::MAX));
        let read = self.file.read(&mut into[..room])?;
        self.left -= read as u64;
        Ok(read)
    }
}

struct Matches<'a> {
    path: String,
    context: bool,
    limit: usize,
    byte_limit: usize,
    line_chars: usize,
    found: &'a mut Vec<Value>,
    bytes: &'a mut usize,
    full: &'a mut bool,
    before: Vec<Value>,
    binary: bool,
}

impl Matches<'_> {
    fn line(&self, bytes: &[u8]) -> String {
        let mut line = bytes;
        for end in [b"\n".as_slice(), b"\r".as_slice()] {
            line = line.strip_suffix(end).unwrap_or(line);
        }
        // Four bytes are the longest character: what lies beyond cannot be shown.
        let near = &line[..line.len().min(self.line_chars * 4)];
        let text = String::from_utf8_lossy(near);
        let mut shown: String = text.chars().take(self.line_chars).collect();
        if shown.len() < line.len() && text.chars().count() > self.line_chars
            || near.len() < line.len()
        {
            shown.push_str(" […]");
        }
        shown
    }

    /// Adds a line of context to the last match, if that is where it belongs.
    fn after(&mut self, line: Value) {
        if let Some(Value::Array(after)) =
            self.found.last_mut().and_then(|last| last.get_mut("after"))
        {
            after.push(line);
        }
    }
}

impl Sink for Matches<'_> {
    type Error = io::Error;

    fn matched(&mut self, _: &Searcher, found: &SinkMatch<'_>) -> io::Result<bool> {
        if self.found.len() >= self.limit || *self.bytes >= self.byte_limit {
            *self.full = true;
            return Ok(false);
        }
        let text = self.line(found.bytes());
        *self.bytes += self.path.len() + text.len();
        let mut value = json!({"path": self.path, "line": found.line_number(), "text": text});
        if self.context {
            value["before"] = Value::Array(std::mem::take(&mut self.before));
            value["after"] = json!([]);
        }
        self.found.push(value);
        Ok(true)
    }

    fn context(&mut self, _: &Searcher, context: &SinkContext<'_>) -> io::Result<bool> {
        let line = Value::String(self.line(context.bytes()));
        *self.bytes += context.bytes().len().min(self.line_chars);
        match context.kind() {
            SinkContextKind::Before => self.before.push(line),
            SinkContextKind::After => self.after(line),
            SinkContextKind::Other => {}
        }
        Ok(true)
    }

    fn binary_data(&mut self, _: &Searcher, _: u64) -> io::Result<bool> {
        self.binary = true;
        Ok(false)
    }
}
