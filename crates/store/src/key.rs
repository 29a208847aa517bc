//! The key of a store: 32 random bytes in a file that only its owner can read.
//!
//! Made at the first use, atomically: of two processes that start at once, one makes the key and
//! both use it. A file that others could read or have written is refused, not repaired: what it
//! protected may be known already.

use std::io;
use std::path::{Path, PathBuf};

use codecell_codemode::Randomness;
use codecell_keep::KeepError;

/// Bytes of a key.
pub(crate) const KEY_BYTES: usize = 32;

/// Why there is no key.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum KeyError {
    /// The file cannot be read or made.
    #[error("the key of the store, {}: {error}", path.display())]
    Io {
        /// The file.
        path: PathBuf,
        /// The system's words.
        error: io::Error,
    },
    /// Others than the owner can reach it.
    #[error(
        "the key of the store, {}, can be reached by others than its owner (mode {mode:03o}); if nobody else has read it, run chmod 600 on it, else remove it together with the store",
        path.display()
    )]
    Exposed {
        /// The file.
        path: PathBuf,
        /// Its permissions.
        mode: u32,
    },
    /// It is not a key.
    #[error(
        "{} is no key of a store: it has to be a plain file of 32 bytes that belongs to you",
        path.display()
    )]
    NotAKey {
        /// The file.
        path: PathBuf,
    },
}

/// Reads the key, or makes it if there is none.
pub(crate) fn load(path: &Path, randomness: &dyn Randomness) -> Result<[u8; KEY_BYTES], KeyError> {
    let io = |error| KeyError::Io {
        path: path.to_owned(),
        error,
    };
    match read(path) {
        Err(KeyError::Io { error, .. }) if error.kind() == io::ErrorKind::NotFound => {
            make(path, randomness).map_err(io)?;
            read(path)
        }
        read => read,
    }
}

fn read(path: &Path) -> Result<[u8; KEY_BYTES], KeyError> {
    let not_a_key = || KeyError::NotAKey {
        path: path.to_owned(),
    };
    let bytes = codecell_keep::read(path, KEY_BYTES).map_err(|error| match error {
        KeepError::Io { path, error } => KeyError::Io { path, error },
        KeepError::Exposed { path, mode } => KeyError::Exposed { path, mode },
        _ => not_a_key(),
    })?;
    bytes.try_into().map_err(|_| not_a_key())
}

/// Makes a key; one that is there already stays.
fn make(path: &Path, randomness: &dyn Randomness) -> io::Result<()> {
    match codecell_keep::make(path, &randomness.seed()) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use codecell_codemode::OsRandomness;

    use super::*;

    fn folder() -> tempfile::TempDir {
        tempfile::tempdir().expect("a folder")
    }

    #[test]
    fn a_key_is_made_once_and_stays() {
        let folder = folder();
        let path = folder.path().join("store.key");
        let random = OsRandomness::new().expect("random bytes");
        let first = load(&path, &random).expect("a key");
        assert_eq!(load(&path, &random).expect("the same key"), first);
        let mode = fs::metadata(&path).expect("a file").mode() & 0o777;
        assert_eq!(mode, 0o600);
        assert_eq!(fs::read_dir(folder.path()).expect("a folder").count(), 1);
    }

    #[test]
    fn many_that_start_at_once_agree_on_one_key() {
        let folder = folder();
        let path = folder.path().join("store.key");
        let keys: Vec<[u8; KEY_BYTES]> = std::thread::scope(|scope| {
            let racers: Vec<_> = (0..8)
                .map(|_| {
                    scope.spawn(|| {
                        load(&path, &OsRandomness::new().expect("random")).expect("a key")
                    })
                })
                .collect();
            racers
                .into_iter()
                .map(|one| one.join().expect("no panic"))
                .collect()
        });
        assert!(keys.iter().all(|key| *key == keys[0]));
    }

    #[test]
    fn a_key_that_others_can_reach_is_refused() {
        let folder = folder();
        let path = folder.path().join("store.key");
        let random = OsRandomness::new().expect("random bytes");
        load(&path, &random).expect("a key");
        for mode in [0o640, 0o604, 0o620] {
            fs::set_permissions(&path, fs::Permissions::from_mode(mode)).expect("a mode");
            assert!(
                matches!(load(&path, &random), Err(KeyError::Exposed { .. })),
                "{mode:o}"
            );
        }
    }

    #[test]
    fn what_is_no_key_is_refused() {
        let folder = folder();
        let random = OsRandomness::new().expect("random bytes");
        let target = folder.path().join("target");
        load(&target, &random).expect("a key");
        let link = folder.path().join("link");
        std::os::unix::fs::symlink(&target, &link).expect("a link");
        assert!(matches!(
            load(&link, &random),
            Err(KeyError::NotAKey { .. })
        ));
        fs::write(&target, [0; 31]).expect("a short file");
        assert!(matches!(
            load(&target, &random),
            Err(KeyError::NotAKey { .. })
        ));
    }
}
