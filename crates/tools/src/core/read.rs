//! `read`: lines of a text file, or an image.
//!
//! The file is streamed: only the asked lines are kept, however long it is.

use std::fs::File;
use std::io::{Read as _, Seek as _, SeekFrom};
use std::sync::Arc;

use serde::Deserialize;
use serde_json::{Value, json};

use super::adapt::{Files, define};
use super::error::CoreError;
use super::file_tool::{FileTool, FileWork};
use super::stop::Stop;
use super::workspace::{Opened, shown};
use crate::{ContentBlock, Tool, ToolOutput};

/// Bytes looked at to tell text from binary.
const SNIFF_BYTES: usize = 8192;
const BLOCK_BYTES: usize = 64 * 1024;

#[derive(Deserialize)]
struct Args {
    path: String,
    offset: Option<u64>,
    limit: Option<u64>,
}

/// The tool.
pub(crate) fn tool(files: Arc<Files>) -> Result<Arc<dyn Tool>, CoreError> {
    let description = format!(
        "Read a text file of the workspace, or some of its lines; at most {} KiB of text per call. \
         A png, jpeg, gif or webp file comes back as an image instead.",
        files.limits.read_text_bytes / 1024
    );
    let definition = define("read", &description, parameters())?
        .read_only()
        .with_output(output());
    Ok(FileTool::<Args>::shared(definition, files))
}

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string", "description": "File, relative to the workspace"},
            "offset": {"type": "integer", "minimum": 1, "description": "First line to read, counted from 1"},
            "limit": {"type": "integer", "minimum": 1, "description": "Most lines to read"}
        },
        "required": ["path"],
        "additionalProperties": false
    })
}

fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "text": {"type": "string"},
            "startLine": {"type": "integer", "description": "Number of the first line in text"},
            "totalLines": {"type": "integer", "description": "Lines of the whole file"},
            "truncated": {"type": "boolean", "description": "More lines follow"},
            "note": {"type": "string", "description": "How to read on, or what was replaced"}
        },
        "required": ["path", "text", "startLine", "totalLines", "truncated"]
    })
}

impl FileWork for Args {
    fn run(&self, files: &Files, stop: &Stop) -> Result<ToolOutput, CoreError> {
        read(files, self, stop)
    }
}

fn read(files: &Files, args: &Args, stop: &Stop) -> Result<ToolOutput, CoreError> {
    let mut opened = files.workspace.open_file(&args.path)?;
    let head = head(&mut opened.file).map_err(|e| CoreError::io(&args.path, e))?;
    if let Some(mime_type) = image_type(&head) {
        let data = opened.read_all(&args.path, files.limits.image_bytes, stop)?;
        let image = ContentBlock::Image {
            mime_type: mime_type.to_owned(),
            data: data.into(),
        };
        return Ok(ToolOutput {
            content: vec![image],
            ..ToolOutput::default()
        });
    }
    if head.contains(&0) {
        return Err(CoreError::Binary {
            path: args.path.clone(),
            bytes: opened.len(),
            reason: "it contains NUL bytes",
            verb: "read",
        });
    }
    let mut lines = Lines::new(args, files.limits.read_text_bytes);
    lines.scan(&mut opened, args, files.limits.scan_bytes, stop)?;
    lines.finish(&shown(opened.path())).map(ToolOutput::details)
}

fn head(file: &mut File) -> std::io::Result<Vec<u8>> {
    let mut head = Vec::new();
    file.take(SNIFF_BYTES as u64).read_to_end(&mut head)?;
    file.seek(SeekFrom::Start(0))?;
    Ok(head)
}

/// By the first bytes, as every decoder does; the name says nothing.
fn image_type(head: &[u8]) -> Option<&'static str> {
    match head {
        [0x89, b'P', b'N', b'G', b'\r', b'\n', 0x1a, b'\n', ..] => Some("image/png"),
        [0xff, 0xd8, 0xff, ..] => Some("image/jpeg"),
        [b'G', b'I', b'F', b'8', b'7' | b'9', b'a', ..] => Some("image/gif"),
        [
            b'R',
            b'I',
            b'F',
            b'F',
            _,
            _,
            _,
            _,
            b'W',
            b'E',
            b'B',
            b'P',
            ..,
        ] => Some("image/webp"),
        _ => None,
    }
}

/// The wanted lines, collected while all are counted.
struct Lines {
    first: u64,
    end: u64,
    cap_bytes: usize,
    /// Lines completed so far.
    done: u64,
    /// Whether the line that is being read has any byte.
    open: bool,
    kept: Vec<u8>,
    /// Bytes of `kept` that end with a whole line, and how many lines those are.
    whole: (usize, u64),
    full: bool,
}

impl Lines {
    fn new(args: &Args, cap_bytes: usize) -> Self {
        let first = args.offset.unwrap_or(1);
        let end = args
            .limit
            .map_or(u64::MAX, |limit| first.saturating_add(limit));
        Self {
            first,
            end,
            cap_bytes,
            done: 0,
            open: false,
            kept: Vec::new(),
            whole: (0, 0),
            full: false,
        }
    }

    fn scan(
        &mut self,
        opened: &mut Opened,
        args: &Args,
        limit_bytes: u64,
        stop: &Stop,
    ) -> Result<(), CoreError> {
        let mut block = vec![0; BLOCK_BYTES];
        let mut total = 0;
        loop {
            stop.check()?;
            let read = opened
                .file
                .read(&mut block)
                .map_err(|e| CoreError::io(&args.path, e))?;
            if read == 0 {
                return Ok(());
            }
            total += read as u64;
            if total > limit_bytes {
                return Err(CoreError::TooLarge {
                    path: args.path.clone(),
                    bytes: opened.len().max(total),
                    limit_bytes,
                    advice: "search it with `grep`, or cut it with the shell",
                });
            }
            block[..read]
                .split_inclusive(|b| *b == b'\n')
                .for_each(|piece| self.piece(piece));
        }
    }

    fn piece(&mut self, piece: &[u8]) {
        let number = self.done + 1;
        let ends = piece.ends_with(b"\n");
        if number >= self.first && number < self.end && !self.full {
            let room = self.cap_bytes - self.kept.len();
            self.full = piece.len() > room;
            self.kept.extend_from_slice(&piece[..piece.len().min(room)]);
            if ends && !self.full {
                self.whole = (self.kept.len(), self.whole.1 + 1);
            }
        }
        self.done += u64::from(ends);
        self.open = !ends;
    }

    fn finish(mut self, path: &str) -> Result<Value, CoreError> {
        let total = self.done + u64::from(self.open);
        if self.first > total.max(1) {
            return Err(CoreError::Input(format!(
                "offset {} is past the end: `{path}` has {total} lines",
                self.first
            )));
        }
        let cut_line = self.full && self.whole.1 == 0;
        let mut given = self.whole.1;
        if self.full && !cut_line {
            self.kept.truncate(self.whole.0);
        } else if self.kept.len() > self.whole.0 {
            given += 1;
        }
        let next = self.first + given;
        let truncated = cut_line || next <= total;
        let (text, replaced) = into_text(self.kept, cut_line);
        let mut value = json!({
            "path": path, "text": text, "startLine": self.first, "totalLines": total, "truncated": truncated,
        });
        if let Some(note) = note(cut_line, truncated, replaced, next, self.cap_bytes) {
            value["note"] = note.into();
        }
        Ok(value)
    }
}

fn into_text(mut bytes: Vec<u8>, cut: bool) -> (String, bool) {
    if cut {
        // A character halved by the cap is dropped, not shown as damaged.
        let error = std::str::from_utf8(&bytes).err();
        if let Some(error) = error.filter(|error| error.error_len().is_none()) {
            bytes.truncate(error.valid_up_to());
        }
    }
    match String::from_utf8(bytes) {
        Ok(text) => (text, false),
        Err(error) => (String::from_utf8_lossy(error.as_bytes()).into_owned(), true),
    }
}

fn note(
    cut_line: bool,
    truncated: bool,
    replaced: bool,
    next: u64,
    cap_bytes: usize,
) -> Option<String> {
    let mut notes = Vec::new();
    if cut_line {
        notes.push(format!(
            "the line is longer than {cap_bytes} bytes and was cut; the shell can read inside it"
        ));
    } else if truncated {
        notes.push(format!("go on with offset {next}"));
    }
    if replaced {
        notes.push(
            "bytes that are not UTF-8 were replaced with U+FFFD; `edit` will refuse this file"
                .to_owned(),
        );
    }
    (!notes.is_empty()).then(|| notes.join("; "))
}
