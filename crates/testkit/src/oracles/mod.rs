//! What must hold of a parser or decoder whatever it is given: the oracles of the fuzz targets, which
//! property tests share.
//!
//! Each takes bytes and panics when something does not hold. None knows where the bytes come from. The
//! table says which there are; `fuzz/` has one target for each, and a folder of inputs that were worth
//! keeping.

#![expect(clippy::panic, reason = "an oracle says what it found by a panic")]

mod bridge;
mod servers;
mod settings;
mod text;
mod tools;

pub use bridge::{frames, json, snapshot};
pub use servers::{declarations, lines, sse};
pub use settings::{config, foreign};
pub use text::{module_access, typescript};
pub use tools::{patch, schema, search};

/// An oracle.
pub type Oracle = fn(&[u8]);

/// Every oracle by the name of its fuzz target.
pub const ORACLES: &[(&str, Oracle)] = &[
    ("frames", frames),
    ("snapshot", snapshot),
    ("json", json),
    ("typescript", typescript),
    ("module_access", module_access),
    ("schema", schema),
    ("search", search),
    ("config", config),
    ("patch", patch),
    ("foreign", foreign),
    ("lines", lines),
    ("sse", sse),
    ("declarations", declarations),
];

/// The text of these bytes, with a mark where they are none.
fn text_of(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}
