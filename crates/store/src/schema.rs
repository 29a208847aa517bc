//! The tables, and which version of them a file has.
//!
//! The version is in the file from the first day. A file of a newer program is refused: what it would
//! lose by being written to is not known here.

use rusqlite::{Connection, ErrorCode};

use codecell_codemode::StoreError;

/// The version that this program writes.
pub(crate) const VERSION: i64 = 1;

/// Marks the file as ours. The bytes of `CCst`.
const APPLICATION_ID: i64 = 0x4343_7374;

const TABLES: &str = "
    CREATE TABLE cells (
        id         BLOB PRIMARY KEY,
        state      INTEGER NOT NULL,
        expires_us INTEGER NOT NULL,
        next       INTEGER NOT NULL
    ) STRICT, WITHOUT ROWID;
    CREATE TABLE records (
        cell   BLOB NOT NULL,
        number INTEGER NOT NULL,
        kind   INTEGER NOT NULL,
        sealed BLOB NOT NULL,
        UNIQUE (cell, number)
    ) STRICT;
    CREATE TABLE saved (
        scope      BLOB NOT NULL,
        number     INTEGER NOT NULL,
        by_host    INTEGER NOT NULL,
        expires_us INTEGER NOT NULL,
        sealed     BLOB NOT NULL,
        UNIQUE (scope, number)
    ) STRICT;
";

/// Settings of every connection: each commit reaches the disk before it is reported, and processes
/// that write at once wait for each other.
pub(crate) fn prepare(connection: &Connection) -> Result<(), StoreError> {
    connection
        .busy_timeout(std::time::Duration::from_secs(10))
        .map_err(refusal)?;
    let settings =
        "PRAGMA journal_mode = WAL; PRAGMA synchronous = FULL; PRAGMA trusted_schema = OFF;
        PRAGMA cell_size_check = ON; PRAGMA foreign_keys = OFF;";
    connection.execute_batch(settings).map_err(refusal)
}

/// Makes the tables of a new file, and refuses a file that is none of ours.
pub(crate) fn settle(connection: &mut Connection) -> Result<(), StoreError> {
    let transaction = connection
        .transaction_with_behavior(rusqlite::TransactionBehavior::Immediate)
        .map_err(refusal)?;
    let number = |pragma: &str| -> Result<i64, StoreError> {
        transaction
            .query_row(&format!("PRAGMA {pragma}"), [], |row| row.get(0))
            .map_err(refusal)
    };
    let (found, mark) = (number("user_version")?, number("application_id")?);
    match (found, mark) {
        (0, 0) if number("schema_version")? == 0 => {
            transaction.execute_batch(TABLES).map_err(refusal)?;
            let marks = format!(
                "PRAGMA user_version = {VERSION}; PRAGMA application_id = {APPLICATION_ID};"
            );
            transaction.execute_batch(&marks).map_err(refusal)?;
            transaction.commit().map_err(refusal)
        }
        (VERSION, APPLICATION_ID) => Ok(()),
        (found, APPLICATION_ID) if found > VERSION => Err(StoreError::Newer {
            found,
            known: VERSION,
        }),
        _ => Err(StoreError::Unavailable(
            "the file is the database of another program".to_owned(),
        )),
    }
}

/// SQLite's words as ours.
pub(crate) fn refusal(error: rusqlite::Error) -> StoreError {
    match error.sqlite_error_code() {
        Some(ErrorCode::DiskFull) => StoreError::Full,
        // The writer checks the numbers of records by itself; what is left are saved results.
        Some(ErrorCode::ConstraintViolation) => StoreError::Taken,
        Some(ErrorCode::DatabaseCorrupt | ErrorCode::NotADatabase) => {
            StoreError::Damaged("its database cannot be read")
        }
        _ => StoreError::Unavailable(format!("the database: {error}")),
    }
}
