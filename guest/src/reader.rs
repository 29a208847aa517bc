//! JSON of the host to values, with rows in mind: objects whose keys were met before are made at once.
//!
//! The host writes JSON text, and this reads all of it that is valid and not nested deeper than [`DEEPEST`].
//! What it does not understand it leaves to the engine's parser, whose errors are the ones that a program sees; so
//! it can be stricter than JSON, but never laxer. Values are the same as the engine's parser makes: own data
//! properties in the order of the text, the last of equal keys winning, `__proto__` a key like any other.

use core::ops::Range;

use rquickjs_sys as sys;

use crate::digits;
use crate::js::{self, Atom, Js, Thrown, Val};
use crate::json;
use crate::shapes::{self, Model};

/// Shorter texts are read by the engine: making models does not pay, in bytes.
const WORTHWHILE_BYTES: usize = 256;
/// Nesting that is read here; far below what the stack holds.
const DEEPEST: usize = 600;
/// Shapes that are remembered; objects of further ones are made property by property.
const SHAPES: usize = 64;
/// Most keys of a shape that is remembered.
const SHAPE_KEYS: usize = 64;
/// Items of an array that are gathered before the array is made.
const GATHERED: usize = 32;

/// The value of a text.
pub fn value(json: &[u8]) -> Js<Val> {
    if json.len() >= WORTHWHILE_BYTES {
        match Reader::new(json, false).read(0..json.len()) {
            Ok(value) => return Ok(value),
            Err(Stop::Thrown) => return Err(Thrown),
            Err(Stop::Odd) => {}
        }
    }
    js::parse_json(&mut json.to_vec())
}

/// Why a text was not read to its end.
pub enum Stop {
    /// It is not what is understood here.
    Odd,
    /// The engine threw; the exception is pending.
    Thrown,
}

impl From<Thrown> for Stop {
    fn from(_: Thrown) -> Self {
        Self::Thrown
    }
}

type Read<T> = Result<T, Stop>;

/// A key as it stands in the text, with quotes and colon, and its atom.
struct Key {
    text: Range<usize>,
    atom: Atom,
}

/// Keys that an object was seen to have.
struct Shape {
    keys: Vec<Key>,
    model: Model,
    /// The shapes that the objects in each property had last.
    inner: Vec<Guess>,
}

/// Which shape the next object at some place may have: an index, or one beyond all.
type Guess = usize;
const NO_GUESS: Guess = usize::MAX;

/// Reads parts of one text; remembers shapes between them.
pub struct Reader<'a> {
    text: &'a [u8],
    at: usize,
    end: usize,
    depth: usize,
    /// Everything is frozen as it is made.
    frozen: bool,
    /// Values that are not in an object yet, and keys of objects that are not made yet.
    values: Vec<Val>,
    keys: Vec<Key>,
    shapes: Vec<Shape>,
    root: Guess,
}

impl<'a> Reader<'a> {
    /// A reader of `text`, which is UTF-8.
    pub fn new(text: &'a [u8], frozen: bool) -> Self {
        Self {
            text,
            at: 0,
            end: 0,
            depth: 0,
            frozen,
            values: Vec::new(),
            keys: Vec::new(),
            shapes: Vec::new(),
            root: NO_GUESS,
        }
    }

    /// The one value that this part of the text is.
    pub fn read(&mut self, part: Range<usize>) -> Read<Val> {
        self.at = part.start;
        self.end = part.end.min(self.text.len());
        let mut root = self.root;
        let read = self.value(&mut root);
        self.root = root;
        // What is left over after a failure is of no use to the next part.
        self.depth = 0;
        self.values.clear();
        self.keys.clear();
        let value = read?;
        self.space();
        if self.at == self.end {
            Ok(value)
        } else {
            Err(Stop::Odd)
        }
    }

    /// The byte at the present place; 0, which begins nothing, at the end.
    fn peek(&self) -> u8 {
        if self.at < self.end {
            self.text[self.at]
        } else {
            0
        }
    }

    fn space(&mut self) {
        while matches!(self.peek(), b' ' | b'\n' | b'\r' | b'\t') {
            self.at += 1;
        }
    }

    /// The next byte that is no space, taken.
    fn token(&mut self) -> u8 {
        self.space();
        let byte = self.peek();
        self.at += 1;
        byte
    }

    fn value(&mut self, guess: &mut Guess) -> Read<Val> {
        self.space();
        match self.peek() {
            b'"' => self.string(),
            b'{' => self.nested(guess, Self::object),
            b'[' => self.nested(guess, Self::array),
            b't' => self.word(b"true", Val::bool(true)),
            b'f' => self.word(b"false", Val::bool(false)),
            b'n' => self.word(b"null", Val::null()),
            _ => self.number(),
        }
    }

    fn word(&mut self, word: &[u8], value: Val) -> Read<Val> {
        if !self.text[self.at..self.end].starts_with(word) {
            return Err(Stop::Odd);
        }
        self.at += word.len();
        Ok(value)
    }

    fn number(&mut self) -> Read<Val> {
        let (number, bytes) = digits::read(&self.text[self.at..self.end]).ok_or(Stop::Odd)?;
        self.at += bytes;
        Ok(match number {
            digits::Number::Int(number) => Val::int(number),
            digits::Number::Float(number) => Val::number(number),
        })
    }

    fn nested(
        &mut self,
        guess: &mut Guess,
        read: fn(&mut Self, &mut Guess) -> Read<Val>,
    ) -> Read<Val> {
        self.depth += 1;
        if self.depth > DEEPEST {
            return Err(Stop::Odd);
        }
        self.at += 1;
        let value = read(self, guess)?;
        self.depth -= 1;
        Ok(value)
    }

    fn push(&mut self, value: Val) -> Read<()> {
        // Without memory the engine's parser is asked, which throws as it does.
        self.values.try_reserve(1).map_err(|_| Stop::Odd)?;
        self.values.push(value);
        Ok(())
    }

    fn array(&mut self, guess: &mut Guess) -> Read<Val> {
        let from = self.values.len();
        self.space();
        if self.peek() == b']' {
            self.at += 1;
            return self.array_of(from);
        }
        loop {
            let item = self.value(guess)?;
            self.push(item)?;
            match self.token() {
                b',' if self.values.len() - from < GATHERED => {}
                b',' => return self.long_array(from, guess),
                b']' => return self.array_of(from),
                _ => return Err(Stop::Odd),
            }
        }
    }

    fn array_of(&mut self, from: usize) -> Read<Val> {
        let array = shapes::array(&mut self.values, from)?;
        self.frozen_array(array)
    }

    fn frozen_array(&self, array: Val) -> Read<Val> {
        if self.frozen {
            js::freeze(&array)?;
        }
        Ok(array)
    }

    /// Goes on with an array whose first items are gathered.
    fn long_array(&mut self, from: usize, guess: &mut Guess) -> Read<Val> {
        let array = shapes::array(&mut self.values, from)?;
        loop {
            shapes::append(&array, self.value(guess)?)?;
            match self.token() {
                b',' => {}
                b']' => return self.frozen_array(array),
                _ => return Err(Stop::Odd),
            }
        }
    }

    fn object(&mut self, guess: &mut Guess) -> Read<Val> {
        let (first_key, from) = (self.keys.len(), self.values.len());
        self.space();
        if self.peek() == b'}' {
            self.at += 1;
            return self.define(first_key, from);
        }
        let (met, ended) = self.follow(*guess)?;
        if !ended || self.shapes[*guess].keys.len() > met {
            self.recall(*guess, met)?;
            if !ended {
                self.members()?;
            }
            *guess = self.shape_of(first_key)?;
        }
        let made = match self.shapes.get(*guess) {
            Some(shape) => shape.model.object(&mut self.values, from)?,
            None => return self.define(first_key, from),
        };
        self.keys.truncate(first_key);
        if self.frozen {
            // Its properties are as the model's already.
            js::prevent_extensions(&made)?;
        }
        Ok(made)
    }

    /// Reads members while their keys are those of a shape; gives their number, and whether the object has ended.
    fn follow(&mut self, guess: Guess) -> Read<(usize, bool)> {
        let mut met = 0;
        while let Some(shape) = self.shapes.get(guess)
            && let Some(key) = shape.keys.get(met)
            && self.text[self.at..self.end].starts_with(&self.text[key.text.clone()])
        {
            self.at += key.text.len();
            let mut inner = shape.inner[met];
            let value = self.value(&mut inner)?;
            self.shapes[guess].inner[met] = inner;
            self.push(value)?;
            met += 1;
            match self.token() {
                b',' => {}
                b'}' => return Ok((met, true)),
                _ => return Err(Stop::Odd),
            }
        }
        Ok((met, false))
    }

    /// Puts down the first `met` keys of a shape as those of an object.
    fn recall(&mut self, guess: Guess, met: usize) -> Read<()> {
        for index in 0..met {
            let known = &self.shapes[guess].keys[index];
            let (text, atom) = (known.text.clone(), known.atom.clone());
            self.push_key(Key { text, atom })?;
        }
        Ok(())
    }

    fn push_key(&mut self, key: Key) -> Read<()> {
        self.keys.try_reserve(1).map_err(|_| Stop::Odd)?;
        self.keys.push(key);
        Ok(())
    }

    /// Reads the rest of an object's members.
    fn members(&mut self) -> Read<()> {
        loop {
            let key = self.key()?;
            self.push_key(key)?;
            let value = self.value(&mut { NO_GUESS })?;
            self.push(value)?;
            match self.token() {
                b',' => {}
                b'}' => return Ok(()),
                _ => return Err(Stop::Odd),
            }
        }
    }

    fn key(&mut self) -> Read<Key> {
        self.space();
        let start = self.at;
        let name = self.quoted()?;
        let atom = match name {
            Quoted::Plain(name) => Atom::of_bytes(&self.text[name])?,
            Quoted::Escaped(whole) => Atom::of_string(&self.escaped(whole)?)?,
        };
        if self.token() != b':' {
            return Err(Stop::Odd);
        }
        Ok(Key {
            text: start..self.at,
            atom,
        })
    }

    /// The shape of the keys from `first` on, remembered now if there is room.
    fn shape_of(&mut self, first: usize) -> Read<Guess> {
        let keys = &self.keys[first..];
        let is_it = |shape: &Shape| {
            shape.keys.len() == keys.len()
                && shape
                    .keys
                    .iter()
                    .zip(keys)
                    .all(|(a, b)| a.atom.raw() == b.atom.raw())
        };
        if let Some(known) = self.shapes.iter().position(is_it) {
            return Ok(known);
        }
        if self.shapes.len() >= SHAPES || keys.len() > SHAPE_KEYS || has_equal(keys) {
            return Ok(NO_GUESS);
        }
        let flags = self.flags();
        let model = Model::new(keys.iter().map(|key| key.atom.raw()), flags)?;
        let inner = vec![NO_GUESS; keys.len()];
        let keys = self.keys.drain(first..).collect();
        self.shapes.push(Shape { keys, model, inner });
        Ok(self.shapes.len() - 1)
    }

    fn flags(&self) -> u32 {
        if self.frozen {
            sys::JS_PROP_ENUMERABLE
        } else {
            sys::JS_PROP_C_W_E
        }
    }

    /// An object made property by property; the last of equal keys wins.
    fn define(&mut self, first_key: usize, from: usize) -> Read<Val> {
        let object = Val::object()?;
        let members = self.keys.drain(first_key..).zip(self.values.drain(from..));
        for (key, value) in members {
            js::define_atom(&object, key.atom.raw(), value, sys::JS_PROP_C_W_E)?;
        }
        if self.frozen {
            js::freeze(&object)?;
        }
        Ok(object)
    }

    fn string(&mut self) -> Read<Val> {
        match self.quoted()? {
            Quoted::Plain(text) => Ok(Val::string_bytes(&self.text[text])?),
            Quoted::Escaped(whole) => self.escaped(whole),
        }
    }

    /// Takes a string of the text.
    fn quoted(&mut self) -> Read<Quoted> {
        if self.peek() != b'"' {
            return Err(Stop::Odd);
        }
        let start = self.at;
        let mut escaped = false;
        self.at += 1;
        loop {
            let rest = &self.text[self.at..self.end];
            self.at += plain_bytes(rest);
            match self.peek() {
                b'"' => break,
                b'\\' => {
                    escaped = true;
                    // The text may end within the escape.
                    self.at = self.end.min(self.at + 2);
                }
                _ => return Err(Stop::Odd),
            }
        }
        self.at += 1;
        if escaped {
            return Ok(Quoted::Escaped(start..self.at));
        }
        Ok(Quoted::Plain(start + 1..self.at - 1))
    }

    /// The value of a string with escapes.
    fn escaped(&mut self, whole: Range<usize>) -> Read<Val> {
        let quoted = &self.text[whole];
        if let Some(text) = unescaped(&quoted[1..quoted.len() - 1]) {
            return Ok(Val::string_bytes(&text)?);
        }
        js::parse_json(&mut quoted.to_vec()).map_err(|Thrown| {
            drop(js::take_exception());
            Stop::Odd
        })
    }
}

/// A string of the text.
enum Quoted {
    /// Without escapes: what is between the quotes.
    Plain(Range<usize>),
    /// With its quotes.
    Escaped(Range<usize>),
}

/// The text without its escapes; `None` when one is malformed or half of a surrogate pair.
fn unescaped(text: &[u8]) -> Option<Vec<u8>> {
    let mut out = Vec::new();
    out.try_reserve_exact(text.len()).ok()?;
    let mut rest = text;
    while let Some(at) = rest.iter().position(|byte| *byte == b'\\') {
        out.extend_from_slice(&rest[..at]);
        let (letter, after) = rest[at + 1..].split_first()?;
        rest = after;
        out.push(match letter {
            b'n' => b'\n',
            b't' => b'\t',
            b'r' => b'\r',
            b'b' => 8,
            b'f' => 12,
            b'"' | b'\\' | b'/' => *letter,
            b'u' => {
                let (hex, after) = rest.split_at_checked(4)?;
                rest = after;
                push_code_unit(&mut out, hex)?;
                continue;
            }
            _ => return None,
        });
    }
    out.extend_from_slice(rest);
    Some(out)
}

fn push_code_unit(out: &mut Vec<u8>, hex: &[u8]) -> Option<()> {
    let code = hex.iter().try_fold(0, |code, digit| {
        Some(code << 4 | char::from(*digit).to_digit(16)?)
    })?;
    let unit = char::from_u32(code)?;
    out.extend_from_slice(unit.encode_utf8(&mut [0; 4]).as_bytes());
    Some(())
}

/// Whether two keys are the same.
fn has_equal(keys: &[Key]) -> bool {
    keys.iter().enumerate().any(|(index, key)| {
        keys[..index]
            .iter()
            .any(|other| other.atom.raw() == key.atom.raw())
    })
}

/// How many bytes of a text come before a quote, a backslash or a control character.
fn plain_bytes(text: &[u8]) -> usize {
    let mut at = 0;
    while let Some(word) = text.get(at..).and_then(|rest| rest.first_chunk::<8>()) {
        let word = u64::from_le_bytes(*word);
        let special = json::special_bytes(word);
        if special != 0 {
            return at + special.trailing_zeros() as usize / 8;
        }
        at += 8;
    }
    let tail = &text[at..];
    let plain = |byte: &u8| *byte >= 0x20 && *byte != b'"' && *byte != b'\\';
    at + tail.iter().take_while(|byte| plain(byte)).count()
}
