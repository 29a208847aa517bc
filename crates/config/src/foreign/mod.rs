//! The servers that the configuration files of other MCP clients name, in our own keys.
//!
//! Clients agree on little: on the key that the servers stand under, on the names of fields, on how
//! variables are written. What is understood is translated; what is not is said, with the reason.
//! Nothing is dropped in silence that could matter to how a server behaves, and one server that
//! cannot be used does not cost the others. The translated servers are checked like our own.

mod server;
mod variables;

use std::path::Path;

use serde_json::{Map, Value};

use crate::document::parse;
use crate::error::ConfigError;

pub use variables::{VariableUse, Variables};

/// What a file of another client holds.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Foreign {
    /// The servers that can be used.
    pub servers: Vec<ForeignServer>,
    /// Those that cannot.
    pub refused: Vec<RefusedServer>,
}

/// A server in the keys of `mcp.servers.<name>`.
#[derive(Clone, Debug, PartialEq)]
pub struct ForeignServer {
    /// Its name.
    pub name: String,
    /// Its keys.
    pub value: Value,
    /// What was not taken over, and why.
    pub notes: Vec<String>,
}

/// A server that cannot be used.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RefusedServer {
    /// Its name.
    pub name: String,
    /// Why not.
    pub reason: String,
}

/// The keys that clients put their servers under, the more telling first.
const PLACES: [&[&str]; 7] = [
    &["mcpServers"],
    &["mcp", "servers"],
    &["mcp", "mcpServers"],
    &["amp.mcpServers"],
    &["context_servers"],
    &["servers"],
    &["mcp"],
];

/// Reads the servers of a file, in any of the forms that clients use, as well as ours.
///
/// # Errors
/// When the text is no JSON5, or names no servers.
pub fn read_servers(
    file: &Path,
    text: &str,
    variables: &Variables<'_>,
) -> Result<Foreign, ConfigError> {
    let (value, _) = parse(file, text)?;
    let found = find(&value).ok_or_else(|| ConfigError::NoServers {
        path: file.to_owned(),
    })?;
    let mut foreign = Foreign::default();
    for (name, fields) in found {
        match server::translate(&fields, variables) {
            Ok((value, notes)) => foreign.servers.push(ForeignServer { name, value, notes }),
            Err(reason) => foreign.refused.push(RefusedServer { name, reason }),
        }
    }
    Ok(foreign)
}

/// The servers by name, wherever they stand.
fn find(root: &Value) -> Option<Vec<(String, Value)>> {
    let step = |value: &'_ Value, key: &&str| value.get(*key).cloned();
    for place in PLACES {
        let found = place
            .iter()
            .try_fold(root.clone(), |value, key| step(&value, key));
        if let Some(servers) = found.as_ref().and_then(named) {
            return Some(servers);
        }
    }
    // A file that is the map itself.
    named(root).filter(|servers| !servers.is_empty())
}

/// A map of servers, or a list of servers with names.
fn named(value: &Value) -> Option<Vec<(String, Value)>> {
    match value {
        Value::Object(fields) if fields.values().all(looks_like_a_server) => Some(
            fields
                .iter()
                .map(|(name, fields)| (name.clone(), fields.clone()))
                .collect(),
        ),
        Value::Array(items) => items
            .iter()
            .map(|item| {
                let name = item.get("name")?.as_str()?.to_owned();
                looks_like_a_server(item).then(|| (name, item.clone()))
            })
            .collect(),
        _ => None,
    }
}

/// Whether this is meant as a server, be it a broken one.
fn looks_like_a_server(value: &Value) -> bool {
    let is_one = |fields: &Map<String, Value>| {
        server::ADDRESS_KEYS
            .iter()
            .chain(&["command", "args", "type", "transport"])
            .any(|key| fields.contains_key(*key))
    };
    value.as_object().is_some_and(is_one)
}
