//! Cells that outlive their process, and cells that are run again.
//!
//! One idea serves both: a cell's journal. It holds what the cell took in (seeds, clocks, replies in
//! the order of their delivery) and what the host decided about its calls. A guest is a function of
//! those, so the journal from the last suspension on brings a dead leg back to where it was, and the
//! journal from the beginning is a record that `replay` runs without any tool.
//!
//! Invariants:
//!
//! * An entry into the guest is committed before its first instruction, with all replies it delivers.
//! * A call that may change something is committed before the executor sees it.
//! * The result that says `waiting` is committed, snapshot and all, before anybody reads it.
//! * What a run that is repeated does is compared with what was recorded; a difference ends it.

mod journal;
mod record;
mod replay;
mod rerun;
mod revive;
mod state;
mod store;
mod tape;

pub(crate) use journal::Journal;
pub use journal::RecordSink;
pub(crate) use record::Identity;
pub(crate) use record::{Fate, Record, Replied, Step, kind_number, kind_of};
pub use replay::{
    RECORD_MAGIC, RECORD_VERSION, RecordFault, ReplayOptions, Replayed, record_entry, record_head,
};
pub(crate) use rerun::{Beginning, note_turn};
pub use revive::{CellReport, survey};
pub(crate) use revive::{
    age, end, hex, let_go, park, revive, scope_parts, suspend, sweep, tools_of_text, tools_to_text,
};
pub use store::{
    Done, Ownership, RowState, SnapshotStore, StoreError, StoredCell, StoredRecord, StoredRow,
    StoredValue, ValueChange, Write,
};
pub(crate) use tape::Tape;
