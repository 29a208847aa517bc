//! Instances of the image: how they are made, bounded, and watched while they run.
//!
//! All judgement of a running slice happens here, on the guest's own thread, in the callback that the
//! engine makes when the epoch has risen.

use std::sync::Arc;
use std::time::{Duration, Instant};

use wasmtime::{
    Extern, Memory, ModuleExport, ResourceLimiter, Store, StoreContextMut, TypedFunc,
    UpdateDeadline, Val, WasmParams, WasmResults,
};

use crate::abi::{ABI_VERSION, CONTROL_BYTES, control};
use crate::clock;
use crate::control::{Control, region};
use crate::crowd::{Crowd, Member};
use crate::error::SandboxError;
use crate::image::{self, ExportIndices, Facts};
use crate::sandbox::Parts;
use crate::stop::{Reason, Verdict, Watch};

/// The longest sleep between two looks at the reasons to stop.
const NAP: Duration = Duration::from_millis(3);

/// What the host knows about an instance.
pub(crate) struct HostState {
    max_linear_bytes: u64,
    growth_refused: bool,
    /// Set while a slice runs.
    running: Option<Running>,
}

/// What the host knows about a running slice.
struct Running {
    watch: Watch,
    /// The slice among all others.
    member: Member,
    /// Where the flag is that asks the engine to stop.
    memory: Memory,
    block: Control,
    /// Whether the thread's priority was lowered.
    lowered: bool,
}

/// What became of a slice, besides what the guest returned.
#[derive(Debug)]
pub(crate) struct Watched {
    /// Why the host asked it to stop, if it did.
    pub(crate) asked: Option<Reason>,
    /// Processor time that it used.
    pub(crate) spent: Duration,
    /// Whether its thread's priority was lowered.
    pub(crate) lowered: bool,
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
    let Some(running) = &mut context.data_mut().running else {
        return Ok(UpdateDeadline::Interrupt);
    };
    match running.judge() {
        Verdict::Trap => return Ok(UpdateDeadline::Interrupt),
        Verdict::Interrupt => {
            let (memory, block) = (running.memory, running.block);
            block.write(
                memory.data_mut(&mut context),
                control::INTERRUPT,
                &1u32.to_le_bytes(),
            );
        }
        Verdict::Continue | Verdict::Long => {}
    }
    Ok(UpdateDeadline::Continue(1))
}

impl Running {
    /// The verdict on the slice, after it has stepped aside for others if it should.
    fn judge(&mut self) -> Verdict {
        let verdict = self.watch.check(Instant::now());
        if verdict == Verdict::Long {
            self.lowered = clock::lower_priority();
            self.member.becomes_long();
        }
        let pause = self
            .member
            .pause()
            .filter(|_| self.watch.reason().is_none());
        let Some(pause) = pause else { return verdict };
        self.step_aside(pause);
        self.watch.check(Instant::now())
    }

    /// Sleeps, but not past a reason to stop.
    fn step_aside(&self, pause: Duration) {
        let end = Instant::now() + pause.min(self.watch.until_deadline());
        loop {
            let now = Instant::now();
            if now >= end || self.watch.due(now).is_some() {
                return;
            }
            std::thread::sleep(NAP.min(end - now));
        }
    }
}

/// The functions of the guest that a running slice calls.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Export {
    Input,
    Catalog,
    Eval,
    Resume,
}

impl Export {
    const COUNT: usize = 4;

    fn index(self, exports: &ExportIndices) -> &ModuleExport {
        match self {
            Self::Input => &exports.input,
            Self::Catalog => &exports.catalog,
            Self::Eval => &exports.eval,
            Self::Resume => &exports.resume,
        }
    }
}

/// One instance of the image, with its memory and stack.
pub(crate) struct Instance {
    store: Store<HostState>,
    instance: wasmtime::Instance,
    memory: Memory,
    /// Looked up at first use: a microsecond each, and few guests need all.
    functions: [Option<TypedFunc<u32, u32>>; Export::COUNT],
}

impl Instance {
    /// A fresh instance. No guest code runs.
    pub(crate) fn new(parts: &Parts, max_linear_bytes: u64) -> Result<Self, SandboxError> {
        let (store, memory, instance) = instantiate(parts, max_linear_bytes)?;
        Ok(Self {
            store,
            instance,
            memory,
            functions: [const { None }; Export::COUNT],
        })
    }

    /// Makes an instance that was put back ready for another guest.
    pub(crate) fn reuse(&mut self, max_linear_bytes: u64) {
        let state = self.store.data_mut();
        state.max_linear_bytes = max_linear_bytes;
        state.growth_refused = false;
    }

    pub(crate) fn memory(&self) -> &[u8] {
        self.memory.data(&self.store)
    }

    pub(crate) fn memory_mut(&mut self) -> &mut [u8] {
        self.memory.data_mut(&mut self.store)
    }

    /// Grows the memory to this many pages of 64 KiB.
    pub(crate) fn grow_to(&mut self, pages: u32) -> Result<(), SandboxError> {
        let delta = u64::from(pages).saturating_sub(self.memory.size(&self.store));
        if delta > 0 {
            self.memory
                .grow(&mut self.store, delta)
                .map_err(instantiate_error)?;
        }
        Ok(())
    }

    pub(crate) fn stack_pointer(&mut self, parts: &Parts) -> Option<u32> {
        read_stack_pointer(&mut self.store, self.instance, parts)
    }

    /// Opens a slice: from now on [`call`](Self::call) is watched.
    pub(crate) fn begin(&mut self, watch: Watch, crowd: &Arc<Crowd>, block: Control) {
        let running = Running {
            watch,
            member: crowd.enter(),
            memory: self.memory,
            block,
            lowered: false,
        };
        let state = self.store.data_mut();
        state.running = Some(running);
        state.growth_refused = false;
        self.store.set_epoch_deadline(1);
    }

    /// Closes the slice.
    pub(crate) fn end(&mut self) -> Watched {
        let running = self.store.data_mut().running.take();
        running.map_or(
            Watched {
                asked: None,
                spent: Duration::ZERO,
                lowered: false,
            },
            |running| Watched {
                asked: running.watch.reason(),
                spent: running.watch.spent(),
                lowered: running.lowered,
            },
        )
    }

    /// Runs guest code. Outside a slice it is trapped within a millisecond.
    pub(crate) fn call(
        &mut self,
        parts: &Parts,
        export: Export,
        length: u32,
    ) -> wasmtime::Result<u32> {
        let found = match &self.functions[export as usize] {
            Some(function) => function,
            None => {
                let index = export.index(&parts.exports);
                let function = function(&mut self.store, self.instance, index)
                    .ok_or_else(|| wasmtime::Error::msg("an export has changed its type"))?;
                self.functions[export as usize].insert(function)
            }
        };
        found.call(&mut self.store, length)
    }

    /// Whether growth was refused in the last slice.
    pub(crate) fn growth_was_refused(&self) -> bool {
        self.store.data().growth_refused
    }
}

fn function<P: WasmParams, R: WasmResults>(
    store: &mut Store<HostState>,
    instance: wasmtime::Instance,
    index: &ModuleExport,
) -> Option<TypedFunc<P, R>> {
    instance
        .get_module_export(&mut *store, index)
        .and_then(Extern::into_func)?
        .typed(&*store)
        .ok()
}

fn instantiate(
    parts: &Parts,
    max_linear_bytes: u64,
) -> Result<(Store<HostState>, Memory, wasmtime::Instance), SandboxError> {
    let state = HostState {
        max_linear_bytes,
        growth_refused: false,
        running: None,
    };
    let mut store = Store::new(&parts.engine, state);
    store.limiter(|state| state);
    store.epoch_deadline_callback(on_epoch);
    store.set_epoch_deadline(1);
    let instance = parts
        .pre
        .instantiate(&mut store)
        .map_err(instantiate_error)?;
    let memory = instance
        .get_module_export(&mut store, &parts.exports.memory)
        .and_then(Extern::into_memory)
        .ok_or_else(|| SandboxError::Instantiate("the memory is not exported".to_owned()))?;
    Ok((store, memory, instance))
}

fn instantiate_error(error: wasmtime::Error) -> SandboxError {
    SandboxError::Instantiate(format!("{error:#}"))
}

fn read_stack_pointer(
    store: &mut Store<HostState>,
    instance: wasmtime::Instance,
    parts: &Parts,
) -> Option<u32> {
    let exported = instance.get_module_export(&mut *store, &parts.exports.stack_pointer)?;
    match exported.into_global()?.get(store) {
        Val::I32(value) => Some(value.cast_unsigned()),
        _ => None,
    }
}

/// Checks a fresh instance and reads what all of them share.
///
/// This runs one function of the image, which is part of this program, before any guest's program.
pub(crate) fn read_facts(parts: &Parts) -> Result<Facts, SandboxError> {
    let refuse = |why: &str| image::refuse(why.to_owned());
    let (mut store, memory, instance) = instantiate(parts, u64::from(u32::MAX))?;
    let control = function::<(), u32>(&mut store, instance, &parts.exports.control)
        .and_then(|function| function.call(&mut store, ()).ok())
        .ok_or_else(|| refuse("its control block cannot be found"))?;
    let stack_pointer = read_stack_pointer(&mut store, instance, parts)
        .ok_or_else(|| refuse("its stack pointer has another type"))?;
    let memory = memory.data(&store);
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
    let stack_low = block.read_u32(memory, control::STACK_LOW);
    let memory_bytes = memory.len() as u64;
    if stack_low >= stack_pointer || u64::from(stack_pointer) > memory_bytes {
        return Err(refuse("its stack leaves the memory"));
    }
    Ok(Facts {
        control,
        stack_pointer,
        stack_low,
        memory_bytes,
    })
}

/// The memory of a fresh instance.
///
/// The stack is empty in an image, and left out of the copy so that it takes no resident memory.
pub(crate) fn read_baseline(parts: &Parts, facts: &Facts) -> Result<Box<[u8]>, SandboxError> {
    let instance = Instance::new(parts, u64::from(u32::MAX))?;
    let memory = instance.memory();
    let mut copy = vec![0; memory.len()].into_boxed_slice();
    let (low, high) = (facts.stack_low as usize, facts.stack_pointer as usize);
    if memory
        .get(low..high)
        .is_none_or(|stack| stack.iter().any(|byte| *byte != 0))
    {
        return Err(image::refuse("its stack is not empty".to_owned()));
    }
    for range in [0..low, high..memory.len()] {
        if let (Some(to), Some(from)) = (copy.get_mut(range.clone()), memory.get(range)) {
            to.copy_from_slice(from);
        }
    }
    Ok(copy)
}
