//! MCP servers for tests: the recorded lists of real ones, and made-up ones that are as odd as can be.
//!
//! Nothing here talks to a server: what a test gets are entries of a catalog, as they come after policy.

mod arguments;
mod bombs;
mod check;
mod generate;

use std::path::PathBuf;

use codecell_catalog::{Catalog, CatalogError, Entry, McpServer, Operation, Source, ToolId};
use serde_json::{Value, json};

pub use arguments::minimal;
pub use bombs::bombs;
pub use check::check_types;
pub use generate::{NASTY_TEXTS, generated};

/// What some servers offer.
#[derive(Clone, Debug, Default)]
pub struct Servers {
    /// Their tools and operations.
    pub entries: Vec<Entry>,
    /// The servers.
    pub servers: Vec<McpServer>,
}

impl Servers {
    /// The catalog of a run that has them all.
    ///
    /// # Errors
    /// When they contradict each other.
    pub fn catalog(&self) -> Result<Catalog, CatalogError> {
        Catalog::with_servers(self.entries.clone(), self.servers.clone())
    }
}

/// Servers whose names and tools are the nasty texts, each of them once.
///
/// # Errors
/// When a name that is meant to be possible is none.
pub fn nasty() -> Result<Servers, String> {
    let mut all = Servers::default();
    let owners = [
        "nasty",
        "Nasty",
        "na/sty",
        "then",
        "toString",
        "__proto__",
        "delete",
        "$api",
        "*/ }",
        "日本",
        "42",
    ];
    for owner in owners {
        all.servers.push(McpServer {
            description: Some(format!("*/ }} }} {owner} `${{x}}`")),
            ..McpServer::new(owner)
        });
        let id = ToolId::new(Source::Mcp, owner, "delete").map_err(|e| e.to_string())?;
        let words = NASTY_TEXTS.join("\n");
        all.entries
            .push(Entry::new(id, words, json!({"type": "object"})));
    }
    for text in NASTY_TEXTS {
        // Some of the texts can be no part of an id: servers that use them lose those tools.
        if let Ok(id) = ToolId::new(Source::Mcp, "nasty", text)
            && *text != "delete"
            && Operation::OF_SERVER.iter().all(|one| one.method() != *text)
        {
            let properties = json!({*text: {"type": "number", "description": text}});
            let schema = json!({"type": "object", "properties": properties});
            all.entries.push(Entry::new(id, *text, schema));
        }
    }
    Ok(all)
}

/// A server with a tool for each of the [`bombs`].
///
/// # Errors
/// When a bomb's name can be no tool's.
pub fn exploding() -> Result<Servers, String> {
    let mut all = Servers {
        servers: vec![McpServer::new("bombs")],
        ..Servers::default()
    };
    for (name, schema) in bombs() {
        let id = ToolId::new(Source::Mcp, "bombs", name).map_err(|e| e.to_string())?;
        all.entries.push(Entry::new(id, "Goes off.", schema));
    }
    Ok(all)
}

/// The lists of real servers, by name; `None`, with a word about it, where the data is not there.
///
/// # Errors
/// Which file cannot be read, and why.
pub fn real(test: &str) -> Result<Option<Servers>, String> {
    let Some(folder) = crate::data::data_or_skip(test, "mcp-tools") else {
        return Ok(None);
    };
    let listed = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut files: Vec<PathBuf> = listed.flatten().map(|entry| entry.path()).collect();
    files.retain(|file| file.extension().is_some_and(|kind| kind == "json"));
    files.sort();
    let mut all = Servers::default();
    for file in files {
        read(&file, &mut all).map_err(|why| format!("{}: {why}", file.display()))?;
    }
    Ok(Some(all))
}

fn read(file: &std::path::Path, all: &mut Servers) -> Result<(), String> {
    let name = file.file_stem().unwrap_or_default().to_string_lossy();
    let text = std::fs::read_to_string(file).map_err(|e| e.to_string())?;
    let data: Value = serde_json::from_str(&text).map_err(|e| e.to_string())?;
    let words = data["initialize"]["instructions"].as_str();
    all.servers.push(McpServer {
        description: words.map(str::to_owned),
        ..McpServer::new(name.as_ref())
    });
    let tools = data["tools"].as_array().ok_or("it has no list of tools")?;
    for tool in tools {
        let own = tool["name"].as_str().ok_or("a tool without a name")?;
        let id = ToolId::new(Source::Mcp, &name, own).map_err(|e| e.to_string())?;
        let words = tool["description"].as_str().unwrap_or_default();
        let mut entry = Entry::new(id, words, tool["inputSchema"].clone());
        entry.output_schema = tool.get("outputSchema").cloned().map(Into::into);
        entry.label = tool["title"].as_str().map(str::to_owned);
        all.entries.push(entry);
    }
    let capabilities = &data["initialize"]["capabilities"];
    for operation in Operation::OF_SERVER {
        let family = operation.method().split('/').next().unwrap_or_default();
        if capabilities.get(family).is_some() {
            all.entries.push(self::operation(&name, operation)?);
        }
    }
    Ok(())
}

/// The entry of an operation of a server.
///
/// # Errors
/// When the name can be no owner.
pub fn operation(server: &str, operation: Operation) -> Result<Entry, String> {
    let id = ToolId::new(Source::Mcp, server, operation.method()).map_err(|e| e.to_string())?;
    let mut entry = Entry::new(id, "", json!({"type": "object"}));
    entry.operation = operation;
    Ok(entry)
}

/// A program in TypeScript that calls every tool of a catalog by its declared name, with arguments of
/// the declared type, and reads what the declaration promises.
#[must_use]
pub fn calling_program(catalog: &Catalog) -> String {
    let mut text = String::from("async function all(): Promise<void> {\n");
    for entry in catalog.entries() {
        let Some(call) = catalog.mcp_spelling(entry) else {
            continue;
        };
        match entry.operation {
            Operation::Tool => text.push_str(&format!(
                "  {{ const r: McpToolResult<any> = await {call}(undefined as unknown as NonNullable<Parameters<typeof {call}>[0]>); r.content.map((b) => b.type); }}\n"
            )),
            Operation::ResourcesList => {
                text.push_str(&format!("  (await {call}()).resources.map((r) => r.uri);\n"));
            }
            Operation::ResourcesRead => text.push_str(&format!(
                "  (await {call}({{ uri: \"x:y\" }})).contents.map((r) => r.ref ?? r.text);\n"
            )),
            Operation::PromptsList => {
                text.push_str(&format!("  (await {call}({{ cursor: \"c\" }})).prompts.map((p) => p.name);\n"));
            }
            Operation::PromptsGet => text.push_str(&format!(
                "  (await {call}({{ name: \"p\", arguments: {{ a: \"b\" }} }})).messages.map((m) => m.content.type);\n"
            )),
        }
    }
    for space in catalog.servers() {
        let name = &space.identifier;
        text.push_str(&format!(
            "  (await MCP.{name}.$api(\"tool\", {{ schema: true }})).tools.map((t) => t.path);\n"
        ));
    }
    text.push_str("  (await MCP.$api()).servers.map((s) => s.toolCount);\n}\nvoid all;\n");
    text
}
