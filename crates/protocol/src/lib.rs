//! Wire and durable shapes of codecell: what `exec` and `wait` take and give, the words for
//! failures and effects, and the ids that name things.
//!
//! Pure data: nothing here runs, waits, reads a clock or draws a random number. Every other
//! crate may depend on this one, and it depends on none of them.

#![forbid(unsafe_code)]

mod effects;
mod failure;
mod ids;
mod input;
mod result;
mod telemetry;

pub use effects::{CallState, EffectCall, EffectKind, Effects, MAX_EFFECT_CALLS};
pub use failure::{
    FAILURE_TABLE, Failure, FailureCode, FailureKind, Phase, SavedResult, render_failures,
};
pub use ids::{CellId, InvalidCellId};
pub use input::{ExecInput, InputError, Language, WaitInput};
pub use result::{
    CellResult, Completed, Failed, OutputItem, PendingCall, PendingState, Waiting, WaitingReason,
    Warning,
};
pub use telemetry::{CalledTool, SourceCounts, Telemetry, Timings};

/// Exact error texts that clients match.
pub mod texts {
    /// A cell id that is unknown, expired, or ended and forgotten.
    pub const RUN_UNAVAILABLE: &str = "code mode run is unavailable or expired.";
    /// A cell id that belongs to another scope.
    pub const WRONG_SESSION: &str = "code mode run belongs to a different session.";
    /// The cap on suspended cells is reached.
    pub const TOO_MANY_SUSPENDED: &str = "too many suspended code mode runs.";
}
