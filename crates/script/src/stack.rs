//! Room for recursion: the parser and the visitors call themselves once per level of nesting.
//!
//! The invariant: whatever the text, the native stack is large enough. An upper bound for the recursion is
//! counted from the bytes alone, without understanding them, and texts that could need more than a small
//! part of a thread's stack are handled on a thread of their own whose stack covers the bound. Its pages
//! are touched only as deep as the recursion really goes, which `nesting` keeps small.

use std::thread;

/// Stack bytes that one bracket can cost. Measured at most 1,840 with optimisation and 2,900 without.
const PER_BRACKET_BYTES: usize = if cfg!(debug_assertions) { 6144 } else { 3072 };
/// Stack bytes that one operator, or two words side by side, can cost. Measured at most 1,000 and 2,000.
const PER_OPERATOR_BYTES: usize = if cfg!(debug_assertions) { 4096 } else { 1536 };
/// What a parse needs before any nesting.
const BASE_BYTES: usize = 256 * 1024;
/// What is taken for granted of a caller's own stack; a runtime's worker thread has 2 MiB.
pub(crate) const ASSUMED_BYTES: usize = if cfg!(debug_assertions) {
    1024 * 1024
} else {
    640 * 1024
};

/// An upper bound, in bytes, of the stack that parsing and visiting `text` takes.
fn bound_bytes(text: &str) -> usize {
    let (mut brackets, mut operators) = (0, 0);
    let (mut word, mut blank_after_word) = (false, false);
    for byte in text.bytes() {
        let is_word = byte.is_ascii_alphanumeric() || matches!(byte, b'_' | b'$' | b'\\' | 0x80..);
        if is_word && blank_after_word {
            operators += 1;
        }
        blank_after_word = (word || blank_after_word) && byte.is_ascii_whitespace();
        word = is_word;
        match byte {
            b'(' | b'[' | b'{' | b'<' | b'`' => brackets += 1,
            b'!' | b'%' | b'&' | b'*' | b'+' | b'-' | b'.' | b'/' | b':' | b'=' | b'>' | b'?'
            | b'^' | b'|' | b'~' | b'@' | b'#' => operators += 1,
            _ => {}
        }
    }
    BASE_BYTES + brackets * PER_BRACKET_BYTES + operators * PER_OPERATOR_BYTES
}

/// Runs `work`, which parses and visits `text`, where there is stack enough: here, if `free_bytes` are, else on a
/// thread of its own. `None` if the system gives no such thread.
pub(crate) fn with_room<T: Send>(
    text: &str,
    free_bytes: usize,
    work: impl FnOnce() -> T + Send,
) -> Option<T> {
    // Were all of it brackets: a short text need not be counted.
    if BASE_BYTES + text.len() * PER_BRACKET_BYTES <= free_bytes {
        return Some(work());
    }
    let needed_bytes = bound_bytes(text);
    if needed_bytes <= free_bytes {
        return Some(work());
    }
    thread::scope(|scope| {
        let builder = thread::Builder::new()
            .name("codecell-script".to_owned())
            .stack_size(needed_bytes);
        builder.spawn_scoped(scope, work).ok()?.join().ok()
    })
}
