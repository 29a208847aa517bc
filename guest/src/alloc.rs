//! Memory: one allocator for the engine and for Rust, counted and scrubbed.
//!
//! The engine's own accounting does not see what its arenas hold, so the limit is enforced here, on
//! real usable sizes. Blocks over [`SCRUB_BYTES`] are zeroed when they are freed: a page of zeros costs
//! a snapshot nothing. The engine may pass its limit by [`RESERVE_BYTES`] in small blocks once it has hit
//! it, so that the error object and the frames that report it can be made.

use core::alloc::{GlobalAlloc, Layout};
use core::cell::Cell;
use core::ffi::c_void;

use crate::control;
use crate::local::Local;

/// Freed blocks over this size are zeroed, in bytes.
const SCRUB_BYTES: usize = 2048;
/// What the engine may take beyond its limit, in blocks of at most [`RESERVE_BLOCK_BYTES`], in bytes.
const RESERVE_BYTES: usize = 96 * 1024;
/// Largest block that the reserve serves, in bytes.
const RESERVE_BLOCK_BYTES: usize = 8 * 1024;

unsafe extern "C" {
    fn malloc(size: usize) -> *mut c_void;
    fn calloc(count: usize, size: usize) -> *mut c_void;
    fn realloc(block: *mut c_void, size: usize) -> *mut c_void;
    fn free(block: *mut c_void);
    fn malloc_usable_size(block: *mut c_void) -> usize;
    fn aligned_alloc(align: usize, size: usize) -> *mut c_void;
}

struct Account {
    limit: Cell<usize>,
    used: Cell<usize>,
    peak: Cell<usize>,
    refusals: Cell<u32>,
}

static ACCOUNT: Local<Account> = Local::new(Account {
    limit: Cell::new(usize::MAX),
    used: Cell::new(0),
    peak: Cell::new(0),
    refusals: Cell::new(0),
});

/// Sets the limit of the engine's allocations, in bytes.
pub fn set_limit(bytes: usize) {
    ACCOUNT.limit.set(bytes);
}

/// Bytes that the engine has now, and the most that it had.
pub fn usage() -> (usize, usize) {
    (ACCOUNT.used.get(), ACCOUNT.peak.get())
}

fn admit(extra: usize) -> bool {
    let wanted = ACCOUNT.used.get().saturating_add(extra);
    let limit = ACCOUNT.limit.get();
    if wanted <= limit {
        return true;
    }
    let reserve = ACCOUNT.refusals.get() > 0 && extra <= RESERVE_BLOCK_BYTES;
    if reserve && wanted <= limit.saturating_add(RESERVE_BYTES) {
        return true;
    }
    refuse();
    false
}

fn refuse() {
    ACCOUNT
        .refusals
        .set(ACCOUNT.refusals.get().saturating_add(1));
    control::add_fault(crate::abi::fault::OUT_OF_MEMORY);
}

fn charge(bytes: usize) {
    let used = ACCOUNT.used.get().saturating_add(bytes);
    ACCOUNT.used.set(used);
    if used > ACCOUNT.peak.get() {
        ACCOUNT.peak.set(used);
    }
}

fn refund(bytes: usize) {
    ACCOUNT.used.set(ACCOUNT.used.get().saturating_sub(bytes));
}

fn usable(block: *mut c_void) -> usize {
    // SAFETY: `block` is null or came from this allocator and was not freed.
    unsafe { malloc_usable_size(block) }
}

fn counted(block: *mut c_void) -> *mut c_void {
    if block.is_null() {
        refuse();
    } else {
        charge(usable(block));
    }
    block
}

/// Zeroes a block that is about to be freed, by stores that the compiler may not drop.
fn scrub(block: *mut c_void, bytes: usize) {
    if bytes <= SCRUB_BYTES {
        return;
    }
    // SAFETY: the block has at least `bytes` usable bytes; it is still allocated.
    unsafe { core::ptr::write_bytes(block.cast::<u8>(), 0, bytes) };
    core::hint::black_box(block);
}

/// The engine's `calloc`.
pub unsafe extern "C" fn engine_calloc(_: *mut c_void, count: u32, size: u32) -> *mut c_void {
    let Some(bytes) = (count as usize).checked_mul(size as usize) else {
        return core::ptr::null_mut();
    };
    if !admit(bytes) {
        return core::ptr::null_mut();
    }
    // SAFETY: any sizes are valid arguments.
    counted(unsafe { calloc(count as usize, size as usize) })
}

/// The engine's `malloc`.
pub unsafe extern "C" fn engine_malloc(_: *mut c_void, size: u32) -> *mut c_void {
    if !admit(size as usize) {
        return core::ptr::null_mut();
    }
    // SAFETY: any size is a valid argument.
    counted(unsafe { malloc(size as usize) })
}

/// The engine's `free`.
pub unsafe extern "C" fn engine_free(_: *mut c_void, block: *mut c_void) {
    if block.is_null() {
        return;
    }
    let bytes = usable(block);
    refund(bytes);
    scrub(block, bytes);
    // SAFETY: the engine frees each block that it got from here once.
    unsafe { free(block) }
}

/// The engine's `realloc`.
pub unsafe extern "C" fn engine_realloc(
    _: *mut c_void,
    block: *mut c_void,
    size: u32,
) -> *mut c_void {
    let size = size as usize;
    let old = if block.is_null() { 0 } else { usable(block) };
    if size > old && !admit(size - old) {
        return core::ptr::null_mut();
    }
    let new = if old > SCRUB_BYTES && size > old {
        // A block that moves would leave its old bytes behind.
        move_block(block, old, size)
    } else {
        // SAFETY: `block` is null or a live block of this allocator.
        unsafe { realloc(block, size) }
    };
    if new.is_null() {
        refuse();
        return new;
    }
    refund(old);
    charge(usable(new));
    new
}

fn move_block(block: *mut c_void, old: usize, size: usize) -> *mut c_void {
    // SAFETY: any size is a valid argument.
    let new = unsafe { malloc(size) };
    if new.is_null() {
        return new;
    }
    // SAFETY: both blocks are live, distinct and have at least `old` bytes.
    unsafe { core::ptr::copy_nonoverlapping(block.cast::<u8>(), new.cast::<u8>(), old) };
    scrub(block, old);
    // SAFETY: `block` is live and not used again.
    unsafe { free(block) };
    new
}

/// The engine's `malloc_usable_size`.
pub unsafe extern "C" fn engine_usable(block: *const c_void) -> u32 {
    u32::try_from(usable(block.cast_mut())).unwrap_or(u32::MAX)
}

/// Memory aligned to a page, never freed; `len` is a multiple of `page`. Null when there is none.
pub fn pages(page: usize, len: usize) -> *mut u8 {
    // SAFETY: the size is a multiple of the alignment.
    unsafe { aligned_alloc(page, len) }.cast()
}

/// Rust's allocator: the same heap, not counted against the engine's limit.
struct Heap;

// SAFETY: every method forwards to one allocator whose blocks are aligned to 16 bytes, or asks it for more.
unsafe impl GlobalAlloc for Heap {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        if layout.align() <= 16 {
            // SAFETY: any size is a valid argument.
            return unsafe { malloc(layout.size()) }.cast();
        }
        let size = layout.size().next_multiple_of(layout.align());
        // SAFETY: the size is a multiple of the alignment.
        unsafe { aligned_alloc(layout.align(), size) }.cast()
    }

    unsafe fn dealloc(&self, block: *mut u8, _: Layout) {
        let block = block.cast::<c_void>();
        scrub(block, usable(block));
        // SAFETY: the caller owns the block.
        unsafe { free(block) }
    }
}

#[global_allocator]
static HEAP: Heap = Heap;
