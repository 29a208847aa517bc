//! The bytes that cross between a guest and its host, and those that a suspended guest becomes.

use codecell_sandbox::{
    Binding, Expected, Frame, FrameLimits, SnapshotKey, StoredSnapshot, decode_frames,
};
use serde_json::{Map, Value, json};

use crate::engine::sandbox;
use crate::parked::{Answer, Live, drive};

/// Frames are read within their bytes and their limits; what is read of a buffer does not change when
/// more bytes follow.
///
/// # Panics
/// When it is otherwise.
pub fn frames(bytes: &[u8]) {
    let (frames, error) = decode_frames(bytes, FrameLimits::default());
    let carried: usize = frames.iter().map(carried).sum();
    assert!(
        carried <= bytes.len(),
        "{carried} bytes out of {}",
        bytes.len()
    );
    let again = decode_frames(bytes, FrameLimits::default());
    assert_eq!((&frames, &error), (&again.0, &again.1));
    for cut in [bytes.len() / 2, bytes.len().saturating_sub(1)] {
        let (fewer, _) = decode_frames(&bytes[..cut], FrameLimits::default());
        assert!(
            frames.starts_with(&fewer),
            "a shorter buffer says something else"
        );
    }
    let (few, error) = decode_frames(bytes, FrameLimits { frames: 1 });
    assert!(
        few.len() <= 1 && (error.is_some() || frames.len() <= 1),
        "the limit is not held"
    );
}

fn carried(frame: &Frame) -> usize {
    match frame {
        Frame::Call {
            target, arguments, ..
        } => target.len() + arguments.len(),
        Frame::Output { text, .. } | Frame::Console { text, .. } => text.len(),
        Frame::Value(text) | Frame::Print(text) => text.len(),
        Frame::Error { json, .. } => json.len(),
        Frame::Yield { reason } => reason.len(),
        Frame::ValueTooLarge | Frame::Turn { .. } => 0,
    }
}

/// A snapshot is refused, or is byte for byte what writing it again gives; it never becomes larger
/// than it says and is allowed, and none without the right key passes for one with it.
///
/// # Panics
/// When it is otherwise.
pub fn snapshot(bytes: &[u8]) {
    const MAX_RAW_BYTES: u64 = 1 << 20;
    let sandbox = sandbox();
    let key = SnapshotKey::new([7; 32]);
    let binding = Binding {
        owner: [9; 32],
        sequence: 1,
    };
    forged_snapshot(bytes, binding, MAX_RAW_BYTES);
    for key in [None, Some(&key)] {
        let expected = Expected {
            image: sandbox.image(),
            binding,
            key,
            max_raw_bytes: MAX_RAW_BYTES,
        };
        let Ok(stored) = StoredSnapshot::decode(bytes, &expected) else {
            continue;
        };
        assert_eq!(
            stored.encode(key),
            bytes,
            "written again it is something else"
        );
        assert_eq!(stored.binding(), &binding);
        assert!(stored.raw_bytes() <= MAX_RAW_BYTES);
        if let Ok(snapshot) = sandbox.expand(&stored) {
            let stored = sandbox.compress(&snapshot);
            assert!(stored.is_ok(), "{stored:?}");
        }
    }
}

/// The bytes as somebody would forge them who can make a checksum: this image, the right owner and
/// number, the right length. They are refused or restored; nothing runs.
///
/// # Panics
/// When it is otherwise.
fn forged_snapshot(bytes: &[u8], binding: Binding, max_raw_bytes: u64) {
    const HEADER_BYTES: usize = 256;
    const SEAL_BYTES: usize = 32;
    let Some(body_bytes) = bytes.len().checked_sub(HEADER_BYTES + SEAL_BYTES) else {
        return;
    };
    let sandbox = sandbox();
    let mut forged = bytes.to_vec();
    forged[12] &= !2;
    forged[16..48].copy_from_slice(sandbox.image().as_bytes());
    forged[48..80].copy_from_slice(&binding.owner);
    forged[80..88].copy_from_slice(&binding.sequence.to_le_bytes());
    forged[100..104].copy_from_slice(&(body_bytes as u32).to_le_bytes());
    let end = forged.len() - SEAL_BYTES;
    let seal = blake3::hash(&forged[..end]);
    forged[end..].copy_from_slice(seal.as_bytes());
    let expected = Expected {
        image: sandbox.image(),
        binding,
        key: None,
        max_raw_bytes,
    };
    let Ok(stored) = StoredSnapshot::decode(&forged, &expected) else {
        return;
    };
    assert_eq!(
        stored.encode(None),
        forged,
        "written again it is something else"
    );
    assert!(stored.raw_bytes() <= max_raw_bytes);
    if let Ok(snapshot) = sandbox.expand(&stored) {
        drop(sandbox.restore(&snapshot, None));
    }
}

/// A JSON value goes into a guest as a reply, comes out as arguments and as a result, and is the same:
/// as data, whatever its keys are called.
///
/// # Panics
/// When it is otherwise.
pub fn json(bytes: &[u8]) {
    const SOURCE: &str = "(async function(){\nconst got = await tools.call('in', {});\n\
                          await tools.call('out', {got});\nreturn {got};\n})";
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
        return;
    };
    let expected = json!({ "got": plain(&value) });
    let sandbox = sandbox();
    let inner = sandbox.clone();
    let ran = sandbox.run("json", move |thread| {
        let mut seen = Vec::new();
        let written = drive(&mut Live::new(&inner, thread), SOURCE, &mut |call| {
            seen.push(call.arguments.clone());
            Answer::Value(value.clone())
        });
        (written, seen)
    });
    let Ok(Some((written, seen))) = ran else {
        panic!("the guest's thread is lost");
    };
    let returned = written.iter().find_map(|frame| frame["value"].as_str());
    let returned: Option<Value> = returned.and_then(|text| serde_json::from_str(text).ok());
    assert_eq!(
        seen.get(1).map(plain),
        Some(expected.clone()),
        "as arguments: {written:?}"
    );
    assert_eq!(returned.as_ref().map(plain), Some(expected), "as a result");
}

/// The value as JavaScript knows it: every number a double, and one zero.
fn plain(value: &Value) -> Value {
    match value {
        Value::Number(number) => json!(number.as_f64().map(|number| number + 0.0)),
        Value::Array(items) => items.iter().map(plain).collect(),
        Value::Object(fields) => {
            let fields = fields
                .iter()
                .map(|(key, value)| (key.clone(), plain(value)));
            Value::Object(fields.collect::<Map<_, _>>())
        }
        other => other.clone(),
    }
}
