//! `yield_control`: a suspension that the program asks for.

use core::cell::{Cell, RefCell};

use rquickjs_sys as sys;

use crate::abi::FrameKind;
use crate::calls::Deferred;
use crate::convert::{self, Purpose};
use crate::js::{self, Args, Js, Val};
use crate::local::Local;
use crate::{frames, limits};

/// Longest reason, in bytes of JSON.
const REASON_BYTES: usize = 4096;

struct Yields {
    waiting: RefCell<Vec<(Deferred, Val)>>,
    /// Of those waiting, how many the host has been told of.
    told: Cell<usize>,
}

static YIELDS: Local<Yields> = Local::new(Yields {
    waiting: RefCell::new(Vec::new()),
    told: Cell::new(0),
});

/// `yield_control(reason)`.
pub fn yield_control(args: &Args<'_>) -> Js<Val> {
    let reason = args.get(0);
    let (promise, deferred) = Deferred::new()?;
    let count = YIELDS.waiting.borrow().len();
    if count >= limits::get(crate::abi::eval_field::CALL_LIMIT) {
        return Err(js::throw_error(
            js::ErrorKind::Range,
            "too many yields at once; one suspends the whole program",
        ));
    }
    YIELDS
        .waiting
        .borrow_mut()
        .push((deferred, js::dup(reason)));
    Ok(promise)
}

/// Some yield waits for the host.
pub fn any() -> bool {
    !YIELDS.waiting.borrow().is_empty()
}

/// Tells the host of yields that were made since the last time; true when there were any.
pub fn announce() -> bool {
    let total = YIELDS.waiting.borrow().len();
    let told = YIELDS.told.replace(total);
    if total <= told {
        return false;
    }
    let first = YIELDS
        .waiting
        .borrow()
        .get(told)
        .map(|(_, reason)| reason.clone());
    let text = first.map_or_else(|| b"null".to_vec(), |reason| reason_json(&reason));
    frames::push(FrameKind::Yield, 0, 0, &[&text]);
    true
}

fn reason_json(reason: &Val) -> Vec<u8> {
    let limits = convert::Limits {
        depth: 16,
        bytes: REASON_BYTES,
    };
    match convert::to_json(reason.raw(), Purpose::Show, limits) {
        Ok(text) => text,
        Err(failure) => {
            if matches!(failure, convert::Failure::Thrown) {
                drop(js::take_exception());
            }
            b"null".to_vec()
        }
    }
}

/// Resolves every yield that the host was told of with `{status: "yielded", reason}`.
pub fn release() -> Js<()> {
    let told = YIELDS.told.replace(0);
    let rest = {
        let mut waiting = YIELDS.waiting.borrow_mut();
        let at = told.min(waiting.len());
        let rest = waiting.split_off(at);
        core::mem::replace(&mut *waiting, rest)
    };
    for (deferred, reason) in rest {
        let answer = Val::object()?;
        js::define(
            &answer,
            "status",
            Val::string("yielded")?,
            sys::JS_PROP_C_W_E,
        )?;
        js::define(&answer, "reason", reason, sys::JS_PROP_C_W_E)?;
        deferred.resolve(&answer);
    }
    Ok(())
}
