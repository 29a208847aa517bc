//! The guest: the JavaScript engine and its side of the bridge, as one WebAssembly module.
//!
//! The module imports nothing: calls, output and results leave it as frames in a buffer, replies come
//! back with the next entry. What the two sides agree on is in [`abi`], which the host includes too.
//! One thread, one context, and no state that is not in linear memory: a copy of the memory is the cell.

#[path = "../../crates/sandbox/src/abi.rs"]
#[allow(dead_code, reason = "the host uses the other half")]
pub mod abi;

mod alloc;
mod api;
mod calls;
mod catalog;
mod clock;
mod codecs;
mod conformance;
mod control;
mod convert;
mod digits;
mod dynamic;
mod engine;
mod entry;
mod errors;
mod exhaustion;
mod exotic;
mod frames;
mod globals;
mod inject;
mod inspect;
mod intrinsics;
mod js;
mod json;
mod limits;
mod local;
mod mcp;
mod natives;
mod output;
mod prelude;
mod random;
mod reader;
mod rejections;
mod results;
mod run;
mod shapes;
mod timers;
mod tools;
mod web;
mod yields;
