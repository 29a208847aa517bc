//! The output buffer: frames, committed by one store of their length after their bytes.
//!
//! The buffer is bounded by what goes in: every producer has a limit of its own. A frame that cannot be
//! stored is dropped with [`fault::INTERNAL`](crate::abi::fault::INTERNAL).

use core::cell::RefCell;

use crate::abi::{FRAME_HEADER_BYTES, FrameKind, control as at, fault};
use crate::control;
use crate::local::Local;

/// Capacity that the image brings along: one page, so that small cells allocate nothing.
const FIRST_CAPACITY_BYTES: usize = 4080;
/// A larger buffer is given back at the next entry, in bytes.
const KEEP_CAPACITY_BYTES: usize = 64 * 1024;

static BUFFER: Local<RefCell<Vec<u8>>> = Local::new(RefCell::new(Vec::new()));

/// Allocates the buffer, at pre-initialisation.
pub fn init() {
    *BUFFER.borrow_mut() = Vec::with_capacity(FIRST_CAPACITY_BYTES);
    publish(&BUFFER.borrow());
}

/// Starts a new slice: the host has read all frames.
pub fn reset() {
    let mut buffer = BUFFER.borrow_mut();
    if buffer.capacity() > KEEP_CAPACITY_BYTES {
        *buffer = Vec::with_capacity(FIRST_CAPACITY_BYTES);
    }
    buffer.clear();
    publish(&buffer);
}

fn publish(buffer: &[u8]) {
    control::set_u32(at::OUTPUT_PTR, buffer.as_ptr() as usize as u32);
    control::set_u32(at::OUTPUT_LEN, buffer.len() as u32);
}

/// Appends and commits one frame whose payload is the concatenation of `parts`.
pub fn push(kind: FrameKind, sub_kind: u8, id: u32, parts: &[&[u8]]) {
    let len: usize = parts.iter().map(|part| part.len()).sum();
    let padded = len.next_multiple_of(4);
    let mut buffer = BUFFER.borrow_mut();
    if buffer
        .try_reserve(padded + FRAME_HEADER_BYTES as usize)
        .is_err()
    {
        control::add_fault(fault::INTERNAL);
        return;
    }
    buffer.extend_from_slice(&[kind as u8, sub_kind, 0, 0]);
    buffer.extend_from_slice(&id.to_le_bytes());
    buffer.extend_from_slice(&(len as u32).to_le_bytes());
    for part in parts {
        buffer.extend_from_slice(part);
    }
    buffer.extend_from_slice(&[0_u8; 3][..padded - len]);
    publish(&buffer);
}
