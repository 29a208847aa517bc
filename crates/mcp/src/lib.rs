//! MCP in and out: a pool of clients whose servers become tools, and a front that shows `exec` and
//! `wait` to a client.
//!
//! This is the only room that names the SDK of MCP. It knows no guest and no terminal: what a client
//! of the front calls is a [`ModelSurface`](codecell_tools::ModelSurface) that the composition root
//! hands in, and what the servers of the pool offer are [`ToolSource`](codecell_tools::ToolSource)s.

#![forbid(unsafe_code)]

pub mod client;
pub mod front;
