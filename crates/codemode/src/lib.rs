//! Code mode: `exec` and `wait`, cells, the bridge, the ledger, suspended runs.
//!
//! A cell is one program from its `exec` to its last result. Its guest code runs on the sandbox's
//! threads, its tools on the async runtime; between them stands one state machine per cell that
//! queues calls, keeps the ledger and orders replies. This crate knows no model provider, no
//! terminal and no configuration file; time and randomness come in as traits.
//!
//! Invariants:
//!
//! * Guest code never runs on the async runtime's threads, and tools never on a guest's.
//! * A call is in the ledger before the executor sees it; nothing is handed over twice.
//! * Kinds of failure come from what the host knows; a guest's words are quoted, not believed.
//! * Every task belongs to a cell, and ends with it.

#![forbid(unsafe_code)]

mod advice;
mod binary;
mod calls;
mod catalog_facts;
mod cell;
mod clock;
mod code_mode;
mod cut;
mod deep_json;
mod describe;
mod dispatch;
mod durable;
mod exec_hook;
mod failure;
mod guest_error;
mod held;
mod history;
mod host_calls;
mod idle_clock;
mod job;
mod ledger;
mod leg;
mod leg_clock;
mod limits;
mod mcp_api;
mod mcp_result;
mod options;
mod outcome;
mod output;
mod park;
mod provision;
mod reply;
mod results;
mod run_results;
mod run_state;
mod saved;
mod scope;
mod services;
mod shape;
mod shelf;
mod surface;
mod values;
mod waits;

pub use advice::advise;
pub use clock::{Clock, OsRandomness, Randomness, SystemClock};
pub use code_mode::CodeMode;
pub use describe::{exec_description, surface_tools, wait_description};
pub use durable::{
    CellReport, Done, Ownership, RECORD_MAGIC, RECORD_VERSION, RecordFault, RecordSink,
    ReplayOptions, Replayed, RowState, SnapshotStore, StoreError, StoredCell, StoredRecord,
    StoredRow, StoredValue, ValueChange, Write, record_entry, record_head, survey,
};
pub use exec_hook::{EXEC_TOOL_KIND, ExecEvent, ExecHook};
pub use limits::{INTERNAL_LIMITS, InternalLimit, render_markdown as render_limits};
pub use options::{CodeModeOptions, OutputOverflow, Park};
pub use outcome::CellOutcome;
pub use scope::{RunContext, Scope};
pub use services::{CodeModeParts, ProcessLimits, SnapshotTransport};
pub use surface::CodeModeSurface;
