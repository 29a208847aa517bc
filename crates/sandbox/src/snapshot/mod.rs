//! Snapshots: what of a guest's memory differs from the image, and what is needed to go on.
//!
//! A snapshot depends on the image alone, not on the engine, the processor or the configuration. A
//! forged one that passes all checks can at worst misbehave inside its own sandbox: it is data for a
//! fresh instance, and whatever that instance asks for is judged anew by the host.
//!
//! [`Snapshot`] is the raw delta, [`StoredSnapshot`] its compressed form; the latter is also what is
//! written to durable stores (docs/technical/snapshot-format.md).

use std::ops::Range;

mod baseline;
#[cfg(test)]
mod forged;
mod format;
mod store;

pub(crate) use baseline::Baseline;
pub use format::SnapshotKey;
pub use store::{Expected, StoredSnapshot};

use crate::abi::PAGE_BYTES;
use crate::catalog::CatalogImage;
use crate::control::{region, region_mut};
use crate::error::{RestoreError, SnapshotError};
use crate::image::{Facts, ImageHash};
use crate::limits::Limits;
use crate::pagemap;

const PAGE: usize = PAGE_BYTES as usize;

/// Pages of this format in one page of WebAssembly memory.
const PAGES_PER_WASM_PAGE: u32 = 65536 / PAGE_BYTES;

/// Whose snapshot it is, and which in the order of its run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Binding {
    /// A hash of the scope; opaque here.
    pub owner: [u8; 32],
    /// The sequence number of the suspension.
    pub sequence: u64,
}

/// Where a catalog lies in a guest's memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct CatalogPlace {
    pub(crate) address: u32,
    pub(crate) length: u32,
    pub(crate) hash: [u8; 32],
}

impl CatalogPlace {
    /// The region, if it is page-aligned and inside the memory.
    pub(crate) fn region_mut<'a>(&self, memory: &'a mut [u8]) -> Option<&'a mut [u8]> {
        if self.is_aligned() {
            region_mut(memory, self.address, self.length)
        } else {
            None
        }
    }

    fn is_aligned(&self) -> bool {
        let pages =
            self.address.is_multiple_of(PAGE_BYTES) && self.length.is_multiple_of(PAGE_BYTES);
        pages && self.address != 0
    }

    fn fits(&self, memory_bytes: u64) -> bool {
        self.is_aligned() && u64::from(self.address) + u64::from(self.length) <= memory_bytes
    }

    fn pages(&self) -> Range<u32> {
        let first = self.address / PAGE_BYTES;
        first..first + self.length / PAGE_BYTES
    }
}

/// What a snapshot says besides its pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    pub(crate) image: ImageHash,
    pub(crate) binding: Binding,
    /// Size of the memory, in WebAssembly pages of 64 KiB.
    pub(crate) memory_pages: u32,
    pub(crate) stack_pointer: u32,
    pub(crate) catalog: Option<CatalogPlace>,
    pub(crate) limits: Limits,
}

impl Header {
    fn page_limit(&self) -> u32 {
        self.memory_pages.saturating_mul(PAGES_PER_WASM_PAGE)
    }
}

/// A suspended guest: the pages that differ from the image, and what is needed to go on.
#[derive(Clone, PartialEq, Eq)]
pub struct Snapshot {
    header: Header,
    /// Strictly rising.
    indices: Vec<u32>,
    /// One page for each index.
    pages: Vec<u8>,
}

impl std::fmt::Debug for Snapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Snapshot")
            .field("header", &self.header)
            .field("pages", &self.indices.len())
            .finish()
    }
}

impl Snapshot {
    /// Compares a waiting guest's memory with the image's.
    pub(crate) fn take(
        baseline: &Baseline,
        memory: &[u8],
        catalog: Option<CatalogPlace>,
        limits: &Limits,
        binding: &Binding,
    ) -> Result<Self, SnapshotError> {
        let header = Header {
            image: baseline.image(),
            binding: *binding,
            memory_pages: (memory.len() >> 16) as u32,
            stack_pointer: baseline.facts().stack_pointer,
            catalog,
            limits: *limits,
        };
        let most_pages = limits
            .snapshot_bytes
            .saturating_sub(format::HEADER_BYTES as u64)
            / (PAGE as u64 + 4);
        let skipped = catalog.map(|place| place.pages());
        let candidates = pagemap::written_pages(memory).unwrap_or_else(|| all_pages(memory));
        let (indices, total) = baseline.changed_pages(memory, &candidates, skipped, most_pages);
        if total > most_pages {
            let bytes = format::HEADER_BYTES as u64 + total * (PAGE as u64 + 4);
            return Err(SnapshotError::LimitExceeded {
                bytes,
                max_bytes: limits.snapshot_bytes,
            });
        }
        let mut pages = Vec::with_capacity(indices.len() * PAGE);
        for &index in &indices {
            let page = region(memory, index * PAGE_BYTES, PAGE_BYTES);
            pages.extend_from_slice(
                page.ok_or(SnapshotError::Inconsistent("a page leaves the memory"))?,
            );
        }
        baseline.clear_dead_stack(&indices, &mut pages);
        Ok(Self {
            header,
            indices,
            pages,
        })
    }

    /// Size of the raw delta in bytes, header included: what a limit on snapshots is compared with.
    #[must_use]
    pub fn raw_bytes(&self) -> u64 {
        (format::HEADER_BYTES + 4 * self.indices.len() + self.pages.len()) as u64
    }

    /// How many pages of 4096 bytes differ from the image.
    #[must_use]
    pub fn page_count(&self) -> u32 {
        self.indices.len() as u32
    }

    /// The image that it belongs to.
    #[must_use]
    pub fn image(&self) -> ImageHash {
        self.header.image
    }

    /// Whose it is.
    #[must_use]
    pub fn binding(&self) -> &Binding {
        &self.header.binding
    }

    /// The limits that the guest was started with.
    #[must_use]
    pub fn limits(&self) -> &Limits {
        &self.header.limits
    }

    /// Hash of the catalog that restoring it needs, if it needs one.
    #[must_use]
    pub fn catalog_hash(&self) -> Option<&[u8; 32]> {
        self.header.catalog.as_ref().map(|place| &place.hash)
    }

    pub(crate) fn memory_pages(&self) -> u32 {
        self.header.memory_pages
    }

    pub(crate) fn catalog_place(&self) -> Option<CatalogPlace> {
        self.header.catalog
    }

    /// Checks everything that restoring rests on.
    pub(crate) fn check(
        &self,
        image: ImageHash,
        facts: &Facts,
        catalog: Option<&CatalogImage>,
    ) -> Result<(), RestoreError> {
        let header = &self.header;
        if header.image != image {
            return Err(RestoreError::Image {
                found: header.image,
                expected: image,
            });
        }
        if header.stack_pointer != facts.stack_pointer {
            return Err(RestoreError::Malformed("stack pointer"));
        }
        // First, because the memory may be larger by the catalog.
        check_catalog(header, catalog)?;
        let memory_bytes = u64::from(header.memory_pages) << 16;
        let catalog_bytes = header.catalog.map_or(0, |place| u64::from(place.length));
        let most = header
            .limits
            .linear_memory_bytes(facts.memory_bytes + catalog_bytes);
        if memory_bytes < facts.memory_bytes || memory_bytes > most {
            return Err(RestoreError::Malformed("memory size"));
        }
        check_indices(&self.indices, header.page_limit())?;
        if self.pages.len() != self.indices.len() * PAGE {
            return Err(RestoreError::Malformed("page data"));
        }
        Ok(())
    }

    /// Writes the pages and the catalog into a fresh memory of the right size.
    pub(crate) fn write_into(&self, memory: &mut [u8], catalog: Option<&CatalogImage>) {
        for (&index, page) in self.indices.iter().zip(self.pages.chunks_exact(PAGE)) {
            if let Some(place) = region_mut(memory, index * PAGE_BYTES, PAGE_BYTES) {
                place.copy_from_slice(page);
            }
        }
        let place = self
            .header
            .catalog
            .as_ref()
            .and_then(|place| place.region_mut(memory));
        if let (Some(place), Some(catalog)) = (place, catalog) {
            place.copy_from_slice(catalog.bytes());
        }
    }
}

fn all_pages(memory: &[u8]) -> Vec<Range<u32>> {
    std::iter::once(0..(memory.len() / PAGE) as u32).collect()
}

/// The pages that differ, of those that the kernel reports and of all.
#[cfg(test)]
pub(crate) fn changed_both_ways(baseline: &Baseline, memory: &[u8]) -> (Vec<u32>, Vec<u32>) {
    let all = all_pages(memory);
    let scanned = pagemap::written_pages(memory).unwrap_or_else(|| all.clone());
    let changed = |candidates| baseline.changed_pages(memory, candidates, None, u64::MAX).0;
    (changed(&scanned), changed(&all))
}

fn check_indices(indices: &[u32], limit: u32) -> Result<(), RestoreError> {
    let rising = indices.windows(2).all(|pair| pair[0] < pair[1]);
    let inside = indices.last().is_none_or(|&last| last < limit);
    if rising && inside {
        Ok(())
    } else {
        Err(RestoreError::Malformed("page indices"))
    }
}

fn check_catalog(header: &Header, catalog: Option<&CatalogImage>) -> Result<(), RestoreError> {
    let Some(place) = &header.catalog else {
        return Ok(());
    };
    if !place.fits(u64::from(header.memory_pages) << 16) {
        return Err(RestoreError::Malformed("catalog region"));
    }
    match catalog {
        Some(given)
            if *given.hash() == place.hash && given.bytes().len() == place.length as usize =>
        {
            Ok(())
        }
        _ => Err(RestoreError::Catalog),
    }
}
