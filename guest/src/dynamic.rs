//! Code from strings: what runs is what was checked.
//!
//! `eval` is removed. The four constructors that compile text are replaced, wherever they can be reached,
//! by functions that throw `EvalError`. The originals are kept for the start flag of conformance tests.

use core::cell::RefCell;

use rquickjs_sys as sys;

use crate::globals;
use crate::intrinsics;
use crate::js::{self, Args, ErrorKind, Js, Own, Thrown, Val};
use crate::local::Local;
use crate::natives::Index;

/// The constructors by name, in the order in which the script lists their prototypes.
const NAMES: [&str; 4] = [
    "Function",
    "AsyncFunction",
    "GeneratorFunction",
    "AsyncGeneratorFunction",
];

/// Prototypes and original constructors, alternating, then `eval`.
const ORIGINALS: &str = "(() => { const list = []; \
    for (const f of [function () {}, async () => {}, function* () {}, async function* () {}]) { \
    const proto = Object.getPrototypeOf(f); list.push(proto, proto.constructor); } \
    list.push(eval); return list; })()";

static KEPT: Local<RefCell<Vec<Val>>> = Local::new(RefCell::new(Vec::new()));

/// Replaces the constructors and removes `eval`, at pre-initialisation.
pub fn forbid() -> Js<()> {
    let list = crate::engine::eval_own("dynamic.js", ORIGINALS)?;
    let mut kept = Vec::new();
    for index in 0..intrinsics::array_length(list.raw())? {
        match intrinsics::array_item(list.raw(), index)? {
            Own::Data(value) => kept.push(value),
            _ => return Err(Thrown),
        }
    }
    let mut parent: Option<Val> = None;
    for (name, pair) in NAMES.iter().zip(kept.chunks_exact(2)) {
        let thrower = thrower(name, &pair[0])?;
        if let Some(parent) = &parent {
            // SAFETY: the function is fresh and ordinary, so no user code runs.
            unsafe { sys::JS_SetPrototype(js::ctx(), thrower.raw(), parent.raw()) };
        }
        connect(&pair[0], &thrower, *name == "Function")?;
        if parent.is_none() {
            parent = Some(thrower);
        }
    }
    *KEPT.borrow_mut() = kept;
    globals::remove("eval")
}

fn thrower(name: &str, proto: &Val) -> Js<Val> {
    let function = js::native(Index::NoDynamicCode, name, 1, &[])?;
    // SAFETY: the function is alive.
    unsafe { sys::JS_SetConstructorBit(js::ctx(), function.raw(), true) };
    js::define(&function, "prototype", proto.clone(), 0)?;
    Ok(function)
}

fn connect(proto: &Val, constructor: &Val, global: bool) -> Js<()> {
    let hidden = sys::JS_PROP_CONFIGURABLE | sys::JS_PROP_WRITABLE;
    let flags = if global {
        hidden
    } else {
        sys::JS_PROP_CONFIGURABLE
    };
    js::define(proto, "constructor", constructor.clone(), flags)?;
    if global {
        js::define(&js::global(), "Function", constructor.clone(), hidden)?;
    }
    Ok(())
}

/// Puts the originals back; conformance tests only.
pub fn allow() -> Js<()> {
    let kept = KEPT.borrow().clone();
    for (index, pair) in kept.chunks_exact(2).enumerate() {
        connect(&pair[0], &pair[1], index == 0)?;
    }
    let hidden = sys::JS_PROP_CONFIGURABLE | sys::JS_PROP_WRITABLE;
    match kept.last() {
        Some(eval) => js::define(&js::global(), "eval", eval.clone(), hidden),
        None => Ok(()),
    }
}

/// What every constructor of functions does.
pub fn no_dynamic_code(_: &Args<'_>) -> Js<Val> {
    Err(js::throw_error(
        ErrorKind::Eval,
        "code cannot be made from strings here; write it in the program itself",
    ))
}
