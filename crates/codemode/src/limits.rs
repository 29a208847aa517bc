//! The internal limits: one constant table, which the code reads and the documentation renders.
//!
//! What a person can configure is not here but in [`CodeModeOptions`](crate::CodeModeOptions). The
//! invariant: a limit that is derived from options says so in its row, and the function that
//! derives it stands next to the table.

use std::fmt::Write as _;

use crate::options::CodeModeOptions;

const MIB: u64 = 1024 * 1024;

/// One row of the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct InternalLimit {
    /// What is limited.
    pub name: &'static str,
    /// The number, in `unit`.
    pub default: u64,
    /// Its unit, in the plural.
    pub unit: &'static str,
    /// A tighter bound that follows from options, in words; empty when there is none.
    pub and_at_most: &'static str,
    /// What happens beyond it: a failure kind, or the error that the program can catch.
    pub overflow: &'static str,
}

macro_rules! limits {
    ($($(#[$doc:meta])* $ident:ident: $name:literal, $default:expr, $unit:literal, $at_most:literal, $overflow:literal;)*) => {
        $($(#[$doc])* pub(crate) const $ident: u64 = $default;)*

        /// Every internal limit, in the order of the documentation.
        pub const INTERNAL_LIMITS: &[InternalLimit] = &[$(InternalLimit {
            name: $name, default: $ident, unit: $unit, and_at_most: $at_most, overflow: $overflow,
        },)*];
    };
}

limits! {
    /// The longest program.
    SOURCE_BYTES: "source", 256 * 1024, "bytes", "", "`invalid_arguments`";
    /// The life of a cell, from its `exec` to its end.
    CELL_LIFE_SECONDS: "life of one cell", 24 * 60 * 60, "seconds", "", "`snapshot_expired`";
    /// One message over the bridge.
    MESSAGE_BYTES: "one bridge message, either way", 16 * MIB, "bytes", "memoryLimitBytes", "the call rejects";
    /// Replies that wait for their delivery.
    UNDELIVERED_BYTES: "replies waiting for delivery", 1024 * MIB, "bytes",
        "memoryLimitBytes and maxSnapshotBytes", "the call rejects with `reply_limit_exceeded`";
    /// Nesting of arguments, replies and values.
    JSON_DEPTH_LEVELS: "JSON depth", 512, "levels", "", "the call rejects, or `guest_error`";
    /// Calls that wait for their turn.
    QUEUED_CALLS: "queued calls", 16_384, "calls", "",
        "every call of the turn rejects with `too_many_pending_tool_calls`";
    /// The share of a cell's memory that the arguments of its queued calls may take: one part in so many.
    QUEUED_BYTES_SHARE: "arguments of queued calls, as a share of memoryLimitBytes: one in", 4, "parts", "",
        "every call of the turn rejects with `too_many_pending_tool_calls`";
    /// Live timers.
    TIMERS: "timers", 1024, "timers", "", "`setTimeout` throws";
    /// The share of `maxOutputBytes` that console text may take: one part in so many.
    CONSOLE_SHARE: "console text, as a share of maxOutputBytes: one in", 4, "parts", "", "cut with a marker";
    /// The message of one rejection.
    REJECTION_BYTES: "message of one rejection", 64 * 1024, "bytes", "", "cut with a marker";
    /// Calls that the host answers itself before the guest gets the answers that there are.
    HOST_BATCH_CALLS: "searches, descriptions and loads answered in one go", 64, "calls", "",
        "the rest is answered after the guest has taken these";
    /// Calls that a waiting result lists.
    PENDING_LISTED: "calls that a waiting result lists", 32, "calls", "half of maxOutputBytes",
        "`morePendingToolCalls` counts the rest";
    /// Items of output in a cell's life.
    OUTPUT_ITEMS: "output items", 10_000, "items", "", "`text` and `json` throw a `RangeError`";
    /// Saved results of one run.
    SAVED_RESULTS: "saved results of a run", 64, "results", "memoryLimitBytes and maxSnapshotBytes in bytes",
        "`results.save` rejects with `saved_results_full`";
    /// Binary content that one run keeps for its output.
    BINARY_BYTES: "binary content kept for a run", 10 * MIB, "bytes", "", "the oldest content loses its `ref`";
    /// Pieces of binary content that one run keeps for its output.
    BINARY_BLOCKS: "pieces of binary content kept for a run", 1024, "pieces", "", "the oldest content loses its `ref`";
    /// Results of a cell that can be asked for again.
    REPEATED_RESULTS: "earlier results that `wait` gives again", 16, "results", "", "`invalid_arguments`";
    /// The engine's own stack.
    ENGINE_STACK_BYTES: "engine stack", 512 * 1024, "bytes", "", "`RangeError`, or `stack_overflow`";
}

/// Bytes of one bridge message under these options.
pub(crate) fn message_bytes(options: &CodeModeOptions) -> u64 {
    MESSAGE_BYTES.min(options.memory_limit_bytes)
}

/// Bytes of replies that may wait, and of saved results, under these options.
pub(crate) fn kept_bytes(options: &CodeModeOptions) -> u64 {
    UNDELIVERED_BYTES
        .min(options.memory_limit_bytes)
        .min(options.max_snapshot_bytes)
}

/// Bytes of arguments that may be queued under these options.
pub(crate) fn queued_bytes(options: &CodeModeOptions) -> u64 {
    options.memory_limit_bytes / QUEUED_BYTES_SHARE
}

/// Bytes of console text under these options.
pub(crate) fn console_bytes(options: &CodeModeOptions) -> u64 {
    options.max_output_bytes / CONSOLE_SHARE
}

/// The table as Markdown.
#[must_use]
pub fn render_markdown() -> String {
    let mut text = String::from("| limit | default | beyond it |\n|---|---|---|\n");
    for limit in INTERNAL_LIMITS {
        let also = match limit.and_at_most {
            "" => String::new(),
            bound => format!(", and at most {bound}"),
        };
        let _ = writeln!(
            text,
            "| {} | {} {}{also} | {} |",
            limit.name, limit.default, limit.unit, limit.overflow
        );
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn derived_limits_follow_the_tighter_option() {
        let options = CodeModeOptions {
            memory_limit_bytes: 2 * MIB,
            max_snapshot_bytes: MIB,
            max_output_bytes: 4096,
            ..CodeModeOptions::default()
        };
        assert_eq!(message_bytes(&options), 2 * MIB);
        assert_eq!(kept_bytes(&options), MIB);
        assert_eq!(queued_bytes(&options), MIB / 2);
        assert_eq!(console_bytes(&options), 1024);
        assert_eq!(message_bytes(&CodeModeOptions::default()), 16 * MIB);
    }

    #[test]
    fn every_limit_is_rendered_once() {
        let text = render_markdown();
        assert_eq!(text.lines().count(), INTERNAL_LIMITS.len() + 2);
        for limit in INTERNAL_LIMITS {
            assert_eq!(
                text.matches(&format!("| {} |", limit.name)).count(),
                1,
                "{}",
                limit.name
            );
        }
    }
}
