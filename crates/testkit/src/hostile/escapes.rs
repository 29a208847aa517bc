//! Sandbox attacks that others collected, most written against other engines.
//!
//! They are not part of a clone, see [`crate::data`]. What each comes to here is recorded; none may
//! reach anything: the oracle is that of all hostile programs, and the tools' books must be empty.

use std::path::Path;

use codecell_codemode::CodeModeOptions;
use serde::Deserialize;

use super::house::{text_of, waiting_id};
use super::judge;
use super::report::Verdict;
use super::run::Scene;

/// One program of the collection.
#[derive(Clone, Debug, Deserialize)]
pub struct Escape {
    file: String,
    line: u64,
    code: String,
    #[serde(default)]
    source: String,
}

impl Escape {
    /// Its name in the record of verdicts.
    #[must_use]
    pub fn id(&self, index: usize) -> String {
        format!("{index:03} {} {}:{}", self.source, self.file, self.line)
    }
}

/// Reads the collection.
///
/// # Errors
/// In words, when it cannot be read.
pub fn load(file: &Path) -> Result<Vec<Escape>, String> {
    let text = std::fs::read_to_string(file).map_err(|error| error.to_string())?;
    let lines = text.lines().filter(|line| !line.is_empty());
    lines
        .map(|line| serde_json::from_str(line).map_err(|error| error.to_string()))
        .collect()
}

/// Runs one.
pub async fn verdict(scene: &Scene, index: usize, escape: &Escape) -> Verdict {
    let started = std::time::Instant::now();
    let mut verdict = Verdict {
        id: escape.id(index),
        end: String::new(),
        faults: Vec::new(),
        wall_ms: 0.0,
        overrun_ms: 0.0,
    };
    if let Err(fault) = life(scene, escape, &mut verdict).await {
        verdict.faults.push(fault);
    }
    verdict.wall_ms = started.elapsed().as_secs_f64() * 1000.0;
    verdict
}

/// How often a waiting program is waited for, a second each: longer than any of their timers, so that no end
/// depends on the machine's load.
const WAITS: usize = 8;

async fn life(scene: &Scene, escape: &Escape, verdict: &mut Verdict) -> Result<(), String> {
    let visit = scene.house.visit(CodeModeOptions {
        timeout_ms: 1000,
        ..CodeModeOptions::default()
    })?;
    let mut outcome = visit.exec(&escape.code).await;
    for _ in 0..WAITS {
        let Some(cell) = waiting_id(&outcome) else {
            break;
        };
        outcome = visit.wait(&cell).await;
    }
    let text = text_of(&outcome);
    judge::word(&outcome).clone_into(&mut verdict.end);
    let faults = &mut verdict.faults;
    faults.extend(judge::ledger(&outcome, visit.books.counts()).err());
    if judge::is_our_fault(&outcome) {
        faults.push(format!(
            "the host takes the blame: {}",
            judge::shown(&outcome)
        ));
    }
    if visit.books.counts().begun_writes > 0 {
        faults.push("a tool was called".to_owned());
    }
    let heard = visit.books.heard();
    let here = std::env::current_dir().map_err(|error| error.to_string())?;
    let here = here.display().to_string();
    if [&text, &heard]
        .iter()
        .any(|said| scene.canaries.seen_in(said) || said.contains(&here))
    {
        faults.push("a canary was seen".to_owned());
    }
    // The next cell finds nothing that this one left: neither in its globals nor in its prototypes.
    let untouched = visit
        .exec(
            "return [Object.getOwnPropertyNames(globalThis).length, Object.keys(Object.prototype).length,
              typeof process, typeof require, typeof Buffer, typeof pwned, typeof PWNED]",
        )
        .await;
    let clean = ",0,\"undefined\",\"undefined\",\"undefined\",\"undefined\",\"undefined\"]";
    if !text_of(&untouched).contains(clean) {
        faults.push(format!("it left something: {}", judge::shown(&untouched)));
    }
    visit.end();
    faults.extend(scene.house.is_empty_but_for(1, 1).await.err());
    Ok(())
}
