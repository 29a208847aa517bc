//! How much work it is to judge these arguments by this schema.
//!
//! Recursive schemas with several references per level make a validator take time that is
//! exponential in the depth of the arguments. This walk takes the validator's longest way through
//! both, counts, and gives up at a fixed number of steps.

use serde_json::{Map, Value};

use super::shape::Shape;

/// The most steps of one judgement; a fraction of a second of the validator's time.
pub const MAX_STEPS: u64 = 250_000;

/// The deepest chain of schemas, references included, that one judgement may follow.
pub const MAX_JUDGED_DEPTH: usize = 300;

/// A pattern can cost as much as this many other steps.
const PATTERN_STEPS: u64 = 50;

/// The arguments are too much work for this schema.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct TooMuchWork;

pub(super) fn check(shape: &Shape<'_>, schema: &Value, input: &Value) -> Result<(), TooMuchWork> {
    Walk { shape, steps: 0 }.apply(schema, input, 0)
}

struct Walk<'a> {
    shape: &'a Shape<'a>,
    steps: u64,
}

impl Walk<'_> {
    fn spend(&mut self, steps: u64) -> Result<(), TooMuchWork> {
        self.steps = self.steps.saturating_add(steps);
        if self.steps > MAX_STEPS {
            return Err(TooMuchWork);
        }
        Ok(())
    }

    fn apply(&mut self, schema: &Value, input: &Value, depth: usize) -> Result<(), TooMuchWork> {
        self.spend(1)?;
        if depth > MAX_JUDGED_DEPTH {
            return Err(TooMuchWork);
        }
        let Value::Object(keywords) = schema else {
            return Ok(());
        };
        self.in_place(keywords, input, depth + 1)?;
        match input {
            Value::Object(fields) => self.fields(keywords, fields, depth + 1),
            Value::Array(items) => self.items(keywords, items, depth + 1),
            _ => Ok(()),
        }
    }

    fn in_place(
        &mut self,
        keywords: &Map<String, Value>,
        input: &Value,
        depth: usize,
    ) -> Result<(), TooMuchWork> {
        for (keyword, value) in keywords {
            match (keyword.as_str(), value) {
                ("$ref", Value::String(reference)) => {
                    if let Some(target) = self.shape.target(reference) {
                        self.apply(target, input, depth)?;
                    }
                }
                ("not" | "if" | "then" | "else", schema) => self.apply(schema, input, depth)?,
                ("allOf" | "anyOf" | "oneOf", Value::Array(schemas)) => {
                    for schema in schemas {
                        self.apply(schema, input, depth)?;
                    }
                }
                ("dependentSchemas" | "dependencies", Value::Object(schemas)) => {
                    for schema in schemas.values() {
                        self.apply(schema, input, depth)?;
                    }
                }
                ("enum", Value::Array(options)) => self.spend(options.len() as u64 / 16)?,
                ("pattern", _) => {
                    if let Value::String(text) = input {
                        self.spend(PATTERN_STEPS + text.len() as u64 / 64)?;
                    }
                }
                _ => {}
            }
        }
        Ok(())
    }

    fn fields(
        &mut self,
        keywords: &Map<String, Value>,
        fields: &Map<String, Value>,
        depth: usize,
    ) -> Result<(), TooMuchWork> {
        let properties = keywords.get("properties").and_then(Value::as_object);
        let patterns = keywords.get("patternProperties").and_then(Value::as_object);
        let others = ["additionalProperties", "unevaluatedProperties"].map(|key| keywords.get(key));
        for (name, field) in fields {
            self.spend(1)?;
            for schema in patterns.into_iter().flat_map(Map::values) {
                self.spend(PATTERN_STEPS)?;
                self.apply(schema, field, depth)?;
            }
            match properties.and_then(|properties| properties.get(name)) {
                Some(schema) => self.apply(schema, field, depth)?,
                None => {
                    for schema in others.into_iter().flatten() {
                        self.apply(schema, field, depth)?;
                    }
                }
            }
            if let Some(schema) = keywords.get("propertyNames") {
                self.apply(schema, &Value::String(name.clone()), depth)?;
            }
        }
        Ok(())
    }

    fn items(
        &mut self,
        keywords: &Map<String, Value>,
        items: &[Value],
        depth: usize,
    ) -> Result<(), TooMuchWork> {
        let listed = |key: &str| keywords.get(key).and_then(Value::as_array);
        let prefix = listed("prefixItems").or_else(|| listed("items"));
        let rest = ["items", "additionalItems", "unevaluatedItems", "contains"];
        for (at, item) in items.iter().enumerate() {
            self.spend(1)?;
            if let Some(schema) = prefix.and_then(|schemas| schemas.get(at)) {
                self.apply(schema, item, depth)?;
            }
            for schema in rest.iter().filter_map(|key| keywords.get(*key)) {
                self.apply(schema, item, depth)?;
            }
        }
        Ok(())
    }
}
