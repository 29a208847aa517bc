//! Fills in what a schema says is meant when an argument is left out.
//!
//! Only what the schema of a present object says of its own properties: nothing is added inside of
//! alternatives, because which one is meant is not known. What was given is never changed, and the
//! result is checked like any other input.

use serde_json::{Map, Value};

/// The most defaults that one call is given.
const MAX_FILLED: usize = 1_024;

/// The size of all defaults that one call is given, in bytes of JSON.
const MAX_FILLED_BYTES: usize = 256 << 10;

/// How deep objects are looked into.
const MAX_DEPTH: usize = 16;

/// The most schema nodes that are looked at.
const MAX_NODES: usize = 10_000;

/// Adds the defaults of properties that are absent; whether there were any.
pub(crate) fn fill(schema: &Value, input: &mut Value) -> bool {
    let mut filling = Filling {
        root: schema,
        filled: 0,
        bytes: 0,
        nodes: 0,
    };
    filling.value(schema, input, 0);
    filling.filled > 0
}

struct Filling<'a> {
    root: &'a Value,
    filled: usize,
    bytes: usize,
    nodes: usize,
}

impl<'a> Filling<'a> {
    fn value(&mut self, schema: &'a Value, input: &mut Value, depth: usize) {
        self.nodes += 1;
        if depth > MAX_DEPTH || self.nodes > MAX_NODES {
            return;
        }
        let schema = self.followed(schema);
        match input {
            Value::Object(fields) => self.object(schema, fields, depth),
            Value::Array(items) => {
                if let Some(each @ Value::Object(_)) = schema.get("items") {
                    for item in items.iter_mut().take(MAX_NODES) {
                        self.value(each, item, depth + 1);
                    }
                }
            }
            _ => {}
        }
    }

    fn object(&mut self, schema: &'a Value, fields: &mut Map<String, Value>, depth: usize) {
        let Some(Value::Object(properties)) = schema.get("properties") else {
            return;
        };
        for (name, property) in properties.iter().take(MAX_NODES) {
            self.nodes += 1;
            match fields.get_mut(name) {
                Some(given) => self.value(property, given, depth + 1),
                None => {
                    if let Some(default) = self.default_of(property) {
                        fields.insert(name.clone(), default.clone());
                    }
                }
            }
        }
    }

    /// The default, if there is room for it. One of `null` says what a server assumes, not what may
    /// be sent, unless `null` is allowed: it is left out like the argument.
    fn default_of(&mut self, property: &'a Value) -> Option<&'a Value> {
        let own = property.get("default");
        let default = own.or_else(|| self.followed(property).get("default"))?;
        self.filled += 1;
        self.bytes += default.to_string().len();
        let fits = self.filled <= MAX_FILLED && self.bytes <= MAX_FILLED_BYTES;
        (fits && !default.is_null()).then_some(default)
    }

    /// What a reference leads to, some steps far.
    fn followed(&self, mut schema: &'a Value) -> &'a Value {
        for _ in 0..MAX_DEPTH {
            let target = schema.get("$ref").and_then(Value::as_str);
            let pointer = target.and_then(|target| target.strip_prefix('#'));
            match pointer.and_then(|pointer| self.root.pointer(pointer)) {
                Some(next) => schema = next,
                None => break,
            }
        }
        schema
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn filled(schema: Value, mut input: Value) -> Value {
        fill(&schema, &mut input);
        input
    }

    #[test]
    fn what_is_absent_is_filled_in_and_what_is_given_stays() {
        let schema = json!({
            "properties": {
                "limit": {"type": "number", "default": 10},
                "mode": {"$ref": "#/$defs/mode"},
                "own": {"$ref": "#/$defs/mode", "default": "own"},
                "none": {"type": ["string", "null"], "default": null},
                "filter": {"type": "object", "properties": {"deep": {"default": true}}},
                "rows": {"type": "array", "items": {"properties": {"n": {"default": 1}}}}
            },
            "$defs": {"mode": {"enum": ["a", "b"], "default": "a"}}
        });
        assert_eq!(
            filled(schema.clone(), json!({})),
            json!({"limit": 10, "mode": "a", "own": "own"})
        );
        assert_eq!(
            filled(
                schema.clone(),
                json!({"limit": null, "mode": "b", "own": 1, "filter": {}, "rows": [{}, 5, {"n": 2}]})
            ),
            json!({"limit": null, "mode": "b", "own": 1, "filter": {"deep": true}, "rows": [{"n": 1}, 5, {"n": 2}]})
        );
        assert_eq!(filled(schema, json!([])), json!([]));
    }

    #[test]
    fn a_schema_that_leads_into_itself_and_one_full_of_defaults_are_bounded() {
        let knot = json!({"$ref": "#", "properties": {"a": {"$ref": "#"}}});
        assert_eq!(
            filled(knot, json!({"a": {"a": {}}})),
            json!({"a": {"a": {}}})
        );
        let many: Map<String, Value> = (0..5_000)
            .map(|at| (format!("p{at}"), json!({"default": at})))
            .collect();
        let filled = filled(json!({"properties": many}), json!({}));
        assert_eq!(filled.as_object().map(Map::len), Some(MAX_FILLED));
        let large = json!({"properties": {"a": {"default": "x".repeat(MAX_FILLED_BYTES)}}});
        assert_eq!(self::filled(large, json!({})), json!({}));
    }
}
