//! The bridge: everything that host and guest must agree on, byte for byte.
//!
//! The guest includes this very file, so the two sides cannot drift. All integers are
//! little-endian. Only bytes cross: no pointer given by the guest is followed without a
//! bounds check, and text is JSON in UTF-8 unless a field says otherwise.
//!
//! Exports of the guest, besides `memory` and the mutable global `__stack_pointer`:
//!
//! | export | meaning |
//! |---|---|
//! | `cc_init()` | builds engine, context and prelude; runs once, at pre-initialisation |
//! | `cc_control() -> u32` | address of the control block, constant for an image |
//! | `cc_input(len) -> u32` | address of an input buffer of `len` bytes, 0 when refused |
//! | `cc_catalog(len) -> u32` | page-aligned region for catalog bytes, 0 when refused; once per cell, before `cc_eval` |
//! | `cc_eval(len) -> u32` | runs the program described by the input ([`EVAL_HEADER_BYTES`]), returns a [`Status`] |
//! | `cc_resume(len) -> u32` | delivers the settlements in the input ([`SETTLEMENT_HEADER_BYTES`]), returns a [`Status`] |

/// Version of this layout. The host refuses an image that reports another one.
pub const ABI_VERSION: u32 = 1;

/// Page size of snapshots and of the catalog region, in bytes.
pub const PAGE_BYTES: u32 = 4096;

/// Size of the control block in bytes.
pub const CONTROL_BYTES: u32 = 160;

/// Offsets within the control block, in bytes.
pub mod control {
    /// `u32`, guest: [`super::ABI_VERSION`].
    pub const ABI: u32 = 0;
    /// `u32`, host: non-zero asks the engine to stop at its next poll with an uncatchable error.
    pub const INTERRUPT: u32 = 4;
    /// `u32`, guest: address of the output buffer.
    pub const OUTPUT_PTR: u32 = 8;
    /// `u32`, guest: committed bytes of frames; stored once, after the bytes. Reset by the host.
    pub const OUTPUT_LEN: u32 = 12;
    /// `u32`, guest: bits of [`super::fault`], set when the engine hit one of its own limits.
    pub const FAULTS: u32 = 16;
    /// `u32`, host: non-zero makes the guest take [`SEED`] as its new source of randomness.
    pub const RESEED: u32 = 20;
    /// `u64`, host: microseconds since the Unix epoch at entry; the guest advances its own copy.
    pub const NOW_US: u32 = 24;
    /// `u64`, guest: when the earliest timer is due, microseconds since the epoch; 0 for none.
    pub const NEXT_TIMER_US: u32 = 32;
    /// `u64`, guest: bytes that the engine has allocated.
    pub const HEAP_BYTES: u32 = 40;
    /// `u64`, guest: the highest [`HEAP_BYTES`] so far.
    pub const HEAP_PEAK_BYTES: u32 = 48;
    /// `u32`, guest: calls made and not settled.
    pub const PENDING_CALLS: u32 = 56;
    /// `u32`, guest: live timers.
    pub const TIMERS: u32 = 60;
    /// `u32`, guest: address of the catalog region, 0 for none.
    pub const CATALOG_PTR: u32 = 64;
    /// `u32`, guest: length of the catalog region in bytes, a multiple of the page size.
    pub const CATALOG_LEN: u32 = 68;
    /// `u32`, guest: lowest address of the shadow stack (stack first: normally 0).
    pub const STACK_LOW: u32 = 72;
    /// `u32`, guest: 1 once the program's own promise has settled.
    pub const SETTLED: u32 = 76;
    /// `[u8; 32]`, host: seed of a leg's randomness.
    pub const SEED: u32 = 96;
}

/// Bits of [`control::FAULTS`].
pub mod fault {
    /// The engine's memory limit was reached at least once.
    pub const OUT_OF_MEMORY: u32 = 1;
    /// The engine's stack limit was reached at least once.
    pub const STACK_OVERFLOW: u32 = 2;
    /// The guest's plumbing found itself in a state that should not exist.
    pub const INTERNAL: u32 = 4;
    /// The error that ended the program was an out-of-memory of the engine, not one that user code made.
    pub const ENDED_BY_MEMORY: u32 = 8;
    /// The error that ended the program was a stack overflow of the engine, not one that user code made.
    pub const ENDED_BY_STACK: u32 = 16;
}

/// What `cc_eval` and `cc_resume` return.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u32)]
pub enum Status {
    /// The program ended and nothing that it started is outstanding: a result or error frame is there.
    Done = 0,
    /// Calls or timers are outstanding.
    Pending = 1,
    /// The program awaits something that nothing outstanding can settle.
    Deadlock = 2,
    /// The engine honoured the interrupt flag; the instance must be discarded.
    Interrupted = 3,
    /// The program yielded (calls may be outstanding too).
    Yielded = 4,
    /// The input was malformed or the plumbing failed; the instance must be discarded.
    Internal = 5,
}

impl Status {
    /// The status with this number, if there is one.
    #[must_use]
    pub const fn from_u32(value: u32) -> Option<Self> {
        Some(match value {
            0 => Self::Done,
            1 => Self::Pending,
            2 => Self::Deadlock,
            3 => Self::Interrupted,
            4 => Self::Yielded,
            5 => Self::Internal,
            _ => return None,
        })
    }
}

/// What every program starts with. The source of a program is one parenthesised async function
/// expression: this, the body (the host puts a line break at both of its ends) and [`PROGRAM_CLOSE`].
/// The guest refuses, as a syntax error, any source that is not exactly one such expression.
pub const PROGRAM_OPEN: &str = "(async function(){";

/// What every program ends with; see [`PROGRAM_OPEN`].
pub const PROGRAM_CLOSE: &str = "})";

/// Header of the input of `cc_eval`: 16 `u32` in the order of [`eval_field`], then the source
/// (prefix, body, suffix already joined; UTF-8), then the injection (JSON, may be empty).
pub const EVAL_HEADER_BYTES: u32 = 64;

/// Indices of the `u32` fields in the header of `cc_eval`.
pub mod eval_field {
    /// Bits of [`super::eval_flag`].
    pub const FLAGS: usize = 0;
    /// Limit of the engine's allocations, in bytes.
    pub const MEMORY_LIMIT_BYTES: usize = 1;
    /// Limit of the engine's native stack, in bytes.
    pub const STACK_LIMIT_BYTES: usize = 2;
    /// Limit of one call's arguments, and of one delivered reply, in bytes.
    pub const MESSAGE_LIMIT_BYTES: usize = 3;
    /// Limit of `text` and `json` together over the cell's life, in bytes; beyond it they throw `RangeError`.
    pub const OUTPUT_LIMIT_BYTES: usize = 4;
    /// Limit of console text over the cell's life, in bytes; beyond it a marker is written once.
    pub const CONSOLE_LIMIT_BYTES: usize = 5;
    /// Limit of output items over the cell's life.
    pub const OUTPUT_LIMIT_ITEMS: usize = 6;
    /// Limit of live timers.
    pub const TIMER_LIMIT: usize = 7;
    /// Limit of unsettled calls; the whole turn that passes it is refused.
    pub const CALL_LIMIT: usize = 8;
    /// Limit of one turn's call arguments together, in bytes; the whole turn that passes it is refused.
    pub const CALL_ARGUMENT_LIMIT_BYTES: usize = 9;
    /// Limit of nesting of a value that leaves the guest.
    pub const JSON_DEPTH_LIMIT: usize = 10;
    /// Limit of the result value in bytes.
    pub const RESULT_LIMIT_BYTES: usize = 11;
    /// Length of the source in bytes.
    pub const SOURCE_BYTES: usize = 12;
    /// Length of the injection in bytes.
    pub const INJECTION_BYTES: usize = 13;
    /// Line number that the first byte of the source has (0: a one-line prefix precedes the program), in two's complement.
    pub const FIRST_LINE: usize = 14;
}

/// Bits of the `FLAGS` field of `cc_eval`.
pub mod eval_flag {
    /// Allow `eval` and the `Function` constructors. Set by conformance tests only; no config, model or client reaches it.
    pub const DYNAMIC_CODE: u32 = 1;
    /// The source is a global script, not the body of an async function, and finds `print` and `$262`.
    /// Conformance tests only.
    pub const SCRIPT: u32 = 2;
}

/// Header of one settlement in the input of `cc_resume`: `u32` call id, `u32` kind
/// ([`settlement`]), `u64` arrival in microseconds since the epoch, `u32` payload length,
/// `u32` reserved; then the payload. The input starts with a `u32` count and a `u32` reserved.
/// Settlements are in the order in which they arrived. Each is a macrotask of its own: timers due
/// at or before its arrival fire first, in order of due time, and all jobs run between any two.
/// After the last one, timers due at [`control::NOW_US`] fire.
pub const SETTLEMENT_HEADER_BYTES: u32 = 24;

/// Kinds of settlement.
pub mod settlement {
    /// Resolve with the JSON value of the payload.
    pub const RESOLVE_JSON: u32 = 0;
    /// Resolve with the payload as a string.
    pub const RESOLVE_TEXT: u32 = 1;
    /// Reject with an `Error`; the payload is JSON `{name?, message, code?, tool?, effectStatus?, ...}`.
    pub const REJECT: u32 = 2;
    /// Resolve every `yield_control()` that took effect; call id and payload are unused.
    pub const YIELD: u32 = 3;
}

/// Header of an output frame: `u8` kind, `u8` sub-kind, `u16` reserved, `u32` id, `u32` payload
/// length; then the payload, padded with zeros to a multiple of four.
pub const FRAME_HEADER_BYTES: u32 = 12;

/// Kinds of output frame.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum FrameKind {
    /// A call. Sub-kind is a [`Method`], id the call's; payload: `u32` target length, target, arguments as JSON.
    Call = 1,
    /// `text` (sub-kind 0, payload the text) or `json` (sub-kind 1, payload JSON).
    Output = 2,
    /// A console line. Sub-kind: 0 log, 1 info, 2 warn, 3 error, 4 debug; payload the text.
    Console = 3,
    /// The program's value, JSON. Sub-kind 1: the value passed its limit and the payload is empty.
    Value = 4,
    /// The program failed. Sub-kind is an [`ErrorSource`]; payload JSON
    /// `{name, message, stack?, line?, column?, call?: id, tool?, code?, effectStatus?, errors?, others?}`; the
    /// last two are lists of `{name, message}`: the parts of an `AggregateError`, and further rejections.
    Error = 5,
    /// `yield_control` took effect; payload the first reason as JSON (`null` without one).
    Yield = 6,
    /// One macrotask ended. Sub-kind 1: the calls of this turn are refused together (a cap was passed); the host rejects each.
    /// Id: how many more calls to tools this turn made that the guest refused itself, without a frame.
    Turn = 7,
    /// `print` of conformance tests; payload the text.
    Print = 8,
}

impl FrameKind {
    /// The kind with this number, if there is one.
    #[must_use]
    pub const fn from_u8(value: u8) -> Option<Self> {
        Some(match value {
            1 => Self::Call,
            2 => Self::Output,
            3 => Self::Console,
            4 => Self::Value,
            5 => Self::Error,
            6 => Self::Yield,
            7 => Self::Turn,
            8 => Self::Print,
            _ => return None,
        })
    }
}

/// What made the program fail.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub enum ErrorSource {
    /// The program's own promise was rejected.
    Program = 0,
    /// A rejection was left without a handler.
    Unhandled = 1,
    /// The engine refused to compile the source.
    Syntax = 2,
    /// The program's value could not be converted.
    Conversion = 3,
    /// A timer's callback threw, which nothing can handle.
    Timer = 4,
}

impl ErrorSource {
    /// The source with this number, if there is one.
    #[must_use]
    pub const fn from_u8(value: u8) -> Option<Self> {
        Some(match value {
            0 => Self::Program,
            1 => Self::Unhandled,
            2 => Self::Syntax,
            3 => Self::Conversion,
            4 => Self::Timer,
            _ => return None,
        })
    }
}

/// What a call asks for. The sandbox only carries the number; the dispatcher gives it its meaning.
///
/// Arguments in a call frame: `Call`, `CallRaw` and `CallByName` carry the input itself, `{}` when none
/// was given; `Search` and `ApiSearch` carry `[query, options]`; `ResultsSave` carries `[value, options]`;
/// `Mcp`, `McpApi`, `Namespace` and `Agents` carry the array of all arguments; `Describe`, `ResultsLoad` and
/// `ResultsDelete` carry `null`. An option that was not given is `null`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
#[repr(u8)]
pub enum Method {
    /// `tools.call(id, input)`: target the id or name.
    Call = 1,
    /// `tools.callRaw(id, input)`.
    CallRaw = 2,
    /// `tools.<name>(input)`: target the safe name.
    CallByName = 3,
    /// `tools.search(query, options)`: arguments `[query, options]`.
    Search = 4,
    /// `tools.describe(id)`: target the id or name.
    Describe = 5,
    /// `API.search(query, options)`: arguments `[query, options]`.
    ApiSearch = 6,
    /// `MCP.<server>.<tool>(input)`: target `server.tool` in the guest's spelling.
    Mcp = 7,
    /// A member of a namespace: target the JSON array of path segments, the global name first.
    Namespace = 8,
    /// `results.save(value)`: arguments `[value, options]`.
    ResultsSave = 9,
    /// `results.load(id)`: target the id.
    ResultsLoad = 10,
    /// `results.delete(id)`: target the id.
    ResultsDelete = 11,
    /// `agents.run(...)` and its kin, once there is an agent.
    Agents = 12,
    /// `MCP.$api()` and `MCP.<server>.$api(tool, options)`: target the server, or empty.
    McpApi = 13,
}

impl Method {
    /// The method with this number, if there is one.
    #[must_use]
    pub const fn from_u8(value: u8) -> Option<Self> {
        Some(match value {
            1 => Self::Call,
            2 => Self::CallRaw,
            3 => Self::CallByName,
            4 => Self::Search,
            5 => Self::Describe,
            6 => Self::ApiSearch,
            7 => Self::Mcp,
            8 => Self::Namespace,
            9 => Self::ResultsSave,
            10 => Self::ResultsLoad,
            11 => Self::ResultsDelete,
            12 => Self::Agents,
            13 => Self::McpApi,
            _ => return None,
        })
    }

    /// Whether a call of this kind runs a tool; all others are answered by the host itself.
    #[must_use]
    pub const fn goes_to_tool(self) -> bool {
        matches!(
            self,
            Self::Call
                | Self::CallRaw
                | Self::CallByName
                | Self::Mcp
                | Self::Namespace
                | Self::Agents
        )
    }
}

/// Layout of the catalog region: `u32` magic, `u32` count, `count + 1` `u32` offsets from the
/// region's start, then the entries: each the JSON of one compact entry of `ALL_TOOLS`, or, behind those, a text
/// that the injection speaks of.
pub const CATALOG_MAGIC: u32 = 0x4343_4131;
