//! `setTimeout` and `clearTimeout`: timers in virtual time, fired by the run loop in order of due time.

use core::cell::{Cell, RefCell};
use std::collections::BTreeMap;

use crate::abi::{control as at, eval_field};
use crate::js::{self, Args, ErrorKind, Js, Val};
use crate::local::Local;
use crate::{clock, control, intrinsics, limits};

/// Longest delay, as in browsers, in milliseconds; a longer one counts as the shortest.
const LONGEST_MS: f64 = 2_147_483_647.0;
/// Shortest delay in milliseconds.
const SHORTEST_MS: f64 = 1.0;

struct Timer {
    callback: Val,
    arguments: Vec<Val>,
}

struct Timers {
    /// By due time, then by id.
    queue: RefCell<BTreeMap<(u64, u32), Timer>>,
    due: RefCell<BTreeMap<u32, u64>>,
    next_id: Cell<u32>,
}

static TIMERS: Local<Timers> = Local::new(Timers {
    queue: RefCell::new(BTreeMap::new()),
    due: RefCell::new(BTreeMap::new()),
    next_id: Cell::new(1),
});

/// Live timers.
pub fn live() -> usize {
    TIMERS.queue.borrow().len()
}

fn publish() {
    let queue = TIMERS.queue.borrow();
    let next = queue.first_key_value().map_or(0, |((due, _), _)| *due);
    control::set_u32(at::TIMERS, queue.len() as u32);
    control::set_u64(at::NEXT_TIMER_US, next);
}

/// `setTimeout(callback, delay, ...arguments)`.
pub fn set_timeout(args: &Args<'_>) -> Js<Val> {
    let callback = args.get(0);
    if !js::is_function(callback) {
        return Err(js::throw_error(
            ErrorKind::Type,
            "setTimeout needs a function as its first argument",
        ));
    }
    if live() >= limits::get(eval_field::TIMER_LIMIT) {
        return Err(js::throw_error(
            ErrorKind::Range,
            "too many timers; clear some or wait for them before setting more",
        ));
    }
    let ms = delay_ms(args.get(1))?;
    let due = clock::peek_us().saturating_add((ms * 1000.0) as u64);
    let id = TIMERS.next_id.get();
    TIMERS.next_id.set(id.wrapping_add(1));
    let timer = Timer {
        callback: js::dup(callback),
        arguments: args.all().iter().skip(2).map(|arg| js::dup(*arg)).collect(),
    };
    TIMERS.queue.borrow_mut().insert((due, id), timer);
    TIMERS.due.borrow_mut().insert(id, due);
    publish();
    Ok(Val::number(f64::from(id)))
}

fn delay_ms(value: js::JSValue) -> Js<f64> {
    let ms = js::to_number(value)?;
    if !(SHORTEST_MS..=LONGEST_MS).contains(&ms) {
        return Ok(SHORTEST_MS);
    }
    Ok(ms.trunc())
}

/// `clearTimeout(id)`; anything that is no live timer's id is ignored.
pub fn clear_timeout(args: &Args<'_>) -> Js<Val> {
    let id = intrinsics::number_of(args.get(0));
    if id >= 1.0 {
        drop(take(id as u32));
        publish();
    }
    Ok(Val::undefined())
}

fn take(id: u32) -> Option<Timer> {
    let due = TIMERS.due.borrow_mut().remove(&id)?;
    TIMERS.queue.borrow_mut().remove(&(due, id))
}

/// Due time of the earliest timer that is due at `now_us`.
pub fn next_due(now_us: u64) -> Option<(u64, u32)> {
    let queue = TIMERS.queue.borrow();
    let (key, _) = queue.first_key_value()?;
    (key.0 <= now_us).then_some(*key)
}

/// Removes a timer and runs its callback; runs user code.
pub fn fire(id: u32) -> Js<()> {
    let timer = take(id);
    publish();
    if let Some(timer) = timer {
        let arguments: Vec<_> = timer.arguments.iter().map(Val::raw).collect();
        js::call(timer.callback.raw(), Val::undefined().raw(), &arguments)?;
    }
    Ok(())
}
