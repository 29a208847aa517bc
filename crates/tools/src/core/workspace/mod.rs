//! The workspace as an opened directory: every file tool reaches files through it alone.
//!
//! A path is walked component by component from the root's descriptor (`resolve.rs`), so that a
//! symbolic link swapped in at any moment can at worst name another file *inside*; on Linux every step
//! is additionally an `openat2` with `RESOLVE_BENEATH`. One `openat2` over the whole path would be
//! fewer calls, but would hide the components in between, and each of them has to be compared with the
//! denied directories.
//!
//! Policy of links: a link that stays inside is followed by reads and writes (a write replaces the file
//! that the link names, not the link); an absolute link is followed only if it begins with the workspace's own
//! path; nothing that leads out is followed by anything. Hard links and bind mounts are not looked
//! through: who can make them inside the workspace has the file already.

mod files;
mod open;
mod replace;
mod resolve;
mod tree;

use std::fs::File;
use std::os::fd::{AsFd, BorrowedFd, OwnedFd};
use std::path::{Component, Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use super::error::CoreError;
pub(crate) use files::Opened;
pub use open::OpenMethod;
use open::{Identity, Opener};
pub(crate) use replace::{Change, Expect, commit_all};
pub(crate) use resolve::{Place, Resolved};
pub(crate) use tree::{Entry, EntryKind, Seen, Tree, TreeOptions};

/// Longest path taken, in bytes.
pub(super) const MAX_PATH_BYTES: usize = 4096;
/// Most components of a path, those of followed links included.
pub(super) const MAX_COMPONENTS: usize = 128;
/// Most links followed on one path; what Linux itself allows.
pub(super) const MAX_LINKS: usize = 40;

/// An opened workspace directory with the directories that stay closed inside it.
#[derive(Debug)]
pub struct Workspace {
    root: OwnedFd,
    root_path: PathBuf,
    given_path: PathBuf,
    denied: Vec<PathBuf>,
    opener: Opener,
    writes: Mutex<()>,
}

impl Workspace {
    /// Opens `path`; `denied` are directories or files that no file tool reaches, wherever they lie. They are
    /// recognised by device and inode, looked up anew at every operation, so they need not exist yet.
    ///
    /// # Errors
    /// When the directory cannot be opened, or itself lies in a denied directory.
    pub fn open(
        path: &Path,
        denied: Vec<PathBuf>,
        method: OpenMethod,
    ) -> Result<Arc<Self>, CoreError> {
        let shown = path.display().to_string();
        let given_path = std::path::absolute(path).map_err(|e| CoreError::io(&shown, e))?;
        let root_path = std::fs::canonicalize(path).map_err(|e| CoreError::io(&shown, e))?;
        let root = open::root(&root_path).map_err(|e| CoreError::io(&shown, e))?;
        let opener = Opener::detect(root.as_fd(), method);
        let workspace = Self {
            root,
            root_path,
            given_path,
            denied,
            opener,
            writes: Mutex::new(()),
        };
        workspace.refuse_denied_root(&shown)?;
        Ok(Arc::new(workspace))
    }

    fn refuse_denied_root(&self, shown: &str) -> Result<(), CoreError> {
        let denied = self.denied_now();
        for dir in self.root_path.ancestors() {
            let stat = rustix::fs::stat(dir).map_err(|e| CoreError::io(shown, e))?;
            if denied.contains(&Identity::of(&stat)) {
                return Err(CoreError::Denied {
                    path: shown.to_owned(),
                });
            }
        }
        Ok(())
    }

    /// The real path of the root: for the working directory of a child process, never for file access.
    pub fn root_path(&self) -> &Path {
        &self.root_path
    }

    /// Whether the kernel confines each step as well.
    pub fn is_kernel_confined(&self) -> bool {
        self.opener == Opener::Kernel
    }

    fn root(&self) -> BorrowedFd<'_> {
        self.root.as_fd()
    }

    /// The identities of the denied directories that exist now.
    fn denied_now(&self) -> Vec<Identity> {
        let stats = self
            .denied
            .iter()
            .filter_map(|path| rustix::fs::stat(path).ok());
        stats.map(|stat| Identity::of(&stat)).collect()
    }

    /// Held by every tool that changes files, so that two edits of one file do not lose each other.
    pub(crate) fn write_turn(&self) -> MutexGuard<'_, ()> {
        self.writes.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The components of `path` below the root; an absolute path must begin with the workspace's own.
    fn components(&self, path: &str) -> Result<Vec<std::ffi::OsString>, CoreError> {
        check_text(path)?;
        let relative = self
            .relativise(Path::new(path))
            .ok_or_else(|| CoreError::Outside {
                path: path.to_owned(),
            })?;
        Ok(components_of(&relative))
    }

    fn relativise(&self, path: &Path) -> Option<PathBuf> {
        if path.is_relative() {
            return Some(path.to_owned());
        }
        [&self.root_path, &self.given_path]
            .into_iter()
            .find_map(|root| path.strip_prefix(root).ok())
            .map(Path::to_owned)
    }

    /// The directory `path` as an open file, for the working directory of a child process.
    pub(crate) fn directory(&self, path: &str) -> Result<(File, PathBuf), CoreError> {
        match self.resolve(path)? {
            Resolved::Directory { fd, path } => Ok((File::from(fd), path)),
            Resolved::Missing(_) => Err(self.missing(path)),
            Resolved::File(_) => Err(CoreError::NotADirectory {
                path: path.to_owned(),
            }),
        }
    }
}

fn check_text(path: &str) -> Result<(), CoreError> {
    let reason = if path.is_empty() {
        "it is empty; `.` is the workspace itself"
    } else if path.contains('\0') {
        "it contains a NUL character"
    } else if path.len() > MAX_PATH_BYTES {
        "it is longer than 4096 bytes"
    } else {
        return Ok(());
    };
    Err(CoreError::BadPath {
        path: path.chars().take(80).collect(),
        reason,
    })
}

fn components_of(path: &Path) -> Vec<std::ffi::OsString> {
    let named = path
        .components()
        .filter(|c| matches!(c, Component::Normal(_) | Component::ParentDir));
    named.map(|c| c.as_os_str().to_owned()).collect()
}

/// A path inside as the tools show it: with `/`, and `.` for the root.
pub(crate) fn shown(path: &Path) -> String {
    if path.as_os_str().is_empty() {
        ".".to_owned()
    } else {
        path.to_string_lossy().into_owned()
    }
}
