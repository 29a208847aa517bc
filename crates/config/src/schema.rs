//! The JSON Schema and the documentation of the keys, both made from the table of keys.

use std::fmt::Write as _;

use serde_json::{Map, Value, json};

use crate::keys::{self, Clamp, Key, Kind};

/// The JSON Schema of a config file, for editors.
///
/// Keys that the program refuses are left out; keys that it ignores may hold anything. Every string
/// may be `${NAME}`, and every object may be brought in by `$include`.
pub fn schema() -> Value {
    let mut schema = json!({
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": "codecell configuration",
    });
    merge(&mut schema, of_kind(&keys::ROOT));
    schema
}

/// The keys of `tools.codeMode` with their defaults and clamps, as a Markdown table.
pub fn clamp_table_markdown() -> String {
    let mut text = String::from("| key | default | bounds | meaning |\n|---|---|---|---|\n");
    for key in keys::CODE_MODE {
        let (default, bounds) = default_and_bounds(&key.kind);
        let _ = writeln!(
            text,
            "| `{}` | {default} | {bounds} | {} |",
            key.name, key.doc
        );
    }
    text
}

fn default_and_bounds(kind: &Kind) -> (String, String) {
    match kind {
        Kind::Integer(Clamp {
            default,
            min,
            max,
            unit,
        }) => (
            default.map_or("by the machine".to_owned(), |default| default.to_string()),
            format!("{min} to {max} {unit}"),
        ),
        Kind::Choice(words, default) => {
            let default = default.map_or(String::new(), |word| format!("`{}`", json!(word)));
            (default, listed(words))
        }
        Kind::Choices(words) => (format!("`{}`", json!(words)), listed(words)),
        Kind::FlagOr(words) => (
            "`false`".to_owned(),
            format!("`true`, `false`, {}", listed(words)),
        ),
        _ => ("none".to_owned(), String::new()),
    }
}

fn listed(words: &[&str]) -> String {
    let words = words.iter().map(|word| format!("`{}`", json!(word)));
    words.collect::<Vec<_>>().join(", ")
}

fn of_kind(kind: &Kind) -> Value {
    match kind {
        Kind::Flag(default) => json!({"type": "boolean", "default": default}),
        Kind::FlagOr(words) => {
            json!({"anyOf": [{"type": "boolean"}, {"enum": words}], "default": false})
        }
        Kind::Integer(clamp) => of_clamp(clamp),
        Kind::Text => json!({"type": "string"}),
        Kind::Choice(words, Some(default)) => json!({"enum": words, "default": default}),
        Kind::Choice(words, None) => json!({"enum": words}),
        Kind::Choices(words) => {
            json!({"type": "array", "items": {"enum": words}, "minItems": 1, "default": words})
        }
        Kind::Texts => json!({"type": "array", "items": {"type": "string"}}),
        Kind::Object(keys) => of_object(keys),
        Kind::FlagOrObject(keys) => json!({"anyOf": [{"type": "boolean"}, of_object(keys)]}),
        Kind::Map(each) => json!({"type": "object", "additionalProperties": of_kind(each)}),
        Kind::List(each) => json!({"type": "array", "items": of_kind(each)}),
        Kind::Server => {
            let mut schema = of_object(keys::SERVER);
            let one_of = json!({"oneOf": [{"required": ["command"]}, {"required": ["url"]}]});
            merge(&mut schema, one_of);
            schema
        }
        Kind::OnlyOpen(words, advice) => json!({"enum": words, "description": advice}),
        Kind::Free | Kind::Ignored | Kind::Restricting(_) => json!({}),
    }
}

fn of_clamp(clamp: &Clamp) -> Value {
    let mut schema = json!({"type": "integer", "minimum": clamp.min, "maximum": clamp.max});
    if let Some(default) = clamp.default {
        merge(&mut schema, json!({"default": default}));
    }
    schema
}

fn of_object(keys: &[Key]) -> Value {
    let allowed = keys
        .iter()
        .filter(|key| !matches!(key.kind, Kind::Restricting(_)));
    let mut properties: Map<String, Value> = allowed
        .map(|key| {
            let mut schema = of_kind(&key.kind);
            if !key.doc.is_empty() {
                merge(&mut schema, json!({"description": key.doc}));
            }
            (key.name.to_owned(), schema)
        })
        .collect();
    let include = json!({"anyOf": [
        {"type": "string"},
        {"type": "array", "items": {"type": "string"}},
    ]});
    properties.insert("$include".to_owned(), include);
    json!({"type": "object", "properties": properties, "additionalProperties": false})
}

fn merge(into: &mut Value, from: Value) {
    if let (Value::Object(into), Value::Object(from)) = (into, from) {
        into.extend(from);
    }
}
