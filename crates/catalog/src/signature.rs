//! One-line signatures: a JSON Schema as a compact TypeScript type.
//!
//! They are advice for a program's author, not the check of its arguments. A signature is at most
//! [`MAX_SIGNATURE_CHARS`] characters, has no line break, and is always a whole TypeScript type:
//! what does not fit is left out and counted in a comment, never cut in the middle.

use serde_json::Value;

use crate::schema_type::{self, Type};
use crate::type_text::Printer;

/// The longest signature, in characters.
pub const MAX_SIGNATURE_CHARS: usize = 400;

/// The signature of an output that no schema declares.
pub const UNDECLARED: &str = "?";

/// How deep objects are shown when there is room.
const MAX_SHOWN_DEPTH: usize = 5;

/// The input of a tool as a type, for example `{ path: string; limit?: number }`.
///
/// A schema that asks for nothing gives `{}`.
pub fn input_signature(schema: &Value) -> String {
    match schema_type::lower(schema) {
        Type::Unknown | Type::AnyObject if !admits_any_key(schema) => "{}".to_owned(),
        lowered => fitted(&lowered),
    }
}

/// The value of a tool as a type, or [`UNDECLARED`].
pub fn output_signature(schema: Option<&Value>) -> String {
    match schema {
        None => UNDECLARED.to_owned(),
        Some(schema) => fitted(&schema_type::lower(schema)),
    }
}

fn admits_any_key(schema: &Value) -> bool {
    schema
        .get("additionalProperties")
        .is_some_and(|more| more != &Value::Bool(false))
}

/// The type with as much of its depth as fits, then as many of its properties.
fn fitted(lowered: &Type<'_>) -> String {
    for depth in (1..=MAX_SHOWN_DEPTH).rev() {
        let text = Printer::whole(depth).print(lowered);
        if text.chars().count() <= MAX_SIGNATURE_CHARS {
            return text;
        }
    }
    let mut max_members = 16;
    while max_members > 0 {
        let text = Printer {
            max_depth: 1,
            max_members,
        }
        .print(lowered);
        if text.chars().count() <= MAX_SIGNATURE_CHARS {
            return text;
        }
        max_members -= 1;
    }
    "unknown".to_owned()
}
