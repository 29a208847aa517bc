//! Randomness: one ChaCha generator, seeded by the host for every leg.

use core::cell::RefCell;

use crate::js::{Args, Js, Val};
use crate::local::Local;

/// Rounds of the block function; eight are enough for what a program may ask.
const DOUBLE_ROUNDS: usize = 4;

struct Generator {
    key: [u32; 8],
    counter: u64,
    block: [u32; 16],
    used: usize,
}

static GENERATOR: Local<RefCell<Generator>> = Local::new(RefCell::new(Generator {
    key: [0; 8],
    counter: 0,
    block: [0; 16],
    used: 16,
}));

/// Starts a new stream.
pub fn reseed(seed: &[u8; 32]) {
    let mut generator = GENERATOR.borrow_mut();
    for (word, bytes) in generator.key.iter_mut().zip(seed.chunks_exact(4)) {
        *word = u32::from_le_bytes([bytes[0], bytes[1], bytes[2], bytes[3]]);
    }
    generator.counter = 0;
    generator.block = [0; 16];
    generator.used = 16;
}

/// The next 32 bits.
pub fn next_u32() -> u32 {
    let mut generator = GENERATOR.borrow_mut();
    if generator.used == 16 {
        generator.block = block(&generator.key, generator.counter);
        generator.counter = generator.counter.wrapping_add(1);
        generator.used = 0;
    }
    let word = generator.block[generator.used];
    generator.used += 1;
    word
}

fn block(key: &[u32; 8], counter: u64) -> [u32; 16] {
    let mut start = [0_u32; 16];
    start[..4].copy_from_slice(&[0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574]);
    start[4..12].copy_from_slice(key);
    start[12] = counter as u32;
    start[13] = (counter >> 32) as u32;
    let mut state = start;
    for _ in 0..DOUBLE_ROUNDS {
        for (a, b, c, d) in [(0, 4, 8, 12), (1, 5, 9, 13), (2, 6, 10, 14), (3, 7, 11, 15)] {
            quarter(&mut state, a, b, c, d);
        }
        for (a, b, c, d) in [(0, 5, 10, 15), (1, 6, 11, 12), (2, 7, 8, 13), (3, 4, 9, 14)] {
            quarter(&mut state, a, b, c, d);
        }
    }
    for (word, first) in state.iter_mut().zip(start) {
        *word = word.wrapping_add(first);
    }
    state
}

fn quarter(state: &mut [u32; 16], a: usize, b: usize, c: usize, d: usize) {
    for (rotate_d, rotate_b) in [(16, 12), (8, 7)] {
        state[a] = state[a].wrapping_add(state[b]);
        state[d] = (state[d] ^ state[a]).rotate_left(rotate_d);
        state[c] = state[c].wrapping_add(state[d]);
        state[b] = (state[b] ^ state[c]).rotate_left(rotate_b);
    }
}

/// `Math.random`: 53 bits.
pub fn math_random(_: &Args<'_>) -> Js<Val> {
    let high = u64::from(next_u32() >> 6);
    let low = u64::from(next_u32() >> 5);
    let bits = (high << 27) | low;
    Ok(Val::number(bits as f64 / 9_007_199_254_740_992.0))
}

/// `crypto.randomUUID`: version 4.
pub fn random_uuid(_: &Args<'_>) -> Js<Val> {
    let mut bytes = [0_u8; 16];
    for chunk in bytes.chunks_exact_mut(4) {
        chunk.copy_from_slice(&next_u32().to_le_bytes());
    }
    bytes[6] = (bytes[6] & 0x0F) | 0x40;
    bytes[8] = (bytes[8] & 0x3F) | 0x80;
    let mut text = String::with_capacity(36);
    for (index, byte) in bytes.iter().enumerate() {
        if matches!(index, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        text.push_str(&format!("{byte:02x}"));
    }
    Val::string(&text)
}
