//! Reading one entry: which words stand in which of its fields, and how much each counts towards
//! what the tool is about. Nothing here depends on the other tools of a catalog.

use serde_json::Value;

use super::interner::Interner;
use super::query::is_stop_word;
use super::stem::stem;
use super::text;
use super::vectors::{Row, Words};
use crate::entry::Entry;
use crate::id::CORE_OWNER;

/// The fields of a document.
pub(super) const FIELDS: usize = 8;
pub(super) const NAME: usize = 0;
pub(super) const LABEL: usize = 1;
pub(super) const OWNER: usize = 2;
pub(super) const DESCRIPTION: usize = 3;
pub(super) const PARAMETERS: usize = 4;
pub(super) const VALUES: usize = 5;
pub(super) const OUTPUT: usize = 6;
pub(super) const PARAMETER_NAMES: usize = 7;

/// How often a word of each field counts towards what the document is about. Parameters say how a
/// tool is called rather than what for.
const MEANING_WEIGHTS: [u16; FIELDS] = [6, 3, 3, 3, 1, 0, 0, 1];

/// The most terms taken from one field of one entry.
const MAX_FIELD_TERMS: u32 = 1_000;

/// How deep and how many properties of a schema are read, and how many values of one.
const MAX_SCHEMA_DEPTH: usize = 3;
const MAX_PROPERTIES: usize = 200;
const MAX_VALUES: usize = 50;

/// What one entry says, in numbers of a [`Vocabulary`].
#[derive(Debug)]
pub(super) struct Document {
    /// How many terms each field has.
    pub(super) lengths: [u32; FIELDS],
    /// Every term once, in the order of the first occurrence.
    pub(super) uses: Box<[Use]>,
    /// Every word that means something once, in that order too.
    pub(super) about: Box<[About]>,
    /// The [`name_key`] of the name without its separators; none if nothing is left of it.
    pub(super) name: Option<u32>,
}

/// A term of a document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Use {
    pub(super) term: u32,
    /// How often it stands in each field; what is more than 255 counts as that.
    pub(super) counts: [u8; FIELDS],
}

/// A word of a document that means something.
#[derive(Clone, Copy, Debug)]
pub(super) struct About {
    /// Each word that means something has a row of its own.
    pub(super) row: u32,
    pub(super) term: u32,
    pub(super) weight: u16,
}

/// All words and terms that were met, each stemmed and looked up once.
#[derive(Debug, Default)]
pub(super) struct Vocabulary {
    words: Interner,
    known: Vec<Word>,
    pub(super) terms: Interner,
    pub(super) rows: Vec<Row>,
}

#[derive(Clone, Copy, Debug)]
struct Word {
    term: u32,
    /// Its place among the rows, if it means something.
    row: Option<u32>,
}

impl Vocabulary {
    fn word(&mut self, word: &str) -> u32 {
        let (number, is_new) = self.words.number(word);
        if is_new {
            let row = match is_stop_word(word) {
                true => None,
                false => Words::shipped().row(word),
            };
            let place = row.is_some().then(|| place(self.rows.len()));
            self.rows.extend(row);
            let (term, _) = self.terms.number(stem(word));
            self.known.push(Word { term, row: place });
        }
        number
    }

    /// Takes over what another vocabulary knows.
    pub(super) fn absorb(&mut self, other: &Self) -> Renumbering {
        let terms = (0..place(other.terms.len())).map(|term| {
            let (number, _) = self.terms.number(other.terms.text(term));
            number
        });
        let terms: Vec<u32> = terms.collect();
        let mut rows = vec![0; other.rows.len()];
        for (number, known) in (0_u32..).zip(&other.known) {
            let (own, is_new) = self.words.number(other.words.text(number));
            if is_new {
                let row = known.row.map(|_| place(self.rows.len()));
                self.rows
                    .extend(known.row.map(|row| other.rows[row as usize]));
                let term = terms[known.term as usize];
                self.known.push(Word { term, row });
            }
            if let (Some(row), Some(own)) = (known.row, self.known[own as usize].row) {
                rows[row as usize] = own;
            }
        }
        Renumbering { terms, rows }
    }
}

/// What the numbers of one vocabulary are in another.
pub(super) struct Renumbering {
    terms: Vec<u32>,
    rows: Vec<u32>,
}

impl Document {
    pub(super) fn renumber(&mut self, to: &Renumbering) {
        for each in &mut self.uses {
            each.term = to.terms[each.term as usize];
        }
        for about in &mut self.about {
            about.row = to.rows[about.row as usize];
            about.term = to.terms[about.term as usize];
        }
    }
}

/// Reads entries one after another.
#[derive(Default)]
pub(super) struct Reader {
    lengths: [u32; FIELDS],
    uses: Vec<Use>,
    about: Vec<About>,
    /// Where each term stands in `uses`, and each row in `about`, if it stands there at all.
    use_places: Vec<u32>,
    about_places: Vec<u32>,
}

impl Reader {
    pub(super) fn read(&mut self, entry: &Entry, vocabulary: &mut Vocabulary) -> Document {
        self.lengths = [0; FIELDS];
        self.uses.clear();
        self.about.clear();
        let mut reading = Reading {
            reader: self,
            vocabulary,
        };
        let name = reading.entry(entry);
        Document {
            lengths: self.lengths,
            uses: self.uses.as_slice().into(),
            about: self.about.as_slice().into(),
            name,
        }
    }

    fn occur(&mut self, field: usize, term: u32) {
        let at = place_in(&mut self.use_places, term);
        match self.uses.get_mut(*at as usize) {
            Some(known) if known.term == term => {
                known.counts[field] = known.counts[field].saturating_add(1);
            }
            _ => {
                *at = place(self.uses.len());
                let mut counts = [0; FIELDS];
                counts[field] = 1;
                self.uses.push(Use { term, counts });
            }
        }
    }

    fn be_about(&mut self, row: u32, term: u32, weight: u16) {
        let at = place_in(&mut self.about_places, row);
        match self.about.get_mut(*at as usize) {
            Some(known) if known.row == row => {
                known.weight = known.weight.saturating_add(weight);
            }
            _ => {
                *at = place(self.about.len());
                self.about.push(About { row, term, weight });
            }
        }
    }
}

/// A reader at work on one entry.
struct Reading<'a> {
    reader: &'a mut Reader,
    vocabulary: &'a mut Vocabulary,
}

impl Reading<'_> {
    fn entry(&mut self, entry: &Entry) -> Option<u32> {
        self.field(NAME, entry.name());
        self.field(LABEL, entry.label.as_deref().unwrap_or_default());
        if entry.id.owner() != CORE_OWNER {
            self.field(OWNER, entry.id.owner());
        }
        self.field(DESCRIPTION, &entry.description);
        if entry.trusted {
            self.schema(PARAMETERS, &entry.parameters, 0);
            if let Some(output) = &entry.output_schema {
                self.schema(OUTPUT, output, 0);
            }
        }
        // The whole name is one word too, for those who write it as one.
        let joined = text::joined(entry.name());
        if joined.is_empty() {
            return None;
        }
        let (term, _) = self.vocabulary.terms.number(stem(&joined));
        self.reader.occur(NAME, term);
        Some(name_key(&joined))
    }

    fn field(&mut self, field: usize, content: &str) {
        text::each_word(content, &mut |word| {
            if self.reader.lengths[field] >= MAX_FIELD_TERMS {
                return;
            }
            self.reader.lengths[field] += 1;
            let number = self.vocabulary.word(word);
            let Word { term, row } = self.vocabulary.known[number as usize];
            self.reader.occur(field, term);
            let weight = MEANING_WEIGHTS[field];
            if let Some(row) = row
                && weight > 0
            {
                self.reader.be_about(row, term, weight);
            }
        });
    }

    /// Names and descriptions of properties, some levels deep, and the values that inputs allow.
    fn schema(&mut self, field: usize, schema: &Value, depth: usize) {
        let Some(Value::Object(properties)) = parts_of(schema).properties else {
            return;
        };
        for (name, property) in properties.iter().take(MAX_PROPERTIES) {
            if self.reader.lengths[field] >= MAX_FIELD_TERMS {
                return;
            }
            let of_name = match field {
                PARAMETERS => PARAMETER_NAMES,
                other => other,
            };
            self.field(of_name, name);
            let parts = parts_of(property);
            if let Some(Value::String(description)) = parts.description {
                self.field(field, description);
            }
            if field == PARAMETERS {
                self.values(parts.values);
            }
            if depth < MAX_SCHEMA_DEPTH {
                self.schema(field, parts.items.unwrap_or(property), depth + 1);
            }
        }
    }

    fn values(&mut self, values: Option<&Value>) {
        let Some(Value::Array(values)) = values else {
            return;
        };
        for value in values.iter().take(MAX_VALUES).filter_map(Value::as_str) {
            self.field(VALUES, value);
        }
    }
}

/// What is read of a schema.
#[derive(Default)]
struct Parts<'a> {
    properties: Option<&'a Value>,
    description: Option<&'a Value>,
    values: Option<&'a Value>,
    items: Option<&'a Value>,
}

/// In one pass over the few keys of a schema, which is faster than four lookups.
fn parts_of(schema: &Value) -> Parts<'_> {
    let mut parts = Parts::default();
    for (key, value) in schema.as_object().into_iter().flatten() {
        match key.as_str() {
            "properties" => parts.properties = Some(value),
            "description" => parts.description = Some(value),
            "enum" => parts.values = Some(value),
            "items" => parts.items = Some(value),
            _ => {}
        }
    }
    parts
}

fn place_in(places: &mut Vec<u32>, number: u32) -> &mut u32 {
    let at = number as usize;
    if at >= places.len() {
        places.resize((at + 1).next_power_of_two(), 0);
    }
    &mut places[at]
}

/// What the names of documents are found by; other names may have the same (FNV-1a, 32 bits).
pub(super) fn name_key(joined: &str) -> u32 {
    let step = |key: u32, byte: u8| (key ^ u32::from(byte)).wrapping_mul(0x0100_0193);
    joined.bytes().fold(0x811c_9dc5, step)
}

/// A place as it is kept; there are never so many.
fn place(at: usize) -> u32 {
    u32::try_from(at).unwrap_or(u32::MAX)
}
