//! The global object: what a program finds there, and what it does not.

use rquickjs_sys as sys;

use crate::js::{self, Js, Val};
use crate::natives::Index;
use crate::tools;

/// Globals of the engine that a program must not find.
const ABSENT: [&str; 6] = [
    "eval",
    "SharedArrayBuffer",
    "Atomics",
    "queueMicrotask",
    "performance",
    "DOMException",
];

/// Builds the globals, at pre-initialisation.
pub fn init() -> Js<()> {
    let global = js::global();
    install(&global, "tools", tools::object()?)?;
    for (name, index, length) in [
        ("text", Index::Text, 1),
        ("json", Index::Json, 1),
        ("yield_control", Index::YieldControl, 1),
        ("setTimeout", Index::SetTimeout, 2),
        ("clearTimeout", Index::ClearTimeout, 1),
    ] {
        install(&global, name, js::native(index, name, length, &[])?)?;
    }
    install(&global, "console", console()?)?;
    Ok(())
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

/// Defines a global that cannot be written or removed.
fn install(global: &Val, name: &str, value: Val) -> Js<()> {
    js::define(global, name, value, 0)
}

/// Removes what must not be there.
pub fn remove_absent() -> Js<()> {
    let global = js::global();
    for name in ABSENT {
        let atom = js::Atom::new(name)?;
        // SAFETY: the global object is ordinary; nothing here is a setter or proxy.
        unsafe { sys::JS_DeleteProperty(js::ctx(), global.raw(), atom.raw(), 0) };
    }
    Ok(())
}
