//! Arguments that a schema accepts: as few as it allows, made from its own words.
//!
//! For the schemas of real servers, not for all of JSON Schema: what is not understood gives `null`,
//! and the test that uses it says which tool refused.

use serde_json::{Map, Number, Value, json};

/// How deep references are followed; beyond it a schema that requires itself has no finite value.
const MAX_DEPTH: usize = 32;

/// The smallest value that comes to mind for a schema.
#[must_use]
pub fn minimal(schema: &Value) -> Value {
    Maker { root: schema }.value(schema, 0)
}

struct Maker<'a> {
    root: &'a Value,
}

impl Maker<'_> {
    fn value(&self, schema: &Value, depth: usize) -> Value {
        let Some(fields) = schema.as_object().filter(|_| depth < MAX_DEPTH) else {
            return Value::Null;
        };
        if let Some(value) = fields.get("const").or_else(|| fields.get("enum")?.get(0)) {
            return value.clone();
        }
        if let Some(target) = fields.get("$ref").and_then(Value::as_str) {
            return self.value(self.referred(target), depth + 1);
        }
        let own = self.of_type(fields, depth);
        let parts = fields.get("allOf").and_then(Value::as_array);
        let choices = ["anyOf", "oneOf"].map(|key| fields.get(key)?.as_array()?.first());
        let parts = parts
            .into_iter()
            .flatten()
            .chain(choices.into_iter().flatten());
        parts.fold(own, |whole, part| {
            joined(whole, self.value(part, depth + 1))
        })
    }

    fn referred(&self, target: &str) -> &Value {
        let pointer = target.strip_prefix('#').unwrap_or_default();
        self.root.pointer(pointer).unwrap_or(&Value::Null)
    }

    fn of_type(&self, fields: &Map<String, Value>, depth: usize) -> Value {
        let of = |key: &str| fields.get(key);
        let first = |kind: &'_ Value| match kind {
            Value::Array(kinds) => kinds.first().and_then(Value::as_str).map(str::to_owned),
            other => other.as_str().map(str::to_owned),
        };
        let kind = of("type").and_then(first);
        match kind.as_deref() {
            Some("string") => Value::from(text(fields)),
            Some("number" | "integer") => Value::Number(number(fields)),
            Some("boolean") => Value::Bool(true),
            Some("array") => {
                let least = of("minItems").and_then(Value::as_u64).unwrap_or(0);
                let item = of("items").unwrap_or(&Value::Null);
                (0..least).map(|_| self.value(item, depth + 1)).collect()
            }
            Some("object") => self.object(fields, depth),
            None if of("properties").is_some() => self.object(fields, depth),
            _ => Value::Null,
        }
    }

    fn object(&self, fields: &Map<String, Value>, depth: usize) -> Value {
        let required = fields.get("required").and_then(Value::as_array);
        let names = required.into_iter().flatten().filter_map(Value::as_str);
        let property = |name: &str| fields.get("properties")?.get(name);
        let made = names.map(|name| {
            let value = property(name).map(|schema| self.value(schema, depth + 1));
            (name.to_owned(), value.unwrap_or_else(|| json!("x")))
        });
        Value::Object(made.collect())
    }
}

/// Two values of which both schemas are content: fields of both objects, or the one that is not `null`.
fn joined(one: Value, other: Value) -> Value {
    match (one, other) {
        (Value::Object(mut one), Value::Object(other)) => {
            one.extend(other);
            Value::Object(one)
        }
        (Value::Null, other) => other,
        (one, _) => one,
    }
}

fn text(fields: &Map<String, Value>) -> String {
    let sample = match fields.get("format").and_then(Value::as_str) {
        Some("uri" | "url") => "http://127.0.0.1/",
        Some("date-time") => "2026-01-31T09:30:00Z",
        Some("date") => "2026-01-31",
        Some("email") => "a@example.com",
        Some("uuid") => "00000000-0000-4000-8000-000000000000",
        _ => "a",
    };
    let least = fields.get("minLength").and_then(Value::as_u64).unwrap_or(0) as usize;
    sample.repeat(least.div_ceil(sample.len()).max(1))
}

fn number(fields: &Map<String, Value>) -> Number {
    let bound = |key: &str| fields.get(key).and_then(Value::as_f64);
    let least = bound("minimum").or_else(|| bound("exclusiveMinimum").map(|least| least + 1.0));
    let value = least
        .unwrap_or(1.0)
        .min(bound("maximum").unwrap_or(f64::MAX));
    match value.fract() == 0.0 {
        true => Number::from(value as i64),
        false => Number::from_f64(value).unwrap_or_else(|| Number::from(1)),
    }
}
