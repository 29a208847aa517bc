//! From what a program wrote to the one tool that it meant, or to an error that helps.
//!
//! Nothing is guessed: a near name is advice in an error, never a match.

use crate::catalog::Catalog;
use crate::entry::Entry;
use crate::id::Source;
use crate::near;
use crate::search::Scope;

/// The most near names in one error.
pub const MAX_NEAR_NAMES: usize = 3;

/// The most ids that an error about an ambiguous name lists.
const MAX_SHOWN_IDS: usize = 8;

/// The most characters of an unknown name that an error repeats.
const MAX_SHOWN_CHARS: usize = 120;

/// Why an id or name leads to no tool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ResolveError {
    /// No tool has this id or name.
    #[error("unknown tool `{name}`.{}", near_hint(.near))]
    Unknown {
        /// What was asked for, cut to a bounded length.
        name: String,
        /// Up to [`MAX_NEAR_NAMES`] names that are close, best first, each as it is called.
        near: Vec<String>,
    },
    /// Several tools have this name.
    #[error("`{name}` names several tools. Use one of these ids: {}", .ids.join(", "))]
    Ambiguous {
        /// The name.
        name: String,
        /// The ids that it could mean, at most eight.
        ids: Vec<String>,
    },
    /// The tool belongs to an MCP server, which `tools` does not show.
    #[error("`{name}` is a tool of an MCP server; call it as {spelling}({{...}})")]
    Mcp {
        /// The id or name that was asked for.
        name: String,
        /// `MCP.<server>.<tool>`; up to three of them, joined by "or", when several servers have it.
        spelling: String,
    },
}

fn near_hint(near: &[String]) -> String {
    match near {
        [] => " Find tools with tools.search(\"keywords\").".to_owned(),
        near => format!(" Did you mean {}?", near.join(", ")),
    }
}

pub(crate) fn resolve<'a>(
    catalog: &'a Catalog,
    asked: &str,
    scope: Scope,
) -> Result<&'a Entry, ResolveError> {
    let entry = |at: usize| &catalog.entries()[at];
    let found: Vec<usize> = match catalog.position(asked) {
        Some(at) => vec![at],
        None => catalog.positions_named(asked).to_vec(),
    };
    let (inside, outside): (Vec<usize>, Vec<usize>) = found
        .into_iter()
        .partition(|&at| scope.admits(entry(at).source()));
    match (inside.as_slice(), outside.as_slice()) {
        ([one], _) => Ok(entry(*one)),
        ([], []) => Err(unknown(catalog, asked, scope)),
        ([], outside) if scope == Scope::NonMcp => Err(ResolveError::Mcp {
            name: shown(asked),
            spelling: spellings(catalog, outside),
        }),
        ([], _) => Err(unknown(catalog, asked, scope)),
        (several, _) => Err(ResolveError::Ambiguous {
            name: shown(asked),
            ids: several
                .iter()
                .take(MAX_SHOWN_IDS)
                .map(|&at| entry(at).id.to_string())
                .collect(),
        }),
    }
}

fn spellings(catalog: &Catalog, places: &[usize]) -> String {
    let spelled = places.iter().filter_map(|&at| catalog.mcp_spelling_at(at));
    spelled
        .take(MAX_NEAR_NAMES)
        .collect::<Vec<_>>()
        .join(" or ")
}

fn unknown(catalog: &Catalog, asked: &str, scope: Scope) -> ResolveError {
    ResolveError::Unknown {
        name: shown(asked),
        near: near_names(catalog, asked, scope),
    }
}

fn shown(asked: &str) -> String {
    asked
        .chars()
        .filter(|c| !c.is_control())
        .take(MAX_SHOWN_CHARS)
        .collect()
}

/// The names closest to what was asked for, each in the spelling that works where it was asked.
fn near_names(catalog: &Catalog, asked: &str, scope: Scope) -> Vec<String> {
    // What follows the last colon: someone who got an id's owner wrong still means its tool.
    let wanted = near::Needle::new(asked.rsplit(':').next().unwrap_or(asked));
    let mut ranked: Vec<(u32, usize)> = catalog
        .entries()
        .iter()
        .enumerate()
        // The guest's program may call MCP tools too, so their spelling is good advice to it.
        .filter(|(_, entry)| scope == Scope::NonMcp || scope.admits(entry.source()))
        .filter_map(|(at, entry)| Some((wanted.distance(entry.name())?, at)))
        .collect();
    ranked.sort_unstable();
    ranked.truncate(MAX_NEAR_NAMES);
    ranked
        .into_iter()
        .map(|(_, at)| callable(catalog, at, scope))
        .collect()
}

fn callable(catalog: &Catalog, at: usize, scope: Scope) -> String {
    let entry = &catalog.entries()[at];
    let short = match (entry.source(), scope) {
        (Source::Mcp, Scope::NonMcp) => catalog.mcp_spelling_at(at),
        _ => catalog.safe_name_at(at),
    };
    short.unwrap_or(entry.id.as_str()).to_owned()
}
