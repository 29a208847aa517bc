//! What a schema must be before it is compiled: small, shallow and self-contained.
//!
//! Schemas come from servers that may be hostile. The validator recurses over them, so their
//! longest possible path is bounded here, and nothing in them can send anybody to the network.

use std::collections::HashMap;

use serde_json::{Map, Value};

/// The most JSON values in one schema.
pub const MAX_SCHEMA_NODES: usize = 20_000;

/// The most levels that following structure and references can ever go down without repetition.
pub const MAX_SCHEMA_PATH: usize = 2_048;

/// The most regular expressions in one schema; compiling each can take a millisecond.
pub const MAX_SCHEMA_PATTERNS: usize = 500;

/// Why a schema is not used.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum SchemaError {
    /// Neither an object nor a boolean.
    #[error("it is neither an object nor a boolean")]
    NoSchema,
    /// Too many values.
    #[error("it holds more than {MAX_SCHEMA_NODES} values")]
    TooLarge,
    /// Too many patterns.
    #[error("it holds more than {MAX_SCHEMA_PATTERNS} patterns")]
    TooManyPatterns,
    /// Nested or chained too deeply.
    #[error("its nesting and references could lead more than {MAX_SCHEMA_PATH} levels down")]
    TooDeep,
    /// A reference that leads out of the schema or nowhere.
    #[error("its reference `{0}` does not lead to a place inside it")]
    ForeignReference(String),
    /// A keyword that makes references ambiguous.
    #[error("it uses `{0}` below its root, which is not supported")]
    Unsupported(&'static str),
    /// The compiler refuses it.
    #[error("it does not compile: {0}")]
    Invalid(String),
}

/// A schema that has passed, with the targets of its references.
#[derive(Debug)]
pub(super) struct Shape<'a> {
    root: &'a Value,
    anchors: HashMap<&'a str, &'a Value>,
}

impl<'a> Shape<'a> {
    /// # Errors
    /// Every reason of [`SchemaError`] but the compiler's.
    pub(super) fn check(root: &'a Value) -> Result<Self, SchemaError> {
        if !(root.is_object() || root.is_boolean()) {
            return Err(SchemaError::NoSchema);
        }
        let mut survey = Survey::default();
        survey.visit(root, 0)?;
        let shape = Self {
            root,
            anchors: survey.anchors,
        };
        let mut path = survey.depth;
        for reference in survey.references {
            let target = shape
                .target(reference)
                .ok_or_else(|| SchemaError::ForeignReference(shown(reference)))?;
            // The survey has bounded the nodes, and so this sum of all targets' depths.
            path += depth(target);
        }
        if path > MAX_SCHEMA_PATH {
            return Err(SchemaError::TooDeep);
        }
        Ok(shape)
    }

    /// A schema without anchors that has passed before.
    pub(super) fn of_checked(root: &'a Value) -> Self {
        Self {
            root,
            anchors: HashMap::new(),
        }
    }

    pub(super) fn has_anchors(&self) -> bool {
        !self.anchors.is_empty()
    }

    /// Where a reference leads.
    pub(super) fn target(&self, reference: &str) -> Option<&'a Value> {
        let fragment = reference.strip_prefix('#')?;
        if fragment.is_empty() {
            return Some(self.root);
        }
        if fragment.starts_with('/') {
            return self.root.pointer(&percent_decode(fragment)?);
        }
        self.anchors.get(fragment).copied()
    }
}

#[derive(Default)]
struct Survey<'a> {
    nodes: usize,
    patterns: usize,
    depth: usize,
    references: Vec<&'a str>,
    anchors: HashMap<&'a str, &'a Value>,
}

impl<'a> Survey<'a> {
    fn visit(&mut self, node: &'a Value, depth: usize) -> Result<(), SchemaError> {
        self.nodes += 1;
        self.depth = self.depth.max(depth);
        if self.nodes > MAX_SCHEMA_NODES {
            return Err(SchemaError::TooLarge);
        }
        if depth > MAX_NESTING {
            return Err(SchemaError::TooDeep);
        }
        match node {
            Value::Object(fields) => {
                self.note_references(node, fields, depth)?;
                self.note_patterns(fields)?;
                fields
                    .values()
                    .try_for_each(|field| self.visit(field, depth + 1))
            }
            Value::Array(items) => items
                .iter()
                .try_for_each(|item| self.visit(item, depth + 1)),
            _ => Ok(()),
        }
    }

    fn note_patterns(&mut self, fields: &Map<String, Value>) -> Result<(), SchemaError> {
        let own = usize::from(fields.get("pattern").is_some_and(Value::is_string));
        let keys = fields.get("patternProperties").and_then(Value::as_object);
        self.patterns += own + keys.map_or(0, Map::len);
        if self.patterns > MAX_SCHEMA_PATTERNS {
            return Err(SchemaError::TooManyPatterns);
        }
        Ok(())
    }

    fn note_references(
        &mut self,
        node: &'a Value,
        fields: &'a Map<String, Value>,
        depth: usize,
    ) -> Result<(), SchemaError> {
        for keyword in ["$dynamicRef", "$recursiveRef"] {
            if fields.get(keyword).is_some_and(Value::is_string) {
                return Err(SchemaError::Unsupported(keyword));
            }
        }
        if depth > 0 && fields.get("$id").is_some_and(Value::is_string) {
            return Err(SchemaError::Unsupported("$id"));
        }
        if let Some(anchor) = fields.get("$anchor").and_then(Value::as_str) {
            self.anchors.insert(anchor, node);
        }
        if let Some(reference) = fields.get("$ref").and_then(Value::as_str)
            && !self.references.contains(&reference)
        {
            if self.references.len() >= MAX_TARGETS {
                return Err(SchemaError::TooDeep);
            }
            self.references.push(reference);
        }
        Ok(())
    }
}

/// The deepest plain nesting; well below what a recursive walk stands on any thread.
const MAX_NESTING: usize = 256;
/// The most distinct references: each adds at least one level to the longest path.
const MAX_TARGETS: usize = MAX_SCHEMA_PATH;

fn depth(node: &Value) -> usize {
    let below = match node {
        Value::Object(fields) => fields.values().map(depth).max(),
        Value::Array(items) => items.iter().map(depth).max(),
        _ => None,
    };
    1 + below.unwrap_or_default()
}

fn percent_decode(fragment: &str) -> Option<String> {
    let mut bytes = Vec::with_capacity(fragment.len());
    let mut rest = fragment.as_bytes();
    while let [byte, tail @ ..] = rest {
        rest = tail;
        if *byte != b'%' {
            bytes.push(*byte);
            continue;
        }
        let [high, low, tail @ ..] = rest else {
            return None;
        };
        let digit = |byte: u8| char::from(byte).to_digit(16);
        bytes.push(u8::try_from(digit(*high)? * 16 + digit(*low)?).ok()?);
        rest = tail;
    }
    String::from_utf8(bytes).ok()
}

fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(120).collect()
}
