//! The guest host: compile, instantiate, evaluate, snapshot, restore, limits.
//!
//! A guest is a fresh WebAssembly instance of one pre-initialised image that carries a JavaScript
//! engine. It imports nothing: the host writes bytes in, runs it, and reads frames out. This crate
//! knows nothing of tools or of the conversation; it carries text and enforces limits.
//!
//! Invariants:
//!
//! * Only this crate names the WebAssembly runtime.
//! * Guest code runs on guest threads alone: [`GuestThread`] is the proof, and only the pool makes one.
//! * An instance that trapped, was interrupted or broke the protocol is never entered again.
//! * What the guest wrote is read as hostile input: every pointer, length and text is checked.
//! * The reason why a guest was stopped comes from the host's own state, never from guest text.

pub mod abi;

mod cache;
mod catalog;
mod clock;
mod control;
mod crowd;
mod engine;
mod error;
mod frames;
mod guest;
mod heap;
mod image;
mod input;
mod instance;
mod kept;
mod limits;
mod pagemap;
mod sandbox;
mod snapshot;
mod stop;
mod threads;
mod ticker;

pub use abi::{ErrorSource, Method};
pub use catalog::CatalogImage;
pub use engine::FREE_STACK_BYTES;
pub use error::{InputError, RestoreError, SandboxError, SnapshotError};
pub use frames::{ConsoleLevel, Frame, FrameError, FrameLimits, decode_frames};
pub use guest::{Guest, Heap, Kill, Slice, SliceEnd};
pub use heap::limit_arenas;
pub use image::ImageHash;
pub use input::{Entry, EvalFlags, Program, Settlement, SettlementKind};
pub use limits::Limits;
pub use sandbox::{CacheState, Sandbox, SandboxInfo, SandboxOptions};
pub use snapshot::{Binding, Expected, Snapshot, SnapshotKey, StoredSnapshot};
pub use stop::StopHandle;
pub use threads::{GuestThread, QueueFull, Ticket};
