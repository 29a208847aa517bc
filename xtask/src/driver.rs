//! Drives the committed image by the layout of `docs/technical/bridge-abi.md`, without the sandbox: no
//! deadlines, no checks of what the guest says. For work on the guest alone.
//!
//! Every call is answered with its own arguments, but those of a tool named `fail`.

use anyhow::{Context, Result, bail};
use wasmtime::{Config, Engine, Instance, InstancePre, Linker, Memory, Module, Store};

use crate::guest;

/// The shadow stack lies at the start of the memory.
const SHADOW_STACK_BYTES: usize = 4 << 20;

const PAGE_BYTES: usize = 4096;

/// The clock at the start, in microseconds since 1970.
const BEGINNING_US: u64 = 1_700_000_000_000_000;

/// What an entry into the guest returns while calls are pending.
pub(crate) const PENDING: u32 = 1;

/// What it returns when the program gave up its turn.
pub(crate) const YIELDED: u32 = 4;

/// One frame of the guest.
pub(crate) struct Frame {
    pub(crate) kind: u8,
    pub(crate) sub: u8,
    pub(crate) id: u32,
    pub(crate) payload: Vec<u8>,
}

/// The compiled image.
pub(crate) struct Image {
    counts: bool,
    engine: Engine,
    pre: InstancePre<()>,
}

/// An instance of it that runs one program.
pub(crate) struct Cell<'a> {
    image: &'a Image,
    store: Store<()>,
    instance: Instance,
    memory: Memory,
    control: usize,
    now_us: u64,
}

/// What a program starts with.
pub(crate) struct Start<'a> {
    pub(crate) source: &'a [u8],
    pub(crate) injection: &'a [u8],
    pub(crate) flags: u32,
    pub(crate) memory_bytes: u32,
}

/// wasmtime's errors are not the standard library's.
fn flat(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow::anyhow!("{error:#}")
}

/// Runs on a thread whose stack holds what a guest may use.
///
/// # Errors
/// What `work` says, and a panic of it.
pub(crate) fn on_a_deep_stack<T: Send + 'static>(
    work: impl FnOnce() -> Result<T> + Send + 'static,
) -> Result<T> {
    let runner = std::thread::Builder::new().stack_size(16 << 20);
    match runner.spawn(work)?.join() {
        Ok(outcome) => outcome,
        Err(_) => bail!("the driver panicked"),
    }
}

/// A program as the body of an async function.
pub(crate) fn body(text: &str) -> String {
    format!("(async function(){{\n{text}\n}})")
}

impl Image {
    /// Compiles the committed image; `counts` has it count the instructions that it runs.
    ///
    /// # Errors
    /// When there is none, or it does not compile.
    pub(crate) fn load(counts: bool) -> Result<Self> {
        let bytes = std::fs::read(guest::root()?.join(guest::IMAGE))?;
        let mut config = Config::new();
        config.epoch_interruption(!counts);
        config.consume_fuel(counts);
        config.async_stack_size(16 << 20);
        config.max_wasm_stack(8 << 20);
        let engine = Engine::new(&config).map_err(flat)?;
        let module = Module::new(&engine, &bytes).map_err(flat)?;
        let linker = Linker::new(&engine);
        let pre = linker.instantiate_pre(&module).map_err(flat)?;
        Ok(Self {
            counts,
            engine,
            pre,
        })
    }
}

impl<'a> Cell<'a> {
    pub(crate) fn new(image: &'a Image) -> Result<Self> {
        let mut store = Store::new(&image.engine, ());
        if image.counts {
            store.set_fuel(u64::MAX).map_err(flat)?;
        } else {
            store.set_epoch_deadline(1_000_000);
        }
        let instance = image.pre.instantiate(&mut store).map_err(flat)?;
        let memory = instance
            .get_memory(&mut store, "memory")
            .context("no memory")?;
        let control = instance
            .get_typed_func::<(), u32>(&mut store, "cc_control")
            .map_err(flat)?;
        let control = control.call(&mut store, ()).map_err(flat)? as usize;
        Ok(Self {
            image,
            store,
            instance,
            memory,
            control,
            now_us: BEGINNING_US,
        })
    }

    /// A word of the control block.
    pub(crate) fn word(&self, offset: usize) -> u32 {
        let at = self.control + offset;
        let bytes: [u8; 4] = self.bytes()[at..at + 4].try_into().unwrap_or_default();
        u32::from_le_bytes(bytes)
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        self.memory.data(&self.store)
    }

    /// Instructions of WebAssembly so far, where they are counted.
    pub(crate) fn instructions(&self) -> Result<u64> {
        Ok(u64::MAX - self.store.get_fuel().map_err(flat)?)
    }

    /// The pages beyond the shadow stack that differ from `fresh`, the memory of a new instance.
    pub(crate) fn changed_pages(&self, fresh: &[u8]) -> Vec<usize> {
        let zero = [0_u8; PAGE_BYTES];
        let pages = self.bytes().chunks(PAGE_BYTES).enumerate();
        let pages = pages.skip(SHADOW_STACK_BYTES / PAGE_BYTES);
        pages
            .filter(|(index, page)| {
                let at = index * PAGE_BYTES;
                let old = fresh.get(at..at + PAGE_BYTES).unwrap_or(&zero);
                *page != old
            })
            .map(|(index, _)| index)
            .collect()
    }

    /// Enters the program; `interrupt` has the engine stop at its next poll.
    pub(crate) fn eval(&mut self, start: &Start<'_>, interrupt: bool) -> Result<u32> {
        self.poke(24, &self.now_us.to_le_bytes())?;
        self.poke(20, &1_u32.to_le_bytes())?;
        self.poke(96, &[7; 32])?;
        self.poke(4, &u32::from(interrupt).to_le_bytes())?;
        self.enter("cc_eval", &header(start))
    }

    /// Answers every call of `frames`, and goes on.
    pub(crate) fn resume(&mut self, frames: &[Frame], status: u32) -> Result<u32> {
        let replies = replies(frames, status, self.now_us);
        let told = u64::from(self.word(32)) | u64::from(self.word(36)) << 32;
        self.now_us = self.now_us.max(told);
        self.poke(24, &self.now_us.to_le_bytes())?;
        self.enter("cc_resume", &replies)
    }

    /// The same memory in a fresh instance.
    pub(crate) fn parked(&self) -> Result<Self> {
        let mut next = Self::new(self.image)?;
        next.now_us = self.now_us;
        let bytes = self.bytes();
        let grow = bytes.len().saturating_sub(next.bytes().len()) / 65536;
        next.memory
            .grow(&mut next.store, grow as u64)
            .map_err(flat)?;
        next.memory.write(&mut next.store, 0, bytes).map_err(flat)?;
        Ok(next)
    }

    /// What the last entry left.
    pub(crate) fn frames(&self) -> Vec<Frame> {
        let (at, len) = (self.word(8) as usize, self.word(12) as usize);
        let mut rest = &self.bytes()[at..at + len];
        let mut frames = Vec::new();
        while rest.len() >= 12 {
            let size = u32::from_le_bytes(rest[8..12].try_into().unwrap_or_default()) as usize;
            frames.push(Frame {
                kind: rest[0],
                sub: rest[1],
                id: u32::from_le_bytes(rest[4..8].try_into().unwrap_or_default()),
                payload: rest[12..12 + size].to_vec(),
            });
            rest = &rest[12 + size.next_multiple_of(4)..];
        }
        frames
    }

    fn poke(&mut self, offset: usize, bytes: &[u8]) -> Result<()> {
        self.memory
            .write(&mut self.store, self.control + offset, bytes)
            .map_err(flat)
    }

    fn enter(&mut self, export: &str, input: &[u8]) -> Result<u32> {
        let len = u32::try_from(input.len())?;
        let place = self
            .instance
            .get_typed_func::<u32, u32>(&mut self.store, "cc_input")
            .map_err(flat)?;
        let at = place.call(&mut self.store, len).map_err(flat)?;
        self.memory
            .write(&mut self.store, at as usize, input)
            .map_err(flat)?;
        let entry = self
            .instance
            .get_typed_func::<u32, u32>(&mut self.store, export)
            .map_err(flat)?;
        entry.call(&mut self.store, len).map_err(flat)
    }
}

fn header(start: &Start<'_>) -> Vec<u8> {
    let fields: [u32; 16] = [
        start.flags,
        start.memory_bytes,
        512 * 1024,
        16 << 20,
        16 << 20,
        16 * 1024,
        10_000,
        1024,
        16_384,
        16 << 20,
        512,
        16 << 20,
        start.source.len() as u32,
        start.injection.len() as u32,
        0,
        0,
    ];
    let mut input: Vec<u8> = fields
        .iter()
        .flat_map(|field| field.to_le_bytes())
        .collect();
    input.extend_from_slice(start.source);
    input.extend_from_slice(start.injection);
    input
}

fn replies(frames: &[Frame], status: u32, now_us: u64) -> Vec<u8> {
    let calls = frames.iter().filter(|frame| frame.kind == 1);
    let mut items: Vec<(u32, u32, Vec<u8>)> = calls.map(reply).collect();
    if status == YIELDED {
        items.push((0, 3, Vec::new()));
    }
    let mut input = Vec::new();
    input.extend_from_slice(&(items.len() as u32).to_le_bytes());
    input.extend_from_slice(&[0; 4]);
    for (id, kind, payload) in items {
        input.extend_from_slice(&id.to_le_bytes());
        input.extend_from_slice(&kind.to_le_bytes());
        input.extend_from_slice(&now_us.to_le_bytes());
        input.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        input.extend_from_slice(&[0; 4]);
        input.extend_from_slice(&payload);
    }
    input
}

fn reply(call: &Frame) -> (u32, u32, Vec<u8>) {
    let payload = &call.payload;
    let target = u32::from_le_bytes(payload[..4].try_into().unwrap_or_default()) as usize;
    if &payload[4..4 + target] == b"fail" {
        let error = br#"{"name":"Error","message":"no such tool","code":"unknown_tool","tool":"fail","effectStatus":"notStarted"}"#;
        return (call.id, 2, error.to_vec());
    }
    (call.id, 0, payload[4 + target..].to_vec())
}
