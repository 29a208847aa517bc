//! Instances whose guests ended well, kept for the guests after them.
//!
//! An instance in here cannot be told from a fresh one: its memory has its first size and its first
//! bytes, no frame is on its stack, and nothing else of an instance can change (the image has one
//! mutable global, the stack pointer, and no instruction that alters its table or its segments, which
//! `cargo xtask guest` checks). Whatever is not certain is dropped, and the engine gives its memory back.
//!
//! Which pages were written is asked of the kernel, and a page that is swapped out or on its way to
//! another place counts as written: one that is left out would show the next guest what the last one
//! wrote.

use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::abi::PAGE_BYTES;
use crate::instance::Instance;
use crate::pagemap;
use crate::sandbox::Parts;
use crate::snapshot::Baseline;

/// Instances that are kept at most; each holds the pages below.
pub(crate) const MOST: u32 = 16;

/// Written pages of an instance worth keeping: putting back more takes longer than starting over.
const MOST_PAGES: u32 = 128;

/// The kept instances of a sandbox.
#[derive(Default)]
pub(crate) struct Kept(Mutex<Vec<Instance>>);

impl Kept {
    /// The one that was kept last: its memory is the likeliest to be near the processor.
    pub(crate) fn take(&self) -> Option<Instance> {
        self.lock().pop()
    }

    /// Puts an instance back to its first state and keeps it, or drops it.
    pub(crate) fn put_back(&self, mut instance: Instance, parts: &Parts, baseline: &Baseline) {
        let is_at_rest = instance.stack_pointer(parts) == Some(baseline.facts().stack_pointer);
        if !is_at_rest || restore(instance.memory_mut(), baseline).is_none() {
            return;
        }
        let mut kept = self.lock();
        if kept.len() < MOST as usize {
            kept.push(instance);
        }
    }

    fn lock(&self) -> MutexGuard<'_, Vec<Instance>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Puts every written page back; `None` when the memory has grown, too much was written, or the kernel
/// cannot tell.
fn restore(memory: &mut [u8], baseline: &Baseline) -> Option<()> {
    if memory.len() != baseline.memory().len() {
        return None;
    }
    let written = pagemap::written_pages(memory)?;
    let pages: u32 = written.iter().map(|range| range.end - range.start).sum();
    if pages > MOST_PAGES {
        return None;
    }
    let byte = |page: u32| page as usize * PAGE_BYTES as usize;
    for range in written {
        let bytes = byte(range.start)..byte(range.end);
        memory
            .get_mut(bytes.clone())?
            .copy_from_slice(baseline.memory().get(bytes)?);
    }
    debug_assert!(
        memory == baseline.memory(),
        "a written page was not reported"
    );
    Some(())
}
