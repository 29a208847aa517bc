//! Frozen objects of the JSON that entries of `ALL_TOOLS` are: one object of texts, nothing nested.
//!
//! The general way parses, lists the keys again and redefines every property to freeze it; a catalog has
//! thousands of entries. Here each property is made frozen at once. Any other JSON is left to that way.

use rquickjs_sys as sys;

use crate::js::{self, Atom, Js, Thrown, Val};

/// The frozen object of this JSON; `None` when it is not flat.
pub fn object(json: &[u8]) -> Js<Option<Val>> {
    let Some(mut rest) = json.strip_prefix(b"{") else {
        return Ok(None);
    };
    let made = Val::object()?;
    loop {
        let Some((key, value, after)) = pair(rest) else {
            return Ok(None);
        };
        let atom = Atom::new(key.plain)?;
        js::define_atom(&made, atom.raw(), value.make()?, sys::JS_PROP_ENUMERABLE)?;
        match after {
            [b',', more @ ..] => rest = more,
            b"}" => break,
            _ => return Ok(None),
        }
    }
    // SAFETY: the object is fresh and ordinary, so no user code runs.
    if unsafe { sys::JS_PreventExtensions(js::ctx(), made.raw()) } < 0 {
        return Err(Thrown);
    }
    Ok(Some(made))
}

/// A text of JSON.
struct Quoted<'a> {
    /// With its quotes.
    whole: &'a [u8],
    /// Between them; empty when something is escaped there.
    plain: &'a str,
}

impl<'a> Quoted<'a> {
    /// The text that `json` begins with, and what follows it.
    fn split(json: &'a [u8]) -> Option<(Self, &'a [u8])> {
        let inner = json.strip_prefix(b"\"")?;
        let mut end = 0;
        let mut escaped = false;
        loop {
            let rest = inner.get(end..)?;
            end += rest.iter().position(|byte| matches!(byte, b'"' | b'\\'))?;
            if inner.get(end) == Some(&b'"') {
                break;
            }
            escaped = true;
            end += 2;
        }
        let (whole, after) = json.split_at_checked(end + 2)?;
        let plain = if escaped { &[][..] } else { &inner[..end] };
        let plain = core::str::from_utf8(plain).ok()?;
        Some((Self { whole, plain }, after))
    }

    fn make(&self) -> Js<Val> {
        if self.plain.is_empty() {
            return js::parse_json(&mut self.whole.to_vec());
        }
        Val::string(self.plain)
    }
}

/// A key without escapes, its text, and what follows.
fn pair(json: &[u8]) -> Option<(Quoted<'_>, Quoted<'_>, &[u8])> {
    let (key, after) = Quoted::split(json)?;
    let (value, after) = Quoted::split(after.strip_prefix(b":")?)?;
    (!key.plain.is_empty()).then_some((key, value, after))
}
