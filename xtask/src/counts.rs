//! Instruction counts of the hot paths, compared with the committed ones: a gate that no load of the
//! machine disturbs, where a clock would be.
//!
//! `codecell-counts` runs a path under callgrind once and some times more; the difference divided by the
//! further times is what one costs. What runs in the guest is counted by the WebAssembly runtime
//! ([`guest_counts`]). The committed counts are in `bench/counts.json`. The gate fails above
//! [`MARGIN_PERCENT`], and asks for a commit of the better count below it. Counts of the host belong to a version
//! of the compiler and to the processor's extensions, so that a new compiler means new counts.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::guest_counts;

/// How far a count may be from the committed one. Seeds of hash tables and addresses move some paths by
/// about one percent.
const MARGIN_PERCENT: f64 = 3.0;

/// Runs beyond the first.
const FURTHER: u64 = 10;

/// The committed counts, from the root.
const FILE: &str = "bench/counts.json";

/// Instructions of one run of each path, or pages, by name.
type Counts = BTreeMap<String, u64>;

/// Counts, and compares with the committed counts or writes them.
///
/// # Errors
/// When a path costs more than its committed count and the margin, or a path has no committed count.
pub(crate) fn run(root: &Path, write: bool) -> Result<()> {
    let mut counts = Counts::from_iter(guest_counts::count_all()?);
    let has_valgrind = Command::new("valgrind").arg("--version").output().is_ok();
    if has_valgrind {
        counts.extend(count_all(&build(root)?)?);
    } else if write {
        bail!("the counts of the host need valgrind: apt-get install valgrind");
    } else {
        println!("the host's counts are skipped: there is no valgrind (apt-get install valgrind)");
    }
    let file = root.join(FILE);
    if write {
        let text = serde_json::to_string_pretty(&counts)? + "\n";
        return std::fs::write(&file, text).context(FILE);
    }
    let text = std::fs::read_to_string(&file).context(FILE)?;
    let mut committed: Counts = serde_json::from_str(&text).context(FILE)?;
    committed.retain(|name, _| has_valgrind || name.starts_with(guest_counts::PREFIX));
    judge(&counts, &committed)
}

fn judge(counts: &Counts, committed: &Counts) -> Result<()> {
    let mut worse = Vec::new();
    for (name, count) in counts {
        let Some(before) = committed.get(name) else {
            bail!("{name} has no committed count: cargo xtask counts --write");
        };
        let percent = (*count as f64 / *before as f64 - 1.0) * 100.0;
        println!("{name:<56} {count:>12} {percent:>+6.1} %");
        if percent > MARGIN_PERCENT {
            worse.push(format!("{name} costs {percent:.1} % more"));
        } else if percent < -MARGIN_PERCENT {
            println!("  better: commit it, with cargo xtask counts --write");
        }
    }
    if let Some(gone) = committed.keys().find(|name| !counts.contains_key(*name)) {
        bail!("{gone} has a committed count but is not measured: cargo xtask counts --write");
    }
    if !worse.is_empty() {
        bail!(
            "{}; mend it, or commit the new counts with a reason: cargo xtask counts --write",
            worse.join(", ")
        );
    }
    Ok(())
}

/// Builds the program that runs the paths: optimised, and without what needs the WebAssembly runtime.
fn build(root: &Path) -> Result<std::path::PathBuf> {
    let words =
        "build --quiet --release -p codecell-bench --bin codecell-counts --no-default-features";
    let status = Command::new(env!("CARGO"))
        .args(words.split(' '))
        .current_dir(root)
        .status()?;
    if !status.success() {
        bail!("codecell-counts does not build");
    }
    let target = std::env::var_os("CARGO_TARGET_DIR").unwrap_or_else(|| "target".into());
    Ok(root.join(target).join("release/codecell-counts"))
}

fn count_all(program: &Path) -> Result<Counts> {
    let listed = Command::new(program).arg("--list").output()?;
    let names = String::from_utf8(listed.stdout).context("a name is not UTF-8")?;
    names
        .lines()
        .map(|name| {
            let once = count(program, name, 1)?;
            let more = count(program, name, 1 + FURTHER)?;
            Ok((name.to_owned(), more.saturating_sub(once) / FURTHER))
        })
        .collect()
}

/// Instructions of the whole process when it runs the path so many times.
fn count(program: &Path, name: &str, times: u64) -> Result<u64> {
    let output = Command::new("valgrind")
        .args(["--tool=callgrind", "--callgrind-out-file=/dev/null"])
        .arg(program)
        .args([name, &times.to_string()])
        .output()
        .context("valgrind")?;
    let said = String::from_utf8_lossy(&output.stderr);
    if !output.status.success() {
        bail!("{name} fails: {said}");
    }
    said.lines()
        .find_map(|line| line.split_once("Collected :")?.1.trim().parse().ok())
        .with_context(|| format!("callgrind counted nothing: {said}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn counts(count: u64) -> Counts {
        Counts::from([("a path".to_owned(), count)])
    }

    #[test]
    fn more_than_the_margin_fails_and_less_does_not() {
        for (count, holds) in [(1029, true), (1031, false), (500, true)] {
            assert_eq!(
                judge(&counts(count), &counts(1000)).is_ok(),
                holds,
                "{count}"
            );
        }
    }

    #[test]
    fn the_committed_paths_are_those_that_are_measured() {
        assert!(judge(&counts(1), &Counts::new()).is_err());
        assert!(judge(&Counts::new(), &counts(1)).is_err());
    }
}
