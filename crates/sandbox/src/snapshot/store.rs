//! The compressed form of a snapshot, in memory and as bytes.

use super::format::{self, Extent, HEADER_BYTES, MAC_BYTES, SnapshotKey};
use super::{Baseline, Binding, Header, PAGE, Snapshot, check_indices};
use crate::error::{RestoreError, SnapshotError};
use crate::image::ImageHash;
use crate::limits::Limits;

/// A compressed snapshot: what is kept while a cell is suspended.
#[derive(Clone, PartialEq, Eq)]
pub struct StoredSnapshot {
    header: Box<Header>,
    page_count: u32,
    body: Box<[u8]>,
}

impl std::fmt::Debug for StoredSnapshot {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("StoredSnapshot")
            .field("header", &self.header)
            .field("bytes", &self.stored_bytes())
            .finish()
    }
}

/// What a stored snapshot must say to be accepted.
#[derive(Clone, Copy, Debug)]
pub struct Expected<'a> {
    /// This host's image, [`crate::Sandbox::image`].
    pub image: ImageHash,
    /// Whose snapshot is asked for, and which one is due.
    pub binding: Binding,
    /// The key that it must have been sealed with; `None` accepts one without a key only.
    pub key: Option<&'a SnapshotKey>,
    /// The largest raw delta that is accepted, in bytes.
    pub max_raw_bytes: u64,
}

impl Baseline {
    pub(crate) fn compress(&self, snapshot: &Snapshot) -> Result<StoredSnapshot, SnapshotError> {
        let body = body_of(snapshot);
        let deflated = self
            .deflate(&body)
            .ok_or_else(|| SnapshotError::Compress("out of memory".to_owned()))?;
        Ok(StoredSnapshot {
            header: Box::new(snapshot.header),
            page_count: snapshot.page_count(),
            body: deflated.into_boxed_slice(),
        })
    }

    pub(crate) fn expand(&self, stored: &StoredSnapshot) -> Result<Snapshot, RestoreError> {
        if stored.header.image != self.image() {
            return Err(RestoreError::Image {
                found: stored.header.image,
                expected: self.image(),
            });
        }
        let count = stored.page_count as usize;
        let body = self
            .inflate(&stored.body, count * (PAGE + 4))
            .ok_or(RestoreError::Malformed("body"))?;
        let (indices, pages) = body.split_at(4 * count);
        let (words, _) = indices.as_chunks::<4>();
        let indices: Vec<u32> = words.iter().map(|word| u32::from_le_bytes(*word)).collect();
        check_indices(&indices, stored.header.page_limit())?;
        Ok(Snapshot {
            header: *stored.header,
            indices,
            pages: pages.to_vec(),
        })
    }
}

fn body_of(snapshot: &Snapshot) -> Vec<u8> {
    let mut body = Vec::with_capacity(4 * snapshot.indices.len() + snapshot.pages.len());
    for index in &snapshot.indices {
        body.extend_from_slice(&index.to_le_bytes());
    }
    body.extend_from_slice(&snapshot.pages);
    body
}

impl StoredSnapshot {
    /// Size of [`encode`](Self::encode)'s result in bytes.
    #[must_use]
    pub fn stored_bytes(&self) -> u64 {
        (HEADER_BYTES + self.body.len() + MAC_BYTES) as u64
    }

    /// Size of the raw delta in bytes.
    #[must_use]
    pub fn raw_bytes(&self) -> u64 {
        raw_bytes(self.page_count)
    }

    /// Whose it is.
    #[must_use]
    pub fn binding(&self) -> &Binding {
        &self.header.binding
    }

    /// The image that it belongs to.
    #[must_use]
    pub fn image(&self) -> ImageHash {
        self.header.image
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

    /// The bytes of a durable store: header, body, authentication code.
    #[must_use]
    pub fn encode(&self, key: Option<&SnapshotKey>) -> Vec<u8> {
        let extent = Extent {
            page_count: self.page_count,
            body_bytes: self.body.len() as u32,
            keyed: key.is_some(),
        };
        let mut bytes = Vec::with_capacity(HEADER_BYTES + self.body.len() + MAC_BYTES);
        bytes.extend_from_slice(&format::write(&self.header, extent));
        bytes.extend_from_slice(&self.body);
        let seal = format::seal(&bytes, key);
        bytes.extend_from_slice(seal.as_bytes());
        bytes
    }

    /// Reads what [`encode`](Self::encode) wrote. Nothing is decompressed yet.
    ///
    /// # Errors
    /// [`RestoreError`], in this order: not a snapshot, another version, malformed, another image,
    /// changed or sealed with another key, another owner, another sequence number, too large.
    pub fn decode(bytes: &[u8], expected: &Expected<'_>) -> Result<Self, RestoreError> {
        let (head, rest) = bytes
            .split_first_chunk::<HEADER_BYTES>()
            .ok_or(not_a_header(bytes))?;
        let (header, extent) = format::read(head)?;
        let (body, seal) = rest
            .split_last_chunk::<MAC_BYTES>()
            .ok_or(RestoreError::Malformed("length"))?;
        if body.len() != extent.body_bytes as usize {
            return Err(RestoreError::Malformed("length"));
        }
        if header.image != expected.image {
            return Err(RestoreError::Image {
                found: header.image,
                expected: expected.image,
            });
        }
        check_seal(bytes, seal, extent, expected.key)?;
        check_binding(&header.binding, &expected.binding)?;
        let raw = raw_bytes(extent.page_count);
        if raw > expected.max_raw_bytes || extent.page_count > header.page_limit() {
            return Err(RestoreError::TooLarge {
                bytes: raw,
                max_bytes: expected.max_raw_bytes,
            });
        }
        Ok(Self {
            header: Box::new(header),
            page_count: extent.page_count,
            body: body.into(),
        })
    }
}

fn raw_bytes(page_count: u32) -> u64 {
    HEADER_BYTES as u64 + u64::from(page_count) * (PAGE as u64 + 4)
}

/// Why bytes that are too short for a header are refused.
fn not_a_header(bytes: &[u8]) -> RestoreError {
    if bytes.starts_with(&format::MAGIC) {
        RestoreError::Malformed("length")
    } else {
        RestoreError::Magic
    }
}

fn check_seal(
    bytes: &[u8],
    seal: &[u8; MAC_BYTES],
    extent: Extent,
    key: Option<&SnapshotKey>,
) -> Result<(), RestoreError> {
    let sealed = &bytes[..bytes.len() - MAC_BYTES];
    // Comparing hashes takes the same time wherever they differ.
    let matches = format::seal(sealed, key) == blake3::Hash::from_bytes(*seal);
    if matches && extent.keyed == key.is_some() {
        Ok(())
    } else {
        Err(RestoreError::Mac)
    }
}

fn check_binding(found: &Binding, expected: &Binding) -> Result<(), RestoreError> {
    if found.owner != expected.owner {
        return Err(RestoreError::Owner);
    }
    if found.sequence != expected.sequence {
        return Err(RestoreError::Sequence {
            found: found.sequence,
            expected: expected.sequence,
        });
    }
    Ok(())
}
