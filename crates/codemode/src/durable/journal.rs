//! The journal of one cell: records are appended in the order in which things happen, and committed
//! where the contract demands that the disk knows first.
//!
//! Appending waits for nothing; committing waits for everything that was appended before. After a
//! record that could not be stored nothing is stored any more, and every later commit fails: the
//! stored journal is always a beginning of the real one.

use std::sync::mpsc::channel;
use std::sync::{Arc, Mutex, MutexGuard, OnceLock, PoisonError};

use codecell_protocol::CellId;
use tokio::sync::oneshot;

use super::record::Record;
use super::store::{Done, Ownership, RowState, SnapshotStore, StoreError, StoredRecord, Write};

/// Takes the records of one cell as they come; for a file that `replay` reads.
pub trait RecordSink: Send + Sync + std::fmt::Debug {
    /// Takes one record.
    fn append(&self, kind: u8, bytes: &[u8]);
}

/// The journal of one cell.
pub(crate) struct Journal {
    cell: CellId,
    store: Option<Arc<dyn SnapshotStore>>,
    sink: Option<Arc<dyn RecordSink>>,
    /// Nothing is dropped at a suspension: the whole journal is a replay record.
    keeps_all: bool,
    failed: Arc<OnceLock<StoreError>>,
    inner: Mutex<Inner>,
}

struct Inner {
    next: u64,
    held: Vec<StoredRecord>,
    holds: u32,
    state: RowState,
    expires_us: u64,
    owner: Option<Box<dyn Ownership>>,
}

impl std::fmt::Debug for Journal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Journal").finish_non_exhaustive()
    }
}

/// Records that are stored together or not at all, until it is dropped.
pub(crate) struct Hold<'a>(&'a Journal);

impl Journal {
    /// A journal that goes on after `last` records. With a store, the cell is owned.
    pub(crate) fn new(
        cell: CellId,
        store: Option<(Arc<dyn SnapshotStore>, Box<dyn Ownership>)>,
        sink: Option<Arc<dyn RecordSink>>,
        keeps_all: bool,
        (last, expires_us): (u64, u64),
    ) -> Self {
        let (store, owner) = store.unzip();
        Self {
            cell,
            store,
            sink,
            keeps_all,
            failed: Arc::default(),
            inner: Mutex::new(Inner {
                next: last + 1,
                held: Vec::new(),
                holds: 0,
                state: RowState::Running,
                expires_us,
                owner,
            }),
        }
    }

    /// Whether the cell outlives this process.
    pub(crate) fn is_durable(&self) -> bool {
        self.store.is_some()
    }

    /// The store, if the cell is durable.
    pub(crate) fn store(&self) -> Option<&Arc<dyn SnapshotStore>> {
        self.store.as_ref()
    }

    /// No code of others runs under this lock but the store's queueing, which changes nothing here.
    fn lock(&self) -> MutexGuard<'_, Inner> {
        self.inner.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Appends a record.
    pub(crate) fn append(&self, record: &Record) {
        let mut inner = self.lock();
        if let Some(sink) = &self.sink {
            sink.append(record.kind(), &record.encode(false));
        }
        if self.store.is_none() {
            return;
        }
        let number = inner.next;
        inner.next += 1;
        inner.held.push(StoredRecord {
            number,
            kind: record.kind(),
            bytes: record.encode(true),
        });
        let drop_below = match record {
            Record::Suspended(..) | Record::Ended(_) if !self.keeps_all => Some(number),
            _ => None,
        };
        if inner.holds == 0 || drop_below.is_some() {
            self.send(&mut inner, drop_below, None, None);
        }
    }

    /// What the row says from the next write on.
    pub(crate) fn set_row(&self, state: RowState, expires_us: u64) {
        let mut inner = self.lock();
        (inner.state, inner.expires_us) = (state, expires_us);
    }

    /// Keeps what is appended from here on together, until the hold is dropped.
    pub(crate) fn hold(&self) -> Hold<'_> {
        self.lock().holds += 1;
        Hold(self)
    }

    /// Waits until everything appended so far is stored.
    ///
    /// # Errors
    /// When this or an earlier record could not be stored.
    pub(crate) fn commit(&self) -> Result<(), StoreError> {
        if self.store.is_none() {
            return Ok(());
        }
        let (told, answer) = channel();
        self.urge(Box::new(move |result| {
            let _ = told.send(result);
        }));
        answer.recv().unwrap_or_else(|_| Err(lost()))
    }

    /// Waits, without holding a thread, until everything appended so far is stored.
    ///
    /// # Errors
    /// When this or an earlier record could not be stored.
    pub(crate) async fn committed(&self) -> Result<(), StoreError> {
        if self.store.is_none() {
            return Ok(());
        }
        let (told, answer) = oneshot::channel();
        self.urge(Box::new(move |result| {
            let _ = told.send(result);
        }));
        answer.await.unwrap_or_else(|_| Err(lost()))
    }

    /// Lets go of the cell as soon as everything is stored, and waits for nothing.
    pub(crate) fn finish(&self) {
        let mut inner = self.lock();
        let owner = inner.owner.take();
        self.send(&mut inner, None, None, owner);
    }

    /// Lets go of the cell: another process may have it once everything is stored.
    pub(crate) fn release(&self) {
        let _ = self.commit();
        self.lock().owner = None;
    }

    fn urge(&self, told: Done) {
        if let Some(error) = self.failed.get() {
            return told(Err(error.clone()));
        }
        let mut inner = self.lock();
        self.send(&mut inner, None, Some(told), None);
    }

    fn send(
        &self,
        inner: &mut Inner,
        drop_below: Option<u64>,
        told: Option<Done>,
        owner: Option<Box<dyn Ownership>>,
    ) {
        let Some(store) = &self.store else { return };
        let failed = Arc::clone(&self.failed);
        let urgent = told.is_some();
        store.write(Write {
            cell: self.cell,
            state: inner.state,
            expires_us: inner.expires_us,
            drop_below,
            records: std::mem::take(&mut inner.held),
            urgent,
            done: Box::new(move |result| {
                drop(owner);
                if let Err(error) = &result {
                    // The first one tells why; later ones only follow from it.
                    let _ = failed.set(error.clone());
                }
                if let Some(told) = told {
                    told(match (result, failed.get()) {
                        (Ok(()), Some(error)) => Err(error.clone()),
                        (Err(_), Some(first)) => Err(first.clone()),
                        (result, None) => result,
                    });
                }
            }),
        });
    }
}

impl Drop for Hold<'_> {
    fn drop(&mut self) {
        let mut inner = self.0.lock();
        inner.holds -= 1;
        if inner.holds == 0 && !inner.held.is_empty() {
            self.0.send(&mut inner, None, None, None);
        }
    }
}

fn lost() -> StoreError {
    StoreError::Unavailable("the store gave no answer".to_owned())
}
