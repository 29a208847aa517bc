//! Reading entries for the index: which words stand in which field of which document, and what
//! each document is about. Weights are not its business.

use std::collections::HashMap;

use foldhash::fast::RandomState;
use serde_json::Value;

use super::query::is_stop_word;
use super::stem::stem;
use super::text;
use super::vectors::{Meanings, Row, Sum, Words};
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
const MEANING_WEIGHTS: [u8; FIELDS] = [6, 3, 3, 3, 1, 0, 0, 1];

/// The most terms taken from one field of one entry.
const MAX_FIELD_TERMS: usize = 1_000;

/// How deep and how many properties of a schema are read, and how many values of one.
const MAX_SCHEMA_DEPTH: usize = 3;
const MAX_PROPERTIES: usize = 200;
const MAX_VALUES: usize = 50;

/// A map from text whose order nobody sees.
pub(super) type Table<T> = HashMap<Box<str>, T, RandomState>;

/// What is known of one document before weights are.
pub(super) struct Document {
    /// Where its occurrences end.
    pub(super) end: usize,
    /// How many terms each field has.
    pub(super) lengths: [u32; FIELDS],
}

/// A word that occurs somewhere.
#[derive(Clone, Copy)]
struct Word {
    term: u32,
    /// Its place among the rows, if it means something.
    row: Option<u32>,
}

/// Collects the terms of all documents.
#[derive(Default)]
pub(super) struct Collector {
    pub(super) terms: Table<u32>,
    /// The words met so far, so that each is stemmed and looked up once.
    places: Table<u32>,
    words: Vec<Word>,
    rows: Vec<Row>,
    /// Term and field of every occurrence, document after document.
    pub(super) occurrences: Vec<(u32, u8)>,
    pub(super) documents: Vec<Document>,
    pub(super) meanings: Meanings,
    /// Names without their separators.
    pub(super) exact: Table<Vec<u32>>,
    lengths: [u32; FIELDS],
    sum: Sum,
}

impl Collector {
    pub(super) fn add(&mut self, entry: &Entry) {
        self.lengths = [0; FIELDS];
        self.sum = Sum::default();
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
        self.whole_name(entry.name());
        self.meanings.push(self.sum.meaning());
        self.documents.push(Document {
            end: self.occurrences.len(),
            lengths: self.lengths,
        });
    }

    /// The whole name as one word, for those who write it as one.
    fn whole_name(&mut self, name: &str) {
        let joined = text::joined(name);
        if joined.is_empty() {
            return;
        }
        let term = self.term(&joined);
        self.occurrences.push((term, NAME as u8));
        let document = number(self.documents.len());
        self.exact.entry(joined.into()).or_default().push(document);
    }

    fn field(&mut self, field: usize, content: &str) {
        text::each_word(content, &mut |word| {
            if (self.lengths[field] as usize) < MAX_FIELD_TERMS {
                self.lengths[field] += 1;
                let word = self.word(word);
                self.occur(field, word);
            }
        });
    }

    fn occur(&mut self, field: usize, word: u32) {
        let Word { term, row } = self.words[word as usize];
        if let Some(row) = row
            && MEANING_WEIGHTS[field] > 0
        {
            self.sum
                .add(&self.rows[row as usize], MEANING_WEIGHTS[field]);
        }
        let field = u8::try_from(field).unwrap_or(u8::MAX);
        self.occurrences.push((term, field));
    }

    fn word(&mut self, word: &str) -> u32 {
        if let Some(&at) = self.places.get(word) {
            return at;
        }
        let term = self.term(word);
        let row = match is_stop_word(word) {
            true => None,
            false => Words::shipped().row(word),
        };
        let at = number(self.words.len());
        self.words.push(Word {
            term,
            row: row.is_some().then(|| number(self.rows.len())),
        });
        self.rows.extend(row);
        self.places.insert(word.into(), at);
        at
    }

    fn term(&mut self, word: &str) -> u32 {
        let stem = stem(word);
        if let Some(&term) = self.terms.get(stem) {
            return term;
        }
        let term = number(self.terms.len());
        self.terms.insert(stem.into(), term);
        term
    }

    /// Names and descriptions of properties, some levels deep, and the values that inputs allow.
    fn schema(&mut self, field: usize, schema: &Value, depth: usize) {
        let Some(Value::Object(properties)) = schema.get("properties") else {
            return;
        };
        for (name, property) in properties.iter().take(MAX_PROPERTIES) {
            if self.lengths[field] as usize >= MAX_FIELD_TERMS {
                return;
            }
            let of_name = match field {
                PARAMETERS => PARAMETER_NAMES,
                other => other,
            };
            self.field(of_name, name);
            if let Some(Value::String(description)) = property.get("description") {
                self.field(field, description);
            }
            if field == PARAMETERS {
                self.values(property);
            }
            if depth < MAX_SCHEMA_DEPTH {
                let nested = property.get("items").unwrap_or(property);
                self.schema(field, nested, depth + 1);
            }
        }
    }

    fn values(&mut self, property: &Value) {
        let Some(Value::Array(values)) = property.get("enum") else {
            return;
        };
        for value in values.iter().take(MAX_VALUES).filter_map(Value::as_str) {
            self.field(VALUES, value);
        }
    }
}

/// A place as it is kept; there are never so many.
fn number(place: usize) -> u32 {
    u32::try_from(place).unwrap_or(u32::MAX)
}
