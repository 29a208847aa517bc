//! The composition root: from what was typed, configured and found to the parts of the program.
//!
//! Options types are converted here and nowhere else; the libraries know nothing of each other's.

pub(crate) mod code_mode;
pub(crate) mod convert;
pub(crate) mod endpoints;
pub(crate) mod engine;
pub(crate) mod front;
pub(crate) mod logs;
pub(crate) mod runtime;
pub(crate) mod servers;
pub(crate) mod settings;
pub(crate) mod store;
pub(crate) mod token;
pub(crate) mod tooling;

use std::sync::Arc;

use crate::args::GlobalArgs;
use crate::streams::Streams;
use crate::surroundings::Surroundings;

/// What every command starts from.
pub(crate) struct Base {
    /// The options that every command takes.
    pub(crate) global: GlobalArgs,
    /// Folders and environment.
    pub(crate) surroundings: Surroundings,
    /// stdout and stderr.
    pub(crate) streams: Arc<Streams>,
}
