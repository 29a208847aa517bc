//! Errors: those that the plumbing makes, and how a thrown value becomes an error frame.

use rquickjs_sys as sys;

use crate::abi::{ErrorSource, FrameKind, eval_field};
use crate::convert;
use crate::intrinsics;
use crate::js::{self, JSValue, Js, Text, Val};
use crate::{control, exhaustion, frames, json, limits};

/// Longest message in an error frame, in bytes.
const MESSAGE_BYTES: usize = 16 * 1024;
/// Longest stack in an error frame, in bytes.
const STACK_BYTES: usize = 8 * 1024;
/// File name in positions.
pub const FILE: &str = "cell.js";
/// Unhandled rejections that an error frame lists beside the one that it reports.
pub const OTHERS: usize = 16;

const HIDDEN: u32 = sys::JS_PROP_WRITABLE | sys::JS_PROP_CONFIGURABLE;

/// The error is the engine's own stop, which no `catch` sees.
pub fn is_uncatchable(error: &Val) -> bool {
    // SAFETY: reads internal state only.
    unsafe { sys::JS_IsUncatchableError(error.raw()) }
}

/// An `Error` with a message and, if given, an own `code` and `effectStatus: "notStarted"`.
pub fn plumbing_error(message: &str, code: Option<&str>) -> Js<Val> {
    let error = bare_error(message)?;
    if let Some(code) = code {
        js::define(&error, "code", Val::string(code)?, sys::JS_PROP_C_W_E)?;
        let status = Val::string("notStarted")?;
        js::define(&error, "effectStatus", status, sys::JS_PROP_C_W_E)?;
    }
    Ok(error)
}

/// An error without message that remembers where it was made.
pub fn error_here() -> Js<Val> {
    // SAFETY: the context is alive.
    Val::check(unsafe { sys::JS_NewError(js::ctx()) })
}

fn bare_error(message: &str) -> Js<Val> {
    let error = error_here()?;
    js::define(&error, "message", Val::string(message)?, HIDDEN)?;
    Ok(error)
}

/// Makes `error`, which was made at the call, the one that a rejected call gives: the fields of the host's
/// JSON become own properties.
pub fn from_host(payload: &mut Vec<u8>, error: Val, call: u32) -> Js<Val> {
    let fields = js::parse_json(payload)?;
    let text = |key: &str| js::own_data(fields.raw(), key).filter(|v| js::is_string(v.raw()));
    if let Some(message) = text("message") {
        js::define(&error, "message", message, HIDDEN)?;
    }
    if let Some(name) = text("name") {
        js::define(&error, "name", name, HIDDEN)?;
    }
    if js::is_object(fields.raw()) {
        copy_fields(&fields, &error)?;
    }
    intrinsics::mark_call_error(&error, call)?;
    Ok(error)
}

fn copy_fields(from: &Val, to: &Val) -> Js<()> {
    let names = intrinsics::own_names(from.raw())?;
    for atom in names.atoms() {
        if names.is_error_field(atom) {
            continue;
        }
        if let js::Own::Data(value) = js::own_property(from.raw(), atom)? {
            js::define_atom(to, atom, value, sys::JS_PROP_C_W_E)?;
        }
    }
    Ok(())
}

/// Name, message and position of something thrown, read without running user code of ordinary objects.
struct Described {
    name: String,
    message: String,
    stack: String,
    position: Option<(u32, u32)>,
}

fn text_field(object: JSValue, key: &str) -> Option<String> {
    let value = js::inherited_data(object, key)?;
    if !js::is_string(value.raw()) {
        return None;
    }
    Some(Text::of(value.raw()).ok()?.to_string_lossy())
}

fn describe(thrown: JSValue) -> Described {
    if !js::is_error(thrown) {
        return Described {
            name: "Error".to_owned(),
            message: thrown_message(thrown),
            stack: String::new(),
            position: None,
        };
    }
    let raw = intrinsics::error_stack(thrown).unwrap_or_default();
    let raw = behind_constructors(&raw, &constructor_names(thrown));
    Described {
        name: text_field(thrown, "name").unwrap_or_else(|| "Error".to_owned()),
        message: text_field(thrown, "message").unwrap_or_default(),
        position: first_position(raw),
        stack: program_frames(raw),
    }
}

fn thrown_message(thrown: JSValue) -> String {
    let limits = convert::Limits {
        depth: 8,
        bytes: MESSAGE_BYTES,
    };
    match convert::brief(thrown, limits) {
        Ok(text) => text,
        Err(js::Thrown) => {
            drop(js::take_exception());
            "[a value that cannot be read]".to_owned()
        }
    }
}

/// Longest chain of classes that is looked through.
const CLASSES: usize = 16;

/// The names of the classes that made an error, the own first, read without running user code.
fn constructor_names(error: JSValue) -> Vec<String> {
    let mut names = Vec::new();
    let mut at = js::dup(error);
    for _ in 0..CLASSES {
        // SAFETY: `at` is an object and no proxy, so no user code runs.
        at = Val::own(unsafe { sys::JS_GetPrototype(js::ctx(), at.raw()) });
        if !js::is_object(at.raw()) || js::is_proxy(at.raw()) {
            break;
        }
        let class = js::own_data(at.raw(), "constructor")
            .filter(|class| js::is_function(class.raw()) && !js::is_proxy(class.raw()));
        let name = class.and_then(|class| js::own_data(class.raw(), "name"));
        if let Some(name) = name.filter(|name| js::is_string(name.raw()))
            && let Ok(name) = Text::of(name.raw())
        {
            names.push(name.to_string_lossy());
        }
    }
    names
}

/// What is left of a stack without the constructors of the error itself, which the engine records like any
/// other function: where an error was thrown is said by the frame behind them.
fn behind_constructors<'s>(stack: &'s str, classes: &[String]) -> &'s str {
    let mut rest = stack;
    while let Some((line, after)) = rest.split_once('\n') {
        let name = line
            .trim_start()
            .strip_prefix("at ")
            .and_then(|frame| frame.rsplit_once(" ("))
            .map(|(name, _)| name);
        if !name.is_some_and(|name| classes.iter().any(|class| class == name)) {
            break;
        }
        rest = after;
    }
    match first_position(rest) {
        Some(_) => rest,
        None => stack,
    }
}

/// Keeps the lines of a stack that are positions in the program.
fn program_frames(stack: &str) -> String {
    let mut kept = String::new();
    for line in stack.lines() {
        if line.contains(FILE) && kept.len() + line.len() < STACK_BYTES {
            if !kept.is_empty() {
                kept.push('\n');
            }
            kept.push_str(line);
        }
    }
    kept
}

/// Line and column of the first position in the program.
fn first_position(stack: &str) -> Option<(u32, u32)> {
    stack.lines().find_map(position_in)
}

/// The position in one line of a stack: `    at name (file:line:column)`, or without name and parentheses.
/// A name can hold anything, so only what stands behind it counts.
fn position_in(line: &str) -> Option<(u32, u32)> {
    let frame = line.trim_start().strip_prefix("at ")?;
    let place = match frame.strip_suffix(')') {
        Some(frame) => frame.rsplit_once(" (")?.1,
        None => frame,
    };
    let mut parts = place.strip_prefix(FILE)?.strip_prefix(':')?.splitn(2, ':');
    let line = leading_number(parts.next()?)?;
    let column = leading_number(parts.next()?)?;
    Some((line, column))
}

fn leading_number(text: &str) -> Option<u32> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text.get(..end)?.parse().ok()
}

fn cut(text: &str, bytes: usize) -> &str {
    &text[..text.floor_char_boundary(bytes)]
}

fn push_text(out: &mut Vec<u8>, key: &str, text: &str, bytes: usize) {
    json::push_key(out, key);
    json::push_string(out, cut(text, bytes).as_bytes());
}

fn push_number(out: &mut Vec<u8>, key: &str, value: u32) {
    json::push_key(out, key);
    json::push_int(out, i64::from(value));
}

/// Commits the error frame for `thrown`; `others` are further rejections that nobody handled.
pub fn report(source: ErrorSource, thrown: &Val, others: &[Val]) {
    control::add_fault(exhaustion::fault_of(thrown.raw()));
    let described = describe(thrown.raw());
    let mut out = vec![b'{'];
    push_text(&mut out, "name", &described.name, 256);
    push_text(&mut out, "message", &described.message, MESSAGE_BYTES);
    if !described.stack.is_empty() {
        push_text(&mut out, "stack", &described.stack, STACK_BYTES);
    }
    if let Some((line, column)) = described.position {
        push_number(&mut out, "line", line);
        push_number(&mut out, "column", column);
    }
    push_call(&mut out, thrown.raw());
    push_list(&mut out, "errors", &parts(thrown.raw()));
    push_list(&mut out, "others", others);
    out.push(b'}');
    frames::push(FrameKind::Error, source as u8, 0, &[&out]);
}

/// The call that the error belongs to, told by the plumbing's own table and not by the error's fields.
fn push_call(out: &mut Vec<u8>, thrown: JSValue) {
    if !js::is_error(thrown) {
        return;
    }
    let call = intrinsics::call_of_error(thrown);
    if let Some(call) = call {
        push_number(out, "call", call);
    }
    for key in ["tool", "code", "effectStatus"] {
        if let Some(text) = text_field(thrown, key) {
            push_text(out, key, &text, 256);
        }
    }
}

/// The errors that an `AggregateError` stands for, as far as they are listed.
fn parts(thrown: JSValue) -> Vec<Val> {
    let list = js::is_error(thrown)
        .then(|| js::own_data(thrown, "errors"))
        .flatten();
    let Some(list) = list.filter(|list| {
        js::is_object(list.raw())
            && matches!(intrinsics::class_of(list.raw()), intrinsics::Class::Array)
    }) else {
        return Vec::new();
    };
    let length = intrinsics::array_length(list.raw()).unwrap_or(0);
    let items = (0..length.min(OTHERS as u32)).filter_map(|index| {
        match intrinsics::array_item(list.raw(), index) {
            Ok(js::Own::Data(item)) => Some(item),
            _ => None,
        }
    });
    items.collect()
}

fn push_list(out: &mut Vec<u8>, key: &str, errors: &[Val]) {
    if errors.is_empty() {
        return;
    }
    json::push_key(out, key);
    out.push(b'[');
    for (index, other) in errors.iter().take(OTHERS).enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let described = describe(other.raw());
        out.push(b'{');
        push_text(out, "name", &described.name, 256);
        push_text(out, "message", &described.message, 1024);
        out.push(b'}');
    }
    out.push(b']');
}

/// Commits the frame for a value that could not be converted.
pub fn report_conversion(failure: &convert::Failure) {
    match failure {
        convert::Failure::TooLong => frames::push(FrameKind::Value, 1, 0, &[]),
        convert::Failure::Thrown => {
            let thrown = js::take_exception();
            report(ErrorSource::Conversion, &thrown, &[]);
        }
        convert::Failure::TooDeep => {
            let depth = limits::get(eval_field::JSON_DEPTH_LIMIT);
            report_text(&format!(
                "the returned value is nested more than {depth} levels deep; flatten it"
            ));
        }
        convert::Failure::Unfit(what) => {
            report_text(&format!("the returned value contains {what}"))
        }
    }
}

fn report_text(message: &str) {
    match bare_error(message) {
        Ok(error) => report(ErrorSource::Conversion, &error, &[]),
        Err(js::Thrown) => {
            let thrown = js::take_exception();
            report(ErrorSource::Conversion, &thrown, &[]);
        }
    }
}

/// An error as the console shows it.
pub fn summary(error: JSValue) -> String {
    let described = describe(error);
    let mut text = described.name;
    if !described.message.is_empty() {
        text.push_str(": ");
        text.push_str(&described.message);
    }
    if !described.stack.is_empty() {
        text.push('\n');
        text.push_str(&described.stack);
    }
    text
}
