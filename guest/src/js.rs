//! The engine behind safe signatures: owned values, pending exceptions, native functions.
//!
//! A [`Val`] owns one reference. Functions that can run user code say so; all others read internal state
//! or create fresh values. Nothing here looks a property up on an intrinsic.

use core::cell::Cell;
use core::ffi::{c_char, c_int};

use rquickjs_sys as sys;
pub use sys::{JSAtom, JSValue};

use crate::local::Local;

static CONTEXT: Local<Cell<*mut sys::JSContext>> = Local::new(Cell::new(core::ptr::null_mut()));

/// The one context.
pub fn ctx() -> *mut sys::JSContext {
    CONTEXT.get()
}

/// Remembers the one context, at pre-initialisation.
pub fn set_ctx(context: *mut sys::JSContext) {
    CONTEXT.set(context);
}

/// The runtime of the one context.
pub fn rt() -> *mut sys::JSRuntime {
    // SAFETY: the context lives as long as the module.
    unsafe { sys::JS_GetRuntime(ctx()) }
}

/// An exception is pending in the engine.
#[derive(Debug)]
pub struct Thrown;

/// What an engine operation gives.
pub type Js<T> = Result<T, Thrown>;

/// One owned reference to a value; in memory nothing else.
#[repr(transparent)]
pub struct Val(JSValue);

impl Drop for Val {
    fn drop(&mut self) {
        // SAFETY: this value owns one reference.
        unsafe { sys::JS_FreeValue(ctx(), self.0) }
    }
}

impl Clone for Val {
    fn clone(&self) -> Self {
        dup(self.0)
    }
}

/// A new reference to a borrowed value.
pub fn dup(value: JSValue) -> Val {
    // SAFETY: the caller holds the value alive.
    Val(unsafe { sys::JS_DupValue(ctx(), value) })
}

impl Val {
    /// Takes over one reference.
    pub fn own(value: JSValue) -> Self {
        Self(value)
    }

    /// Takes over one reference, or says that an exception is pending.
    pub fn check(value: JSValue) -> Js<Self> {
        // SAFETY: only the tag is read.
        if unsafe { sys::JS_IsException(value) } {
            return Err(Thrown);
        }
        Ok(Self(value))
    }

    /// The value, still owned here.
    pub fn raw(&self) -> JSValue {
        self.0
    }

    /// Gives the reference away.
    pub fn into_raw(self) -> JSValue {
        let value = self.0;
        core::mem::forget(self);
        value
    }

    /// `undefined`.
    pub fn undefined() -> Self {
        Self(sys::JS_UNDEFINED)
    }

    /// `null`.
    pub fn null() -> Self {
        Self(sys::JS_NULL)
    }

    /// A boolean.
    pub fn bool(value: bool) -> Self {
        Self(if value { sys::JS_TRUE } else { sys::JS_FALSE })
    }

    /// An integer.
    pub fn int(value: i32) -> Self {
        Self(sys::JS_MKVAL(sys::JS_TAG_INT, value))
    }

    /// A number.
    pub fn number(value: f64) -> Self {
        Self(sys::JS_NewFloat64(value))
    }

    /// A string; lone surrogates in WTF-8 are kept.
    pub fn string(text: &str) -> Js<Self> {
        Self::string_bytes(text.as_bytes())
    }

    /// A string from UTF-8 (or WTF-8) bytes.
    pub fn string_bytes(text: &[u8]) -> Js<Self> {
        // SAFETY: pointer and length describe `text`.
        Self::check(unsafe {
            sys::JS_NewStringLen(ctx(), text.as_ptr().cast::<c_char>(), text.len() as u32)
        })
    }

    /// An empty ordinary object.
    pub fn object() -> Js<Self> {
        // SAFETY: the context is alive.
        Self::check(unsafe { sys::JS_NewObject(ctx()) })
    }

    /// An empty object without prototype.
    pub fn bare_object() -> Js<Self> {
        // SAFETY: the context is alive.
        Self::check(unsafe { sys::JS_NewObjectProto(ctx(), sys::JS_NULL) })
    }

    /// An empty array.
    pub fn array() -> Js<Self> {
        // SAFETY: the context is alive.
        Self::check(unsafe { sys::JS_NewArray(ctx()) })
    }
}

/// The tag of a value, floats folded into one.
pub fn tag(value: JSValue) -> i32 {
    // SAFETY: only the tag is read.
    unsafe { sys::JS_VALUE_GET_NORM_TAG(value) }
}

/// The integer of a value with the integer tag (or of a boolean).
pub fn int_of(value: JSValue) -> i32 {
    value as i32
}

/// The double of a value with the float tag.
pub fn float_of(value: JSValue) -> f64 {
    // SAFETY: any bit pattern is a double.
    unsafe { sys::JS_VALUE_GET_FLOAT64(value) }
}

/// `value` is an object.
pub fn is_object(value: JSValue) -> bool {
    tag(value) == sys::JS_TAG_OBJECT
}

/// `value` is `undefined`.
pub fn is_undefined(value: JSValue) -> bool {
    tag(value) == sys::JS_TAG_UNDEFINED
}

/// `value` is a string.
pub fn is_string(value: JSValue) -> bool {
    // SAFETY: only the tag is read.
    unsafe { sys::JS_IsString(value) }
}

/// `value` can be called.
pub fn is_function(value: JSValue) -> bool {
    // SAFETY: reads internal state only.
    unsafe { sys::JS_IsFunction(ctx(), value) }
}

/// `value` is an error object; reads internal state only.
pub fn is_error(value: JSValue) -> bool {
    // SAFETY: reads internal state only.
    unsafe { sys::JS_IsError(value) }
}

/// The text of a string or of another primitive; the bytes are WTF-8.
///
/// With an object this runs user code, so callers pass primitives only.
pub struct Text {
    bytes: *const c_char,
    len: usize,
}

impl Text {
    /// The text of `value`.
    pub fn of(value: JSValue) -> Js<Self> {
        let mut len: u32 = 0;
        // SAFETY: `len` is a valid place for the length.
        let bytes = unsafe { sys::JS_ToCStringLen2(ctx(), &raw mut len, value, false) };
        if bytes.is_null() {
            return Err(Thrown);
        }
        Ok(Self {
            bytes,
            len: len as usize,
        })
    }

    /// The bytes, WTF-8.
    pub fn bytes(&self) -> &[u8] {
        // SAFETY: the engine gave pointer and length; freed only on drop.
        unsafe { core::slice::from_raw_parts(self.bytes.cast::<u8>(), self.len) }
    }

    /// The text with lone surrogates replaced.
    pub fn to_string_lossy(&self) -> String {
        crate::json::wtf8_to_string(self.bytes())
    }
}

impl Drop for Text {
    fn drop(&mut self) {
        // SAFETY: the pointer came from the engine and is freed once.
        unsafe { sys::JS_FreeCString(ctx(), self.bytes) }
    }
}

/// An owned atom.
pub struct Atom(JSAtom);

impl Atom {
    /// The atom of `name`.
    pub fn new(name: &str) -> Js<Self> {
        Self::of_bytes(name.as_bytes())
    }

    /// The atom of a name in UTF-8.
    pub fn of_bytes(name: &[u8]) -> Js<Self> {
        // SAFETY: pointer and length describe `name`.
        let atom =
            unsafe { sys::JS_NewAtomLen(ctx(), name.as_ptr().cast::<c_char>(), name.len() as u32) };
        if atom == sys::JS_ATOM_NULL {
            return Err(Thrown);
        }
        Ok(Self(atom))
    }

    /// The key that a string names.
    pub fn of_string(text: &Val) -> Js<Self> {
        // SAFETY: the value is a string, so no user code runs.
        let atom = unsafe { sys::JS_ValueToAtom(ctx(), text.raw()) };
        if atom == sys::JS_ATOM_NULL {
            return Err(Thrown);
        }
        Ok(Self(atom))
    }

    /// The atom itself.
    pub fn raw(&self) -> JSAtom {
        self.0
    }
}

impl Clone for Atom {
    fn clone(&self) -> Self {
        Self(dup_atom(self.0))
    }
}

impl Drop for Atom {
    fn drop(&mut self) {
        // SAFETY: this value owns one reference.
        unsafe { sys::JS_FreeAtom(ctx(), self.0) }
    }
}

/// The text of a live atom.
pub fn atom_text(atom: JSAtom) -> Js<Text> {
    // SAFETY: the caller holds the atom alive.
    let key = Val::check(unsafe { sys::JS_AtomToString(ctx(), atom) })?;
    Text::of(key.raw())
}

/// One more reference to a live atom.
pub fn dup_atom(atom: JSAtom) -> JSAtom {
    // SAFETY: the caller holds the atom alive.
    unsafe { sys::JS_DupAtom(ctx(), atom) }
}

/// Gives one reference back.
pub fn free_atom(atom: JSAtom) {
    // SAFETY: the caller owns the reference.
    unsafe { sys::JS_FreeAtom(ctx(), atom) }
}

/// Takes the pending exception.
pub fn take_exception() -> Val {
    // SAFETY: the context is alive.
    Val::own(unsafe { sys::JS_GetException(ctx()) })
}

/// Makes `value` the pending exception.
pub fn throw(value: Val) -> Thrown {
    // SAFETY: the engine takes over the reference.
    unsafe { sys::JS_Throw(ctx(), value.into_raw()) };
    Thrown
}

/// The kinds of error that the plumbing throws.
#[derive(Clone, Copy)]
pub enum ErrorKind {
    /// `TypeError`.
    Type,
    /// `RangeError`.
    Range,
    /// `EvalError`.
    Eval,
    /// `SyntaxError`.
    Syntax,
}

/// Throws an error with `message`.
pub fn throw_error(kind: ErrorKind, message: &str) -> Thrown {
    let cut = &message[..message.floor_char_boundary(200)];
    let mut text = [0_u8; 208];
    text[..cut.len()].copy_from_slice(cut.as_bytes());
    let text = text.as_ptr().cast::<c_char>();
    let format = c"%s".as_ptr();
    // SAFETY: the format takes one NUL-terminated string, and `text` is one.
    unsafe {
        match kind {
            ErrorKind::Type => sys::JS_ThrowTypeError(ctx(), format, text),
            ErrorKind::Range => sys::JS_ThrowRangeError(ctx(), format, text),
            ErrorKind::Syntax => sys::JS_ThrowSyntaxError(ctx(), format, text),
            ErrorKind::Eval => crate::intrinsics::throw_eval_error(cut),
        }
    };
    Thrown
}

/// Calls `function`; runs user code.
pub fn call(function: JSValue, this: JSValue, args: &[JSValue]) -> Js<Val> {
    // SAFETY: the engine does not write through `argv`.
    Val::check(unsafe {
        sys::JS_Call(
            ctx(),
            function,
            this,
            args.len() as c_int,
            args.as_ptr().cast_mut(),
        )
    })
}

/// Defines an own data property of a fresh or plumbing-owned object.
pub fn define(object: &Val, name: &str, value: Val, flags: u32) -> Js<()> {
    let atom = Atom::new(name)?;
    define_atom(object, atom.raw(), value, flags)
}

/// Defines an own data property by atom.
pub fn define_atom(object: &Val, atom: JSAtom, value: Val, flags: u32) -> Js<()> {
    // SAFETY: the engine takes over the value's reference.
    let done = unsafe {
        sys::JS_DefinePropertyValue(
            ctx(),
            object.raw(),
            atom,
            value.into_raw(),
            (flags | sys::JS_PROP_THROW) as c_int,
        )
    };
    if done < 0 { Err(Thrown) } else { Ok(()) }
}

/// Appends to a fresh array.
pub fn define_index(array: &Val, index: u32, value: Val) -> Js<()> {
    // SAFETY: the engine takes over the value's reference.
    let done = unsafe {
        sys::JS_DefinePropertyValueUint32(
            ctx(),
            array.raw(),
            index,
            value.into_raw(),
            sys::JS_PROP_C_W_E as c_int,
        )
    };
    if done < 0 { Err(Thrown) } else { Ok(()) }
}

/// Freezes a fresh value that nobody else has seen, but not what it holds.
pub fn freeze(value: &Val) -> Js<()> {
    // SAFETY: the value is fresh and ordinary, so no user code runs.
    done(unsafe { sys::JS_FreezeObject(ctx(), value.raw()) })
}

/// Lets a fresh object that nobody else has seen get no further property.
pub fn prevent_extensions(value: &Val) -> Js<()> {
    // SAFETY: the value is fresh and ordinary, so no user code runs.
    done(unsafe { sys::JS_PreventExtensions(ctx(), value.raw()) })
}

fn done(state: c_int) -> Js<()> {
    if state < 0 { Err(Thrown) } else { Ok(()) }
}

/// What an own property is.
pub enum Own {
    /// There is none.
    Absent,
    /// A data property.
    Data(Val),
    /// A getter or setter, which was not called.
    Accessor,
}

/// Reads an own property without calling a getter. Runs user code for a proxy only.
pub fn own_property(object: JSValue, atom: JSAtom) -> Js<Own> {
    let mut found = sys::JSPropertyDescriptor {
        flags: 0,
        value: sys::JS_UNDEFINED,
        getter: sys::JS_UNDEFINED,
        setter: sys::JS_UNDEFINED,
    };
    // SAFETY: `found` is a valid place for the descriptor.
    let state = unsafe { sys::JS_GetOwnProperty(ctx(), &raw mut found, object, atom) };
    match state {
        0 => Ok(Own::Absent),
        1.. => {
            let value = Val::own(found.value);
            let accessors = (Val::own(found.getter), Val::own(found.setter));
            if found.flags as u32 & sys::JS_PROP_TMASK == sys::JS_PROP_GETSET
                || !is_undefined(accessors.0.raw())
                || !is_undefined(accessors.1.raw())
            {
                return Ok(Own::Accessor);
            }
            Ok(Own::Data(value))
        }
        _ => Err(Thrown),
    }
}

/// Reads an own data property by name; anything else is `None`. For objects that are no proxies.
pub fn own_data(object: JSValue, name: &str) -> Option<Val> {
    let atom = Atom::new(name).ok()?;
    match own_property(object, atom.raw()) {
        Ok(Own::Data(value)) => Some(value),
        Ok(_) => None,
        Err(Thrown) => {
            drop(take_exception());
            None
        }
    }
}

/// Reads a data property along the prototype chain without running user code.
pub fn inherited_data(object: JSValue, name: &str) -> Option<Val> {
    let mut at = dup(object);
    for _ in 0..32 {
        if !is_object(at.raw()) || is_proxy(at.raw()) {
            return None;
        }
        if let Some(value) = own_data(at.raw(), name) {
            return Some(value);
        }
        // SAFETY: `at` is no proxy, so no user code runs.
        at = Val::own(unsafe { sys::JS_GetPrototype(ctx(), at.raw()) });
    }
    None
}

/// `value` is a proxy.
pub fn is_proxy(value: JSValue) -> bool {
    // SAFETY: reads internal state only.
    unsafe { sys::JS_IsProxy(value) }
}

/// The number that `value` stands for; runs user code for objects.
pub fn to_number(value: JSValue) -> Js<f64> {
    let mut number = 0.0;
    // SAFETY: `number` is a valid place.
    if unsafe { sys::JS_ToFloat64(ctx(), &raw mut number, value) } < 0 {
        return Err(Thrown);
    }
    Ok(number)
}

/// Parses JSON with the engine's own parser, which reads no user-visible state.
pub fn parse_json(text: &mut Vec<u8>) -> Js<Val> {
    let len = text.len();
    text.push(0);
    // SAFETY: the text is followed by the NUL that the parser wants.
    let value = unsafe {
        sys::JS_ParseJSON(
            ctx(),
            text.as_ptr().cast::<c_char>(),
            len as u32,
            c"json".as_ptr(),
        )
    };
    text.truncate(len);
    Val::check(value)
}

/// The global object.
pub fn global() -> Val {
    // SAFETY: the context is alive.
    Val::own(unsafe { sys::JS_GetGlobalObject(ctx()) })
}

/// What a native function sees.
pub struct Args<'a> {
    list: &'a [JSValue],
    data: &'a [JSValue],
}

impl Args<'_> {
    /// The argument at `index`, `undefined` when it was not given.
    pub fn get(&self, index: usize) -> JSValue {
        self.list.get(index).copied().unwrap_or(sys::JS_UNDEFINED)
    }

    /// All arguments.
    pub fn all(&self) -> &[JSValue] {
        self.list
    }

    /// A value that was bound when the function was made.
    pub fn bound(&self, index: usize) -> JSValue {
        self.data.get(index).copied().unwrap_or(sys::JS_UNDEFINED)
    }
}

/// A native function.
pub type Native = fn(&Args<'_>) -> Js<Val>;

/// The one C function behind all native functions: `magic` is an index into [`crate::natives::TABLE`].
unsafe extern "C" fn dispatch(
    _: *mut sys::JSContext,
    _: JSValue,
    count: c_int,
    args: *mut JSValue,
    magic: c_int,
    data: *mut JSValue,
) -> JSValue {
    let Some((native, bound)) = crate::natives::TABLE.get(magic as usize).copied() else {
        return sys::JS_UNDEFINED;
    };
    // SAFETY: the engine passes `count` arguments (at least the function's declared length) and the data
    // that the function was made with, whose number the table repeats.
    let view = unsafe {
        Args {
            list: slice(args, count as usize),
            data: slice(data, bound),
        }
    };
    match native(&view) {
        Ok(value) => value.into_raw(),
        Err(Thrown) => sys::JS_EXCEPTION,
    }
}

unsafe fn slice<'a>(start: *mut JSValue, len: usize) -> &'a [JSValue] {
    if len == 0 || start.is_null() {
        return &[];
    }
    // SAFETY: by the caller's promise.
    unsafe { core::slice::from_raw_parts(start, len) }
}

/// Makes a function object for a row of [`crate::natives::TABLE`].
pub fn native(index: crate::natives::Index, name: &str, length: u8, data: &[JSValue]) -> Js<Val> {
    let mut text = Vec::with_capacity(name.len() + 1);
    text.extend_from_slice(name.as_bytes());
    text.push(0);
    // SAFETY: the name is NUL-terminated; the engine copies name and data.
    Val::check(unsafe {
        sys::JS_NewCFunctionData2(
            ctx(),
            Some(dispatch),
            text.as_ptr().cast::<c_char>(),
            c_int::from(length),
            index as c_int,
            data.len() as c_int,
            data.as_ptr().cast_mut(),
        )
    })
}
