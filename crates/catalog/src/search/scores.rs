//! What each document scores for a query: words (BM25F) and meaning, for the whole and by sentence.
//!
//! Words and meaning are each counted in shares of the best document, then added. Documents that are
//! not seen score nothing and make no best. One text costs the postings of its terms and a pass over the
//! meanings.

use super::index::Index;
use super::query::QueryWords;
use super::sentences;
use super::stem::stem;
use super::weigh::rarity;

/// By how much the score of a document with all of the query's terms is raised over the sum.
const QUERY_COVERED: f32 = 4.0;

/// How much two neighbouring words of a query count as one.
const PAIR_FACTOR: f32 = 0.5;

/// How much meaning counts beside words: the most of either is one.
const MEANING_FACTOR: f32 = 1.0;

/// How alike a document must be that has none of the query's words.
const ALIKE_AT_LEAST: f32 = 0.1;

/// How alike the best document must be to count fully: less is chance.
const ALIKE_FULLY: f32 = 0.4;

/// How much the best sentence counts beside the whole query.
const SENTENCE_FACTOR: f32 = 1.5;

/// The shortest unknown word that stands for the terms which it begins, how many of them, and how
/// much less they count.
const MIN_PREFIX_CHARS: usize = 4;
const MAX_PREFIX_TERMS: usize = 8;
const PREFIX_FACTOR: f32 = 0.5;

impl Index {
    /// The score of every document for a query, names aside: for the whole, and for the sentence
    /// of it that fits best.
    pub(super) fn scores(&self, query: &str, visible: &[bool]) -> Vec<f32> {
        let mut scores = self.part_scores(&QueryWords::of(query), visible);
        let mut best: Option<Vec<f32>> = None;
        // One word alone says too little, unless it is an alternative.
        let least = if query.contains('|') { 1 } else { 2 };
        for part in sentences::parts(query) {
            let words = QueryWords::of(part);
            if words.telling().count() < least {
                continue;
            }
            let part = self.part_scores(&words, visible);
            match &mut best {
                None => best = Some(part),
                Some(best) => best
                    .iter_mut()
                    .zip(part)
                    .for_each(|(b, p)| *b = larger(*b, p)),
            }
        }
        for (score, best) in scores.iter_mut().zip(best.into_iter().flatten()) {
            *score += SENTENCE_FACTOR * best;
        }
        scores
    }

    /// The scores for one text, in shares of the best of the visible documents.
    fn part_scores(&self, words: &QueryWords, visible: &[bool]) -> Vec<f32> {
        let mut scores = self.word_scores(words);
        hide(&mut scores, visible);
        scale(&mut scores);
        let Some(meaning) = words.meaning() else {
            return scores;
        };
        let mut alike: Vec<f32> = self.meanings.alike(&meaning).collect();
        hide(&mut alike, visible);
        let factor = MEANING_FACTOR / larger(largest(&alike), ALIKE_FULLY);
        for (score, &alike) in scores.iter_mut().zip(&alike) {
            let least = if *score > 0.0 { 0.0 } else { ALIKE_AT_LEAST };
            *score += if alike >= least { factor * alike } else { 0.0 };
        }
        scale(&mut scores);
        scores
    }

    /// The sum over the words of a text, raised by how many of them a document has.
    fn word_scores(&self, words: &QueryWords) -> Vec<f32> {
        let mut sums = vec![[0.0_f32; 2]; self.documents()];
        let mut asked = 0.0;
        for (term, factor) in self.query_terms(words) {
            let postings = self.postings.of(term);
            let telling = factor * rarity(sums.len(), postings.len());
            asked += telling;
            for posting in postings {
                let [score, covered] = &mut sums[posting.document as usize];
                *score += factor * posting.weight;
                *covered += telling;
            }
        }
        // Where no word is known there is nothing to raise, nor to divide by.
        let by_share = if asked > 0.0 {
            QUERY_COVERED / asked
        } else {
            0.0
        };
        let raised = |[score, covered]: [f32; 2]| score * (1.0 + by_share * covered);
        sums.into_iter().map(raised).collect()
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
}

fn add(terms: &mut Vec<(usize, f32)>, term: usize, factor: f32) {
    if !terms.iter().any(|(known, _)| *known == term) {
        terms.push((term, factor));
    }
}

fn hide(scores: &mut [f32], visible: &[bool]) {
    for (score, visible) in scores.iter_mut().zip(visible) {
        *score = if *visible { *score } else { 0.0 };
    }
}

/// Makes the best score one.
fn scale(scores: &mut [f32]) {
    let best = largest(scores);
    if best > 0.0 {
        scores.iter_mut().for_each(|score| *score /= best);
    }
}

/// Of two numbers, neither of which is none: a form that the compiler does for several at once.
fn larger(a: f32, b: f32) -> f32 {
    if b > a { b } else { a }
}

/// The largest of these, at least zero.
fn largest(scores: &[f32]) -> f32 {
    let (chunks, rest) = scores.as_chunks::<8>();
    let lanes = chunks.iter().fold([0.0; 8], |best: [f32; 8], chunk| {
        std::array::from_fn(|lane| larger(best[lane], chunk[lane]))
    });
    let rest = rest.iter().copied();
    lanes.into_iter().chain(rest).fold(0.0, larger)
}
