//! The search index: sorted terms, postings with ready weights, and what each document is about.
//!
//! It holds positions of entries, not entries. Here is how it is made and how hits are put in their
//! order; what a document scores is in `scores`.

use std::cmp::Ordering;

use super::query::{alternatives, names_in};
use super::vectors::Meanings;
use super::weigh::Postings;
use super::{Hit, MAX_QUERIES, MAX_QUERY_BYTES, MAX_SEARCH_LIMIT, SearchRequest};
use super::{document, text};
use crate::catalog::Catalog;
use crate::entry::Entry;
use crate::id::Source;
use crate::signature::{input_signature, output_signature};

/// What an exact name is lifted by, larger than any score, and one that is named among other words.
const EXACT_NAME: f32 = 1_000.0;
const MENTIONED_NAME: f32 = 100.0;

/// The index over one catalog; documents are positions of entries.
#[derive(Debug)]
pub(crate) struct Index {
    /// Sorted, so that the terms which a word begins stand together.
    pub(super) terms: Vec<Box<str>>,
    pub(super) postings: Postings,
    pub(super) meanings: std::sync::Arc<Meanings>,
    /// The key of each document's name and the document, sorted, to put an exact name first.
    names: Vec<(u32, u32)>,
    sources: Vec<Source>,
}

impl Index {
    pub(crate) fn build(catalog: &Catalog) -> Self {
        let read = catalog.read();
        let named = (0_u32..).zip(&read.documents);
        let mut names: Vec<(u32, u32)> = named
            .filter_map(|(at, document)| Some((document.name?, at)))
            .collect();
        names.sort_unstable();
        Self {
            postings: Postings::weigh(&read.documents, &read.places, &read.counts),
            terms: read.terms,
            meanings: read.meanings,
            names,
            sources: catalog.entries().iter().map(Entry::source).collect(),
        }
    }

    /// How many documents there are.
    pub(super) fn documents(&self) -> usize {
        self.sources.len()
    }

    /// The hits of a request, best first.
    pub(crate) fn search<'a>(&self, catalog: &'a Catalog, request: &SearchRequest) -> Vec<Hit<'a>> {
        let limit = request.limit.min(MAX_SEARCH_LIMIT);
        let sources = self.sources.iter();
        let visible: Vec<bool> = sources.map(|&s| request.scope.admits(s)).collect();
        let lists: Vec<Vec<Ranked>> = request
            .queries
            .iter()
            .filter(|query| !query.trim().is_empty())
            .take(MAX_QUERIES)
            .map(|query| self.rank(catalog, bounded(query), &visible, limit))
            .collect();
        let ranked = match lists.is_empty() {
            true => first_entries(&visible, limit),
            false => merged(lists, limit),
        };
        let hit = |ranked: Ranked| {
            let entry = &catalog.entries()[ranked.document as usize];
            Hit {
                entry,
                score: ranked.score,
                input: input_signature(&entry.parameters),
                output: entry
                    .output_schema
                    .as_deref()
                    .map(|schema| output_signature(Some(schema))),
            }
        };
        ranked.into_iter().map(hit).collect()
    }

    /// The best documents for one query.
    fn rank(&self, catalog: &Catalog, query: &str, visible: &[bool], limit: usize) -> Vec<Ranked> {
        let mut scores = self.scores(query, visible);
        self.lift_names(catalog, query, &mut scores);
        let id = |ranked: &Ranked| &catalog.entries()[ranked.document as usize].id;
        let best_first = |a: &Ranked, b: &Ranked| match b.score.total_cmp(&a.score) {
            Ordering::Equal => id(a).cmp(id(b)),
            other => other,
        };
        let mut best: Vec<Ranked> = Vec::with_capacity(limit + 1);
        for (document, &score) in (0_u32..).zip(&scores) {
            let least = match best.len() < limit {
                true => 0.0,
                false => best.last().map_or(f32::INFINITY, |last| last.score),
            };
            // Of those with the least score the ids decide.
            let may_enter = score > 0.0 && score >= least;
            if may_enter && visible[document as usize] {
                let ranked = Ranked { document, score };
                let at = best.partition_point(|known| best_first(known, &ranked).is_lt());
                best.insert(at, ranked);
                best.truncate(limit);
            }
        }
        best
    }

    /// Puts the entries first whose id or name is what the query says, or one of its alternatives,
    /// and before the others those that it names among other words.
    fn lift_names(&self, catalog: &Catalog, query: &str, scores: &mut [f32]) {
        if let Some(at) = catalog.position(query.trim()) {
            scores[at] += 2.0 * EXACT_NAME;
        }
        let named = alternatives(query).map(|name| (name, EXACT_NAME));
        let mentioned = names_in(query).map(|name| (name, MENTIONED_NAME));
        for (name, lift) in named.chain(mentioned) {
            for document in self.named(catalog, &name) {
                let score = &mut scores[document];
                if *score < lift {
                    *score += lift;
                }
            }
        }
    }

    /// The documents whose name without its separators is this.
    fn named<'a>(
        &'a self,
        catalog: &'a Catalog,
        name: &'a str,
    ) -> impl Iterator<Item = usize> + 'a {
        let key = document::name_key(name);
        let from = self.names.partition_point(|(known, _)| *known < key);
        let same_key = self.names[from..]
            .iter()
            .take_while(move |(known, _)| *known == key);
        same_key
            .map(|(_, document)| *document as usize)
            .filter(move |&document| text::joined(catalog.entries()[document].name()) == name)
    }
}

/// The part of a query that counts, cut at a character.
fn bounded(query: &str) -> &str {
    &query[..query.floor_char_boundary(MAX_QUERY_BYTES)]
}

#[derive(Clone, Copy, Debug)]
struct Ranked {
    document: u32,
    score: f32,
}

fn first_entries(visible: &[bool], limit: usize) -> Vec<Ranked> {
    let visible = (0_u32..).zip(visible).filter(|(_, visible)| **visible);
    let ranked = visible.map(|(document, _)| Ranked {
        document,
        score: 0.0,
    });
    ranked.take(limit).collect()
}

/// Several lists as one: by the best rank in any of them, earlier queries first.
fn merged(lists: Vec<Vec<Ranked>>, limit: usize) -> Vec<Ranked> {
    let longest = lists.iter().map(Vec::len).max().unwrap_or(0);
    let mut seen = std::collections::HashSet::new();
    let by_rank = (0..longest).flat_map(|rank| lists.iter().filter_map(move |list| list.get(rank)));
    let unseen = by_rank
        .copied()
        .filter(|ranked| seen.insert(ranked.document));
    unseen.take(limit).collect()
}
