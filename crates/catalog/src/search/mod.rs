//! Ranked search over the catalog.
//!
//! The ranking is described, with its reasons, in docs/technical/search-ranking.md. It is
//! deterministic: equal catalogs and queries give equal lists, ties are broken by id. It reads the
//! parameters of trusted entries only.

mod document;
mod index;
mod interner;
mod query;
mod readings;
mod scores;
mod sentences;
mod stem;
pub(crate) mod text;
mod vectors;
mod weigh;

pub(crate) use index::Index;
pub(crate) use readings::{Read, Readings};

use crate::entry::Entry;
use crate::id::Source;

/// The most hits of one search.
pub const MAX_SEARCH_LIMIT: usize = 50;

/// The most queries of one request; those beyond are ignored.
pub const MAX_QUERIES: usize = 16;

/// The part of one query that counts, in bytes.
pub const MAX_QUERY_BYTES: usize = 2_000;

/// Which entries an operation sees.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Scope {
    /// What the guest's `tools` sees.
    NonMcp,
    /// What the guest's `API` sees.
    Mcp,
    /// Everything.
    All,
}

impl Scope {
    /// Whether entries of this source are seen.
    pub fn admits(self, source: Source) -> bool {
        match self {
            Self::NonMcp => source != Source::Mcp,
            Self::Mcp => source == Source::Mcp,
            Self::All => true,
        }
    }
}

/// What to search for.
#[derive(Clone, Debug)]
pub struct SearchRequest {
    /// Keywords, guessed names or sentences; several are ranked apart and merged, the best rank
    /// first. An empty list, or nothing but blanks, gives the first entries in catalog order.
    pub queries: Vec<String>,
    /// The most hits, at most [`MAX_SEARCH_LIMIT`].
    pub limit: usize,
    /// Which entries are searched.
    pub scope: Scope,
}

/// One result of a search.
#[derive(Clone, Debug)]
pub struct Hit<'a> {
    /// The entry.
    pub entry: &'a Entry,
    /// Its score; larger is better, comparable within one search only.
    pub score: f32,
    /// The input as a one-line type.
    pub input: String,
    /// The value as a one-line type, if the tool declares it.
    pub output: Option<String>,
}
