//! Random programs of calls, timers and combinators, and two worlds that run them: a guest, and a
//! reference engine with a host of a few lines.
//!
//! A [`Case`] fixes everything that could differ: the text, the order in which calls settle, how,
//! and how much time passes. Both worlds must write the same output.

mod generate;
mod guest;
mod reference;
mod rng;

pub use generate::generate;
pub use guest::{Batches, Observed, run_in_guest};
pub use reference::{Reference, ReferenceError};
pub use rng::Rng;

use serde::{Deserialize, Serialize};

/// How the call with one label settles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Settling {
    /// Whether it resolves with its label, or rejects with `no <label>`.
    pub ok: bool,
    /// Of the pending calls the one with the lowest priority settles next.
    pub priority: u32,
    /// Microseconds that pass before it settles.
    pub gap_us: u64,
}

/// A program and the world around it.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Case {
    /// The body of an async function that calls `tools.step({k})`.
    pub code: String,
    /// By label.
    pub settlings: Vec<Settling>,
}

/// What a run of a case showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outcome {
    /// What `text` wrote.
    pub output: Vec<String>,
    /// `done`, `deadlock`, or how it failed: `program: <message>` or `unhandled: <messages>`.
    pub end: String,
}

/// Microseconds since the epoch at which every case starts.
pub(crate) const START_US: u64 = 1_700_000_000_000_000;
