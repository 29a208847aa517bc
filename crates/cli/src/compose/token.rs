//! The token of a server: made at its first start, in a file that only its owner reads.

use std::fmt::Write as _;
use std::fs;
use std::io;
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};

use codecell_codemode::Randomness;
use codecell_keep::KeepError;

use crate::error::CliError;

/// The token's file in the state folder.
const FILE_NAME: &str = "mcp.token";

/// Hexadecimal digits of a token: 256 bits.
const CHARS: usize = 64;

/// A token and where it lies.
#[cfg_attr(test, derive(Debug))]
pub(crate) struct Token {
    /// What clients show.
    pub(crate) text: String,
    /// Its file.
    pub(crate) path: PathBuf,
}

/// The token in this state folder; a new one at the first start.
///
/// # Errors
///
/// [`CliError::Unavailable`] when it cannot be read or made, or others can read it.
pub(crate) fn load_or_make(state: &Path, randomness: &dyn Randomness) -> Result<Token, CliError> {
    let path = state.join(FILE_NAME);
    let text = match read(&path) {
        Err(error) if error.is_missing() => {
            make(state, &path, randomness)
                .map_err(|error| unusable(&format!("{}: {error}", path.display())))?;
            read(&path)
        }
        read => read,
    };
    let text = text.map_err(|error| unusable(&error.to_string()))?;
    match text.len() == CHARS && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        true => Ok(Token { text, path }),
        false => Err(unusable(&format!("{} holds none", path.display()))),
    }
}

fn read(path: &Path) -> Result<String, KeepError> {
    let bytes = codecell_keep::read(path, CHARS + 1)?;
    Ok(String::from_utf8_lossy(&bytes).trim_end().to_owned())
}

/// Makes a token, unless another process has made one meanwhile: that one holds.
fn make(state: &Path, path: &Path, randomness: &dyn Randomness) -> io::Result<()> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(state)?;
    let mut text = String::with_capacity(CHARS);
    for byte in randomness.seed() {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    text.push('\n');
    match codecell_keep::make(path, text.as_bytes()) {
        Err(error) if error.kind() != io::ErrorKind::AlreadyExists => Err(error),
        _ => Ok(()),
    }
}

fn unusable(reason: &str) -> CliError {
    CliError::Unavailable {
        message: format!("cannot use the token of the front: {reason}"),
        hint: "remove the file to have a new token made; only its owner may read it (chmod 600)"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};

    use codecell_codemode::OsRandomness;

    use super::*;

    fn state() -> tempfile::TempDir {
        tempfile::tempdir().expect("a folder")
    }

    #[test]
    fn a_token_is_made_once_for_its_owner_alone() {
        let state = state();
        let randomness = OsRandomness::new().expect("random bytes");
        let folder = state.path().join("new");
        let first = load_or_make(&folder, &randomness).expect("a token");
        let mode = fs::metadata(&first.path).expect("the file").mode();
        assert_eq!(mode & 0o777, 0o600);
        let second = load_or_make(&folder, &randomness).expect("a token");
        assert_eq!(first.text, second.text);
        assert_eq!(fs::read_dir(&folder).expect("the folder").count(), 1);
    }

    #[test]
    fn a_token_that_others_can_read_or_that_is_none_is_refused() {
        let state = state();
        let randomness = OsRandomness::new().expect("random bytes");
        let token = load_or_make(state.path(), &randomness).expect("a token");
        let open = fs::Permissions::from_mode(0o644);
        fs::set_permissions(&token.path, open).expect("permissions");
        assert!(load_or_make(state.path(), &randomness).is_err());
        let closed = fs::Permissions::from_mode(0o600);
        fs::set_permissions(&token.path, closed).expect("permissions");
        for wrong in ["", "abc", &"g".repeat(CHARS), &"0".repeat(CHARS + 1)] {
            fs::write(&token.path, wrong).expect("a file");
            assert!(load_or_make(state.path(), &randomness).is_err(), "{wrong}");
        }
        let elsewhere = state.path().join("elsewhere");
        fs::write(&elsewhere, token.text).expect("a file");
        fs::remove_file(&token.path).expect("removed");
        std::os::unix::fs::symlink(&elsewhere, &token.path).expect("a link");
        assert!(load_or_make(state.path(), &randomness).is_err());
    }
}
