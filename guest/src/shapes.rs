//! Objects made at once and read at once, by their shape: the engine's side is in `c/inner.h`.

use core::ffi::c_int;

use rquickjs_sys as sys;

use crate::js::{self, JSAtom, JSValue, Js, Thrown, Val};

unsafe extern "C" {
    fn codecell_object_like(
        ctx: *mut sys::JSContext,
        model: JSValue,
        count: c_int,
        values: *mut JSValue,
    ) -> JSValue;
    fn codecell_append(ctx: *mut sys::JSContext, array: JSValue, value: JSValue) -> c_int;
    fn codecell_slots(
        ctx: *mut sys::JSContext,
        object: JSValue,
        room: c_int,
        atoms: *mut JSAtom,
        values: *mut JSValue,
    ) -> c_int;
    fn codecell_is_name(ctx: *mut sys::JSContext, atom: JSAtom) -> c_int;
    fn codecell_element(ctx: *mut sys::JSContext, array: JSValue, index: u32) -> JSValue;
    fn codecell_latin1(ctx: *mut sys::JSContext, value: JSValue, length: *mut u32) -> *const u8;
}

/// Most properties of an object that is read at once.
pub const SLOTS: usize = 64;

/// An object that nobody else sees; others take their shape from it.
pub struct Model(Val);

impl Model {
    /// A model with these keys, which must all be different and alive; each is a data property with `flags`.
    pub fn new(keys: impl Iterator<Item = JSAtom>, flags: u32) -> Js<Self> {
        let model = Val::object()?;
        for key in keys {
            js::define_atom(&model, key, Val::null(), flags)?;
        }
        Ok(Self(model))
    }

    /// An ordinary object with the model's keys and the values above `from`, which must be as many.
    pub fn object(&self, values: &mut Vec<Val>, from: usize) -> Js<Val> {
        let (place, count) = above(values, from);
        // SAFETY: the model is an ordinary object of data properties, and `place` holds `count` owned values.
        let made = unsafe { codecell_object_like(js::ctx(), self.0.raw(), count, place) };
        if made == sys::JS_UNDEFINED {
            // Nothing was taken.
            return Err(js::throw_error(
                js::ErrorKind::Type,
                "an object cannot be made like its model",
            ));
        }
        forget_above(values, from);
        Val::check(made)
    }
}

/// An array of the values above `from`.
pub fn array(values: &mut Vec<Val>, from: usize) -> Js<Val> {
    let (place, count) = above(values, from);
    // SAFETY: `place` holds `count` owned values, which the engine takes over even when it fails.
    let made = unsafe { sys::JS_NewArrayFrom(js::ctx(), count, place) };
    forget_above(values, from);
    Val::check(made)
}

/// Appends to an array that is fresh from [`array`].
pub fn append(array: &Val, value: Val) -> Js<()> {
    // SAFETY: by the caller's promise the array is dense; the engine takes over the reference.
    match unsafe { codecell_append(js::ctx(), array.raw(), value.into_raw()) } {
        0.. => Ok(()),
        _ => Err(Thrown),
    }
}

fn above(values: &mut [Val], from: usize) -> (*mut JSValue, c_int) {
    let rest = values.get_mut(from..).unwrap_or_default();
    // `Val` is a `JSValue` in memory.
    (rest.as_mut_ptr().cast(), rest.len() as c_int)
}

/// Forgets the values above `from`: the engine owns them.
fn forget_above(values: &mut Vec<Val>, from: usize) {
    // SAFETY: it only gets shorter.
    unsafe { values.set_len(from.min(values.len())) };
}

/// Reads the properties of an ordinary object at once, if all are enumerable data and there are at most [`SLOTS`]:
/// gives their number, puts their keys to the front of `atoms` and appends the values. The keys are alive as long as
/// the object is not changed; they may be indices or symbols, which objects list in another order.
pub fn slots(object: JSValue, atoms: &mut [JSAtom; SLOTS], values: &mut Vec<Val>) -> Option<usize> {
    values.try_reserve(SLOTS).ok()?;
    let place = values.spare_capacity_mut().as_mut_ptr().cast();
    // SAFETY: both places have room for `SLOTS`.
    let count =
        unsafe { codecell_slots(js::ctx(), object, SLOTS as c_int, atoms.as_mut_ptr(), place) };
    let count = usize::try_from(count).ok()?;
    // SAFETY: the engine has written so many owned values.
    unsafe { values.set_len(values.len() + count) };
    Some(count)
}

/// Whether objects list a key in the order in which it came: it is a string and no array index.
pub fn is_name(atom: JSAtom) -> bool {
    // SAFETY: reads internal state only.
    unsafe { codecell_is_name(js::ctx(), atom) != 0 }
}

/// An element of an array without holes; `None` when it is not there or the array is another one.
pub fn element(array: JSValue, index: u32) -> Option<Val> {
    // SAFETY: the value is an object; reads internal state only.
    let found = Val::own(unsafe { codecell_element(js::ctx(), array, index) });
    (js::tag(found.raw()) != sys::JS_TAG_UNINITIALIZED).then_some(found)
}

/// What `read` makes of the text of a string, if that is Latin-1 and in one piece.
pub fn with_latin1<T>(value: JSValue, read: impl FnOnce(&[u8]) -> T) -> Option<T> {
    let mut length = 0;
    // SAFETY: the length is a valid place; reads internal state only.
    let start = unsafe { codecell_latin1(js::ctx(), value, &raw mut length) };
    if start.is_null() {
        return None;
    }
    // SAFETY: the string has so many bytes, and is alive and unchanging while the caller holds it.
    Some(read(unsafe {
        core::slice::from_raw_parts(start, length as usize)
    }))
}
