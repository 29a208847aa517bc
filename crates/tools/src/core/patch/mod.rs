//! `apply_patch`: a patch over many files, all of it or nothing.
//!
//! Everything is read, matched and written to temporary files before the first file is put in place; if putting one in place
//! fails, those before it are taken back. Two forms are understood (`parse.rs`), both end as the
//! same list of changes, and both must match exactly (`fit.rs`).

mod fit;
mod parse;
mod unified;

use std::collections::HashSet;
use std::path::PathBuf;
use std::sync::Arc;

use rustix::fs::Mode;
use serde::Deserialize;
use serde_json::{Value, json};

use super::adapt::{Files, define, require_git_named, write_needs};
use super::error::CoreError;
use super::file_tool::{FileTool, FileWork};
use super::stop::Stop;
use super::workspace::{Change, Expect, Place, Resolved, commit_all, shown};
use super::write::check_size;
use crate::{ApprovalNeed, Tool, ToolDefinition, ToolError, ToolOutput};
use parse::{Action, FilePatch, parse};

/// The files that a patch names; for tests of the parser.
///
/// # Errors
/// What the tool would say of a patch that cannot be understood.
#[doc(hidden)]
pub fn patch_paths(text: &str) -> Result<Vec<String>, String> {
    let files = parse(text).map_err(|error| error.to_string())?;
    let paths = files.iter().flat_map(FilePatch::paths);
    Ok(paths.map(str::to_owned).collect())
}

#[derive(Deserialize)]
struct Args {
    patch: String,
}

/// The tool.
pub(crate) fn tool(files: Arc<Files>) -> Result<Arc<dyn Tool>, CoreError> {
    let description = "Apply a patch to text files: a unified diff (also git's), or the form with *** Begin Patch, *** Add File: p, \
        *** Update File: p (with *** Move to: q), *** Delete File: p, @@ and lines that begin with space, - or +, *** End Patch. \
        Context must match exactly; everything is applied or nothing.";
    let definition = define("apply_patch", description, parameters())?.with_output(output());
    Ok(FileTool::<Args>::shared(definition, files))
}

fn parameters() -> Value {
    json!({
        "type": "object",
        "properties": {"patch": {"type": "string", "minLength": 1, "description": "The whole patch; paths relative to the workspace"}},
        "required": ["patch"],
        "additionalProperties": false
    })
}

fn output() -> Value {
    json!({
        "type": "object",
        "properties": {"files": {"type": "array", "items": {
            "type": "object",
            "properties": {
                "path": {"type": "string"},
                "action": {"type": "string", "enum": ["added", "updated", "deleted", "moved"]},
                "from": {"type": "string", "description": "The old path of a moved file"}
            },
            "required": ["path", "action"]
        }}},
        "required": ["files"]
    })
}

impl FileWork for Args {
    fn run(&self, files: &Files, stop: &Stop) -> Result<ToolOutput, CoreError> {
        apply(files, &self.patch, stop).map(ToolOutput::details)
    }

    fn needs(&self, definition: &ToolDefinition) -> Result<Vec<ApprovalNeed>, ToolError> {
        let patches = parse(&self.patch)?;
        let paths = patches.iter().flat_map(FilePatch::paths);
        let mut needs = write_needs(definition, paths);
        if let Some(patch) = patches.iter().find(|patch| patch.executable == Some(true)) {
            needs.push(ApprovalNeed {
                key: "executable".to_owned(),
                reason: format!("makes `{}` executable", patch.path),
                covers: "setting executable bits by apply_patch".to_owned(),
                asked_once: false,
            });
        }
        Ok(needs)
    }
}

fn apply(files: &Files, text: &str, stop: &Stop) -> Result<Value, CoreError> {
    check_size("patch", text.len(), files.limits.write_bytes)?;
    let patches = parse(text)?;
    let _turn = files.workspace.write_turn();
    let mut plan = Plan {
        files,
        stop,
        changes: Vec::new(),
        report: Vec::new(),
        named: HashSet::new(),
    };
    for patch in &patches {
        stop.check()?;
        plan.add(patch)?;
    }
    stop.check()?;
    commit_all(plan.changes)?;
    Ok(json!({"files": plan.report}))
}

struct Plan<'a> {
    files: &'a Files,
    stop: &'a Stop,
    changes: Vec<Change>,
    report: Vec<Value>,
    named: HashSet<PathBuf>,
}

impl Plan<'_> {
    fn add(&mut self, patch: &FilePatch) -> Result<(), CoreError> {
        match &patch.action {
            Action::Add(content) => self.create(patch, content),
            Action::Delete => self.delete(&patch.path),
            Action::Update { hunks, to } => self.update(patch, hunks, to.as_deref()),
        }
    }

    fn create(&mut self, patch: &FilePatch, content: &str) -> Result<(), CoreError> {
        let place = self.free(&patch.path)?;
        self.tell(&place, "added", None);
        let mode = (patch.executable == Some(true)).then(|| Mode::from_raw_mode(0o755));
        self.put(place, content, Expect::Nothing, mode)
    }

    fn delete(&mut self, path: &str) -> Result<(), CoreError> {
        let opened = self.files.workspace.open_file(path)?;
        self.claim(path, &opened.place)?;
        self.tell(&opened.place, "deleted", None);
        self.changes.push(Change::Remove(opened.place, opened.stat));
        Ok(())
    }

    fn update(
        &mut self,
        patch: &FilePatch,
        hunks: &[parse::Hunk],
        to: Option<&str>,
    ) -> Result<(), CoreError> {
        let old = self.files.workspace.read_text(
            &patch.path,
            self.files.limits.write_bytes,
            self.stop,
        )?;
        self.claim(&patch.path, &old.place)?;
        let new = fit::apply(&patch.path, &old.text, hunks)?;
        let mode = Some(changed_mode(
            Mode::from_raw_mode(old.stat.st_mode),
            patch.executable,
        ));
        match to {
            None => {
                self.tell(&old.place, "updated", None);
                self.put(old.place, &new, Expect::Same(old.stat), mode)
            }
            Some(to) => {
                let place = self.free(to)?;
                self.tell(&place, "moved", Some(&old.place));
                self.put(place, &new, Expect::Nothing, mode)?;
                self.changes.push(Change::Remove(old.place, old.stat));
                Ok(())
            }
        }
    }

    fn put(
        &mut self,
        place: Place,
        content: &str,
        expect: Expect,
        mode: Option<Mode>,
    ) -> Result<(), CoreError> {
        check_size(
            &shown(&place.path),
            content.len(),
            self.files.limits.write_bytes,
        )?;
        let staged = self
            .files
            .workspace
            .stage(place, content.as_bytes(), expect, mode)?;
        self.changes.push(Change::Put(staged));
        Ok(())
    }

    /// A name that nothing has.
    fn free(&mut self, path: &str) -> Result<Place, CoreError> {
        match self.files.workspace.resolve(path)? {
            Resolved::Missing(place) => {
                self.claim(path, &place)?;
                Ok(place)
            }
            _ => Err(CoreError::Exists {
                path: path.to_owned(),
                advice: "update it, or choose another name",
            }),
        }
    }

    /// Every real file may be named once in a patch.
    fn claim(&mut self, given: &str, place: &Place) -> Result<(), CoreError> {
        require_git_named(given, &place.path)?;
        if self.named.insert(place.path.clone()) {
            return Ok(());
        }
        Err(CoreError::Patch(format!(
            "the patch names `{given}` twice; put all its hunks under one header. Nothing was changed"
        )))
    }

    fn tell(&mut self, place: &Place, action: &str, from: Option<&Place>) {
        let mut line = json!({"path": shown(&place.path), "action": action});
        if let Some(from) = from {
            line["from"] = shown(&from.path).into();
        }
        self.report.push(line);
    }
}

/// Executable bits follow the read bits, as `chmod +x` with a mask does.
fn changed_mode(mode: Mode, executable: Option<bool>) -> Mode {
    let mode = mode & Mode::from_raw_mode(0o777);
    let bits = Mode::from_raw_mode(0o111);
    match executable {
        None => mode,
        Some(false) => mode & !bits,
        Some(true) => mode | Mode::from_raw_mode((mode.as_raw_mode() & 0o444) >> 2),
    }
}
