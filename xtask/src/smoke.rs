//! Runs one program in the committed image without the sandbox: a driver for work on the guest.
//!
//! Every frame is printed. With `--park` the memory is copied into a fresh instance before each
//! resumption, with `--time` the best of two hundred runs is printed.

use std::time::Instant;

use anyhow::{Context, Result};

use crate::driver::{self, Cell, Frame, Image, PENDING, Start, YIELDED};

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

/// Runs the file; `options` are `--park`, `--quiet`, `--time`, `--dynamic`, `--script`, `--interrupt`, `--memory=<MiB>`, `--inject=<json>`.
pub(crate) fn run(file: &str, options: &[&str]) -> Result<()> {
    let text = std::fs::read_to_string(file).with_context(|| format!("cannot read {file}"))?;
    let options: Vec<String> = options.iter().map(|option| (*option).to_owned()).collect();
    driver::on_a_deep_stack(move || drive(&text, &options))
}

fn drive(text: &str, options: &[String]) -> Result<()> {
    let has = |name: &str| options.iter().any(|option| option == name);
    let of = |name: &str| options.iter().find_map(|option| option.strip_prefix(name));
    let is_script = has("--script");
    let source = if is_script {
        text.to_owned()
    } else {
        driver::body(text)
    };
    let start = Start {
        source: source.as_bytes(),
        injection: of("--inject=").unwrap_or("").as_bytes(),
        flags: u32::from(has("--dynamic")) | u32::from(is_script) << 1,
        memory_bytes: of("--memory=").map_or(Ok(64), str::parse::<u32>)? << 20,
    };
    let image = Image::load(false)?;
    let rounds = if has("--time") { 200 } else { 1 };
    let mut best = f64::MAX;
    for round in 0..rounds {
        let begun = Instant::now();
        let print = !has("--quiet") && round == 0;
        one(&image, &start, has("--park"), print, has("--interrupt"))?;
        best = best.min(begun.elapsed().as_secs_f64());
    }
    if rounds > 1 {
        println!("best of {rounds}: {:.1} us", best * 1e6);
    }
    Ok(())
}

fn one(image: &Image, start: &Start<'_>, park: bool, print: bool, interrupt: bool) -> Result<()> {
    let mut cell = Cell::new(image)?;
    let fresh = if print {
        cell.bytes().to_vec()
    } else {
        Vec::new()
    };
    let begun = Instant::now();
    let mut status = cell.eval(start, interrupt)?;
    let mut took = begun.elapsed();
    loop {
        let frames = cell.frames();
        if print {
            show(&cell, status, &frames, took.as_secs_f64());
            let pages = cell.changed_pages(&fresh);
            let some = &pages[..pages.len().min(64)];
            println!("  {} pages differ beyond the stack: {some:?}", pages.len());
        }
        if status != PENDING && status != YIELDED {
            return Ok(());
        }
        if park {
            cell = cell.parked()?;
        }
        let begun = Instant::now();
        status = cell.resume(&frames, status)?;
        took = begun.elapsed();
    }
}

fn show(cell: &Cell<'_>, status: u32, frames: &[Frame], seconds: f64) {
    for frame in frames {
        let kind = KINDS.get(usize::from(frame.kind)).unwrap_or(&"?");
        let text = String::from_utf8_lossy(&frame.payload);
        let cut: String = text.chars().take(20000).collect();
        let (sub, id, bytes) = (frame.sub, frame.id, frame.payload.len());
        println!("  {kind}/{sub} #{id} {bytes} bytes: {cut}");
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
