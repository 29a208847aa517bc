//! What a server has: its lists, read page by page, each part by itself.
//!
//! One tool that makes no sense is left out and named; the others stay. Nothing is believed about
//! effects, and nothing is kept that is larger than its bound.

use std::collections::HashSet;

use codecell_catalog::Source;
use codecell_tools::{ToolDefinition, ToolId, json_bytes};
use rmcp::model::{ClientRequest, ListToolsRequest, ServerCapabilities};
use serde_json::{Map, Value, json};

use super::error::RequestError;
use super::filter::Filter;
use super::limits::ClientLimits;
use super::link::Link;
use super::names::ToolNames;
use super::operations;

/// JSON-RPC's code for a method that does not exist. Source: JSON-RPC 2.0, section 5.1.
const METHOD_NOT_FOUND: i32 = -32601;

/// What a server has, at one moment.
#[derive(Clone, Debug, Default)]
pub struct Listing {
    /// Its tools, in its order, then its operations on resources and prompts.
    pub tools: Vec<ToolDefinition>,
    /// Which tools were left out, and why.
    pub left_out: Vec<LeftOut>,
    /// What else a person should know of it, such as that a list was cut.
    pub notes: Vec<String>,
    /// Whether it has resources.
    pub has_resources: bool,
    /// Whether it has prompts.
    pub has_prompts: bool,
    /// What it calls itself, with its version.
    pub software: Option<String>,
    /// What it says that it is for.
    pub description: Option<String>,
    /// The revision of the protocol that is spoken.
    pub protocol: String,
}

/// A tool that is not in the catalog.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LeftOut {
    /// Its name, as far as it has one.
    pub tool: String,
    /// Why.
    pub reason: String,
}

impl Listing {
    /// Reads what a server has.
    ///
    /// # Errors
    /// Those of its requests; a list that it does not have is empty.
    pub(super) async fn read(
        link: &Link,
        server: &str,
        safe_name: &str,
        filter: &Filter,
        limits: &ClientLimits,
    ) -> Result<Self, RequestError> {
        let info = link.info();
        let mut listing = Self {
            has_resources: info.capabilities.resources.is_some(),
            has_prompts: info.capabilities.prompts.is_some(),
            software: info
                .server_info
                .as_ref()
                .map(|us| format!("{} {}", us.name, us.version)),
            description: description(link),
            protocol: info.protocol_version.to_string(),
            ..Self::default()
        };
        if has_tools(&info.capabilities) {
            let tools = pages(link, limits, &TOOLS).await?;
            if let Some(cut) = &tools.cut {
                let note = format!("its list of tools is not whole: {}", cut.reason);
                tracing::warn!(server, note, "an MCP server has more than is read of it");
                listing.notes.push(note);
            }
            listing.take_tools(tools.items, server, filter, limits);
        }
        let own = operations::definitions(server, listing.has_resources, listing.has_prompts);
        let own = own.into_iter().filter(|own| !filter.excludes(own.name()));
        listing.tools.extend(own);
        let mut names = ToolNames::new(safe_name);
        for tool in &mut listing.tools {
            tool.policy_name = Some(names.next(tool.name()));
        }
        Ok(listing)
    }

    /// Whether every tool of the other is here, in the same words, and no more.
    pub(super) fn offers_the_same(&self, other: &Self) -> bool {
        let pairs = self.tools.iter().zip(&other.tools);
        self.tools.len() == other.tools.len()
            && pairs.into_iter().all(|(one, other)| is_same(one, other))
    }

    fn take_tools(
        &mut self,
        tools: Vec<Value>,
        server: &str,
        filter: &Filter,
        limits: &ClientLimits,
    ) {
        let mut seen = HashSet::new();
        for tool in tools {
            let name = tool.get("name").and_then(Value::as_str).unwrap_or_default();
            if !name.is_empty() && !filter.admits(name) {
                continue;
            }
            let name: String = name.chars().take(MAX_SHOWN_NAME_CHARS).collect();
            let taken = match self.tools.len() < limits.max_tools {
                true => definition(tool, server, limits),
                false => Err(format!(
                    "the server has more than {} tools",
                    limits.max_tools
                )),
            };
            let taken = taken.and_then(|definition| match seen.insert(definition.id.clone()) {
                true => Ok(definition),
                false => Err("it is listed twice".to_owned()),
            });
            match taken {
                Ok(definition) => self.tools.push(definition),
                Err(reason) => self.left_out.push(LeftOut { tool: name, reason }),
            }
        }
    }
}

/// Whether two definitions say the same.
pub(super) fn is_same(one: &ToolDefinition, other: &ToolDefinition) -> bool {
    one.id == other.id
        && one.label == other.label
        && one.description == other.description
        && one.parameters == other.parameters
        && one.output_schema == other.output_schema
}

/// The longest name in a note about a tool that was left out, in characters.
const MAX_SHOWN_NAME_CHARS: usize = 100;

/// The longest description of a server that is kept, in characters.
const MAX_DESCRIPTION_CHARS: usize = 2_000;

fn description(link: &Link) -> Option<String> {
    let info = link.info();
    let software = info.server_info.as_ref();
    let own = software.and_then(|software| software.description.as_deref());
    let title = software.and_then(|software| software.title.as_deref());
    let words = info.instructions.as_deref().or(own).or(title)?;
    Some(words.chars().take(MAX_DESCRIPTION_CHARS).collect())
}

/// Servers that declare nothing at all are asked all the same.
fn has_tools(capabilities: &ServerCapabilities) -> bool {
    capabilities.tools.is_some()
        || (capabilities.resources.is_none() && capabilities.prompts.is_none())
}

/// A list that comes in pages.
pub(super) struct Pages {
    /// Where a page has its items.
    pub(super) key: &'static str,
    /// The request for the page of a cursor.
    pub(super) request: fn(Option<String>) -> ClientRequest,
}

const TOOLS: Pages = Pages {
    key: "tools",
    request: |cursor| {
        ClientRequest::ListToolsRequest(ListToolsRequest {
            method: Default::default(),
            params: operations::page(cursor),
            extensions: Default::default(),
        })
    },
};

/// A list, as far as it was read.
pub(super) struct Paged {
    pub(super) items: Vec<Value>,
    /// Where and why reading ended before the list did.
    pub(super) cut: Option<Cut>,
}

/// Where a list was cut.
pub(super) struct Cut {
    /// The cursor of what comes next.
    pub(super) cursor: String,
    pub(super) reason: String,
}

/// All items of a list. A list that repeats a cursor or goes on for ever is cut at a bound.
///
/// # Errors
/// Those of its requests, and for a page that is none.
pub(super) async fn pages(
    link: &Link,
    limits: &ClientLimits,
    list: &Pages,
) -> Result<Paged, RequestError> {
    let key = list.key;
    let mut items = Vec::new();
    let mut cursor = None;
    let mut seen = HashSet::new();
    let mut bytes = 0;
    let reason = loop {
        let page = match link.request((list.request)(cursor.take())).await {
            Ok(page) => page,
            Err(RequestError::Refused { code, .. }) if code == METHOD_NOT_FOUND => {
                break String::new();
            }
            Err(error) => return Err(error),
        };
        let Value::Object(mut page) = page else {
            return Err(link.malformed(format!("its list of {key} is no object")));
        };
        let next = page.get("nextCursor").and_then(Value::as_str);
        cursor = next.map(str::to_owned);
        match page.remove(key) {
            Some(Value::Array(found)) => {
                bytes += found.iter().map(json_bytes).sum::<usize>();
                items.extend(found);
            }
            _ => return Err(link.malformed(format!("its list has no array `{key}`"))),
        }
        let Some(next) = &cursor else {
            break String::new();
        };
        if !seen.insert(next.clone()) {
            break "a page leads back to one that was read".to_owned();
        }
        if bytes > limits.max_list_bytes {
            break format!("it has more than {} bytes", limits.max_list_bytes);
        }
        if seen.len() >= limits.max_pages {
            break format!("it has more than {} pages", limits.max_pages);
        }
    };
    let cut = cursor.map(|cursor| Cut { cursor, reason });
    Ok(Paged { items, cut })
}

fn definition(tool: Value, server: &str, limits: &ClientLimits) -> Result<ToolDefinition, String> {
    let bytes = json_bytes(&tool);
    if bytes > limits.max_tool_bytes {
        return Err(format!(
            "its definition has {bytes} bytes, and {} is the most",
            limits.max_tool_bytes
        ));
    }
    let Value::Object(mut fields) = tool else {
        return Err("it is no object".to_owned());
    };
    let name = match fields.get("name") {
        Some(Value::String(name)) => name.clone(),
        _ => return Err("it has no name".to_owned()),
    };
    if operations::is_taken(&name) {
        return Err("its name is that of an operation of the protocol".to_owned());
    }
    let id = ToolId::new(Source::Mcp, server, &name).map_err(|error| error.to_string())?;
    let description = text(&fields, "description").unwrap_or_default();
    let label = text(&fields, "title").or_else(|| {
        let annotations = fields.get("annotations")?.as_object()?;
        text(annotations, "title")
    });
    let parameters = match fields.remove("inputSchema") {
        Some(schema @ Value::Object(_)) => schema,
        None | Some(Value::Null | Value::Bool(true)) => json!({"type": "object"}),
        Some(_) => return Err("its inputSchema is no object".to_owned()),
    };
    let mut definition = ToolDefinition::new(id, description, parameters);
    definition.label = label.filter(|label| !label.trim().is_empty());
    if let Some(schema @ Value::Object(_)) = fields.remove("outputSchema") {
        definition = definition.with_output(schema);
    }
    Ok(definition)
}

fn text(fields: &Map<String, Value>, key: &str) -> Option<String> {
    fields.get(key)?.as_str().map(str::to_owned)
}
