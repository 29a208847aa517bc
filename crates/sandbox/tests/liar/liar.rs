//! A guest that lies: speaks the bridge's protocol, and breaks it on demand.
//!
//! The first byte of the program's source says how. Built by
//! `rustc --edition 2024 --crate-type cdylib --target wasm32-unknown-unknown -Copt-level=2 -Cpanic=abort
//! -Cstrip=symbols -Clink-arg=--export=__stack_pointer -o liar.wasm liar.rs`.
#![no_std]

use core::arch::wasm32;
use core::ptr::{addr_of, addr_of_mut, read_volatile, write_volatile};

#[path = "../../src/abi.rs"]
#[allow(dead_code)]
mod abi;

use abi::control;

#[panic_handler]
fn panic(_: &core::panic::PanicInfo) -> ! {
    wasm32::unreachable()
}

#[repr(align(4096))]
struct Aligned<const N: usize>([u8; N]);

static mut CONTROL: Aligned<4096> = Aligned([0; 4096]);
static mut INPUT: Aligned<65536> = Aligned([0; 65536]);
static mut OUTPUT: Aligned<65536> = Aligned([0; 65536]);
static mut CATALOG: Aligned<16384> = Aligned([0; 16384]);
static mut MODE: u8 = 0;
static mut COUNT: u32 = 0;

fn set(field: u32, value: u32) {
    unsafe {
        write_volatile(
            addr_of_mut!(CONTROL)
                .cast::<u8>()
                .add(field as usize)
                .cast(),
            value,
        )
    }
}

fn get(field: u32) -> u32 {
    unsafe { read_volatile(addr_of!(CONTROL).cast::<u8>().add(field as usize).cast()) }
}

/// Commits a frame.
fn frame(kind: u8, sub: u8, id: u32, payload: &[u8]) {
    let at = get(control::OUTPUT_LEN) as usize;
    let padded = payload.len().next_multiple_of(4);
    unsafe {
        let out = addr_of_mut!(OUTPUT).cast::<u8>().add(at);
        out.cast::<[u8; 4]>().write([kind, sub, 0, 0]);
        out.add(4).cast::<u32>().write(id);
        out.add(8).cast::<u32>().write(payload.len() as u32);
        out.add(12).copy_from(payload.as_ptr(), payload.len());
    }
    set(control::OUTPUT_LEN, (at + 12 + padded) as u32);
}

#[unsafe(no_mangle)]
extern "C" fn cc_init() {}

#[unsafe(no_mangle)]
extern "C" fn cc_control() -> u32 {
    set(control::ABI, abi::ABI_VERSION);
    set(control::OUTPUT_PTR, addr_of!(OUTPUT) as u32);
    addr_of!(CONTROL) as u32
}

#[unsafe(no_mangle)]
extern "C" fn cc_input(length: u32) -> u32 {
    match length {
        1064 => 0,
        1065 => 0xffff_ff00,
        1066 => loop {},
        _ if length > 65536 => 0,
        _ => addr_of!(INPUT) as u32,
    }
}

#[unsafe(no_mangle)]
extern "C" fn cc_catalog(length: u32) -> u32 {
    match length {
        4096 => addr_of!(CATALOG) as u32,
        8192 => addr_of!(CATALOG) as u32 + 8,
        12288 => 0xffff_f000,
        _ => 0,
    }
}

#[unsafe(no_mangle)]
extern "C" fn cc_eval(_: u32) -> u32 {
    cc_control();
    unsafe { MODE = INPUT.0[64] };
    run()
}

#[unsafe(no_mangle)]
extern "C" fn cc_resume(_: u32) -> u32 {
    unsafe { COUNT += 1 };
    run()
}

/// Uses native stack only: the frame has nothing that lies in memory.
#[inline(never)]
fn recurse(depth: u32) -> u32 {
    let word = get(control::SEED + depth % 8 * 4);
    if word == 0xffff_ffff {
        depth
    } else {
        recurse(depth + 1).wrapping_mul(3) ^ word
    }
}

fn grow_until_refused() {
    while wasm32::memory_grow(0, 16) != usize::MAX {}
}

/// Whether the marker of mode `W` is anywhere beyond this guest's own data.
fn marked() -> bool {
    let end = wasm32::memory_size(0) * 65536;
    let mut at = 0;
    while at < end {
        if unsafe { read_volatile(at as *const u64) } == MARKER.wrapping_mul(3) {
            return true;
        }
        at += 8;
    }
    false
}

const MARKER: u64 = 0x1234_5678_9abc_def1;

fn mark() {
    wasm32::memory_grow(0, 64);
    let end = wasm32::memory_size(0) * 65536;
    let mut at = addr_of!(CATALOG) as usize;
    while at < end {
        unsafe { write_volatile(at as *mut u64, MARKER.wrapping_mul(3)) };
        at += 512;
    }
}

fn run() -> u32 {
    let count = unsafe { COUNT };
    match unsafe { MODE } {
        b'd' => {
            frame(4, 0, 0, b"1");
            0
        }
        // Never polls.
        b'l' => {
            frame(2, 0, 0, b"before");
            frame(1, 1, 7, b"\x01\0\0\0a{}");
            loop {}
        }
        // Polls.
        b'p' => {
            while get(control::INTERRUPT) == 0 {}
            frame(2, 0, 0, b"polled");
            3
        }
        // Ignores the flag and claims success.
        b'g' => {
            while get(control::INTERRUPT) == 0 {}
            frame(4, 0, 0, b"1");
            0
        }
        b'i' => 3,
        b'j' => 5,
        b'u' => 99,
        b'D' => 2,
        b'o' => {
            set(control::OUTPUT_PTR, 0xffff_fff0);
            set(control::OUTPUT_LEN, 0x100);
            0
        }
        b'f' => {
            frame(2, 0, 0, b"good");
            frame(77, 0, 0, b"bad");
            0
        }
        b's' => recurse(0),
        b'm' => {
            grow_until_refused();
            wasm32::unreachable()
        }
        // Is refused growth, and goes on.
        b'M' => {
            grow_until_refused();
            frame(4, 0, 0, b"1");
            0
        }
        b't' => {
            frame(2, 0, 0, b"before");
            frame(1, 1, 7, b"\x01\0\0\0a{}");
            wasm32::unreachable()
        }
        // Traps with a half-written frame that was not committed.
        b'T' => {
            frame(2, 0, 0, b"before");
            let committed = get(control::OUTPUT_LEN);
            frame(2, 0, 0, b"after");
            set(control::OUTPUT_LEN, committed);
            wasm32::unreachable()
        }
        // Waits three times.
        b'w' if count < 3 => 1,
        b'w' => {
            frame(4, 0, 0, b"3");
            0
        }
        // Grows and marks its memory, then waits.
        b'W' if count == 0 => {
            mark();
            1
        }
        b'W' | b'r' => {
            frame(4, 0, 0, if marked() { b"true" } else { b"false" });
            0
        }
        // Waits with the catalog's first word as the value.
        b'c' if count == 0 => 1,
        b'c' => {
            let word = unsafe { read_volatile(addr_of!(CATALOG).cast::<u8>()) };
            frame(4, 0, 0, &[b'0' + word % 10]);
            0
        }
        _ => wasm32::unreachable(),
    }
}
