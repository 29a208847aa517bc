//! A home, a state folder and a workspace of a test's own, and commands that see nothing else.

use std::ffi::OsStr;
use std::io;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use tempfile::TempDir;

use crate::places::cache_home;

/// Folders that exist until this is dropped.
#[derive(Debug)]
pub struct Hermetic {
    root: TempDir,
}

impl Hermetic {
    /// Makes the folders.
    ///
    /// # Errors
    ///
    /// When the temporary folder cannot be written to.
    pub fn new() -> io::Result<Self> {
        let root = tempfile::Builder::new()
            .prefix("codecell-test-")
            .tempdir()?;
        let made = Self { root };
        for folder in [made.home(), made.state(), made.workspace()] {
            std::fs::create_dir(folder)?;
        }
        Ok(made)
    }

    /// The folder that holds the others.
    #[must_use]
    pub fn root(&self) -> &Path {
        self.root.path()
    }

    /// The home folder, empty at first.
    #[must_use]
    pub fn home(&self) -> PathBuf {
        self.root().join("home")
    }

    /// The state folder, empty at first.
    #[must_use]
    pub fn state(&self) -> PathBuf {
        self.root().join("state")
    }

    /// The workspace, empty at first; commands start in it.
    #[must_use]
    pub fn workspace(&self) -> PathBuf {
        self.root().join("workspace")
    }

    /// Writes a file of the workspace, with the folders around it.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn write(&self, path: &str, text: impl AsRef<[u8]>) -> io::Result<()> {
        write_with_folders(&self.workspace().join(path), text.as_ref())
    }

    /// Writes the configuration file.
    ///
    /// # Errors
    ///
    /// When the file cannot be written.
    pub fn write_config(&self, text: &str) -> io::Result<()> {
        write_with_folders(&self.state().join("codecell.json"), text.as_bytes())
    }

    /// The variables that a command sees, and no others. The compiled guest comes from the cache
    /// that all tests share.
    #[must_use]
    pub fn variables(&self) -> Vec<(&'static str, PathBuf)> {
        let path = std::env::var_os("PATH").map_or_else(|| "/usr/bin:/bin".into(), PathBuf::from);
        vec![
            ("HOME", self.home()),
            ("CODECELL_STATE_DIR", self.state()),
            ("XDG_CACHE_HOME", cache_home()),
            ("PATH", path),
            ("LANG", "C.UTF-8".into()),
            ("TZ", "UTC".into()),
        ]
    }

    /// A command in the workspace with these variables, without input.
    #[must_use]
    pub fn command(&self, program: impl AsRef<OsStr>) -> Command {
        let mut command = Command::new(program);
        command
            .env_clear()
            .envs(self.variables())
            .current_dir(self.workspace())
            .stdin(Stdio::null());
        command
    }
}

fn write_with_folders(path: &Path, bytes: &[u8]) -> io::Result<()> {
    if let Some(folder) = path.parent() {
        std::fs::create_dir_all(folder)?;
    }
    std::fs::write(path, bytes)
}
