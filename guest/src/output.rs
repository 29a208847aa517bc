//! `text`, `json` and `console.*`: what a cell says beside its value, bounded over its whole life.

use core::cell::Cell;

use crate::abi::{FrameKind, eval_field as field};
use crate::convert::{self, Failure, Purpose};
use crate::js::{self, Args, ErrorKind, Js, Text, Val};
use crate::local::Local;
use crate::{frames, limits};

struct Spent {
    bytes: Cell<usize>,
    items: Cell<usize>,
    console: Cell<usize>,
    console_cut: Cell<bool>,
}

static SPENT: Local<Spent> = Local::new(Spent {
    bytes: Cell::new(0),
    items: Cell::new(0),
    console: Cell::new(0),
    console_cut: Cell::new(false),
});

fn full(message: &str) -> js::Thrown {
    js::throw_error(ErrorKind::Range, message)
}

fn room() -> usize {
    limits::get(field::OUTPUT_LIMIT_BYTES).saturating_sub(SPENT.bytes.get())
}

fn emit(kind: u8, bytes: &[u8]) -> Js<Val> {
    if SPENT.items.get() >= limits::get(field::OUTPUT_LIMIT_ITEMS) {
        return Err(full(
            "too many output items; join them into fewer calls of text or json",
        ));
    }
    if bytes.len() > room() {
        return Err(full(
            "the output is full; return less, or save the data with results.save",
        ));
    }
    SPENT.items.set(SPENT.items.get() + 1);
    SPENT.bytes.set(SPENT.bytes.get() + bytes.len());
    frames::push(FrameKind::Output, kind, 0, &[bytes]);
    Ok(Val::undefined())
}

fn shown(value: js::JSValue) -> Js<Vec<u8>> {
    let limits = convert::Limits {
        depth: limits::get(field::JSON_DEPTH_LIMIT) as u32,
        bytes: room(),
    };
    convert::to_json(value, Purpose::Show, limits).map_err(|failure| match failure {
        Failure::Thrown => js::Thrown,
        Failure::TooLong => {
            full("the output is full; return less, or save the data with results.save")
        }
        Failure::TooDeep => full("the value is nested too deeply to be shown"),
        Failure::Unfit(what) => js::throw_error(ErrorKind::Type, &what),
    })
}

/// `text(value)`: a string as it is, anything else as JSON.
pub fn text(args: &Args<'_>) -> Js<Val> {
    let value = args.get(0);
    if js::is_string(value) {
        if crate::intrinsics::string_length(value) > room() {
            return Err(full(
                "the output is full; return less, or save the data with results.save",
            ));
        }
        let text = Text::of(value)?.to_string_lossy();
        return emit(0, text.as_bytes());
    }
    let text = shown(value)?;
    emit(0, &text)
}

/// `json(value)`.
pub fn json(args: &Args<'_>) -> Js<Val> {
    let text = shown(args.get(0))?;
    emit(1, &text)
}

/// The five console functions; the level is bound to each.
pub fn console(args: &Args<'_>) -> Js<Val> {
    let level = js::int_of(args.bound(0)) as u8;
    let limit = limits::get(field::CONSOLE_LIMIT_BYTES);
    let room = limit.saturating_sub(SPENT.console.get());
    if room == 0 || SPENT.console_cut.get() {
        cut(level);
        return Ok(Val::undefined());
    }
    let mut line = crate::inspect::line(args.all(), room)?;
    let whole = line.len() <= room;
    if !whole {
        line.truncate(line.floor_char_boundary(room));
    }
    // An empty line costs its frame.
    SPENT.console.set(SPENT.console.get() + line.len().max(1));
    frames::push(FrameKind::Console, level, 0, &[line.as_bytes()]);
    if !whole {
        cut(level);
    }
    Ok(Val::undefined())
}

fn cut(level: u8) {
    if !SPENT.console_cut.replace(true) {
        frames::push(
            FrameKind::Console,
            level,
            0,
            &[b"[console output cut here: its limit is reached]"],
        );
    }
}
