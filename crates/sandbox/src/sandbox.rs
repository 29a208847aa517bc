//! The sandbox: one engine, one image, a pool of slots and the threads that guests run on.

use std::num::NonZero;
use std::path::PathBuf;
use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use wasmtime::{Engine, InstancePre, Linker, Module};

use crate::cache;
use crate::catalog::CatalogImage;
use crate::control::Control;
use crate::crowd::Crowd;
use crate::engine::{self, PoolShape};
use crate::error::{RestoreError, SandboxError, SnapshotError};
use crate::guest::Guest;
use crate::image::{ExportIndices, Facts, ImageHash, check_module};
use crate::input::Program;
use crate::instance::{self, HostState, Instance};
use crate::kept::{self, Kept};
use crate::limits::Limits;
use crate::pagemap;
use crate::snapshot::{Baseline, Snapshot, StoredSnapshot};
use crate::threads::{GuestThread, QueueFull, Threads, Ticket};
use crate::ticker::Ticker;

/// The guest image that is part of this program.
static GUEST: &[u8] = include_bytes!("../guest.wasm");

/// What the image was built from, and its hash: hashing it again would slow every start.
static GUEST_LOCK: &str = include_str!("../guest.lock");

/// Version of the WebAssembly engine.
const ENGINE: &str = "wasmtime 48";

/// How a sandbox is made.
pub struct SandboxOptions<'a> {
    /// Where the compiled guest is kept, in a subfolder of its own; `None` compiles in memory.
    pub cache_dir: Option<PathBuf>,
    /// Guests that may exist at once, 1 to 4096, running or live between slices.
    pub max_guests: u32,
    /// Jobs that may wait for a guest thread.
    pub max_queued: u32,
    /// The largest [`Limits::memory_bytes`] that a guest may ask for.
    pub max_memory_bytes: u32,
    /// For a process that runs one guest and ends: one slot, and nothing kept mapped for the next.
    pub one_shot: bool,
    /// Told when the guest has to be compiled, which takes seconds.
    pub progress: Option<&'a dyn Fn(&str)>,
}

impl Default for SandboxOptions<'_> {
    fn default() -> Self {
        Self {
            cache_dir: None,
            max_guests: 64,
            max_queued: 4096,
            max_memory_bytes: 1 << 30,
            one_shot: false,
            progress: None,
        }
    }
}

impl std::fmt::Debug for SandboxOptions<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("SandboxOptions")
            .field("cache_dir", &self.cache_dir)
            .field("max_guests", &self.max_guests)
            .field("max_memory_bytes", &self.max_memory_bytes)
            .field("one_shot", &self.one_shot)
            .finish_non_exhaustive()
    }
}

/// What became of the cache of the compiled guest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CacheState {
    /// It was found and used.
    Hit,
    /// The guest was compiled and stored.
    Stored,
    /// The guest was compiled; it could not be read or stored.
    Unusable {
        /// Why.
        reason: String,
    },
    /// No folder was given.
    Disabled,
}

/// What a sandbox is made of, for diagnosis.
#[derive(Clone, Debug)]
pub struct SandboxInfo {
    /// The engine and its version.
    pub engine: &'static str,
    /// The guest image.
    pub image: ImageHash,
    /// What became of the cache.
    pub cache: CacheState,
    /// Guests that may exist at once.
    pub max_guests: u32,
    /// Guests that exist.
    pub guests: u32,
    /// Guest threads that exist.
    pub threads: u32,
    /// Jobs that wait for a thread.
    pub queued: u32,
    /// Instances that were stopped or broke the rules, since the start.
    pub killed: u64,
    /// Attempts to go on with such an instance, since the start; each was refused.
    pub dead_entries: u64,
    /// Whether the kernel tells which pages a guest has written.
    pub pagemap_scan: bool,
}

/// The parts that make an instance.
pub(crate) struct Parts {
    pub(crate) engine: Engine,
    pub(crate) pre: InstancePre<HostState>,
    pub(crate) exports: ExportIndices,
}

pub(crate) struct Inner {
    parts: Parts,
    facts: Facts,
    image: ImageHash,
    baseline: OnceLock<Baseline>,
    reading: Mutex<()>,
    cache: CacheState,
    guests: Arc<AtomicU32>,
    killed: AtomicU64,
    dead_entries: AtomicU64,
    max_guests: u32,
    max_memory_bytes: u32,
    kept: Kept,
    /// Whether instances are kept at all.
    keeps: bool,
    ticker: Ticker,
    crowd: Arc<Crowd>,
    threads: Threads,
}

impl Inner {
    pub(crate) fn parts(&self) -> &Parts {
        &self.parts
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    pub(crate) fn control(&self) -> Control {
        Control::new(self.facts.control)
    }

    pub(crate) fn ticker(&self) -> &Ticker {
        &self.ticker
    }

    pub(crate) fn crowd(&self) -> &Arc<Crowd> {
        &self.crowd
    }

    /// The memory of a fresh guest, read at first use: a process that suspends nothing needs none.
    pub(crate) fn baseline(&self) -> Result<&Baseline, SandboxError> {
        if let Some(baseline) = self.baseline.get() {
            return Ok(baseline);
        }
        // One at a time: there is one slot for this beyond those of guests.
        let _reading = self.reading.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(baseline) = self.baseline.get() {
            return Ok(baseline);
        }
        let memory = instance::read_baseline(&self.parts, &self.facts)?;
        Ok(self
            .baseline
            .get_or_init(|| Baseline::new(self.image, self.facts, memory)))
    }

    /// An instance in its first state.
    pub(crate) fn instance(&self, max_linear_bytes: u64) -> Result<Instance, SandboxError> {
        match self.kept.take() {
            Some(mut instance) => {
                instance.reuse(max_linear_bytes);
                Ok(instance)
            }
            None => Instance::new(&self.parts, max_linear_bytes),
        }
    }

    /// Takes an instance back whose guest ended well.
    pub(crate) fn keep(&self, instance: Instance) {
        if !self.keeps {
            return;
        }
        if let Ok(baseline) = self.baseline() {
            self.kept.put_back(instance, &self.parts, baseline);
        }
    }

    #[cfg(test)]
    pub(crate) fn kept(&self) -> &Kept {
        &self.kept
    }

    pub(crate) fn take_slot(&self) -> Result<SlotPermit, SandboxError> {
        let permit = SlotPermit {
            guests: Arc::clone(&self.guests),
        };
        if self.guests.fetch_add(1, Ordering::AcqRel) >= self.max_guests {
            return Err(SandboxError::NoSlot {
                max_guests: self.max_guests,
            });
        }
        Ok(permit)
    }

    /// Takes note that an instance was stopped or broke the rules.
    pub(crate) fn count_killed(&self) {
        self.killed.fetch_add(1, Ordering::Relaxed);
    }

    /// Takes note that somebody tried to go on with such an instance.
    pub(crate) fn count_dead_entry(&self) {
        self.dead_entries.fetch_add(1, Ordering::Relaxed);
    }

    fn check_limits(&self, limits: &Limits) -> Result<(), SandboxError> {
        if limits.memory_bytes > self.max_memory_bytes {
            return Err(SandboxError::MemoryLimit {
                bytes: limits.memory_bytes.into(),
                max_bytes: self.max_memory_bytes.into(),
            });
        }
        Ok(())
    }
}

/// A guest's right to a slot.
#[derive(Debug)]
pub(crate) struct SlotPermit {
    guests: Arc<AtomicU32>,
}

impl Drop for SlotPermit {
    fn drop(&mut self) {
        self.guests.fetch_sub(1, Ordering::AcqRel);
    }
}

/// A sandbox. Clones share it; it ends with its last clone and guest.
#[derive(Clone)]
pub struct Sandbox {
    inner: Arc<Inner>,
}

impl std::fmt::Debug for Sandbox {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Sandbox")
            .field("image", &self.inner.image)
            .finish_non_exhaustive()
    }
}

impl Sandbox {
    /// Makes a sandbox for the guest image that is part of this program.
    ///
    /// # Errors
    /// [`SandboxError`] when the engine cannot start. A cache that cannot be used is no error, see
    /// [`SandboxInfo::cache`].
    pub fn new(options: &SandboxOptions<'_>) -> Result<Self, SandboxError> {
        Self::make(options, GUEST, guest_hash())
    }

    /// Makes a sandbox for another guest image; for tests of the host against guests that lie.
    ///
    /// # Errors
    /// As [`new`](Self::new), and [`SandboxError::Image`] for an image that breaks the bridge's rules.
    #[doc(hidden)]
    pub fn with_image(options: &SandboxOptions<'_>, wasm: &[u8]) -> Result<Self, SandboxError> {
        Self::make(options, wasm, ImageHash::of(wasm))
    }

    fn make(
        options: &SandboxOptions<'_>,
        wasm: &[u8],
        image: ImageHash,
    ) -> Result<Self, SandboxError> {
        let max_guests = if options.one_shot {
            1
        } else {
            options.max_guests.clamp(1, 4096)
        };
        let largest = Limits {
            memory_bytes: options.max_memory_bytes,
            ..Limits::widest()
        };
        let engine = engine::make(PoolShape {
            // One more than guests: the pristine memory is read from an instance of its own.
            // And what is kept, which no guest holds.
            slots: max_guests + 1 + if options.one_shot { 0 } else { kept::MOST },
            memory_bytes: largest.linear_memory_bytes(Limits::FIXED_ALLOWANCE_BYTES),
            keep_resident: !options.one_shot,
        })?;
        let (module, cache) = cache::load_or_compile(
            &engine,
            wasm,
            image,
            options.cache_dir.as_deref(),
            options.progress,
        )?;
        let parts = Parts {
            exports: check_module(&module, wasm)?,
            pre: prepare(&engine, &module)?,
            engine,
        };
        let facts = instance::read_facts(&parts)?;
        let ticker = Ticker::new(parts.engine.clone());
        ticker.start()?;
        let crowd = Arc::new(Crowd::new(processors()));
        let inner = Inner {
            parts,
            facts,
            image,
            baseline: OnceLock::new(),
            reading: Mutex::default(),
            cache,
            guests: Arc::default(),
            killed: AtomicU64::new(0),
            dead_entries: AtomicU64::new(0),
            max_guests,
            max_memory_bytes: options.max_memory_bytes,
            kept: Kept::default(),
            keeps: !options.one_shot,
            ticker,
            threads: Threads::new(max_guests, options.max_queued, Arc::clone(&crowd)),
            crowd,
        };
        Ok(Self {
            inner: Arc::new(inner),
        })
    }

    /// The guest image, which snapshots are bound to.
    #[must_use]
    pub fn image(&self) -> ImageHash {
        self.inner.image
    }

    /// What the sandbox is made of, for diagnosis.
    #[must_use]
    pub fn info(&self) -> SandboxInfo {
        let (threads, queued) = self.inner.threads.counts();
        SandboxInfo {
            engine: ENGINE,
            image: self.inner.image,
            cache: self.inner.cache.clone(),
            max_guests: self.inner.max_guests,
            guests: self.inner.guests.load(Ordering::Acquire),
            threads,
            queued,
            killed: self.inner.killed.load(Ordering::Relaxed),
            dead_entries: self.inner.dead_entries.load(Ordering::Relaxed),
            pagemap_scan: pagemap::is_supported(),
        }
    }

    /// Makes a fresh guest for a program. Nothing of it runs before [`Guest::eval`].
    ///
    /// # Errors
    /// [`SandboxError::NoSlot`] when all slots hold a guest, [`SandboxError::TooLarge`] and
    /// [`SandboxError::MemoryLimit`] for a program that does not fit.
    pub fn start(&self, program: &Program<'_>) -> Result<Guest, SandboxError> {
        self.inner.check_limits(&program.limits)?;
        let input = program.encode()?;
        Guest::start(&self.inner, program.limits, input, program.catalog.cloned())
    }

    /// Brings a snapshot back to life in a fresh guest, to be resumed. The caller sees to it that each
    /// sequence number is resumed once.
    ///
    /// # Errors
    /// [`RestoreError`] when the snapshot is of another image, contradicts itself or needs another
    /// catalog; nothing of the guest has run then.
    pub fn restore(
        &self,
        snapshot: &Snapshot,
        catalog: Option<&CatalogImage>,
    ) -> Result<Guest, RestoreError> {
        self.inner.check_limits(snapshot.limits())?;
        snapshot.check(self.inner.image, &self.inner.facts, catalog)?;
        Ok(Guest::restore(&self.inner, snapshot, catalog)?)
    }

    /// Compresses a snapshot against the image, for keeping.
    ///
    /// # Errors
    /// [`SnapshotError::Compress`] when memory runs out.
    pub fn compress(&self, snapshot: &Snapshot) -> Result<StoredSnapshot, SnapshotError> {
        self.inner.baseline()?.compress(snapshot)
    }

    /// Undoes [`compress`](Self::compress).
    ///
    /// # Errors
    /// [`RestoreError`] when the stored form is damaged or belongs to another image.
    pub fn expand(&self, stored: &StoredSnapshot) -> Result<Snapshot, RestoreError> {
        self.inner.baseline()?.expand(stored)
    }

    /// Runs a job on a guest thread, at once or when one is free. Sessions take turns.
    ///
    /// # Errors
    /// [`QueueFull`] when too many jobs wait already.
    pub fn spawn(
        &self,
        session: &str,
        job: impl FnOnce(&GuestThread) + Send + 'static,
    ) -> Result<Ticket, QueueFull> {
        self.inner.threads.spawn(session, Box::new(job))
    }

    /// As [`spawn`](Self::spawn), but waits for the job and gives its value; `None` when it panicked.
    /// Not to be called on a guest thread, which might be the one that the job needs.
    ///
    /// # Errors
    /// [`QueueFull`] when too many jobs wait already.
    pub fn run<T: Send + 'static>(
        &self,
        session: &str,
        job: impl FnOnce(&GuestThread) -> T + Send + 'static,
    ) -> Result<Option<T>, QueueFull> {
        let (send, receive) = std::sync::mpsc::sync_channel(1);
        let _ticket = self.spawn(session, move |thread| {
            // The receiver waits below; it cannot be gone.
            let _ = send.send(job(thread));
        })?;
        Ok(receive.recv().ok())
    }
}

/// The hash of [`GUEST`], as its lock file states it.
fn guest_hash() -> ImageHash {
    let stated = GUEST_LOCK
        .split_once("\"output\": \"")
        .and_then(|(_, rest)| rest.get(..64))
        .and_then(|hex| blake3::Hash::from_hex(hex).ok());
    stated.map_or_else(|| ImageHash::of(GUEST), |hash| ImageHash(*hash.as_bytes()))
}

fn processors() -> usize {
    std::thread::available_parallelism().map_or(1, NonZero::get)
}

fn prepare(engine: &Engine, module: &Module) -> Result<InstancePre<HostState>, SandboxError> {
    Linker::new(engine)
        .instantiate_pre(module)
        .map_err(|error| SandboxError::Instantiate(format!("{error:#}")))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_lock_file_states_the_hash_of_the_guest() {
        assert!(GUEST_LOCK.contains(&ImageHash::of(GUEST).to_hex()));
        assert_eq!(guest_hash(), ImageHash::of(GUEST));
    }
}
