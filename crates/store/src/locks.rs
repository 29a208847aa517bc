//! Who runs a cell: a lock of the operating system on a file of the cell's own.
//!
//! The lock ends with the process, however it ends, so a dead leg never holds its cell. The file says
//! nothing and means nothing; only the lock does.

use std::fs::{self, DirBuilder, File, OpenOptions, TryLockError};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use codecell_codemode::{Ownership, StoreError};
use codecell_protocol::CellId;

/// The folder of the locks.
#[derive(Clone, Debug)]
pub(crate) struct Locks {
    folder: PathBuf,
}

/// A lock that is held.
#[derive(Debug)]
pub(crate) struct Owned {
    file: File,
    path: PathBuf,
}

impl Ownership for Owned {}

impl Drop for Owned {
    /// Removes the file while the lock is held. Whoever has opened it meanwhile finds after locking
    /// that it is not the file of that name any more.
    fn drop(&mut self) {
        let _ = fs::remove_file(&self.path);
        let _ = self.file.unlock();
    }
}

impl Locks {
    /// The locks in this folder, which is made if it is not there.
    pub(crate) fn at(folder: PathBuf) -> io::Result<Self> {
        DirBuilder::new()
            .recursive(true)
            .mode(0o700)
            .create(&folder)?;
        Ok(Self { folder })
    }

    /// Takes the lock of a cell, if nobody has it.
    pub(crate) fn own(&self, id: &CellId) -> Result<Option<Owned>, StoreError> {
        let path = self.folder.join(format!("{id}.lock"));
        loop {
            let file = open(&path).map_err(refusal)?;
            match file.try_lock() {
                Ok(()) => {}
                Err(TryLockError::WouldBlock) => return Ok(None),
                Err(TryLockError::Error(error)) => return Err(refusal(error)),
            }
            if is_still(&path, &file).map_err(refusal)? {
                return Ok(Some(Owned { file, path }));
            }
        }
    }
}

fn open(path: &Path) -> io::Result<File> {
    OpenOptions::new()
        .create(true)
        .truncate(false)
        .write(true)
        .mode(0o600)
        .open(path)
}

/// Whether the file still has this name.
fn is_still(path: &Path, file: &File) -> io::Result<bool> {
    match fs::metadata(path) {
        Ok(now) => Ok(now.ino() == file.metadata()?.ino()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
        Err(error) => Err(error),
    }
}

fn refusal(error: io::Error) -> StoreError {
    match error.kind() {
        io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => StoreError::Full,
        _ => StoreError::Unavailable(format!("the lock of the cell: {error}")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_at_a_time_owns_a_cell() {
        let folder = tempfile::tempdir().expect("a folder");
        let locks = Locks::at(folder.path().join("locks")).expect("locks");
        let (one, two) = (CellId::from_random(1), CellId::from_random(2));
        let held = locks.own(&one).expect("asked").expect("free");
        assert!(locks.own(&one).expect("asked").is_none());
        assert!(locks.own(&two).expect("asked").is_some());
        drop(held);
        assert!(locks.own(&one).expect("asked").is_some());
        assert_eq!(
            fs::read_dir(folder.path().join("locks"))
                .expect("a folder")
                .count(),
            0
        );
    }

    #[test]
    fn many_that_hurry_never_own_a_cell_together() {
        let folder = tempfile::tempdir().expect("a folder");
        let locks = Locks::at(folder.path().to_owned()).expect("locks");
        let id = CellId::from_random(3);
        let inside = std::sync::atomic::AtomicU32::new(0);
        let got = std::sync::atomic::AtomicU32::new(0);
        std::thread::scope(|scope| {
            for _ in 0..8 {
                scope.spawn(|| {
                    for _ in 0..200 {
                        let Some(held) = locks.own(&id).expect("asked") else {
                            continue;
                        };
                        assert_eq!(inside.fetch_add(1, std::sync::atomic::Ordering::SeqCst), 0);
                        got.fetch_add(1, std::sync::atomic::Ordering::SeqCst);
                        inside.fetch_sub(1, std::sync::atomic::Ordering::SeqCst);
                        drop(held);
                    }
                });
            }
        });
        assert!(got.into_inner() > 0);
    }
}
