//! The notices of what is linked into `codecell`: every package with its licence, every licence
//! text once.

use std::collections::{BTreeMap, BTreeSet};
use std::fmt::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::Value;

const PAGE: &str = "NOTICES.md";
/// What the word vectors were made from, which no package manager knows.
const VECTORS: &str = "crates/catalog/vectors/NOTICE";
const PLATFORM: &str = "x86_64-unknown-linux-gnu";

/// Writes `NOTICES.md`, or with `check` compares it with what it should be.
///
/// # Errors
///
/// When cargo cannot describe the packages, or the page is out of date.
pub(crate) fn run(root: &Path, check: bool) -> Result<()> {
    let page = render(root)?;
    let path = root.join(PAGE);
    if !check {
        return std::fs::write(path, page).context(PAGE);
    }
    if std::fs::read_to_string(path).unwrap_or_default() != page {
        bail!("{PAGE} is out of date: run `cargo xtask notices`");
    }
    Ok(())
}

fn render(root: &Path) -> Result<String> {
    let mut page = String::from(
        "# Notices\n\ncodecell is licensed under MIT or Apache-2.0, at your choice. Its binary links the packages below,\n\
         and the guest inside it links quickjs-ng. Made by `cargo xtask notices`.\n\n| package | version | licence |\n|---|---|---|\n",
    );
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut packages = linked(root, "Cargo.toml", "codecell-cli")?;
    packages.extend(linked(root, "guest/Cargo.toml", "codecell-guest")?);
    packages.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    packages.dedup_by(|a, b| a.name == b.name && a.version == b.version);
    for package in &packages {
        writeln!(
            page,
            "| {} | {} | {} |",
            package.name, package.version, package.licence
        )?;
        for text in &package.texts {
            texts
                .entry(text.clone())
                .or_default()
                .insert(package.name.clone());
        }
    }
    let vectors = std::fs::read_to_string(root.join(VECTORS)).context(VECTORS)?;
    texts
        .entry(vectors.trim().to_owned())
        .or_default()
        .insert("the word vectors of codecell-catalog".to_owned());
    for (text, users) in texts {
        let users: Vec<_> = users.into_iter().collect();
        write!(
            page,
            "\n## {}\n\n```text\n{}\n```\n",
            users.join(", "),
            text.replace("```", "'''")
        )?;
    }
    Ok(page)
}

struct Package {
    name: String,
    version: String,
    licence: String,
    texts: Vec<String>,
}

fn linked(root: &Path, manifest: &str, package: &str) -> Result<Vec<Package>> {
    let tree = cargo(
        root,
        &[
            "tree",
            "--manifest-path",
            manifest,
            "--package",
            package,
            "--edges",
            "normal,no-proc-macro",
            "--target",
            PLATFORM,
            "--prefix",
            "none",
            "--format",
            "{p}",
            "--locked",
        ],
    )?;
    let wanted: BTreeSet<(String, String)> = tree.lines().filter_map(name_and_version).collect();
    let metadata = cargo(
        root,
        &[
            "metadata",
            "--manifest-path",
            manifest,
            "--format-version",
            "1",
            "--locked",
        ],
    )?;
    let metadata: Value =
        serde_json::from_str(&metadata).context("cargo metadata printed no JSON")?;
    let packages = metadata["packages"].as_array().context("no packages")?;
    let outside = packages
        .iter()
        .filter(|package| package["source"].is_string());
    Ok(outside
        .filter_map(|package| describe(package, &wanted))
        .collect())
}

fn cargo(root: &Path, arguments: &[&str]) -> Result<String> {
    let output = Command::new(env!("CARGO"))
        .args(arguments)
        .current_dir(root)
        .output()
        .context("cargo")?;
    if !output.status.success() {
        bail!(
            "cargo {}: {}",
            arguments.join(" "),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    String::from_utf8(output.stdout).context("cargo printed no UTF-8")
}

fn name_and_version(line: &str) -> Option<(String, String)> {
    let mut words = line.split_whitespace();
    Some((
        words.next()?.to_owned(),
        words.next()?.trim_start_matches('v').to_owned(),
    ))
}

fn describe(package: &Value, wanted: &BTreeSet<(String, String)>) -> Option<Package> {
    let name = package["name"].as_str()?.to_owned();
    let version = package["version"].as_str()?.to_owned();
    if !wanted.contains(&(name.clone(), version.clone())) {
        return None;
    }
    let folder = Path::new(package["manifest_path"].as_str()?).parent()?;
    let licence = package["license"]
        .as_str()
        .unwrap_or("see its licence file")
        .to_owned();
    Some(Package {
        name,
        version,
        licence,
        texts: licence_texts(folder),
    })
}

/// The texts of a package's folder and of the folders directly in it, where bundled sources keep theirs.
fn licence_texts(folder: &Path) -> Vec<String> {
    let mut paths = entries(folder);
    let inner: Vec<_> = paths
        .iter()
        .filter(|path| path.is_dir())
        .flat_map(|path| entries(path))
        .collect();
    paths.extend(inner);
    paths.sort();
    let texts = paths
        .iter()
        .filter(|path| is_licence(path))
        .filter_map(|path| std::fs::read_to_string(path).ok());
    texts
        .map(|text| {
            text.lines()
                .map(str::trim_end)
                .collect::<Vec<_>>()
                .join("\n")
                .trim()
                .to_owned()
        })
        .collect()
}

fn entries(folder: &Path) -> Vec<PathBuf> {
    std::fs::read_dir(folder)
        .into_iter()
        .flatten()
        .flatten()
        .map(|entry| entry.path())
        .collect()
}

/// The Apache licence's text is the same for all and stands in LICENSE-APACHE.
fn is_licence(path: &Path) -> bool {
    let name = path
        .file_name()
        .and_then(|name| name.to_str())
        .unwrap_or_default()
        .to_ascii_lowercase();
    let licence = ["license", "licence", "copying", "notice", "copyright"]
        .iter()
        .any(|word| name.starts_with(word));
    licence && !name.contains("apache") && path.is_file()
}
