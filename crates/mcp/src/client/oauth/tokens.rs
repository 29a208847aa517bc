//! The tokens of one server, in a file that only its owner reads.
//!
//! The file's name is a hash of the server's address: another address is another file, and the
//! address inside must be the same besides.

use std::fmt;
use std::fs;
use std::io;
use std::os::unix::fs::MetadataExt as _;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use codecell_keep::Lock;
use serde::{Deserialize, Serialize};
use tokio::time::Instant;

/// The form of the file. A file of a later form is refused, not overwritten.
const VERSION: u32 = 1;

/// The longest file.
const MAX_FILE_BYTES: usize = 256 * 1024;

/// So long before a token ends it counts as ended: a request takes its time.
const MARGIN_SECS: u64 = 30;

/// How long another process may hold the lock: longer than a refresh takes.
const LOCK_PATIENCE: Duration = Duration::from_secs(30);

/// How often a lock that another process holds is asked for.
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// What a login left behind.
#[derive(Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase", deny_unknown_fields)]
pub(super) struct Tokens {
    pub(super) version: u32,
    /// The server's address, as configured.
    pub(super) url: String,
    /// What the tokens are for, as the authorization server knows it.
    pub(super) resource: String,
    pub(super) issuer: String,
    pub(super) authorization_endpoint: String,
    pub(super) token_endpoint: String,
    /// How the token endpoint wants to be told who we are; empty if it does not say.
    pub(super) auth_methods: Vec<String>,
    pub(super) client_id: String,
    pub(super) client_secret: Option<String>,
    pub(super) access_token: String,
    pub(super) refresh_token: Option<String>,
    /// When the access token ends, in seconds since 1970, if that was said.
    pub(super) expires_at: Option<u64>,
    pub(super) scopes: Vec<String>,
}

impl fmt::Debug for Tokens {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Tokens")
            .field("url", &self.url)
            .field("issuer", &self.issuer)
            .finish_non_exhaustive()
    }
}

impl Tokens {
    pub(super) const VERSION: u32 = VERSION;

    /// Whether the access token has ended, or soon will have.
    pub(super) fn is_ending(&self) -> bool {
        self.ends_within(MARGIN_SECS)
    }

    /// Whether the access token has ended.
    pub(super) fn has_ended(&self) -> bool {
        self.ends_within(0)
    }

    fn ends_within(&self, secs: u64) -> bool {
        let end = now_secs().saturating_add(secs);
        self.expires_at.is_some_and(|at| at <= end)
    }

    /// Everything in it that must not be seen.
    pub(super) fn secrets(&self) -> Vec<&str> {
        let more = [&self.refresh_token, &self.client_secret];
        let more = more.into_iter().flatten().map(String::as_str);
        std::iter::once(self.access_token.as_str())
            .chain(more)
            .collect()
    }
}

/// Seconds since 1970.
pub(super) fn now_secs() -> u64 {
    let now = SystemTime::now().duration_since(UNIX_EPOCH);
    now.unwrap_or_default().as_secs()
}

/// Which version of the file is meant; every save makes another.
pub(super) type Stamp = (u64, i64, i64);

/// The file of one server, and its lock.
#[derive(Clone, Debug)]
pub(super) struct Vault {
    folder: PathBuf,
    file: PathBuf,
    lock: PathBuf,
    url: String,
}

impl Vault {
    pub(super) fn new(folder: &Path, url: &str) -> Self {
        let name = blake3::hash(url.as_bytes()).to_hex();
        Self {
            file: folder.join(format!("{name}.json")),
            lock: folder.join(format!("{name}.lock")),
            folder: folder.to_owned(),
            url: url.to_owned(),
        }
    }

    /// Which version is there; `None` if there is none.
    pub(super) fn stamp(&self) -> Option<Stamp> {
        let about = fs::symlink_metadata(&self.file).ok()?;
        Some((about.ino(), about.mtime(), about.mtime_nsec()))
    }

    /// The tokens, if there are any.
    ///
    /// # Errors
    /// Why the file is not believed.
    pub(super) fn load(&self) -> Result<Option<Tokens>, String> {
        let bytes = match codecell_keep::read(&self.file, MAX_FILE_BYTES) {
            Err(error) if error.is_missing() => return Ok(None),
            read => read.map_err(|error| error.to_string())?,
        };
        let not_ours = || format!("{} holds no tokens of this version", self.file.display());
        let tokens: Tokens = serde_json::from_slice(&bytes).map_err(|_| not_ours())?;
        if tokens.version != VERSION || tokens.url != self.url {
            return Err(not_ours());
        }
        Ok(Some(tokens))
    }

    /// Puts tokens in the place of those that were there. To be called with the lock.
    ///
    /// # Errors
    /// What stands in the way.
    pub(super) fn save(&self, tokens: &Tokens) -> Result<(), String> {
        let text = serde_json::to_vec(tokens).map_err(|error| error.to_string())?;
        let written = codecell_keep::replace(&self.file, &text);
        written.map_err(|error| format!("{}: {error}", self.file.display()))
    }

    /// Removes the tokens; whether there were any. To be called with the lock.
    ///
    /// # Errors
    /// What stands in the way.
    pub(super) fn remove(&self) -> Result<bool, String> {
        match fs::remove_file(&self.file) {
            Ok(()) => Ok(true),
            Err(error) if error.kind() == io::ErrorKind::NotFound => Ok(false),
            Err(error) => Err(format!("{}: {error}", self.file.display())),
        }
    }

    /// Waits until no other process, and nobody else here, changes these tokens.
    ///
    /// # Errors
    /// What stands in the way, as that it takes too long.
    pub(super) async fn lock(&self) -> Result<Lock, String> {
        codecell_keep::folder(&self.folder).map_err(|error| error.to_string())?;
        let until = Instant::now() + LOCK_PATIENCE;
        loop {
            let taken = Lock::try_take(&self.lock);
            match taken.map_err(|error| format!("{}: {error}", self.lock.display()))? {
                Some(lock) => return Ok(lock),
                None if Instant::now() >= until => {
                    return Err(format!(
                        "another process holds {} for too long",
                        self.lock.display()
                    ));
                }
                None => tokio::time::sleep(LOCK_PAUSE).await,
            }
        }
    }
}
