//! What the cells of one run share: saved results, binary content, counts, and the end.

use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use tokio_util::sync::CancellationToken;

use crate::binary::BinaryStore;
use crate::run_results::RunResults;
use crate::scope::Scope;

/// The shared state of one run.
#[derive(Debug)]
pub(crate) struct RunState {
    pub(crate) scope: Arc<Scope>,
    /// Cancelled when the run ends: every cell's own token is a child of it.
    pub(crate) end: CancellationToken,
    pub(crate) saved: RunResults,
    binary: Mutex<BinaryStore>,
    searches: AtomicU32,
    describes: AtomicU32,
    calls: AtomicU32,
}

impl RunState {
    pub(crate) fn new(scope: Arc<Scope>, nonce: u64, saved: RunResults) -> Self {
        Self {
            scope,
            end: CancellationToken::new(),
            saved,
            binary: Mutex::new(BinaryStore::new(nonce)),
            searches: AtomicU32::new(0),
            describes: AtomicU32::new(0),
            calls: AtomicU32::new(0),
        }
    }

    /// No code of others runs under these locks, so a poisoned one still guards a whole state.
    pub(crate) fn binary(&self) -> MutexGuard<'_, BinaryStore> {
        self.binary.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn count_search(&self) {
        self.searches.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_describe(&self) {
        self.describes.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn count_call(&self) {
        self.calls.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes over the counts of a cell that comes back from another process.
    pub(crate) fn add_counts(&self, (searches, describes, calls): (u32, u32, u32)) {
        self.searches.fetch_max(searches, Ordering::Relaxed);
        self.describes.fetch_max(describes, Ordering::Relaxed);
        self.calls.fetch_max(calls, Ordering::Relaxed);
    }

    /// Searches, descriptions and calls so far.
    pub(crate) fn counts(&self) -> (u32, u32, u32) {
        let read = |counter: &AtomicU32| counter.load(Ordering::Relaxed);
        (
            read(&self.searches),
            read(&self.describes),
            read(&self.calls),
        )
    }
}
