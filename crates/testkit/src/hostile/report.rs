//! What a run of a class says, as JSON between processes and as lines for people.

use std::collections::BTreeMap;
use std::io::Write as _;
use std::path::Path;

use serde::{Deserialize, Serialize};

use super::probe::Latency;
use crate::places::reports;

/// How one case went.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Verdict {
    /// `class/line/name`.
    pub id: String,
    /// How the cell ended.
    pub end: String,
    /// What was wrong; empty when the oracle is content.
    pub faults: Vec<String>,
    /// How long the case took, in milliseconds.
    pub wall_ms: f64,
    /// How far its slowest leg went beyond its timeout, in milliseconds.
    pub overrun_ms: f64,
}

/// How a class went, in a process of its own.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Report {
    /// The class, or the name of a data set.
    pub class: String,
    /// Each case.
    pub verdicts: Vec<Verdict>,
    /// Faults of the whole process, such as memory that did not come back.
    pub faults: Vec<String>,
    /// The bystander without an attack.
    pub alone: Latency,
    /// The bystander during the attacks.
    pub beside: Latency,
    /// Resident memory when the class began, in bytes.
    pub resident_before: u64,
    /// Resident memory when it had ended, in bytes.
    pub resident_after: u64,
    /// Instances that were stopped.
    pub killed: u64,
}

/// What a report comes to, given the failures that are expected.
#[derive(Debug)]
pub struct Counts {
    /// The line to print.
    pub line: String,
    /// What nobody expected, failures and passes.
    pub surprises: Vec<String>,
}

/// The expected failures of a file: `id: reason` a line, `#` begins a remark.
///
/// # Errors
/// When the file cannot be read, or a line has no reason.
pub fn expected_failures(file: &Path) -> Result<BTreeMap<String, String>, String> {
    let text = std::fs::read_to_string(file).map_err(|e| format!("{}: {e}", file.display()))?;
    let lines = text
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'));
    let pair = |line: &str| {
        let (id, reason) = line.split_once(": ").ok_or(format!("no reason: {line}"))?;
        Ok((id.to_owned(), reason.to_owned()))
    };
    lines.map(pair).collect()
}

impl Report {
    /// Compares the report with what is expected to fail.
    #[must_use]
    pub fn against(&self, expected: &BTreeMap<String, String>) -> Counts {
        let mut surprises = self.faults.clone();
        let mut failed = 0;
        let mut foreseen = 0;
        for verdict in &self.verdicts {
            let is_expected = expected.contains_key(&verdict.id);
            foreseen += usize::from(is_expected);
            failed += usize::from(!verdict.faults.is_empty());
            match (verdict.faults.is_empty(), is_expected) {
                (false, false) => {
                    surprises.push(format!("{}: {}", verdict.id, verdict.faults.join("; ")));
                }
                (true, true) => surprises.push(format!("{}: passes now", verdict.id)),
                _ => {}
            }
        }
        let overruns = self.verdicts.iter().map(|verdict| verdict.overrun_ms);
        let line = format!(
            "hostile {}: ran {}, failed {failed}, expected {foreseen}; {} instances stopped; \
             bystander p99 {:.1} ms alone, {:.1} ms beside; longest overrun {:.1} ms; resident {} MiB before, {} MiB after",
            self.class,
            self.verdicts.len(),
            self.killed,
            self.alone.p99_ms,
            self.beside.p99_ms,
            overruns.fold(0.0, f64::max),
            self.resident_before >> 20,
            self.resident_after >> 20,
        );
        Counts { line, surprises }
    }
}

/// Keeps a line of counts for the end of a run of all tests, under this name.
///
/// # Errors
/// When the build folder cannot be written to.
pub fn keep(name: &str, line: &str) -> std::io::Result<()> {
    let folder = reports();
    std::fs::create_dir_all(&folder)?;
    let mut file = std::fs::File::create(folder.join(format!("{name}.txt")))?;
    writeln!(file, "{line}")
}
