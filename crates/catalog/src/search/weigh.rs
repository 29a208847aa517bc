//! From occurrences to postings: how much each term counts in each document (BM25F).
//!
//! Everything that does not depend on the query is worked into the postings here.

use super::collect::{
    Collector, DESCRIPTION, Document, FIELDS, LABEL, NAME, OUTPUT, OWNER, PARAMETER_NAMES,
    PARAMETERS, VALUES,
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

    /// Weighs what was collected; `places` gives each term its place in the index.
    pub(super) fn weigh(collected: &Collector, places: &[u32]) -> Self {
        let own = gathered(collected, places);
        let starts = starts(&own, places.len());
        let documents = collected.documents.len();
        let counts = starts.windows(2).map(|pair| (pair[1] - pair[0]) as usize);
        let rarities: Vec<f32> = counts.map(|count| rarity(documents, count)).collect();
        let names = name_rarities(&own, &rarities, documents);
        let mut postings = vec![Posting::NONE; own.len()];
        let mut next = starts.clone();
        for gathered in &own {
            let term = gathered.term as usize;
            let share = match gathered.in_name {
                true => NAME_COVERED / names[gathered.document as usize],
                false => 0.0,
            };
            let saturated = gathered.weight / (SATURATION + gathered.weight);
            postings[next[term] as usize] = Posting {
                document: gathered.document,
                weight: rarities[term] * (saturated + share),
            };
            next[term] += 1;
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

/// A term's occurrences in one document, put together.
struct Gathered {
    term: u32,
    document: u32,
    weight: f32,
    in_name: bool,
}

/// Every term of every document once, document after document.
fn gathered(collected: &Collector, places: &[u32]) -> Vec<Gathered> {
    const NOWHERE: u32 = u32::MAX;
    let scales = scales(&collected.documents);
    let mut result: Vec<Gathered> = Vec::with_capacity(collected.occurrences.len() / 2);
    // Where each term stands in `result`, if it is at or after the document's first.
    let mut last = vec![NOWHERE; places.len()];
    let mut from = 0;
    for (document, collected_document) in (0_u32..).zip(&collected.documents) {
        let weights = occurrence_weights(&collected_document.lengths, &scales);
        let first = result.len();
        for &(term, field) in &collected.occurrences[from..collected_document.end] {
            let weight = weights[usize::from(field)];
            let in_name = usize::from(field) == NAME;
            let place = &mut last[term as usize];
            match result.get_mut(*place as usize) {
                Some(known) if *place as usize >= first => {
                    known.weight += weight;
                    known.in_name |= in_name;
                }
                _ => {
                    *place = u32::try_from(result.len()).unwrap_or(NOWHERE);
                    result.push(Gathered {
                        term: places[term as usize],
                        document,
                        weight,
                        in_name,
                    });
                }
            }
        }
        from = collected_document.end;
    }
    result
}

/// One by the average length of each field, over the documents that have it.
fn scales(documents: &[Document]) -> [f32; FIELDS] {
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

fn starts(own: &[Gathered], terms: usize) -> Vec<u32> {
    let mut starts = vec![0_u32; terms + 1];
    for gathered in own {
        starts[gathered.term as usize + 1] += 1;
    }
    for at in 1..starts.len() {
        starts[at] += starts[at - 1];
    }
    starts
}

/// The rarities of all terms of each document's name together.
fn name_rarities(own: &[Gathered], rarities: &[f32], documents: usize) -> Vec<f32> {
    let mut sums = vec![f32::MIN_POSITIVE; documents];
    for gathered in own.iter().filter(|gathered| gathered.in_name) {
        sums[gathered.document as usize] += rarities[gathered.term as usize];
    }
    sums
}
