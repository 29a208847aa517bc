//! Sealing: every record is encrypted and authenticated, and bound to its place.
//!
//! ChaCha20-Poly1305 with a key of the cell's own, derived from the store's, and a random nonce: a
//! record that is written twice, as after a crash, never meets its nonce again. What a record is
//! bound to is authenticated with it, so rows that were exchanged do not open.
//!
//! A sealed record is: a version (1 byte), the nonce (12), the text, the tag (16).

use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use ring::hkdf::{HKDF_SHA256, KeyType, Prk};

use codecell_sandbox::SnapshotKey;

use crate::key::KEY_BYTES;

/// Version of the sealing.
const VERSION: u8 = 1;

const NONCE_BYTES: usize = 12;
const TAG_BYTES: usize = 16;

/// Bytes that sealing adds.
pub(crate) const OVERHEAD_BYTES: usize = 1 + NONCE_BYTES + TAG_BYTES;

/// Where a sealed text belongs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Place<'a> {
    /// A cell's record.
    Record {
        cell: &'a [u8; 16],
        number: u64,
        kind: u8,
    },
    /// A scope's saved value.
    Value {
        scope: &'a [u8; 32],
        number: u64,
        by_host: bool,
    },
}

impl Place<'_> {
    /// Whose key it is.
    fn owner(&self) -> [&[u8]; 2] {
        match self {
            Self::Record { cell, .. } => [b"codecell cell 1", &cell[..]],
            Self::Value { scope, .. } => [b"codecell values 1", &scope[..]],
        }
    }

    fn bytes(&self) -> [u8; 9] {
        let (number, word) = match self {
            Self::Record { number, kind, .. } => (number, *kind),
            Self::Value {
                number, by_host, ..
            } => (number, u8::from(*by_host)),
        };
        let mut bytes = [word; 9];
        bytes[..8].copy_from_slice(&number.to_le_bytes());
        bytes
    }
}

/// The store's key, ready for use.
pub(crate) struct Sealer {
    root: Prk,
}

/// A key of 32 bytes, for ring.
struct Bytes32;

impl KeyType for Bytes32 {
    fn len(&self) -> usize {
        KEY_BYTES
    }
}

impl Sealer {
    pub(crate) fn new(key: &[u8; KEY_BYTES]) -> Self {
        Self {
            root: Prk::new_less_safe(HKDF_SHA256, key),
        }
    }

    /// The key that snapshots are authenticated with.
    pub(crate) fn snapshot_key(&self) -> Option<SnapshotKey> {
        let mut bytes = [0; KEY_BYTES];
        let key = self.root.expand(&[b"codecell snapshots 1"], Bytes32).ok()?;
        key.fill(&mut bytes).ok()?;
        Some(SnapshotKey::new(bytes))
    }

    fn key_of(&self, place: &Place<'_>) -> Option<LessSafeKey> {
        let info = place.owner();
        let key = self.root.expand(&info, &CHACHA20_POLY1305).ok()?;
        Some(LessSafeKey::new(UnboundKey::from(key)))
    }

    /// Seals a text. `None` only for one that no cipher takes: beyond 256 GiB.
    pub(crate) fn seal(
        &self,
        place: &Place<'_>,
        nonce: [u8; NONCE_BYTES],
        text: &[u8],
    ) -> Option<Vec<u8>> {
        let mut sealed = Vec::with_capacity(text.len() + OVERHEAD_BYTES);
        sealed.push(VERSION);
        sealed.extend_from_slice(&nonce);
        sealed.extend_from_slice(text);
        let tag = self
            .key_of(place)?
            .seal_in_place_separate_tag(
                Nonce::assume_unique_for_key(nonce),
                Aad::from(place.bytes()),
                &mut sealed[1 + NONCE_BYTES..],
            )
            .ok()?;
        sealed.extend_from_slice(tag.as_ref());
        Some(sealed)
    }

    /// Opens what [`Sealer::seal`] made for the same place; `None` when it is anything else.
    pub(crate) fn open(&self, place: &Place<'_>, sealed: &[u8]) -> Option<Vec<u8>> {
        let (&version, rest) = sealed.split_first()?;
        let (nonce, text) = rest.split_first_chunk::<NONCE_BYTES>()?;
        if version != VERSION {
            return None;
        }
        let mut text = text.to_vec();
        let length = self
            .key_of(place)?
            .open_in_place(
                Nonce::assume_unique_for_key(*nonce),
                Aad::from(place.bytes()),
                &mut text,
            )
            .ok()?
            .len();
        text.truncate(length);
        Some(text)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const CELL: [u8; 16] = [7; 16];

    fn place(number: u64) -> Place<'static> {
        Place::Record {
            cell: &CELL,
            number,
            kind: 3,
        }
    }

    #[test]
    fn what_is_sealed_opens_in_its_place_only() {
        let sealer = Sealer::new(&[1; 32]);
        let sealed = sealer.seal(&place(5), [9; 12], b"secret").expect("sealed");
        assert_eq!(sealed.len(), 6 + OVERHEAD_BYTES);
        assert_eq!(
            sealer.open(&place(5), &sealed).as_deref(),
            Some(&b"secret"[..])
        );
        let others = [
            place(6),
            Place::Record {
                cell: &[8; 16],
                number: 5,
                kind: 3,
            },
            Place::Record {
                cell: &CELL,
                number: 5,
                kind: 4,
            },
            Place::Value {
                scope: &[7; 32],
                number: 5,
                by_host: false,
            },
        ];
        for other in others {
            assert_eq!(sealer.open(&other, &sealed), None, "{other:?}");
        }
        assert_eq!(Sealer::new(&[2; 32]).open(&place(5), &sealed), None);
    }

    #[test]
    fn every_flipped_bit_and_every_cut_is_refused() {
        let sealer = Sealer::new(&[1; 32]);
        let sealed = sealer
            .seal(&place(1), [0; 12], b"0123456789")
            .expect("sealed");
        for at in 0..sealed.len() {
            for bit in 0..8 {
                let mut changed = sealed.clone();
                changed[at] ^= 1 << bit;
                assert_eq!(
                    sealer.open(&place(1), &changed),
                    None,
                    "byte {at}, bit {bit}"
                );
            }
            assert_eq!(sealer.open(&place(1), &sealed[..at]), None);
        }
    }

    #[test]
    fn a_value_cannot_pose_as_the_hosts() {
        let sealer = Sealer::new(&[1; 32]);
        let place = |by_host| Place::Value {
            scope: &[7; 32],
            number: 5,
            by_host,
        };
        let sealed = sealer.seal(&place(false), [0; 12], b"1").expect("sealed");
        assert_eq!(sealer.open(&place(true), &sealed), None);
        assert!(sealer.open(&place(false), &sealed).is_some());
    }
}
