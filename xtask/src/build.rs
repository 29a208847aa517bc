//! Compiling the guest: the tools that it needs, found or explained, and one reproducible call of cargo.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

/// The target that the guest is built for.
pub(crate) const TARGET: &str = "wasm32-unknown-unknown";

/// Flags of the C compiler; the header is added where its path is known.
const C_FLAGS: &str = "-DNDEBUG -mbulk-memory -mnontrapping-fptoint";

/// Flags of rustc: the same processor features, the stack first in memory and large, its pointer exported.
const RUST_FLAGS: &[&str] = &[
    "-Ctarget-feature=+bulk-memory,+nontrapping-fptoint",
    "-Clink-arg=--export=__stack_pointer",
    "-Clink-arg=-zstack-size=4194304",
    "-Clink-arg=--stack-first",
    "-Clink-arg=--strip-debug",
];

/// Names under which a C compiler and an archiver for the guest may be installed, newest first.
const CLANGS: &[&str] = &[
    "clang-19", "clang-18", "clang-17", "clang-16", "clang-14", "clang",
];
const ARCHIVERS: &[&str] = &[
    "llvm-ar-19",
    "llvm-ar-18",
    "llvm-ar-17",
    "llvm-ar-16",
    "llvm-ar-14",
    "llvm-ar",
];

/// The tools that build the guest.
pub(crate) struct Tools {
    clang: String,
    archiver: String,
    /// First line of `clang --version`.
    pub(crate) clang_version: String,
    /// `rustc --version`.
    pub(crate) rustc_version: String,
}

impl Tools {
    /// Finds them; `CODECELL_CLANG` and `CODECELL_LLVM_AR` override the search.
    pub(crate) fn find() -> Result<Self> {
        let clang = pick("CODECELL_CLANG", CLANGS).context(
            "no clang found: install Debian's clang-19 and llvm-19 (`apt-get install clang-19 llvm-19`), \
             or set CODECELL_CLANG",
        )?;
        let archiver = pick("CODECELL_LLVM_AR", ARCHIVERS)
            .context("no llvm-ar found: install Debian's llvm-19, or set CODECELL_LLVM_AR")?;
        add_target()?;
        Ok(Self {
            clang_version: first_line(&clang, "--version").context("clang does not run")?,
            rustc_version: first_line("rustc", "--version").context("rustc does not run")?,
            clang,
            archiver,
        })
    }
}

fn pick(variable: &str, names: &[&str]) -> Option<String> {
    if let Ok(chosen) = std::env::var(variable) {
        return Some(chosen);
    }
    let found = names
        .iter()
        .find(|name| first_line(name, "--version").is_some());
    found.map(|name| (*name).to_owned())
}

fn first_line(program: &str, argument: &str) -> Option<String> {
    let output = Command::new(program).arg(argument).output().ok()?;
    if !output.status.success() {
        return None;
    }
    let text = String::from_utf8_lossy(&output.stdout);
    text.lines().next().map(|line| line.trim().to_owned())
}

/// Adds the target to the toolchain when rustup says that it is missing.
fn add_target() -> Result<()> {
    let Ok(listed) = Command::new("rustup")
        .args(["target", "list", "--installed"])
        .output()
    else {
        return Ok(());
    };
    if String::from_utf8_lossy(&listed.stdout)
        .lines()
        .any(|line| line.trim() == TARGET)
    {
        return Ok(());
    }
    println!("adding the target {TARGET}");
    let status = Command::new("rustup")
        .args(["target", "add", TARGET])
        .status()?;
    if !status.success() {
        bail!("rustup could not add the target {TARGET}");
    }
    Ok(())
}

/// The flags, as the lock file names them.
pub(crate) fn flags_text() -> String {
    format!("{C_FLAGS} -include c/engine.h; {}", RUST_FLAGS.join(" "))
}

/// Builds the guest into `target_dir` and gives the path of the module.
pub(crate) fn compile(root: &Path, target_dir: &Path, tools: &Tools) -> Result<PathBuf> {
    let guest = root.join("guest");
    let cargo = std::env::var("CARGO").unwrap_or_else(|_| "cargo".to_owned());
    let header = guest.join("c/engine.h");
    // Cargo does not know that the engine includes the headers; a change of the flags tells it.
    let mut headers = std::fs::read(&header)?;
    headers.extend(std::fs::read(guest.join("c/inner.h"))?);
    let version = crate::lock::hash(&headers);
    let c_flags = format!(
        "{C_FLAGS} -DCODECELL_HEADER=0x{} -include {}",
        &version[..8],
        header.display()
    );
    let status = Command::new(cargo)
        .args(["build", "--release", "--locked", "--target", TARGET])
        .current_dir(&guest)
        .env("CARGO_TARGET_DIR", target_dir)
        .env("CARGO_ENCODED_RUSTFLAGS", rust_flags(root).join("\u{1f}"))
        .env("CARGO_INCREMENTAL", "0")
        .env("CC_wasm32_unknown_unknown", &tools.clang)
        .env("AR_wasm32_unknown_unknown", &tools.archiver)
        .env("CFLAGS_wasm32_unknown_unknown", c_flags)
        .env_remove("RUSTFLAGS")
        .env_remove("CFLAGS")
        .env_remove("RUSTC_WRAPPER")
        .status()
        .context("cargo does not run")?;
    if !status.success() {
        bail!("the guest did not compile");
    }
    Ok(target_dir.join(TARGET).join("release/codecell_guest.wasm"))
}

/// The flags of rustc, with every path of this machine mapped to a fixed name.
fn rust_flags(root: &Path) -> Vec<String> {
    let mut flags: Vec<String> = RUST_FLAGS.iter().map(|flag| (*flag).to_owned()).collect();
    flags.push(format!("--remap-path-prefix={}=/codecell", root.display()));
    flags.push(format!(
        "--remap-path-prefix={}=/cargo",
        cargo_home().display()
    ));
    flags
}

/// Where cargo keeps the sources of crates.
pub(crate) fn cargo_home() -> PathBuf {
    let home = || {
        std::env::var_os("HOME")
            .map_or_else(PathBuf::new, PathBuf::from)
            .join(".cargo")
    };
    std::env::var_os("CARGO_HOME").map_or_else(home, PathBuf::from)
}
