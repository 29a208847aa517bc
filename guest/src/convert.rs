//! Values to JSON text, natively: what leaves the guest is read from own properties, each once.
//!
//! Neither `toJSON` nor a getter nor an iterator is called, and no property of an intrinsic is read. Only
//! the traps of a proxy are user code that may run here; they run under the cell's deadline, and no state
//! of the plumbing is borrowed meanwhile.

use rquickjs_sys as sys;

use crate::intrinsics;
use crate::js::{self, JSAtom, JSValue, Js, Own, Text, Thrown, Val};
use crate::json;

/// What a conversion is for.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Purpose {
    /// A result or output: everything becomes something readable.
    Show,
    /// A call's arguments: what has no JSON form fails, absent properties stay absent.
    Send,
}

/// Limits of one conversion.
#[derive(Clone, Copy)]
pub struct Limits {
    /// Nesting.
    pub depth: u32,
    /// Length of the text in bytes.
    pub bytes: usize,
}

/// Why there is no JSON text.
#[derive(Debug)]
pub enum Failure {
    /// The text would pass its limit.
    TooLong,
    /// The value is nested too deeply.
    TooDeep,
    /// The value has no JSON form; the path and what was found there.
    Unfit(String),
    /// User code (a proxy's trap) threw; the exception is pending.
    Thrown,
}

impl From<Thrown> for Failure {
    fn from(_: Thrown) -> Self {
        Self::Thrown
    }
}

/// The JSON text of `value`.
pub fn to_json(value: JSValue, purpose: Purpose, limits: Limits) -> Result<Vec<u8>, Failure> {
    let mut writer = Writer {
        keys: Keys(Vec::new()),
        out: Vec::new(),
        open: Vec::new(),
        purpose,
        limits,
    };
    writer.value(value)?;
    Ok(writer.out)
}

/// JSON forms of keys, by atom: rows repeat their keys.
struct Keys(Vec<Option<(JSAtom, Box<[u8]>)>>);

/// Slots of [`Keys`]; a power of two.
const KEY_SLOTS: usize = 64;

impl Keys {
    /// The key as a JSON string. The atom stays referenced while it is here, so it names nothing else.
    fn text(&mut self, atom: JSAtom) -> Js<&[u8]> {
        if self.0.is_empty() {
            self.0.resize_with(KEY_SLOTS, || None);
        }
        let slot = &mut self.0[atom as usize % KEY_SLOTS];
        if slot.as_ref().is_none_or(|(known, _)| *known != atom) {
            let mut text = Vec::new();
            json::push_string(&mut text, js::atom_text(atom)?.bytes());
            let old = slot.replace((js::dup_atom(atom), text.into_boxed_slice()));
            if let Some((old, _)) = old {
                js::free_atom(old);
            }
        }
        Ok(slot.as_ref().map_or(&[], |(_, text)| text))
    }
}

impl Drop for Keys {
    fn drop(&mut self) {
        for (atom, _) in self.0.drain(..).flatten() {
            js::free_atom(atom);
        }
    }
}

struct Writer {
    keys: Keys,
    out: Vec<u8>,
    open: Vec<JSValue>,
    purpose: Purpose,
    limits: Limits,
}

type Done = Result<(), Failure>;

impl Writer {
    fn value(&mut self, value: JSValue) -> Done {
        match js::tag(value) {
            sys::JS_TAG_INT => json::push_int(&mut self.out, i64::from(js::int_of(value))),
            sys::JS_TAG_FLOAT64 => self.float(value)?,
            sys::JS_TAG_BOOL => self.raw(if js::int_of(value) != 0 {
                "true"
            } else {
                "false"
            }),
            sys::JS_TAG_STRING | sys::JS_TAG_STRING_ROPE => self.string(value)?,
            sys::JS_TAG_BIG_INT | sys::JS_TAG_SHORT_BIG_INT => self.string(value)?,
            sys::JS_TAG_OBJECT => return self.object(value),
            _ => self.raw("null"),
        }
        self.within()
    }

    fn within(&self) -> Done {
        if self.out.len() > self.limits.bytes {
            return Err(Failure::TooLong);
        }
        Ok(())
    }

    fn raw(&mut self, text: &str) {
        self.out.extend_from_slice(text.as_bytes());
    }

    fn float(&mut self, value: JSValue) -> Done {
        let number = js::float_of(value);
        if !number.is_finite() {
            self.raw("null");
        } else if number == 0.0 {
            self.raw("0");
        } else {
            let text = Text::of(value)?;
            self.out.extend_from_slice(text.bytes());
        }
        Ok(())
    }

    fn string(&mut self, value: JSValue) -> Done {
        // One code unit takes at least one byte, so an oversized string is refused before it is copied.
        if intrinsics::string_length(value) > self.limits.bytes {
            return Err(Failure::TooLong);
        }
        let text = Text::of(value)?;
        if self.out.len() + text.bytes().len() > self.limits.bytes {
            return Err(Failure::TooLong);
        }
        json::push_string(&mut self.out, text.bytes());
        Ok(())
    }

    fn note(&mut self, text: &str) -> Done {
        json::push_string(&mut self.out, text.as_bytes());
        self.within()
    }

    /// What is readable in a result but no argument.
    fn unfit(&mut self, what: &str, shown: &str) -> Done {
        if self.purpose == Purpose::Send {
            return Err(Failure::Unfit(what.to_owned()));
        }
        self.note(shown)
    }

    fn object(&mut self, object: JSValue) -> Done {
        if js::is_function(object) {
            self.raw("null");
            return self.within();
        }
        if self.open.contains(&object) {
            return self.unfit("a cycle", "[cycle: an object that contains itself]");
        }
        if self.open.len() >= self.limits.depth as usize {
            return Err(Failure::TooDeep);
        }
        self.open.push(object);
        let done = self.opened(object);
        self.open.pop();
        done?;
        self.within()
    }

    fn opened(&mut self, object: JSValue) -> Done {
        use intrinsics::Class;
        match intrinsics::class_of(object) {
            Class::Plain => self.fields(object),
            Class::Array => self.array(object),
            Class::Error => self.error(object),
            Class::Boxed => {
                let inner = intrinsics::unbox(object)?;
                self.value(inner.raw())
            }
            Class::Date => match intrinsics::date_text(object)? {
                Some(text) => self.note(&text),
                None => {
                    self.raw("null");
                    Ok(())
                }
            },
            Class::RegExp => {
                let text = intrinsics::regexp_text(object)?;
                self.note(&text)
            }
            Class::Map => {
                let items = intrinsics::map_items(object)?;
                self.pairs(&items)
            }
            Class::Set => {
                let items = intrinsics::set_items(object)?;
                self.items(&items)
            }
            Class::TypedArray => {
                let items = intrinsics::typed_items(object, self.limits.bytes)?;
                match items {
                    Some(items) => self.items(&items),
                    None => Err(Failure::TooLong),
                }
            }
            Class::Buffer(bytes) => self.unfit(
                "an ArrayBuffer",
                &format!("[binary: {bytes} bytes; wrap it in a typed array to return its numbers]"),
            ),
            Class::Promise => self.unfit(
                "a promise; await it first",
                "[promise: await it before returning it]",
            ),
            Class::Proxy => self.proxy(object),
            Class::Opaque(name) => self.unfit(name, &format!("[{name}]")),
        }
    }

    fn items(&mut self, items: &[Val]) -> Done {
        self.out.push(b'[');
        for (index, item) in items.iter().enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            self.value(item.raw())?;
        }
        self.out.push(b']');
        Ok(())
    }

    fn pairs(&mut self, items: &[Val]) -> Done {
        self.out.push(b'[');
        for (index, pair) in items.chunks(2).enumerate() {
            if index > 0 {
                self.out.push(b',');
            }
            self.items(pair)?;
        }
        self.out.push(b']');
        Ok(())
    }

    fn array(&mut self, array: JSValue) -> Done {
        let length = intrinsics::array_length(array)?;
        self.out.push(b'[');
        for index in 0..length {
            if index > 0 {
                self.out.push(b',');
            }
            match intrinsics::array_item(array, index)? {
                Own::Data(item) => self.value(item.raw())?,
                Own::Absent => self.raw("null"),
                Own::Accessor => self.accessor()?,
            }
            self.within()?;
        }
        self.out.push(b']');
        Ok(())
    }

    fn accessor(&mut self) -> Done {
        self.unfit(
            "an accessor property; pass a plain value",
            "[getter: not called]",
        )
    }

    fn proxy(&mut self, proxy: JSValue) -> Done {
        match intrinsics::proxy_shape(proxy)? {
            intrinsics::ProxyShape::Array => self.array(proxy),
            intrinsics::ProxyShape::Object => self.fields(proxy),
            intrinsics::ProxyShape::Function => {
                self.raw("null");
                Ok(())
            }
        }
    }

    fn error(&mut self, error: JSValue) -> Done {
        self.out.push(b'{');
        for key in ["name", "message"] {
            json::push_key(&mut self.out, key);
            match js::inherited_data(error, key) {
                Some(text) if js::is_string(text.raw()) => self.string(text.raw())?,
                _ => self.raw("\"\""),
            }
        }
        let mut shown = vec!["name", "message", "stack"];
        for key in ["cause", "errors"] {
            if let Some(value) = js::own_data(error, key) {
                json::push_key(&mut self.out, key);
                self.value(value.raw())?;
                shown.push(key);
            }
        }
        self.rest(error, &shown)
    }

    /// Own enumerable string-keyed properties.
    fn fields(&mut self, object: JSValue) -> Done {
        self.out.push(b'{');
        self.rest(object, &[])
    }

    /// The fields but those that the open object shows already; closes it.
    fn rest(&mut self, object: JSValue, shown: &[&str]) -> Done {
        let names = intrinsics::own_names(object)?;
        for atom in names.atoms() {
            let value = match js::own_property(object, atom)? {
                Own::Absent => continue,
                Own::Accessor => None,
                Own::Data(value) => Some(value),
            };
            if self.skipped(value.as_ref()) || (!shown.is_empty() && is_one_of(atom, shown)) {
                continue;
            }
            if self.out.last() != Some(&b'{') {
                self.out.push(b',');
            }
            self.out.extend_from_slice(self.keys.text(atom)?);
            self.out.push(b':');
            match value {
                Some(value) => self.value(value.raw())?,
                None => self.accessor()?,
            }
            self.within()?;
        }
        self.out.push(b'}');
        Ok(())
    }

    /// An argument that is not given is not sent: its schema would refuse `null`.
    fn skipped(&self, value: Option<&Val>) -> bool {
        self.purpose == Purpose::Send && value.is_some_and(|value| js::is_undefined(value.raw()))
    }
}

fn is_one_of(atom: JSAtom, keys: &[&str]) -> bool {
    js::atom_text(atom).is_ok_and(|key| keys.iter().any(|shown| shown.as_bytes() == key.bytes()))
}

/// What to tell the program about a failed conversion of call arguments.
pub fn explain(failure: &Failure, limits: Limits) -> Option<String> {
    Some(match failure {
        Failure::TooLong => format!(
            "the arguments are larger than {} bytes of JSON; pass less, or save the data with results.save",
            limits.bytes
        ),
        Failure::TooDeep => format!(
            "the arguments are nested more than {} levels deep; flatten them",
            limits.depth
        ),
        Failure::Unfit(what) => {
            format!("the arguments contain {what}, which cannot be sent as JSON")
        }
        Failure::Thrown => return None,
    })
}

/// A short text for a thrown value that is no error, or for any value in a message.
pub fn brief(value: JSValue, limits: Limits) -> Js<String> {
    if js::is_string(value) {
        let text = Text::of(value)?;
        return Ok(text.to_string_lossy());
    }
    match to_json(value, Purpose::Show, limits) {
        Ok(text) => Ok(String::from_utf8(text).unwrap_or_default()),
        Err(Failure::Thrown) => Err(Thrown),
        Err(_) => Ok("[a value too large to show]".to_owned()),
    }
}
