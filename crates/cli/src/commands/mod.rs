//! One module for each command: it asks the composition root for what it needs, runs it, and
//! renders what came out.

pub(crate) mod api;
pub(crate) mod completions;
pub(crate) mod config;
pub(crate) mod doctor;
pub(crate) mod exec;
pub(crate) mod mcp;
pub(crate) mod replay;
pub(crate) mod tools;
pub(crate) mod wait;
