//! `$api`: what `API.read` gives of a server, inline and as data.

use codecell_catalog::{Catalog, Entry, INDEX_PATH, McpSpace, Operation, nearest};
use serde_json::{Map, Value, json};

use crate::calls::Answer;
use crate::reply::Rejection;

const NOTE: &str = "Call a tool as MCP.<server>.<tool>({...}) with one object. The result is {content, structuredContent?, isError?}; \
a tool that failed sets isError, nothing is thrown for that.";

/// `MCP.$api()` when `server` is empty, else `MCP.<server>.$api(tool?, {schema?})`.
pub(crate) fn describe(catalog: &Catalog, server: &str, arguments: &str) -> Answer {
    let answer = match server {
        "" => Ok(root(catalog)),
        server => of_server(catalog, server, arguments),
    };
    match answer {
        Ok(value) => Answer::Json(value.to_string()),
        Err(rejection) => Answer::Reject(rejection),
    }
}

fn root(catalog: &Catalog) -> Value {
    let files = catalog.declarations();
    let index = files.iter().find(|file| file.path == INDEX_PATH);
    let servers = catalog.servers().iter().map(|space| {
        let tools = catalog.members(space).filter(|entry| is_tool(entry));
        let mut server = json!({
            "identifier": space.identifier,
            "serverName": space.server.name,
            "toolCount": tools.count(),
        });
        if let Some(why) = &space.server.unavailable {
            server["unavailable"] = Value::from(why.as_str());
        }
        server
    });
    json!({
        "kind": "mcp_api",
        "scope": "root",
        "header": index.map_or("", |file| &file.content),
        "servers": servers.collect::<Vec<_>>(),
        "note": NOTE,
    })
}

fn of_server(catalog: &Catalog, server: &str, arguments: &str) -> Result<Value, Rejection> {
    let space = catalog.server(server).ok_or_else(|| {
        let why = catalog.explain_mcp(server).to_string();
        Rejection::not_started("unknown_server", why, None)
    })?;
    let (asked, wants_schemas) = asked(arguments)?;
    let members: Vec<&Entry> = match &asked {
        None => catalog.members(space).collect(),
        Some(name) => vec![member(catalog, space, name)?],
    };
    let header = match (&asked, members.first()) {
        (Some(_), Some(entry)) => catalog.declaration_of(space, entry),
        _ => whole(catalog, space),
    };
    let tools: Vec<Value> = members.iter().map(|entry| row(catalog, entry)).collect();
    let mut answer = json!({
        "kind": "mcp_api",
        "scope": if asked.is_some() { "tool" } else { "server" },
        "server": space.identifier,
        "header": header,
        "tools": tools,
        "note": NOTE,
    });
    if wants_schemas {
        answer["schemas"] = schemas(catalog, &members);
    }
    Ok(answer)
}

fn whole(catalog: &Catalog, space: &McpSpace) -> String {
    let path = catalog.declaration_path(space);
    let file = catalog.declarations().iter().find(|file| file.path == path);
    file.map_or_else(String::new, |file| file.content.clone())
}

/// The tool and the wish for schemas; either may be left out, the tool first.
fn asked(arguments: &str) -> Result<(Option<String>, bool), Rejection> {
    let given: Vec<Value> = serde_json::from_str(arguments).unwrap_or_default();
    let (tool, options) = match given.as_slice() {
        [] => (None, None),
        [Value::String(tool)] => (Some(tool), None),
        [Value::String(tool), options] => (Some(tool), Some(options)),
        [options @ Value::Object(_)] => (None, Some(options)),
        [Value::Null, options] => (None, Some(options)),
        _ => return Err(wrong()),
    };
    let schema = match options {
        None | Some(Value::Null) => false,
        Some(Value::Object(options)) => match options.get("schema") {
            None | Some(Value::Null) => false,
            Some(Value::Bool(schema)) => *schema,
            Some(_) => return Err(wrong()),
        },
        Some(_) => return Err(wrong()),
    };
    Ok((tool.cloned(), schema))
}

fn wrong() -> Rejection {
    let message = "$api takes the name of a tool and options, both optional, for example $api(\"listIssues\", {schema: true})";
    Rejection::not_started("invalid_arguments", message, None)
}

/// The member with this identifier, or with this name of the server's own.
fn member<'c>(
    catalog: &'c Catalog,
    space: &'c McpSpace,
    name: &str,
) -> Result<&'c Entry, Rejection> {
    let mut members = catalog.members(space);
    let by_method = catalog
        .members(space)
        .find(|entry| method(catalog, entry) == name);
    let found = by_method.or_else(|| members.find(|entry| entry.name() == name));
    found.ok_or_else(|| {
        let names = catalog.members(space).map(|entry| method(catalog, entry));
        let near = nearest(name, names);
        let hint = near.map_or_else(
            || format!("; $api() of MCP.{} names all", space.identifier),
            |near| format!("; did you mean {near}?"),
        );
        let name: String = name.chars().filter(|c| !c.is_control()).take(120).collect();
        let message = format!("MCP.{} has no tool `{name}`{hint}", space.identifier);
        Rejection::not_started("unknown_tool", message, None)
    })
}

/// What follows the server in a spelling.
fn method<'c>(catalog: &'c Catalog, entry: &Entry) -> &'c str {
    let spelling = catalog.mcp_spelling(entry).unwrap_or_default();
    spelling.splitn(3, '.').nth(2).unwrap_or_default()
}

fn is_tool(entry: &Entry) -> bool {
    entry.operation == Operation::Tool
}

fn row(catalog: &Catalog, entry: &Entry) -> Value {
    json!({
        "method": method(catalog, entry),
        "path": catalog.mcp_spelling(entry),
        "mcpTool": entry.name(),
        "operation": entry.operation.method(),
        "description": entry.description,
    })
}

fn schemas(catalog: &Catalog, members: &[&Entry]) -> Value {
    let tools = members.iter().filter(|entry| is_tool(entry));
    let one = |entry: &&&Entry| {
        let mut schemas = Map::new();
        schemas.insert("inputSchema".into(), (*entry.parameters).clone());
        if let Some(output) = &entry.output_schema {
            schemas.insert("outputSchema".into(), (**output).clone());
        }
        (method(catalog, entry).to_owned(), Value::Object(schemas))
    };
    tools.map(|entry| one(&entry)).collect::<Map<_, _>>().into()
}
