//! The memory of a fresh guest, which snapshots are compared with and compressed against.

use std::ops::Range;
use std::sync::{Mutex, OnceLock, PoisonError};

use zstd::zstd_safe::{CCtx, CDict, DCtx, DDict};

use super::PAGE;
use crate::abi::PAGE_BYTES;
use crate::image::{Facts, ImageHash};

/// Compression level: the image as dictionary does most of the work.
const LEVEL: i32 = 3;

/// Idle compression contexts that are kept.
const KEPT_CONTEXTS: usize = 4;

static ZEROS: [u8; PAGE] = [0; PAGE];

/// The pristine memory of an image.
pub(crate) struct Baseline {
    image: ImageHash,
    facts: Facts,
    memory: Box<[u8]>,
    compress: OnceLock<CDict<'static>>,
    expand: OnceLock<DDict<'static>>,
    compressors: Mutex<Vec<CCtx<'static>>>,
    expanders: Mutex<Vec<DCtx<'static>>>,
}

impl std::fmt::Debug for Baseline {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Baseline")
            .field("image", &self.image)
            .field("bytes", &self.memory.len())
            .finish_non_exhaustive()
    }
}

impl Baseline {
    pub(crate) fn new(image: ImageHash, facts: Facts, memory: Box<[u8]>) -> Self {
        Self {
            image,
            facts,
            memory,
            compress: OnceLock::new(),
            expand: OnceLock::new(),
            compressors: Mutex::default(),
            expanders: Mutex::default(),
        }
    }

    pub(crate) fn image(&self) -> ImageHash {
        self.image
    }

    pub(crate) fn memory(&self) -> &[u8] {
        &self.memory
    }

    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The indices of those candidates that differ, rising, and how many there are. Past `most`
    /// pages only the number goes on, and the indices are not to be used.
    pub(super) fn changed_pages(
        &self,
        memory: &[u8],
        candidates: &[Range<u32>],
        skipped: Option<Range<u32>>,
        most: u64,
    ) -> (Vec<u32>, u64) {
        let mut found = Vec::with_capacity(64);
        let mut total = 0;
        let dead = self.dead_stack_pages();
        let skipped = skipped.unwrap_or_default();
        for index in candidates.iter().cloned().flatten() {
            if dead.contains(&index) || skipped.contains(&index) || !self.differs(memory, index) {
                continue;
            }
            total += 1;
            if total <= most {
                found.push(index);
            }
        }
        (found, total)
    }

    fn differs(&self, memory: &[u8], index: u32) -> bool {
        let at = index as usize * PAGE;
        let pristine = self.memory.get(at..at + PAGE).unwrap_or(&ZEROS);
        memory.get(at..at + PAGE) != Some(pristine)
    }

    /// The pages that lie wholly below the stack pointer: with no frame on the stack they hold
    /// leftovers only.
    fn dead_stack_pages(&self) -> Range<u32> {
        self.facts.stack_low.div_ceil(PAGE_BYTES)..self.facts.stack_pointer / PAGE_BYTES
    }

    /// Replaces leftovers below the stack pointer, in the one page that it divides.
    pub(super) fn clear_dead_stack(&self, indices: &[u32], pages: &mut [u8]) {
        let index = self.facts.stack_pointer / PAGE_BYTES;
        let Ok(at) = indices.binary_search(&index) else {
            return;
        };
        let below = (self.facts.stack_pointer % PAGE_BYTES) as usize;
        let from = index as usize * PAGE;
        let pristine = self.memory.get(from..from + below);
        if let (Some(place), Some(pristine)) =
            (pages.get_mut(at * PAGE..at * PAGE + below), pristine)
        {
            place.copy_from_slice(pristine);
        }
    }

    /// What a compressor may refer to: the image's pages that are not empty.
    fn dictionary(&self) -> Vec<u8> {
        self.memory
            .chunks_exact(PAGE)
            .filter(|page| **page != ZEROS)
            .collect::<Vec<_>>()
            .concat()
    }

    /// Compresses into a vector; `None` when memory runs out.
    pub(super) fn deflate(&self, body: &[u8]) -> Option<Vec<u8>> {
        let dictionary = match self.compress.get() {
            Some(dictionary) => dictionary,
            None => {
                let made = CDict::try_create(&self.dictionary(), LEVEL)?;
                self.compress.get_or_init(|| made)
            }
        };
        let mut context = take(&self.compressors).map_or_else(CCtx::try_create, Some)?;
        let mut out = Vec::with_capacity(zstd::zstd_safe::compress_bound(body.len()));
        let done = context.compress_using_cdict(&mut out, body, dictionary);
        give_back(&self.compressors, context);
        done.ok().map(|_| out)
    }

    /// Expands to exactly `length` bytes; `None` when the bytes are damaged or say otherwise.
    pub(super) fn inflate(&self, deflated: &[u8], length: usize) -> Option<Vec<u8>> {
        let dictionary = match self.expand.get() {
            Some(dictionary) => dictionary,
            None => {
                let made = DDict::try_create(&self.dictionary())?;
                self.expand.get_or_init(|| made)
            }
        };
        let mut context = take(&self.expanders).map_or_else(DCtx::try_create, Some)?;
        let mut out = Vec::with_capacity(length);
        let done = context.decompress_using_ddict(&mut out, deflated, dictionary);
        give_back(&self.expanders, context);
        (done == Ok(length)).then_some(out)
    }
}

fn take<T>(contexts: &Mutex<Vec<T>>) -> Option<T> {
    contexts
        .lock()
        .unwrap_or_else(PoisonError::into_inner)
        .pop()
}

fn give_back<T>(contexts: &Mutex<Vec<T>>, context: T) {
    let mut contexts = contexts.lock().unwrap_or_else(PoisonError::into_inner);
    if contexts.len() < KEPT_CONTEXTS {
        contexts.push(context);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn baseline() -> Baseline {
        let facts = Facts {
            control: 64,
            stack_pointer: 4 * 4096 + 100,
            stack_low: 0,
            memory_bytes: 16 * 4096,
        };
        let memory = (0..16 * PAGE)
            .map(|at| (at / PAGE * (at % 251)) as u8)
            .collect();
        Baseline::new(ImageHash::of(b"test"), facts, memory)
    }

    fn changed(memory: &[u8], skipped: Option<Range<u32>>, most: u64) -> (Vec<u32>, u64) {
        let all = std::iter::once(0..(memory.len() / PAGE) as u32).collect::<Vec<_>>();
        baseline().changed_pages(memory, &all, skipped, most)
    }

    #[test]
    fn changes_are_found_but_for_dead_stack_and_catalog() {
        let mut memory = baseline().memory.to_vec();
        memory.resize(20 * PAGE, 0);
        assert_eq!(changed(&memory, None, 100), (vec![], 0));
        for page in [0, 3, 4, 7, 8, 15, 16, 19] {
            memory[page * PAGE + 4095] ^= 1;
        }
        assert_eq!(changed(&memory, None, 100), (vec![4, 7, 8, 15, 16, 19], 6));
        assert_eq!(changed(&memory, Some(7..9), 100), (vec![4, 15, 16, 19], 4));
        assert_eq!(changed(&memory, None, 2).1, 6);
    }

    #[test]
    fn leftovers_in_the_divided_page_are_cleared() {
        let baseline = baseline();
        let mut pages = vec![0xee; 2 * PAGE];
        baseline.clear_dead_stack(&[4, 5], &mut pages);
        assert_eq!(pages[..100], baseline.memory[4 * PAGE..4 * PAGE + 100]);
        assert!(pages[100..].iter().all(|byte| *byte == 0xee));
    }

    #[test]
    fn what_is_deflated_is_inflated_and_nothing_longer() {
        let baseline = baseline();
        let body = baseline.memory[2 * PAGE..9 * PAGE].to_vec();
        let deflated = baseline.deflate(&body).unwrap();
        assert!(deflated.len() < 100);
        assert_eq!(baseline.inflate(&deflated, body.len()).unwrap(), body);
        assert_eq!(baseline.inflate(&deflated, body.len() - 1), None);
        assert_eq!(baseline.inflate(&deflated, body.len() + 1), None);
        assert_eq!(baseline.inflate(&deflated[1..], body.len()), None);
    }
}
