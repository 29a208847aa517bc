//! `ALL_TOOLS`: an array whose entries come into being when they are read.
//!
//! The entries' JSON lies in a region of its own, which the host fills and leaves out of snapshots. The
//! global is a proxy, made at pre-initialisation, over a real array that nobody else can reach. It has three stages,
//! each of which takes away traps that are no longer needed: at first reads of an index are served from the region;
//! a program that reads many gets the array filled, and the engine reads from it; an operation that asks about the
//! array as a whole freezes it, and is answered by the array itself. Changes are refused at every stage.

use core::cell::{Cell, RefCell};
use core::ops::Range;

use rquickjs_sys as sys;

use crate::abi::{CATALOG_MAGIC, PAGE_BYTES, control as at};
use crate::js::{self, Args, Atom, JSValue, Js, Own, Text, Thrown, Val};
use crate::local::Local;
use crate::natives::Index;
use crate::reader::{Reader, Stop};
use crate::{control, intrinsics, shapes};

/// Largest catalog, in bytes.
const LARGEST_BYTES: u32 = 256 * 1024 * 1024;
/// Entries that are made one by one, whatever the catalog's size.
const SINGLE_ENTRIES: usize = 64;
/// A program that has read one entry of so many will read all.
const FEW_OF: usize = 16;

struct Catalog {
    /// Reads the region; it knows the shapes of the entries that it has met.
    reader: RefCell<Option<Reader<'static>>>,
    /// The entries that were made before the array was filled, and their number.
    entries: RefCell<Vec<Option<Val>>>,
    made: Cell<usize>,
    target: RefCell<Option<Val>>,
    handler: RefCell<Option<Val>>,
    filled: Cell<bool>,
    /// How many of the region's entries are of `ALL_TOOLS`; what follows them are texts.
    tools: Cell<usize>,
}

static CATALOG: Local<Catalog> = Local::new(Catalog {
    reader: RefCell::new(None),
    entries: RefCell::new(Vec::new()),
    made: Cell::new(0),
    target: RefCell::new(None),
    handler: RefCell::new(None),
    filled: Cell::new(false),
    tools: Cell::new(usize::MAX),
});

/// Makes the region; 0 when refused.
pub fn reserve(bytes: u32) -> u32 {
    if bytes == 0 || bytes > LARGEST_BYTES || control::get_u32(at::CATALOG_PTR) != 0 {
        return 0;
    }
    let len = bytes.next_multiple_of(PAGE_BYTES);
    let start = crate::alloc::pages(PAGE_BYTES as usize, len as usize);
    if start.is_null() {
        return 0;
    }
    // SAFETY: the region has `len` bytes.
    unsafe { core::ptr::write_bytes(start, 0, len as usize) };
    control::set_u32(at::CATALOG_PTR, start as usize as u32);
    control::set_u32(at::CATALOG_LEN, len);
    start as usize as u32
}

/// The region as the host left it.
fn region() -> &'static [u8] {
    let start = control::get_u32(at::CATALOG_PTR) as usize as *const u8;
    let len = control::get_u32(at::CATALOG_LEN) as usize;
    if start.is_null() {
        return &[];
    }
    // SAFETY: the region was allocated with this length and is never freed.
    unsafe { core::slice::from_raw_parts(start, len) }
}

fn word(index: usize) -> Option<usize> {
    let bytes = region().get(index * 4..index * 4 + 4)?;
    Some(u32::from_le_bytes(bytes.try_into().ok()?) as usize)
}

/// Says how many of the region's entries are of `ALL_TOOLS`.
pub fn set_count(tools: usize) {
    CATALOG.tools.set(tools);
}

/// Number of entries of `ALL_TOOLS`.
fn count() -> usize {
    if word(0) != Some(CATALOG_MAGIC as usize) {
        return 0;
    }
    let all = word(1).unwrap_or(0).min(region().len() / 4);
    all.min(CATALOG.tools.get())
}

/// An entry that is a text, as a string.
pub fn text(index: usize) -> Js<Val> {
    Val::string_bytes(entry_bytes(index).unwrap_or_default())
}

fn entry_bytes(index: usize) -> Option<&'static [u8]> {
    region().get(entry_place(index)?)
}

fn entry_place(index: usize) -> Option<Range<usize>> {
    Some(word(2 + index)?..word(3 + index)?)
}

/// The entry at `index`, built and frozen at its first use.
fn entry(index: usize) -> Js<Val> {
    if let Some(Some(made)) = CATALOG.entries.borrow().get(index) {
        return Ok(made.clone());
    }
    let made = make(index)?;
    let mut entries = CATALOG.entries.borrow_mut();
    if entries.len() < count() {
        entries.resize(count(), None);
    }
    if let Some(slot) = entries.get_mut(index) {
        *slot = Some(made.clone());
        CATALOG.made.set(CATALOG.made.get() + 1);
    }
    Ok(made)
}

/// Builds an entry, frozen.
fn make(index: usize) -> Js<Val> {
    let mut reader = CATALOG.reader.borrow_mut();
    let reader = reader.get_or_insert_with(|| Reader::new(region(), true));
    match entry_place(index).map_or(Err(Stop::Odd), |place| reader.read(place)) {
        Ok(made) => Ok(made),
        Err(Stop::Thrown) => Err(Thrown),
        Err(Stop::Odd) => frozen(entry_bytes(index).unwrap_or(b"null")),
    }
}

/// A value of JSON, frozen with all that it holds.
fn frozen(json: &[u8]) -> Js<Val> {
    let made = js::parse_json(&mut json.to_vec())?;
    freeze(&made)?;
    Ok(made)
}

/// Freezes a fresh value of JSON and all that it holds.
fn freeze(value: &Val) -> Js<()> {
    if !js::is_object(value.raw()) {
        return Ok(());
    }
    let names = intrinsics::own_names(value.raw())?;
    for atom in names.atoms() {
        if let Own::Data(inner) = js::own_property(value.raw(), atom)? {
            freeze(&inner)?;
        }
    }
    js::freeze(value)
}

/// The global, made at pre-initialisation.
pub fn global() -> Js<Val> {
    let target = Val::array()?;
    let handler = Val::bare_object()?;
    for (name, index) in [
        ("get", Index::CatalogGet),
        ("has", Index::CatalogHas),
        ("getOwnPropertyDescriptor", Index::CatalogDescriptor),
        ("ownKeys", Index::CatalogWhole),
        ("isExtensible", Index::CatalogWhole),
        ("preventExtensions", Index::CatalogWhole),
        ("set", Index::CatalogRefuse),
        ("defineProperty", Index::CatalogRefuse),
        ("deleteProperty", Index::CatalogRefuse),
        ("setPrototypeOf", Index::CatalogRefuse),
    ] {
        let bound = Val::string(name)?;
        js::define(
            &handler,
            name,
            js::native(index, name, 0, &[bound.raw()])?,
            sys::JS_PROP_CONFIGURABLE,
        )?;
    }
    // SAFETY: target and handler are alive.
    let proxy = Val::check(unsafe { sys::JS_NewProxy(js::ctx(), target.raw(), handler.raw()) })?;
    *CATALOG.target.borrow_mut() = Some(target);
    *CATALOG.handler.borrow_mut() = Some(handler);
    Ok(proxy)
}

/// The array index that a property key names.
fn index_of(key: JSValue) -> Option<usize> {
    if !js::is_string(key) {
        return None;
    }
    let text = Text::of(key).ok()?;
    let digits = text.bytes();
    let plain = !digits.is_empty()
        && digits.len() <= 9
        && digits.iter().all(u8::is_ascii_digit)
        && (digits[0] != b'0' || digits.len() == 1);
    if !plain {
        return None;
    }
    Some(
        digits
            .iter()
            .fold(0, |sum, digit| sum * 10 + usize::from(digit - b'0')),
    )
}

fn is_length(key: JSValue) -> bool {
    js::is_string(key) && Text::of(key).is_ok_and(|text| text.bytes() == b"length")
}

/// Trap of `get`.
pub fn get(args: &Args<'_>) -> Js<Val> {
    let key = args.get(1);
    if let Some(index) = index_of(key) {
        if index >= count() {
            return Ok(Val::undefined());
        }
        if CATALOG.made.get() >= SINGLE_ENTRIES.max(count() / FEW_OF) {
            fill()?;
        } else {
            return entry(index);
        }
    } else if is_length(key) {
        return Ok(Val::number(count() as f64));
    }
    item(args.get(0), key)
}

/// What the array itself, or what every array inherits from, has for a key.
fn item(target: JSValue, key: JSValue) -> Js<Val> {
    // SAFETY: key and target are alive; what is found on the prototype is what every array shows.
    unsafe {
        let atom = sys::JS_ValueToAtom(js::ctx(), key);
        let found = sys::JS_GetProperty(js::ctx(), target, atom);
        sys::JS_FreeAtom(js::ctx(), atom);
        Val::check(found)
    }
}

/// Trap of `has`.
pub fn has(args: &Args<'_>) -> Js<Val> {
    let key = args.get(1);
    if index_of(key).is_some_and(|index| index < count()) {
        return Ok(Val::bool(true));
    }
    // SAFETY: as in `get`.
    let found = unsafe {
        let atom = sys::JS_ValueToAtom(js::ctx(), key);
        let found = sys::JS_HasProperty(js::ctx(), args.get(0), atom);
        sys::JS_FreeAtom(js::ctx(), atom);
        found
    };
    if found < 0 {
        Err(Thrown)
    } else {
        Ok(Val::bool(found > 0))
    }
}

/// Fills the array and lets the engine read from it. When that fails, the next time goes on where this one ended.
fn fill() -> Js<()> {
    let target = CATALOG.target.borrow().clone();
    let Some(target) = target.filter(|_| !CATALOG.filled.get()) else {
        return Ok(());
    };
    let there = intrinsics::array_length(target.raw())? as usize;
    for index in there..count() {
        shapes::append(&target, entry(index)?)?;
    }
    remove_traps(&["get", "has"])?;
    CATALOG.filled.set(true);
    CATALOG.entries.take();
    CATALOG.reader.take();
    Ok(())
}

/// Fills and freezes the array and lets the engine answer whatever is asked.
fn fix() -> Js<()> {
    fill()?;
    if let Some(target) = &*CATALOG.target.borrow() {
        // It is an ordinary array that only the plumbing can reach.
        js::freeze(target)?;
    }
    remove_traps(&[
        "getOwnPropertyDescriptor",
        "ownKeys",
        "isExtensible",
        "preventExtensions",
    ])
}

fn remove_traps(names: &[&str]) -> Js<()> {
    let Some(handler) = &*CATALOG.handler.borrow() else {
        return Ok(());
    };
    for name in names {
        let name = Atom::new(name)?;
        let flags = sys::JS_PROP_THROW as i32;
        // SAFETY: the handler is an ordinary object that only the plumbing can reach.
        if unsafe { sys::JS_DeleteProperty(js::ctx(), handler.raw(), name.raw(), flags) } < 0 {
            return Err(Thrown);
        }
    }
    Ok(())
}

/// Traps of `ownKeys`, `isExtensible` and `preventExtensions`: the last time that they are asked.
pub fn whole(args: &Args<'_>) -> Js<Val> {
    fix()?;
    match Text::of(args.bound(0))?.bytes() {
        b"ownKeys" => own_keys(),
        b"preventExtensions" => Ok(Val::bool(true)),
        _ => Ok(Val::bool(false)),
    }
}

fn own_keys() -> Js<Val> {
    let keys = Val::array()?;
    for index in 0..count() {
        js::define_index(&keys, index as u32, Val::string(&index.to_string())?)?;
    }
    js::define_index(&keys, count() as u32, Val::string("length")?)?;
    Ok(keys)
}

/// Trap of `getOwnPropertyDescriptor`: the last time that it is asked.
pub fn descriptor(args: &Args<'_>) -> Js<Val> {
    fix()?;
    let key = args.get(1);
    let (value, enumerable) = match index_of(key) {
        Some(index) if index < count() => (item(args.get(0), key)?, true),
        _ if is_length(key) => (Val::number(count() as f64), false),
        _ => return Ok(Val::undefined()),
    };
    let found = Val::bare_object()?;
    let fields = [
        ("value", value),
        ("writable", Val::bool(false)),
        ("enumerable", Val::bool(enumerable)),
        ("configurable", Val::bool(false)),
    ];
    for (name, field) in fields {
        js::define(&found, name, field, sys::JS_PROP_C_W_E)?;
    }
    Ok(found)
}

/// Traps of everything that would change the array.
pub fn refuse(_: &Args<'_>) -> Js<Val> {
    Ok(Val::bool(false))
}
