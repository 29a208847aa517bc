//! What scripts of conformance tests find beside the language: `print`, and `$262` as test262's rules for
//! hosts describe it. Only the start flag `SCRIPT` brings it about; no program reaches any of it.

use core::cell::RefCell;
use core::ffi::CStr;

use rquickjs_sys as sys;

use crate::abi::FrameKind;
use crate::js::{self, Args, ErrorKind, Js, Text, Val};
use crate::local::Local;
use crate::natives::Index;
use crate::{engine, frames, globals, intrinsics};

/// File name of scripts that a test evaluates.
const FILE: &CStr = c"test.js";

/// Global objects and contexts that tests made; the first is the one of the guest itself.
static REALMS: Local<RefCell<Vec<*mut sys::JSContext>>> = Local::new(RefCell::new(Vec::new()));

/// The functions of `$262` that know their realm: name, native function, declared arguments.
const FUNCTIONS: [(&str, Index, u8); 4] = [
    ("evalScript", Index::TestEvalScript, 1),
    ("createRealm", Index::TestCreateRealm, 0),
    ("detachArrayBuffer", Index::TestDetach, 1),
    ("gc", Index::TestGc, 0),
];

/// Adds `print` and `$262` to the global object.
pub fn init() -> Js<()> {
    globals::install("print", js::native(Index::Print, "print", 1, &[])?)?;
    let host = host_object(js::ctx())?;
    js::define(
        &js::global(),
        "$262",
        host,
        sys::JS_PROP_WRITABLE | sys::JS_PROP_CONFIGURABLE,
    )
}

/// The `$262` of one realm.
fn host_object(context: *mut sys::JSContext) -> Js<Val> {
    let mut realms = REALMS.borrow_mut();
    let realm = Val::number(realms.len() as f64);
    realms.push(context);
    drop(realms);
    let host = Val::object()?;
    for (name, index, length) in FUNCTIONS {
        let function = js::native(index, name, length, &[realm.raw()])?;
        js::define(&host, name, function, sys::JS_PROP_C_W_E)?;
    }
    // SAFETY: contexts of tests are never freed.
    let global = Val::own(unsafe { sys::JS_GetGlobalObject(context) });
    js::define(&host, "global", global, sys::JS_PROP_C_W_E)?;
    // There are no other threads, so an agent can do nothing; tests of agents ask for more and are left out.
    js::define(&host, "agent", Val::object()?, sys::JS_PROP_C_W_E)?;
    js::define(&host, "IsHTMLDDA", undetectable()?, sys::JS_PROP_C_W_E)?;
    Ok(host)
}

/// The object that old pages took for missing.
fn undetectable() -> Js<Val> {
    let function = js::native(Index::TestNull, "IsHTMLDDA", 0, &[])?;
    // SAFETY: the function is alive.
    unsafe { sys::JS_SetIsHTMLDDA(js::ctx(), function.raw()) };
    Ok(function)
}

fn realm(args: &Args<'_>) -> *mut sys::JSContext {
    let index = intrinsics::number_of(args.bound(0)) as usize;
    let realms = REALMS.borrow();
    realms.get(index).copied().unwrap_or_else(js::ctx)
}

/// `$262.evalScript(source)`: a script of its own, in the realm of this `$262`.
pub fn eval_script(args: &Args<'_>) -> Js<Val> {
    let source = Text::of(args.get(0))?;
    let mut text = source.bytes().to_vec();
    text.push(0);
    engine::eval_in(realm(args), &text, FILE)
}

/// `$262.createRealm()`: the `$262` of a new realm, which has the engine's globals and no others.
pub fn create_realm(_: &Args<'_>) -> Js<Val> {
    // SAFETY: the runtime is alive; the context is never freed.
    let context = unsafe { sys::JS_NewContext(js::rt()) };
    if context.is_null() {
        return Err(js::throw_error(ErrorKind::Range, "no memory for a realm"));
    }
    let host = host_object(context)?;
    // SAFETY: the context is alive.
    let global = Val::own(unsafe { sys::JS_GetGlobalObject(context) });
    let hidden = sys::JS_PROP_WRITABLE | sys::JS_PROP_CONFIGURABLE;
    js::define(&global, "$262", host.clone(), hidden)?;
    Ok(host)
}

/// `$262.detachArrayBuffer(buffer)`.
pub fn detach(args: &Args<'_>) -> Js<Val> {
    if !js::is_object(args.get(0)) {
        return Err(js::throw_error(ErrorKind::Type, "not an ArrayBuffer"));
    }
    // SAFETY: the engine leaves anything but an array buffer alone.
    unsafe { sys::JS_DetachArrayBuffer(js::ctx(), args.get(0)) };
    Ok(Val::null())
}

/// `$262.gc()`.
pub fn gc(_: &Args<'_>) -> Js<Val> {
    // SAFETY: the runtime is alive.
    unsafe { sys::JS_RunGC(js::rt()) };
    Ok(Val::undefined())
}

/// What `$262.IsHTMLDDA` returns.
pub fn null(_: &Args<'_>) -> Js<Val> {
    Ok(Val::null())
}

/// `print(text)`.
pub fn print(args: &Args<'_>) -> Js<Val> {
    // SAFETY: the context is alive; this runs user code, as `print` does everywhere.
    let text = Val::check(unsafe { sys::JS_ToString(js::ctx(), args.get(0)) })?;
    let text = Text::of(text.raw())?.to_string_lossy();
    frames::push(FrameKind::Print, 0, 0, &[text.as_bytes()]);
    Ok(Val::undefined())
}
