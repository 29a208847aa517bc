//! What was read of a catalog's tools, kept for the catalogs that come after it.
//!
//! Reading entries is most of what an index costs, and a catalog mostly differs from the one before in a
//! few of them. A catalog hands its [`Readings`] to those that are made from it; whichever is searched
//! first fills them, and the next reads only what differs. An index made with the help of an earlier
//! one is the same as one made afresh: what is kept of a tool depends on that tool alone, or is kept with what
//! it depended on.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use super::document::{About, Document, Reader, Vocabulary};
use super::vectors::{Meaning, Meanings, Sum};
use crate::entry::Entry;
use crate::id::ToolId;

/// Words of tools that are gone stay known, until there are so many for each that is in use.
const MAX_TERMS_PER_USED: usize = 2;
const MIN_FORGOTTEN_TERMS: usize = 10_000;

/// So many tools are worth a second thread for some milliseconds.
const MIN_FOR_TWO_THREADS: usize = 2_000;

/// The place of a term that no document has.
const NOWHERE: u32 = u32::MAX;

/// What was read of the tools of the catalog that was indexed last.
#[derive(Debug, Default)]
pub(crate) struct Readings(Mutex<State>);

#[derive(Debug, Default)]
struct State {
    vocabulary: Vocabulary,
    entries: Arc<Vec<Entry>>,
    by_id: Arc<HashMap<ToolId, usize>>,
    documents: Vec<Arc<Document>>,
    meanings: Arc<Meanings>,
    /// How telling each term was when the meanings were made.
    levels: Vec<u16>,
}

/// What an index is made of.
pub(crate) struct Read {
    pub(super) documents: Vec<Arc<Document>>,
    pub(super) meanings: Arc<Meanings>,
    /// The terms that documents have, sorted.
    pub(super) terms: Vec<Box<str>>,
    /// In how many documents each of them is.
    pub(super) counts: Vec<u32>,
    /// For each number of a term its place in `terms`.
    pub(super) places: Vec<u32>,
}

impl Readings {
    /// Reads the entries, as far as they are not the same as those that were read last.
    pub(crate) fn read(
        &self,
        entries: &Arc<Vec<Entry>>,
        by_id: &Arc<HashMap<ToolId, usize>>,
    ) -> Read {
        let mut state = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let from = state.take_documents(entries);
        let counts = state.counts();
        let levels: Vec<u16> = counts
            .iter()
            .map(|&count| level(entries.len(), count))
            .collect();
        state.make_meanings(&from, levels);
        state.entries = Arc::clone(entries);
        state.by_id = Arc::clone(by_id);
        let read = state.sorted(&counts);
        let known = state.vocabulary.terms.len();
        if known > read.terms.len() * MAX_TERMS_PER_USED + MIN_FORGOTTEN_TERMS {
            *state = State::default();
        }
        read
    }
}

impl State {
    /// Makes the documents of these entries; gives for each where it was before, if it was.
    fn take_documents(&mut self, entries: &[Entry]) -> Vec<Option<usize>> {
        let from: Vec<Option<usize>> = (0..)
            .zip(entries)
            .map(|(at, entry)| self.place_of(at, entry))
            .collect();
        let new = entries.iter().zip(&from).filter(|(_, from)| from.is_none());
        let new: Vec<&Entry> = new.map(|(entry, _)| entry).collect();
        let mut new = self.read_new(&new).into_iter();
        let known = std::mem::take(&mut self.documents);
        let documents = from.iter().filter_map(|from| match from {
            Some(from) => Some(Arc::clone(&known[*from])),
            None => new.next().map(Arc::new),
        });
        self.documents = documents.collect();
        from
    }

    /// Reads entries; the second half beside the first, with words of its own, where they are many.
    fn read_new(&mut self, entries: &[&Entry]) -> Vec<Document> {
        let (first, second) = entries.split_at(halves_at(entries.len()));
        let (mut documents, other) = both(
            !second.is_empty(),
            || read_each(first, &mut self.vocabulary),
            || {
                let mut vocabulary = Vocabulary::default();
                (read_each(second, &mut vocabulary), vocabulary)
            },
        );
        let (second, vocabulary) = other;
        let numbers = self.vocabulary.absorb(&vocabulary);
        documents.extend(second.into_iter().map(|mut document| {
            document.renumber(&numbers);
            document
        }));
        documents
    }

    /// Where the last entries have one that says the same; mostly at the same place.
    fn place_of(&self, at: usize, entry: &Entry) -> Option<usize> {
        let at = match self.entries.get(at) {
            Some(known) if known.id == entry.id => at,
            _ => *self.by_id.get(&entry.id)?,
        };
        says_the_same(&self.entries[at], entry).then_some(at)
    }

    /// In how many documents each term is.
    fn counts(&self) -> Vec<u32> {
        let mut counts = vec![0; self.vocabulary.terms.len()];
        for document in &self.documents {
            for each in &document.uses {
                counts[each.term as usize] += 1;
            }
        }
        counts
    }

    /// Makes the meanings anew where the words of a document tell more or less than before.
    fn make_meanings(&mut self, from: &[Option<usize>], levels: Vec<u16>) {
        let before = |term: usize| self.levels.get(term);
        let changed: Vec<bool> = (0..)
            .zip(&levels)
            .map(|(term, level)| before(term) != Some(level))
            .collect();
        let is_same = |about: &About| !changed[about.term as usize];
        let make = |documents: &[Arc<Document>], from: &[Option<usize>]| {
            let mut meanings = Meanings::default();
            for (document, from) in documents.iter().zip(from) {
                match from {
                    Some(from) if document.about.iter().all(is_same) => {
                        meanings.push_from(&self.meanings, *from);
                    }
                    _ => meanings.push(self.meaning(document, &levels)),
                }
            }
            meanings
        };
        let (first, second) = self.documents.split_at(halves_at(from.len()));
        let (first_from, second_from) = from.split_at(first.len());
        let (mut meanings, others) = both(
            !second.is_empty(),
            || make(first, first_from),
            || make(second, second_from),
        );
        meanings.append(others);
        self.meanings = Arc::new(meanings);
        self.levels = levels;
    }

    fn meaning(&self, document: &Document, levels: &[u16]) -> Option<Meaning> {
        let mut sum = Sum::default();
        for about in &document.about {
            let row = &self.vocabulary.rows[about.row as usize];
            let level = levels[about.term as usize];
            sum.add(row, about.weight.saturating_mul(level));
        }
        sum.meaning()
    }

    fn sorted(&self, counts: &[u32]) -> Read {
        let terms = &self.vocabulary.terms;
        let used = (0_u32..).zip(counts).filter(|(_, count)| **count > 0);
        let mut order: Vec<(u64, &str, u32)> = used
            .map(|(term, _)| (first_bytes(terms.text(term)), terms.text(term), term))
            .collect();
        order.sort_unstable();
        let mut places = vec![NOWHERE; counts.len()];
        for (place, (_, _, term)) in (0_u32..).zip(&order) {
            places[*term as usize] = place;
        }
        Read {
            documents: self.documents.clone(),
            meanings: Arc::clone(&self.meanings),
            terms: order.iter().map(|(_, text, _)| (*text).into()).collect(),
            counts: order.iter().map(|(_, _, t)| counts[*t as usize]).collect(),
            places,
        }
    }
}

fn read_each(entries: &[&Entry], vocabulary: &mut Vocabulary) -> Vec<Document> {
    let mut reader = Reader::default();
    let documents = entries.iter().map(|entry| reader.read(entry, vocabulary));
    documents.collect()
}

/// Where so many are cut for two threads; at the end if that is not worth it.
fn halves_at(count: usize) -> usize {
    match count < MIN_FOR_TWO_THREADS {
        true => count,
        false => count / 2,
    }
}

/// Does two things, at the same time if that is worth a thread and one is to be had.
fn both<A, B: Send>(
    are_long: bool,
    first: impl FnOnce() -> A,
    second: impl Fn() -> B + Sync,
) -> (A, B) {
    if !are_long {
        return (first(), second());
    }
    thread::scope(|scope| {
        let other = thread::Builder::new().spawn_scoped(scope, &second);
        let first = first();
        let second = match other.map(thread::ScopedJoinHandle::join) {
            Ok(Ok(second)) => second,
            Ok(Err(panic)) => std::panic::resume_unwind(panic),
            Err(_) => second(),
        };
        (first, second)
    })
}

/// Whether the index would read the same in both.
fn says_the_same(a: &Entry, b: &Entry) -> bool {
    let output = match (&a.output_schema, &b.output_schema) {
        (Some(a), Some(b)) => Arc::ptr_eq(a, b),
        (None, None) => true,
        _ => false,
    };
    output
        && a.trusted == b.trusted
        && Arc::ptr_eq(&a.parameters, &b.parameters)
        && a.id == b.id
        && a.label == b.label
        && a.description == b.description
}

/// How telling a word is that so many of the documents have: one, and one more for each time that they
/// can be halved before so many are left. A whole number, so that few change with a tool.
fn level(documents: usize, found_in: u32) -> u16 {
    let share = documents / (found_in as usize).max(1);
    1 + u16::try_from(share.max(1).ilog2()).unwrap_or(0)
}

/// The first bytes of a text as a number that sorts like it.
fn first_bytes(text: &str) -> u64 {
    let mut bytes = [0; 8];
    let shown = text.len().min(8);
    bytes[..shown].copy_from_slice(&text.as_bytes()[..shown]);
    u64::from_be_bytes(bytes)
}
