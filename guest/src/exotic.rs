//! What objects with made-up members share: keys as text, tables of names, refusals of change.

use rquickjs_sys as sys;

use crate::js::{self, ErrorKind, JSAtom, Js, Text, Thrown, Val};

/// Names that the engine or common code looks up on any object: no tool has one of them, and turning the
/// object into text must not become a call.
pub const LANGUAGE_NAMES: [&str; 15] = [
    "then",
    "toJSON",
    "constructor",
    "prototype",
    "hasOwnProperty",
    "isPrototypeOf",
    "propertyIsEnumerable",
    "toString",
    "toLocaleString",
    "valueOf",
    "__proto__",
    "__defineGetter__",
    "__defineSetter__",
    "__lookupGetter__",
    "__lookupSetter__",
];

/// The methods of a class.
pub struct Methods(pub sys::JSClassExoticMethods);

// SAFETY: never written after it is made.
unsafe impl Sync for Methods {}

/// Registers a class.
pub fn class(name: &'static core::ffi::CStr, methods: &'static Methods) -> Js<sys::JSClassID> {
    let mut id: sys::JSClassID = 0;
    let definition = sys::JSClassDef {
        class_name: name.as_ptr(),
        finalizer: None,
        gc_mark: None,
        call: None,
        exotic: (&raw const methods.0).cast_mut(),
    };
    // SAFETY: the definition and its methods live long enough; the engine copies the definition.
    unsafe {
        sys::JS_NewClassID(js::rt(), &raw mut id);
        if sys::JS_NewClass(js::rt(), id, &raw const definition) < 0 {
            return Err(Thrown);
        }
    }
    Ok(id)
}

/// A new object of a class, without prototype, to which nothing can be added.
pub fn object(class: sys::JSClassID) -> Js<Val> {
    // SAFETY: the class is registered.
    let made = Val::check(unsafe { sys::JS_NewObjectProtoClass(js::ctx(), sys::JS_NULL, class) })?;
    // SAFETY: the object is fresh.
    if unsafe { sys::JS_PreventExtensions(js::ctx(), made.raw()) } < 0 {
        return Err(Thrown);
    }
    Ok(made)
}

/// The text of a string key; `None` for symbols.
pub fn key_text(atom: JSAtom) -> Option<String> {
    // SAFETY: the engine passes a live atom.
    let key = Val::own(unsafe { sys::JS_AtomToValue(js::ctx(), atom) });
    if !js::is_string(key.raw()) {
        return None;
    }
    Some(Text::of(key.raw()).ok()?.to_string_lossy())
}

/// Hands a table of keys to the engine, which frees it.
///
/// # Safety
/// `table` and `count` are the places that the engine gave.
pub unsafe fn give_keys<'k>(
    table: *mut *mut sys::JSPropertyEnum,
    count: *mut u32,
    keys: impl ExactSizeIterator<Item = &'k str>,
) -> i32 {
    let length = keys.len();
    let bytes = length * size_of::<sys::JSPropertyEnum>();
    // SAFETY: the engine frees the table with its own allocator.
    let rows: *mut sys::JSPropertyEnum = unsafe { sys::js_malloc(js::ctx(), bytes as u32) }.cast();
    if rows.is_null() {
        return -1;
    }
    for (index, key) in keys.enumerate() {
        let Ok(atom) = js::Atom::new(key) else {
            return -1;
        };
        // SAFETY: there is room for every key.
        unsafe {
            rows.add(index).write(sys::JSPropertyEnum {
                is_enumerable: true,
                atom: atom.raw(),
            });
        }
        core::mem::forget(atom);
    }
    // SAFETY: by the caller's promise.
    unsafe {
        *table = rows;
        *count = length as u32;
    }
    0
}

/// Fills a descriptor.
///
/// # Safety
/// `found` is the place that the engine gave.
pub unsafe fn describe(found: *mut sys::JSPropertyDescriptor, value: Val, flags: u32) {
    // SAFETY: by the caller's promise.
    unsafe {
        *found = sys::JSPropertyDescriptor {
            flags: flags as i32,
            value: value.into_raw(),
            getter: sys::JS_UNDEFINED,
            setter: sys::JS_UNDEFINED,
        };
    }
}

/// The answer to an attempt to change something.
pub fn refuse(flags: i32, message: &str) -> i32 {
    if flags as u32 & (sys::JS_PROP_THROW | sys::JS_PROP_THROW_STRICT) != 0 {
        js::throw_error(ErrorKind::Type, message);
        return -1;
    }
    0
}
