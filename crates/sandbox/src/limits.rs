//! The limits that one guest lives under.
//!
//! They are handed to the guest once, at its start, and travel with its snapshots. What the guest
//! promises to enforce, the host checks again where it costs nothing.

use crate::abi::eval_field;
use crate::catalog::MAX_CATALOG_BYTES;

/// Limits of one guest. Every field is enforced for the guest's whole life, restores included.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Limits {
    /// The engine's allocations, in bytes.
    pub memory_bytes: u32,
    /// The engine's own stack, in bytes.
    pub stack_bytes: u32,
    /// One call's arguments, and one delivered reply, in bytes.
    pub message_bytes: u32,
    /// `text` and `json` together, in bytes; beyond it they throw a `RangeError`.
    pub output_bytes: u32,
    /// Console text, in bytes; beyond it one marker is written and the rest is dropped.
    pub console_bytes: u32,
    /// Output items.
    pub output_items: u32,
    /// Live timers.
    pub timers: u32,
    /// Unsettled calls.
    pub calls: u32,
    /// Arguments of one turn's calls together, in bytes.
    pub call_argument_bytes: u32,
    /// Nesting of a value that leaves the guest.
    pub json_depth: u32,
    /// The program's value, in bytes.
    pub result_bytes: u32,
    /// The raw delta of a snapshot, header included, in bytes.
    pub snapshot_bytes: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            memory_bytes: 64 << 20,
            stack_bytes: 512 << 10,
            message_bytes: 16 << 20,
            output_bytes: 10 << 20,
            console_bytes: 16 << 10,
            output_items: 10_000,
            timers: 1024,
            calls: 16_384,
            call_argument_bytes: 16 << 20,
            json_depth: 512,
            result_bytes: 10 << 20,
            snapshot_bytes: 10 << 20,
        }
    }
}

/// How many `u64` [`Limits::to_words`] makes.
pub(crate) const LIMIT_WORDS: usize = 12;

impl Limits {
    /// Memory that a guest may take beyond its image and the engine's own limit, in bytes: the
    /// shadow of replies and frames in flight, and slack for the allocator.
    const SLACK_BYTES: u64 = 8 << 20;

    /// Room that slots leave for image and catalog, in bytes.
    pub(crate) const FIXED_ALLOWANCE_BYTES: u64 = (32 << 20) + MAX_CATALOG_BYTES;

    /// The limits whose linear memory is the largest for a memory limit.
    pub(crate) fn widest() -> Self {
        Self {
            message_bytes: u32::MAX,
            output_bytes: u32::MAX,
            ..Self::default()
        }
    }

    /// The largest linear memory that a guest with these limits may have, in bytes, given the size of
    /// its image and catalog.
    pub(crate) fn linear_memory_bytes(&self, fixed_bytes: u64) -> u64 {
        let buffers = u64::from(self.message_bytes)
            + u64::from(self.output_bytes)
            + u64::from(self.call_argument_bytes)
            + u64::from(self.result_bytes);
        let buffers = buffers.min(2 * u64::from(self.memory_bytes));
        fixed_bytes + u64::from(self.memory_bytes) + buffers + Self::SLACK_BYTES
    }

    pub(crate) fn write_fields(&self, fields: &mut [u32; 16]) {
        fields[eval_field::MEMORY_LIMIT_BYTES] = self.memory_bytes;
        fields[eval_field::STACK_LIMIT_BYTES] = self.stack_bytes;
        fields[eval_field::MESSAGE_LIMIT_BYTES] = self.message_bytes;
        fields[eval_field::OUTPUT_LIMIT_BYTES] = self.output_bytes;
        fields[eval_field::CONSOLE_LIMIT_BYTES] = self.console_bytes;
        fields[eval_field::OUTPUT_LIMIT_ITEMS] = self.output_items;
        fields[eval_field::TIMER_LIMIT] = self.timers;
        fields[eval_field::CALL_LIMIT] = self.calls;
        fields[eval_field::CALL_ARGUMENT_LIMIT_BYTES] = self.call_argument_bytes;
        fields[eval_field::JSON_DEPTH_LIMIT] = self.json_depth;
        fields[eval_field::RESULT_LIMIT_BYTES] = self.result_bytes;
    }

    pub(crate) fn to_words(self) -> [u64; LIMIT_WORDS] {
        [
            self.memory_bytes.into(),
            self.stack_bytes.into(),
            self.message_bytes.into(),
            self.output_bytes.into(),
            self.console_bytes.into(),
            self.output_items.into(),
            self.timers.into(),
            self.calls.into(),
            self.call_argument_bytes.into(),
            self.json_depth.into(),
            self.result_bytes.into(),
            self.snapshot_bytes,
        ]
    }

    /// The limits of these words, or `None` when a value does not fit its field.
    pub(crate) fn from_words(words: &[u64; LIMIT_WORDS]) -> Option<Self> {
        let word = |index: usize| u32::try_from(words[index]).ok();
        Some(Self {
            memory_bytes: word(0)?,
            stack_bytes: word(1)?,
            message_bytes: word(2)?,
            output_bytes: word(3)?,
            console_bytes: word(4)?,
            output_items: word(5)?,
            timers: word(6)?,
            calls: word(7)?,
            call_argument_bytes: word(8)?,
            json_depth: word(9)?,
            result_bytes: word(10)?,
            snapshot_bytes: words[11],
        })
    }
}
