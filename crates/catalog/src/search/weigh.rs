//! From occurrences to postings: how much each term counts in each document (BM25F).
//!
//! Everything that does not depend on the query is worked into the postings here.

use std::sync::Arc;

use super::document::{
    DESCRIPTION, Document, FIELDS, LABEL, NAME, OUTPUT, OWNER, PARAMETER_NAMES, PARAMETERS, VALUES,
};

/// How fast repetitions of a term stop counting.
const SATURATION: f32 = 2.0;

/// What a document's score grows by, at most, for the share of its name that the query mentions.
const NAME_COVERED: f32 = 2.0;

/// How much one occurrence counts, by field.
const WEIGHTS: [f32; FIELDS] = {
    let mut weights = [0.0; FIELDS];
    weights[NAME] = 3.0;
    weights[LABEL] = 2.0;
    weights[OWNER] = 2.0;
    weights[DESCRIPTION] = 1.0;
    weights[PARAMETER_NAMES] = 0.7;
    weights[PARAMETERS] = 0.7;
    weights[VALUES] = 0.7;
    weights[OUTPUT] = 0.5;
    weights
};

/// How much a field's length counts, by field: names are short by nature.
const LENGTH_WEIGHTS: [f32; FIELDS] = {
    let mut weights = [0.6; FIELDS];
    weights[NAME] = 0.3;
    weights[LABEL] = 0.3;
    weights[OWNER] = 0.0;
    weights
};

/// One term in one document.
#[derive(Clone, Copy, Debug)]
pub(super) struct Posting {
    pub(super) document: u32,
    /// Holds rarity and saturation already.
    pub(super) weight: f32,
}

/// The postings of all terms.
#[derive(Debug)]
pub(super) struct Postings {
    /// For each term where its postings start; one more at the end.
    starts: Vec<u32>,
    postings: Vec<Posting>,
}

impl Postings {
    pub(super) fn of(&self, term: usize) -> &[Posting] {
        &self.postings[self.starts[term] as usize..self.starts[term + 1] as usize]
    }

    /// Weighs the terms of the documents; `places` gives each term its place in the index, and
    /// `counts` each place the number of documents that have the term.
    pub(super) fn weigh(documents: &[Arc<Document>], places: &[u32], counts: &[u32]) -> Self {
        let scales = scales(documents);
        let rarities = counts
            .iter()
            .map(|&count| rarity(documents.len(), count as usize));
        let rarities: Vec<f32> = rarities.collect();
        let starts = starts(counts);
        let mut next = starts.clone();
        let mut postings = vec![Posting::NONE; starts.last().map_or(0, |&end| end as usize)];
        for (number, document) in (0_u32..).zip(documents) {
            let weights = occurrence_weights(&document.lengths, &scales);
            let name = NAME_COVERED / name_rarity(document, places, &rarities);
            for each in &document.uses {
                let place = places[each.term as usize] as usize;
                let weight = weight(&each.counts, &weights);
                let share = match each.counts[NAME] {
                    0 => 0.0,
                    _ => name,
                };
                let at = &mut next[place];
                postings[*at as usize] = Posting {
                    document: number,
                    weight: rarities[place] * (weight / (SATURATION + weight) + share),
                };
                *at += 1;
            }
        }
        Self { starts, postings }
    }
}

impl Posting {
    const NONE: Self = Self {
        document: 0,
        weight: 0.0,
    };
}

/// How telling a term is that so many of the documents have.
pub(super) fn rarity(documents: usize, found_in: usize) -> f32 {
    let (documents, found_in) = (documents as f32, found_in as f32);
    (1.0 + (documents - found_in + 0.5) / (found_in + 0.5)).ln()
}

/// One by the average length of each field, over the documents that have it.
fn scales(documents: &[Arc<Document>]) -> [f32; FIELDS] {
    std::array::from_fn(|field| {
        let filled = documents.iter().filter(|d| d.lengths[field] > 0);
        let (sum, count) = filled.fold((0_u64, 0_u64), |(sum, count), document| {
            (sum + u64::from(document.lengths[field]), count + 1)
        });
        (sum as f32 / count.max(1) as f32).max(1.0).recip()
    })
}

fn occurrence_weights(lengths: &[u32; FIELDS], scales: &[f32; FIELDS]) -> [f32; FIELDS] {
    std::array::from_fn(|field| {
        let share = LENGTH_WEIGHTS[field];
        let relative = lengths[field] as f32 * scales[field];
        WEIGHTS[field] / (1.0 - share + share * relative)
    })
}

fn weight(counts: &[u8; FIELDS], weights: &[f32; FIELDS]) -> f32 {
    let each = counts.iter().zip(weights);
    each.map(|(&count, weight)| f32::from(count) * weight).sum()
}

/// Where the postings of each place start, and where the last ones end.
fn starts(counts: &[u32]) -> Vec<u32> {
    let mut end = 0;
    let ends = counts.iter().map(|count| {
        end += count;
        end
    });
    std::iter::once(0).chain(ends).collect()
}

/// The rarities of all terms of a document's name together.
fn name_rarity(document: &Document, places: &[u32], rarities: &[f32]) -> f32 {
    let in_name = document.uses.iter().filter(|each| each.counts[NAME] > 0);
    in_name
        .map(|each| rarities[places[each.term as usize] as usize])
        .fold(f32::MIN_POSITIVE, |sum, rarity| sum + rarity)
}
