//! A server's resources and prompts as tools: four operations, called and policed like any other.

use codecell_catalog::{Operation, Source};
use codecell_tools::{MidCallApprovals, ToolDefinition, ToolId};
use rmcp::model::{
    ClientRequest, GetPromptRequest, GetPromptRequestParams, ListPromptsRequest,
    ListResourcesRequest, PaginatedRequestParams, ReadResourceRequest, ReadResourceRequestParams,
};
use serde_json::{Map, Value, json};

use super::error::RequestError;
use super::limits::ClientLimits;
use super::link::Link;
use super::listing::{Paged, Pages, pages};
use super::rounds::{self, Round};

/// The definitions of the operations that a server offers.
pub(super) fn definitions(
    server: &str,
    has_resources: bool,
    has_prompts: bool,
) -> Vec<ToolDefinition> {
    let offered = Operation::OF_SERVER
        .into_iter()
        .filter(|operation| match operation {
            Operation::ResourcesList | Operation::ResourcesRead => has_resources,
            _ => has_prompts,
        });
    offered
        .filter_map(|operation| definition(server, operation))
        .collect()
}

/// Whether a tool's name is that of an operation.
pub(super) fn is_taken(name: &str) -> bool {
    let mut all = Operation::OF_SERVER.iter();
    all.any(|operation| operation.method() == name)
}

fn definition(server: &str, operation: Operation) -> Option<ToolDefinition> {
    let id = ToolId::new(Source::Mcp, server, operation.method()).ok()?;
    let (description, parameters) = match operation {
        Operation::ResourcesList => (
            "List the server's resources: {resources: [{uri, name, ...}]}. Without a cursor all pages are read.",
            list_parameters(),
        ),
        Operation::ResourcesRead => (
            "Read one resource: {contents: [{uri, mimeType?, text? or blob?}]}.",
            json!({
                "type": "object",
                "properties": {"uri": {"type": "string", "description": "The resource's uri"}},
                "required": ["uri"],
                "additionalProperties": false
            }),
        ),
        Operation::PromptsList => (
            "List the server's prompts: {prompts: [{name, arguments?, ...}]}. Without a cursor all pages are read.",
            list_parameters(),
        ),
        Operation::PromptsGet => (
            "Get one prompt with its arguments filled in: {messages: [{role, content}]}.",
            json!({
                "type": "object",
                "properties": {
                    "name": {"type": "string", "description": "The prompt's name"},
                    "arguments": {
                        "type": "object",
                        "description": "Its arguments by name",
                        "additionalProperties": {"type": "string"}
                    }
                },
                "required": ["name"],
                "additionalProperties": false
            }),
        ),
        Operation::Tool => return None,
    };
    let mut definition = ToolDefinition::new(id, description, parameters);
    definition.operation = operation;
    Some(definition)
}

fn list_parameters() -> Value {
    json!({
        "type": "object",
        "properties": {"cursor": {"type": "string", "description": "The nextCursor of a page"}},
        "additionalProperties": false
    })
}

/// Runs an operation; the result is the protocol's own.
///
/// # Errors
/// Those of its requests.
pub(super) async fn run(
    link: &Link,
    operation: Operation,
    input: &Value,
    person: &MidCallApprovals,
    limits: &ClientLimits,
) -> Result<Value, RequestError> {
    let text = |name: &str| input.get(name).and_then(Value::as_str).map(str::to_owned);
    match operation {
        Operation::ResourcesList => list(link, text("cursor"), &RESOURCES, limits).await,
        Operation::PromptsList => list(link, text("cursor"), &PROMPTS, limits).await,
        Operation::ResourcesRead => {
            let request = |round: Round| {
                let mut params = ReadResourceRequestParams::new(text("uri").unwrap_or_default());
                params.input_responses = round.responses;
                params.request_state = round.state;
                ClientRequest::ReadResourceRequest(ReadResourceRequest::new(params))
            };
            rounds::run(link, person, limits, request).await
        }
        Operation::PromptsGet | Operation::Tool => {
            let request = |round: Round| {
                let mut params = GetPromptRequestParams::new(text("name").unwrap_or_default());
                params.arguments = input.get("arguments").and_then(Value::as_object).cloned();
                params.input_responses = round.responses;
                params.request_state = round.state;
                ClientRequest::GetPromptRequest(GetPromptRequest::new(params))
            };
            rounds::run(link, person, limits, request).await
        }
    }
}

async fn list(
    link: &Link,
    cursor: Option<String>,
    list: &Pages,
    limits: &ClientLimits,
) -> Result<Value, RequestError> {
    if cursor.is_some() {
        return link.request((list.request)(cursor)).await;
    }
    let Paged { items, cut } = pages(link, limits, list).await?;
    let mut read = Map::from_iter([(list.key.to_owned(), Value::Array(items))]);
    if let Some(cut) = cut {
        // Whoever wants the rest can ask for it.
        read.insert("nextCursor".to_owned(), Value::String(cut.cursor));
    }
    Ok(Value::Object(read))
}

const RESOURCES: Pages = Pages {
    key: "resources",
    request: |cursor| {
        ClientRequest::ListResourcesRequest(ListResourcesRequest {
            method: Default::default(),
            params: page(cursor),
            extensions: Default::default(),
        })
    },
};

const PROMPTS: Pages = Pages {
    key: "prompts",
    request: |cursor| {
        ClientRequest::ListPromptsRequest(ListPromptsRequest {
            method: Default::default(),
            params: page(cursor),
            extensions: Default::default(),
        })
    },
};

/// The first page is asked for without parameters: some servers take no others.
pub(super) fn page(cursor: Option<String>) -> Option<PaginatedRequestParams> {
    cursor.map(|cursor| PaginatedRequestParams::default().with_cursor(Some(cursor)))
}
