//! Patches as text to patches as data: the `*** Begin Patch` form here, unified diffs in `unified.rs`.
//!
//! What cannot be understood is refused with its line; nothing is skipped in silence but the prose that `git` prints
//! between files.

use crate::core::error::CoreError;

/// Most files of one patch.
const MAX_FILES: usize = 500;

/// The patch of one file.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct FilePatch {
    pub(super) path: String,
    pub(super) action: Action,
    /// The executable bits to set or clear.
    pub(super) executable: Option<bool>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Action {
    Add(String),
    Delete,
    Update {
        hunks: Vec<Hunk>,
        to: Option<String>,
    },
}

/// One contiguous change.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) struct Hunk {
    /// Where it begins in the patch, for errors.
    pub(super) patch_line: usize,
    pub(super) at: At,
    pub(super) lines: Vec<Line>,
    /// The old text ends with the end of the file.
    pub(super) at_end: bool,
}

/// Where a hunk belongs.
#[derive(Debug, Default, PartialEq, Eq)]
pub(super) enum At {
    /// After the hunks before it.
    #[default]
    Next,
    /// After the first line, from there on, that is this text.
    After(String),
    /// At this line of the old file, counted from 1, or near it.
    Line(usize),
}

#[derive(Debug, PartialEq, Eq)]
pub(super) struct Line {
    pub(super) kind: Kind,
    pub(super) text: String,
    /// `\ No newline at end of file` follows.
    pub(super) no_newline: bool,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Context,
    Remove,
    Add,
}

impl FilePatch {
    pub(super) fn paths(&self) -> impl Iterator<Item = &str> {
        let to = match &self.action {
            Action::Update { to, .. } => to.as_deref(),
            _ => None,
        };
        std::iter::once(self.path.as_str()).chain(to)
    }
}

/// The lines of a patch with their numbers, and the one that comes next.
pub(super) struct Reader<'a> {
    lines: Vec<&'a str>,
    next: usize,
}

impl<'a> Reader<'a> {
    pub(super) fn new(text: &'a str) -> Self {
        Self {
            lines: text.lines().collect(),
            next: 0,
        }
    }

    pub(super) fn peek(&self) -> Option<&'a str> {
        self.lines.get(self.next).copied()
    }

    pub(super) fn peek_after(&self, distance: usize) -> Option<&'a str> {
        self.lines.get(self.next + distance).copied()
    }

    pub(super) fn take(&mut self) -> Option<&'a str> {
        let line = self.peek();
        self.next += usize::from(line.is_some());
        line
    }

    /// The number of the line that comes next, counted from 1.
    pub(super) fn number(&self) -> usize {
        self.next + 1
    }

    pub(super) fn bad(&self, what: &str) -> CoreError {
        bad(self.next, what)
    }
}

pub(super) fn bad(line: usize, what: &str) -> CoreError {
    CoreError::Patch(format!(
        "line {line} of the patch: {what}; nothing was changed"
    ))
}

/// Understands either form.
///
/// # Errors
/// [`CoreError::Patch`] with the line that cannot be understood.
pub(super) fn parse(text: &str) -> Result<Vec<FilePatch>, CoreError> {
    let text = unfenced(text);
    let first = text
        .lines()
        .find(|line| !line.trim().is_empty())
        .unwrap_or("");
    let files = if first.trim() == BEGIN {
        begin_form(text)?
    } else {
        super::unified::parse(text)?
    };
    if files.is_empty() {
        return Err(CoreError::Patch(
            "the patch names no file: give a unified diff with --- and +++ lines, or the form that begins with *** Begin Patch".to_owned(),
        ));
    }
    if files.iter().flat_map(FilePatch::paths).any(str::is_empty) {
        return Err(CoreError::Patch(
            "the patch names a file whose path is empty; give every path, relative to the workspace"
                .to_owned(),
        ));
    }
    if files.len() > MAX_FILES {
        return Err(CoreError::Patch(format!(
            "the patch names more than {MAX_FILES} files; split it"
        )));
    }
    Ok(files)
}

/// Without the Markdown fence that models put around patches.
fn unfenced(text: &str) -> &str {
    let trimmed = text.trim();
    let inner = trimmed
        .strip_prefix("```")
        .and_then(|t| t.strip_suffix("```"))
        .and_then(|t| t.split_once('\n'));
    inner.map_or(text, |(_, body)| body)
}

const BEGIN: &str = "*** Begin Patch";
const END: &str = "*** End Patch";
const END_OF_FILE: &str = "*** End of File";

fn begin_form(text: &str) -> Result<Vec<FilePatch>, CoreError> {
    let mut reader = Reader::new(text);
    while reader.take().is_some_and(|line| line.trim() != BEGIN) {}
    let mut files = Vec::new();
    while let Some(line) = reader.take() {
        let line = line.trim_end();
        if line == END {
            return Ok(files);
        }
        if let Some(path) = line.strip_prefix("*** Add File: ") {
            files.push(file(path, Action::Add(added(&mut reader)?)));
        } else if let Some(path) = line.strip_prefix("*** Delete File: ") {
            files.push(file(path, Action::Delete));
        } else if let Some(path) = line.strip_prefix("*** Update File: ") {
            files.push(file(path, updated(&mut reader)?));
        } else if !line.is_empty() {
            return Err(reader.bad(
                "*** Add File, *** Update File, *** Delete File or *** End Patch is expected here",
            ));
        }
    }
    Err(reader.bad("*** End Patch is missing"))
}

fn file(path: &str, action: Action) -> FilePatch {
    FilePatch {
        path: path.trim().to_owned(),
        action,
        executable: None,
    }
}

fn added(reader: &mut Reader<'_>) -> Result<String, CoreError> {
    let mut content = String::new();
    while let Some(line) = reader.peek().filter(|line| !line.starts_with("*** ")) {
        reader.take();
        match line.strip_prefix('+') {
            Some(text) => content.push_str(text),
            None if line.trim().is_empty() && is_header(reader.peek()) => continue,
            None => return Err(reader.bad("every line of an added file begins with +")),
        }
        content.push('\n');
    }
    Ok(content)
}

fn is_header(line: Option<&str>) -> bool {
    line.is_none_or(|line| line.starts_with("*** "))
}

fn updated(reader: &mut Reader<'_>) -> Result<Action, CoreError> {
    let to = reader
        .peek()
        .and_then(|line| line.strip_prefix("*** Move to: "))
        .map(|to| to.trim().to_owned());
    if to.is_some() {
        reader.take();
    }
    let mut hunks: Vec<Hunk> = Vec::new();
    while let Some(line) = reader.peek() {
        if line.trim_end() == END_OF_FILE {
            reader.take();
            hunks
                .last_mut()
                .ok_or_else(|| reader.bad("*** End of File stands after the lines of a hunk"))?
                .at_end = true;
            continue;
        }
        if line.starts_with("*** ") {
            break;
        }
        hunks.push(hunk(reader)?);
    }
    hunks.retain(|hunk| !hunk.lines.is_empty());
    if hunks.is_empty() && to.is_none() {
        return Err(reader.bad("an updated file needs at least one line that begins with - or +"));
    }
    Ok(Action::Update { hunks, to })
}

fn hunk(reader: &mut Reader<'_>) -> Result<Hunk, CoreError> {
    let mut hunk = Hunk {
        patch_line: reader.number(),
        ..Hunk::default()
    };
    if let Some(anchor) = reader.peek().and_then(|line| line.strip_prefix("@@")) {
        reader.take();
        hunk.at = anchor_of(anchor.trim());
    }
    while let Some(line) = reader.peek() {
        if line.starts_with("@@") || line.starts_with("*** ") {
            break;
        }
        reader.take();
        // An empty line between the last hunk and the next header is layout, not content.
        if line.is_empty() && is_header(reader.peek()) {
            break;
        }
        hunk.lines.push(
            body_line(line)
                .ok_or_else(|| reader.bad("a line of a hunk begins with space, - or +"))?,
        );
    }
    Ok(hunk)
}

/// `@@ text` names a line; `@@ -1,2 +1,2 @@` is the other form's header and means its line.
fn anchor_of(text: &str) -> At {
    match super::unified::range(text) {
        Some(range) => At::Line(range.old_start),
        None if text.is_empty() => At::Next,
        None => At::After(text.to_owned()),
    }
}

/// A line of a hunk; an empty one stands for an empty line of context, whose space editors strip.
pub(super) fn body_line(line: &str) -> Option<Line> {
    let kind = match line.as_bytes().first() {
        None | Some(b' ') => Kind::Context,
        Some(b'-') => Kind::Remove,
        Some(b'+') => Kind::Add,
        Some(_) => return None,
    };
    let text = line.get(1..).unwrap_or("").to_owned();
    Some(Line {
        kind,
        text,
        no_newline: false,
    })
}
