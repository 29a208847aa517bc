//! The `guest` task: build, write, compare.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};

use crate::build::{self, Tools};
use crate::image;
use crate::lock::{self, Lock};

/// The committed image, from the repository's root.
pub(crate) const IMAGE: &str = "crates/sandbox/guest.wasm";
/// Its lock file.
const LOCK: &str = "crates/sandbox/guest.lock";

/// The repository's root.
pub(crate) fn root() -> Result<PathBuf> {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    Ok(here
        .parent()
        .context("xtask has no parent folder")?
        .to_owned())
}

fn build_image(root: &Path, target_dir: &Path, tools: &Tools) -> Result<Vec<u8>> {
    let module = build::compile(root, target_dir, tools)?;
    let bytes =
        std::fs::read(&module).with_context(|| format!("cannot read {}", module.display()))?;
    image::make(&bytes)
}

/// Builds the guest and writes image and lock file.
pub(crate) fn write() -> Result<()> {
    let root = root()?;
    let tools = Tools::find()?;
    let target_dir = std::env::var_os("CODECELL_GUEST_TARGET")
        .map_or_else(|| root.join("guest/target"), PathBuf::from);
    let image = build_image(&root, &target_dir, &tools)?;
    let lock = Lock::describe(&root, &tools, &image)?;
    std::fs::write(root.join(IMAGE), &image)?;
    std::fs::write(root.join(LOCK), lock.text()?)?;
    println!("{IMAGE}: {} bytes, blake3 {}", image.len(), lock.output);
    Ok(())
}

/// Compares the committed image with its lock file, the inputs with the lock file, and a fresh build with both.
pub(crate) fn check() -> Result<()> {
    let root = root()?;
    let committed = Lock::read(&root.join(LOCK))?;
    let image = std::fs::read(root.join(IMAGE)).with_context(|| format!("cannot read {IMAGE}"))?;
    if lock::hash(&image) != committed.output {
        bail!("{IMAGE} is not the file that {LOCK} describes; run `cargo xtask guest`");
    }
    image::check(&image)?;
    println!("{IMAGE} is the file that {LOCK} describes, and keeps its invariants");
    let tools = Tools::find()?;
    let changed = committed.changed_inputs(&Lock::describe(&root, &tools, &image)?);
    if !changed.is_empty() {
        bail!(
            "inputs changed since the guest was built: {}; run `cargo xtask guest`",
            changed.join(", ")
        );
    }
    println!("its inputs are unchanged");
    if tools.clang_version != committed.clang || tools.rustc_version != committed.rustc {
        println!(
            "not compared: the bytes of a fresh build, because they depend on the compilers.\n  here:      {} and {}\n  lock file: {} and {}",
            tools.rustc_version, tools.clang_version, committed.rustc, committed.clang
        );
        return Ok(());
    }
    compare_build(&root, &tools, &committed)
}

fn compare_build(root: &Path, tools: &Tools, committed: &Lock) -> Result<()> {
    let folder = std::env::temp_dir().join(format!("codecell-guest-check-{}", std::process::id()));
    let built = build_image(root, &folder, tools);
    let _ = std::fs::remove_dir_all(&folder);
    let hash = lock::hash(&built?);
    if hash != committed.output {
        bail!(
            "a fresh build gives {hash}, the lock file says {}",
            committed.output
        );
    }
    println!("a fresh build in another folder gives the same bytes");
    Ok(())
}
