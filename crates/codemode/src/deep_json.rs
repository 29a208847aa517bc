//! JSON that nests deeper than the parser's own bound, up to a bound of ours.
//!
//! The parser recurses, so it stops at 128 levels. A text that goes deeper is read in layers: below
//! a depth the rest is taken as raw text and read by a parser of its own. The recursion as a whole
//! stays within `max_depth`, which callers keep small enough for any thread's stack.

use std::fmt;

use serde::Deserialize as _;
use serde::de::{DeserializeSeed, Deserializer, Error as _, MapAccess, SeqAccess, Visitor};
use serde_json::value::RawValue;
use serde_json::{Map, Value};

/// Levels that one parser reads.
const LAYER: usize = 100;

/// What the error of a text that is too deep says; told from others by nothing else.
const TOO_DEEP: &str = "too deep";

/// Why a text was not read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum DeepJsonError {
    /// It nests deeper than allowed.
    TooDeep,
    /// It is not JSON.
    Malformed,
}

/// Reads a text of at most `max_depth` nested arrays and objects.
pub(crate) fn parse(json: &str, max_depth: usize) -> Result<Value, DeepJsonError> {
    // Most texts are flat, and the parser's own way is the fastest.
    if let Ok(value) = serde_json::from_str(json) {
        return Ok(value);
    }
    parse_layers(json, max_depth).map_err(|error| {
        let is_deep = error.to_string().starts_with(TOO_DEEP);
        if is_deep {
            DeepJsonError::TooDeep
        } else {
            DeepJsonError::Malformed
        }
    })
}

fn parse_layers(json: &str, left: usize) -> serde_json::Result<Value> {
    let mut parser = serde_json::Deserializer::from_str(json);
    let value = Layer { left, here: LAYER }.deserialize(&mut parser)?;
    parser.end()?;
    Ok(value)
}

/// Reads one value with so many levels left, in all and in this layer.
#[derive(Clone, Copy)]
struct Layer {
    left: usize,
    here: usize,
}

impl Layer {
    fn below<E: serde::de::Error>(self) -> Result<Self, E> {
        let left = self
            .left
            .checked_sub(1)
            .ok_or_else(|| E::custom(TOO_DEEP))?;
        Ok(Self {
            left,
            here: self.here - 1,
        })
    }
}

impl<'de> DeserializeSeed<'de> for Layer {
    type Value = Value;

    fn deserialize<D: Deserializer<'de>>(self, parser: D) -> Result<Value, D::Error> {
        if self.here > 0 {
            return parser.deserialize_any(self);
        }
        let raw = <&RawValue>::deserialize(parser)?;
        parse_layers(raw.get(), self.left).map_err(D::Error::custom)
    }
}

impl<'de> Visitor<'de> for Layer {
    type Value = Value;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("JSON")
    }

    fn visit_unit<E>(self) -> Result<Value, E> {
        Ok(Value::Null)
    }

    fn visit_bool<E>(self, value: bool) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_i64<E>(self, value: i64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_u64<E>(self, value: u64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_f64<E>(self, value: f64) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_str<E>(self, value: &str) -> Result<Value, E> {
        Ok(Value::from(value))
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<Value, A::Error> {
        let below = self.below()?;
        let mut array = Vec::new();
        while let Some(item) = items.next_element_seed(below)? {
            array.push(item);
        }
        Ok(Value::Array(array))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<Value, A::Error> {
        let below = self.below()?;
        let mut object = Map::new();
        while let Some(key) = members.next_key::<String>()? {
            object.insert(key, members.next_value_seed(below)?);
        }
        Ok(Value::Object(object))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn nested(depth: usize) -> String {
        let (open, close): (String, String) = (0..depth)
            .map(|level| {
                if level % 2 == 0 {
                    ("[", "]")
                } else {
                    ("{\"a\":", "}")
                }
            })
            .unzip();
        format!("{open}-1.5{}", close.chars().rev().collect::<String>())
    }

    #[test]
    fn depth_counts_and_nothing_else() {
        for depth in [0, 1, 100, 101, 127, 128, 200, 512] {
            let value = parse(&nested(depth), 512).map(|value| value.to_string());
            assert_eq!(value, Ok(nested(depth)), "{depth}");
        }
        assert_eq!(parse(&nested(513), 512), Err(DeepJsonError::TooDeep));
        assert_eq!(parse(&nested(300), 299), Err(DeepJsonError::TooDeep));
        for text in ["", "{", "[1,]", "[1] 2"] {
            assert_eq!(parse(text, 512), Err(DeepJsonError::Malformed), "{text}");
        }
        let broken = nested(300).replace("-1.5", "-x");
        assert_eq!(parse(&broken, 512), Err(DeepJsonError::Malformed));
    }
}
