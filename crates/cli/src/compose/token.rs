//! The token of a server: made at its first start, in a file that only its owner reads.

use std::fmt::Write as _;
use std::fs::{self, OpenOptions};
use std::io::{self, Read as _, Write as _};
use std::os::unix::fs::{DirBuilderExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};

use codecell_codemode::Randomness;
use rustix::fs::OFlags;
use rustix::process::geteuid;

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
    match read(&path) {
        Err(error) if error.kind() == io::ErrorKind::NotFound => {}
        Err(error) => return Err(unusable(&path, &error.to_string())),
        Ok(text) => return Ok(Token { text, path }),
    }
    let made = make(state, &path, randomness);
    // Another process may have made one in between: that one holds.
    let text = match made {
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => read(&path),
        made => made,
    };
    match text {
        Ok(text) => Ok(Token { text, path }),
        Err(error) => Err(unusable(&path, &error.to_string())),
    }
}

fn read(path: &Path) -> io::Result<String> {
    let file = OpenOptions::new()
        .read(true)
        .custom_flags((OFlags::NOFOLLOW | OFlags::NONBLOCK).bits() as i32)
        .open(path)?;
    let about = file.metadata()?;
    if !about.is_file() || about.uid() != geteuid().as_raw() {
        return Err(io::Error::other("it is no file of this user"));
    }
    if about.mode() & 0o077 != 0 {
        return Err(io::Error::other("others than its owner can reach it"));
    }
    let mut text = String::new();
    file.take(CHARS as u64 + 2).read_to_string(&mut text)?;
    let text = text.trim_end();
    if text.len() == CHARS && text.bytes().all(|byte| byte.is_ascii_hexdigit()) {
        Ok(text.to_owned())
    } else {
        Err(io::Error::other("it holds no token"))
    }
}

/// Writes a token to a file of its own first, so that nobody reads half of one.
fn make(state: &Path, path: &Path, randomness: &dyn Randomness) -> io::Result<String> {
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(state)?;
    let mut text = String::with_capacity(CHARS);
    for byte in randomness.seed() {
        // Writing to a String cannot fail.
        let _ = write!(text, "{byte:02x}");
    }
    let draft = state.join(format!("{FILE_NAME}.{}", std::process::id()));
    let written = write_new(&draft, &text).and_then(|()| fs::hard_link(&draft, path));
    let removed = fs::remove_file(&draft);
    written.and(removed).map(|()| text)
}

fn write_new(path: &Path, text: &str) -> io::Result<()> {
    let mut file = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path)?;
    writeln!(file, "{text}")?;
    file.sync_all()
}

fn unusable(path: &Path, reason: &str) -> CliError {
    CliError::Unavailable {
        message: format!("cannot use the token in {}: {reason}", path.display()),
        hint: "remove the file to have a new token made; only its owner may read it (chmod 600)"
            .to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::PermissionsExt as _;

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
