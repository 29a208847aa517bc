//! Small secrets in files that only their owner reads, and the locks of files between processes.
//!
//! Whoever keeps a key or a token on a disk does it here: the key of the store, the token of the
//! front, the tokens of MCP servers. A file appears whole or not at all, and what others could reach
//! is refused, not repaired: what it protected may be known already. What a file means is its
//! owner's business, not this room's.

#![forbid(unsafe_code)]

mod lock;
mod secret;

pub use lock::Lock;
pub use secret::{KeepError, folder, make, read, replace, sync_folder};
