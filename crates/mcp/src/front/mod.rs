//! The front: an MCP server with exactly two tools, `exec` and `wait`.
//!
//! It speaks the protocol and nothing else: what the two tools do is the business of the
//! [`Backend`] that the composition root hands in. Two life-cycles are served: the one with
//! `initialize`, where a session is a connection, and the stateless one with `server/discover`,
//! where whoever is authenticated has one scope as long as the server lives.
//!
//! Invariants:
//!
//! * A cell, a saved result, a question and an event reach only the scope that they belong to.
//! * Cancelling an `exec` aborts its cell; cancelling a `wait` only detaches.
//! * Nothing that a client sends makes the front hold more than its limits say.

mod ask;
mod backend;
mod blocks;
mod call;
mod client;
mod handler;
mod http;
mod hub;
mod parked;
mod session;
mod stdio;

pub use ask::ElicitingApprover;
pub use backend::{Backend, BackendError, SavedValue, SessionScope};
pub use handler::FrontParts;
pub use http::{HttpOptions, PATH, serve_http};
pub use hub::EventHub;
pub use stdio::{StdioError, serve_stdio};
