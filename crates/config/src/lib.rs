//! Configuration: from JSON5 text to checked and clamped options.
//!
//! The way is always the same: text, then raw values with `$include` and `${VAR}` resolved, then
//! overrides on top, then one walk over the [table of keys](keys) that refuses what it does not
//! know, then options whose invariants hold ([`Config`]). Every value remembers where it came from.
//!
//! The crate reads no file and no environment itself: [`Sources`] brings them in. It knows the
//! names of keys, not what they are for; whoever uses an option converts it. The invariant: a
//! [`Config`] exists only if every key in it is known, every type right and every limit inside its
//! clamp; nothing that restricts rights is ever ignored in silence.

#![forbid(unsafe_code)]

mod build;
mod check;
mod document;
mod edit;
mod error;
mod foreign;
pub mod keys;
mod load;
mod options;
mod outline;
mod path;
mod schema;
mod servers;

pub use document::{MAX_CONFIG_BYTES, MAX_CONFIG_DEPTH, MAX_INCLUDE_DEPTH, Sources};
pub use edit::{remove_from_text, set_in_text};
pub use error::{ConfigError, Origin};
pub use foreign::{Foreign, ForeignServer, RefusedServer, VariableUse, Variables, read_servers};
pub use load::{LoadRequest, Loaded, Override, Report, load};
pub use options::{
    AgentOptions, AskFallback, Clamped, CodeModeOptions, Config, Enabled, ExecOptions, Language,
    McpEndpoint, McpOAuth, McpServerOptions, OutputOverflow, Setting, SnapshotStore, StoreKind,
    ToolRules, WebFetchOptions,
};
pub use path::{KeyPath, Segment};
pub use schema::{clamp_table_markdown, schema};
