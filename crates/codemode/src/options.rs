//! What a run can set about code mode, as plain numbers with documented ranges.
//!
//! The configuration room parses and reports; this type only makes sure that no value outside its
//! range is ever used: [`CodeModeOptions::clamped`] is applied at the door of every `exec` and
//! `wait`, and by [`CodeModeOptions::tightened_by`].

use codecell_protocol::Language;
use serde::{Deserialize, Serialize};

/// What happens to output that is larger than `max_output_bytes`.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum OutputOverflow {
    /// The cell fails; the full value is kept as a saved result.
    #[default]
    Fail,
    /// The cell completes with a marked cut; the full value is kept as a saved result.
    Truncate,
}

/// When a cell is suspended.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
#[non_exhaustive]
pub enum Park {
    /// When it yields, and when calls are outstanding at the deadline.
    #[default]
    AsNeeded,
    /// Never: a cell that would have to be suspended fails. For callers to whom nobody could come
    /// back, such as a client without a name.
    Never,
    /// Whenever the guest is idle with calls or timers outstanding: it is snapshotted, dropped,
    /// encoded, decoded and restored, and goes on within the same `exec` or `wait`. For tests of
    /// suspension: the results must be those of a cell that was never parked. No configuration
    /// reaches it.
    EveryAwait,
}

/// Options of code mode for one run. `Default` is the contract's.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct CodeModeOptions {
    /// Languages that cells may be written in.
    pub languages: Vec<Language>,
    /// Wall clock of one `exec` or `wait`, in milliseconds: 100 to 60,000.
    pub timeout_ms: u64,
    /// The engine's allocations, in bytes: 1 MiB to 1 GiB.
    pub memory_limit_bytes: u64,
    /// Value, output and error of one result together, in UTF-8 bytes: 1 KiB to 10 MiB.
    pub max_output_bytes: u64,
    /// Raw delta of a suspended cell, in bytes: 1 KiB to 256 MiB.
    pub max_snapshot_bytes: u64,
    /// Calls in flight: 1 to 128.
    pub max_pending_tool_calls: u64,
    /// Idle time of a suspended cell, in seconds: 1 to 86,400.
    pub snapshot_ttl_seconds: u64,
    /// Hits of a search that names no limit: 1 to `max_search_limit`.
    pub search_default_limit: u64,
    /// Hits of any search: 1 to 50.
    pub max_search_limit: u64,
    /// Suspended cells of the process: 1 to 1,000,000.
    pub max_suspended_runs: u64,
    /// What happens to output that is too large.
    pub output_overflow: OutputOverflow,
    /// Characters of the catalog's index in the description of `exec`: 0 to 65,536.
    pub prompt_index_chars: u64,
    /// Processor time of guest code over all legs of a cell, in milliseconds: 100 to 600,000.
    pub max_guest_ms: u64,
    /// How long an answer may be held back for an approval, in milliseconds: 0 to 600,000;
    /// `None` for no bound, for a person at a terminal.
    pub approval_hold_ms: Option<u64>,
    /// When an approval expires by itself, in seconds: 60 to 604,800.
    pub approval_ttl_seconds: u64,
    /// When cells are parked. No configuration reaches it.
    pub park: Park,
}

impl Default for CodeModeOptions {
    fn default() -> Self {
        Self {
            languages: vec![Language::JavaScript, Language::TypeScript],
            timeout_ms: 10_000,
            memory_limit_bytes: 64 << 20,
            max_output_bytes: 64 << 10,
            max_snapshot_bytes: 10 << 20,
            max_pending_tool_calls: 16,
            snapshot_ttl_seconds: 900,
            search_default_limit: 8,
            max_search_limit: 50,
            max_suspended_runs: 64,
            output_overflow: OutputOverflow::Fail,
            prompt_index_chars: 8000,
            max_guest_ms: 30_000,
            approval_hold_ms: Some(30_000),
            approval_ttl_seconds: 86_400,
            park: Park::AsNeeded,
        }
    }
}

impl CodeModeOptions {
    /// The same options with every number within its range.
    #[must_use]
    pub fn clamped(mut self) -> Self {
        self.timeout_ms = self.timeout_ms.clamp(100, 60_000);
        self.memory_limit_bytes = self.memory_limit_bytes.clamp(1 << 20, 1 << 30);
        self.max_output_bytes = self.max_output_bytes.clamp(1024, 10 << 20);
        self.max_snapshot_bytes = self.max_snapshot_bytes.clamp(1024, 256 << 20);
        self.max_pending_tool_calls = self.max_pending_tool_calls.clamp(1, 128);
        self.snapshot_ttl_seconds = self.snapshot_ttl_seconds.clamp(1, 86_400);
        self.max_search_limit = self.max_search_limit.clamp(1, 50);
        self.search_default_limit = self.search_default_limit.clamp(1, self.max_search_limit);
        self.max_suspended_runs = self.max_suspended_runs.clamp(1, 1_000_000);
        self.prompt_index_chars = self.prompt_index_chars.min(65_536);
        self.max_guest_ms = self.max_guest_ms.clamp(100, 600_000);
        self.approval_hold_ms = self.approval_hold_ms.map(|hold| hold.min(600_000));
        self.approval_ttl_seconds = self.approval_ttl_seconds.clamp(60, 604_800);
        self
    }

    /// These options, the cell's of its start, with every limit that is tighter now. Memory cannot
    /// shrink under a living guest and stays.
    pub(crate) fn tightened_by(&self, now: &Self) -> Self {
        let mut both = self.clone();
        both.timeout_ms = now.timeout_ms;
        both.max_output_bytes = both.max_output_bytes.min(now.max_output_bytes);
        both.max_snapshot_bytes = both.max_snapshot_bytes.min(now.max_snapshot_bytes);
        both.max_pending_tool_calls = both.max_pending_tool_calls.min(now.max_pending_tool_calls);
        both.snapshot_ttl_seconds = both.snapshot_ttl_seconds.min(now.snapshot_ttl_seconds);
        both.max_search_limit = both.max_search_limit.min(now.max_search_limit);
        both.max_suspended_runs = now.max_suspended_runs;
        both.output_overflow = now.output_overflow;
        both.max_guest_ms = both.max_guest_ms.min(now.max_guest_ms);
        both.approval_hold_ms = now.approval_hold_ms;
        both.approval_ttl_seconds = both.approval_ttl_seconds.min(now.approval_ttl_seconds);
        both.park = now.park;
        both.clamped()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_defaults_are_within_their_ranges() {
        let options = CodeModeOptions::default();
        assert_eq!(options.clone().clamped(), options);
    }

    #[test]
    fn numbers_outside_are_pulled_in_and_those_at_the_edge_stay() {
        let low = CodeModeOptions {
            timeout_ms: 0,
            memory_limit_bytes: 0,
            max_output_bytes: 0,
            max_snapshot_bytes: 0,
            max_pending_tool_calls: 0,
            snapshot_ttl_seconds: 0,
            search_default_limit: 0,
            max_search_limit: 0,
            max_suspended_runs: 0,
            prompt_index_chars: 0,
            max_guest_ms: 0,
            approval_hold_ms: Some(0),
            approval_ttl_seconds: 0,
            ..CodeModeOptions::default()
        }
        .clamped();
        assert_eq!(
            (low.timeout_ms, low.memory_limit_bytes, low.max_output_bytes),
            (100, 1 << 20, 1024)
        );
        assert_eq!(
            (low.max_snapshot_bytes, low.max_pending_tool_calls),
            (1024, 1)
        );
        assert_eq!(
            (
                low.snapshot_ttl_seconds,
                low.search_default_limit,
                low.max_search_limit
            ),
            (1, 1, 1)
        );
        assert_eq!(
            (
                low.max_suspended_runs,
                low.max_guest_ms,
                low.approval_ttl_seconds
            ),
            (1, 100, 60)
        );
        let high = CodeModeOptions {
            timeout_ms: u64::MAX,
            memory_limit_bytes: u64::MAX,
            max_output_bytes: u64::MAX,
            max_snapshot_bytes: u64::MAX,
            max_pending_tool_calls: u64::MAX,
            snapshot_ttl_seconds: u64::MAX,
            search_default_limit: u64::MAX,
            max_search_limit: u64::MAX,
            max_suspended_runs: u64::MAX,
            prompt_index_chars: u64::MAX,
            max_guest_ms: u64::MAX,
            approval_hold_ms: Some(u64::MAX),
            approval_ttl_seconds: u64::MAX,
            ..CodeModeOptions::default()
        }
        .clamped();
        assert_eq!(
            (
                high.timeout_ms,
                high.memory_limit_bytes,
                high.max_output_bytes
            ),
            (60_000, 1 << 30, 10 << 20)
        );
        assert_eq!(
            (high.max_snapshot_bytes, high.max_pending_tool_calls),
            (256 << 20, 128)
        );
        assert_eq!(
            (
                high.snapshot_ttl_seconds,
                high.search_default_limit,
                high.max_search_limit
            ),
            (86_400, 50, 50)
        );
        assert_eq!(
            (
                high.max_suspended_runs,
                high.prompt_index_chars,
                high.max_guest_ms
            ),
            (1_000_000, 65_536, 600_000)
        );
        assert_eq!(
            (high.approval_hold_ms, high.approval_ttl_seconds),
            (Some(600_000), 604_800)
        );
        assert_eq!(high.clone().clamped(), high);
        assert_eq!(low.clone().clamped(), low);
    }

    #[test]
    fn a_resumed_cell_gets_the_tighter_limits() {
        let start = CodeModeOptions::default();
        let now = CodeModeOptions {
            max_output_bytes: 2048,
            max_pending_tool_calls: 128,
            memory_limit_bytes: 1 << 20,
            ..CodeModeOptions::default()
        };
        let both = start.tightened_by(&now);
        assert_eq!(
            (both.max_output_bytes, both.max_pending_tool_calls),
            (2048, 16)
        );
        assert_eq!(both.memory_limit_bytes, 64 << 20);
    }
}
