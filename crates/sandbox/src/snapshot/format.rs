//! The fixed header of a stored snapshot, byte for byte.
//!
//! All integers are little-endian. A host reads the version it writes and refuses all others.

use super::{Binding, CatalogPlace, Header};
use crate::error::RestoreError;
use crate::image::ImageHash;
use crate::limits::{LIMIT_WORDS, Limits};

/// First bytes of every stored snapshot.
pub(super) const MAGIC: [u8; 8] = *b"CCSNAP\r\n";

/// Version of the format.
pub(super) const VERSION: u32 = 1;

/// Size of the header in bytes.
pub(super) const HEADER_BYTES: usize = 256;

/// Size of the authentication code at the end, in bytes.
pub(super) const MAC_BYTES: usize = 32;

/// Bits of the flags field.
pub(super) mod flag {
    /// The catalog fields are set.
    pub(in super::super) const CATALOG: u32 = 1;
    /// The code at the end was made with a key.
    pub(in super::super) const KEYED: u32 = 2;
    /// All flags that have a meaning.
    pub(in super::super) const ALL: u32 = CATALOG | KEYED;
}

/// A key that authenticates stored snapshots.
#[derive(Clone)]
pub struct SnapshotKey([u8; 32]);

impl SnapshotKey {
    /// The key of these bytes, which must be secret and random.
    #[must_use]
    pub fn new(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }
}

/// Prints nothing of the key.
impl std::fmt::Debug for SnapshotKey {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str("SnapshotKey(..)")
    }
}

/// The code over header and body: keyed with a key, a plain checksum without.
pub(super) fn seal(bytes: &[u8], key: Option<&SnapshotKey>) -> blake3::Hash {
    match key {
        Some(SnapshotKey(key)) => blake3::keyed_hash(key, bytes),
        None => blake3::hash(bytes),
    }
}

/// What a stored header says besides [`Header`].
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Extent {
    pub(super) page_count: u32,
    pub(super) body_bytes: u32,
    pub(super) keyed: bool,
}

/// Writes a header.
pub(super) fn write(header: &Header, extent: Extent) -> [u8; HEADER_BYTES] {
    let mut bytes = [0; HEADER_BYTES];
    let mut at = 0;
    let mut put = |field: &[u8]| {
        bytes[at..at + field.len()].copy_from_slice(field);
        at += field.len();
    };
    let catalog = header.catalog.unwrap_or(CatalogPlace {
        address: 0,
        length: 0,
        hash: [0; 32],
    });
    let catalog_flag = if header.catalog.is_some() {
        flag::CATALOG
    } else {
        0
    };
    let keyed_flag = if extent.keyed { flag::KEYED } else { 0 };
    put(&MAGIC);
    put(&VERSION.to_le_bytes());
    put(&(catalog_flag | keyed_flag).to_le_bytes());
    put(header.image.as_bytes());
    put(&header.binding.owner);
    put(&header.binding.sequence.to_le_bytes());
    put(&header.memory_pages.to_le_bytes());
    put(&header.stack_pointer.to_le_bytes());
    put(&extent.page_count.to_le_bytes());
    put(&extent.body_bytes.to_le_bytes());
    put(&catalog.hash);
    put(&catalog.address.to_le_bytes());
    put(&catalog.length.to_le_bytes());
    for word in header.limits.to_words() {
        put(&word.to_le_bytes());
    }
    bytes
}

/// Reads a header. Fields are checked for being well-formed, not for fitting this host.
pub(super) fn read(bytes: &[u8; HEADER_BYTES]) -> Result<(Header, Extent), RestoreError> {
    let mut fields = Fields { bytes, at: 0 };
    if fields.take::<8>()? != MAGIC {
        return Err(RestoreError::Magic);
    }
    let version = fields.u32()?;
    if version != VERSION {
        return Err(RestoreError::Version {
            found: version,
            supported: VERSION,
        });
    }
    let flags = fields.u32()?;
    if flags & !flag::ALL != 0 {
        return Err(RestoreError::Malformed("flags"));
    }
    let image = ImageHash(fields.take()?);
    let binding = Binding {
        owner: fields.take()?,
        sequence: fields.u64()?,
    };
    let (memory_pages, stack_pointer) = (fields.u32()?, fields.u32()?);
    let extent = Extent {
        page_count: fields.u32()?,
        body_bytes: fields.u32()?,
        keyed: flags & flag::KEYED != 0,
    };
    let hash = fields.take()?;
    let place = CatalogPlace {
        address: fields.u32()?,
        length: fields.u32()?,
        hash,
    };
    let catalog = (flags & flag::CATALOG != 0).then_some(place);
    let is_blank = (place.address, place.length, place.hash) == (0, 0, [0; 32]);
    if catalog.is_none() && !is_blank {
        return Err(RestoreError::Malformed("catalog"));
    }
    let limits = fields.limits()?;
    if fields.rest().iter().any(|byte| *byte != 0) {
        return Err(RestoreError::Malformed("reserved bytes"));
    }
    Ok((
        Header {
            image,
            binding,
            memory_pages,
            stack_pointer,
            catalog,
            limits,
        },
        extent,
    ))
}

struct Fields<'a> {
    bytes: &'a [u8; HEADER_BYTES],
    at: usize,
}

impl Fields<'_> {
    fn take<const N: usize>(&mut self) -> Result<[u8; N], RestoreError> {
        let field = self
            .bytes
            .get(self.at..self.at + N)
            .and_then(|slice| slice.try_into().ok());
        self.at += N;
        field.ok_or(RestoreError::Malformed("header"))
    }

    fn u32(&mut self) -> Result<u32, RestoreError> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Result<u64, RestoreError> {
        self.take().map(u64::from_le_bytes)
    }

    fn limits(&mut self) -> Result<Limits, RestoreError> {
        let mut words = [0; LIMIT_WORDS];
        for word in &mut words {
            *word = self.u64()?;
        }
        Limits::from_words(&words).ok_or(RestoreError::Malformed("limits"))
    }

    fn rest(&self) -> &[u8] {
        self.bytes.get(self.at..).unwrap_or_default()
    }
}
