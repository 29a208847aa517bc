//! What every result tells about its cell besides the value.
//!
//! No tool input, environment value or secret is ever part of it.

use serde::{Deserialize, Serialize};

use crate::Language;

/// Entries of the catalog by source.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct SourceCounts {
    /// Core and plugin tools.
    pub openclaw: u32,
    /// Tools of MCP servers.
    pub mcp: u32,
    /// Tools that the client brought.
    pub client: u32,
}

/// How often a tool was called.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CalledTool {
    /// The catalog id.
    pub id: String,
    /// Calls so far.
    pub count: u32,
}

/// Durations and sizes; they stand in a result's details and never in the model's text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Timings {
    /// Processor time of guest code over the cell's life, in milliseconds.
    pub guest_ms: f64,
    /// Our own time in this leg outside the guest, waiting excluded, in milliseconds.
    pub host_ms: f64,
    /// Time to take the snapshot, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub suspend_ms: Option<f64>,
    /// Time to restore the snapshot, in milliseconds.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub resume_ms: Option<f64>,
}

/// Telemetry of a result. Counts are cumulative for the cell.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Telemetry {
    /// Entries in the catalog.
    pub catalog_size: u32,
    /// The same by source.
    pub sources: SourceCounts,
    /// Searches so far.
    pub search_count: u32,
    /// Descriptions so far.
    pub describe_count: u32,
    /// Tool calls so far.
    pub call_count: u32,
    /// The tools that the model sees.
    pub visible_tools: Vec<String>,
    /// The tools called, at most 32, in the order of their first call.
    pub called_tools: Vec<CalledTool>,
    /// The language that the program ran as, when that was inferred.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub inferred_language: Option<Language>,
    /// Raw bytes of the snapshot taken last.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub snapshot_bytes: Option<u64>,
    /// Bytes of that snapshot as it is kept, once known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub stored_bytes: Option<u64>,
    /// The most memory that the guest's engine had allocated, in bytes.
    pub peak_memory_bytes: u64,
    /// Durations; absent in the model's text.
    #[serde(flatten, default, skip_serializing_if = "Option::is_none")]
    pub timings: Option<Timings>,
}
