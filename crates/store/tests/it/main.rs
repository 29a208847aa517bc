//! Cells that outlive their process: the store alone, cells that are resumed elsewhere, crashes.

#![expect(clippy::unwrap_used, clippy::panic, reason = "tests")]

mod child;
mod crash;
mod faults;
mod mcp;
mod replay;
mod resume;
mod saved;
mod server;
mod store;
mod world;
