//! The search index: interned terms, postings with ready weights, and BM25F over them.
//!
//! It holds positions of entries, not entries. Everything that a query needs from a document is in
//! its postings, so one search costs the postings of its terms and one pass over the scores.

use std::cmp::Ordering;
use std::collections::HashMap;

use serde_json::Value;

use super::stem::stem;
use super::{Hit, MAX_QUERIES, MAX_QUERY_BYTES, MAX_SEARCH_LIMIT, SearchRequest, text};
use crate::catalog::Catalog;
use crate::entry::Entry;
use crate::id::CORE_OWNER;
use crate::signature::{input_signature, output_signature};

/// The fields of a document.
const FIELDS: usize = 5;
const NAME: usize = 0;
const LABEL: usize = 1;
const OWNER: usize = 2;
const DESCRIPTION: usize = 3;
const PARAMETERS: usize = 4;

/// How much one occurrence counts, by field.
const WEIGHTS: [f32; FIELDS] = [4.0, 2.0, 1.5, 1.0, 0.5];

/// How much a field's length counts, by field: names are short by nature.
const LENGTH_WEIGHTS: [f32; FIELDS] = [0.3, 0.3, 0.0, 0.6, 0.6];

/// How fast repetitions of a term stop counting.
const SATURATION: f32 = 2.0;

/// What a document's score grows by, at most, for the share of its name that the query mentions.
const NAME_COVERED: f32 = 2.0;

/// By how much the score of a document with all of the query's terms is raised over the sum.
const QUERY_COVERED: f32 = 1.0;

/// How much two neighbouring words of a query count as one.
const PAIR_FACTOR: f32 = 0.5;

/// What an exact name is lifted by; larger than any score.
const EXACT_NAME: f32 = 1_000.0;

/// The most terms taken from one field of one entry.
const MAX_FIELD_TERMS: usize = 1_000;

/// The most different terms of one query.
const MAX_QUERY_TERMS: usize = 64;

/// The shortest unknown word that stands for the terms which it begins, how many of them, and how
/// much less they count.
const MIN_PREFIX_CHARS: usize = 4;
const MAX_PREFIX_TERMS: usize = 8;
const PREFIX_FACTOR: f32 = 0.5;

/// How deep and how many properties of a parameter schema are read.
const MAX_PARAMETER_DEPTH: usize = 3;
const MAX_PARAMETERS: usize = 200;

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

#[derive(Clone, Copy, Debug)]
struct Posting {
    document: u32,
    weight: f32,
    /// Whether the term is in the name.
    in_name: bool,
}

/// The index over one catalog; documents are positions of entries.
#[derive(Debug)]
pub(crate) struct Index {
    /// Sorted, so that the terms which a word begins stand together.
    terms: Vec<Box<str>>,
    /// For each term where its postings start; one more at the end.
    starts: Vec<u32>,
    /// The weights hold rarity and saturation already.
    postings: Vec<Posting>,
    /// Names without their separators, to put an exact name first.
    exact: HashMap<String, Vec<u32>>,
    id_ranks: Vec<u32>,
}

impl Index {
    pub(crate) fn build(catalog: &Catalog) -> Self {
        let mut collector = Collector::default();
        for entry in catalog.entries() {
            collector.add(entry);
        }
        collector.finish(catalog)
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
        let mut scores = self.scores(query, catalog.len());
        self.lift_exact_names(catalog, query, &mut scores);
        let in_scope = |document: usize| request.scope.admits(catalog.entries()[document].source());
        let mut ranked: Vec<Ranked> = (0_u32..)
            .zip(&scores)
            .filter(|(document, score)| **score > 0.0 && in_scope(*document as usize))
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

    /// The score of every document for a query, exact names aside.
    fn scores(&self, query: &str, documents: usize) -> Vec<f32> {
        let mut scores = vec![0.0_f32; documents];
        let mut covered = vec![0.0_f32; documents];
        let mut asked = f32::MIN_POSITIVE;
        for (term, factor) in self.query_terms(query) {
            let postings = self.postings_of(term);
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
    fn query_terms(&self, query: &str) -> Vec<(usize, f32)> {
        let mut words: Vec<String> = Vec::new();
        text::each_word(query, &mut |word| {
            if words.len() < MAX_QUERY_TERMS {
                words.push(word.to_owned());
            }
        });
        let telling: Vec<&String> = words.iter().filter(|word| !is_stop_word(word)).collect();
        // A query of nothing but stop words is still a query.
        let chosen = if telling.is_empty() {
            words.iter().collect()
        } else {
            telling
        };
        let mut terms: Vec<(usize, f32)> = Vec::with_capacity(chosen.len());
        for word in &chosen {
            self.add_term(stem(word), &mut terms);
        }
        for pair in words.windows(2) {
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

    fn postings_of(&self, term: usize) -> &[Posting] {
        &self.postings[self.starts[term] as usize..self.starts[term + 1] as usize]
    }

    /// Puts the entries first whose id or name is what the query says, or one of its alternatives.
    fn lift_exact_names(&self, catalog: &Catalog, query: &str, scores: &mut [f32]) {
        if let Some(at) = catalog.position(query.trim()) {
            scores[at] += 2.0 * EXACT_NAME;
        }
        for alternative in query.split(['|', ',']) {
            let documents = self.exact.get(text::joined(alternative).as_str());
            for &document in documents.into_iter().flatten() {
                scores[document as usize] += EXACT_NAME;
            }
        }
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

fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
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

/// Collects the terms of all documents before their weights are known.
#[derive(Default)]
struct Collector {
    terms: HashMap<Box<str>, u32>,
    /// The term of each word met so far, so that a word is stemmed once.
    words: HashMap<Box<str>, u32>,
    /// Term and field of every occurrence, document after document.
    occurrences: Vec<(u32, u8)>,
    /// Where each document's occurrences end, and its field lengths.
    documents: Vec<(usize, [u32; FIELDS])>,
    exact: HashMap<String, Vec<u32>>,
}

impl Collector {
    fn add(&mut self, entry: &Entry) {
        let mut lengths = [0; FIELDS];
        let joined = text::joined(entry.name());
        lengths[NAME] = self.field(NAME, entry.name());
        lengths[LABEL] = self.field(LABEL, entry.label.as_deref().unwrap_or_default());
        lengths[OWNER] = match entry.id.owner() {
            CORE_OWNER => 0,
            owner => self.field(OWNER, owner),
        };
        lengths[DESCRIPTION] = self.field(DESCRIPTION, &entry.description);
        if entry.trusted {
            let mut count = 0;
            self.parameters(&entry.parameters, 0, &mut count);
            lengths[PARAMETERS] = count;
        }
        let document = u32::try_from(self.documents.len()).unwrap_or(u32::MAX);
        if !joined.is_empty() {
            // The whole name as one word, for those who write it as one.
            self.occurrence(NAME, &joined);
            self.exact.entry(joined).or_default().push(document);
        }
        self.documents.push((self.occurrences.len(), lengths));
    }

    /// Adds a field's terms and gives their number.
    fn field(&mut self, field: usize, content: &str) -> u32 {
        let mut count = 0;
        text::each_word(content, &mut |word| {
            if count < MAX_FIELD_TERMS {
                count += 1;
                self.occurrence(field, word);
            }
        });
        u32::try_from(count).unwrap_or(u32::MAX)
    }

    fn occurrence(&mut self, field: usize, word: &str) {
        let term = match self.words.get(word) {
            Some(&term) => term,
            None => self.term_of(word),
        };
        let field = u8::try_from(field).unwrap_or(u8::MAX);
        self.occurrences.push((term, field));
    }

    /// The term of a word that is met for the first time.
    fn term_of(&mut self, word: &str) -> u32 {
        let next = u32::try_from(self.terms.len()).unwrap_or(u32::MAX);
        let term = *self.terms.entry(stem(word).into()).or_insert(next);
        self.words.insert(word.into(), term);
        term
    }

    /// Names and descriptions of properties, some levels deep.
    fn parameters(&mut self, schema: &Value, depth: usize, count: &mut u32) {
        let Some(Value::Object(properties)) = schema.get("properties") else {
            return;
        };
        for (name, property) in properties.iter().take(MAX_PARAMETERS) {
            if *count as usize > MAX_FIELD_TERMS {
                return;
            }
            *count += self.field(PARAMETERS, name);
            if let Some(Value::String(description)) = property.get("description") {
                *count += self.field(PARAMETERS, description);
            }
            if depth < MAX_PARAMETER_DEPTH {
                let nested = property.get("items").unwrap_or(property);
                self.parameters(nested, depth + 1, count);
            }
        }
    }

    fn finish(self, catalog: &Catalog) -> Index {
        let mut terms: Vec<(Box<str>, u32)> = self.terms.into_iter().collect();
        terms.sort_unstable();
        let mut places = vec![0_u32; terms.len()];
        for (place, (_, id)) in (0_u32..).zip(&terms) {
            places[*id as usize] = place;
        }
        let by_document = weighed(&self.occurrences, &self.documents, &places);
        let (starts, postings) = inverted(&by_document, terms.len(), self.documents.len());
        Index {
            terms: terms.into_iter().map(|(term, _)| term).collect(),
            starts,
            postings,
            exact: self.exact,
            id_ranks: id_ranks(catalog),
        }
    }
}

/// The weight of each term in each document, before its rarity: `(term, document, weight)`.
fn weighed(
    occurrences: &[(u32, u8)],
    documents: &[(usize, [u32; FIELDS])],
    places: &[u32],
) -> Vec<(u32, Posting)> {
    let average = average_lengths(documents);
    let mut result: Vec<(u32, Posting)> = Vec::with_capacity(occurrences.len());
    let mut own: Vec<(u32, u8)> = Vec::new();
    let mut from = 0;
    for (document, (to, lengths)) in (0_u32..).zip(documents) {
        own.clear();
        own.extend(
            occurrences[from..*to]
                .iter()
                .map(|(id, f)| (places[*id as usize], *f)),
        );
        own.sort_unstable();
        for same in own.chunk_by(|a, b| a.0 == b.0) {
            let weight = same
                .iter()
                .map(|(_, f)| occurrence_weight(*f, lengths, &average))
                .sum();
            let in_name = same.iter().any(|(_, field)| usize::from(*field) == NAME);
            let posting = Posting {
                document,
                weight,
                in_name,
            };
            result.push((same[0].0, posting));
        }
        from = *to;
    }
    result
}

fn occurrence_weight(field: u8, lengths: &[u32; FIELDS], average: &[f32; FIELDS]) -> f32 {
    let field = usize::from(field);
    let share = LENGTH_WEIGHTS[field];
    let relative = lengths[field] as f32 / average[field].max(1.0);
    WEIGHTS[field] / (1.0 - share + share * relative)
}

fn average_lengths(documents: &[(usize, [u32; FIELDS])]) -> [f32; FIELDS] {
    std::array::from_fn(|field| {
        let filled = documents.iter().filter(|(_, lengths)| lengths[field] > 0);
        let (sum, count) = filled.fold((0_u64, 0_u64), |(sum, count), (_, lengths)| {
            (sum + u64::from(lengths[field]), count + 1)
        });
        sum as f32 / count.max(1) as f32
    })
}

/// How telling a term is that so many of the documents have.
fn rarity(documents: usize, found_in: usize) -> f32 {
    let (documents, found_in) = (documents as f32, found_in as f32);
    (1.0 + (documents - found_in + 0.5) / (found_in + 0.5)).ln()
}

/// Postings grouped by term, with everything but the query worked into their weights.
fn inverted(
    by_document: &[(u32, Posting)],
    terms: usize,
    documents: usize,
) -> (Vec<u32>, Vec<Posting>) {
    let mut starts = vec![0_u32; terms + 1];
    for (term, _) in by_document {
        starts[*term as usize + 1] += 1;
    }
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    let counts = starts.windows(2).map(|pair| (pair[1] - pair[0]) as usize);
    let rarities: Vec<f32> = counts.map(|count| rarity(documents, count)).collect();
    let names = name_rarities(by_document, &rarities, documents);
    let empty = Posting {
        document: 0,
        weight: 0.0,
        in_name: false,
    };
    let mut postings = vec![empty; by_document.len()];
    let mut next = starts.clone();
    for (term, posting) in by_document {
        let term = *term as usize;
        let share = if posting.in_name {
            NAME_COVERED / names[posting.document as usize]
        } else {
            0.0
        };
        let saturated = posting.weight / (SATURATION + posting.weight);
        postings[next[term] as usize] = Posting {
            weight: rarities[term] * (saturated + share),
            ..*posting
        };
        next[term] += 1;
    }
    (starts, postings)
}

/// The rarities of all terms of each document's name together.
fn name_rarities(by_document: &[(u32, Posting)], rarities: &[f32], documents: usize) -> Vec<f32> {
    let mut sums = vec![f32::MIN_POSITIVE; documents];
    for (term, posting) in by_document {
        if posting.in_name {
            sums[posting.document as usize] += rarities[*term as usize];
        }
    }
    sums
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
