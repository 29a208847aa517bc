//! Unified diffs, plain and git's.

use super::parse::{Action, At, FilePatch, Hunk, Kind, Reader, bad, body_line};
use crate::core::error::CoreError;

/// `-old_start,old_len +new_start,new_len`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Range {
    pub(super) old_start: usize,
    old_len: usize,
    new_len: usize,
}

/// What git says about one file before its hunks.
#[derive(Debug, Default)]
struct Header {
    /// Where it began in the patch.
    line: usize,
    /// The two paths of the `diff --git` line.
    git: bool,
    from: Option<String>,
    to: Option<String>,
    renamed: Option<(String, String)>,
    rename_from: Option<String>,
    created: bool,
    deleted: bool,
    executable: Option<bool>,
    hunks: Vec<Hunk>,
}

pub(super) fn parse(text: &str) -> Result<Vec<FilePatch>, CoreError> {
    let mut reader = Reader::new(text);
    let mut files = Vec::new();
    let mut header = Header::default();
    while let Some(line) = reader.peek() {
        let number = reader.number();
        if let Some(paths) = line.strip_prefix("diff --git ") {
            reader.take();
            files.extend(std::mem::take(&mut header).finish()?);
            header = Header {
                line: number,
                git: true,
                ..Header::default()
            };
            header.git_paths(paths);
        } else if is_file_header(&reader) {
            if !header.hunks.is_empty() || (header.from.is_some() && !header.git) {
                files.extend(std::mem::take(&mut header).finish()?);
            }
            header.take_paths(&mut reader)?;
        } else if line.starts_with("@@") {
            header.hunks.push(hunk(&mut reader)?);
        } else {
            reader.take();
            header.extended(line, number)?;
        }
    }
    files.extend(header.finish()?);
    Ok(files)
}

fn is_file_header(reader: &Reader<'_>) -> bool {
    reader.peek().is_some_and(|line| line.starts_with("--- "))
        && reader
            .peek_after(1)
            .is_some_and(|line| line.starts_with("+++ "))
}

impl Header {
    /// The one path that both sides of `a/x b/x` share; a file whose only change is its mode has no other.
    fn git_paths(&mut self, paths: &str) {
        let half = paths.len() / 2;
        let old = paths.get(..half).and_then(|path| path.strip_prefix("a/"));
        let new = paths
            .get(half + 1..)
            .and_then(|path| path.strip_prefix("b/"));
        if let (Some(old), true) = (old, old == new) {
            self.renamed = Some((old.to_owned(), old.to_owned()));
        }
    }

    fn take_paths(&mut self, reader: &mut Reader<'_>) -> Result<(), CoreError> {
        self.line = reader.number();
        let old = path_of(reader.take(), "--- ", reader)?;
        let new = path_of(reader.take(), "+++ ", reader)?;
        let prefixed = |path: &Option<String>, prefix| {
            path.as_ref().is_none_or(|path| path.starts_with(prefix))
        };
        let strip = prefixed(&old, "a/") && prefixed(&new, "b/");
        let stripped = |path: Option<String>| {
            if strip {
                path.map(|path| path[2..].to_owned())
            } else {
                path
            }
        };
        self.created = old.is_none();
        self.deleted = new.is_none();
        (self.from, self.to) = (stripped(old), stripped(new));
        Ok(())
    }

    fn extended(&mut self, line: &str, number: usize) -> Result<(), CoreError> {
        let mode = |line: &str, prefix: &str| {
            line.strip_prefix(prefix)
                .map(str::trim)
                .map(|mode| mode.ends_with("755"))
        };
        if let Some(executable) = mode(line, "new mode ") {
            self.executable = Some(executable);
        } else if let Some(executable) = mode(line, "new file mode ") {
            refuse_special(line, number)?;
            self.created = true;
            self.executable = executable.then_some(true);
        } else if line.starts_with("deleted file mode ") {
            self.deleted = true;
        } else if let Some(path) = line.strip_prefix("rename from ") {
            self.rename_from = Some(path.trim().to_owned());
        } else if let Some(path) = line.strip_prefix("rename to ") {
            self.renamed = self
                .rename_from
                .take()
                .map(|from| (from, path.trim().to_owned()));
        } else if line.starts_with("copy from ")
            || line.starts_with("GIT binary patch")
            || line.starts_with("Binary files ")
        {
            return Err(bad(number, "copies and binary files cannot be patched"));
        } else if !self.hunks.is_empty()
            && matches!(line.as_bytes().first(), Some(b'+' | b'-' | b'@'))
            && line != "-- "
            && line != "--"
        {
            return Err(bad(
                number,
                "a change outside of a hunk; a hunk begins with @@ -line,count +line,count @@",
            ));
        }
        Ok(())
    }

    fn finish(self) -> Result<Vec<FilePatch>, CoreError> {
        let (from, to) = match (self.from, self.to, self.renamed) {
            (None, None, Some((from, to))) => (from, to),
            (None, None, None) if self.hunks.is_empty() => return Ok(Vec::new()),
            (None, None, None) => {
                return Err(bad(
                    self.hunks[0].patch_line,
                    "a hunk without --- and +++ lines before it",
                ));
            }
            (Some(from), Some(to), _) => (from, to),
            (Some(path), None, _) | (None, Some(path), _) => (path.clone(), path),
        };
        let action = if self.deleted {
            Action::Delete
        } else if self.created {
            Action::Add(content(&self.hunks)?)
        } else if self.hunks.is_empty() && from == to && self.executable.is_none() {
            return Err(bad(self.line, "the file has no hunk"));
        } else {
            Action::Update {
                hunks: self.hunks,
                to: (from != to).then_some(to),
            }
        };
        Ok(vec![FilePatch {
            path: from,
            action,
            executable: self.executable,
        }])
    }
}

/// Only regular files: git also knows links (120000) and submodules (160000).
fn refuse_special(line: &str, number: usize) -> Result<(), CoreError> {
    if line.trim_end().ends_with("100644") || line.trim_end().ends_with("100755") {
        return Ok(());
    }
    Err(bad(
        number,
        "only regular files (mode 100644 or 100755) can be made",
    ))
}

/// `None` for `/dev/null`.
fn path_of(
    line: Option<&str>,
    prefix: &str,
    reader: &Reader<'_>,
) -> Result<Option<String>, CoreError> {
    let rest = line
        .and_then(|line| line.strip_prefix(prefix))
        .unwrap_or("");
    let path = rest.split('\t').next().unwrap_or(rest).trim_end();
    if path.starts_with('"') {
        return Err(reader.bad("a quoted path; write it plainly, in UTF-8"));
    }
    if path.is_empty() {
        return Err(reader.bad("the path is missing"));
    }
    Ok((path != "/dev/null").then(|| path.to_owned()))
}

/// Reads `@@ -a,b +c,d @@`, with anything around it.
pub(super) fn range(text: &str) -> Option<Range> {
    let rest = text
        .trim_start_matches('@')
        .trim_start()
        .strip_prefix('-')?;
    let (old, rest) = rest.split_once(" +")?;
    let new = rest.split([' ', '@']).next()?;
    let side = |text: &str| -> Option<(usize, usize)> {
        match text.split_once(',') {
            Some((start, len)) => Some((start.parse().ok()?, len.parse().ok()?)),
            None => Some((text.parse().ok()?, 1)),
        }
    };
    let (old_start, old_len) = side(old.trim())?;
    let (_, new_len) = side(new)?;
    Some(Range {
        old_start,
        old_len,
        new_len,
    })
}

fn hunk(reader: &mut Reader<'_>) -> Result<Hunk, CoreError> {
    let patch_line = reader.number();
    let line = reader.take().unwrap_or("");
    let range = range(line);
    if range.is_none() && line.trim_matches(['@', ' ']).starts_with('-') {
        return Err(reader.bad("a hunk begins with @@ -line,count +line,count @@"));
    }
    // An insertion of nothing old is given by the line *before* it.
    let at = range.map_or(At::Next, |range| {
        At::Line(range.old_start + usize::from(range.old_len == 0))
    });
    let mut hunk = Hunk {
        patch_line,
        at,
        ..Hunk::default()
    };
    let (mut old, mut new) = range.map_or((usize::MAX, usize::MAX), |range| {
        (range.old_len, range.new_len)
    });
    while let Some(line) = reader.peek() {
        let complete = old == 0 && new == 0;
        if line.starts_with("@@")
            || line.starts_with("diff --git ")
            || ends_hunk(reader, line, complete, range.is_none())
        {
            break;
        }
        reader.take();
        if line.starts_with('\\') {
            if let Some(last) = hunk.lines.last_mut() {
                last.no_newline = true;
            }
            continue;
        }
        let line = body_line(line)
            .ok_or_else(|| reader.bad("a line of a hunk begins with space, -, + or \\"))?;
        old = old.saturating_sub(usize::from(line.kind != Kind::Add));
        new = new.saturating_sub(usize::from(line.kind != Kind::Remove));
        hunk.lines.push(line);
    }
    if hunk.lines.is_empty() {
        return Err(reader.bad("the hunk is empty"));
    }
    Ok(hunk)
}

/// Counts that models write are often wrong, so they end a hunk only together with what follows.
fn ends_hunk(reader: &Reader<'_>, line: &str, complete: bool, uncounted: bool) -> bool {
    let layout = line.is_empty()
        || line == "-- "
        || !matches!(line.as_bytes()[0], b' ' | b'+' | b'-' | b'\\');
    (complete && (layout || is_file_header(reader)))
        || (uncounted && is_file_header(reader))
        || (line.is_empty() && reader.peek_after(1).is_none())
}

fn content(hunks: &[Hunk]) -> Result<String, CoreError> {
    let mut content = String::new();
    for line in hunks.iter().flat_map(|hunk| &hunk.lines) {
        if line.kind != Kind::Add {
            return Err(bad(
                hunks[0].patch_line,
                "a new file can only have lines that begin with +",
            ));
        }
        content.push_str(&line.text);
        if !line.no_newline {
            content.push('\n');
        }
    }
    Ok(content)
}
