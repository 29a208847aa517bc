//! What the plumbing keeps of the pristine context, and how it tells classes apart.
//!
//! Every function here was taken before user code ran, so nothing that a program does to a prototype
//! reaches it. Classes are told by the engine's own class id, never by a prototype or a tag property.

use core::cell::{Cell, RefCell};

use rquickjs_sys as sys;

use crate::js::{self, Args, Atom, JSAtom, JSValue, Js, Own, Text, Thrown, Val};
use crate::local::Local;
use crate::natives::Index;

/// The kept functions and objects, in the order of `intrinsics.js`.
#[derive(Clone, Copy)]
#[repr(usize)]
pub enum Kept {
    /// Getter of `Error.prototype.stack`.
    ErrorStack,
    /// `Map.prototype.forEach`.
    MapForEach,
    /// `Set.prototype.forEach`.
    SetForEach,
    /// `Date.prototype.getTime`.
    DateGetTime,
    /// Getter of `RegExp.prototype.source`.
    RegExpSource,
    /// `Number.prototype.valueOf`.
    NumberValue,
    /// `String.prototype.valueOf`.
    StringValue,
    /// `Boolean.prototype.valueOf`.
    BooleanValue,
    /// `BigInt.prototype.valueOf`.
    BigIntValue,
    /// `EvalError.prototype`.
    EvalErrorProto,
    /// Errors made by the plumbing, with the id of their call.
    CallErrors,
    /// `WeakMap.prototype.set`.
    WeakMapSet,
    /// `WeakMap.prototype.get`.
    WeakMapGet,
    /// `Function.prototype.toString`.
    FunctionText,
}

/// Classes, as far as conversions tell them apart.
#[derive(Clone, Copy)]
pub enum Class {
    /// An ordinary object, or one that is treated like it.
    Plain,
    /// An array.
    Array,
    /// An error.
    Error,
    /// A primitive in an object.
    Boxed,
    /// A date.
    Date,
    /// A regular expression.
    RegExp,
    /// A map.
    Map,
    /// A set.
    Set,
    /// A typed array.
    TypedArray,
    /// An array buffer of so many bytes.
    Buffer(usize),
    /// A promise.
    Promise,
    /// A proxy.
    Proxy,
    /// Something without readable content.
    Opaque(&'static str),
}

/// The class of each sample, in the order of `intrinsics.js`.
const SAMPLES: [Class; 32] = [
    Class::Plain,
    Class::Array,
    Class::Error,
    Class::Boxed,
    Class::Boxed,
    Class::Boxed,
    Class::Boxed,
    Class::Date,
    Class::RegExp,
    Class::Map,
    Class::Set,
    Class::Buffer(0),
    Class::Promise,
    Class::Proxy,
    Class::TypedArray,
    Class::TypedArray,
    Class::TypedArray,
    Class::TypedArray,
    Class::TypedArray,
    Class::TypedArray,
    Class::TypedArray,
    Class::TypedArray,
    Class::TypedArray,
    Class::TypedArray,
    Class::TypedArray,
    Class::TypedArray,
    Class::Opaque("DataView"),
    Class::Opaque("WeakMap"),
    Class::Opaque("WeakSet"),
    Class::Opaque("WeakRef"),
    Class::Opaque("FinalizationRegistry"),
    Class::Opaque("symbol"),
];

/// Class ids are small; ids beyond this are treated as ordinary objects.
const CLASS_IDS: usize = 80;

struct Store {
    kept: RefCell<Vec<Val>>,
    flags: RefCell<Vec<Val>>,
    classes: RefCell<[Class; CLASS_IDS]>,
    length: Cell<JSAtom>,
}

static STORE: Local<Store> = Local::new(Store {
    kept: RefCell::new(Vec::new()),
    flags: RefCell::new(Vec::new()),
    classes: RefCell::new([Class::Plain; CLASS_IDS]),
    length: Cell::new(0),
});

/// Takes everything from the pristine context.
pub fn init() -> Js<()> {
    let parts = crate::engine::eval_own("intrinsics.js", include_str!("intrinsics.js"))?;
    let part = |index| list(&item(&parts, index)?);
    *STORE.kept.borrow_mut() = part(0)?;
    *STORE.flags.borrow_mut() = part(1)?;
    let mut classes = STORE.classes.borrow_mut();
    for (sample, class) in part(2)?.iter().zip(SAMPLES) {
        if let Some(slot) = classes.get_mut(class_id(sample.raw())) {
            *slot = class;
        }
    }
    let length = Atom::new("length")?;
    STORE.length.set(length.raw());
    core::mem::forget(length);
    Ok(())
}

fn item(array: &Val, index: u32) -> Js<Val> {
    // SAFETY: the array is one of ours.
    Val::check(unsafe { sys::JS_GetPropertyUint32(js::ctx(), array.raw(), index) })
}

fn list(array: &Val) -> Js<Vec<Val>> {
    let length = array_length(array.raw())?;
    (0..length).map(|index| item(array, index)).collect()
}

/// A kept function or object.
pub fn kept(which: Kept) -> Val {
    STORE
        .kept
        .borrow()
        .get(which as usize)
        .cloned()
        .unwrap_or_else(Val::undefined)
}

fn class_id(object: JSValue) -> usize {
    // SAFETY: reads internal state only.
    unsafe { sys::JS_GetClassID(object) as usize }
}

/// The class of an object.
pub fn class_of(object: JSValue) -> Class {
    let class = STORE.classes.borrow().get(class_id(object)).copied();
    match class {
        Some(Class::Buffer(_)) => Class::Buffer(buffer_bytes(object)),
        Some(class) => class,
        None => Class::Plain,
    }
}

fn buffer_bytes(buffer: JSValue) -> usize {
    let mut bytes: u32 = 0;
    // SAFETY: `bytes` is a valid place; the pointer is not used.
    if unsafe { sys::JS_GetArrayBuffer(js::ctx(), &raw mut bytes, buffer) }.is_null() {
        drop(js::take_exception());
    }
    bytes as usize
}

fn ask(which: Kept, this: JSValue) -> Js<Val> {
    js::call(kept(which).raw(), this, &[])
}

/// The primitive in a boxed object.
pub fn unbox(object: JSValue) -> Js<Val> {
    for which in [
        Kept::NumberValue,
        Kept::StringValue,
        Kept::BooleanValue,
        Kept::BigIntValue,
    ] {
        match ask(which, object) {
            Ok(value) => return Ok(value),
            Err(Thrown) => drop(js::take_exception()),
        }
    }
    Ok(Val::null())
}

/// A date in ISO form, `None` when it is invalid.
pub fn date_text(date: JSValue) -> Js<Option<String>> {
    let time = ask(Kept::DateGetTime, date)?;
    let ms = number_of(time.raw());
    Ok(crate::clock::iso_text(ms))
}

/// The number in a primitive number value; NaN for all else.
pub fn number_of(value: JSValue) -> f64 {
    match js::tag(value) {
        sys::JS_TAG_INT => f64::from(js::int_of(value)),
        sys::JS_TAG_FLOAT64 => js::float_of(value),
        _ => f64::NAN,
    }
}

/// A regular expression in the form of its literal.
pub fn regexp_text(regexp: JSValue) -> Js<String> {
    let source = ask(Kept::RegExpSource, regexp)?;
    let text = Text::of(source.raw())?.to_string_lossy();
    Ok(format!("/{text}/{}", regexp_flags(regexp)?))
}

/// The flags of a regular expression.
pub fn regexp_flags(regexp: JSValue) -> Js<String> {
    let mut text = String::new();
    let getters = STORE.flags.borrow().clone();
    for (getter, letter) in getters.iter().zip("dgimsuvy".chars()) {
        let set = js::call(getter.raw(), regexp, &[])?;
        if set.raw() == sys::JS_TRUE {
            text.push(letter);
        }
    }
    Ok(text)
}

/// What the innermost running [`collect`] has seen.
static COLLECTED: Local<RefCell<Vec<Val>>> = Local::new(RefCell::new(Vec::new()));

/// Keys and values of a map, alternating.
pub fn map_items(map: JSValue) -> Js<Vec<Val>> {
    collect(Kept::MapForEach, Index::CollectPair, map)
}

/// The members of a set.
pub fn set_items(set: JSValue) -> Js<Vec<Val>> {
    collect(Kept::SetForEach, Index::CollectItem, set)
}

fn collect(each: Kept, index: Index, object: JSValue) -> Js<Vec<Val>> {
    let visit = js::native(index, "", 2, &[])?;
    let outer = COLLECTED.take();
    let done = js::call(kept(each).raw(), object, &[visit.raw()]);
    let items = COLLECTED.replace(outer);
    done?;
    Ok(items)
}

/// Callback of [`map_items`].
pub fn collect_pair(args: &Args<'_>) -> Js<Val> {
    let mut items = COLLECTED.borrow_mut();
    items.push(js::dup(args.get(1)));
    items.push(js::dup(args.get(0)));
    Ok(Val::undefined())
}

/// Callback of [`set_items`].
pub fn collect_item(args: &Args<'_>) -> Js<Val> {
    COLLECTED.borrow_mut().push(js::dup(args.get(0)));
    Ok(Val::undefined())
}

/// The numbers of a typed array; `None` when their text would be longer than `limit` bytes.
pub fn typed_items(array: JSValue, limit: usize) -> Js<Option<Vec<Val>>> {
    let length = typed_length(array)?;
    if length > limit / 2 {
        return Ok(None);
    }
    let mut items = Vec::with_capacity(length);
    for index in 0..length {
        // SAFETY: an integer index into a typed array reads its memory and nothing else.
        items.push(Val::check(unsafe {
            sys::JS_GetPropertyUint32(js::ctx(), array, index as u32)
        })?);
    }
    Ok(Some(items))
}

fn typed_length(array: JSValue) -> Js<usize> {
    let (mut offset, mut bytes, mut size): (u32, u32, u32) = (0, 0, 0);
    // SAFETY: the three places are valid.
    let buffer = unsafe {
        sys::JS_GetTypedArrayBuffer(
            js::ctx(),
            array,
            &raw mut offset,
            &raw mut bytes,
            &raw mut size,
        )
    };
    drop(Val::check(buffer)?);
    Ok(bytes.checked_div(size).unwrap_or(0) as usize)
}

/// Code units of a string, 0 for anything else.
pub fn string_length(value: JSValue) -> usize {
    if !js::is_string(value) {
        return 0;
    }
    let mut length: i64 = 0;
    // SAFETY: the length of a string is read from the string itself.
    unsafe { sys::JS_GetLength(js::ctx(), value, &raw mut length) };
    usize::try_from(length).unwrap_or(usize::MAX)
}

/// Length of an array, at most 2^32 - 1; runs user code for a proxy only.
pub fn array_length(array: JSValue) -> Js<u32> {
    let mut length: i64 = 0;
    // SAFETY: `length` is a valid place.
    if unsafe { sys::JS_GetLength(js::ctx(), array, &raw mut length) } < 0 {
        return Err(Thrown);
    }
    Ok(u32::try_from(length).unwrap_or(u32::MAX))
}

/// An own element of an array; runs user code for a proxy only.
pub fn array_item(array: JSValue, index: u32) -> Js<Own> {
    // SAFETY: the context is alive.
    let atom = unsafe { sys::JS_NewAtomUInt32(js::ctx(), index) };
    let found = js::own_property(array, atom);
    // SAFETY: the atom is owned here.
    unsafe { sys::JS_FreeAtom(js::ctx(), atom) };
    found
}

/// What a proxy stands for.
pub enum ProxyShape {
    /// An array.
    Array,
    /// A function.
    Function,
    /// Any other object.
    Object,
}

/// Looks through proxies at what they stand for; fails for a revoked one.
pub fn proxy_shape(proxy: JSValue) -> Js<ProxyShape> {
    let mut at = js::dup(proxy);
    for _ in 0..1000 {
        if !js::is_proxy(at.raw()) {
            break;
        }
        // SAFETY: `at` is a proxy.
        at = Val::own(unsafe { sys::JS_GetProxyTarget(js::ctx(), at.raw()) });
        if !js::is_object(at.raw()) {
            return Err(js::throw_error(
                js::ErrorKind::Type,
                "a revoked proxy cannot be read",
            ));
        }
    }
    if js::is_function(at.raw()) {
        return Ok(ProxyShape::Function);
    }
    Ok(match class_of(at.raw()) {
        Class::Array => ProxyShape::Array,
        _ => ProxyShape::Object,
    })
}

/// The own enumerable string keys of an object.
pub struct Names {
    table: *mut sys::JSPropertyEnum,
    count: u32,
}

impl Drop for Names {
    fn drop(&mut self) {
        // SAFETY: the table came from the engine and is freed once.
        unsafe { sys::JS_FreePropertyEnum(js::ctx(), self.table, self.count) }
    }
}

impl Names {
    fn rows(&self) -> &[sys::JSPropertyEnum] {
        if self.table.is_null() {
            return &[];
        }
        // SAFETY: the engine gave table and count; freed only on drop.
        unsafe { core::slice::from_raw_parts(self.table, self.count as usize) }
    }

    /// The keys as atoms, in the engine's order.
    pub fn atoms(&self) -> impl Iterator<Item = JSAtom> + '_ {
        self.rows().iter().map(|row| row.atom)
    }

    /// The key is one that every error shows already.
    pub fn is_error_field(&self, atom: JSAtom) -> bool {
        js::atom_text(atom).is_ok_and(|key| matches!(key.bytes(), b"name" | b"message" | b"stack"))
    }
}

/// Own enumerable string keys; runs user code for a proxy only.
pub fn own_names(object: JSValue) -> Js<Names> {
    let mut names = Names {
        table: core::ptr::null_mut(),
        count: 0,
    };
    let flags = (sys::JS_GPN_STRING_MASK | sys::JS_GPN_ENUM_ONLY) as i32;
    // SAFETY: the places are valid.
    let state = unsafe {
        sys::JS_GetOwnPropertyNames(
            js::ctx(),
            &raw mut names.table,
            &raw mut names.count,
            object,
            flags,
        )
    };
    if state < 0 {
        return Err(Thrown);
    }
    Ok(names)
}

/// The engine's own record of where an error was made, one line per frame.
pub fn error_stack(error: JSValue) -> Option<String> {
    let stack = ask(Kept::ErrorStack, error).ok()?;
    if !js::is_string(stack.raw()) {
        return None;
    }
    Some(Text::of(stack.raw()).ok()?.to_string_lossy())
}

/// Marks `error` as made by the plumbing for the call `id`.
pub fn mark_call_error(error: &Val, id: u32) -> Js<()> {
    let id = Val::number(f64::from(id));
    let map = kept(Kept::CallErrors);
    js::call(
        kept(Kept::WeakMapSet).raw(),
        map.raw(),
        &[error.raw(), id.raw()],
    )?;
    Ok(())
}

/// The call that `error` was made for, if the plumbing made it.
pub fn call_of_error(error: JSValue) -> Option<u32> {
    let map = kept(Kept::CallErrors);
    let id = js::call(kept(Kept::WeakMapGet).raw(), map.raw(), &[error]).ok()?;
    let id = number_of(id.raw());
    if id >= 0.0 { Some(id as u32) } else { None }
}

/// Throws an `EvalError`.
pub fn throw_eval_error(message: &str) -> JSValue {
    // SAFETY: the context is alive.
    let error = Val::own(unsafe { sys::JS_NewError(js::ctx()) });
    let proto = kept(Kept::EvalErrorProto);
    // SAFETY: the error is a fresh object, so no user code runs.
    unsafe { sys::JS_SetPrototype(js::ctx(), error.raw(), proto.raw()) };
    if let Ok(text) = Val::string(message) {
        let flags = sys::JS_PROP_WRITABLE | sys::JS_PROP_CONFIGURABLE;
        let _ = js::define(&error, "message", text, flags);
    }
    js::throw(error);
    sys::JS_EXCEPTION
}
