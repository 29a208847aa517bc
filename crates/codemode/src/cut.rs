//! A cut of a JSON value that is itself valid JSON and says where it was cut.
//!
//! Heads are kept: the first characters of a string, the first elements of an array, the first
//! members of an object. The invariant: the text of the cut never has more bytes than asked for,
//! whatever the value.

use serde_json::{Map, Value};

/// The least budget, in bytes: enough for the marker of any value.
pub(crate) const MIN_CUT_BYTES: usize = 64;

const MAX_DEPTH: usize = 64;

/// The value, or its head with markers, in at most `max_bytes` (at least [`MIN_CUT_BYTES`]) of JSON.
pub(crate) fn cut(value: &Value, max_bytes: usize) -> Value {
    let max_bytes = max_bytes.max(MIN_CUT_BYTES);
    if size(value, max_bytes) <= max_bytes {
        return value.clone();
    }
    fit(value, max_bytes, 0)
}

fn fit(value: &Value, max_bytes: usize, depth: usize) -> Value {
    match value {
        Value::String(text) => string(text, max_bytes),
        Value::Array(items) if depth < MAX_DEPTH => array(items, max_bytes, depth),
        Value::Object(members) if depth < MAX_DEPTH => object(members, max_bytes, depth),
        Value::Array(items) => marker(&format!("[{} elements cut]", items.len())),
        Value::Object(members) => marker(&format!("[{} members cut]", members.len())),
        small => small.clone(),
    }
}

fn marker(text: &str) -> Value {
    Value::String(text.to_owned())
}

/// Bytes of a value's JSON, counted no further than `stop`.
fn size(value: &Value, stop: usize) -> usize {
    struct Counter {
        bytes: usize,
        stop: usize,
    }
    impl std::io::Write for Counter {
        fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
            self.bytes += bytes.len();
            if self.bytes > self.stop {
                return Err(std::io::ErrorKind::FileTooLarge.into());
            }
            Ok(bytes.len())
        }
        fn flush(&mut self) -> std::io::Result<()> {
            Ok(())
        }
    }
    let mut counter = Counter { bytes: 0, stop };
    match serde_json::to_writer(&mut counter, value) {
        Ok(()) => counter.bytes,
        Err(_) => usize::MAX,
    }
}

fn string(text: &str, max_bytes: usize) -> Value {
    let whole = Value::from(text);
    if size(&whole, max_bytes) <= max_bytes {
        return whole;
    }
    let note = format!("… [cut from {} bytes]", text.len());
    let mut used = 2 + note.len();
    let mut head = String::new();
    for character in text.chars() {
        used += escaped_bytes(character);
        if used > max_bytes {
            break;
        }
        head.push(character);
    }
    Value::String(head + &note)
}

/// Bytes of a character within a JSON string.
fn escaped_bytes(character: char) -> usize {
    match character {
        '"' | '\\' | '\n' | '\r' | '\t' | '\u{8}' | '\u{c}' => 2,
        c if (c as u32) < 0x20 => 6,
        c => c.len_utf8(),
    }
}

/// Room that is kept for the marker of an array or object, in bytes.
const MARKER_BYTES: usize = 48;

fn array(items: &[Value], max_bytes: usize, depth: usize) -> Value {
    let mut kept = Vec::new();
    let mut left = max_bytes.saturating_sub(2);
    for (at, item) in items.iter().enumerate() {
        let reserve = if at + 1 == items.len() {
            0
        } else {
            MARKER_BYTES
        };
        let room = left.saturating_sub(reserve + 1);
        let bytes = size(item, room);
        if bytes <= room {
            left -= bytes + 1;
            kept.push(item.clone());
            continue;
        }
        let room = left.saturating_sub(MARKER_BYTES + 1);
        let mut rest = items.len() - at;
        if room >= MIN_CUT_BYTES {
            kept.push(fit(item, room, depth + 1));
            rest -= 1;
        }
        if rest > 0 {
            kept.push(marker(&format!(
                "[{rest} more of {} elements]",
                items.len()
            )));
        }
        break;
    }
    Value::Array(kept)
}

fn object(members: &Map<String, Value>, max_bytes: usize, depth: usize) -> Value {
    let mut kept = Map::new();
    let mut left = max_bytes.saturating_sub(2);
    for (at, (key, value)) in members.iter().enumerate() {
        let reserve = if at + 1 == members.len() {
            0
        } else {
            MARKER_BYTES
        };
        let key_bytes = key.chars().map(escaped_bytes).sum::<usize>() + 4;
        let room = left.saturating_sub(reserve + key_bytes);
        let bytes = size(value, room);
        if key_bytes < left && bytes <= room {
            left -= bytes + key_bytes;
            kept.insert(key.clone(), value.clone());
            continue;
        }
        let room = left.saturating_sub(MARKER_BYTES + key_bytes);
        let mut rest = members.len() - at;
        if room >= MIN_CUT_BYTES {
            kept.insert(key.clone(), fit(value, room, depth + 1));
            rest -= 1;
        }
        if rest > 0 {
            kept.insert(
                "…".to_owned(),
                marker(&format!("{rest} more of {} members", members.len())),
            );
        }
        break;
    }
    Value::Object(kept)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use serde_json::json;

    use super::*;

    #[test]
    fn what_fits_is_left_alone() {
        let value = json!({"a": [1, "two", null], "b": {"c": true}});
        assert_eq!(cut(&value, 64), value);
    }

    #[test]
    fn heads_are_kept_and_cuts_are_marked() {
        let value = json!("ab".repeat(100));
        assert_eq!(
            cut(&value, 64),
            json!(format!("{}… [cut from 200 bytes]", "ab".repeat(19)))
        );
        let value = json!((0..100).collect::<Vec<_>>());
        assert_eq!(
            cut(&value, 64),
            json!([0, 1, 2, 3, 4, 5, 6, "[93 more of 100 elements]"])
        );
        let value = json!({"a": 1, "b": "x".repeat(300)});
        assert_eq!(cut(&value, 64), json!({"a": 1, "…": "1 more of 2 members"}));
    }

    #[test]
    fn a_cut_never_splits_a_character() {
        let value = json!("😀".repeat(100));
        let Value::String(text) = cut(&value, 70) else {
            panic!("a string stays one")
        };
        assert!(
            text.starts_with("😀😀") && text.ends_with("… [cut from 400 bytes]"),
            "{text}"
        );
    }

    fn values() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![
            Just(Value::Null),
            any::<bool>().prop_map(Value::from),
            any::<i64>().prop_map(Value::from),
            ".{0,80}".prop_map(Value::from),
        ];
        leaf.prop_recursive(4, 64, 8, |inner| {
            prop_oneof![
                prop::collection::vec(inner.clone(), 0..8).prop_map(Value::from),
                prop::collection::vec((".{0,20}", inner), 0..8)
                    .prop_map(|members| Value::Object(members.into_iter().collect())),
            ]
        })
    }

    proptest! {
        #[test]
        fn a_cut_is_never_larger_than_asked_for(value in values(), max_bytes in MIN_CUT_BYTES..2000) {
            let cut = cut(&value, max_bytes);
            prop_assert!(cut.to_string().len() <= max_bytes, "{} > {max_bytes}", cut.to_string().len());
        }
    }
}
