//! The lock file of the guest: every input, every tool and the output, by version and hash.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::{Deserialize, Serialize};

use crate::build::{self, Tools};

/// Version of this file's layout.
const VERSION: u32 = 1;

/// What the committed image was made of.
#[derive(Debug, Serialize, Deserialize, PartialEq, Eq)]
#[serde(deny_unknown_fields)]
pub(crate) struct Lock {
    /// Layout of this file.
    version: u32,
    /// BLAKE3 of `guest.wasm`.
    pub(crate) output: String,
    /// Its length in bytes.
    pub(crate) output_bytes: u64,
    /// `rustc --version`.
    pub(crate) rustc: String,
    /// First line of `clang --version`.
    pub(crate) clang: String,
    /// Target and flags.
    flags: String,
    /// BLAKE3 of each source file, by path from the repository's root.
    pub(crate) sources: BTreeMap<String, String>,
    /// Crates and their checksums, from the guest's own `Cargo.lock` and the workspace's for pre-initialisation.
    crates: BTreeMap<String, String>,
}

impl Lock {
    /// Describes `image` as made from the files below `root` by `tools`.
    pub(crate) fn describe(root: &Path, tools: &Tools, image: &[u8]) -> Result<Self> {
        Ok(Self {
            version: VERSION,
            output: hash(image),
            output_bytes: image.len() as u64,
            rustc: tools.rustc_version.clone(),
            clang: tools.clang_version.clone(),
            flags: format!("{}: {}", build::TARGET, build::flags_text()),
            sources: sources(root)?,
            crates: crates(root)?,
        })
    }

    /// Reads the committed file.
    pub(crate) fn read(path: &Path) -> Result<Self> {
        let text = std::fs::read_to_string(path)
            .with_context(|| format!("cannot read {}", path.display()))?;
        serde_json::from_str(&text)
            .with_context(|| format!("{} is not a lock file", path.display()))
    }

    /// The file's text.
    pub(crate) fn text(&self) -> Result<String> {
        Ok(serde_json::to_string_pretty(self)? + "\n")
    }

    /// The inputs that differ from `other`, one line each.
    pub(crate) fn changed_inputs(&self, other: &Self) -> Vec<String> {
        let mut changed = Vec::new();
        if self.flags != other.flags {
            changed.push("the flags".to_owned());
        }
        for (mine, theirs) in [
            (&self.sources, &other.sources),
            (&self.crates, &other.crates),
        ] {
            let names: std::collections::BTreeSet<_> = mine.keys().chain(theirs.keys()).collect();
            changed.extend(
                names
                    .into_iter()
                    .filter(|name| mine.get(*name) != theirs.get(*name))
                    .cloned(),
            );
        }
        changed
    }
}

/// BLAKE3 in hex.
pub(crate) fn hash(bytes: &[u8]) -> String {
    blake3::hash(bytes).to_hex().to_string()
}

fn sources(root: &Path) -> Result<BTreeMap<String, String>> {
    let mut files = vec![
        PathBuf::from("guest/Cargo.toml"),
        PathBuf::from("guest/Cargo.lock"),
        PathBuf::from("crates/sandbox/src/abi.rs"),
        PathBuf::from("rust-toolchain.toml"),
    ];
    for folder in ["guest/src", "guest/c"] {
        collect(root, Path::new(folder), &mut files)?;
    }
    let mut hashes = BTreeMap::new();
    for file in files {
        let bytes = std::fs::read(root.join(&file))
            .with_context(|| format!("cannot read {}", file.display()))?;
        hashes.insert(file.to_string_lossy().replace('\\', "/"), hash(&bytes));
    }
    Ok(hashes)
}

fn collect(root: &Path, folder: &Path, files: &mut Vec<PathBuf>) -> Result<()> {
    for entry in std::fs::read_dir(root.join(folder))? {
        let entry = entry?;
        let path = folder.join(entry.file_name());
        if entry.file_type()?.is_dir() {
            collect(root, &path, files)?;
        } else {
            files.push(path);
        }
    }
    Ok(())
}

/// `name version` to checksum, for the guest's crates and the pre-initialiser.
fn crates(root: &Path) -> Result<BTreeMap<String, String>> {
    let mut found = BTreeMap::new();
    let guest = std::fs::read_to_string(root.join("guest/Cargo.lock"))?;
    found.extend(packages(&guest));
    let host = std::fs::read_to_string(root.join("Cargo.lock"))?;
    found.extend(
        packages(&host)
            .into_iter()
            .filter(|(name, _)| name.starts_with("wasmtime-wizer ")),
    );
    Ok(found)
}

/// Reads the packages with a checksum out of a `Cargo.lock`.
fn packages(text: &str) -> Vec<(String, String)> {
    let value = |block: &str, key: &str| {
        let line = block
            .lines()
            .find_map(|line| line.strip_prefix(key)?.strip_prefix(" = "))?;
        Some(line.trim_matches('"').to_owned())
    };
    text.split("[[package]]")
        .filter_map(|block| {
            let name = format!("{} {}", value(block, "name")?, value(block, "version")?);
            Some((name, value(block, "checksum")?))
        })
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_without_a_checksum_are_our_own_and_left_out() {
        let text = "version = 4\n\n[[package]]\nname = \"a\"\nversion = \"1.0.0\"\nchecksum = \"ff\"\n\n\
                    [[package]]\nname = \"ours\"\nversion = \"0.1.0\"\n";
        assert_eq!(packages(text), [("a 1.0.0".to_owned(), "ff".to_owned())]);
    }
}
