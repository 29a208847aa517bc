//! A lock of the operating system on a file of its own.
//!
//! It ends with the process, however that ends. The file says nothing and means nothing; only the
//! lock does.

use std::fs::{self, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;

/// A lock that is held until it is dropped.
#[derive(Debug)]
pub struct Lock {
    file: File,
    path: PathBuf,
}

impl Lock {
    /// Takes the lock of this name if nobody has it; does not wait.
    ///
    /// # Errors
    /// What the system says when the file cannot be opened or locked.
    pub fn try_take(path: &Path) -> io::Result<Option<Self>> {
        loop {
            let file = open(path)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(error),
            }
            if is_still(path, &file)? {
                let path = path.to_owned();
                return Ok(Some(Self { file, path }));
            }
        }
    }
}

impl Drop for Lock {
    /// Removes the file while the lock is held. Whoever has opened it meanwhile finds after locking
    /// that it is not the file of that name any more.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .custom_flags(OFlags::NOFOLLOW.bits().cast_signed())
        .open(path)
}

/// Whether the file still has this name.
fn is_still(path: &Path, file: &File) -> io::Result<bool> {
    match fs::symlink_metadata(path) {
        Ok(now) => Ok(now.ino() == file.metadata()?.ino()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

#[cfg(test)]
mod tests {
    use std::sync::atomic::{AtomicU32, Ordering};

    use super::*;

    #[test]
    fn many_that_hurry_never_hold_a_lock_together() {
        let folder = tempfile::tempdir().expect("a folder");
        let path = folder.path().join("one.lock");
        let inside = AtomicU32::new(0);
        let got = AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let Some(held) = Lock::try_take(&path).expect("asked") else {
                            continue;
                        };
                        assert_eq!(inside.fetch_add(1, Ordering::SeqCst), 0);
                        got.fetch_add(1, Ordering::SeqCst);
                        inside.fetch_sub(1, Ordering::SeqCst);
                        drop(held);
                    }
                });
            }
        });
        assert!(got.into_inner() > 0);
        let left = fs::read_dir(folder.path()).expect("the folder");
        assert_eq!(left.count(), 0);
    }
}
