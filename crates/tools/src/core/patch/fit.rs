//! Fitting hunks to the text of a file.
//!
//! Lines must match exactly (line ends aside). Where a hunk could go to more than one place and nothing
//! says to which, it is refused: a wrong place is worse than another try.

use super::parse::{At, Hunk, Kind};
use crate::core::error::CoreError;

/// Lines of an error's excerpt.
const EXCERPT_LINES: usize = 6;

/// A line and its end: `\n`, `\r\n`, or nothing.
type Source<'a> = (&'a str, &'a str);

/// The text with all `hunks` applied.
pub(super) fn apply(path: &str, text: &str, hunks: &[Hunk]) -> Result<String, CoreError> {
    let lines: Vec<Source<'_>> = text.split_inclusive('\n').map(split_end).collect();
    let end = if lines.first().is_some_and(|(_, end)| *end == "\r\n") {
        "\r\n"
    } else {
        "\n"
    };
    let mut new: Vec<Source<'_>> = Vec::with_capacity(lines.len());
    let mut cursor = 0;
    for (index, hunk) in hunks.iter().enumerate() {
        let fit = Fit {
            path,
            lines: &lines,
            hunk,
            number: index + 1,
            count: hunks.len(),
            from: cursor,
        };
        let start = fit.locate()?;
        new.extend_from_slice(&lines[cursor..start]);
        cursor = start;
        for line in &hunk.lines {
            match line.kind {
                Kind::Context => new.push(lines[cursor]),
                Kind::Add => new.push((line.text.as_str(), if line.no_newline { "" } else { end })),
                Kind::Remove => {}
            }
            cursor += usize::from(line.kind != Kind::Add);
        }
    }
    new.extend_from_slice(&lines[cursor..]);
    Ok(join(new, end))
}

fn split_end(line: &str) -> Source<'_> {
    let body = line.strip_suffix('\n').unwrap_or(line);
    let body = if body.len() < line.len() {
        body.strip_suffix('\r').unwrap_or(body)
    } else {
        body
    };
    (body, &line[body.len()..])
}

/// Only the last line may be without an end.
fn join(lines: Vec<Source<'_>>, end: &str) -> String {
    let last = lines.len().saturating_sub(1);
    let mut text = String::new();
    for (index, (body, own)) in lines.into_iter().enumerate() {
        text.push_str(body);
        text.push_str(if own.is_empty() && index < last {
            end
        } else {
            own
        });
    }
    text
}

struct Fit<'a> {
    path: &'a str,
    lines: &'a [Source<'a>],
    hunk: &'a Hunk,
    number: usize,
    count: usize,
    /// The first line that earlier hunks have not used.
    from: usize,
}

impl Fit<'_> {
    fn locate(&self) -> Result<usize, CoreError> {
        let old: Vec<&str> = self
            .hunk
            .lines
            .iter()
            .filter(|line| line.kind != Kind::Add)
            .map(|line| line.text.as_str())
            .collect();
        let from = match &self.hunk.at {
            At::After(anchor) => self.after(anchor)?,
            At::Next | At::Line(_) => self.from,
        };
        if old.is_empty() {
            return self.insertion(from);
        }
        let places = self.places(&old, from);
        match (places.as_slice(), &self.hunk.at) {
            ([], _) => Err(self.no_match(&old)),
            ([only], _) => Ok(*only),
            (many, At::Line(line)) if many.contains(&(line.saturating_sub(1))) => Ok(line - 1),
            ([first, ..], At::After(_)) => Ok(*first),
            (many, _) => Err(self.error(&format!(
                "its lines are in the file {} times (at lines {} and {}); add lines around them",
                many.len(),
                many[0] + 1,
                many[1] + 1
            ))),
        }
    }

    fn places(&self, old: &[&str], from: usize) -> Vec<usize> {
        let Some(last) = self.lines.len().checked_sub(old.len()) else {
            return Vec::new();
        };
        let first = if self.hunk.at_end {
            last.max(from)
        } else {
            from
        };
        (first..=last)
            .filter(|start| {
                old.iter()
                    .zip(&self.lines[*start..])
                    .all(|(old, (body, _))| *old == *body)
            })
            .collect()
    }

    /// The line after the anchor. Its indentation may be left out, as in `@@ fn main() {`.
    fn after(&self, anchor: &str) -> Result<usize, CoreError> {
        let rest = || self.lines.iter().enumerate().skip(self.from);
        let exact = rest().find(|(_, (body, _))| *body == anchor);
        let found = exact.or_else(|| rest().find(|(_, (body, _))| body.trim() == anchor.trim()));
        match found {
            Some((index, _)) => Ok(index + 1),
            None => Err(self.error(&format!(
                "no line after line {} is `{anchor}`, which its @@ names",
                self.from
            ))),
        }
    }

    fn insertion(&self, from: usize) -> Result<usize, CoreError> {
        match &self.hunk.at {
            At::After(_) if !self.hunk.at_end => Ok(from),
            At::Line(line)
                if line.saturating_sub(1) < from || line.saturating_sub(1) > self.lines.len() =>
            {
                Err(self.error(&format!(
                    "line {line} is not in the rest of the file, which has {} lines",
                    self.lines.len()
                )))
            }
            At::Line(line) => Ok(line.saturating_sub(1)),
            At::After(_) | At::Next => Ok(self.lines.len()),
        }
    }

    fn no_match(&self, old: &[&str]) -> CoreError {
        let shown: Vec<String> = old
            .iter()
            .take(EXCERPT_LINES)
            .map(|line| format!("  {line}"))
            .collect();
        let more = if old.len() > EXCERPT_LINES {
            "\n  …"
        } else {
            ""
        };
        let text: String = self.lines[self.from..]
            .iter()
            .flat_map(|(body, _)| [*body, "\n"])
            .collect();
        let hint = super::super::edit::nearest(&text, &old.join("\n"));
        let after = if self.from == 0 {
            String::new()
        } else {
            format!(" after line {}, where the hunk before it ends", self.from)
        };
        let hint = if self.from == 0 { hint } else { String::new() };
        self.error(&format!(
            "its context and removed lines are not in the file{after}{hint}. They are:\n{}{more}",
            shown.join("\n")
        ))
    }

    fn error(&self, what: &str) -> CoreError {
        CoreError::Patch(format!(
            "hunk {} of {} for `{}` (line {} of the patch) does not fit: {what}\nNothing was changed",
            self.number, self.count, self.path, self.hunk.patch_line
        ))
    }
}

#[cfg(test)]
mod tests {
    use super::super::parse::{Action, parse};
    use super::*;

    fn patched(text: &str, patch: &str) -> Result<String, String> {
        let files = parse(patch).map_err(|e| e.to_string())?;
        let Action::Update { hunks, .. } = &files[0].action else {
            return Err("not an update".to_owned());
        };
        apply(&files[0].path, text, hunks).map_err(|e| e.to_string())
    }

    #[test]
    fn a_unified_hunk_goes_to_its_line_among_equals() {
        let text = "x\na\nx\na\nx\n";
        let patch = "--- f\n+++ f\n@@ -4,1 +4,1 @@\n-a\n+b\n";
        assert_eq!(patched(text, patch).unwrap(), "x\na\nx\nb\nx\n");
    }

    #[test]
    fn a_hunk_without_a_line_is_refused_among_equals() {
        let patch = "*** Begin Patch\n*** Update File: f\n@@\n-a\n+b\n*** End Patch";
        assert!(
            patched("a\na\n", patch)
                .unwrap_err()
                .contains("2 times (at lines 1 and 2)")
        );
        assert_eq!(patched("c\na\n", patch).unwrap(), "c\nb\n");
    }

    #[test]
    fn an_anchor_chooses_among_equals() {
        let patch = "*** Begin Patch\n*** Update File: f\n@@ fn two() {\n-  a\n+  b\n*** End Patch";
        let text = "fn one() {\n  a\n}\nfn two() {\n  a\n}\n";
        assert_eq!(
            patched(text, patch).unwrap(),
            "fn one() {\n  a\n}\nfn two() {\n  b\n}\n"
        );
    }

    #[test]
    fn line_ends_and_the_missing_last_one_are_kept() {
        let patch = "--- f\n+++ f\n@@ -1,2 +1,2 @@\n a\n-b\n+c\n";
        assert_eq!(patched("a\r\nb\r\nd", patch).unwrap(), "a\r\nc\r\nd");
        let patch = "--- f\n+++ f\n@@ -1 +1 @@\n-b\n\\ No newline at end of file\n+c\n\\ No newline at end of file\n";
        assert_eq!(patched("b", patch).unwrap(), "c");
    }

    #[test]
    fn insertions_go_after_the_named_line_or_to_the_end() {
        assert_eq!(
            patched("a\nb\n", "--- f\n+++ f\n@@ -1,0 +2,1 @@\n+n\n").unwrap(),
            "a\nn\nb\n"
        );
        let patch = "*** Begin Patch\n*** Update File: f\n@@\n+n\n*** End Patch";
        assert_eq!(patched("a", patch).unwrap(), "a\nn\n");
        assert_eq!(
            patched("", "--- f\n+++ f\n@@ -0,0 +1,1 @@\n+n\n").unwrap(),
            "n\n"
        );
    }

    #[test]
    fn removed_lines_that_look_like_headers_stay_lines() {
        let patch = "--- f\n+++ f\n@@ -1,2 +1,1 @@\n--- x\n+++ y\n-b\n";
        assert_eq!(patched("-- x\nb\n", patch).unwrap(), "++ y\n");
    }

    #[test]
    fn a_hunk_that_does_not_fit_shows_its_lines_and_the_nearest() {
        let error = patched(
            "let alpha = 1;\n",
            "--- f\n+++ f\n@@ -1 +1 @@\n-let alpha = 2;\n+x\n",
        )
        .unwrap_err();
        assert_eq!(
            error,
            "hunk 1 of 1 for `f` (line 3 of the patch) does not fit: its context and removed lines are not in the file; \
             the nearest line is 1: \"let alpha = 1;\". They are:\n  let alpha = 2;\nNothing was changed"
        );
    }
}
