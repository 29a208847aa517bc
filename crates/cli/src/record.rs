//! The file of `--record`: what `replay` needs, in the clear, for its owner only.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::OpenOptionsExt as _;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use codecell_codemode::{RecordSink, record_entry, record_head};

use crate::error::CliError;

/// A record that is being written.
#[derive(Debug)]
pub(crate) struct RecordFile {
    state: Mutex<(File, Option<io::Error>)>,
}

impl RecordFile {
    /// Makes the file, which must not be there yet.
    ///
    /// # Errors
    ///
    /// [`CliError::Argument`] when it cannot be made.
    pub(crate) fn create(path: &Path) -> Result<Arc<Self>, CliError> {
        let made = OpenOptions::new()
            .write(true)
            .create_new(true)
            .mode(0o600)
            .open(path)
            .and_then(|mut file| file.write_all(&record_head()).map(|()| file));
        let file = made.map_err(|error| CliError::Argument {
            message: format!("cannot write the record {}: {error}", path.display()),
            hint: "name a file that is not there yet, in a folder that you may write to".to_owned(),
        })?;
        Ok(Arc::new(Self {
            state: Mutex::new((file, None)),
        }))
    }

    /// Makes sure that the whole record is in the file.
    ///
    /// # Errors
    ///
    /// [`CliError::Unavailable`] when some of it is not.
    pub(crate) fn finish(&self) -> Result<(), CliError> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        let synced = match state.1.take() {
            Some(error) => Err(error),
            None => state.0.sync_all(),
        };
        synced.map_err(|error| CliError::Unavailable {
            message: format!("the record is not complete: {error}"),
            hint: "the cell itself is as it says; remove the file".to_owned(),
        })
    }
}

impl RecordSink for RecordFile {
    fn append(&self, kind: u8, bytes: &[u8]) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if state.1.is_none()
            && let Err(error) = state.0.write_all(&record_entry(kind, bytes))
        {
            state.1 = Some(error);
        }
    }
}
