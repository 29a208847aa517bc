//! Counts of the guest: instructions of WebAssembly that programs take, and pages that a suspended one has
//! changed, which is what a snapshot of it weighs.
//!
//! Both are the same on every machine, for the image is: a change of theirs is a change of the guest.

use anyhow::{Result, ensure};

use crate::driver::{self, Cell, Image, PENDING, Start, YIELDED};

/// What the names of these counts begin with.
pub(crate) const PREFIX: &str = "guest: ";

/// Programs, by name.
const PROGRAMS: &[(&str, &str)] = &[
    ("return 1 + 1", "return 1 + 1"),
    (
        "50 lines of JavaScript",
        include_str!("../../bench/src/fifty_lines.js"),
    ),
    ("1 nested call", "return tools.echo({ i: 1 })"),
    (
        "10 nested calls in turn",
        "let n = 0; for (let i = 0; i < 10; i++) n += (await tools.echo({ i })).i; return n",
    ),
    (
        "64 calls in parallel",
        "return (await Promise.all(Array.from({ length: 64 }, (_, i) => tools.echo({ i })))).length",
    ),
    ("yield", "await yield_control(); return 1"),
    (
        "10,000 rows to a tool and back",
        "const rows = Array.from({ length: 10000 }, (_, id) => ({ id, name: 'name ' + id, ok: true })); \
         return (await tools.echo({ rows })).rows.length",
    ),
    (
        "fib(20)",
        "const fib = n => n < 2 ? n : fib(n - 1) + fib(n - 2); return fib(20)",
    ),
];

/// Every program's counts, by name.
///
/// # Errors
/// When the image does not compile, or a program does not end well.
pub(crate) fn count_all() -> Result<Vec<(String, u64)>> {
    driver::on_a_deep_stack(|| {
        let image = Image::load(true)?;
        let mut counts = Vec::new();
        for (name, text) in PROGRAMS {
            let counted = count(&image, text)?;
            counts.push((format!("{PREFIX}{name}"), counted.instructions));
            if let Some(pages) = counted.pages {
                counts.push((format!("{PREFIX}{name}, pages when suspended"), pages));
            }
        }
        Ok(counts)
    })
}

struct Counted {
    instructions: u64,
    /// Pages changed when it first waited, if it did.
    pages: Option<u64>,
}

fn count(image: &Image, text: &str) -> Result<Counted> {
    let source = driver::body(text);
    let start = Start {
        source: source.as_bytes(),
        injection: b"",
        flags: 0,
        memory_bytes: 64 << 20,
    };
    let mut cell = Cell::new(image)?;
    let fresh = cell.bytes().to_vec();
    let mut pages = None;
    let mut status = cell.eval(&start, false)?;
    while status == PENDING || status == YIELDED {
        pages = pages.or(Some(cell.changed_pages(&fresh).len() as u64));
        let frames = cell.frames();
        status = cell.resume(&frames, status)?;
    }
    ensure!(status == 0, "ended with status {status}: {text}");
    Ok(Counted {
        instructions: cell.instructions()?,
        pages,
    })
}
