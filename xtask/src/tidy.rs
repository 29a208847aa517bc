//! The gates that no lint holds: the graph, the number of packages, what a committed text may not say.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::graph;

/// Most packages that the lock file may name, development and other platforms included.
const MAX_LOCKED_PACKAGES: usize = 480;

/// Most lines of a source file; a longer one is a table or wants to be two.
const MAX_SOURCE_LINES: usize = 800;

/// Crates that may contain unsafe code.
const UNSAFE_ROOMS: &[&str] = &["crates/sandbox"];

/// Checks the repository below `root`.
///
/// # Errors
///
/// The first gate that does not hold, with every offender.
pub(crate) fn check(root: &Path) -> Result<()> {
    graph::check(root)?;
    packages(root)?;
    let files = tracked(root)?;
    offenders("source files that are too long", &files, |path, text| {
        is_rust(path) && text.lines().count() > MAX_SOURCE_LINES
    })?;
    offenders(
        "crate roots without `#![forbid(unsafe_code)]`",
        &files,
        |path, text| is_crate_root(path) && !text.contains("#![forbid(unsafe_code)]"),
    )?;
    offenders(
        "modules without a `//!` that says what they are for",
        &files,
        |path, text| is_rust(path) && is_module(path) && !text.trim_start().starts_with("//!"),
    )?;
    let here = own_paths(root)?;
    offenders("paths of this machine", &files, |_, text| {
        here.iter().any(|path| text.contains(path))
    })
}

/// The checkout's folder and the home folder, each with a slash behind it: what a careless commit names.
fn own_paths(root: &Path) -> Result<Vec<String>> {
    let checkout = root.canonicalize().context("the checkout's folder")?;
    let home = std::env::var_os("HOME").map(PathBuf::from);
    let paths = [Some(checkout), home].into_iter().flatten();
    Ok(paths
        .filter(|path| path.components().count() > 1)
        .map(|path| format!("{}/", path.display()))
        .collect())
}

fn packages(root: &Path) -> Result<()> {
    let lock = std::fs::read_to_string(root.join("Cargo.lock")).context("Cargo.lock")?;
    let count = lock.lines().filter(|line| *line == "[[package]]").count();
    if count > MAX_LOCKED_PACKAGES {
        bail!(
            "Cargo.lock names {count} packages, more than {MAX_LOCKED_PACKAGES}: what does the newest one save?"
        );
    }
    Ok(())
}

fn tracked(root: &Path) -> Result<Vec<(PathBuf, String)>> {
    let output = Command::new("git")
        .args(["ls-files", "-z"])
        .current_dir(root)
        .output()
        .context("git ls-files")?;
    let names = String::from_utf8(output.stdout).context("a file name is not UTF-8")?;
    let read = |name: &str| {
        Some((
            PathBuf::from(name),
            std::fs::read_to_string(root.join(name)).ok()?,
        ))
    };
    Ok(names
        .split('\0')
        .filter(|name| !name.is_empty())
        .filter_map(read)
        .collect())
}

fn offenders(
    what: &str,
    files: &[(PathBuf, String)],
    bad: impl Fn(&Path, &str) -> bool,
) -> Result<()> {
    let names: Vec<_> = files
        .iter()
        .filter(|(path, text)| bad(path, text))
        .map(|(path, _)| path.display().to_string())
        .collect();
    if !names.is_empty() {
        bail!("{what}:\n  {}", names.join("\n  "));
    }
    Ok(())
}

fn is_rust(path: &Path) -> bool {
    path.extension().is_some_and(|extension| extension == "rs")
}

fn is_module(path: &Path) -> bool {
    path.components().any(|part| part.as_os_str() == "src")
}

fn is_crate_root(path: &Path) -> bool {
    let root = path.ends_with("src/lib.rs") || path.ends_with("src/main.rs");
    root && path.starts_with("crates") && !UNSAFE_ROOMS.iter().any(|room| path.starts_with(room))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_house_is_tidy() {
        check(Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/.."))).unwrap();
    }
}
