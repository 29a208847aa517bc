//! The seam to whatever keeps cells over the end of a process.
//!
//! A store keeps each cell as a row of its own and a list of numbered records, of which it knows
//! nothing but number and kind. It seals them, appends them in order and without gaps, and makes sure
//! that one process at a time runs a cell. What records mean is the business of this crate alone.

use codecell_protocol::CellId;
use codecell_sandbox::SnapshotKey;

/// Why a store did not do what it was asked for.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum StoreError {
    /// No room is left on the disk.
    #[error("the disk that holds the store is full; free some space")]
    Full,
    /// What was read is not what was written.
    #[error("the stored cell is damaged: {0}")]
    Damaged(&'static str),
    /// A newer program wrote it.
    #[error(
        "the store has format {found}, this program knows {known}; use the newer program, or name another file in snapshotStore.path"
    )]
    Newer {
        /// Its format.
        found: i64,
        /// The newest format that this program reads.
        known: i64,
    },
    /// Records would not follow each other: another process writes, or an earlier write failed.
    #[error("the record does not follow the last one that is stored")]
    Gap,
    /// There is a saved result of this number already.
    #[error("another process saved a result of the same number")]
    Taken,
    /// Anything else, in the words of whoever refused.
    #[error("{0}")]
    Unavailable(String),
}

/// What a row says of its cell, for whoever lists the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RowState {
    /// A leg has started. If nobody owns the cell, the leg died.
    Running,
    /// Suspended: `wait` goes on with it.
    Suspended,
    /// It has given its last result.
    Ended,
}

impl RowState {
    /// The word for people.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Running => "running",
            Self::Suspended => "suspended",
            Self::Ended => "ended",
        }
    }
}

/// The row of one cell.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRow {
    /// Its id.
    pub id: CellId,
    /// What it is doing.
    pub state: RowState,
    /// When it may be swept, in microseconds since the Unix epoch.
    pub expires_us: u64,
}

/// One record of a cell's journal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredRecord {
    /// Its number in the cell, from 1 and without gaps.
    pub number: u64,
    /// What kind of record it is.
    pub kind: u8,
    /// Its bytes, in the clear.
    pub bytes: Vec<u8>,
}

/// A cell as it was read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredCell {
    /// Its row.
    pub row: StoredRow,
    /// Its records, rising. The numbers may start late: what a suspension replaces can be dropped.
    pub records: Vec<StoredRecord>,
}

/// Called once with what became of a write.
pub type Done = Box<dyn FnOnce(Result<(), StoreError>) + Send>;

/// One change of one cell, written whole or not at all.
pub struct Write {
    /// The cell.
    pub cell: CellId,
    /// The row as it is from now on.
    pub state: RowState,
    /// When the row may be swept, in microseconds since the Unix epoch.
    pub expires_us: u64,
    /// Records with smaller numbers are dropped.
    pub drop_below: Option<u64>,
    /// Further records.
    pub records: Vec<StoredRecord>,
    /// Somebody waits for it; what nobody waits for is written along with what comes next, or soon.
    pub urgent: bool,
    /// Told when the change is as safe as the disk can make it, or has failed.
    pub done: Done,
}

impl std::fmt::Debug for Write {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Write")
            .field("cell", &self.cell)
            .field("state", &self.state)
            .field("records", &self.records.len())
            .finish_non_exhaustive()
    }
}

/// That this process, and no other, runs a cell. Dropping it lets go; so does the end of the process.
pub trait Ownership: Send + Sync {}

/// A value that a program put away with `results.save`, or that the host saved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StoredValue {
    /// Its number within its scope.
    pub number: u64,
    /// The host saved it by itself.
    pub by_host: bool,
    /// Its JSON.
    pub json: Vec<u8>,
}

/// What becomes of a scope's saved values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ValueChange {
    /// A further value.
    Put(StoredValue),
    /// One is gone.
    Delete(u64),
}

/// Keeps cells over the end of a process.
pub trait SnapshotStore: Send + Sync {
    /// Takes the cell for this process; `None` when another one, or another leg, has it.
    ///
    /// # Errors
    /// When the store cannot be asked.
    fn own(&self, id: &CellId) -> Result<Option<Box<dyn Ownership>>, StoreError>;

    /// Queues a change. Changes of one cell happen in the order of their calls; one whose records do
    /// not follow the last that is stored fails, and so do all after a failed one.
    fn write(&self, write: Write);

    /// The cell, if there is one.
    ///
    /// # Errors
    /// When it cannot be read, or is not what was written.
    fn read(&self, id: &CellId) -> Result<Option<StoredCell>, StoreError>;

    /// All rows, in the order of their ids.
    ///
    /// # Errors
    /// When they cannot be read.
    fn rows(&self) -> Result<Vec<StoredRow>, StoreError>;

    /// Forgets a cell.
    ///
    /// # Errors
    /// When it cannot be removed.
    fn remove(&self, id: &CellId) -> Result<(), StoreError>;

    /// The saved values of a scope, named by its hash, and when they were changed last.
    ///
    /// # Errors
    /// When they cannot be read, or are not what was written.
    fn values(&self, scope: &[u8; 32]) -> Result<Vec<StoredValue>, StoreError>;

    /// Changes the saved values of a scope, which may be swept after `expires_us`.
    ///
    /// # Errors
    /// When nothing was changed; [`StoreError::Taken`] for a further value whose number is in use.
    fn change_value(
        &self,
        scope: &[u8; 32],
        change: ValueChange,
        expires_us: u64,
    ) -> Result<(), StoreError>;

    /// Drops all values of a scope.
    ///
    /// # Errors
    /// When nothing was dropped.
    fn forget_values(&self, scope: &[u8; 32]) -> Result<(), StoreError>;

    /// Drops the values of scopes that have expired.
    ///
    /// # Errors
    /// When nothing was dropped.
    fn sweep_values(&self, now_us: u64) -> Result<(), StoreError>;

    /// The key that authenticates snapshots on their way through the store.
    fn snapshot_key(&self) -> &SnapshotKey;

    /// Waits until everything that was queued is written, or has failed.
    fn flush(&self);
}
