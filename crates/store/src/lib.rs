//! Cells that outlive their process: the embedded database, its key and its locks.
//!
//! The one room that names SQLite. It keeps what `codemode` gives it and knows nothing of what it
//! means: each record is sealed with a key that only the owner of the state folder can read, bound to
//! its cell, number and kind, and a change is there whole or not at all.
//!
//! Invariants:
//!
//! * A write is reported as done only after the disk has confirmed it.
//! * The records of a cell have no gap: what does not follow the last stored one is refused.
//! * One process at a time owns a cell, by a lock of the operating system that ends with the process.
//! * Nothing that a program wrote, or a tool returned, is in any file in the clear.

#![forbid(unsafe_code)]

mod key;
mod locks;
mod schema;
mod seal;
mod sqlite;
mod writer;

pub use key::KeyError;
pub use sqlite::{OpenError, SqliteStore, StorePlaces};
