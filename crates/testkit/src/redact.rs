//! What differs from run to run, taken out of texts before they are compared.

use std::path::Path;

/// Replaces the ids of cells, given folders, and amounts of time and memory by names.
#[derive(Debug, Default)]
pub struct Redactor {
    replacements: Vec<(String, String)>,
}

impl Redactor {
    /// Replaces the path of `folder` by `name`, its canonical form too.
    #[must_use]
    pub fn folder(mut self, folder: &Path, name: &str) -> Self {
        let canonical = folder.canonicalize();
        for path in canonical.iter().map(AsRef::as_ref).chain([folder]) {
            self.replacements
                .push((path.display().to_string(), name.to_owned()));
        }
        // Longer paths first: a folder must not be named by the one around it.
        self.replacements
            .sort_by_key(|(path, _)| std::cmp::Reverse(path.len()));
        self
    }

    /// The text without what differs.
    #[must_use]
    pub fn redact(&self, text: &str) -> String {
        let mut text = text.to_owned();
        for (path, name) in &self.replacements {
            text = text.replace(path, name);
        }
        redact_measures(&redact_ids(&text))
    }
}

/// Every `cm_<uuid>` as `cm_ID`.
fn redact_ids(text: &str) -> String {
    const UUID_CHARS: usize = 36;
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find("cm_") {
        let (before, after) = (&rest[..at], &rest[at + 3..]);
        let is_id = after.len() >= UUID_CHARS
            && after
                .bytes()
                .take(UUID_CHARS)
                .all(|b| b.is_ascii_hexdigit() || b == b'-');
        out.push_str(before);
        out.push_str(if is_id { "cm_ID" } else { "cm_" });
        rest = if is_id { &after[UUID_CHARS..] } else { after };
    }
    out + rest
}

/// Fields of telemetry whose values are measured.
const MEASURED: &[&str] = &[
    "guestMs",
    "hostMs",
    "suspendMs",
    "resumeMs",
    "elapsedMs",
    "durationMs",
    "snapshotBytes",
    "storedBytes",
    "peakMemoryBytes",
];

/// The numbers of measured fields as `0`.
fn redact_measures(text: &str) -> String {
    let mut out = text.to_owned();
    for field in MEASURED {
        let key = format!("\"{field}\":");
        let mut done = String::with_capacity(out.len());
        let mut rest = out.as_str();
        while let Some(at) = rest.find(&key) {
            let after = &rest[at + key.len()..];
            let space = after.len() - after.trim_start().len();
            let number = after[space..]
                .find(|c: char| !(c.is_ascii_digit() || matches!(c, '.' | 'e' | '-' | '+')))
                .unwrap_or(after.len() - space);
            done.push_str(&rest[..at + key.len() + space]);
            done.push('0');
            rest = &after[space + number..];
        }
        out = done + rest;
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_is_named() {
        let redactor = Redactor::default()
            .folder(Path::new("/tmp/x"), "[X]")
            .folder(Path::new("/tmp/x/y"), "[Y]");
        let text = "/tmp/x/y/z /tmp/x cm_01234567-89ab-4def-8123-456789abcdef cm_no {\"guestMs\":1.25e-3,\"callCount\":2,\"peakMemoryBytes\": 77}";
        assert_eq!(
            redactor.redact(text),
            "[Y]/z [X] cm_ID cm_no {\"guestMs\":0,\"callCount\":2,\"peakMemoryBytes\": 0}"
        );
    }
}
