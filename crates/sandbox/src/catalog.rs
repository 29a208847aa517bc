//! The catalog's bytes as they lie in a guest's memory.
//!
//! Built once per catalog and shared by all its guests; entries are built in the guest only when
//! the program touches them. Snapshots leave the bytes out and keep [`CatalogImage::hash`].

use std::sync::Arc;

use crate::abi::{CATALOG_MAGIC, PAGE_BYTES};
use crate::error::SandboxError;

/// Upper bound of a catalog region, in bytes.
pub(crate) const MAX_CATALOG_BYTES: u64 = 256 << 20;

/// A catalog laid out for the guest. Cheap to clone.
#[derive(Clone, Debug)]
pub struct CatalogImage {
    inner: Arc<Inner>,
}

#[derive(Debug)]
struct Inner {
    bytes: Box<[u8]>,
    hash: [u8; 32],
    count: u32,
}

impl CatalogImage {
    /// Lays out these entries in order: the JSON texts of the compact entries of `ALL_TOOLS`, and then
    /// whatever else the injection speaks of.
    ///
    /// # Errors
    /// [`SandboxError::TooLarge`] when the region would pass 256 MiB.
    pub fn new<'a>(entries: impl IntoIterator<Item = &'a str>) -> Result<Self, SandboxError> {
        let entries: Vec<&str> = entries.into_iter().collect();
        let header_bytes = 4 * (entries.len() as u64 + 3);
        let total = header_bytes + entries.iter().map(|entry| entry.len() as u64).sum::<u64>();
        if total > MAX_CATALOG_BYTES {
            return Err(SandboxError::TooLarge {
                what: "catalog",
                bytes: total,
                max_bytes: MAX_CATALOG_BYTES,
            });
        }
        let bytes = lay_out(&entries, header_bytes as u32, total as usize);
        let hash = *blake3::hash(&bytes).as_bytes();
        let count = entries.len() as u32;
        Ok(Self {
            inner: Arc::new(Inner { bytes, hash, count }),
        })
    }

    /// The region, padded with zeros to a multiple of 4096 bytes.
    #[must_use]
    pub fn bytes(&self) -> &[u8] {
        &self.inner.bytes
    }

    /// The entries, in order.
    pub fn entries(&self) -> impl Iterator<Item = &str> {
        let word = |index: usize| {
            let bytes = self.inner.bytes.get(4 * index..)?.first_chunk::<4>()?;
            Some(u32::from_le_bytes(*bytes) as usize)
        };
        (0..self.inner.count as usize).filter_map(move |at| {
            let bytes = self.inner.bytes.get(word(at + 2)?..word(at + 3)?)?;
            std::str::from_utf8(bytes).ok()
        })
    }

    /// BLAKE3 of the region.
    #[must_use]
    pub fn hash(&self) -> &[u8; 32] {
        &self.inner.hash
    }

    /// How many entries it has.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.inner.count
    }
}

fn lay_out(entries: &[&str], header_bytes: u32, total: usize) -> Box<[u8]> {
    let padded = total.next_multiple_of(PAGE_BYTES as usize);
    let mut bytes = Vec::with_capacity(padded);
    bytes.extend_from_slice(&CATALOG_MAGIC.to_le_bytes());
    bytes.extend_from_slice(&(entries.len() as u32).to_le_bytes());
    let mut offset = header_bytes;
    bytes.extend_from_slice(&offset.to_le_bytes());
    for entry in entries {
        offset += entry.len() as u32;
        bytes.extend_from_slice(&offset.to_le_bytes());
    }
    for entry in entries {
        bytes.extend_from_slice(entry.as_bytes());
    }
    bytes.resize(padded, 0);
    bytes.into_boxed_slice()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn word(bytes: &[u8], index: usize) -> usize {
        u32::from_le_bytes(bytes[4 * index..4 * index + 4].try_into().unwrap()) as usize
    }

    #[test]
    fn offsets_delimit_the_entries() {
        let catalog = CatalogImage::new(["{\"a\":1}", "", "{}"]).unwrap();
        let bytes = catalog.bytes();
        assert_eq!(bytes.len(), 4096);
        assert_eq!(word(bytes, 0), CATALOG_MAGIC as usize);
        assert_eq!(word(bytes, 1), 3);
        let entries: Vec<&[u8]> = (0..3)
            .map(|at| &bytes[word(bytes, 2 + at)..word(bytes, 3 + at)])
            .collect();
        assert_eq!(entries, [&b"{\"a\":1}"[..], b"", b"{}"]);
        assert_eq!(
            catalog.entries().collect::<Vec<_>>(),
            ["{\"a\":1}", "", "{}"]
        );
    }

    #[test]
    fn an_empty_catalog_has_a_page() {
        let catalog = CatalogImage::new([]).unwrap();
        assert_eq!((catalog.count(), catalog.bytes().len()), (0, 4096));
    }
}
