//! `tools`: a native object whose members come into being when they are read.
//!
//! Helpers are fixed. Any other string key but those that the language looks up by itself reads as a function
//! that calls the tool of that name; the host rejects a name that it does not know. Nothing can be added or changed.

use core::cell::{Cell, RefCell};
use std::collections::{BTreeMap, BTreeSet};

use rquickjs_sys as sys;

use crate::abi::Method;
use crate::exotic::{self, LANGUAGE_NAMES, Methods};
use crate::js::{self, Args, ErrorKind, JSAtom, JSValue, Js, Text, Val};
use crate::local::Local;
use crate::natives::Index;
use crate::{calls, convert, limits};

/// The fixed members: name, native function, declared arguments.
const HELPERS: [(&str, Index, u8); 4] = [
    ("search", Index::ToolsSearch, 2),
    ("describe", Index::ToolsDescribe, 1),
    ("call", Index::ToolsCall, 2),
    ("callRaw", Index::ToolsCallRaw, 2),
];

struct Tools {
    class: Cell<sys::JSClassID>,
    members: RefCell<BTreeMap<String, Val>>,
    /// All safe names, when the host gave them.
    names: RefCell<Option<Names>>,
}

/// Names in the host's order, and again for looking them up.
struct Names {
    ordered: Vec<String>,
    known: BTreeSet<String>,
}

static TOOLS: Local<Tools> = Local::new(Tools {
    class: Cell::new(0),
    members: RefCell::new(BTreeMap::new()),
    names: RefCell::new(None),
});

static METHODS: Methods = Methods(sys::JSClassExoticMethods {
    get_own_property: Some(get_own_property),
    get_own_property_names: Some(get_own_property_names),
    delete_property: Some(delete_property),
    define_own_property: Some(define_own_property),
    has_property: None,
    get_property: None,
    set_property: Some(set_property),
});

/// Registers the class and makes the object, at pre-initialisation.
pub fn object() -> Js<Val> {
    TOOLS.class.set(exotic::class(c"Tools", &METHODS)?);
    for (name, index, length) in HELPERS {
        let helper = js::native(index, name, length, &[])?;
        TOOLS.members.borrow_mut().insert(name.to_owned(), helper);
    }
    exotic::object(TOOLS.class.get())
}

/// Makes `in`, `Object.keys` and `hasOwn` exact for these names.
pub fn set_names(names: Vec<String>) {
    *TOOLS.names.borrow_mut() = Some(Names {
        known: names.iter().cloned().collect(),
        ordered: names,
    });
}

fn is_helper(name: &str) -> bool {
    HELPERS.iter().any(|(helper, _, _)| *helper == name)
}

/// The member with this name, made at first use.
fn member(name: &str) -> Js<Val> {
    if let Some(found) = TOOLS.members.borrow().get(name) {
        return Ok(found.clone());
    }
    let bound = Val::string(name)?;
    let made = js::native(Index::ToolByName, name, 1, &[bound.raw()])?;
    TOOLS
        .members
        .borrow_mut()
        .insert(name.to_owned(), made.clone());
    Ok(made)
}

/// What a key is, as an own property.
enum Key {
    None,
    /// Readable, but said not to be there when somebody asks for the property itself.
    Unlisted(String),
    Listed(String),
}

fn classify(atom: JSAtom) -> Key {
    let Some(name) = exotic::key_text(atom) else {
        return Key::None;
    };
    if LANGUAGE_NAMES.contains(&name.as_str()) {
        return Key::None;
    }
    if is_helper(&name) {
        return Key::Listed(name);
    }
    match &*TOOLS.names.borrow() {
        Some(names) if names.known.contains(&name) => Key::Listed(name),
        _ => Key::Unlisted(name),
    }
}

unsafe extern "C" fn get_own_property(
    _: *mut sys::JSContext,
    found: *mut sys::JSPropertyDescriptor,
    _: JSValue,
    atom: JSAtom,
) -> i32 {
    let (name, listed) = match classify(atom) {
        Key::None => return 0,
        Key::Unlisted(name) => (name, false),
        Key::Listed(name) => (name, true),
    };
    if found.is_null() {
        return i32::from(listed);
    }
    let Ok(value) = member(&name) else {
        return -1;
    };
    let flags = if listed { sys::JS_PROP_ENUMERABLE } else { 0 };
    // SAFETY: the engine gives a valid place for the descriptor.
    unsafe { exotic::describe(found, value, flags) };
    1
}

unsafe extern "C" fn get_own_property_names(
    _: *mut sys::JSContext,
    table: *mut *mut sys::JSPropertyEnum,
    count: *mut u32,
    _: JSValue,
) -> i32 {
    let mut keys: Vec<String> = HELPERS.iter().map(|row| row.0.to_owned()).collect();
    if let Some(names) = &*TOOLS.names.borrow() {
        let rest = names.ordered.iter().filter(|name| !is_helper(name));
        keys.extend(rest.cloned());
    }
    // SAFETY: the engine gives valid places.
    unsafe { exotic::give_keys(table, count, keys.iter().map(String::as_str)) }
}

unsafe extern "C" fn delete_property(_: *mut sys::JSContext, _: JSValue, atom: JSAtom) -> i32 {
    i32::from(!matches!(classify(atom), Key::Listed(_)))
}

unsafe extern "C" fn define_own_property(
    _: *mut sys::JSContext,
    _: JSValue,
    _: JSAtom,
    _: JSValue,
    _: JSValue,
    _: JSValue,
    flags: i32,
) -> i32 {
    exotic::refuse(flags, "tools cannot be changed")
}

unsafe extern "C" fn set_property(
    _: *mut sys::JSContext,
    _: JSValue,
    _: JSAtom,
    _: JSValue,
    _: JSValue,
    flags: i32,
) -> i32 {
    exotic::refuse(flags, "tools cannot be changed")
}

/// A tool's function: `tools.<name>(input)`.
pub fn by_name(args: &Args<'_>) -> Js<Val> {
    let name = Text::of(args.bound(0))?;
    calls::make(Method::CallByName, name.bytes(), args.get(0))
}

fn with_id(method: Method, what: &str, args: &Args<'_>) -> Js<Val> {
    let id = required_text(args.get(0), what)?;
    calls::make(method, id.bytes(), args.get(1))
}

/// A string argument, or a `TypeError` that says what is missing.
pub fn required_text(value: JSValue, what: &str) -> Js<Text> {
    if !js::is_string(value) {
        return Err(js::throw_error(ErrorKind::Type, what));
    }
    if crate::intrinsics::string_length(value) > limits::message().bytes {
        return Err(js::throw_error(ErrorKind::Range, "the name is too long"));
    }
    Text::of(value)
}

/// `tools.call(id, input)`.
pub fn call(args: &Args<'_>) -> Js<Val> {
    with_id(
        Method::Call,
        "tools.call needs a tool's id or name as its first argument",
        args,
    )
}

/// `tools.callRaw(id, input)`.
pub fn call_raw(args: &Args<'_>) -> Js<Val> {
    with_id(
        Method::CallRaw,
        "tools.callRaw needs a tool's id or name as its first argument",
        args,
    )
}

/// `tools.describe(id)`.
pub fn describe(args: &Args<'_>) -> Js<Val> {
    let id = required_text(args.get(0), "tools.describe needs a tool's id or name")?;
    calls::make_with(Method::Describe, id.bytes(), b"null")
}

/// `tools.search(query, options)`.
pub fn search(args: &Args<'_>) -> Js<Val> {
    with_list(Method::Search, b"", &[args.get(0), args.get(1)])
}

/// A call whose arguments are the list of `values`.
pub fn with_list(method: Method, target: &[u8], values: &[JSValue]) -> Js<Val> {
    match list_json(values) {
        Ok(text) => calls::make_with(method, target, &text),
        Err(failure) => calls::unsendable(&failure),
    }
}

fn list_json(values: &[JSValue]) -> Result<Vec<u8>, convert::Failure> {
    let mut out = vec![b'['];
    for (index, value) in values.iter().enumerate() {
        if index > 0 {
            out.push(b',');
        }
        let text = convert::to_json(*value, convert::Purpose::Send, limits::message())?;
        out.extend_from_slice(&text);
        if out.len() > limits::message().bytes {
            return Err(convert::Failure::TooLong);
        }
    }
    out.push(b']');
    Ok(out)
}
