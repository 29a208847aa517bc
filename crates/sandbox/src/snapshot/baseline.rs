//! The memory of a fresh guest, which snapshots are compared with and compressed against.

use std::sync::{Mutex, OnceLock, PoisonError};

use zstd::zstd_safe::{CCtx, CDict, DCtx, DDict};

use super::PAGE;
use crate::abi::PAGE_BYTES;
use crate::image::{Facts, ImageHash};
use crate::pagemap;

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

    pub(crate) fn facts(&self) -> &Facts {
        &self.facts
    }

    /// The indices of the pages that differ, rising, and how many there are. Past `most` pages only
    /// the number goes on, and the indices are not to be used.
    pub(super) fn changed_pages(
        &self,
        memory: &[u8],
        skipped: Option<(u32, u32)>,
        most: u64,
    ) -> (Vec<u32>, u64) {
        let mut found = Vec::with_capacity(64);
        let mut total = 0;
        let dead = self.dead_stack_pages();
        let whole = vec![0..(memory.len() / PAGE) as u32];
        let candidates = pagemap::written_pages(memory).unwrap_or(whole);
        for index in candidates.into_iter().flatten() {
            let left_out = (dead.0..dead.1).contains(&index)
                || skipped.is_some_and(|(first, end)| (first..end).contains(&index));
            if left_out || !self.differs(memory, index) {
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
    fn dead_stack_pages(&self) -> (u32, u32) {
        (
            self.facts.stack_low.div_ceil(PAGE_BYTES),
            self.facts.stack_pointer / PAGE_BYTES,
        )
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
