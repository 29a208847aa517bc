//! A query before it meets the index: the words that tell something, and the names in it.

use super::text;
use super::vectors::{Meaning, Sum, Words};

/// The most different terms of one query.
const MAX_QUERY_WORDS: usize = 64;

/// Words that say how a request is put, not what it is about; sorted.
const STOP_WORDS: [&str; 88] = [
    "a", "about", "also", "am", "an", "and", "any", "are", "as", "at", "be", "been", "but", "by",
    "can", "could", "did", "do", "does", "for", "from", "had", "has", "have", "her", "here", "him",
    "his", "how", "i", "if", "in", "into", "is", "it", "its", "just", "know", "let", "looking",
    "m", "may", "me", "might", "my", "need", "of", "on", "or", "our", "out", "please", "s", "she",
    "should", "so", "some", "such", "that", "the", "their", "them", "then", "there", "these",
    "they", "this", "those", "to", "up", "us", "ve", "want", "was", "we", "were", "what", "when",
    "where", "which", "who", "will", "with", "would", "you", "your", "yours", "yourself",
];

pub(super) fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

/// The words of a query.
pub(super) struct QueryWords {
    /// All of them, in order.
    pub(super) all: Vec<String>,
    /// Whether there is nothing but stop words, which then count.
    only_stop_words: bool,
}

impl QueryWords {
    pub(super) fn of(query: &str) -> Self {
        let mut all: Vec<String> = Vec::new();
        text::each_word(query, &mut |word| {
            if all.len() < MAX_QUERY_WORDS {
                all.push(word.to_owned());
            }
        });
        let only_stop_words = all.iter().all(|word| is_stop_word(word));
        Self {
            all,
            only_stop_words,
        }
    }

    /// The words that tell something.
    pub(super) fn telling(&self) -> impl Iterator<Item = &str> {
        let words = self.all.iter().map(String::as_str);
        words.filter(|word| self.only_stop_words || !is_stop_word(word))
    }

    /// What the query is about.
    pub(super) fn meaning(&self) -> Option<Meaning> {
        let mut sum = Sum::default();
        for word in self.telling() {
            if let Some(row) = Words::shipped().row(word) {
                sum.add(&row, 1);
            }
        }
        sum.meaning()
    }
}

/// What a query says whole, or as a list of alternatives, without its separators.
///
/// Commas in a sentence make no list: what stands between them must be as short as a name.
pub(super) fn alternatives(query: &str) -> impl Iterator<Item = String> {
    let is_list = |part: &str| {
        part.split(',')
            .all(|one| one.split_whitespace().count() <= 3)
    };
    let parts = query.split('|').flat_map(move |part| {
        let separator = if is_list(part) { ',' } else { '|' };
        part.split(separator)
    });
    parts.map(text::joined).filter(|name| !name.is_empty())
}

/// The words of a query that are written like names of tools, without their separators.
pub(super) fn names_in(query: &str) -> impl Iterator<Item = String> {
    let words = query.split(|c: char| !c.is_alphanumeric() && c != '_' && c != '-');
    words
        .filter(|word| is_written_as_name(word))
        .map(text::joined)
}

/// Whether a word is in snake case or camel case. Names of products mostly begin with a capital.
fn is_written_as_name(word: &str) -> bool {
    let begins_small = word.starts_with(|c: char| c.is_lowercase());
    word.contains('_') || (begins_small && word.contains(char::is_uppercase))
}
