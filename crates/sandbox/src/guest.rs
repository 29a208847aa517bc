//! A guest: one instance, entered slice by slice.
//!
//! A slice runs until the program is done, waits, or is stopped. Between slices no guest frame is on
//! any stack, which is what makes a snapshot possible. A slice that ends as [`SliceEnd::Killed`]
//! leaves a guest that refuses every further entry.

use std::sync::Arc;
use std::time::{Duration, Instant};

use wasmtime::{
    Extern, Global, Instance, Memory, ResourceLimiter, Store, StoreContextMut, Trap, TypedFunc,
    UpdateDeadline, Val, WasmParams, WasmResults,
};

use crate::abi::{ABI_VERSION, CONTROL_BYTES, Status, control};
use crate::catalog::CatalogImage;
use crate::clock;
use crate::control::{Control, region, region_mut};
use crate::crowd::Member;
use crate::error::{InputError, SandboxError, SnapshotError};
use crate::frames::{Frame, FrameLimits, decode_frames};
use crate::image::{self, ExportIndices, Facts};
use crate::input::{Entry, Settlement, batch_bytes, write_batch};
use crate::limits::Limits;
use crate::sandbox::{Inner, Parts, SlotPermit};
use crate::snapshot::{Binding, CatalogPlace, Snapshot};
use crate::stop::{Reason, StopHandle, Verdict, Watch};
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
    /// The highest [`Heap::bytes`] so far.
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

/// What the host knows about an instance while it runs.
pub(crate) struct HostState {
    max_linear_bytes: u64,
    growth_refused: bool,
    watch: Option<Watch>,
    running: Option<(Memory, Control)>,
    lowered: bool,
    /// The running slice among all others.
    member: Option<Member>,
}

impl ResourceLimiter for HostState {
    fn memory_growing(
        &mut self,
        _: usize,
        desired: usize,
        maximum: Option<usize>,
    ) -> wasmtime::Result<bool> {
        let allowed = desired as u64 <= self.max_linear_bytes
            && maximum.is_none_or(|maximum| desired <= maximum);
        self.growth_refused |= !allowed;
        Ok(allowed)
    }

    fn table_growing(
        &mut self,
        current: usize,
        desired: usize,
        _: Option<usize>,
    ) -> wasmtime::Result<bool> {
        // Instantiation announces the table's first size as growth from nothing.
        Ok(current == 0 || desired <= current)
    }
}

/// Judges the running slice; called in guest code each time the epoch has risen.
fn on_epoch(mut context: StoreContextMut<'_, HostState>) -> wasmtime::Result<UpdateDeadline> {
    match context.data_mut().judge() {
        Verdict::Trap => return Ok(UpdateDeadline::Interrupt),
        Verdict::Interrupt => {
            if let Some((memory, block)) = context.data().running {
                block.write(
                    memory.data_mut(&mut context),
                    control::INTERRUPT,
                    &1u32.to_le_bytes(),
                );
            }
        }
        Verdict::Continue | Verdict::Long => {}
    }
    Ok(UpdateDeadline::Continue(1))
}

impl HostState {
    /// The verdict on the running slice, after it has stepped aside for others if it should.
    fn judge(&mut self) -> Verdict {
        let Some(watch) = &mut self.watch else {
            return Verdict::Trap;
        };
        let verdict = watch.check(Instant::now());
        if verdict == Verdict::Long {
            self.lowered = clock::lower_priority();
            if let Some(member) = &mut self.member {
                member.becomes_long();
            }
        }
        let pause = self.member.as_ref().and_then(Member::pause);
        let Some(pause) = pause.filter(|_| watch.reason().is_none()) else {
            return verdict;
        };
        std::thread::sleep(pause.min(watch.until_deadline()));
        watch.check(Instant::now())
    }
}

/// The exports of one instance.
struct Exports {
    memory: Memory,
    stack_pointer: Global,
    input: TypedFunc<u32, u32>,
    catalog: TypedFunc<u32, u32>,
    eval: TypedFunc<u32, u32>,
    resume: TypedFunc<u32, u32>,
}

impl Exports {
    fn of(
        store: &mut Store<HostState>,
        instance: Instance,
        indices: &ExportIndices,
    ) -> Option<Self> {
        Some(Self {
            memory: instance
                .get_module_export(&mut *store, &indices.memory)?
                .into_memory()?,
            stack_pointer: instance
                .get_module_export(&mut *store, &indices.stack_pointer)?
                .into_global()?,
            input: function(store, instance, &indices.input)?,
            catalog: function(store, instance, &indices.catalog)?,
            eval: function(store, instance, &indices.eval)?,
            resume: function(store, instance, &indices.resume)?,
        })
    }
}

fn function<P: WasmParams, R: WasmResults>(
    store: &mut Store<HostState>,
    instance: Instance,
    index: &wasmtime::ModuleExport,
) -> Option<TypedFunc<P, R>> {
    instance
        .get_module_export(&mut *store, index)
        .and_then(Extern::into_func)?
        .typed(&*store)
        .ok()
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
    // Dropped before the permit: the slot must be free when the permit says so.
    store: Store<HostState>,
    exports: Exports,
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
        let (store, exports, _) = make_instance(
            sandbox.parts(),
            HostState {
                max_linear_bytes,
                ..plain_state()
            },
        )?;
        Ok(Self {
            store,
            exports,
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
        let memory = guest.exports.memory;
        let wanted = u64::from(snapshot.memory_pages());
        let delta = wanted.saturating_sub(memory.size(&guest.store));
        if delta > 0 {
            memory
                .grow(&mut guest.store, delta)
                .map_err(|error| SandboxError::Instantiate(format!("{error:#}")))?;
        }
        snapshot.write_into(memory.data_mut(&mut guest.store), catalog);
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
        let Stage::Fresh(input) = std::mem::replace(&mut self.stage, Stage::Dead) else {
            return Err(InputError::WrongStage("it was evaluated before"));
        };
        let catalog = self.catalog_due.take();
        Ok(self.slice(thread, entry, stop, |guest| {
            if let Some(catalog) = catalog {
                guest.place_catalog(catalog)?;
            }
            let length = input.len() as u32;
            guest.place_input(length, |buffer| buffer.copy_from_slice(&input))?;
            drop(input);
            Ok(guest.exports.eval.call(&mut guest.store, length)?)
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
            return Err(InputError::WrongStage(self.stage_name()));
        }
        let length = batch_bytes(batch, &self.limits)?;
        Ok(self.slice(thread, entry, stop, |guest| {
            guest.place_input(length, |buffer| write_batch(batch, buffer))?;
            Ok(guest.exports.resume.call(&mut guest.store, length)?)
        }))
    }

    /// Takes a snapshot of a waiting guest, which may be resumed or dropped afterwards.
    ///
    /// # Errors
    /// [`SnapshotError::LimitExceeded`] when the raw delta passes the guest's limit;
    /// [`SnapshotError::WrongStage`] when it is not waiting.
    pub fn snapshot(&mut self, binding: &Binding) -> Result<Snapshot, SnapshotError> {
        if !matches!(self.stage, Stage::Waiting) {
            return Err(SnapshotError::WrongStage(self.stage_name()));
        }
        if self.stack_pointer() != Some(self.sandbox.facts().stack_pointer) {
            self.stage = Stage::Dead;
            return Err(SnapshotError::Inconsistent("its stack is not empty"));
        }
        let catalog = self.catalog.as_ref().map(|(_, place)| *place);
        let baseline = self.sandbox.baseline()?;
        let memory = self.exports.memory.data(&self.store);
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
        let memory = self.exports.memory.data(&self.store);
        let block = self.sandbox.control();
        Heap {
            bytes: block.read_u64(memory, control::HEAP_BYTES),
            peak_bytes: block.read_u64(memory, control::HEAP_PEAK_BYTES),
            linear_bytes: memory.len() as u64,
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

    fn stack_pointer(&mut self) -> Option<u32> {
        match self.exports.stack_pointer.get(&mut self.store) {
            Val::I32(value) => Some(value.cast_unsigned()),
            _ => None,
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
        let outcome = self.run(watch, entry, run);
        let state = self.store.data_mut();
        state.member = None;
        if std::mem::take(&mut state.lowered) {
            thread.retire();
        }
        let (asked, guest_time) = state.watch.take().map_or((None, Duration::ZERO), |watch| {
            (watch.reason(), watch.spent())
        });
        self.finish(outcome, asked, guest_time)
    }

    fn run(
        &mut self,
        watch: Watch,
        entry: &Entry,
        run: impl FnOnce(&mut Self) -> Result<u32, Stop>,
    ) -> Result<u32, Stop> {
        let block = self.sandbox.control();
        let memory = self.exports.memory;
        block.enter(
            memory.data_mut(&mut self.store),
            entry.now_us,
            entry.seed.as_ref(),
        );
        let sandbox = Arc::clone(&self.sandbox);
        let state = self.store.data_mut();
        state.member = Some(sandbox.crowd().enter());
        state.watch = Some(watch);
        state.running = Some((memory, block));
        state.growth_refused = false;
        self.store.set_epoch_deadline(1);
        let _running = sandbox.ticker().enter();
        run(self)
    }

    /// Asks for an input buffer and fills it.
    fn place_input(&mut self, length: u32, fill: impl FnOnce(&mut [u8])) -> Result<(), Stop> {
        let address = self.exports.input.call(&mut self.store, length)?;
        if address == 0 {
            return Err(Stop::NoRoom);
        }
        let memory = self.exports.memory.data_mut(&mut self.store);
        let buffer = region_mut(memory, address, length)
            .ok_or(Stop::Protocol("the input buffer leaves the memory"))?;
        fill(buffer);
        Ok(())
    }

    fn place_catalog(&mut self, catalog: CatalogImage) -> Result<(), Stop> {
        let length = catalog.bytes().len() as u32;
        let address = self.exports.catalog.call(&mut self.store, length)?;
        if address == 0 {
            return Err(Stop::NoRoom);
        }
        let memory = self.exports.memory.data_mut(&mut self.store);
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

    fn finish(
        &mut self,
        outcome: Result<u32, Stop>,
        asked: Option<Reason>,
        guest_time: Duration,
    ) -> Slice {
        let (frames, broken) = self.read_frames();
        let end = match (self.judge(outcome, asked), broken) {
            (SliceEnd::Killed(kill), _) => SliceEnd::Killed(kill),
            (_, Some(broken)) => SliceEnd::Killed(Kill::Protocol(broken)),
            (end, None) => end,
        };
        self.stage = match end {
            SliceEnd::Pending { .. } | SliceEnd::Yielded { .. } => Stage::Waiting,
            SliceEnd::Done | SliceEnd::Deadlock => Stage::Ended,
            SliceEnd::Killed(_) => Stage::Dead,
        };
        let memory = self.exports.memory.data(&self.store);
        let block = self.sandbox.control();
        Slice {
            end,
            frames,
            guest_time,
            heap: self.heap(),
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
        let memory = self.exports.memory.data(&self.store);
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
        let memory = self.exports.memory.data(&self.store);
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
            Some(_) if self.store.data().growth_refused => Kill::Memory,
            Some(trap) => Kill::Trap(trap_name(*trap)),
            None => Kill::Trap("host failure"),
        }
    }
}

fn make_instance(
    parts: &Parts,
    state: HostState,
) -> Result<(Store<HostState>, Exports, Instance), SandboxError> {
    let mut store = Store::new(&parts.engine, state);
    store.limiter(|state| state);
    store.epoch_deadline_callback(on_epoch);
    store.set_epoch_deadline(1);
    let instance = parts
        .pre
        .instantiate(&mut store)
        .map_err(|error| SandboxError::Instantiate(format!("{error:#}")))?;
    let exports = Exports::of(&mut store, instance, &parts.exports)
        .ok_or_else(|| SandboxError::Instantiate("an export has changed its type".to_owned()))?;
    Ok((store, exports, instance))
}

fn plain_state() -> HostState {
    HostState {
        max_linear_bytes: u64::from(u32::MAX),
        growth_refused: false,
        watch: None,
        running: None,
        lowered: false,
        member: None,
    }
}

/// Checks a fresh instance and reads what all of them share.
///
/// This runs one function of the image, which is part of this program, before any guest's program.
pub(crate) fn read_facts(parts: &Parts) -> Result<Facts, SandboxError> {
    let refuse = |why: &str| image::refuse(why.to_owned());
    let (mut store, exports, instance) = make_instance(parts, plain_state())?;
    let control = function::<(), u32>(&mut store, instance, &parts.exports.control)
        .and_then(|function| function.call(&mut store, ()).ok())
        .ok_or_else(|| refuse("its control block cannot be found"))?;
    let Val::I32(stack_pointer) = exports.stack_pointer.get(&mut store) else {
        return Err(refuse("its stack pointer has another type"));
    };
    let memory = exports.memory.data(&store);
    if region(memory, control, CONTROL_BYTES).is_none() {
        return Err(refuse("its control block leaves the memory"));
    }
    let block = Control::new(control);
    let abi = block.read_u32(memory, control::ABI);
    if abi != ABI_VERSION {
        return Err(refuse(&format!(
            "it speaks version {abi} of the bridge, this host {ABI_VERSION}"
        )));
    }
    let facts = Facts {
        control,
        stack_pointer: stack_pointer.cast_unsigned(),
        stack_low: block.read_u32(memory, control::STACK_LOW),
        memory_bytes: memory.len() as u64,
    };
    let stack_fits = facts.stack_low < facts.stack_pointer
        && u64::from(facts.stack_pointer) <= facts.memory_bytes;
    if !stack_fits {
        return Err(refuse("its stack leaves the memory"));
    }
    Ok(facts)
}

/// The memory of a fresh instance.
pub(crate) fn read_baseline(parts: &Parts) -> Result<Box<[u8]>, SandboxError> {
    let (store, exports, _) = make_instance(parts, plain_state())?;
    Ok(exports.memory.data(&store).into())
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
    use crate::sandbox::{Sandbox, SandboxOptions};
    use crate::snapshot::changed_both_ways;

    #[test]
    fn the_kernel_and_the_comparison_agree_on_what_changed() {
        let image = include_bytes!("../tests/liar/liar.wasm");
        let sandbox = Sandbox::with_image(&SandboxOptions::default(), image).unwrap();
        let inner = sandbox.clone();
        let check = move |thread: &GuestThread| {
            for source in ["w", "W", "w"] {
                let program = Program {
                    source,
                    injection: "",
                    catalog: None,
                    limits: Limits::default(),
                    first_line: 0,
                    flags: EvalFlags::default(),
                };
                let mut guest = inner.start(&program).unwrap();
                let deadline = Instant::now() + Duration::from_secs(20);
                let entry = Entry {
                    now_us: 1,
                    seed: None,
                    deadline,
                    guest_budget: Duration::from_secs(20),
                };
                guest.eval(thread, &entry, &StopHandle::new()).unwrap();
                let memory = guest.exports.memory.data(&guest.store);
                let (scanned, compared) =
                    changed_both_ways(guest.sandbox.baseline().unwrap(), memory);
                assert!(!compared.is_empty());
                assert_eq!(scanned, compared);
            }
        };
        assert_eq!(sandbox.run("test", check).unwrap(), Some(()));
    }
}
