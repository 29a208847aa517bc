//! What every cell of the process shares: the sandbox, the executor, the clocks, the shelf of
//! suspended cells. Made once, by [`CodeMode::new`](crate::CodeMode::new), from parts that the
//! composition root chose.

use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Instant;

use codecell_protocol::{CellId, Effects};
use codecell_sandbox::Sandbox;
use codecell_tools::Executor;
use tokio::runtime::Handle;
use tokio::sync::{Notify, Semaphore};
use tokio_util::task::TaskTracker;

use crate::catalog_facts::FactsCache;
use crate::cell::Cell;
use crate::clock::{Clock, Randomness};
use crate::durable::SnapshotStore;
use crate::exec_hook::ExecHook;
use crate::scope::Scope;
use crate::shelf::Shelf;

/// Bounds of the whole process.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ProcessLimits {
    /// Memory limits of the running cells together, in bytes; beyond it cells queue.
    pub max_guest_memory_bytes: u64,
    /// Snapshots and waiting replies of the suspended cells together, in bytes; beyond it no new
    /// cell starts.
    pub max_suspended_bytes: u64,
}

impl Default for ProcessLimits {
    fn default() -> Self {
        Self {
            max_guest_memory_bytes: 4 << 30,
            max_suspended_bytes: 2 << 30,
        }
    }
}

/// Carries a parked cell's bytes somewhere and back; for tests of suspension.
pub trait SnapshotTransport: Send + Sync {
    /// Gives back exactly what came in, after whatever journey.
    ///
    /// # Errors
    /// Why the bytes are lost, in words.
    fn ship(&self, bytes: Vec<u8>) -> Result<Vec<u8>, String>;
}

/// What code mode is made of.
pub struct CodeModeParts {
    /// Where guests run.
    pub sandbox: Sandbox,
    /// The one way to tools.
    pub executor: Arc<Executor>,
    /// Time.
    pub clock: Arc<dyn Clock>,
    /// Ids and seeds.
    pub randomness: Arc<dyn Randomness>,
    /// Where tools run; guest code never does.
    pub runtime: Handle,
    /// Bounds of the process.
    pub limits: ProcessLimits,
    /// Who looks at every `exec`.
    pub hooks: Vec<Arc<dyn ExecHook>>,
    /// Journey of parked cells, for tests; see [`Park::EveryAwait`](crate::Park::EveryAwait).
    pub transport: Option<Arc<dyn SnapshotTransport>>,
    /// Where cells are kept over the end of the process, if they are.
    pub store: Option<Arc<dyn SnapshotStore>>,
    /// The store keeps the whole journal of each cell, to be run again.
    pub keep_records: bool,
}

impl std::fmt::Debug for CodeModeParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CodeModeParts")
            .field("sandbox", &self.sandbox)
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

/// What is left of a cell that expired.
#[derive(Clone, Debug)]
pub(crate) struct Stone {
    pub(crate) scope: Arc<Scope>,
    pub(crate) effects: Option<Effects>,
}

/// Bytes of one permit of the memory gate.
const PERMIT_BYTES: u64 = 1 << 20;

/// See the module's description.
pub(crate) struct Services {
    pub(crate) parts: CodeModeParts,
    pub(crate) facts: FactsCache,
    pub(crate) tasks: TaskTracker,
    /// Wakes the sweeper: something is due earlier than it thinks.
    pub(crate) swept: Notify,
    /// Room for running guests, in MiB.
    pub(crate) memory: Arc<Semaphore>,
    shelf: Mutex<Shelf<Arc<Cell>, Stone>>,
    suspended: AtomicU64,
    suspended_bytes: AtomicU64,
    raw_snapshot_bytes: AtomicU64,
}

impl Services {
    pub(crate) fn new(parts: CodeModeParts) -> Self {
        let permits =
            (parts.limits.max_guest_memory_bytes / PERMIT_BYTES).min(Semaphore::MAX_PERMITS as u64);
        Self {
            parts,
            facts: FactsCache::default(),
            tasks: TaskTracker::new(),
            swept: Notify::new(),
            memory: Arc::new(Semaphore::new(permits as usize)),
            shelf: Mutex::default(),
            suspended: AtomicU64::new(0),
            suspended_bytes: AtomicU64::new(0),
            raw_snapshot_bytes: AtomicU64::new(0),
        }
    }

    pub(crate) fn now(&self) -> Instant {
        self.parts.clock.now()
    }

    pub(crate) fn unix_us(&self) -> u64 {
        self.parts.clock.unix_us()
    }

    /// Permits of the memory gate that a guest of this size takes.
    pub(crate) fn permits(memory_bytes: u64) -> u32 {
        u32::try_from(memory_bytes.div_ceil(PERMIT_BYTES)).unwrap_or(u32::MAX)
    }

    /// No code of others runs under this lock, so a poisoned one still guards a whole state.
    pub(crate) fn shelf(&self) -> MutexGuard<'_, Shelf<Arc<Cell>, Stone>> {
        self.shelf.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Puts a cell on the shelf until then.
    pub(crate) fn shelve(&self, id: CellId, cell: &Arc<Cell>, due: Instant) {
        let mut shelf = self.shelf();
        let is_next = shelf.next_due().is_none_or(|next| due < next);
        shelf.put(id, Arc::clone(cell), due);
        drop(shelf);
        if is_next {
            self.swept.notify_one();
        }
    }

    /// Changes when a shelved cell is due.
    pub(crate) fn reschedule(&self, id: CellId, due: Instant) {
        let mut shelf = self.shelf();
        let is_next = shelf.next_due().is_none_or(|next| due < next);
        shelf.reschedule(id, due);
        drop(shelf);
        if is_next {
            self.swept.notify_one();
        }
    }

    /// Suspended cells, those that a `wait` has woken included.
    pub(crate) fn suspended(&self) -> u64 {
        self.suspended.load(Ordering::Acquire)
    }

    pub(crate) fn add_suspended_bytes(&self, bytes: u64) {
        self.suspended_bytes.fetch_add(bytes, Ordering::AcqRel);
    }

    pub(crate) fn sub_suspended_bytes(&self, bytes: u64) {
        self.suspended_bytes.fetch_sub(bytes, Ordering::AcqRel);
    }

    /// Counts a snapshot that is not compressed, and gives the bytes of the others.
    pub(crate) fn add_raw_snapshot_bytes(&self, bytes: u64) -> u64 {
        self.raw_snapshot_bytes.fetch_add(bytes, Ordering::AcqRel)
    }

    pub(crate) fn sub_raw_snapshot_bytes(&self, bytes: u64) {
        self.raw_snapshot_bytes.fetch_sub(bytes, Ordering::AcqRel);
    }

    /// Bytes of the snapshots that are held.
    pub(crate) fn suspended_bytes(&self) -> u64 {
        self.suspended_bytes.load(Ordering::Acquire)
    }
}

/// A place among the suspended cells of the process, given back when it is dropped.
pub(crate) struct Place {
    services: Arc<Services>,
}

impl Place {
    /// Takes one of `max` places, if one is free.
    pub(crate) fn take(services: &Arc<Services>, max: u64) -> Option<Self> {
        let take = |taken: u64| (taken < max).then_some(taken + 1);
        services
            .suspended
            .fetch_update(Ordering::AcqRel, Ordering::Acquire, take)
            .ok()?;
        Some(Self {
            services: Arc::clone(services),
        })
    }
}

impl Drop for Place {
    fn drop(&mut self) {
        self.services.suspended.fetch_sub(1, Ordering::AcqRel);
    }
}
