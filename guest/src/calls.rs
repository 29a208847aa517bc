//! Calls to the host: a promise for each, a frame for each, settled by id.
//!
//! The calls of one turn are admitted together: a turn that passes a cap is marked as refused, and what it
//! asks for beyond the cap is rejected here, without a frame.

use core::cell::{Cell, RefCell};
use core::ffi::c_int;
use std::collections::BTreeMap;

use rquickjs_sys as sys;

use crate::abi::{FrameKind, Method, control as at, eval_field as field};
use crate::convert::{self, Purpose};
use crate::js::{self, JSValue, Js, Val};
use crate::local::Local;
use crate::{control, errors, frames, limits};

const TOO_MANY: &str = "too many calls at once: none of this turn's calls was started; make fewer before the next await";

unsafe extern "C" {
    fn codecell_promise(ctx: *mut sys::JSContext) -> JSValue;
    fn codecell_settle(
        ctx: *mut sys::JSContext,
        promise: JSValue,
        value: JSValue,
        is_reject: c_int,
    );
}

/// A promise that only the plumbing settles.
pub struct Deferred(Val);

impl Deferred {
    /// A new promise, made without reading any property that user code can reach.
    pub fn new() -> Js<(Val, Self)> {
        // SAFETY: the context is alive.
        let promise = Val::check(unsafe { codecell_promise(js::ctx()) })?;
        Ok((promise.clone(), Self(promise)))
    }

    /// Fulfils the promise with `value` as it is: nobody asks for its `then`.
    pub fn resolve(&self, value: &Val) {
        self.settle(value, false);
    }

    /// Rejects the promise.
    pub fn reject(&self, reason: &Val) {
        self.settle(reason, true);
    }

    fn settle(&self, value: &Val, is_reject: bool) {
        // SAFETY: the promise is one of ours; reactions become jobs, so no user code runs.
        unsafe { codecell_settle(js::ctx(), self.0.raw(), value.raw(), c_int::from(is_reject)) };
    }
}

/// An unsettled call.
pub struct Call {
    /// Its promise.
    pub deferred: Deferred,
    /// An error made where the call was made; it becomes the reason if the call is rejected.
    pub site: Val,
}

struct Calls {
    pending: RefCell<BTreeMap<u32, Call>>,
    next_id: Cell<u32>,
    turn_bytes: Cell<usize>,
    refused: Cell<bool>,
    /// Calls to tools that this turn made beyond the cap; the host gets no frame of them.
    unsent: Cell<u32>,
    closed: Cell<bool>,
}

static CALLS: Local<Calls> = Local::new(Calls {
    pending: RefCell::new(BTreeMap::new()),
    next_id: Cell::new(1),
    turn_bytes: Cell::new(0),
    refused: Cell::new(false),
    unsent: Cell::new(0),
    closed: Cell::new(false),
});

/// Unsettled calls.
pub fn pending() -> usize {
    CALLS.pending.borrow().len()
}

/// No further call leaves the guest: the program has ended.
pub fn close() {
    CALLS.closed.set(true);
}

/// Ends the turn; tells whether its calls are refused together, and how many calls to tools were refused here.
pub fn end_turn() -> (bool, u32) {
    CALLS.turn_bytes.set(0);
    (CALLS.refused.take(), CALLS.unsent.take())
}

/// Makes a call and gives its promise. Arguments that cannot be sent reject it.
pub fn make(method: Method, target: &[u8], argument: JSValue) -> Js<Val> {
    let (promise, deferred) = Deferred::new()?;
    if CALLS.closed.get() {
        return rejected(
            promise,
            &deferred,
            "the program has ended; nothing more can be called",
            None,
        );
    }
    let text = if js::is_undefined(argument) {
        Ok(b"{}".to_vec())
    } else {
        convert::to_json(argument, Purpose::Send, limits::message())
    };
    match text {
        Ok(text) => send(method, target, &text, promise, deferred),
        Err(failure) => refuse_arguments(&failure, promise, &deferred),
    }
}

/// Makes a call whose arguments are JSON already.
pub fn make_with(method: Method, target: &[u8], arguments: &[u8]) -> Js<Val> {
    let (promise, deferred) = Deferred::new()?;
    if CALLS.closed.get() {
        return rejected(
            promise,
            &deferred,
            "the program has ended; nothing more can be called",
            None,
        );
    }
    send(method, target, arguments, promise, deferred)
}

/// A promise that is rejected because arguments have no JSON form.
pub fn unsendable(failure: &convert::Failure) -> Js<Val> {
    let (promise, deferred) = Deferred::new()?;
    refuse_arguments(failure, promise, &deferred)
}

fn refuse_arguments(failure: &convert::Failure, promise: Val, deferred: &Deferred) -> Js<Val> {
    match convert::explain(failure, limits::message()) {
        Some(message) => rejected(promise, deferred, &message, Some("invalid_arguments")),
        None => {
            let thrown = js::take_exception();
            if errors::is_uncatchable(&thrown) {
                return Err(js::throw(thrown));
            }
            deferred.reject(&thrown);
            Ok(promise)
        }
    }
}

fn rejected(promise: Val, deferred: &Deferred, message: &str, code: Option<&str>) -> Js<Val> {
    let error = errors::plumbing_error(message, code)?;
    deferred.reject(&error);
    Ok(promise)
}

/// The reason of a call beyond the cap: named like those that the host rejects for the same turn.
fn too_many(method: Method, target: &[u8]) -> Js<Val> {
    let error = errors::plumbing_error(TOO_MANY, Some("too_many_pending_tool_calls"))?;
    if method.goes_to_tool() {
        let tool = Val::string_bytes(target)?;
        js::define(&error, "tool", tool, sys::JS_PROP_C_W_E)?;
    }
    Ok(error)
}

fn send(
    method: Method,
    target: &[u8],
    arguments: &[u8],
    promise: Val,
    deferred: Deferred,
) -> Js<Val> {
    let bytes = CALLS
        .turn_bytes
        .get()
        .saturating_add(target.len() + arguments.len());
    let over = CALLS.refused.get()
        || pending() >= limits::get(field::CALL_LIMIT)
        || bytes > limits::get(field::CALL_ARGUMENT_LIMIT_BYTES);
    if over {
        CALLS.refused.set(true);
        if method.goes_to_tool() {
            CALLS.unsent.set(CALLS.unsent.get().saturating_add(1));
        }
        deferred.reject(&too_many(method, target)?);
        return Ok(promise);
    }
    CALLS.turn_bytes.set(bytes);
    let id = CALLS.next_id.get();
    CALLS.next_id.set(id.wrapping_add(1));
    let site = errors::error_here()?;
    let call = Call { deferred, site };
    CALLS.pending.borrow_mut().insert(id, call);
    publish();
    let length = (target.len() as u32).to_le_bytes();
    frames::push(
        FrameKind::Call,
        method as u8,
        id,
        &[&length, target, arguments],
    );
    Ok(promise)
}

fn publish() {
    control::set_u32(at::PENDING_CALLS, pending() as u32);
}

/// Takes a call out of the table.
pub fn take(id: u32) -> Option<Call> {
    let call = CALLS.pending.borrow_mut().remove(&id);
    publish();
    call
}
