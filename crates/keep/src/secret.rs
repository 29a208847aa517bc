//! Files of secrets: read with suspicion, written whole.

use std::fs::{self, DirBuilder, File, Metadata, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::process::geteuid;
use tempfile::NamedTempFile;

/// Permission bits of everybody but the owner.
const OTHERS: u32 = 0o077;

/// Why a secret cannot be had.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeepError {
    /// The file cannot be read.
    #[error("{}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's words.
        error: io::Error,
    },
    /// Others than the owner can reach it.
    #[error("{} can be reached by others than its owner (mode {mode:03o})", path.display())]
    Exposed {
        /// The file or folder.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// It is a link, a device, a folder in a file's place, or somebody else's.
    #[error("{} is no plain file or folder of this user", path.display())]
    NotOwn {
        /// The file or folder.
        path: PathBuf,
    },
    /// It is longer than any secret of its kind.
    #[error("{} is longer than {max_bytes} bytes", path.display())]
    TooLong {
        /// The file.
        path: PathBuf,
        /// The bound.
        max_bytes: usize,
    },
}

impl KeepError {
    /// Whether there simply is no such file.
    #[must_use]
    pub fn is_missing(&self) -> bool {
        matches!(self, Self::Io { error, .. } if error.kind() == io::ErrorKind::NotFound)
    }
}

/// The content of a secret's file: a plain file of this user that nobody else can reach. Links are
/// not followed, and a pipe or device is never waited for.
///
/// # Errors
/// [`KeepError`].
pub fn read(path: &Path, max_bytes: usize) -> Result<Vec<u8>, KeepError> {
    let io = |error| KeepError::Io {
        path: path.to_owned(),
        error,
    };
    let flags = OFlags::NOFOLLOW | OFlags::NONBLOCK;
    let opened = OpenOptions::new()
        .read(true)
        .custom_flags(flags.bits().cast_signed())
        .open(path);
    let file = match opened {
        // What the system says of a link that is not followed.
        Err(error) if error.raw_os_error() == Some(rustix::io::Errno::LOOP.raw_os_error()) => {
            return Err(KeepError::NotOwn {
                path: path.to_owned(),
            });
        }
        opened => opened.map_err(io)?,
    };
    let about = file.metadata().map_err(io)?;
    check(path, &about, about.is_file())?;
    let mut content = Vec::new();
    let bound = u64::try_from(max_bytes).unwrap_or(u64::MAX);
    let taken = file.take(bound.saturating_add(1)).read_to_end(&mut content);
    match taken.map_err(io)? {
        length if length > max_bytes => Err(KeepError::TooLong {
            path: path.to_owned(),
            max_bytes,
        }),
        _ => Ok(content),
    }
}

fn check(path: &Path, about: &Metadata, is_right_kind: bool) -> Result<(), KeepError> {
    let path = path.to_owned();
    if !is_right_kind || about.uid() != geteuid().as_raw() {
        return Err(KeepError::NotOwn { path });
    }
    match about.mode() & 0o777 {
        mode if mode & OTHERS != 0 => Err(KeepError::Exposed { path, mode }),
        _ => Ok(()),
    }
}

/// Makes a folder for its owner alone; one that is there already must be that.
///
/// # Errors
/// [`KeepError`].
pub fn folder(path: &Path) -> Result<(), KeepError> {
    let io = |error| KeepError::Io {
        path: path.to_owned(),
        error,
    };
    let mut builder = DirBuilder::new();
    builder.recursive(true).mode(0o700);
    builder.create(path).map_err(io)?;
    let about = fs::symlink_metadata(path).map_err(io)?;
    check(path, &about, about.is_dir())
}

/// Makes the file of a new secret: it is there whole or not at all, and one that is there already
/// stays.
///
/// # Errors
/// [`io::ErrorKind::AlreadyExists`] when there is one, and whatever else the system says.
pub fn make(path: &Path, content: &[u8]) -> io::Result<()> {
    let draft = draft(path, content)?;
    draft.persist_noclobber(path).map_err(|kept| kept.error)?;
    sync_folder(path)
}

/// Puts a secret in the place of the one that was there, if any: whoever reads sees one or the
/// other. A link is replaced, not followed.
///
/// # Errors
/// Whatever the system says.
pub fn replace(path: &Path, content: &[u8]) -> io::Result<()> {
    let draft = draft(path, content)?;
    draft.persist(path).map_err(|kept| kept.error)?;
    sync_folder(path)
}

/// The content in a file beside the path, on the disk; nobody but the owner can open it.
fn draft(path: &Path, content: &[u8]) -> io::Result<NamedTempFile> {
    let mut draft = NamedTempFile::new_in(path.parent().unwrap_or(Path::new(".")))?;
    draft.write_all(content)?;
    draft.as_file().sync_all()?;
    Ok(draft)
}

/// Makes the name of a new file as safe as its content.
///
/// # Errors
/// Whatever the system says.
pub fn sync_folder(path: &Path) -> io::Result<()> {
    match path.parent() {
        Some(folder) => File::open(folder)?.sync_all(),
        None => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{PermissionsExt as _, symlink};

    use super::*;

    fn mode(path: &Path) -> u32 {
        fs::metadata(path).expect("it is there").mode() & 0o777
    }

    fn open(path: &Path, mode: u32) {
        fs::set_permissions(path, fs::Permissions::from_mode(mode)).expect("a mode");
    }

    #[test]
    fn a_secret_is_made_once_replaced_whole_and_seen_by_its_owner() {
        let root = tempfile::tempdir().expect("a folder");
        let inner = root.path().join("a/b");
        folder(&inner).expect("a folder");
        assert_eq!(mode(&inner), 0o700);
        let path = inner.join("secret");
        assert!(read(&path, 9).expect_err("nothing").is_missing());
        make(&path, b"one").expect("made");
        let again = make(&path, b"two").expect_err("it is there");
        assert_eq!(again.kind(), io::ErrorKind::AlreadyExists);
        assert_eq!(read(&path, 3).expect("read"), b"one");
        replace(&path, b"three").expect("replaced");
        assert_eq!(read(&path, 9).expect("read"), b"three");
        assert!(matches!(read(&path, 4), Err(KeepError::TooLong { .. })));
        assert_eq!(mode(&path), 0o600);
        assert_eq!(fs::read_dir(&inner).expect("the folder").count(), 1);
    }

    #[test]
    fn what_others_could_reach_or_lead_elsewhere_is_refused() {
        let root = tempfile::tempdir().expect("a folder");
        let path = root.path().join("secret");
        make(&path, b"one").expect("made");
        for wrong in [0o640, 0o604, 0o620, 0o601] {
            open(&path, wrong);
            assert!(
                matches!(read(&path, 9), Err(KeepError::Exposed { mode, .. }) if mode == wrong)
            );
        }
        open(&path, 0o600);
        let link = root.path().join("link");
        symlink(&path, &link).expect("a link");
        assert!(matches!(read(&link, 9), Err(KeepError::NotOwn { .. })));
        assert!(matches!(
            read(root.path(), 9),
            Err(KeepError::NotOwn { .. } | KeepError::Io { .. })
        ));
        replace(&link, b"two").expect("the link is replaced");
        assert_eq!(read(&path, 9).expect("untouched"), b"one");
        let inner = root.path().join("inner");
        folder(&inner).expect("a folder");
        open(&inner, 0o750);
        assert!(matches!(folder(&inner), Err(KeepError::Exposed { .. })));
        let elsewhere = root.path().join("elsewhere");
        symlink(root.path(), &elsewhere).expect("a link");
        assert!(matches!(folder(&elsewhere), Err(KeepError::NotOwn { .. })));
    }
}
