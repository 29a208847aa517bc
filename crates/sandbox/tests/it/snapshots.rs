//! The stored form: what is accepted, what is refused, and that no byte of it can do harm.

use std::path::PathBuf;
use std::sync::LazyLock;

use codecell_sandbox::{
    Binding, CatalogImage, Expected, InputError, Program, RestoreError, Slice, SliceEnd,
    SnapshotKey, StopHandle, StoredSnapshot,
};

use crate::harness::{LIARS, binding, catalog, entry, eval, on_thread, program};

const HEADER: usize = 256;
const SEAL: usize = 32;

fn expected() -> Expected<'static> {
    Expected {
        image: LIARS.image(),
        binding: binding(5),
        key: None,
        max_raw_bytes: 10 << 20,
    }
}

fn key() -> SnapshotKey {
    SnapshotKey::new([3; 32])
}

fn stored(source: &str, with: Option<&CatalogImage>) -> StoredSnapshot {
    let (mut guest, _) = eval(
        &LIARS,
        &Program {
            catalog: with,
            ..program(source)
        },
    );
    LIARS
        .compress(&guest.snapshot(&binding(5)).unwrap())
        .unwrap()
}

/// A waiting counter, encoded without a key.
static COUNTER: LazyLock<Vec<u8>> = LazyLock::new(|| stored("w", None).encode(None));

/// Decodes, expands, restores and resumes.
fn revive(bytes: &[u8], with: Option<&CatalogImage>) -> Result<Slice, RestoreError> {
    revive_as(bytes, &expected(), with)
}

fn revive_as(
    bytes: &[u8],
    expected: &Expected<'_>,
    with: Option<&CatalogImage>,
) -> Result<Slice, RestoreError> {
    let snapshot = LIARS.expand(&StoredSnapshot::decode(bytes, expected)?)?;
    let mut guest = LIARS.restore(&snapshot, with)?;
    let slice: Result<Slice, InputError> = on_thread(&LIARS, move |thread| {
        guest.resume(thread, &[], &entry(40), &StopHandle::new())
    });
    Ok(slice.unwrap())
}

/// Puts a matching checksum at the end.
fn reseal(bytes: &mut [u8]) {
    let end = bytes.len() - SEAL;
    let seal = blake3::hash(&bytes[..end]);
    bytes[end..].copy_from_slice(seal.as_bytes());
}

/// The counter with some bytes of its header replaced, and a matching checksum.
fn forged(at: usize, field: &[u8]) -> Result<Slice, RestoreError> {
    let mut bytes = COUNTER.clone();
    bytes[at..at + field.len()].copy_from_slice(field);
    reseal(&mut bytes);
    revive(&bytes, None)
}

/// The counter with another body, and matching length and checksum.
fn with_body(page_count: u32, body: &[u8]) -> Result<Slice, RestoreError> {
    let deflated = zstd::bulk::compress(body, 1).unwrap();
    let mut bytes = COUNTER[..HEADER].to_vec();
    bytes[96..100].copy_from_slice(&page_count.to_le_bytes());
    bytes[100..104].copy_from_slice(&(deflated.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&deflated);
    bytes.extend_from_slice(&[0; SEAL]);
    reseal(&mut bytes);
    revive(&bytes, None)
}

#[test]
fn what_was_stored_goes_on() {
    assert_eq!(
        revive(&COUNTER, None).unwrap().end,
        SliceEnd::Pending {
            next_timer_us: None
        }
    );
}

#[test]
fn storing_is_deterministic_and_lossless() {
    let (mut guest, _) = eval(&LIARS, &program("W"));
    let snapshot = guest.snapshot(&binding(5)).unwrap();
    let stored = LIARS.compress(&snapshot).unwrap();
    assert_eq!(LIARS.compress(&snapshot).unwrap(), stored);
    assert_eq!(LIARS.expand(&stored).unwrap(), snapshot);
    assert_eq!(stored.raw_bytes(), snapshot.raw_bytes());
    let bytes = stored.encode(None);
    assert_eq!(bytes.len() as u64, stored.stored_bytes());
    assert_eq!(StoredSnapshot::decode(&bytes, &expected()).unwrap(), stored);
}

#[test]
fn another_owner_or_number_is_refused() {
    let owner = Binding {
        owner: [8; 32],
        ..binding(5)
    };
    let owner = StoredSnapshot::decode(
        &COUNTER,
        &Expected {
            binding: owner,
            ..expected()
        },
    );
    assert!(matches!(owner, Err(RestoreError::Owner)));
    let used = StoredSnapshot::decode(
        &COUNTER,
        &Expected {
            binding: binding(6),
            ..expected()
        },
    );
    assert!(matches!(
        used,
        Err(RestoreError::Sequence {
            found: 5,
            expected: 6
        })
    ));
}

#[test]
fn the_largest_size_is_exact() {
    let raw = stored("w", None).raw_bytes();
    let bytes = stored("w", None).encode(None);
    let decode = |max_raw_bytes| {
        StoredSnapshot::decode(
            &bytes,
            &Expected {
                max_raw_bytes,
                ..expected()
            },
        )
    };
    assert!(decode(raw).is_ok());
    assert!(matches!(
        decode(raw - 1),
        Err(RestoreError::TooLarge { .. })
    ));
}

#[test]
fn keys_must_match_and_must_not_be_left_out() {
    let (right, wrong) = (key(), SnapshotKey::new([4; 32]));
    let sealed = stored("w", None).encode(Some(&right));
    let decode = |bytes: &[u8], key| StoredSnapshot::decode(bytes, &Expected { key, ..expected() });
    assert!(decode(&sealed, Some(&right)).is_ok());
    assert!(matches!(
        decode(&sealed, Some(&wrong)),
        Err(RestoreError::Mac)
    ));
    assert!(matches!(decode(&sealed, None), Err(RestoreError::Mac)));
    assert!(matches!(
        decode(&COUNTER, Some(&right)),
        Err(RestoreError::Mac)
    ));
    let mut stripped = sealed;
    stripped[12] = 0;
    reseal(&mut stripped);
    assert!(matches!(
        decode(&stripped, Some(&right)),
        Err(RestoreError::Mac)
    ));
}

#[test]
fn every_flipped_byte_is_refused() {
    for at in 0..COUNTER.len() {
        for bit in [0x01, 0x80] {
            let mut bytes = COUNTER.clone();
            bytes[at] ^= bit;
            assert!(StoredSnapshot::decode(&bytes, &expected()).is_err(), "{at}");
        }
    }
}

#[test]
fn every_flipped_byte_under_a_forged_checksum_is_refused_or_harmless() {
    let mut refused = 0;
    for at in 0..COUNTER.len() - SEAL {
        for bit in [0x01, 0x10, 0x80] {
            let mut bytes = COUNTER.clone();
            bytes[at] ^= bit;
            reseal(&mut bytes);
            refused += u32::from(revive(&bytes, None).is_err());
        }
    }
    assert!(refused > 300, "{refused}");
    assert!(revive(&COUNTER, None).is_ok());
}

#[test]
fn every_other_length_is_refused() {
    for length in 0..COUNTER.len() {
        assert!(
            StoredSnapshot::decode(&COUNTER[..length], &expected()).is_err(),
            "{length}"
        );
    }
    for extra in [1, 31, 32, 33, 4096] {
        let mut bytes = COUNTER.clone();
        bytes.resize(COUNTER.len() + extra, 0);
        reseal(&mut bytes);
        assert!(matches!(
            StoredSnapshot::decode(&bytes, &expected()),
            Err(RestoreError::Malformed(_))
        ));
    }
}

#[test]
fn headers_that_lie_are_refused() {
    assert!(matches!(forged(0, b"X"), Err(RestoreError::Magic)));
    assert!(matches!(
        forged(8, &[2]),
        Err(RestoreError::Version {
            found: 2,
            supported: 1
        })
    ));
    assert!(matches!(
        forged(12, &[4]),
        Err(RestoreError::Malformed("flags"))
    ));
    assert!(matches!(
        forged(104, &[1]),
        Err(RestoreError::Malformed("catalog"))
    ));
    assert!(matches!(
        forged(16, &[0; 32]),
        Err(RestoreError::Image { .. })
    ));
    assert!(matches!(
        forged(88, &1u32.to_le_bytes()),
        Err(RestoreError::Malformed(_))
    ));
    assert!(matches!(
        forged(88, &65535u32.to_le_bytes()),
        Err(RestoreError::Malformed("memory size"))
    ));
    assert!(matches!(
        forged(88, &u32::MAX.to_le_bytes()),
        Err(RestoreError::Malformed("memory size"))
    ));
    assert!(matches!(
        forged(92, &64u32.to_le_bytes()),
        Err(RestoreError::Malformed("stack pointer"))
    ));
    assert!(matches!(
        forged(96, &u32::MAX.to_le_bytes()),
        Err(RestoreError::TooLarge { .. })
    ));
    assert!(matches!(
        forged(96, &1u32.to_le_bytes()),
        Err(RestoreError::Malformed("body"))
    ));
    assert!(matches!(
        forged(148, &[1]),
        Err(RestoreError::Malformed("limits"))
    ));
    assert!(matches!(
        forged(144, &u32::MAX.to_le_bytes()),
        Err(RestoreError::Sandbox(_))
    ));
    assert!(matches!(
        forged(255, &[1]),
        Err(RestoreError::Malformed("reserved bytes"))
    ));
}

#[test]
fn bodies_that_lie_are_refused() {
    let page = [0u8; 4096];
    let body = |indices: &[u32]| {
        let mut body: Vec<u8> = indices
            .iter()
            .flat_map(|index| index.to_le_bytes())
            .collect();
        indices.iter().for_each(|_| body.extend_from_slice(&page));
        body
    };
    assert!(with_body(2, &body(&[300, 301])).is_ok());
    for indices in [[301, 300], [300, 300], [300, u32::MAX], [300, 1 << 20]] {
        assert!(matches!(
            with_body(2, &body(&indices)),
            Err(RestoreError::Malformed("page indices"))
        ));
    }
    assert!(matches!(
        with_body(2, &body(&[300])),
        Err(RestoreError::Malformed("body"))
    ));
    assert!(matches!(
        with_body(1, &body(&[300, 301])),
        Err(RestoreError::Malformed("body"))
    ));
    assert!(matches!(
        with_body(0, b"x"),
        Err(RestoreError::Malformed("body"))
    ));
    let bomb = vec![0; 64 << 20];
    assert!(matches!(
        with_body(1, &bomb),
        Err(RestoreError::Malformed("body"))
    ));
}

#[test]
fn catalog_places_that_lie_are_refused() {
    let catalog = catalog(10);
    let whole = stored("c", Some(&catalog)).encode(None);
    assert!(revive(&whole, Some(&catalog)).is_ok());
    for (address, length) in [
        (0, 4096),
        (8, 4096),
        (u32::MAX - 4095, 4096),
        (4096, u32::MAX - 4095),
        (4096, 100),
    ] {
        let mut bytes = whole.clone();
        bytes[136..140].copy_from_slice(&u32::to_le_bytes(address));
        bytes[140..144].copy_from_slice(&u32::to_le_bytes(length));
        reseal(&mut bytes);
        let refused = revive(&bytes, Some(&catalog));
        assert!(
            matches!(refused, Err(RestoreError::Malformed("catalog region"))),
            "{address} {length}"
        );
    }
}

proptest::proptest! {
    #[test]
    fn random_bytes_are_refused_without_panic(
        mut bytes in proptest::collection::vec(proptest::prelude::any::<u8>(), 0..1024),
        keep in 0usize..HEADER,
    ) {
        // Keeping the start of a real header gets past the first checks.
        let keep = keep.min(bytes.len());
        bytes[..keep].copy_from_slice(&COUNTER[..keep]);
        proptest::prop_assert!(revive(&bytes, None).is_err());
        if bytes.len() > HEADER + SEAL {
            bytes[..HEADER].copy_from_slice(&COUNTER[..HEADER]);
            let body = (bytes.len() - HEADER - SEAL) as u32;
            bytes[100..104].copy_from_slice(&body.to_le_bytes());
            reseal(&mut bytes);
            proptest::prop_assert!(revive(&bytes, None).is_err());
        }
    }
}

#[test]
fn two_restores_of_one_snapshot_do_not_meet() {
    let first = revive(&COUNTER, None).unwrap();
    let second = revive(&COUNTER, None).unwrap();
    assert_eq!((first.end, first.frames), (second.end, second.frames));
}

/// Files of earlier days with what becomes of them; `corpus/verdicts.txt` names each.
fn corpus() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("tests/it/corpus")
}

fn verdict(bytes: &[u8], catalog: &CatalogImage) -> String {
    let key = key();
    let keyed = bytes.get(12).is_some_and(|flags| flags & 2 != 0);
    let expected = Expected {
        key: keyed.then_some(&key),
        ..expected()
    };
    match revive_as(bytes, &expected, Some(catalog)) {
        Ok(_) => "loads".to_owned(),
        Err(error) => format!("refused: {error}"),
    }
}

#[test]
fn the_corpus_keeps_its_verdicts() {
    let catalog = catalog(10);
    let verdicts = std::fs::read_to_string(corpus().join("verdicts.txt")).unwrap();
    let files = std::fs::read_dir(corpus()).unwrap().count();
    assert_eq!(verdicts.lines().count(), files - 1);
    for line in verdicts.lines() {
        let (name, expected) = line.split_once(' ').unwrap();
        let bytes = std::fs::read(corpus().join(name)).unwrap();
        assert_eq!(verdict(&bytes, &catalog), expected, "{name}");
    }
}

/// Writes the corpus of the present version: run it once when the format's version rises, under new names.
#[test]
#[ignore = "writes files"]
fn write_corpus() {
    let catalog = catalog(10);
    let counter = stored("w", None);
    let forge = |at: usize, byte: u8| {
        let mut bytes = counter.encode(None);
        bytes[at] = byte;
        reseal(&mut bytes);
        bytes
    };
    let mut flipped = counter.encode(None);
    flipped[HEADER + 9] ^= 4;
    let files = [
        ("v1-plain.snap", counter.encode(None)),
        ("v1-keyed.snap", counter.encode(Some(&key()))),
        ("v1-catalog.snap", stored("c", Some(&catalog)).encode(None)),
        ("v1-flipped.snap", flipped),
        ("v1-truncated.snap", counter.encode(None)[..300].to_vec()),
        ("v1-other-image.snap", forge(20, 0x55)),
        ("v1-stack-pointer.snap", forge(93, 0x55)),
        ("v1-reserved.snap", forge(250, 1)),
        ("v2-newer.snap", forge(8, 2)),
        ("not-a-snapshot.snap", b"{\"version\": 1}".to_vec()),
    ];
    let mut verdicts = String::new();
    for (name, bytes) in files {
        verdicts += &format!("{name} {}\n", verdict(&bytes, &catalog));
        std::fs::write(corpus().join(name), bytes).unwrap();
    }
    std::fs::write(corpus().join("verdicts.txt"), verdicts).unwrap();
}
