//! The control block: the few words that host and guest both read and write.
//!
//! Every access is volatile, because the host writes while the guest is stopped inside a call, and reads
//! after a trap.

use core::cell::UnsafeCell;

use crate::abi::{self, control};
use crate::local::Local;

#[repr(C, align(4096))]
struct Block(UnsafeCell<[u8; abi::PAGE_BYTES as usize]>);

static BLOCK: Local<Block> = Local::new(Block(UnsafeCell::new([0; abi::PAGE_BYTES as usize])));

/// Address of the block.
pub fn address() -> u32 {
    BLOCK.0.get() as usize as u32
}

fn at<T>(offset: u32) -> *mut T {
    debug_assert!(offset as usize + size_of::<T>() <= abi::CONTROL_BYTES as usize);
    // SAFETY: the offset is inside the block.
    unsafe { BLOCK.0.get().cast::<u8>().add(offset as usize).cast() }
}

/// Reads the `u32` at `offset`.
pub fn get_u32(offset: u32) -> u32 {
    // SAFETY: offsets of the layout are aligned for their type and inside the block.
    unsafe { at::<u32>(offset).read_volatile() }
}

/// Writes the `u32` at `offset`.
pub fn set_u32(offset: u32, value: u32) {
    // SAFETY: as in `get_u32`.
    unsafe { at::<u32>(offset).write_volatile(value) }
}

/// Reads the `u64` at `offset`.
pub fn get_u64(offset: u32) -> u64 {
    // SAFETY: as in `get_u32`.
    unsafe { at::<u64>(offset).read_volatile() }
}

/// Writes the `u64` at `offset`.
pub fn set_u64(offset: u32, value: u64) {
    // SAFETY: as in `get_u32`.
    unsafe { at::<u64>(offset).write_volatile(value) }
}

/// Takes the seed if the host gave a new one, and erases it from the block.
pub fn take_seed() -> Option<[u8; 32]> {
    if get_u32(control::RESEED) == 0 {
        return None;
    }
    let slot = at::<[u8; 32]>(control::SEED);
    // SAFETY: the seed is inside the block and bytes need no alignment.
    let seed = unsafe { slot.read_volatile() };
    // SAFETY: as above.
    unsafe { slot.write_volatile([0; 32]) };
    set_u32(control::RESEED, 0);
    Some(seed)
}

/// Sets bits of [`abi::fault`].
pub fn add_fault(bits: u32) {
    set_u32(control::FAULTS, get_u32(control::FAULTS) | bits);
}

/// The host asked the engine to stop.
pub fn interrupted() -> bool {
    get_u32(control::INTERRUPT) != 0
}
