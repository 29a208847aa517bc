//! The store itself: what is read, what is handed to the writing thread.

use std::fs::{DirBuilder, OpenOptions};
use std::io;
use std::os::unix::fs::{DirBuilderExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use codecell_codemode::{
    Ownership, Randomness, SnapshotStore, StoreError, StoredCell, StoredRecord, StoredRow,
    StoredValue, ValueChange, Write,
};
use codecell_protocol::CellId;
use codecell_sandbox::SnapshotKey;
use rusqlite::{Connection, OptionalExtension as _, Row, params};

use crate::key::{self, KeyError};
use crate::locks::Locks;
use crate::schema::{self, refusal};
use crate::seal::{Place, Sealer};
use crate::writer::{Change, Order, Sealed, Writer, expiry, state_of};

/// Where a store keeps its files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StorePlaces {
    /// The database. The locks lie in a folder beside it.
    pub database: PathBuf,
    /// The key.
    pub key: PathBuf,
}

/// Why a store was not opened.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum OpenError {
    /// The key.
    #[error(transparent)]
    Key(#[from] KeyError),
    /// A folder or file cannot be made.
    #[error("{}: {error}", path.display())]
    Io {
        /// Which.
        path: PathBuf,
        /// The system's words.
        error: io::Error,
    },
    /// The database.
    #[error("{}: {error}", path.display())]
    Database {
        /// Its file.
        path: PathBuf,
        /// What is wrong.
        error: StoreError,
    },
}

/// A store in one SQLite database.
pub struct SqliteStore {
    sealer: Sealer,
    snapshot_key: SnapshotKey,
    randomness: Arc<dyn Randomness>,
    locks: Locks,
    reader: Mutex<Connection>,
    writer: Writer,
}

impl std::fmt::Debug for SqliteStore {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SqliteStore").finish_non_exhaustive()
    }
}

impl SqliteStore {
    /// Opens the store of these places, and makes what is not there yet.
    ///
    /// # Errors
    /// When a file cannot be made or read, others can reach the key, or the database is none of ours
    /// or of a newer program.
    pub fn open(places: &StorePlaces, randomness: Arc<dyn Randomness>) -> Result<Self, OpenError> {
        let io = |path: &Path| {
            let path = path.to_owned();
            move |error| OpenError::Io { path, error }
        };
        for path in [&places.database, &places.key] {
            make_folder(path).map_err(io(path))?;
        }
        let sealer = Sealer::new(&key::load(&places.key, &*randomness)?);
        make_private(&places.database).map_err(io(&places.database))?;
        let database = |error| OpenError::Database {
            path: places.database.clone(),
            error,
        };
        let mut reader = connect(&places.database).map_err(database)?;
        schema::settle(&mut reader).map_err(database)?;
        let writing = connect(&places.database).map_err(database)?;
        let snapshot_key = sealer.snapshot_key();
        Ok(Self {
            snapshot_key: snapshot_key.ok_or_else(|| database(StoreError::Damaged("its key")))?,
            sealer,
            randomness,
            locks: Locks::at(beside(&places.database)).map_err(io(&places.database))?,
            reader: Mutex::new(reader),
            writer: Writer::start(writing).map_err(io(&places.database))?,
        })
    }

    /// No code of others runs under this lock, and a read that panicked has changed nothing.
    fn reader(&self) -> MutexGuard<'_, Connection> {
        self.reader.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn seal(&self, place: &Place<'_>, text: &[u8]) -> Result<Vec<u8>, StoreError> {
        let mut nonce = [0; 12];
        nonce.copy_from_slice(&self.randomness.bits().to_le_bytes()[..12]);
        let sealed = self.sealer.seal(place, nonce, text);
        sealed.ok_or_else(|| StoreError::Unavailable("a record could not be sealed".to_owned()))
    }

    fn open_record(&self, cell: &[u8; 16], sealed: Sealed) -> Result<StoredRecord, StoreError> {
        let place = Place::Record {
            cell,
            number: sealed.number,
            kind: sealed.kind,
        };
        let bytes = self.sealer.open(&place, &sealed.bytes);
        Ok(StoredRecord {
            number: sealed.number,
            kind: sealed.kind,
            bytes: bytes.ok_or(StoreError::Damaged(
                "a record was changed, or sealed with another key",
            ))?,
        })
    }

    fn sealed(&self, write: &Write) -> Result<Vec<Sealed>, StoreError> {
        let cell = *write.cell.uuid().as_bytes();
        let records = write.records.iter().map(|record| {
            let place = Place::Record {
                cell: &cell,
                number: record.number,
                kind: record.kind,
            };
            Ok(Sealed {
                number: record.number,
                kind: record.kind,
                bytes: self.seal(&place, &record.bytes)?,
            })
        });
        records.collect()
    }
}

impl SnapshotStore for SqliteStore {
    fn own(&self, id: &CellId) -> Result<Option<Box<dyn Ownership>>, StoreError> {
        let owned = self.locks.own(id)?;
        Ok(owned.map(|owned| Box::new(owned) as Box<dyn Ownership>))
    }

    fn write(&self, write: Write) {
        match self.sealed(&write) {
            Ok(records) => self.writer.send(Order::Change(Change {
                cell: *write.cell.uuid().as_bytes(),
                state: write.state,
                expires_us: write.expires_us,
                drop_below: write.drop_below,
                records,
                urgent: write.urgent,
                done: write.done,
            })),
            Err(error) => (write.done)(Err(error)),
        }
    }

    fn read(&self, id: &CellId) -> Result<Option<StoredCell>, StoreError> {
        let cell = *id.uuid().as_bytes();
        let mut reader = self.reader();
        // One transaction: the row and the records of one moment.
        let moment = reader.transaction().map_err(refusal)?;
        let row = moment
            .query_row(
                "SELECT id, state, expires_us, next FROM cells WHERE id = ?1",
                [&cell],
                |row| Ok((row_of(row), row.get::<_, u64>(3)?)),
            )
            .optional()
            .map_err(refusal)?;
        let Some((row, next)) = row else {
            return Ok(None);
        };
        let sealed: Vec<Sealed> = moment
            .prepare("SELECT number, kind, sealed FROM records WHERE cell = ?1 ORDER BY number")
            .and_then(|mut query| query.query_map([&cell], sealed_of)?.collect())
            .map_err(refusal)?;
        drop(moment);
        drop(reader);
        check_numbers(&sealed, next)?;
        let records = sealed.into_iter().map(|one| self.open_record(&cell, one));
        Ok(Some(StoredCell {
            row: row?,
            records: records.collect::<Result<_, _>>()?,
        }))
    }

    fn rows(&self) -> Result<Vec<StoredRow>, StoreError> {
        let reader = self.reader();
        let mut query = reader
            .prepare("SELECT id, state, expires_us FROM cells ORDER BY id")
            .map_err(refusal)?;
        let rows = query
            .query_map([], |row| Ok(row_of(row)))
            .map_err(refusal)?;
        rows.map(|row| row.map_err(refusal)?).collect()
    }

    fn remove(&self, id: &CellId) -> Result<(), StoreError> {
        self.writer.flush();
        let cell = *id.uuid().as_bytes();
        let mut reader = self.reader();
        let change = reader.transaction().map_err(refusal)?;
        for table in ["records WHERE cell", "cells WHERE id"] {
            change
                .execute(&format!("DELETE FROM {table} = ?1"), [&cell])
                .map_err(refusal)?;
        }
        change.commit().map_err(refusal)
    }

    fn values(&self, scope: &[u8; 32]) -> Result<Vec<StoredValue>, StoreError> {
        let reader = self.reader();
        let mut query = reader
            .prepare("SELECT number, by_host, sealed FROM saved WHERE scope = ?1 ORDER BY number")
            .map_err(refusal)?;
        let rows: Vec<(u64, bool, Vec<u8>)> = query
            .query_map([scope], |row| Ok((row.get(0)?, row.get(1)?, row.get(2)?)))
            .and_then(Iterator::collect)
            .map_err(refusal)?;
        let values = rows.into_iter().map(|(number, by_host, sealed)| {
            let place = Place::Value {
                scope,
                number,
                by_host,
            };
            let json = self.sealer.open(&place, &sealed);
            Ok(StoredValue {
                number,
                by_host,
                json: json.ok_or(StoreError::Damaged("a saved result was changed"))?,
            })
        });
        values.collect()
    }

    fn change_value(
        &self,
        scope: &[u8; 32],
        change: ValueChange,
        expires_us: u64,
    ) -> Result<(), StoreError> {
        let mut reader = self.reader();
        let transaction = reader.transaction().map_err(refusal)?;
        match change {
            ValueChange::Put(value) => {
                let place = Place::Value {
                    scope,
                    number: value.number,
                    by_host: value.by_host,
                };
                let sealed = self.seal(&place, &value.json)?;
                transaction.execute(
                    "INSERT INTO saved (scope, number, by_host, expires_us, sealed) VALUES (?1, ?2, ?3, ?4, ?5)",
                    params![scope, value.number, value.by_host, expiry(expires_us), sealed],
                )
            }
            ValueChange::Delete(number) => transaction.execute(
                "DELETE FROM saved WHERE scope = ?1 AND number = ?2",
                params![scope, number],
            ),
        }
        .map_err(refusal)?;
        transaction
            .execute(
                "UPDATE saved SET expires_us = ?2 WHERE scope = ?1",
                params![scope, expiry(expires_us)],
            )
            .map_err(refusal)?;
        transaction.commit().map_err(refusal)
    }

    fn forget_values(&self, scope: &[u8; 32]) -> Result<(), StoreError> {
        let reader = self.reader();
        let forgotten = reader.execute("DELETE FROM saved WHERE scope = ?1", [scope]);
        forgotten.map(drop).map_err(refusal)
    }

    fn sweep_values(&self, now_us: u64) -> Result<(), StoreError> {
        let reader = self.reader();
        let swept = reader.execute("DELETE FROM saved WHERE expires_us < ?1", [expiry(now_us)]);
        swept.map(drop).map_err(refusal)
    }

    fn snapshot_key(&self) -> &SnapshotKey {
        &self.snapshot_key
    }

    fn flush(&self) {
        self.writer.flush();
    }
}

fn connect(path: &Path) -> Result<Connection, StoreError> {
    let connection = Connection::open(path).map_err(refusal)?;
    schema::prepare(&connection)?;
    Ok(connection)
}

fn make_folder(path: &Path) -> io::Result<()> {
    match path
        .parent()
        .filter(|folder| !folder.as_os_str().is_empty())
    {
        Some(folder) => DirBuilder::new().recursive(true).mode(0o700).create(folder),
        None => Ok(()),
    }
}

/// Makes the file before SQLite does, so that nobody but the owner can ever open it; SQLite gives
/// the files beside it the same permissions.
fn make_private(path: &Path) -> io::Result<()> {
    let made = OpenOptions::new()
        .write(true)
        .create_new(true)
        .mode(0o600)
        .open(path);
    match made {
        Ok(_) => codecell_keep::sync_folder(path),
        Err(error) if error.kind() == io::ErrorKind::AlreadyExists => Ok(()),
        Err(error) => Err(error),
    }
}

/// The folder of the locks.
fn beside(database: &Path) -> PathBuf {
    let mut name = database.as_os_str().to_owned();
    name.push("-locks");
    PathBuf::from(name)
}

fn row_of(row: &Row<'_>) -> Result<StoredRow, StoreError> {
    let id: [u8; 16] = row.get(0).map_err(refusal)?;
    let state: u8 = row.get(1).map_err(refusal)?;
    let expires_us: i64 = row.get(2).map_err(refusal)?;
    Ok(StoredRow {
        id: CellId::from_random(u128::from_be_bytes(id)),
        state: state_of(state).ok_or(StoreError::Damaged("its state"))?,
        expires_us: expires_us.unsigned_abs(),
    })
}

fn sealed_of(row: &Row<'_>) -> Result<Sealed, rusqlite::Error> {
    Ok(Sealed {
        number: row.get(0)?,
        kind: row.get(1)?,
        bytes: row.get(2)?,
    })
}

/// Whether the records are those up to the last that was written, none missing.
fn check_numbers(records: &[Sealed], next: u64) -> Result<(), StoreError> {
    let count = records.len() as u64;
    let first = next.checked_sub(count).filter(|first| *first >= 1);
    let rising = first.is_some_and(|first| {
        (first..)
            .zip(records)
            .all(|(number, record)| number == record.number)
    });
    match rising {
        true => Ok(()),
        false => Err(StoreError::Damaged("a record is missing")),
    }
}
