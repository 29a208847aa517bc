//! The global object: what a program finds there, and what it does not.
//!
//! What the host gives can be neither written nor removed, so that a program cannot be led astray by
//! another part of itself; a local variable may still have the same name. Intrinsics stay as they are.

use rquickjs_sys as sys;

use crate::js::{self, Args, Js, Thrown, Val};
use crate::natives::Index;
use crate::{api, catalog, clock, dynamic, inject, mcp, prelude, results, tools};

/// Globals of the engine that a program must not find.
const ABSENT: [&str; 5] = [
    "SharedArrayBuffer",
    "Atomics",
    "queueMicrotask",
    "performance",
    "DOMException",
];

/// Accessors of `Error` that reach into how the engine writes a stack.
const TRACE_HOOKS: [&str; 2] = ["prepareStackTrace", "stackTraceLimit"];

/// Functions of the engine that stay, but as the host's: neither written nor removed.
const FIXED: [&str; 2] = ["atob", "btoa"];

/// Native functions that are globals themselves.
const FUNCTIONS: [(&str, Index, u8); 5] = [
    ("text", Index::Text, 1),
    ("json", Index::Json, 1),
    ("yield_control", Index::YieldControl, 1),
    ("setTimeout", Index::SetTimeout, 2),
    ("clearTimeout", Index::ClearTimeout, 1),
];

/// Builds the globals, at pre-initialisation.
pub fn init() -> Js<()> {
    for name in ABSENT {
        remove(name)?;
    }
    for (name, index, length) in FUNCTIONS {
        install(name, js::native(index, name, length, &[])?)?;
    }
    for (name, value) in prelude::GLOBALS.iter().zip(prelude::init()?) {
        install(name, value)?;
    }
    for name in FIXED {
        let value = js::own_data(js::global().raw(), name).ok_or(Thrown)?;
        install(name, value)?;
    }
    install("tools", tools::object()?)?;
    install("ALL_TOOLS", catalog::global()?)?;
    install("API", api::global()?)?;
    install("results", results::global()?)?;
    install("MCP", mcp::global()?)?;
    install("namespaces", empty()?)?;
    install("console", console()?)?;
    install("crypto", single("randomUUID", Index::RandomUuid)?)?;
    install("performance", single("now", Index::PerformanceNow)?)?;
    replace_random()?;
    remove_trace_hooks()?;
    dynamic::forbid()
}

/// A frozen object without members.
fn empty() -> Js<Val> {
    let object = Val::object()?;
    inject::freeze(&object)?;
    Ok(object)
}

/// An object with one function.
fn single(name: &str, index: Index) -> Js<Val> {
    let object = Val::object()?;
    js::define(
        &object,
        name,
        js::native(index, name, 0, &[])?,
        sys::JS_PROP_C_W_E,
    )?;
    Ok(object)
}

fn console() -> Js<Val> {
    let console = Val::object()?;
    for (level, name) in ["log", "info", "warn", "error", "debug"].iter().enumerate() {
        let bound = Val::number(level as f64);
        let function = js::native(Index::Console, name, 0, &[bound.raw()])?;
        js::define(&console, name, function, sys::JS_PROP_C_W_E)?;
    }
    Ok(console)
}

/// Takes away what would let a program run inside the plumbing, or lose its positions, wherever an error is
/// made: the engine asks the first of these for every stack, and reads the second as a number. Without the
/// accessors both are plain properties that nobody reads.
fn remove_trace_hooks() -> Js<()> {
    let error = js::own_data(js::global().raw(), "Error").ok_or(Thrown)?;
    for name in TRACE_HOOKS {
        remove_from(&error, name)?;
    }
    Ok(())
}

/// Puts the seeded generator where the engine has one of its own.
fn replace_random() -> Js<()> {
    let math = js::own_data(js::global().raw(), "Math").ok_or(Thrown)?;
    let hidden = sys::JS_PROP_CONFIGURABLE | sys::JS_PROP_WRITABLE;
    js::define(
        &math,
        "random",
        js::native(Index::MathRandom, "random", 0, &[])?,
        hidden,
    )
}

/// Defines a global that cannot be written or removed.
pub fn install(name: &str, value: Val) -> Js<()> {
    js::define(&js::global(), name, value, 0)
}

/// Removes a global that the engine or the host put there.
pub fn remove(name: &str) -> Js<()> {
    remove_from(&js::global(), name)
}

fn remove_from(object: &Val, name: &str) -> Js<()> {
    let atom = js::Atom::new(name)?;
    // SAFETY: callers pass the global object or an intrinsic, which are no proxies.
    if unsafe { sys::JS_DeleteProperty(js::ctx(), object.raw(), atom.raw(), 0) } < 0 {
        return Err(Thrown);
    }
    Ok(())
}

/// `performance.now()`.
pub fn performance_now(_: &Args<'_>) -> Js<Val> {
    Ok(Val::number(clock::elapsed_ms()))
}
