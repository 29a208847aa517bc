//! Runs one program in the committed image without the sandbox: a driver for work on the guest.
//!
//! Every call is answered with its own arguments; every frame is printed. With `--park` the memory is
//! copied into a fresh instance before each resumption, with `--twice` a second run is timed.

use std::time::Instant;

use anyhow::{Context, Result, bail};
use wasmtime::{Config, Engine, Instance, InstancePre, Linker, Memory, Module, Store};

use crate::guest;

const KINDS: [&str; 9] = [
    "?", "call", "output", "console", "value", "error", "yield", "turn", "print",
];
const STATUSES: [&str; 6] = [
    "done",
    "pending",
    "deadlock",
    "interrupted",
    "yielded",
    "internal",
];

struct Cell {
    store: Store<()>,
    instance: Instance,
    memory: Memory,
    control: usize,
}

fn flat(error: impl std::fmt::Display) -> anyhow::Error {
    anyhow::anyhow!("{error:#}")
}

impl Cell {
    fn new(pre: &InstancePre<()>, engine: &Engine) -> Result<Self> {
        let mut store = Store::new(engine, ());
        store.set_epoch_deadline(1_000_000);
        let instance = pre.instantiate(&mut store).map_err(flat)?;
        let memory = instance
            .get_memory(&mut store, "memory")
            .context("no memory")?;
        let control = instance
            .get_typed_func::<(), u32>(&mut store, "cc_control")
            .map_err(flat)?;
        let control = control.call(&mut store, ()).map_err(flat)? as usize;
        Ok(Self {
            store,
            instance,
            memory,
            control,
        })
    }

    fn word(&self, offset: usize) -> u32 {
        let at = self.control + offset;
        let bytes: [u8; 4] = self.memory.data(&self.store)[at..at + 4]
            .try_into()
            .unwrap_or_default();
        u32::from_le_bytes(bytes)
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

    fn frames(&self) -> Vec<(u8, u8, u32, Vec<u8>)> {
        let (at, len) = (self.word(8) as usize, self.word(12) as usize);
        let mut rest = &self.memory.data(&self.store)[at..at + len];
        let mut frames = Vec::new();
        while rest.len() >= 12 {
            let id = u32::from_le_bytes(rest[4..8].try_into().unwrap_or_default());
            let size = u32::from_le_bytes(rest[8..12].try_into().unwrap_or_default()) as usize;
            frames.push((rest[0], rest[1], id, rest[12..12 + size].to_vec()));
            rest = &rest[12 + size.next_multiple_of(4)..];
        }
        frames
    }
}

fn header(source: &[u8], injection: &[u8], flags: u32, memory: u32) -> Vec<u8> {
    let fields: [u32; 16] = [
        flags,
        memory,
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
        source.len() as u32,
        injection.len() as u32,
        0,
        0,
    ];
    let mut input: Vec<u8> = fields
        .iter()
        .flat_map(|field| field.to_le_bytes())
        .collect();
    input.extend_from_slice(source);
    input.extend_from_slice(injection);
    input
}

/// Runs the file; `options` are `--park`, `--quiet`, `--time`, `--dynamic`, `--script`, `--interrupt`, `--memory=<MiB>`, `--inject=<json>`.
pub(crate) fn run(file: &str, options: &[&str]) -> Result<()> {
    let body = std::fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?;
    let image = std::fs::read(guest::root()?.join(guest::IMAGE))?;
    let mut config = Config::new();
    config.epoch_interruption(true);
    config.async_stack_size(16 << 20);
    config.max_wasm_stack(8 << 20);
    let engine = Engine::new(&config).map_err(flat)?;
    let module = Module::new(&engine, &image).map_err(flat)?;
    let pre = Linker::new(&engine)
        .instantiate_pre(&module)
        .map_err(flat)?;
    let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
    let runner = std::thread::Builder::new().stack_size(16 << 20);
    let handle = runner.spawn(move || drive(&pre, &engine, &body, &options))?;
    match handle.join() {
        Ok(outcome) => outcome,
        Err(_) => bail!("the driver panicked"),
    }
}

fn drive(pre: &InstancePre<()>, engine: &Engine, body: &str, options: &[String]) -> Result<()> {
    let has = |name: &str| options.iter().any(|option| option == name);
    let script = has("--script");
    let flags = u32::from(has("--dynamic")) | u32::from(script) << 1;
    let memory = options
        .iter()
        .find_map(|option| option.strip_prefix("--memory="));
    let memory = memory.map_or(Ok(64), str::parse::<u32>)? << 20;
    let injection = options
        .iter()
        .find_map(|option| option.strip_prefix("--inject="))
        .unwrap_or("");
    let source = if script {
        body.to_owned()
    } else {
        format!("(async function(){{\n{body}\n}})")
    };
    let input = header(source.as_bytes(), injection.as_bytes(), flags, memory);
    let rounds = if has("--time") { 200 } else { 1 };
    let mut best = f64::MAX;
    for round in 0..rounds {
        let begun = Instant::now();
        one(
            pre,
            engine,
            &input,
            has("--park"),
            !has("--quiet") && round == 0,
            has("--interrupt"),
        )?;
        best = best.min(begun.elapsed().as_secs_f64());
    }
    if rounds > 1 {
        println!("best of {rounds}: {:.1} us", best * 1e6);
    }
    Ok(())
}

fn one(
    pre: &InstancePre<()>,
    engine: &Engine,
    input: &[u8],
    park: bool,
    print: bool,
    interrupt: bool,
) -> Result<()> {
    let mut cell = Cell::new(pre, engine)?;
    let fresh = if print {
        Some(cell.memory.data(&cell.store).to_vec())
    } else {
        None
    };
    let mut now = 1_700_000_000_000_000_u64;
    cell.poke(24, &now.to_le_bytes())?;
    cell.poke(20, &1_u32.to_le_bytes())?;
    cell.poke(96, &[7; 32])?;
    cell.poke(4, &u32::from(interrupt).to_le_bytes())?;
    let begun = Instant::now();
    let mut status = cell.enter("cc_eval", input)?;
    let mut took = begun.elapsed();
    loop {
        let frames = cell.frames();
        if print {
            show(&cell, status, &frames, took.as_secs_f64());
            if let Some(fresh) = &fresh {
                count_pages(&cell, fresh);
            }
        }
        if status != 1 && status != 4 {
            return Ok(());
        }
        let replies = replies(&frames, status, now);
        now = now.max(u64::from(cell.word(32)) | u64::from(cell.word(36)) << 32);
        if park {
            cell = parked(pre, engine, &mut cell)?;
        }
        cell.poke(24, &now.to_le_bytes())?;
        let begun = Instant::now();
        status = cell.enter("cc_resume", &replies)?;
        took = begun.elapsed();
    }
}

fn parked(pre: &InstancePre<()>, engine: &Engine, cell: &mut Cell) -> Result<Cell> {
    let bytes = cell.memory.data(&cell.store).to_vec();
    let mut next = Cell::new(pre, engine)?;
    let grow = bytes
        .len()
        .saturating_sub(next.memory.data(&next.store).len())
        / 65536;
    next.memory
        .grow(&mut next.store, grow as u64)
        .map_err(flat)?;
    next.memory
        .write(&mut next.store, 0, &bytes)
        .map_err(flat)?;
    Ok(next)
}

fn replies(frames: &[(u8, u8, u32, Vec<u8>)], status: u32, now: u64) -> Vec<u8> {
    let mut items: Vec<(u32, u32, Vec<u8>)> = Vec::new();
    for (kind, _, id, payload) in frames {
        if *kind == 1 {
            let target = u32::from_le_bytes(payload[..4].try_into().unwrap_or_default()) as usize;
            let arguments = payload[4 + target..].to_vec();
            let name = String::from_utf8_lossy(&payload[4..4 + target]).into_owned();
            if name == "fail" {
                let error = br#"{"name":"Error","message":"no such tool","code":"unknown_tool","tool":"fail","effectStatus":"notStarted"}"#;
                items.push((*id, 2, error.to_vec()));
            } else {
                items.push((*id, 0, arguments));
            }
        }
    }
    if status == 4 {
        items.push((0, 3, Vec::new()));
    }
    let mut input = Vec::new();
    input.extend_from_slice(&(items.len() as u32).to_le_bytes());
    input.extend_from_slice(&[0; 4]);
    for (id, kind, payload) in items {
        input.extend_from_slice(&id.to_le_bytes());
        input.extend_from_slice(&kind.to_le_bytes());
        input.extend_from_slice(&now.to_le_bytes());
        input.extend_from_slice(&(payload.len() as u32).to_le_bytes());
        input.extend_from_slice(&[0; 4]);
        input.extend_from_slice(&payload);
    }
    input
}

fn show(cell: &Cell, status: u32, frames: &[(u8, u8, u32, Vec<u8>)], seconds: f64) {
    for (kind, sub, id, payload) in frames {
        let kind = KINDS.get(usize::from(*kind)).unwrap_or(&"?");
        let text = String::from_utf8_lossy(payload);
        let cut: String = text.chars().take(20000).collect();
        println!("  {kind}/{sub} #{id} {} bytes: {cut}", payload.len());
    }
    let status = STATUSES.get(status as usize).unwrap_or(&"?");
    println!(
        "{status}, {:.1} us, faults {}, calls {}, timers {}, heap {}, peak {}",
        seconds * 1e6,
        cell.word(16),
        cell.word(56),
        cell.word(60),
        cell.word(40),
        cell.word(48)
    );
}

fn count_pages(cell: &Cell, fresh: &[u8]) {
    let now = cell.memory.data(&cell.store);
    let stack = 4 << 20;
    let zero = [0_u8; 4096];
    let pages = now.chunks(4096).enumerate().filter(|(index, page)| {
        let old = fresh
            .get(index * 4096..index * 4096 + 4096)
            .unwrap_or(&zero);
        index * 4096 >= stack && *page != old
    });
    let list: Vec<usize> = pages.map(|(index, _)| index).collect();
    println!(
        "  {} pages differ beyond the stack: {:?}",
        list.len(),
        &list[..list.len().min(64)]
    );
}
