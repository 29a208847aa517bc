//! `MCP`: native objects whose members come into being when they are read.
//!
//! `MCP.<server>` is an object, `MCP.<server>.<tool>` a function; so are the operations below `resources`
//! and `prompts`, and `$api`. Any other string key reads as if it were there, but those that the language
//! looks up by itself: the host rejects what it does not know, and says what was meant. What is listed is
//! exact when the host gave the names, which it does when a program could ask. Nothing can be changed.

use core::cell::{Cell, RefCell};
use core::ffi::c_void;
use std::collections::BTreeMap;

use rquickjs_sys as sys;

use crate::abi::Method;
use crate::exotic::{self, LANGUAGE_NAMES, Methods};
use crate::js::{self, Args, JSAtom, JSValue, Js, Text, Thrown, Val};
use crate::local::Local;
use crate::natives::Index;
use crate::tools;

/// What describes a server, or all of them.
const API: &str = "$api";

/// The members of a server that are objects.
const GROUPS: [&str; 2] = ["resources", "prompts"];

/// Where in the tree an object stands.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Kind {
    Root,
    Server,
    Group,
}

/// One object.
struct Node {
    kind: Kind,
    /// The keys that lead to it, joined by dots; empty for the root.
    path: String,
    members: BTreeMap<String, Val>,
}

struct Mcp {
    class: Cell<sys::JSClassID>,
    /// An object holds the index of its node, plus one.
    nodes: RefCell<Vec<Node>>,
    /// The listed members of each object, by its path, in the host's order.
    names: RefCell<BTreeMap<String, Vec<String>>>,
}

static MCP: Local<Mcp> = Local::new(Mcp {
    class: Cell::new(0),
    nodes: RefCell::new(Vec::new()),
    names: RefCell::new(BTreeMap::new()),
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

/// Registers the class and makes the root, at pre-initialisation.
pub fn global() -> Js<Val> {
    MCP.class.set(exotic::class(c"MCP", &METHODS)?);
    node(Kind::Root, String::new())
}

/// Takes the members of each object: pairs of a path and its keys.
pub fn set_names(names: BTreeMap<String, Vec<String>>) {
    *MCP.names.borrow_mut() = names;
}

fn node(kind: Kind, path: String) -> Js<Val> {
    let made = exotic::object(MCP.class.get())?;
    let mut nodes = MCP.nodes.borrow_mut();
    nodes.push(Node {
        kind,
        path,
        members: BTreeMap::new(),
    });
    // SAFETY: the object is of the class; what it holds is a number, which nobody follows.
    unsafe { sys::JS_SetOpaque(made.raw(), nodes.len() as *mut c_void) };
    Ok(made)
}

/// The index of an object's node.
fn index_of(object: JSValue) -> Option<usize> {
    // SAFETY: reads internal state only.
    let number = unsafe { sys::JS_GetOpaque(object, MCP.class.get()) } as usize;
    number.checked_sub(1)
}

fn joined(path: &str, key: &str) -> String {
    if path.is_empty() {
        key.to_owned()
    } else {
        format!("{path}.{key}")
    }
}

/// The member of a node, made at its first use.
fn member(index: usize, key: &str) -> Js<Val> {
    let (kind, path) = {
        let nodes = MCP.nodes.borrow();
        let node = nodes.get(index).ok_or(Thrown)?;
        if let Some(found) = node.members.get(key) {
            return Ok(found.clone());
        }
        (node.kind, node.path.clone())
    };
    let made = match kind {
        Kind::Root | Kind::Server if key == API => {
            let bound = Val::string(&path)?;
            js::native(Index::McpApi, API, 2, &[bound.raw()])?
        }
        Kind::Root => self::node(Kind::Server, key.to_owned())?,
        Kind::Server if GROUPS.contains(&key) => self::node(Kind::Group, joined(&path, key))?,
        Kind::Server | Kind::Group => {
            let bound = Val::string(&joined(&path, key))?;
            js::native(Index::McpCall, key, 1, &[bound.raw()])?
        }
    };
    if let Some(node) = MCP.nodes.borrow_mut().get_mut(index) {
        node.members.insert(key.to_owned(), made.clone());
    }
    Ok(made)
}

/// What a key is, as an own property.
enum Key {
    None,
    /// Readable, but said not to be there when somebody asks for the property itself.
    Unlisted,
    Listed,
}

fn classify(index: usize, key: &str) -> Key {
    if LANGUAGE_NAMES.contains(&key) {
        return Key::None;
    }
    let nodes = MCP.nodes.borrow();
    let Some(node) = nodes.get(index) else {
        return Key::None;
    };
    let names = MCP.names.borrow();
    let is_listed = names
        .get(&node.path)
        .is_some_and(|names| names.iter().any(|name| name == key));
    if is_listed || (key == API && node.kind != Kind::Group) {
        Key::Listed
    } else {
        Key::Unlisted
    }
}

unsafe extern "C" fn get_own_property(
    _: *mut sys::JSContext,
    found: *mut sys::JSPropertyDescriptor,
    object: JSValue,
    atom: JSAtom,
) -> i32 {
    let (Some(index), Some(key)) = (index_of(object), exotic::key_text(atom)) else {
        return 0;
    };
    let listed = match classify(index, &key) {
        Key::None => return 0,
        Key::Unlisted => false,
        Key::Listed => true,
    };
    if found.is_null() {
        return i32::from(listed);
    }
    let Ok(value) = member(index, &key) else {
        return -1;
    };
    let shown = listed && key != API;
    let flags = if shown { sys::JS_PROP_ENUMERABLE } else { 0 };
    // SAFETY: the engine gives a valid place for the descriptor.
    unsafe { exotic::describe(found, value, flags) };
    1
}

unsafe extern "C" fn get_own_property_names(
    _: *mut sys::JSContext,
    table: *mut *mut sys::JSPropertyEnum,
    count: *mut u32,
    object: JSValue,
) -> i32 {
    let Some(index) = index_of(object) else {
        return -1;
    };
    let mut keys: Vec<String> = Vec::new();
    if let Some(node) = MCP.nodes.borrow().get(index) {
        keys.extend(
            MCP.names
                .borrow()
                .get(&node.path)
                .into_iter()
                .flatten()
                .cloned(),
        );
        if node.kind != Kind::Group {
            keys.push(API.to_owned());
        }
    }
    // SAFETY: the engine gives valid places.
    unsafe { exotic::give_keys(table, count, keys.iter().map(String::as_str)) }
}

unsafe extern "C" fn delete_property(_: *mut sys::JSContext, object: JSValue, atom: JSAtom) -> i32 {
    let (Some(index), Some(key)) = (index_of(object), exotic::key_text(atom)) else {
        return 1;
    };
    i32::from(!matches!(classify(index, &key), Key::Listed))
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
    exotic::refuse(flags, "MCP cannot be changed")
}

unsafe extern "C" fn set_property(
    _: *mut sys::JSContext,
    _: JSValue,
    _: JSAtom,
    _: JSValue,
    _: JSValue,
    flags: i32,
) -> i32 {
    exotic::refuse(flags, "MCP cannot be changed")
}

/// The arguments that were given: an `undefined` at the end is none.
fn given<'a>(args: &'a Args<'_>) -> &'a [JSValue] {
    let mut list = args.all();
    while let [rest @ .., last] = list {
        if !js::is_undefined(*last) {
            break;
        }
        list = rest;
    }
    list
}

fn called(method: Method, args: &Args<'_>) -> Js<Val> {
    let target = Text::of(args.bound(0))?;
    tools::with_list(method, target.bytes(), given(args))
}

/// `MCP.<server>.<tool>(input)`, and the operations.
pub fn call(args: &Args<'_>) -> Js<Val> {
    called(Method::Mcp, args)
}

/// `MCP.$api()` and `MCP.<server>.$api(tool, options)`.
pub fn api(args: &Args<'_>) -> Js<Val> {
    called(Method::McpApi, args)
}
