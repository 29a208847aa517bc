//! Entries made quickly, and the real tool lists where they are there.

use std::path::PathBuf;

use codecell_catalog::{Catalog, Entry, ToolId};
use serde_json::{Value, json};

/// An entry with a description and no parameters.
pub(crate) fn entry(id: &str, description: &str) -> Entry {
    with_parameters(id, description, json!({"type": "object", "properties": {}}))
}

pub(crate) fn with_parameters(id: &str, description: &str, parameters: Value) -> Entry {
    Entry::new(ToolId::parse(id).unwrap(), description, parameters)
}

/// A catalog of entries without parameters.
pub(crate) fn catalog(ids: &[&str]) -> Catalog {
    Catalog::build(ids.iter().map(|id| entry(id, "")).collect()).unwrap()
}

/// The tools of real MCP servers, or nothing where the data is not there.
pub(crate) fn real_tools() -> Vec<Entry> {
    let data = std::env::var("CODECELL_DATA").map_or_else(
        |_| PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data")),
        PathBuf::from,
    );
    let Ok(files) = std::fs::read_dir(data.join("mcp-tools")) else {
        eprintln!("skipped: no real tool lists; set CODECELL_DATA to the folder that has them");
        return Vec::new();
    };
    let mut files: Vec<PathBuf> = files.map(|file| file.unwrap().path()).collect();
    files.retain(|file| {
        file.extension()
            .is_some_and(|extension| extension == "json")
    });
    files.sort();
    files.iter().flat_map(tools_of_file).collect()
}

fn tools_of_file(file: &PathBuf) -> Vec<Entry> {
    let server = file.file_stem().unwrap().to_str().unwrap();
    let data: Value = serde_json::from_str(&std::fs::read_to_string(file).unwrap()).unwrap();
    let mut tools = Vec::new();
    collect_tools(&data, &mut tools);
    tools
        .into_iter()
        .map(|tool| {
            let id = format!("mcp:{server}:{}", tool["name"].as_str().unwrap());
            let description = tool["description"].as_str().unwrap_or_default();
            let mut entry = with_parameters(&id, description, tool["inputSchema"].clone());
            entry.output_schema = tool.get("outputSchema").cloned().map(Into::into);
            entry
        })
        .collect()
}

/// The first list of tools anywhere in a file.
fn collect_tools<'a>(value: &'a Value, tools: &mut Vec<&'a Value>) {
    match value {
        Value::Object(fields) => {
            for (name, field) in fields {
                match field {
                    Value::Array(list) if name == "tools" && tools.is_empty() => tools.extend(list),
                    other => collect_tools(other, tools),
                }
            }
        }
        Value::Array(items) => items.iter().for_each(|item| collect_tools(item, tools)),
        _ => {}
    }
}
