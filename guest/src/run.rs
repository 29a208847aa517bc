//! The run loop: macrotasks one at a time, all jobs between any two, and what state they leave.

use core::cell::{Cell, RefCell};

use rquickjs_sys as sys;

use crate::abi::{ErrorSource, FrameKind, Status, control as at, settlement};
use crate::convert::{self, Purpose};
use crate::js::{self, Js, Thrown, Val};
use crate::local::Local;
use crate::{
    alloc, calls, clock, control, errors, frames, limits, reader, rejections, timers, yields,
};

/// The engine stopped because the host asked for it; nothing may run any more.
#[derive(Debug)]
pub struct Stopped;

struct Run {
    program: RefCell<Option<Val>>,
    /// The first error that a timer's callback threw, which nothing can handle.
    uncaught: RefCell<Vec<Val>>,
    ended: Cell<bool>,
    /// A script: rejections that nobody handles are its own affair.
    lenient: Cell<bool>,
}

static RUN: Local<Run> = Local::new(Run {
    program: RefCell::new(None),
    uncaught: RefCell::new(Vec::new()),
    ended: Cell::new(false),
    lenient: Cell::new(false),
});

/// Unhandled rejections do not fail the program; conformance tests only.
pub fn judge_leniently() {
    RUN.lenient.set(true);
}

/// Takes the program's promise; from now on the loop looks at it after every macrotask.
pub fn start(program: Val) {
    *RUN.program.borrow_mut() = Some(program);
}

/// Turns a pending exception into [`Stopped`] if it is the engine's stop, else keeps it as uncaught.
fn judge(outcome: Js<()>) -> Result<(), Stopped> {
    let Err(Thrown) = outcome else {
        return Ok(());
    };
    let thrown = js::take_exception();
    if errors::is_uncatchable(&thrown) {
        return Err(Stopped);
    }
    let mut uncaught = RUN.uncaught.borrow_mut();
    if uncaught.len() <= errors::OTHERS {
        uncaught.push(thrown);
    }
    Ok(())
}

/// Runs all jobs, then closes the turn.
pub fn finish_macrotask() -> Result<(), Stopped> {
    loop {
        let mut context = core::ptr::null_mut();
        // SAFETY: `context` is a valid place.
        let state = unsafe { sys::JS_ExecutePendingJob(js::rt(), &raw mut context) };
        if state == 0 {
            break;
        }
        if state < 0 {
            judge(Err(Thrown))?;
        }
    }
    let (refused, unsent) = calls::end_turn();
    frames::push(FrameKind::Turn, u8::from(refused), unsent, &[]);
    Ok(())
}

/// Fires all timers due at `now_us`, each a macrotask.
pub fn fire_timers(now_us: u64) -> Result<(), Stopped> {
    while !is_ended() {
        let Some((due, id)) = timers::next_due(now_us) else {
            break;
        };
        clock::advance_to(due);
        judge(timers::fire(id))?;
        finish_macrotask()?;
    }
    Ok(())
}

/// The program has settled and no call is outstanding.
fn is_ended() -> bool {
    settled() && calls::pending() == 0
}

fn settled() -> bool {
    let state = RUN.program.borrow().as_ref().map_or(
        sys::JSPromiseStateEnum_JS_PROMISE_FULFILLED,
        // SAFETY: the program's value is a promise.
        |program| unsafe { sys::JS_PromiseState(js::ctx(), program.raw()) },
    );
    let settled = state != sys::JSPromiseStateEnum_JS_PROMISE_PENDING;
    control::set_u32(at::SETTLED, u32::from(settled));
    settled
}

/// One settlement of the input of `cc_resume`.
pub struct Settlement<'a> {
    /// The call, unused for a yield.
    pub id: u32,
    /// One of [`settlement`].
    pub kind: u32,
    /// When it arrived.
    pub arrival_us: u64,
    /// Its payload.
    pub payload: &'a [u8],
}

/// Delivers one settlement as a macrotask, after the timers that were due before it.
pub fn deliver(settlement: &Settlement<'_>) -> Result<bool, Stopped> {
    fire_timers(settlement.arrival_us)?;
    clock::advance_to(settlement.arrival_us);
    if settlement.kind == settlement::YIELD {
        judge(yields::release())?;
        finish_macrotask()?;
        return Ok(true);
    }
    let Some(call) = calls::take(settlement.id) else {
        return Ok(false);
    };
    judge(settle(settlement, call))?;
    finish_macrotask()?;
    Ok(true)
}

fn settle(settlement: &Settlement<'_>, call: calls::Call) -> Js<()> {
    let calls::Call { deferred, site } = call;
    let value = match settlement.kind {
        settlement::RESOLVE_JSON => reader::value(settlement.payload),
        settlement::RESOLVE_TEXT => Val::string_bytes(settlement.payload),
        _ => {
            let error = errors::from_host(&mut settlement.payload.to_vec(), site, settlement.id);
            return reject(&deferred, error);
        }
    };
    match value {
        Ok(value) => {
            deferred.resolve(&value);
            Ok(())
        }
        Err(thrown) => reject(&deferred, Err(thrown)),
    }
}

/// Rejects with `error`, or with what was thrown while it was made.
fn reject(deferred: &calls::Deferred, error: Js<Val>) -> Js<()> {
    let reason = match error {
        Ok(error) => error,
        Err(Thrown) => {
            let thrown = js::take_exception();
            if errors::is_uncatchable(&thrown) {
                return Err(js::throw(thrown));
            }
            thrown
        }
    };
    deferred.reject(&reason);
    Ok(())
}

/// What the slice leaves: the status, and the last frames when the program has ended.
pub fn conclude() -> Status {
    if is_ended() {
        if !RUN.ended.replace(true) {
            end();
        }
        return if control::interrupted() {
            Status::Interrupted
        } else {
            Status::Done
        };
    }
    if yields::announce() {
        // Reading a reason can run traps of a proxy; what they call belongs to a turn like all else.
        return match finish_macrotask() {
            Ok(()) => Status::Yielded,
            Err(Stopped) => Status::Interrupted,
        };
    }
    if calls::pending() > 0 || (timers::live() > 0 && !settled()) {
        return Status::Pending;
    }
    if yields::any() {
        return Status::Yielded;
    }
    Status::Deadlock
}

/// Judges the program: its own error first, then rejections that nobody handled, then its value.
fn end() {
    calls::close();
    let Some(program) = RUN.program.borrow().clone() else {
        return;
    };
    let mut others = RUN.uncaught.take();
    let unhandled = if others.is_empty() {
        ErrorSource::Unhandled
    } else {
        ErrorSource::Timer
    };
    if !RUN.lenient.get() {
        others.extend(rejections::take_others(program.raw()));
    }
    // SAFETY: the program's value is a promise.
    let (state, outcome) = unsafe {
        (
            sys::JS_PromiseState(js::ctx(), program.raw()),
            Val::own(sys::JS_PromiseResult(js::ctx(), program.raw())),
        )
    };
    if state == sys::JSPromiseStateEnum_JS_PROMISE_REJECTED {
        errors::report(ErrorSource::Program, &outcome, &others);
    } else if let Some((first, rest)) = others.split_first() {
        errors::report(unhandled, first, rest);
    } else if RUN.lenient.get() {
        // The completion value of a script concerns nobody.
        frames::push(FrameKind::Value, 0, 0, &[b"null"]);
    } else {
        push_value(&outcome);
    }
}

fn push_value(value: &Val) {
    match convert::to_json(value.raw(), Purpose::Show, limits::result()) {
        Ok(text) => frames::push(FrameKind::Value, 0, 0, &[&text]),
        Err(failure) => errors::report_conversion(&failure),
    }
}

/// Publishes the engine's use of memory.
pub fn publish_memory() {
    let (used, peak) = alloc::usage();
    control::set_u64(at::HEAP_BYTES, used as u64);
    control::set_u64(at::HEAP_PEAK_BYTES, peak as u64);
}
