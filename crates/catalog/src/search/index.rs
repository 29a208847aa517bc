//! The search index: sorted terms, postings with ready weights, and what each document is about.
//!
//! It holds positions of entries, not entries. A document's score for one text is its share of the
//! best sum of words (BM25F) plus how alike the meanings are; a query of several sentences adds the
//! best of its sentences. One search costs the postings of its terms and a pass over the meanings.

use std::cmp::Ordering;

use super::collect::{Collector, Table};
use super::query::{QueryWords, alternatives, names_in};
use super::sentences;
use super::stem::stem;
use super::vectors::Meanings;
use super::weigh::{Postings, rarity};
use super::{Hit, MAX_QUERIES, MAX_QUERY_BYTES, MAX_SEARCH_LIMIT, SearchRequest};
use crate::catalog::Catalog;
use crate::entry::Entry;
use crate::id::Source;
use crate::signature::{input_signature, output_signature};

/// By how much the score of a document with all of the query's terms is raised over the sum.
const QUERY_COVERED: f32 = 4.0;

/// How much two neighbouring words of a query count as one.
const PAIR_FACTOR: f32 = 0.5;

/// How much meaning counts beside words: the most of either is about one.
const MEANING_FACTOR: f32 = 2.0;

/// How alike a document must be that has none of the query's words.
const ALIKE_AT_LEAST: f32 = 0.1;

/// How much the best sentence counts beside the whole query.
const SENTENCE_FACTOR: f32 = 1.5;

/// What an exact name is lifted by, larger than any score, and one that is named among other words.
const EXACT_NAME: f32 = 1_000.0;
const MENTIONED_NAME: f32 = 100.0;

/// The shortest unknown word that stands for the terms which it begins, how many of them, and how
/// much less they count.
const MIN_PREFIX_CHARS: usize = 4;
const MAX_PREFIX_TERMS: usize = 8;
const PREFIX_FACTOR: f32 = 0.5;

/// The index over one catalog; documents are positions of entries.
#[derive(Debug)]
pub(crate) struct Index {
    /// Sorted, so that the terms which a word begins stand together.
    terms: Vec<Box<str>>,
    postings: Postings,
    meanings: Meanings,
    /// Names without their separators, to put an exact name first.
    exact: Table<Vec<u32>>,
    id_ranks: Vec<u32>,
    sources: Vec<Source>,
}

impl Index {
    pub(crate) fn build(catalog: &Catalog) -> Self {
        let mut collector = Collector::default();
        for entry in catalog.entries() {
            collector.add(entry);
        }
        let mut terms: Vec<(&str, u32)> = collector.terms.iter().map(|(t, n)| (&**t, *n)).collect();
        terms.sort_unstable();
        let mut places = vec![0_u32; terms.len()];
        for (place, (_, number)) in (0_u32..).zip(&terms) {
            places[*number as usize] = place;
        }
        Self {
            terms: terms.into_iter().map(|(term, _)| term.into()).collect(),
            postings: Postings::weigh(&collector, &places),
            meanings: collector.meanings,
            exact: collector.exact,
            id_ranks: id_ranks(catalog),
            sources: catalog.entries().iter().map(Entry::source).collect(),
        }
    }

    /// The hits of a request, best first.
    pub(crate) fn search<'a>(&self, catalog: &'a Catalog, request: &SearchRequest) -> Vec<Hit<'a>> {
        let limit = request.limit.min(MAX_SEARCH_LIMIT);
        let lists: Vec<Vec<Ranked>> = request
            .queries
            .iter()
            .filter(|query| !query.trim().is_empty())
            .take(MAX_QUERIES)
            .map(|query| self.rank(catalog, bounded(query), request, limit))
            .collect();
        let ranked = match lists.is_empty() {
            true => first_entries(catalog, request, limit),
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
    fn rank(
        &self,
        catalog: &Catalog,
        query: &str,
        request: &SearchRequest,
        limit: usize,
    ) -> Vec<Ranked> {
        let visible: Vec<bool> = self
            .sources
            .iter()
            .map(|&source| request.scope.admits(source))
            .collect();
        let mut scores = self.scores(query, &visible);
        self.lift_names(catalog, query, &mut scores);
        let mut ranked: Vec<Ranked> = (0_u32..)
            .zip(&scores)
            .filter(|(document, score)| **score > 0.0 && visible[*document as usize])
            .map(|(document, &score)| Ranked {
                document,
                score,
                id_rank: self.id_ranks[document as usize],
            })
            .collect();
        if ranked.len() > limit && limit > 0 {
            ranked.select_nth_unstable_by(limit - 1, Ranked::best_first);
        }
        ranked.truncate(limit);
        ranked.sort_unstable_by(Ranked::best_first);
        ranked
    }

    /// The score of every document for a query, names aside: for the whole, and for the sentence
    /// of it that fits best.
    fn scores(&self, query: &str, visible: &[bool]) -> Vec<f32> {
        let mut scores = self.part_scores(&QueryWords::of(query), visible);
        let mut best = vec![0.0_f32; scores.len()];
        // One word alone says too little, unless it is an alternative.
        let least = if query.contains('|') { 1 } else { 2 };
        for part in sentences::parts(query) {
            let words = QueryWords::of(part);
            if words.telling().count() < least {
                continue;
            }
            let part_scores = self.part_scores(&words, visible);
            for (best, score) in best.iter_mut().zip(part_scores) {
                *best = best.max(score);
            }
        }
        for (score, best) in scores.iter_mut().zip(best) {
            *score += SENTENCE_FACTOR * best;
        }
        scores
    }

    /// The scores for one text, in shares of the best of the visible documents.
    fn part_scores(&self, words: &QueryWords, visible: &[bool]) -> Vec<f32> {
        let mut scores = self.word_scores(words);
        in_shares(&mut scores, visible);
        if let Some(meaning) = words.meaning() {
            for (score, alike) in scores.iter_mut().zip(self.meanings.alike(&meaning)) {
                if *score > 0.0 || alike >= ALIKE_AT_LEAST {
                    *score += MEANING_FACTOR * alike.max(0.0);
                }
            }
            in_shares(&mut scores, visible);
        }
        scores
    }

    /// The sum over the words of a text, raised by how many of them a document has.
    fn word_scores(&self, words: &QueryWords) -> Vec<f32> {
        let documents = self.id_ranks.len();
        let mut scores = vec![0.0_f32; documents];
        let mut covered = vec![0.0_f32; documents];
        let mut asked = f32::MIN_POSITIVE;
        for (term, factor) in self.query_terms(words) {
            let postings = self.postings.of(term);
            let telling = factor * rarity(documents, postings.len());
            asked += telling;
            for posting in postings {
                scores[posting.document as usize] += factor * posting.weight;
                covered[posting.document as usize] += telling;
            }
        }
        for (score, covered) in scores.iter_mut().zip(covered) {
            *score *= 1.0 + QUERY_COVERED * covered / asked;
        }
        scores
    }

    /// The known terms of a query with their factors, each once, in the order of the query.
    fn query_terms(&self, words: &QueryWords) -> Vec<(usize, f32)> {
        let mut terms: Vec<(usize, f32)> = Vec::with_capacity(words.all.len());
        for word in words.telling() {
            self.add_term(stem(word), &mut terms);
        }
        for pair in words.all.windows(2) {
            // `file system` asks for `filesystem` too.
            if let Some(term) = self.term(&format!("{}{}", pair[0], stem(&pair[1]))) {
                add(&mut terms, term, PAIR_FACTOR);
            }
        }
        terms
    }

    /// Adds a query's term, or those that it begins when it is not known itself.
    fn add_term(&self, stemmed: &str, terms: &mut Vec<(usize, f32)>) {
        if let Some(term) = self.term(stemmed) {
            return add(terms, term, 1.0);
        }
        if stemmed.chars().count() < MIN_PREFIX_CHARS {
            return;
        }
        let from = self.terms.partition_point(|term| &**term < stemmed);
        let begun = self.terms[from..]
            .iter()
            .take_while(|term| term.starts_with(stemmed));
        for at in (from..).zip(begun).map(|(at, _)| at).take(MAX_PREFIX_TERMS) {
            add(terms, at, PREFIX_FACTOR);
        }
    }

    fn term(&self, stemmed: &str) -> Option<usize> {
        self.terms
            .binary_search_by(|term| (**term).cmp(stemmed))
            .ok()
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
            for &document in self.exact.get(name.as_str()).into_iter().flatten() {
                let score = &mut scores[document as usize];
                if *score < lift {
                    *score += lift;
                }
            }
        }
    }
}

/// Makes the best visible score one.
fn in_shares(scores: &mut [f32], visible: &[bool]) {
    let seen = scores.iter().zip(visible).filter(|(_, visible)| **visible);
    let best = seen.map(|(score, _)| *score).fold(0.0, f32::max);
    if best > 0.0 {
        scores.iter_mut().for_each(|score| *score /= best);
    }
}

fn add(terms: &mut Vec<(usize, f32)>, term: usize, factor: f32) {
    if !terms.iter().any(|(known, _)| *known == term) {
        terms.push((term, factor));
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
    /// The place of the id among all ids, which breaks ties.
    id_rank: u32,
}

impl Ranked {
    fn best_first(a: &Self, b: &Self) -> Ordering {
        b.score.total_cmp(&a.score).then(a.id_rank.cmp(&b.id_rank))
    }
}

fn first_entries(catalog: &Catalog, request: &SearchRequest, limit: usize) -> Vec<Ranked> {
    let visible = |entry: &&Entry| request.scope.admits(entry.source());
    (0_u32..)
        .zip(catalog.entries())
        .filter(|(_, entry)| visible(entry))
        .take(limit)
        .map(|(document, _)| Ranked {
            document,
            score: 0.0,
            id_rank: document,
        })
        .collect()
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

/// For each document the place of its id among all ids.
fn id_ranks(catalog: &Catalog) -> Vec<u32> {
    let entries = catalog.entries();
    let mut order: Vec<usize> = (0..entries.len()).collect();
    order.sort_unstable_by(|&a, &b| entries[a].id.cmp(&entries[b].id));
    let mut ranks = vec![0; entries.len()];
    for (rank, document) in (0_u32..).zip(order) {
        ranks[document] = rank;
    }
    ranks
}
