//! The store for cells that outlive their process, where one is configured.

use std::path::PathBuf;
use std::sync::Arc;

use codecell_codemode::{OsRandomness, SnapshotStore};
use codecell_store::{OpenError, SqliteStore, StorePlaces};

use super::settings::Settings;
use crate::error::CliError;

/// Opens the configured store; `None` when there is none.
///
/// # Errors
///
/// [`CliError::Config`] when there is no folder for it, or records are wanted and no store is;
/// [`CliError::Unavailable`] when it cannot be opened.
pub(crate) fn open(settings: &Settings) -> Result<Option<Arc<dyn SnapshotStore>>, CliError> {
    let options = &settings.agent.code_mode;
    let Some(places) = places(settings)? else {
        return match options.records() {
            true => Err(CliError::Config {
                message: "tools.codeMode.records needs a store to keep them in".to_owned(),
                hint: "set tools.codeMode.snapshotStore to {kind: \"sqlite\"}, or records to \"off\"; \
                    codecell exec --record FILE keeps one record in a file"
                    .to_owned(),
            }),
            false => Ok(None),
        };
    };
    let randomness = OsRandomness::new().map_err(|reason| CliError::Unavailable {
        message: format!("the system gives no random bytes: {reason}"),
        hint: "the store needs them for its key".to_owned(),
    })?;
    match SqliteStore::open(&places, Arc::new(randomness)) {
        Ok(store) => Ok(Some(Arc::new(store))),
        Err(error) => Err(unusable(&error)),
    }
}

/// Where the configured store lies.
pub(crate) fn places(settings: &Settings) -> Result<Option<StorePlaces>, CliError> {
    let Some(store) = settings.agent.code_mode.snapshot_store() else {
        return Ok(None);
    };
    let state = settings.state_dir.as_ref().ok_or_else(|| CliError::Config {
        message: "tools.codeMode.snapshotStore needs a folder for its key, and there is no home folder".to_owned(),
        hint: "set CODECELL_STATE_DIR".to_owned(),
    })?;
    let named = store.path.as_ref().map(PathBuf::from);
    Ok(Some(StorePlaces {
        database: state.join(named.unwrap_or_else(|| PathBuf::from("cells.db"))),
        key: state.join("store.key"),
    }))
}

fn unusable(error: &OpenError) -> CliError {
    CliError::Unavailable {
        message: format!("cannot open the store for suspended cells: {error}"),
        hint:
            "without tools.codeMode.snapshotStore cells are kept in memory and end with the command"
                .to_owned(),
    }
}

/// Every file and folder of the configured store: no tool reaches them, wherever they lie.
pub(crate) fn files(settings: &Settings) -> Vec<PathBuf> {
    let Ok(Some(places)) = places(settings) else {
        return Vec::new();
    };
    let beside = |end: &str| {
        let mut name = places.database.clone().into_os_string();
        name.push(end);
        PathBuf::from(name)
    };
    let mut files: Vec<PathBuf> = ["", "-wal", "-shm", "-locks"].map(beside).into();
    files.push(places.key.clone());
    files
}
