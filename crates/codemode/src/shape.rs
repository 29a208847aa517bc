//! The shape of a JSON value in one line, in the notation of the catalog's signatures.
//!
//! Made from a value, not from a schema: what is seen is what is said. Bounded in depth, members
//! and length, so that a shape is always short enough to be part of a result.

use serde_json::{Map, Value};

const MAX_DEPTH: usize = 4;
const MAX_MEMBERS: usize = 12;
const MAX_SAMPLED: usize = 8;
const MAX_CHARS: usize = 300;

/// The shape, at most 300 characters.
pub(crate) fn shape(value: &Value) -> String {
    let text = of(value, 0);
    match text.char_indices().nth(MAX_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// Elements of an array, members of an object, 1 for a scalar.
pub(crate) fn count(value: &Value) -> u64 {
    match value {
        Value::Array(items) => items.len() as u64,
        Value::Object(members) => members.len() as u64,
        _ => 1,
    }
}

fn of(value: &Value, depth: usize) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(_) => "boolean".to_owned(),
        Value::Number(_) => "number".to_owned(),
        Value::String(_) => "string".to_owned(),
        Value::Array(items) => array(items, depth),
        Value::Object(members) => object(members, depth),
    }
}

fn array(items: &[Value], depth: usize) -> String {
    if depth == MAX_DEPTH {
        return "Array<…>".to_owned();
    }
    let mut shapes: Vec<String> = Vec::new();
    for item in items.iter().take(MAX_SAMPLED) {
        let shape = of(item, depth + 1);
        if !shapes.contains(&shape) {
            shapes.push(shape);
        }
    }
    match shapes.as_slice() {
        [] => "Array<never>".to_owned(),
        shapes => format!("Array<{}>", shapes.join(" | ")),
    }
}

fn object(members: &Map<String, Value>, depth: usize) -> String {
    if members.is_empty() {
        return "{}".to_owned();
    }
    if depth == MAX_DEPTH {
        return "{ … }".to_owned();
    }
    let mut parts: Vec<String> = members
        .iter()
        .take(MAX_MEMBERS)
        .map(|(key, value)| format!("{}: {}", property(key), of(value, depth + 1)))
        .collect();
    if members.len() > MAX_MEMBERS {
        parts.push("…".to_owned());
    }
    format!("{{ {} }}", parts.join("; "))
}

fn property(key: &str) -> String {
    if codecell_catalog::is_identifier(key) {
        return key.to_owned();
    }
    Value::from(key).to_string()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn shapes_are_in_the_notation_of_signatures() {
        let cases = [
            (json!(null), "null"),
            (json!([]), "Array<never>"),
            (json!([1, 2, "x"]), "Array<number | string>"),
            (
                json!([{"path": "a", "lines": 3}]),
                "Array<{ path: string; lines: number }>",
            ),
            (json!({"a-b": {}}), r#"{ "a-b": {} }"#),
            (json!([[[[[1]]]]]), "Array<Array<Array<Array<Array<…>>>>>"),
        ];
        for (value, expected) in cases {
            assert_eq!(shape(&value), expected);
        }
    }

    #[test]
    fn a_shape_is_short_whatever_the_value() {
        let wide: Map<String, Value> = (0..500)
            .map(|i| ("k".repeat(50) + &i.to_string(), json!([{}])))
            .collect();
        assert!(shape(&Value::Object(wide)).chars().count() <= MAX_CHARS + 1);
    }
}
