//! A guest: one instance, entered slice by slice.
//!
//! A slice runs until the program is done, waits, or is stopped. Between slices no guest frame is on
//! any stack, which is what makes a snapshot possible. A slice that ends as [`SliceEnd::Killed`]
//! leaves a guest that refuses every further entry.

use std::mem::ManuallyDrop;
use std::sync::Arc;
use std::time::{Duration, Instant};

use wasmtime::Trap;

use crate::abi::{Status, control};
use crate::catalog::CatalogImage;
use crate::control::region_mut;
use crate::error::{InputError, SandboxError, SnapshotError};
use crate::frames::{Frame, FrameLimits, decode_frames};
use crate::input::{Entry, Settlement, batch_bytes, write_batch};
use crate::instance::{Export, Instance, Watched};
use crate::limits::Limits;
use crate::sandbox::{Inner, SlotPermit};
use crate::snapshot::{Binding, CatalogPlace, Snapshot};
use crate::stop::{Reason, StopHandle, Watch};
use crate::threads::GuestThread;

/// Why a guest was stopped. It comes from the host's own state, never from what the guest wrote.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Kill {
    /// The entry's deadline passed.
    Deadline,
    /// The entry's guest time was used up.
    GuestBudget,
    /// The stop handle was used.
    Aborted,
    /// The guest wanted more memory than it may have and could not go on without.
    Memory,
    /// Guest code used up its native stack.
    Stack,
    /// Guest code trapped in another way; the text names the trap.
    Trap(&'static str),
    /// The guest broke the bridge's protocol; the text says how and is not for models.
    Protocol(String),
}

/// How a slice ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum SliceEnd {
    /// The program ended and nothing that it started is outstanding.
    Done,
    /// Calls or timers are outstanding.
    Pending {
        /// When the earliest timer is due, microseconds since the Unix epoch.
        next_timer_us: Option<u64>,
    },
    /// `yield_control` took effect; calls may be outstanding too.
    Yielded {
        /// When the earliest timer is due, microseconds since the Unix epoch.
        next_timer_us: Option<u64>,
    },
    /// The program awaits something that nothing outstanding can settle.
    Deadlock,
    /// The guest was stopped and is dead. Its frames are those committed before the end: output
    /// counts, calls must **not** be dispatched and are reported as not started.
    Killed(Kill),
}

/// The engine's own memory figures.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Heap {
    /// Bytes that the engine has allocated.
    pub bytes: u64,
    /// The highest [`Heap::bytes`] so far. In a slice that ended in a trap, which left the engine no time to
    /// tell, at least [`Heap::linear_bytes`]: what it held was in there.
    pub peak_bytes: u64,
    /// Linear memory of the instance, in bytes.
    pub linear_bytes: u64,
}

/// What one entry into the guest gave.
#[derive(Clone, Debug)]
pub struct Slice {
    /// How it ended.
    pub end: SliceEnd,
    /// What the guest wrote, in order.
    pub frames: Vec<Frame>,
    /// Processor time used.
    pub guest_time: Duration,
    /// Memory figures at the end.
    pub heap: Heap,
    /// Calls made and not settled, as the guest counts them.
    pub pending_calls: u32,
    /// Live timers, as the guest counts them.
    pub timers: u32,
    /// Bits of [`crate::abi::fault`].
    pub faults: u32,
    /// Whether the program's own promise has settled.
    pub settled: bool,
}

/// Where a guest is in its life.
enum Stage {
    /// It has a program and has not run.
    Fresh(Vec<u8>),
    /// It waits for settlements.
    Waiting,
    /// It ended by itself.
    Ended,
    /// It was stopped and must not be entered again.
    Dead,
}

/// What could go wrong while the guest was running.
enum Stop {
    Failed(wasmtime::Error),
    NoRoom,
    Protocol(&'static str),
}

impl From<wasmtime::Error> for Stop {
    fn from(error: wasmtime::Error) -> Self {
        Self::Failed(error)
    }
}

/// One guest. Dropping it gives its slot back.
pub struct Guest {
    instance: ManuallyDrop<Instance>,
    stage: Stage,
    limits: Limits,
    catalog: Option<(CatalogImage, CatalogPlace)>,
    /// The catalog of a fresh guest, not yet in its memory.
    catalog_due: Option<CatalogImage>,
    sandbox: Arc<Inner>,
    _permit: SlotPermit,
}

impl std::fmt::Debug for Guest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Guest")
            .field("stage", &self.stage_name())
            .field("limits", &self.limits)
            .finish_non_exhaustive()
    }
}

impl Drop for Guest {
    fn drop(&mut self) {
        // SAFETY: this is the only place that takes the instance, and nothing uses it afterwards. It runs
        // before the permit is dropped: the slot is free when the permit says so.
        let instance = unsafe { ManuallyDrop::take(&mut self.instance) };
        if !matches!(self.stage, Stage::Dead) {
            self.sandbox.keep(instance);
        }
    }
}

impl Guest {
    fn instantiate(
        sandbox: &Arc<Inner>,
        limits: Limits,
        catalog: Option<&CatalogImage>,
    ) -> Result<Self, SandboxError> {
        let permit = sandbox.take_slot()?;
        let catalog_bytes = catalog.map_or(0, |catalog| catalog.bytes().len() as u64);
        let fixed_bytes = sandbox.facts().memory_bytes + catalog_bytes;
        let max_linear_bytes = limits.linear_memory_bytes(fixed_bytes);
        Ok(Self {
            instance: ManuallyDrop::new(sandbox.instance(max_linear_bytes)?),
            stage: Stage::Waiting,
            limits,
            catalog: None,
            catalog_due: None,
            sandbox: Arc::clone(sandbox),
            _permit: permit,
        })
    }

    pub(crate) fn start(
        sandbox: &Arc<Inner>,
        limits: Limits,
        input: Vec<u8>,
        catalog: Option<CatalogImage>,
    ) -> Result<Self, SandboxError> {
        let mut guest = Self::instantiate(sandbox, limits, catalog.as_ref())?;
        guest.stage = Stage::Fresh(input);
        guest.catalog_due = catalog;
        Ok(guest)
    }

    /// A fresh instance that takes up a snapshot whose fields were checked.
    pub(crate) fn restore(
        sandbox: &Arc<Inner>,
        snapshot: &Snapshot,
        catalog: Option<&CatalogImage>,
    ) -> Result<Self, SandboxError> {
        let mut guest = Self::instantiate(sandbox, *snapshot.limits(), catalog)?;
        guest.instance.grow_to(snapshot.memory_pages())?;
        snapshot.write_into(guest.instance.memory_mut(), catalog);
        guest.catalog = catalog.cloned().zip(snapshot.catalog_place());
        Ok(guest)
    }

    /// Runs the program until it is done, waits or is stopped.
    ///
    /// # Errors
    /// [`InputError::WrongStage`] when this guest has been evaluated already.
    pub fn eval(
        &mut self,
        thread: &GuestThread,
        entry: &Entry,
        stop: &StopHandle,
    ) -> Result<Slice, InputError> {
        let Stage::Fresh(input) = &mut self.stage else {
            return Err(InputError::WrongStage("it was evaluated before"));
        };
        let input = std::mem::take(input);
        let catalog = self.catalog_due.take();
        Ok(self.slice(thread, entry, stop, |guest| {
            if let Some(catalog) = catalog {
                guest.place_catalog(catalog)?;
            }
            let length = input.len() as u32;
            guest.place_input(length, |buffer| buffer.copy_from_slice(&input))?;
            drop(input);
            Ok(guest.call(Export::Eval, length)?)
        }))
    }

    /// Delivers settlements, in the order of the batch, and runs on. An empty batch lets due timers fire.
    ///
    /// # Errors
    /// [`InputError`]; the guest is then unharmed and may be entered with a smaller batch.
    pub fn resume(
        &mut self,
        thread: &GuestThread,
        batch: &[Settlement<'_>],
        entry: &Entry,
        stop: &StopHandle,
    ) -> Result<Slice, InputError> {
        if !matches!(self.stage, Stage::Waiting) {
            self.note_refusal();
            return Err(InputError::WrongStage(self.stage_name()));
        }
        let length = batch_bytes(batch, &self.limits)?;
        Ok(self.slice(thread, entry, stop, |guest| {
            guest.place_input(length, |buffer| write_batch(batch, buffer))?;
            Ok(guest.call(Export::Resume, length)?)
        }))
    }

    /// Takes a snapshot of a waiting guest, which may be resumed or dropped afterwards.
    ///
    /// # Errors
    /// [`SnapshotError::LimitExceeded`] when the raw delta passes the guest's limit;
    /// [`SnapshotError::WrongStage`] when it is not waiting.
    pub fn snapshot(&mut self, binding: &Binding) -> Result<Snapshot, SnapshotError> {
        if !matches!(self.stage, Stage::Waiting) {
            self.note_refusal();
            return Err(SnapshotError::WrongStage(self.stage_name()));
        }
        if self.instance.stack_pointer(self.sandbox.parts())
            != Some(self.sandbox.facts().stack_pointer)
        {
            self.stage = Stage::Dead;
            return Err(SnapshotError::Inconsistent("its stack is not empty"));
        }
        let catalog = self.catalog.as_ref().map(|(_, place)| *place);
        let baseline = self.sandbox.baseline()?;
        let memory = self.instance.memory();
        Snapshot::take(baseline, memory, catalog, &self.limits, binding)
    }

    /// The limits that the guest was started with.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.limits
    }

    /// Memory figures, as of the last slice.
    #[must_use]
    pub fn heap(&self) -> Heap {
        let memory = self.instance.memory();
        let block = self.sandbox.control();
        Heap {
            bytes: block.read_u64(memory, control::HEAP_BYTES),
            peak_bytes: block.read_u64(memory, control::HEAP_PEAK_BYTES),
            linear_bytes: memory.len() as u64,
        }
    }

    /// Who asks something of a stopped guest has a defect that diagnosis must show.
    fn note_refusal(&self) {
        if matches!(self.stage, Stage::Dead) {
            self.sandbox.count_dead_entry();
        }
    }

    fn stage_name(&self) -> &'static str {
        match self.stage {
            Stage::Fresh(_) => "it has not been evaluated yet",
            Stage::Waiting => "it is waiting",
            Stage::Ended => "it has ended",
            Stage::Dead => "it was stopped",
        }
    }

    fn slice(
        &mut self,
        thread: &GuestThread,
        entry: &Entry,
        stop: &StopHandle,
        run: impl FnOnce(&mut Self) -> Result<u32, Stop>,
    ) -> Slice {
        // Dead until proven otherwise, so that no path can leave a stopped guest enterable.
        self.stage = Stage::Dead;
        let watch = Watch::start(entry, stop);
        if let Some(reason) = watch.due(Instant::now()) {
            return self.unrun(reason);
        }
        let sandbox = Arc::clone(&self.sandbox);
        let block = sandbox.control();
        block.enter(
            self.instance.memory_mut(),
            entry.now_us,
            entry.seed.as_ref(),
        );
        self.instance.begin(watch, sandbox.crowd(), block);
        let running = sandbox.ticker().enter();
        let outcome = run(self);
        drop(running);
        let watched = self.instance.end();
        if watched.lowered {
            thread.retire();
        }
        self.finish(outcome, &watched)
    }

    fn call(&mut self, export: Export, length: u32) -> wasmtime::Result<u32> {
        self.instance.call(self.sandbox.parts(), export, length)
    }

    /// Asks for an input buffer and fills it.
    fn place_input(&mut self, length: u32, fill: impl FnOnce(&mut [u8])) -> Result<(), Stop> {
        let address = self.call(Export::Input, length)?;
        if address == 0 {
            return Err(Stop::NoRoom);
        }
        let memory = self.instance.memory_mut();
        let buffer = region_mut(memory, address, length)
            .ok_or(Stop::Protocol("the input buffer leaves the memory"))?;
        fill(buffer);
        Ok(())
    }

    fn place_catalog(&mut self, catalog: CatalogImage) -> Result<(), Stop> {
        let length = catalog.bytes().len() as u32;
        let address = self.call(Export::Catalog, length)?;
        if address == 0 {
            return Err(Stop::NoRoom);
        }
        let memory = self.instance.memory_mut();
        let place = CatalogPlace {
            address,
            length,
            hash: *catalog.hash(),
        };
        let region = place
            .region_mut(memory)
            .ok_or(Stop::Protocol("the catalog region is misplaced"))?;
        region.copy_from_slice(catalog.bytes());
        self.catalog = Some((catalog, place));
        Ok(())
    }

    fn finish(&mut self, outcome: Result<u32, Stop>, watched: &Watched) -> Slice {
        let (frames, broken) = self.read_frames();
        let left = outcome.is_ok();
        let end = match (self.judge(outcome, watched.asked), broken) {
            (SliceEnd::Killed(kill), _) => SliceEnd::Killed(kill),
            (_, Some(broken)) => SliceEnd::Killed(Kill::Protocol(broken)),
            (end, None) => end,
        };
        self.stage = match end {
            SliceEnd::Pending { .. } | SliceEnd::Yielded { .. } => Stage::Waiting,
            SliceEnd::Done | SliceEnd::Deadlock => Stage::Ended,
            SliceEnd::Killed(_) => {
                self.sandbox.count_killed();
                Stage::Dead
            }
        };
        let mut heap = self.heap();
        if !left {
            // The guest publishes its figures when it leaves, which it did not.
            heap.peak_bytes = heap.peak_bytes.max(heap.linear_bytes);
        }
        let memory = self.instance.memory();
        let block = self.sandbox.control();
        Slice {
            end,
            frames,
            guest_time: watched.spent,
            heap,
            pending_calls: block.read_u32(memory, control::PENDING_CALLS),
            timers: block.read_u32(memory, control::TIMERS),
            faults: block.read_u32(memory, control::FAULTS),
            settled: block.read_u32(memory, control::SETTLED) != 0,
        }
    }

    /// A slice that was due to stop before it began.
    fn unrun(&mut self, reason: Reason) -> Slice {
        Slice {
            end: SliceEnd::Killed(kill_for(reason)),
            frames: Vec::new(),
            guest_time: Duration::ZERO,
            heap: self.heap(),
            pending_calls: 0,
            timers: 0,
            faults: 0,
            settled: false,
        }
    }

    /// The committed frames, and what was wrong with them.
    fn read_frames(&self) -> (Vec<Frame>, Option<String>) {
        let memory = self.instance.memory();
        match self.sandbox.control().output(memory) {
            None => (
                Vec::new(),
                Some("the output buffer leaves the memory".to_owned()),
            ),
            Some(bytes) => {
                let (frames, error) = decode_frames(bytes, FrameLimits::default());
                (frames, error.map(|error| error.to_string()))
            }
        }
    }

    fn judge(&self, outcome: Result<u32, Stop>, asked: Option<Reason>) -> SliceEnd {
        // Guest code was running when the host asked it to stop: that decides, however it ended.
        if let Some(reason) = asked {
            return SliceEnd::Killed(kill_for(reason));
        }
        let number = match outcome {
            Ok(number) => number,
            Err(stop) => return SliceEnd::Killed(self.kill_of(&stop)),
        };
        let timer = self.next_timer_us();
        match Status::from_u32(number) {
            Some(Status::Done) => SliceEnd::Done,
            Some(Status::Pending) => SliceEnd::Pending {
                next_timer_us: timer,
            },
            Some(Status::Yielded) => SliceEnd::Yielded {
                next_timer_us: timer,
            },
            Some(Status::Deadlock) => SliceEnd::Deadlock,
            Some(Status::Interrupted) => broken("it reports an interrupt that nobody asked for"),
            Some(Status::Internal) => broken("it reports a failure of its plumbing"),
            None => broken("it returned an unknown status"),
        }
    }

    fn next_timer_us(&self) -> Option<u64> {
        let memory = self.instance.memory();
        let due = self
            .sandbox
            .control()
            .read_u64(memory, control::NEXT_TIMER_US);
        (due != 0).then_some(due)
    }

    fn kill_of(&self, stop: &Stop) -> Kill {
        let error = match stop {
            Stop::NoRoom => return Kill::Memory,
            Stop::Protocol(how) => return Kill::Protocol((*how).to_owned()),
            Stop::Failed(error) => error,
        };
        match error.downcast_ref::<Trap>() {
            Some(Trap::StackOverflow) => Kill::Stack,
            Some(_) if self.instance.growth_was_refused() => Kill::Memory,
            Some(trap) => Kill::Trap(trap_name(*trap)),
            None => Kill::Trap("host failure"),
        }
    }
}

fn kill_for(reason: Reason) -> Kill {
    match reason {
        Reason::Aborted => Kill::Aborted,
        Reason::Deadline => Kill::Deadline,
        Reason::GuestBudget => Kill::GuestBudget,
    }
}

fn broken(how: &str) -> SliceEnd {
    SliceEnd::Killed(Kill::Protocol(how.to_owned()))
}

fn trap_name(trap: Trap) -> &'static str {
    match trap {
        Trap::MemoryOutOfBounds => "memory access out of bounds",
        Trap::HeapMisaligned => "misaligned access",
        Trap::TableOutOfBounds => "table access out of bounds",
        Trap::IndirectCallToNull => "call of a null function",
        Trap::BadSignature => "call with another signature",
        Trap::IntegerOverflow => "integer overflow",
        Trap::IntegerDivisionByZero => "division by zero",
        Trap::BadConversionToInteger => "bad conversion to integer",
        Trap::UnreachableCodeReached => "unreachable code",
        Trap::Interrupt => "interrupt",
        _ => "other trap",
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::input::{EvalFlags, Program};
    use crate::pagemap;
    use crate::sandbox::{Sandbox, SandboxOptions};
    use crate::snapshot::changed_both_ways;

    fn evaluated(sandbox: &Sandbox, thread: &GuestThread, source: &str) -> Guest {
        let program = Program {
            source,
            injection: "",
            catalog: None,
            limits: Limits::default(),
            first_line: 0,
            flags: EvalFlags::default(),
        };
        let mut guest = sandbox.start(&program).unwrap();
        let entry = Entry {
            now_us: 1,
            seed: None,
            deadline: Instant::now() + Duration::from_secs(20),
            guest_budget: Duration::from_millis(200),
        };
        guest.eval(thread, &entry, &StopHandle::new()).unwrap();
        guest
    }

    /// Runs on a guest thread of a sandbox whose guests do as they are told.
    fn with_liar(check: fn(&Sandbox, &GuestThread)) {
        let image = include_bytes!("../tests/liar/liar.wasm");
        let sandbox = Sandbox::with_image(&SandboxOptions::default(), image).unwrap();
        let inner = sandbox.clone();
        let ran = sandbox.run("test", move |thread: &GuestThread| check(&inner, thread));
        assert_eq!(ran.unwrap(), Some(()));
    }

    #[test]
    fn the_kernel_and_the_comparison_agree_on_what_changed() {
        with_liar(|sandbox, thread| {
            for source in ["w", "W", "w"] {
                let guest = evaluated(sandbox, thread, source);
                let memory = guest.instance.memory();
                let (scanned, compared) =
                    changed_both_ways(guest.sandbox.baseline().unwrap(), memory);
                assert!(!compared.is_empty());
                assert_eq!(scanned, compared);
            }
        });
    }

    #[test]
    fn what_ended_well_is_kept_as_new_and_all_else_is_dropped() {
        with_liar(|sandbox, thread| {
            let kept_after = |source| {
                let guest = evaluated(sandbox, thread, source);
                let inner = Arc::clone(&guest.sandbox);
                drop(guest);
                let instance = inner.kept().take()?;
                assert!(instance.memory() == inner.baseline().unwrap().memory());
                inner.keep(instance);
                Some(())
            };
            // Grown, stopped, trapped, breaking the protocol.
            for source in ["W", "l", "t", "u"] {
                let expected = pagemap::is_supported().then_some(());
                assert_eq!(kept_after("w"), expected);
                assert_eq!(kept_after("d"), expected);
                assert_eq!(kept_after(source), None, "{source}");
            }
        });
    }
}
