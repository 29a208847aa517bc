//! MCP in and out: a pool of clients whose servers become tools, and a front that shows `exec` and
//! `wait` to a client.

#![forbid(unsafe_code)]
