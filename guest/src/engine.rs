//! The engine: made once at pre-initialisation, told its limits at each entry, asked to compile programs.

use core::ffi::{CStr, c_char, c_int, c_void};

use rquickjs_sys as sys;

use crate::intrinsics::{self, Kept};
use crate::js::{self, ErrorKind, Js, Text, Thrown, Val};
use crate::{alloc, control, errors, rejections};

/// Garbage is collected when the heap has grown by this much, in bytes.
const GC_THRESHOLD_BYTES: u32 = 4 * 1024 * 1024;

static FUNCTIONS: sys::JSMallocFunctions = sys::JSMallocFunctions {
    js_calloc: Some(alloc::engine_calloc),
    js_malloc: Some(alloc::engine_malloc),
    js_free: Some(alloc::engine_free),
    js_realloc: Some(alloc::engine_realloc),
    js_malloc_usable_size: Some(alloc::engine_usable),
};

/// Makes runtime and context; `None` when memory is missing.
pub fn init() -> Option<()> {
    // SAFETY: the functions live for ever; runtime and context are never freed.
    unsafe {
        let runtime = sys::JS_NewRuntime2(&raw const FUNCTIONS, core::ptr::null_mut());
        if runtime.is_null() {
            return None;
        }
        sys::JS_SetGCThreshold(runtime, GC_THRESHOLD_BYTES);
        sys::JS_SetInterruptHandler(runtime, Some(poll), core::ptr::null_mut());
        sys::JS_SetHostPromiseRejectionTracker(
            runtime,
            Some(rejections::track),
            core::ptr::null_mut(),
        );
        let context = sys::JS_NewContext(runtime);
        if context.is_null() {
            return None;
        }
        js::set_ctx(context);
    }
    Some(())
}

/// Asked by the engine now and then; non-zero stops it with an error that no `catch` sees.
unsafe extern "C" fn poll(_: *mut sys::JSRuntime, _: *mut c_void) -> c_int {
    c_int::from(control::interrupted())
}

/// Takes the limit of the engine's native stack, measured from the present frame.
pub fn set_stack_limit(bytes: u32) {
    // SAFETY: the runtime is alive.
    unsafe {
        sys::JS_UpdateStackTop(js::rt());
        sys::JS_SetMaxStackSize(js::rt(), bytes);
    }
}

fn eval(text: &[u8], file: &str, line: i32, flags: u32) -> Js<Val> {
    // The engine reads line 0 as "not given"; a line break before it makes the text start there.
    let lead: &[u8] = if line == 0 { b"\n" } else { b"" };
    let line = if line == 0 { -1 } else { line };
    let mut input = Vec::with_capacity(text.len() + 2);
    input.extend_from_slice(lead);
    input.extend_from_slice(text);
    input.push(0);
    let mut name = file.as_bytes().to_vec();
    name.push(0);
    let mut options = sys::JSEvalOptions {
        version: sys::JS_EVAL_OPTIONS_VERSION as c_int,
        eval_flags: flags as c_int,
        filename: name.as_ptr().cast::<c_char>(),
        line_num: line,
    };
    // SAFETY: text and name are NUL-terminated; the engine copies both.
    Val::check(unsafe {
        sys::JS_Eval2(
            js::ctx(),
            input.as_ptr().cast::<c_char>(),
            (lead.len() + text.len()) as u32,
            &raw mut options,
        )
    })
}

/// Evaluates a script of a conformance test in one of its realms; `text` ends with NUL.
pub fn eval_in(context: *mut sys::JSContext, text: &[u8], file: &CStr) -> Js<Val> {
    let mut options = sys::JSEvalOptions {
        version: sys::JS_EVAL_OPTIONS_VERSION as c_int,
        eval_flags: sys::JS_EVAL_TYPE_GLOBAL as c_int,
        filename: file.as_ptr(),
        line_num: 1,
    };
    // SAFETY: the context is alive; text and name are NUL-terminated, and the engine copies both.
    Val::check(unsafe {
        sys::JS_Eval2(
            context,
            text.as_ptr().cast::<c_char>(),
            text.len().saturating_sub(1) as u32,
            &raw mut options,
        )
    })
}

/// Evaluates a script of our own.
pub fn eval_own(file: &str, text: &str) -> Js<Val> {
    eval(text.as_bytes(), file, 1, sys::JS_EVAL_TYPE_GLOBAL)
}

fn compile(text: &[u8], line: i32) -> Js<Val> {
    let flags = sys::JS_EVAL_TYPE_GLOBAL | sys::JS_EVAL_FLAG_COMPILE_ONLY;
    eval(text, errors::FILE, line, flags)
}

fn run_compiled(code: Val) -> Js<Val> {
    // SAFETY: the code is a compiled script; the engine takes over the reference.
    Val::check(unsafe { sys::JS_EvalFunction(js::ctx(), code.into_raw()) })
}

/// How a program failed to start.
pub enum Refused {
    /// The engine did not compile it; the exception is pending.
    Syntax,
    /// It threw or was stopped while its synchronous part was started; the exception is pending.
    Thrown,
}

/// Compiles the program and calls it; gives its promise.
pub fn start_program(source: &[u8], line: i32) -> Result<Val, Refused> {
    let code = compile(source, line).map_err(|Thrown| Refused::Syntax)?;
    let function = run_compiled(code).map_err(|Thrown| Refused::Thrown)?;
    check_extent(&function, source).map_err(|Thrown| Refused::Syntax)?;
    js::call(function.raw(), sys::JS_UNDEFINED, &[]).map_err(|Thrown| Refused::Thrown)
}

/// Runs a global script; gives `None` when it did not compile.
pub fn run_script(source: &[u8], line: i32) -> Result<Val, Refused> {
    let code = compile(source, line).map_err(|Thrown| Refused::Syntax)?;
    run_compiled(code).map_err(|Thrown| Refused::Thrown)
}

/// The function that came out must be made of all of the text but the parentheses.
///
/// The host has parsed the text as one function and nothing else. Should the engine ever read a text
/// in another way, then as a program that ends the wrapper and goes on: it has no more rights outside of the
/// function than in it, and its result is refused here.
fn check_extent(function: &Val, source: &[u8]) -> Js<()> {
    if !source.contains(&b'}') {
        return Ok(());
    }
    let text = js::call(
        intrinsics::kept(Kept::FunctionText).raw(),
        function.raw(),
        &[],
    )?;
    let text = Text::of(text.raw())?;
    if text.bytes().len() == source.len() - 2 {
        return Ok(());
    }
    Err(wrapper_error())
}

fn wrapper_error() -> Thrown {
    js::throw_error(
        ErrorKind::Syntax,
        "the program ends early: it has a closing brace too many",
    )
}
