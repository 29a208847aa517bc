//! Who runs a cell: a lock of the operating system on a file of the cell's own.
//!
//! The lock ends with the process, however it ends, so a dead leg never holds its cell. The file says
//! nothing and means nothing; only the lock does.

use std::fs::DirBuilder;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::PathBuf;

use codecell_codemode::{Ownership, StoreError};
use codecell_keep::Lock;
use codecell_protocol::CellId;

/// The folder of the locks.
#[derive(Clone, Debug)]
pub(crate) struct Locks {
    folder: PathBuf,
}

/// A lock that is held.
#[derive(Debug)]
pub(crate) struct Owned {
    _lock: Lock,
}

impl Ownership for Owned {}

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
        let lock = Lock::try_take(&path).map_err(refusal)?;
        Ok(lock.map(|_lock| Owned { _lock }))
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
            std::fs::read_dir(folder.path().join("locks"))
                .expect("a folder")
                .count(),
            0
        );
    }
}
