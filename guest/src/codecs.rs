//! UTF-8 and UTF-16LE: the native half of `TextEncoder` and `TextDecoder`.

use rquickjs_sys as sys;

use crate::js::{self, Args, ErrorKind, JSValue, Js, Text, Thrown, Val};

/// The bytes of a `Uint8Array`, copied.
pub fn bytes_of(array: JSValue) -> Js<Vec<u8>> {
    if !js::is_object(array) {
        return Ok(Vec::new());
    }
    let mut len: u32 = 0;
    // SAFETY: `len` is a valid place; the bytes are copied before anything else runs.
    let start = unsafe { sys::JS_GetUint8Array(js::ctx(), &raw mut len, array) };
    if start.is_null() {
        // SAFETY: reads internal state only.
        if unsafe { sys::JS_HasException(js::ctx()) } {
            return Err(Thrown);
        }
        return Ok(Vec::new());
    }
    // SAFETY: the engine gave pointer and length of live memory.
    Ok(unsafe { core::slice::from_raw_parts(start, len as usize) }.to_vec())
}

/// A new `Uint8Array` with these bytes.
pub fn new_bytes(bytes: &[u8]) -> Js<Val> {
    // SAFETY: pointer and length describe `bytes`.
    Val::check(unsafe { sys::JS_NewUint8ArrayCopy(js::ctx(), bytes.as_ptr(), bytes.len() as u32) })
}

/// `encode(text)`.
pub fn encode(args: &Args<'_>) -> Js<Val> {
    let text = Text::of(args.get(0))?.to_string_lossy();
    new_bytes(text.as_bytes())
}

/// `encodeInto(text, array)`: `[read, written]`.
pub fn encode_into(args: &Args<'_>) -> Js<Val> {
    let text = Text::of(args.get(0))?.to_string_lossy();
    let mut len: u32 = 0;
    // SAFETY: `len` is a valid place; the memory is written before anything else runs.
    let start = unsafe { sys::JS_GetUint8Array(js::ctx(), &raw mut len, args.get(1)) };
    let end = text.floor_char_boundary((len as usize).min(text.len()));
    if !start.is_null() {
        // SAFETY: the array has `len` bytes, and `end` is not more.
        unsafe { core::ptr::copy_nonoverlapping(text.as_ptr(), start, end) };
    }
    let read = text[..end].encode_utf16().count();
    list(&[Val::number(read as f64), Val::number(end as f64)])
}

/// A fresh array of these values.
pub fn list(values: &[Val]) -> Js<Val> {
    let array = Val::array()?;
    for (index, value) in values.iter().enumerate() {
        js::define_index(&array, index as u32, value.clone())?;
    }
    Ok(array)
}

/// `encodingName(label)`: the canonical name of a supported encoding.
pub fn encoding_name(args: &Args<'_>) -> Js<Val> {
    let label = Text::of(args.get(0))?
        .to_string_lossy()
        .to_ascii_lowercase();
    match label.trim_matches(['\t', '\n', '\u{C}', '\r', ' ']) {
        "utf-8" | "utf8" | "unicode-1-1-utf-8" | "unicode11utf8" | "unicode20utf8"
        | "x-unicode20utf8" => Val::string("utf-8"),
        "utf-16le" | "utf-16" | "ucs-2" | "unicode" | "csunicode" | "iso-10646-ucs-2"
        | "unicodefeff" => Val::string("utf-16le"),
        _ => Ok(Val::undefined()),
    }
}

/// `decode(encoding, fatal, keepMark, stream, rest, bytes)`: `[text, rest, any]`.
pub fn decode(args: &Args<'_>) -> Js<Val> {
    let wide = Text::of(args.get(0))?.bytes() == b"utf-16le";
    let is = |index: usize| args.get(index) == sys::JS_TRUE;
    let (fatal, keep_mark, stream) = (is(1), is(2), is(3));
    let mut input = bytes_of(args.get(4))?;
    input.extend_from_slice(&bytes_of(args.get(5))?);
    let decoded = if wide {
        decode_wide(&input, stream)
    } else {
        decode_utf8(&input, stream)
    };
    if fatal && decoded.malformed {
        return Err(js::throw_error(
            ErrorKind::Type,
            "the bytes are not valid text in this encoding",
        ));
    }
    let text = if keep_mark {
        decoded.text.as_str()
    } else {
        decoded
            .text
            .strip_prefix('\u{FEFF}')
            .unwrap_or(&decoded.text)
    };
    let any = !decoded.text.is_empty();
    list(&[
        Val::string(text)?,
        new_bytes(&input[decoded.used..])?,
        Val::bool(any),
    ])
}

struct Decoded {
    text: String,
    used: usize,
    malformed: bool,
}

fn decode_utf8(input: &[u8], stream: bool) -> Decoded {
    let mut used = input.len();
    if stream {
        used -= incomplete_tail(input);
    }
    let part = &input[..used];
    Decoded {
        text: String::from_utf8_lossy(part).into_owned(),
        used,
        malformed: core::str::from_utf8(part).is_err(),
    }
}

/// Bytes at the end that begin a character which may still be completed.
fn incomplete_tail(input: &[u8]) -> usize {
    match core::str::from_utf8(&input[input.len().saturating_sub(3)..]) {
        Ok(_) => 0,
        Err(_) => (1..=3.min(input.len()))
            .find(|count| {
                let tail = &input[input.len() - count..];
                core::str::from_utf8(tail)
                    .is_err_and(|error| error.valid_up_to() == 0 && error.error_len().is_none())
            })
            .unwrap_or(0),
    }
}

fn decode_wide(input: &[u8], stream: bool) -> Decoded {
    let mut units: Vec<u16> = input
        .chunks_exact(2)
        .map(|pair| u16::from_le_bytes([pair[0], pair[1]]))
        .collect();
    let odd = input.len() % 2 == 1;
    let mut used = units.len() * 2;
    if stream
        && units
            .last()
            .is_some_and(|unit| (0xD800..0xDC00).contains(unit))
    {
        units.pop();
        used -= 2;
    }
    let mut text = String::new();
    let mut malformed = false;
    for unit in char::decode_utf16(units) {
        malformed |= unit.is_err();
        text.push(unit.unwrap_or('\u{FFFD}'));
    }
    if odd && !stream {
        malformed = true;
        text.push('\u{FFFD}');
        used = input.len();
    }
    Decoded {
        text,
        used,
        malformed,
    }
}
