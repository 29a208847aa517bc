//! What a core tool can fail with, in words that a model can act on.
//!
//! Every failure of the file, process and web layers is one variant here; the one conversion into
//! the crate's own [`ToolError`](crate::ToolError) is in `adapt.rs`. A text names the workspace-relative
//! path as the caller wrote it, never a path of the host.

use std::io;

/// A failure of a core tool.
#[derive(Debug, thiserror::Error)]
pub enum CoreError {
    /// The arguments contradict themselves or a limit.
    #[error("{0}")]
    Input(String),
    /// The text is no usable path: empty, with a NUL, or too long.
    #[error("`{path}` is not a usable path: {reason}")]
    BadPath {
        /// The path as given.
        path: String,
        /// What is wrong with it.
        reason: &'static str,
    },
    /// The path, or a link on it, leads out of the workspace.
    #[error("`{path}` leads outside the workspace; use a path inside it, relative to its root")]
    Outside {
        /// The path as given.
        path: String,
    },
    /// The path lies in a directory that holds the program's own state, configuration, keys or cache.
    #[error("`{path}` is denied: it holds this program's own state, configuration, keys or cache")]
    Denied {
        /// The path as given.
        path: String,
    },
    /// The change touches `.git` or an executable bit without the approval that this needs.
    #[error(
        "`{path}` is not changed: {what} needs an approval of its own, which this call does not have"
    )]
    NeedsApproval {
        /// The real path inside the workspace.
        path: String,
        /// What needs the approval.
        what: &'static str,
    },
    /// Nothing has that name.
    #[error("`{path}` does not exist{hint}")]
    Missing {
        /// The path as given.
        path: String,
        /// Near names, or nothing.
        hint: String,
    },
    /// Something has that name already.
    #[error("`{path}` exists already; {advice}")]
    Exists {
        /// The path as given.
        path: String,
        /// What to do instead.
        advice: &'static str,
    },
    /// A regular file was needed.
    #[error("`{path}` is a {kind}, not a regular file")]
    NotAFile {
        /// The path as given.
        path: String,
        /// What it is.
        kind: &'static str,
    },
    /// A directory was needed.
    #[error("`{path}` is not a directory")]
    NotADirectory {
        /// The path as given.
        path: String,
    },
    /// Too many symbolic links on the path.
    #[error("`{path}` goes through too many symbolic links")]
    Loop {
        /// The path as given.
        path: String,
    },
    /// The file or the answer is larger than the tool takes.
    #[error(
        "`{path}` has {bytes} bytes, more than the {limit_bytes} that this tool takes; {advice}"
    )]
    TooLarge {
        /// The path as given.
        path: String,
        /// Its size.
        bytes: u64,
        /// The limit.
        limit_bytes: u64,
        /// What to do instead.
        advice: &'static str,
    },
    /// The file is not text.
    #[error("`{path}` is not UTF-8 text ({bytes} bytes, {reason}); nothing was {verb}")]
    Binary {
        /// The path as given.
        path: String,
        /// Its size.
        bytes: u64,
        /// Why it is taken for binary.
        reason: &'static str,
        /// `read` or `changed`.
        verb: &'static str,
    },
    /// The file was changed by somebody else between reading and replacing.
    #[error("`{path}` changed while this call worked on it; nothing was written, read it again")]
    Changed {
        /// The path as given.
        path: String,
    },
    /// The disk or the quota is full.
    #[error("no space left to write `{path}`; the file is as it was")]
    NoSpace {
        /// The path as given.
        path: String,
    },
    /// The file system is mounted read-only.
    #[error("`{path}` is on a read-only file system; nothing was written")]
    ReadOnly {
        /// The path as given.
        path: String,
    },
    /// The operating system refuses the access.
    #[error("permission denied for `{path}`")]
    Permission {
        /// The path as given.
        path: String,
    },
    /// Any other error of the operating system.
    #[error("`{path}`: {source}")]
    Io {
        /// The path as given.
        path: String,
        /// The error.
        source: io::Error,
    },
    /// An edit whose old text is not there exactly once.
    #[error("{0}")]
    Mismatch(String),
    /// A patch that cannot be understood or does not fit.
    #[error("{0}")]
    Patch(String),
    /// A change over several files failed and could not be taken back completely.
    #[error("{cause}; taking the changes back failed too, so these files are changed: {left}")]
    HalfDone {
        /// What failed first.
        cause: String,
        /// The files that are not as they were.
        left: String,
    },
    /// The shell or a session of it.
    #[error("{0}")]
    Process(String),
    /// The address may not be fetched.
    #[error("{0}")]
    Refused(String),
    /// The transfer failed.
    #[error("{0}")]
    Transfer(String),
    /// The caller stopped the call.
    #[error("the call was stopped")]
    Stopped,
}

impl CoreError {
    /// The variant for an error of the operating system at `path`.
    pub(crate) fn io(path: &str, source: impl Into<io::Error>) -> Self {
        let source = source.into();
        let path = path.to_owned();
        match source.kind() {
            io::ErrorKind::NotFound => Self::Missing {
                path,
                hint: String::new(),
            },
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Self::NoSpace { path },
            io::ErrorKind::ReadOnlyFilesystem => Self::ReadOnly { path },
            io::ErrorKind::PermissionDenied => Self::Permission { path },
            io::ErrorKind::NotADirectory => Self::NotADirectory { path },
            _ => Self::Io { path, source },
        }
    }
}
