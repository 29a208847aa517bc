//! How the console shows values: strings as they are, errors with their stack, all else as JSON.

use rquickjs_sys as sys;

use crate::convert::{self, Purpose};
use crate::js::{self, JSValue, Js, Text, Thrown};
use crate::{errors, intrinsics};

/// Nesting that the console shows.
const DEPTH: u32 = 16;

/// One console line of at most about `room` bytes.
pub fn line(values: &[JSValue], room: usize) -> Js<String> {
    let mut out = String::new();
    for (index, value) in values.iter().enumerate() {
        if out.len() > room {
            break;
        }
        if index > 0 {
            out.push(' ');
        }
        push(&mut out, *value, room)?;
    }
    Ok(out)
}

fn push(out: &mut String, value: JSValue, room: usize) -> Js<()> {
    match js::tag(value) {
        sys::JS_TAG_UNDEFINED => out.push_str("undefined"),
        sys::JS_TAG_STRING | sys::JS_TAG_STRING_ROPE => push_string(out, value, room)?,
        sys::JS_TAG_SYMBOL => out.push_str("[symbol]"),
        sys::JS_TAG_FLOAT64 => out.push_str(&Text::of(value)?.to_string_lossy()),
        sys::JS_TAG_BIG_INT | sys::JS_TAG_SHORT_BIG_INT => {
            out.push_str(&Text::of(value)?.to_string_lossy());
            out.push('n');
        }
        sys::JS_TAG_OBJECT if js::is_function(value) => out.push_str("[function]"),
        sys::JS_TAG_OBJECT if js::is_error(value) => out.push_str(&errors::summary(value)),
        _ => push_json(out, value, room)?,
    }
    Ok(())
}

fn push_string(out: &mut String, value: JSValue, room: usize) -> Js<()> {
    if intrinsics::string_length(value) > room.saturating_mul(4).max(4096) {
        out.push_str("[a string too long for the console]");
        return Ok(());
    }
    out.push_str(&Text::of(value)?.to_string_lossy());
    Ok(())
}

fn push_json(out: &mut String, value: JSValue, room: usize) -> Js<()> {
    let limits = convert::Limits {
        depth: DEPTH,
        bytes: room.max(1024),
    };
    match convert::to_json(value, Purpose::Show, limits) {
        Ok(text) => out.push_str(&String::from_utf8(text).unwrap_or_default()),
        Err(convert::Failure::Thrown) => return Err(Thrown),
        Err(_) => out.push_str("[a value too large for the console]"),
    }
    Ok(())
}
