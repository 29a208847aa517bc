//! The catalog of a run: every effective tool with its id, names, signatures and search index.
//!
//! A [`Catalog`] is built once from the entries that survived policy and never changes afterwards;
//! it belongs to one run. It is pure and synchronous: it calls no tool, reads no file and knows
//! neither the sandbox nor the executor. The invariant that everything else relies on: what is not
//! in the entries given to [`Catalog::build`] cannot be listed, found, described or resolved.
//!
//! Text that comes from MCP servers and clients is data here. It is searched and described, but it
//! never enters [`Catalog::index_text`], which becomes part of a prompt.

#![forbid(unsafe_code)]

mod catalog;
mod declarations;
mod entry;
mod hash;
mod id;
mod mcp;
mod names;
mod near;
mod prompt_index;
mod resolve;
mod schema_type;
mod search;
mod signature;
mod type_text;

pub use catalog::{Catalog, CatalogError, MAX_ENTRIES, SourceCounts};
pub use declarations::{DeclarationFile, INDEX_PATH};
pub use entry::{CompactEntry, Description, Entry, Tier};
pub use hash::ContentHash;
pub use id::{IdError, MAX_NAME_BYTES, MAX_OWNER_BYTES, Source, ToolId};
pub use mcp::{McpLookupError, McpServer, McpSpace, Operation, mcp_spelling_of};
pub use names::{HELPER_NAMES, identifier, is_identifier};
pub use near::nearest;
pub use prompt_index::{DEFAULT_INDEX_CHARS, IndexOptions, MAX_INDEX_CHARS};
pub use resolve::{MAX_NEAR_NAMES, ResolveError};
pub use search::{Hit, MAX_QUERIES, MAX_QUERY_BYTES, MAX_SEARCH_LIMIT, Scope, SearchRequest};
pub use signature::{MAX_SIGNATURE_CHARS, UNDECLARED, input_signature, output_signature};
