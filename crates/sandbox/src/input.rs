//! What goes into a guest: a program, or the settlements of its calls.
//!
//! Sizes are checked before a byte is written, so a refusal leaves the guest untouched.

use std::time::{Duration, Instant};

use crate::abi::{
    self, EVAL_HEADER_BYTES, SETTLEMENT_HEADER_BYTES, eval_field, eval_flag, settlement,
};
use crate::catalog::CatalogImage;
use crate::error::{InputError, SandboxError};
use crate::limits::Limits;

/// Upper bound of source and of injection, in bytes; tighter limits are the caller's.
const MAX_PART_BYTES: u64 = 64 << 20;

/// Switches of a program.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EvalFlags {
    /// Allows `eval` and the `Function` constructors. Conformance tests only.
    pub dynamic_code: bool,
    /// The source is a global script, not the body of an async function. Conformance tests only.
    pub script: bool,
}

/// What a guest is started with.
#[derive(Clone, Debug)]
pub struct Program<'a> {
    /// The program in UTF-8, with its wrapper's prefix and suffix already joined.
    pub source: &'a str,
    /// Names and files that the program needs, as JSON; empty when it needs none.
    pub injection: &'a str,
    /// The catalog that `ALL_TOOLS` is built from, when the program uses it.
    pub catalog: Option<&'a CatalogImage>,
    /// The guest's limits.
    pub limits: Limits,
    /// Line number of the source's first byte: 0 when a one-line prefix precedes the program.
    pub first_line: u32,
    /// Switches.
    pub flags: EvalFlags,
}

impl Program<'_> {
    /// The input of `cc_eval`.
    pub(crate) fn encode(&self) -> Result<Vec<u8>, SandboxError> {
        let source = part_bytes("source", self.source)?;
        let injection = part_bytes("injection", self.injection)?;
        let mut fields = [0u32; EVAL_HEADER_BYTES as usize / 4];
        self.limits.write_fields(&mut fields);
        fields[eval_field::FLAGS] = self.flag_bits();
        fields[eval_field::SOURCE_BYTES] = source;
        fields[eval_field::INJECTION_BYTES] = injection;
        fields[eval_field::FIRST_LINE] = self.first_line;
        let mut bytes = Vec::with_capacity(
            EVAL_HEADER_BYTES as usize + self.source.len() + self.injection.len(),
        );
        for field in fields {
            bytes.extend_from_slice(&field.to_le_bytes());
        }
        bytes.extend_from_slice(self.source.as_bytes());
        bytes.extend_from_slice(self.injection.as_bytes());
        Ok(bytes)
    }

    fn flag_bits(&self) -> u32 {
        let dynamic = if self.flags.dynamic_code {
            eval_flag::DYNAMIC_CODE
        } else {
            0
        };
        let script = if self.flags.script {
            eval_flag::SCRIPT
        } else {
            0
        };
        dynamic | script
    }
}

fn part_bytes(what: &'static str, text: &str) -> Result<u32, SandboxError> {
    let bytes = text.len() as u64;
    if bytes > MAX_PART_BYTES {
        return Err(SandboxError::TooLarge {
            what,
            bytes,
            max_bytes: MAX_PART_BYTES,
        });
    }
    Ok(bytes as u32)
}

/// One entry into the guest.
#[derive(Clone, Copy, Debug)]
pub struct Entry {
    /// The guest's clock at entry, microseconds since the Unix epoch.
    pub now_us: u64,
    /// A new source of randomness: given at the start and at each new leg.
    pub seed: Option<[u8; 32]>,
    /// When guest code must have stopped; it gets some 5 ms of grace.
    pub deadline: Instant,
    /// Processor time that this entry may use.
    pub guest_budget: Duration,
}

/// How a call settled.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SettlementKind {
    /// Resolve with the JSON value of the payload.
    ResolveJson,
    /// Resolve with the payload as a string.
    ResolveText,
    /// Reject with an `Error`; the payload is JSON `{name?, message, code?, tool?, effectStatus?, ...}`.
    Reject,
    /// Resolve every `yield_control()` that took effect; call and payload are unused.
    Yield,
}

impl SettlementKind {
    fn number(self) -> u32 {
        match self {
            Self::ResolveJson => settlement::RESOLVE_JSON,
            Self::ResolveText => settlement::RESOLVE_TEXT,
            Self::Reject => settlement::REJECT,
            Self::Yield => settlement::YIELD,
        }
    }
}

/// One settlement. A batch holds them in the order in which they arrived.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Settlement<'a> {
    /// The call, by the id of its frame.
    pub call: u32,
    /// How it settled.
    pub kind: SettlementKind,
    /// When it arrived, microseconds since the Unix epoch; never falling within a batch.
    pub arrival_us: u64,
    /// The reply.
    pub payload: &'a str,
}

/// Size of a batch's input in bytes.
pub(crate) fn batch_bytes(batch: &[Settlement<'_>], limits: &Limits) -> Result<u32, InputError> {
    let max_message = u64::from(limits.message_bytes);
    let mut total = 8u64;
    for item in batch {
        let bytes = item.payload.len() as u64;
        if bytes > max_message {
            return Err(InputError::PayloadTooLarge {
                call: item.call,
                bytes,
                max_bytes: max_message,
            });
        }
        total += u64::from(SETTLEMENT_HEADER_BYTES) + bytes;
    }
    let max_bytes = u64::from(limits.memory_bytes).max(u64::from(abi::PAGE_BYTES));
    match u32::try_from(total) {
        Ok(fits) if total <= max_bytes => Ok(fits),
        _ => Err(InputError::BatchTooLarge {
            bytes: total,
            max_bytes,
        }),
    }
}

/// Writes a batch into a buffer of exactly [`batch_bytes`].
pub(crate) fn write_batch(batch: &[Settlement<'_>], mut buffer: &mut [u8]) {
    let mut put = |bytes: &[u8]| {
        let (head, tail) = std::mem::take(&mut buffer).split_at_mut(bytes.len());
        head.copy_from_slice(bytes);
        buffer = tail;
    };
    put(&(batch.len() as u32).to_le_bytes());
    put(&0u32.to_le_bytes());
    for item in batch {
        put(&item.call.to_le_bytes());
        put(&item.kind.number().to_le_bytes());
        put(&item.arrival_us.to_le_bytes());
        put(&(item.payload.len() as u32).to_le_bytes());
        put(&0u32.to_le_bytes());
        put(item.payload.as_bytes());
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn settle(call: u32, payload: &str) -> Settlement<'_> {
        Settlement {
            call,
            kind: SettlementKind::Reject,
            arrival_us: 7,
            payload,
        }
    }

    #[test]
    fn a_batch_fills_its_buffer_exactly() {
        let batch = [settle(1, "{}"), settle(2, "")];
        let mut buffer = vec![0xff; batch_bytes(&batch, &Limits::default()).unwrap() as usize];
        write_batch(&batch, &mut buffer);
        assert_eq!(buffer.len(), 8 + 24 + 2 + 24);
        assert_eq!(buffer[..8], [2, 0, 0, 0, 0, 0, 0, 0]);
        assert_eq!(buffer[8..16], [1, 0, 0, 0, 2, 0, 0, 0]);
        assert_eq!(buffer[32..34], *b"{}");
        assert_eq!(buffer[34], 2);
    }

    #[test]
    fn sizes_are_refused_before_writing() {
        let limits = Limits {
            message_bytes: 2,
            memory_bytes: 1 << 20,
            ..Limits::default()
        };
        assert_eq!(
            batch_bytes(&[settle(9, "abc")], &limits),
            Err(InputError::PayloadTooLarge {
                call: 9,
                bytes: 3,
                max_bytes: 2
            })
        );
        let many = vec![settle(1, ""); (1 << 20) / 24 + 1];
        assert!(matches!(
            batch_bytes(&many, &limits),
            Err(InputError::BatchTooLarge { .. })
        ));
    }

    #[test]
    fn a_program_carries_its_lengths() {
        let program = Program {
            source: "return 1",
            injection: "{}",
            catalog: None,
            limits: Limits::default(),
            first_line: 3,
            flags: EvalFlags {
                dynamic_code: true,
                script: true,
            },
        };
        let bytes = program.encode().unwrap();
        let field =
            |index: usize| u32::from_le_bytes(bytes[4 * index..4 * index + 4].try_into().unwrap());
        assert_eq!([field(0), field(12), field(13), field(14)], [3, 8, 2, 3]);
        assert_eq!(&bytes[64..], b"return 1{}");
    }
}
