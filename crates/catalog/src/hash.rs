//! Hashes of tool definitions: the same for the same definition, in every process and release.
//!
//! A resumed cell compares them to notice that an id now means another tool. The order of an
//! object's keys does not count, nor the order in which entries were given.

use std::fmt;

use codecell_protocol::EffectKind;
use serde_json::Value;

use crate::entry::Entry;
use crate::mcp::{McpServer, McpSpace};

/// A hash of definitions, 256 bits.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContentHash([u8; 32]);

impl ContentHash {
    /// The hash of these bytes, as it was kept somewhere.
    pub fn from_bytes(bytes: [u8; 32]) -> Self {
        Self(bytes)
    }

    /// This and a text as one hash.
    pub(crate) fn with(self, more: &str) -> Self {
        let mut hasher = blake3::Hasher::new();
        hasher.update(&self.0);
        text(&mut hasher, more);
        Self(*hasher.finalize().as_bytes())
    }

    /// The bytes.
    pub fn as_bytes(&self) -> &[u8; 32] {
        &self.0
    }
}

impl fmt::Display for ContentHash {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl Entry {
    /// The hash of everything that defines this tool for its caller.
    pub fn definition_hash(&self) -> ContentHash {
        let mut hasher = blake3::Hasher::new();
        text(&mut hasher, self.id.as_str());
        text(&mut hasher, self.operation.method());
        text(&mut hasher, self.label.as_deref().unwrap_or_default());
        text(&mut hasher, &self.description);
        hasher.update(&[u8::from(self.effect == EffectKind::Read)]);
        value(&mut hasher, &self.parameters);
        match &self.output_schema {
            Some(schema) => value(&mut hasher, schema),
            None => text(&mut hasher, "undeclared"),
        }
        ContentHash(*hasher.finalize().as_bytes())
    }
}

pub(crate) fn of_catalog(entries: &[Entry], servers: &[McpSpace]) -> ContentHash {
    let mut hashes: Vec<ContentHash> = entries.iter().map(Entry::definition_hash).collect();
    hashes.extend(servers.iter().map(|space| of_server(&space.server)));
    hashes.sort_unstable();
    let mut hasher = blake3::Hasher::new();
    for hash in &hashes {
        hasher.update(&hash.0);
    }
    ContentHash(*hasher.finalize().as_bytes())
}

fn of_server(server: &McpServer) -> ContentHash {
    let mut hasher = blake3::Hasher::new();
    text(&mut hasher, &server.name);
    for words in [&server.description, &server.unavailable] {
        hasher.update(&[u8::from(words.is_some())]);
        text(&mut hasher, words.as_deref().unwrap_or_default());
    }
    ContentHash(*hasher.finalize().as_bytes())
}

/// Adds a string with its length, so that neighbours cannot run into each other.
fn text(hasher: &mut blake3::Hasher, text: &str) {
    hasher.update(b"s");
    hasher.update(&(text.len() as u64).to_le_bytes());
    hasher.update(text.as_bytes());
}

fn value(hasher: &mut blake3::Hasher, value_in: &Value) {
    match value_in {
        Value::Null | Value::Bool(_) | Value::Number(_) => {
            hasher.update(b"p");
            text(hasher, &value_in.to_string());
        }
        Value::String(string) => text(hasher, string),
        Value::Array(items) => {
            hasher.update(b"a");
            hasher.update(&(items.len() as u64).to_le_bytes());
            items.iter().for_each(|item| value(hasher, item));
        }
        Value::Object(fields) => {
            hasher.update(b"o");
            hasher.update(&(fields.len() as u64).to_le_bytes());
            let mut sorted: Vec<_> = fields.iter().collect();
            sorted.sort_unstable_by_key(|(key, _)| *key);
            for (key, field) in sorted {
                text(hasher, key);
                value(hasher, field);
            }
        }
    }
}
