//! MCP servers as tools: a pool that starts, greets, lists, calls, restarts and ends them.
//!
//! Everything that comes from a server is hostile until it was counted and read: lines, lists,
//! definitions, results. Nothing of a server is trusted: its tools may change anything, and its
//! words enter no prompt. No server's trouble is another's.

mod error;
mod filter;
mod forms;
mod guard;
mod handler;
mod http;
mod limits;
mod lines;
mod link;
mod listing;
mod message;
mod names;
mod news;
pub mod oauth;
mod operations;
mod options;
mod output;
mod pool;
mod process;
mod rounds;
mod server;
mod signs;
mod sse;
mod tls;
mod tool;
mod watched;
#[doc(hidden)]
pub mod wire;

pub use error::{RequestError, StartError};
pub use guard::run_guard;
pub use limits::ClientLimits;
pub use listing::{LeftOut, Listing};
pub use options::{
    ClientCertificate, DEFAULT_CONNECT_TIMEOUT, DEFAULT_IDLE_TTL, DEFAULT_REQUEST_TIMEOUT,
    Endpoint, HttpEndpoint, HttpTransport, Lifecycle, PoolOptions, SAFE_VARIABLES, ServerOptions,
    StdioEndpoint, ToolFilter,
};
pub use pool::{Pool, PoolError};
pub use server::ServerState;
