//! The globals that are written in JavaScript, and the native helpers that only they can see.

use rquickjs_sys as sys;

use crate::codecs;
use crate::intrinsics::{self, Class};
use crate::js::{self, Args, Js, Own, Text, Thrown, Val};
use crate::natives::Index;

/// Helpers by the name that the prelude uses.
const HELPERS: [(&str, Index); 26] = [
    ("define", Index::Define),
    ("defineHidden", Index::DefineHidden),
    ("ownData", Index::OwnData),
    ("setLength", Index::SetLength),
    ("kind", Index::Kind),
    ("regexpFlags", Index::RegExpFlags),
    ("dataCloneError", Index::DataCloneError),
    ("mapItems", Index::MapItems),
    ("setItems", Index::SetItems),
    ("unbox", Index::Unbox),
    ("encode", Index::Encode),
    ("encodeInto", Index::EncodeInto),
    ("encodingName", Index::EncodingName),
    ("decode", Index::Decode),
    ("urlParse", Index::UrlParse),
    ("urlCanParse", Index::UrlCanParse),
    ("urlSet", Index::UrlSet),
    ("queryNormal", Index::QueryNormal),
    ("queryAppend", Index::QueryAppend),
    ("queryDelete", Index::QueryDelete),
    ("queryHas", Index::QueryHas),
    ("queryGet", Index::QueryGet),
    ("queryGetAll", Index::QueryGetAll),
    ("querySet", Index::QuerySet),
    ("querySort", Index::QuerySort),
    ("queryEntries", Index::QueryEntries),
];

/// Names of the kinds that [`kind`] tells apart, by number.
const KINDS: [&str; 13] = [
    "plain", "array", "error", "boxed", "date", "regexp", "map", "set", "typed", "buffer",
    "promise", "proxy", "view",
];

/// Globals that the prelude gives, in its order.
pub const GLOBALS: [&str; 5] = [
    "TextEncoder",
    "TextDecoder",
    "URL",
    "URLSearchParams",
    "structuredClone",
];

/// Evaluates the prelude; its globals in the order of [`GLOBALS`].
pub fn init() -> Js<Vec<Val>> {
    let native = Val::bare_object()?;
    for (name, index) in HELPERS {
        js::define(&native, name, js::native(index, name, 0, &[])?, 0)?;
    }
    let kinds = Val::bare_object()?;
    for (number, name) in KINDS.iter().enumerate() {
        js::define(&kinds, name, Val::number(number as f64), 0)?;
    }
    js::define(&native, "kinds", kinds, 0)?;
    let prelude = crate::engine::eval_own("prelude.js", include_str!("prelude.js"))?;
    let made = js::call(prelude.raw(), sys::JS_UNDEFINED, &[native.raw()])?;
    (0..GLOBALS.len() as u32)
        .map(|index| match intrinsics::array_item(made.raw(), index)? {
            Own::Data(value) => Ok(value),
            _ => Err(Thrown),
        })
        .collect()
}

/// `kind(value)`: the number of an object's class, -1 for what is no object or has no readable content.
pub fn kind(args: &Args<'_>) -> Js<Val> {
    let value = args.get(0);
    if !js::is_object(value) || js::is_function(value) {
        return Ok(Val::number(-1.0));
    }
    let number = match intrinsics::class_of(value) {
        Class::Plain => 0,
        Class::Array => 1,
        Class::Error => 2,
        Class::Boxed => 3,
        Class::Date => 4,
        Class::RegExp => 5,
        Class::Map => 6,
        Class::Set => 7,
        Class::TypedArray => 8,
        Class::Buffer(_) => 9,
        Class::Promise => 10,
        Class::Proxy => 11,
        Class::Opaque("DataView") => 12,
        Class::Opaque(_) => -1,
    };
    Ok(Val::number(f64::from(number)))
}

fn define_with(args: &Args<'_>, flags: u32) -> Js<Val> {
    let target = js::dup(args.get(0));
    // SAFETY: the key is a string primitive of the prelude.
    let atom = unsafe { sys::JS_ValueToAtom(js::ctx(), args.get(1)) };
    let done = js::define_atom(&target, atom, js::dup(args.get(2)), flags);
    // SAFETY: the atom is owned here.
    unsafe { sys::JS_FreeAtom(js::ctx(), atom) };
    done?;
    Ok(Val::undefined())
}

/// `define(object, key, value)`.
pub fn define(args: &Args<'_>) -> Js<Val> {
    define_with(args, sys::JS_PROP_C_W_E)
}

/// `defineHidden(object, key, value)`.
pub fn define_hidden(args: &Args<'_>) -> Js<Val> {
    define_with(args, sys::JS_PROP_WRITABLE | sys::JS_PROP_CONFIGURABLE)
}

/// `ownData(object, key)`.
pub fn own_data(args: &Args<'_>) -> Js<Val> {
    let key = Text::of(args.get(1))?.to_string_lossy();
    Ok(js::own_data(args.get(0), &key).unwrap_or_else(Val::undefined))
}

/// `setLength(array, length)` of a fresh array.
pub fn set_length(args: &Args<'_>) -> Js<Val> {
    let length = intrinsics::number_of(args.get(1));
    // SAFETY: the array is fresh and ordinary, so no user code runs.
    if unsafe { sys::JS_SetLength(js::ctx(), args.get(0), length as i64) } < 0 {
        return Err(Thrown);
    }
    Ok(Val::undefined())
}

/// `regexpFlags(regexp)`.
pub fn regexp_flags(args: &Args<'_>) -> Js<Val> {
    Val::string(&intrinsics::regexp_flags(args.get(0))?)
}

/// `dataCloneError(message)`: the error, not thrown.
pub fn data_clone_error(args: &Args<'_>) -> Js<Val> {
    let mut message = Text::of(args.get(0))?.to_string_lossy().into_bytes();
    message.push(0);
    // SAFETY: the format takes one NUL-terminated string, and `message` is one.
    unsafe {
        sys::JS_ThrowDOMException(
            js::ctx(),
            c"DataCloneError".as_ptr(),
            c"%s".as_ptr(),
            message.as_ptr(),
        );
    }
    Ok(js::take_exception())
}

/// `mapItems(map)`.
pub fn map_items(args: &Args<'_>) -> Js<Val> {
    codecs::list(&intrinsics::map_items(args.get(0))?)
}

/// `setItems(set)`.
pub fn set_items(args: &Args<'_>) -> Js<Val> {
    codecs::list(&intrinsics::set_items(args.get(0))?)
}

/// `unbox(object)`.
pub fn unbox(args: &Args<'_>) -> Js<Val> {
    intrinsics::unbox(args.get(0))
}
