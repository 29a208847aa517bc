//! The compiled guest on disk, so that only the first process of an installation compiles.
//!
//! A file is named by the image's hash and the engine's compatibility hash and ends with a BLAKE3
//! of its content. It is only ever written whole and renamed into place, in a folder that belongs to
//! this user alone. Whatever does not match is recompiled and replaced; without a usable folder the
//! guest is compiled in memory, and a note says why.

use std::fs::{self, File, OpenOptions};
use std::hash::{Hash, Hasher};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use wasmtime::{Engine, Module};

use crate::error::SandboxError;
use crate::image::ImageHash;
use crate::sandbox::CacheState;

/// Precedes the content hash at the end of a cache file.
const TRAILER_MAGIC: [u8; 16] = *b"codecell-guest-1";

const TRAILER_BYTES: usize = TRAILER_MAGIC.len() + 32;

/// Bytes that are read and hashed at a time.
const READ_BYTES: usize = 128 << 10;

/// Largest cache file that is read, in bytes.
const MAX_FILE_BYTES: u64 = 64 << 20;

/// Compiled guests that are kept; older ones are deleted when another is added.
const KEPT_FILES: usize = 4;

/// Loads the compiled guest, or compiles it and stores it.
pub(crate) fn load_or_compile(
    engine: &Engine,
    wasm: &[u8],
    hash: ImageHash,
    folder: Option<&Path>,
    progress: Option<&dyn Fn(&str)>,
) -> Result<(Module, CacheState), SandboxError> {
    let Some(folder) = folder else {
        return Ok((compile(engine, wasm, progress)?, CacheState::Disabled));
    };
    let name = file_name(engine, hash);
    let cached =
        open_folder(folder).and_then(|folder| Ok((load(engine, &folder.join(&name))?, folder)));
    match cached {
        Ok((Some(module), _)) => Ok((module, CacheState::Hit)),
        Ok((None, folder)) => compile_and_store(engine, wasm, &folder, &name, progress),
        Err(error) => {
            let module = compile(engine, wasm, progress)?;
            Ok((
                module,
                CacheState::Unusable {
                    reason: error.to_string(),
                },
            ))
        }
    }
}

fn compile(
    engine: &Engine,
    wasm: &[u8],
    progress: Option<&dyn Fn(&str)>,
) -> Result<Module, SandboxError> {
    if let Some(progress) = progress {
        progress("preparing the sandbox (first use of this version)");
    }
    Module::from_binary(engine, wasm).map_err(|error| SandboxError::Compile(format!("{error:#}")))
}

fn compile_and_store(
    engine: &Engine,
    wasm: &[u8],
    folder: &Path,
    name: &str,
    progress: Option<&dyn Fn(&str)>,
) -> Result<(Module, CacheState), SandboxError> {
    let module = compile(engine, wasm, progress)?;
    let stored = module
        .serialize()
        .map_err(io::Error::other)
        .and_then(|bytes| store(folder, name, &bytes));
    let state = match stored {
        Ok(()) => CacheState::Stored,
        Err(error) => CacheState::Unusable {
            reason: error.to_string(),
        },
    };
    Ok((module, state))
}

fn file_name(engine: &Engine, hash: ImageHash) -> String {
    let mut hasher = Blake(blake3::Hasher::new());
    engine.precompile_compatibility_hash().hash(&mut hasher);
    let compatibility = ImageHash(*hasher.0.finalize().as_bytes());
    format!("guest-{hash}-{compatibility}.cwasm")
}

/// Feeds a `Hash` into BLAKE3, whose result does not depend on the standard library's version.
struct Blake(blake3::Hasher);

impl Hasher for Blake {
    fn write(&mut self, bytes: &[u8]) {
        self.0.update(bytes);
    }

    fn finish(&self) -> u64 {
        let mut first = [0; 8];
        first.copy_from_slice(&self.0.finalize().as_bytes()[..8]);
        u64::from_le_bytes(first)
    }
}

/// The folder of compiled guests: made if missing, refused unless it is this user's alone.
fn open_folder(parent: &Path) -> io::Result<PathBuf> {
    let folder = parent.join("guest");
    make_folder(&folder)?;
    let found = fs::symlink_metadata(&folder)?;
    if !found.is_dir() {
        return Err(io::Error::other(format!(
            "{} is not a folder",
            folder.display()
        )));
    }
    owner_only(&found, &folder)?;
    Ok(folder)
}

#[cfg(unix)]
fn make_folder(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt as _;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

#[cfg(not(unix))]
fn make_folder(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

#[cfg(unix)]
fn owner_only(found: &fs::Metadata, path: &Path) -> io::Result<()> {
    use std::os::unix::fs::MetadataExt as _;
    let ours = found.uid() == rustix::process::geteuid().as_raw();
    if ours && found.mode() & 0o077 == 0 {
        return Ok(());
    }
    Err(io::Error::other(format!(
        "{} is not owned by this user alone",
        path.display()
    )))
}

#[cfg(not(unix))]
fn owner_only(_: &fs::Metadata, _: &Path) -> io::Result<()> {
    Ok(())
}

/// Loads a cache file; `None` when it is absent or unfit, in which case it will be replaced.
fn load(engine: &Engine, path: &Path) -> io::Result<Option<Module>> {
    let mut file = match open_no_follow(path) {
        Ok(file) => file,
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
        Err(error) => return Err(error),
    };
    let found = file.metadata()?;
    owner_only(&found, path)?;
    if !found.is_file() || found.len() > MAX_FILE_BYTES || !is_intact(&mut file, found.len())? {
        tracing::warn!(path = %path.display(), "the compiled guest is damaged and will be replaced");
        return Ok(None);
    }
    // SAFETY: the file must be the unaltered output of `Module::serialize` and stay so while mapped.
    // It is a regular file of this user alone, in a folder of this user alone, both checked on the
    // open handle or before, so nobody else could have written or can write it. This program writes
    // such files whole under a temporary name and renames them, never in place, so the mapped file
    // does not change. Its content ends with a matching hash, which rules out damage, and the engine
    // checks version and configuration.
    let module = unsafe { Module::deserialize_open_file(engine, file) };
    match module {
        Ok(module) => Ok(Some(module)),
        Err(error) => {
            tracing::warn!(%error, "the compiled guest does not fit and will be replaced");
            Ok(None)
        }
    }
}

fn open_no_follow(path: &Path) -> io::Result<File> {
    let mut options = OpenOptions::new();
    options.read(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::custom_flags(
        &mut options,
        libc::O_NOFOLLOW | libc::O_NONBLOCK,
    );
    options.open(path)
}

/// Whether the file's content matches the hash at its end.
///
/// Read piece by piece: this is the larger part of a process's start, and a buffer that stays in the
/// processor's cache is faster than one of the file's size.
fn is_intact(file: &mut File, length: u64) -> io::Result<bool> {
    let Some(content) = length.checked_sub(TRAILER_BYTES as u64) else {
        return Ok(false);
    };
    let mut hasher = blake3::Hasher::new();
    let mut buffer = vec![0; READ_BYTES];
    let mut left = content;
    while left > 0 {
        let piece = usize::try_from(left).unwrap_or(READ_BYTES).min(READ_BYTES);
        file.read_exact(&mut buffer[..piece])?;
        hasher.update(&buffer[..piece]);
        left -= piece as u64;
    }
    let mut trailer = [0; TRAILER_BYTES];
    file.read_exact(&mut trailer)?;
    Ok(trailer == seal(&hasher.finalize()))
}

fn seal(content: &blake3::Hash) -> [u8; TRAILER_BYTES] {
    let mut trailer = [0; TRAILER_BYTES];
    trailer[..TRAILER_MAGIC.len()].copy_from_slice(&TRAILER_MAGIC);
    trailer[TRAILER_MAGIC.len()..].copy_from_slice(content.as_bytes());
    trailer
}

fn store(folder: &Path, name: &str, content: &[u8]) -> io::Result<()> {
    static NEXT: AtomicU64 = AtomicU64::new(0);
    let unique = NEXT.fetch_add(1, Ordering::Relaxed);
    let temporary = folder.join(format!(".{name}.{}.{unique}", std::process::id()));
    let written =
        write_new(&temporary, content).and_then(|()| fs::rename(&temporary, folder.join(name)));
    if written.is_err() {
        let _ = fs::remove_file(&temporary);
    }
    written.inspect(|()| prune(folder))
}

fn write_new(path: &Path, content: &[u8]) -> io::Result<()> {
    let mut options = OpenOptions::new();
    options.write(true).create_new(true);
    #[cfg(unix)]
    std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
    let mut file = options.open(path)?;
    file.write_all(content)?;
    file.write_all(&seal(&blake3::hash(content)))
}

/// Deletes all but the newest files. Mapped ones live on until their process ends.
fn prune(folder: &Path) {
    let Ok(entries) = fs::read_dir(folder) else {
        return;
    };
    let mut files: Vec<_> = entries
        .flatten()
        .filter_map(|entry| Some((entry.metadata().ok()?.modified().ok()?, entry.path())))
        .collect();
    files.sort();
    let surplus = files.len().saturating_sub(KEPT_FILES);
    for (_, path) in &files[..surplus] {
        let _ = fs::remove_file(path);
    }
}
