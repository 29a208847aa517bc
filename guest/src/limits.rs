//! The limits of the running cell, as the host gave them with the program.

use core::cell::Cell;

use crate::abi::eval_field as field;
use crate::convert;
use crate::local::Local;

/// All fields of the header of `cc_eval`.
#[derive(Clone, Copy)]
pub struct Header(pub [u32; 16]);

static HEADER: Local<Cell<Header>> = Local::new(Cell::new(Header([0; 16])));

impl Header {
    /// Reads a header; `None` when the bytes are too short.
    pub fn parse(bytes: &[u8]) -> Option<Self> {
        let mut fields = [0; 16];
        for (field, chunk) in fields.iter_mut().zip(bytes.get(..64)?.chunks_exact(4)) {
            *field = u32::from_le_bytes(chunk.try_into().ok()?);
        }
        Some(Self(fields))
    }

    /// One field.
    pub fn get(&self, index: usize) -> u32 {
        self.0.get(index).copied().unwrap_or(0)
    }
}

/// Makes `header` the one in force.
pub fn set(header: Header) {
    HEADER.set(header);
}

/// One field of the header in force, as a number of bytes or items.
pub fn get(index: usize) -> usize {
    HEADER.get().get(index) as usize
}

/// Limits of a call's arguments.
pub fn message() -> convert::Limits {
    convert::Limits {
        depth: get(field::JSON_DEPTH_LIMIT) as u32,
        bytes: get(field::MESSAGE_LIMIT_BYTES),
    }
}

/// Limits of the program's value.
pub fn result() -> convert::Limits {
    convert::Limits {
        depth: get(field::JSON_DEPTH_LIMIT) as u32,
        bytes: get(field::RESULT_LIMIT_BYTES),
    }
}
