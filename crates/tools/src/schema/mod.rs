//! Checks arguments against a tool's JSON Schema.
//!
//! A schema is compiled once. One that cannot be compiled makes its tool unavailable: arguments
//! are never dispatched unchecked. References never leave the schema, patterns backtrack a bounded
//! number of times, and the work of one check is bounded before it begins.

mod budget;
pub(crate) mod defaults;
mod explain;
mod shape;

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError, Weak};
use std::thread;

use jsonschema::{Draft, PatternOptions, Validator};
use serde_json::Value;

pub use budget::{MAX_JUDGED_DEPTH, MAX_STEPS};
pub use shape::{MAX_SCHEMA_NODES, MAX_SCHEMA_PATH, MAX_SCHEMA_PATTERNS, SchemaError};

use shape::Shape;

/// How often one match of one pattern may go back.
const MAX_BACKTRACKS: usize = 20_000;
/// The size of one compiled pattern, in bytes.
const MAX_PATTERN_BYTES: usize = 256 * 1024;
/// The stack on which schemas are compiled, in bytes. The compiler recurses along the paths that
/// [`MAX_SCHEMA_PATH`] bounds; only touched pages cost memory.
const COMPILER_STACK_BYTES: usize = 32 * 1024 * 1024;
/// The most compiled schemas that are kept.
const MAX_CACHED: usize = 4_096;
/// At how many schemas those that nobody uses are looked for the first time.
const FIRST_SWEEP: usize = 64;

/// Arguments that a schema refuses: one line for each of the first few reasons.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Mismatch {
    /// What is wrong, each naming the place, what is expected there, and near names.
    pub problems: Vec<String>,
    /// How many more there are.
    pub more: usize,
}

/// A compiled schema.
#[derive(Debug)]
pub struct ArgumentCheck {
    schema: Arc<Value>,
    validator: Validator,
    /// Anchors are looked for again at each check: their table borrows from the schema.
    has_anchors: bool,
}

impl ArgumentCheck {
    /// Compiles a schema.
    ///
    /// # Errors
    /// When the schema is too large, too deep, not self-contained or not valid.
    pub fn compile(schema: Arc<Value>) -> Result<Self, SchemaError> {
        let has_anchors = Shape::check(&schema)?.has_anchors();
        let compiled = thread::scope(|scope| {
            thread::Builder::new()
                .stack_size(COMPILER_STACK_BYTES)
                .spawn_scoped(scope, || build(&schema))
                .map(thread::ScopedJoinHandle::join)
        });
        let validator = match compiled {
            Ok(Ok(built)) => built?,
            Ok(Err(_panic)) => return Err(SchemaError::Invalid("the compiler gave up".to_owned())),
            Err(_no_thread) => {
                return Err(SchemaError::Invalid(
                    "the machine has no thread left".to_owned(),
                ));
            }
        };
        Ok(Self {
            schema,
            validator,
            has_anchors,
        })
    }

    /// Judges arguments.
    ///
    /// # Errors
    /// What is wrong with them.
    pub fn check(&self, input: &Value) -> Result<(), Mismatch> {
        let shape = match self.has_anchors {
            true => Shape::check(&self.schema).map_err(|error| Mismatch::one(error.to_string()))?,
            false => Shape::of_checked(&self.schema),
        };
        if budget::check(&shape, &self.schema, input).is_err() {
            return Err(Mismatch::one(format!(
                "the input is too large or too deeply nested to be checked against the schema (more than {MAX_STEPS} steps or {MAX_JUDGED_DEPTH} levels)"
            )));
        }
        if self.validator.is_valid(input) {
            return Ok(());
        }
        Err(explain::mismatch(&self.validator, &self.schema, input))
    }
}

impl Mismatch {
    fn one(problem: String) -> Self {
        Self {
            problems: vec![problem],
            more: 0,
        }
    }
}

fn build(schema: &Value) -> Result<Validator, SchemaError> {
    let known = known_draft(schema);
    let mut own = None;
    if known.is_none()
        && let Value::Object(fields) = schema
        && fields.contains_key("$schema")
    {
        let mut fields = fields.clone();
        fields.remove("$schema");
        own = Some(Value::Object(fields));
    }
    jsonschema::options()
        .with_draft(known.unwrap_or(Draft::Draft202012))
        .offline()
        .should_validate_formats(false)
        .with_pattern_options(
            PatternOptions::fancy_regex()
                .backtrack_limit(MAX_BACKTRACKS)
                .size_limit(MAX_PATTERN_BYTES),
        )
        .build(own.as_ref().unwrap_or(schema))
        .map_err(|error| SchemaError::Invalid(explain::clipped(&error.to_string())))
}

fn known_draft(schema: &Value) -> Option<Draft> {
    let uri = schema.get("$schema")?.as_str()?;
    let name = uri.split_once("json-schema.org/")?.1.trim_end_matches('#');
    match name {
        "draft/2020-12/schema" => Some(Draft::Draft202012),
        "draft/2019-09/schema" => Some(Draft::Draft201909),
        "draft-07/schema" => Some(Draft::Draft7),
        "draft-06/schema" => Some(Draft::Draft6),
        "draft-04/schema" => Some(Draft::Draft4),
        _ => None,
    }
}

type Compiled = Result<Arc<ArgumentCheck>, SchemaError>;

/// Compiled schemas, found again by the identity of the schema object.
///
/// Schemas that are not in use any more are let go of: a check keeps its schema, so one that only its
/// check still has is nobody's; of a schema that was refused not even the text is kept.
#[derive(Debug, Default)]
pub(crate) struct SchemaCache {
    table: Mutex<Table>,
}

#[derive(Debug, Default)]
struct Table {
    /// By address; the entry holds the place, so that the address stays taken.
    by_address: HashMap<usize, (Weak<Value>, Compiled)>,
    /// At how many entries it is looked through.
    sweep_at: usize,
}

impl SchemaCache {
    pub(crate) fn get(&self, schema: &Arc<Value>) -> Compiled {
        let address = Arc::as_ptr(schema).addr();
        if let Some((_, compiled)) = self.table().by_address.get(&address) {
            return compiled.clone();
        }
        // Not under the lock: a slow schema must not hold up the calls of other tools.
        let compiled = ArgumentCheck::compile(Arc::clone(schema)).map(Arc::new);
        let entry = (Arc::downgrade(schema), compiled.clone());
        let mut table = self.table();
        if table.by_address.len() >= table.sweep_at {
            table.sweep();
        }
        table.by_address.insert(address, entry);
        compiled
    }

    fn table(&self) -> MutexGuard<'_, Table> {
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Table {
    fn sweep(&mut self) {
        self.by_address
            .retain(|_, (schema, compiled)| schema.strong_count() > usize::from(compiled.is_ok()));
        if self.by_address.len() >= MAX_CACHED {
            self.by_address.clear();
        }
        self.sweep_at = (self.by_address.len() * 2).clamp(FIRST_SWEEP, MAX_CACHED);
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn schemas_that_nobody_uses_are_let_go_of() {
        let cache = SchemaCache::default();
        let kept = Arc::new(json!({"type": "object"}));
        assert!(cache.get(&kept).is_ok());
        let refused = Arc::new(json!({"$ref": "https://example.org/x"}));
        let watched = Arc::downgrade(&refused);
        assert!(cache.get(&refused).is_err() && cache.get(&refused).is_err());
        drop(refused);
        assert!(watched.upgrade().is_none());
        for at in 0..FIRST_SWEEP * 3 {
            assert!(cache.get(&Arc::new(json!({"maxLength": at}))).is_ok());
        }
        assert!(cache.table().by_address.len() <= FIRST_SWEEP + 1);
        assert!(
            cache
                .table()
                .by_address
                .contains_key(&Arc::as_ptr(&kept).addr())
        );
    }
}
