//! Values to JSON text, natively: what leaves the guest is read from own properties, each once.
//!
//! Neither `toJSON` nor a getter nor an iterator is called, and no property of an intrinsic is read. Only
//! the traps of a proxy are user code that may run here; they run under the cell's deadline, and no state
//! of the plumbing is borrowed meanwhile.

use rquickjs_sys as sys;

use crate::js::{self, JSAtom, JSValue, Js, Own, Text, Thrown, Val};
use crate::shapes::{self, SLOTS};
use crate::{digits, intrinsics, json};

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
        shapes: Vec::new(),
        slots: Vec::new(),
        atoms: [sys::JS_ATOM_NULL; SLOTS],
        out: Vec::new(),
        open: Vec::new(),
        purpose,
        limits,
    };
    writer.value(value, &mut { NO_GUESS })?;
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

/// Keys that an object was seen to have, in order: names only, which are listed as they came.
struct Shape {
    atoms: Vec<JSAtom>,
    /// Each key as it stands in the text, with a comma before it and a colon behind.
    texts: Vec<Box<[u8]>>,
    /// The shapes that the objects in each property had last.
    inner: Vec<Guess>,
}

impl Shape {
    /// A shape of these keys, which stay referenced while it is here; `None` when objects list them in another order.
    fn of(atoms: &[JSAtom]) -> Js<Option<Self>> {
        if !atoms.iter().all(|atom| shapes::is_name(*atom)) {
            return Ok(None);
        }
        let mut shape = Self {
            atoms: Vec::new(),
            texts: Vec::new(),
            inner: vec![NO_GUESS; atoms.len()],
        };
        for atom in atoms {
            let mut text = vec![b','];
            json::push_string(&mut text, js::atom_text(*atom)?.bytes());
            text.push(b':');
            shape.texts.push(text.into_boxed_slice());
            shape.atoms.push(js::dup_atom(*atom));
        }
        Ok(Some(shape))
    }
}

impl Drop for Shape {
    fn drop(&mut self) {
        for atom in &self.atoms {
            js::free_atom(*atom);
        }
    }
}

/// Which shape the next object at some place may have: an index, or one beyond all.
type Guess = usize;
const NO_GUESS: Guess = usize::MAX;
/// Shapes that are remembered; objects of further ones are read key by key.
const SHAPES: usize = 64;

struct Writer {
    keys: Keys,
    shapes: Vec<Shape>,
    /// Values of the open objects that are read at once.
    slots: Vec<Val>,
    /// Keys of the one that was read last.
    atoms: [JSAtom; SLOTS],
    out: Vec<u8>,
    open: Vec<JSValue>,
    purpose: Purpose,
    limits: Limits,
}

type Done = Result<(), Failure>;

impl Writer {
    fn value(&mut self, value: JSValue, guess: &mut Guess) -> Done {
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
            sys::JS_TAG_OBJECT => return self.object(value, guess),
            _ => self.raw("null"),
        }
        self.within()
    }

    /// A value at a place where no other was.
    fn single(&mut self, value: JSValue) -> Done {
        self.value(value, &mut { NO_GUESS })
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
        } else if !digits::push(&mut self.out, number) {
            let text = Text::of(value)?;
            self.out.extend_from_slice(text.bytes());
        }
        Ok(())
    }

    fn string(&mut self, value: JSValue) -> Done {
        let room = self.limits.bytes.saturating_sub(self.out.len());
        let out = &mut self.out;
        let copied = shapes::with_latin1(value, |text| {
            let fits = text.len() <= room;
            if fits {
                json::push_latin1(out, text);
            }
            fits
        });
        match copied {
            Some(true) => return Ok(()),
            Some(false) => return Err(Failure::TooLong),
            None => {}
        }
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

    fn object(&mut self, object: JSValue, guess: &mut Guess) -> Done {
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
        let done = self.opened(object, guess);
        self.open.pop();
        done?;
        self.within()
    }

    fn opened(&mut self, object: JSValue, guess: &mut Guess) -> Done {
        use intrinsics::Class;
        match intrinsics::class_of(object) {
            Class::Plain if self.row(object, guess)? => Ok(()),
            Class::Plain => self.fields(object),
            Class::Array => self.array(object, guess),
            Class::Error => self.error(object),
            Class::Boxed => {
                let inner = intrinsics::unbox(object)?;
                self.single(inner.raw())
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
            self.single(item.raw())?;
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

    fn array(&mut self, array: JSValue, guess: &mut Guess) -> Done {
        let length = intrinsics::array_length(array)?;
        self.out.push(b'[');
        for index in 0..length {
            if index > 0 {
                self.out.push(b',');
            }
            let item = match shapes::element(array, index) {
                Some(item) => Own::Data(item),
                None => intrinsics::array_item(array, index)?,
            };
            match item {
                Own::Data(item) => self.value(item.raw(), guess)?,
                Own::Absent => self.raw("null"),
                Own::Accessor => self.accessor()?,
            }
            self.within()?;
        }
        self.out.push(b']');
        Ok(())
    }

    /// An object whose properties can be read at once; `false` when this one's cannot.
    fn row(&mut self, object: JSValue, guess: &mut Guess) -> Result<bool, Failure> {
        let from = self.slots.len();
        let Some(count) = shapes::slots(object, &mut self.atoms, &mut self.slots) else {
            return Ok(false);
        };
        let known = self.shape_of(count, *guess)?;
        if let Some(known) = known {
            *guess = known;
            self.members(known, from, count)?;
        }
        self.slots.truncate(from);
        Ok(known.is_some())
    }

    /// The shape with the keys that were read last, remembered now if there is room.
    fn shape_of(&mut self, count: usize, guess: Guess) -> Js<Option<Guess>> {
        let atoms = &self.atoms[..count];
        if self
            .shapes
            .get(guess)
            .is_some_and(|shape| shape.atoms == atoms)
        {
            return Ok(Some(guess));
        }
        if let Some(known) = self.shapes.iter().position(|shape| shape.atoms == atoms) {
            return Ok(Some(known));
        }
        if self.shapes.len() >= SHAPES {
            return Ok(None);
        }
        let Some(shape) = Shape::of(atoms)? else {
            return Ok(None);
        };
        self.shapes.push(shape);
        Ok(Some(self.shapes.len() - 1))
    }

    fn members(&mut self, shape: Guess, from: usize, count: usize) -> Done {
        self.out.push(b'{');
        for index in 0..count {
            let value = self.slots[from + index].raw();
            if self.skipped(value) {
                continue;
            }
            let first = self.out.last() == Some(&b'{');
            let known = &self.shapes[shape];
            self.out
                .extend_from_slice(&known.texts[index][usize::from(first)..]);
            let mut inner = known.inner[index];
            self.value(value, &mut inner)?;
            self.shapes[shape].inner[index] = inner;
        }
        self.out.push(b'}');
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
            intrinsics::ProxyShape::Array => self.array(proxy, &mut { NO_GUESS }),
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
                self.single(value.raw())?;
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
            if value
                .as_ref()
                .is_some_and(|value| self.skipped(value.raw()))
                || (!shown.is_empty() && is_one_of(atom, shown))
            {
                continue;
            }
            if self.out.last() != Some(&b'{') {
                self.out.push(b',');
            }
            self.out.extend_from_slice(self.keys.text(atom)?);
            self.out.push(b':');
            match value {
                Some(value) => self.single(value.raw())?,
                None => self.accessor()?,
            }
            self.within()?;
        }
        self.out.push(b'}');
        Ok(())
    }

    /// An argument that is not given is not sent: its schema would refuse `null`.
    fn skipped(&self, value: JSValue) -> bool {
        self.purpose == Purpose::Send && js::is_undefined(value)
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
