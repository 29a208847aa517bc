//! What a prompt costs: every tool of real MCP servers as a tool of the model's own, against the two
//! that code mode shows.
//!
//! Counted are the bytes of the JSON that goes to a provider: name, description and input schema of
//! each tool. What a provider makes of them is not counted, in either column.

use std::path::Path;

use codecell_catalog::{Catalog, Entry, McpServer, Source, ToolId};
use codecell_codemode::{CodeModeOptions, surface_tools};
use serde_json::{Value, json};

use crate::measure::Report;

/// Ten servers that people have: files, notes, versions, pages, time, data.
const TEN: [&str; 10] = [
    "everything",
    "fetch",
    "filesystem",
    "git",
    "memory",
    "notion",
    "playwright",
    "sequential-thinking",
    "sqlite",
    "time",
];

/// One server's recorded list.
struct Server {
    name: String,
    tools: Vec<Value>,
}

/// Counts the bytes for ten servers and for all below `data`.
pub(crate) fn run(data: &Path) -> anyhow::Result<Report> {
    let mut report = Report::new("prompt: bytes of all tools, direct against code mode");
    let folder = data.join("mcp-tools");
    if !folder.is_dir() {
        report.add_figure("servers", "skipped", "no data");
        return Ok(report);
    }
    let all = servers(&folder)?;
    let ten: Vec<&Server> = all
        .iter()
        .filter(|server| TEN.contains(&server.name.as_str()))
        .collect();
    row("ten servers", &ten, &mut report)?;
    row("all servers", &all.iter().collect::<Vec<_>>(), &mut report)?;
    Ok(report)
}

fn row(name: &str, servers: &[&Server], report: &mut Report) -> anyhow::Result<()> {
    let tools: usize = servers.iter().map(|server| server.tools.len()).sum();
    let direct = servers.iter().flat_map(|server| &server.tools);
    let direct: usize = direct
        .map(|tool| shown(&tool["name"], &tool["description"], &tool["inputSchema"]))
        .sum();
    let catalog = catalog(servers)?;
    let code_mode = surface_tools(&catalog, &CodeModeOptions::default());
    let code_mode: usize = code_mode
        .iter()
        .map(|tool| {
            let (name, words) = (tool.name.as_ref(), tool.description.as_ref());
            shown(&name.into(), &words.into(), &tool.input_schema)
        })
        .sum();
    let percent = code_mode as f64 * 100.0 / direct.max(1) as f64;
    report.add_row(
        name,
        [
            ("servers", servers.len().into()),
            ("tools", tools.into()),
            ("direct bytes", direct.into()),
            ("code mode bytes", code_mode.into()),
            ("percent", ((percent * 100.0).round() / 100.0).into()),
        ],
    );
    Ok(())
}

/// Bytes of one tool as a provider gets it.
fn shown(name: &Value, description: &Value, schema: &Value) -> usize {
    let tool = json!({"name": name, "description": description, "input_schema": schema});
    tool.to_string().len()
}

fn catalog(servers: &[&Server]) -> anyhow::Result<Catalog> {
    let mut entries = Vec::new();
    for server in servers {
        for tool in &server.tools {
            let name = tool["name"].as_str().unwrap_or_default();
            let id = ToolId::new(Source::Mcp, &server.name, name)?;
            let words = tool["description"].as_str().unwrap_or_default();
            entries.push(Entry::new(id, words, tool["inputSchema"].clone()));
        }
    }
    let named = servers.iter().map(|server| McpServer::new(&server.name));
    Ok(Catalog::with_servers(entries, named.collect())?)
}

fn servers(folder: &Path) -> anyhow::Result<Vec<Server>> {
    let mut found = Vec::new();
    for file in std::fs::read_dir(folder)? {
        let file = file?.path();
        if file.extension().is_none_or(|kind| kind != "json") {
            continue;
        }
        let data: Value = serde_json::from_str(&std::fs::read_to_string(&file)?)?;
        found.push(Server {
            name: file
                .file_stem()
                .unwrap_or_default()
                .to_string_lossy()
                .into_owned(),
            tools: data["tools"].as_array().cloned().unwrap_or_default(),
        });
    }
    found.sort_by(|one, other| one.name.cmp(&other.name));
    Ok(found)
}
