//! `codecell mcp list` and `test`: the MCP servers that tools come from.

use std::time::{Duration, Instant};

use codecell_config::{McpEndpoint, McpServerOptions};
use codecell_mcp::client::{Pool, ServerState};
use codecell_tools::Redactor;
use futures::future::join_all;
use serde_json::{Value, json};

use crate::compose::endpoints::Endpoints;
use crate::compose::runtime::block_on;
use crate::compose::settings::Settings;
use crate::compose::{Base, servers};
use crate::error::{CliError, Exit};
use crate::escape::one_line;
use crate::render::table::table;

/// The longest address or command that a table shows, in characters.
const SHOWN_PLACE_CHARS: usize = 100;

/// Lists what is configured, without starting anything.
pub(crate) fn list(base: &Base) -> Result<Exit, CliError> {
    let settings = base.settings(&[])?;
    let config = &settings.loaded.config;
    let servers = config.mcp_servers();
    if base.streams.json() {
        let listed: Vec<Value> = servers
            .iter()
            .map(|(name, server)| {
                let origin = config.get(&servers::server_path(name));
                json!({
                    "name": name,
                    "login": login(base, &settings, name, server),
                    "transport": transport(server),
                    "place": place(server),
                    "enabled": server.is_enabled,
                    "from": origin.map_or_else(|_| String::new(), |set| set.origin.to_string()),
                })
            })
            .collect();
        base.streams.out_json(&listed)?;
        return Ok(Exit::Done);
    }
    if servers.is_empty() {
        base.streams.note(
            "no MCP servers are configured; codecell mcp add and codecell mcp import do that",
        );
        return Ok(Exit::Done);
    }
    let mut needed = Vec::new();
    let rows = servers.iter().map(|(name, server)| {
        let state = if server.is_enabled { "yes" } else { "no" };
        if login(base, &settings, name, server) == Some("needed") {
            needed.push(name);
        }
        vec![
            one_line(name, SHOWN_PLACE_CHARS),
            transport(server).to_owned(),
            state.to_owned(),
            one_line(&place(server), SHOWN_PLACE_CHARS),
        ]
    });
    let headings = ["SERVER", "TRANSPORT", "ENABLED", "COMMAND OR ADDRESS"];
    base.streams
        .out(&table(&headings, rows.collect(), base.streams.width()))?;
    for name in needed {
        let name = one_line(name, SHOWN_PLACE_CHARS);
        base.streams.note(&format!(
            "{name} needs a login: run `codecell mcp login {name}`"
        ));
    }
    Ok(Exit::Done)
}

/// Whether a server's login is `done` or `needed`; `None` without one, or if it cannot be used at all.
fn login(
    base: &Base,
    settings: &Settings,
    name: &str,
    server: &McpServerOptions,
) -> Option<&'static str> {
    let endpoints = Endpoints {
        base,
        settings,
        redactor: &Redactor::default(),
    };
    let authorization = endpoints.authorization(name, &server.endpoint).ok()??;
    Some(match authorization.is_logged_in() {
        true => "done",
        false => "needed",
    })
}

fn transport(server: &McpServerOptions) -> &'static str {
    match &server.endpoint {
        McpEndpoint::Command { .. } => "stdio",
        McpEndpoint::Url { is_sse: true, .. } => "sse",
        McpEndpoint::Url { .. } => "http",
    }
}

/// The command without its arguments, which may hold secrets, or the address.
fn place(server: &McpServerOptions) -> String {
    match &server.endpoint {
        McpEndpoint::Command { command, .. } => command.clone(),
        McpEndpoint::Url { url, .. } => url.split(['?', '#']).next().unwrap_or(url).to_owned(),
    }
}

/// What a test found out about one server.
struct Tested {
    name: String,
    elapsed: Duration,
    state: ServerState,
}

/// Starts servers and shows what they have; fails if one is unavailable.
pub(crate) fn test(base: &Base, names: &[String]) -> Result<Exit, CliError> {
    let settings = base.settings(&[])?;
    let tested = block_on(async {
        let Some(pool) = servers::open(base, &settings, &Redactor::default(), false)? else {
            return Err(none_to_test());
        };
        let wanted = wanted(&pool, names)?;
        base.streams.explain("starting the servers");
        let tested = join_all(wanted.into_iter().map(|name| try_one(&pool, name))).await;
        pool.close().await;
        Ok(tested)
    })?;
    show(base, &settings, &tested)?;
    let all_fine = tested.iter().all(|one| one.state.unavailable.is_none());
    Ok(if all_fine { Exit::Done } else { Exit::Failed })
}

fn none_to_test() -> CliError {
    CliError::NotFound {
        message: "no MCP servers are configured, or none is enabled".to_owned(),
        hint: "codecell mcp import FILE takes them over from another client".to_owned(),
    }
}

fn wanted(pool: &Pool, names: &[String]) -> Result<Vec<String>, CliError> {
    let known: Vec<String> = pool.states().into_iter().map(|(name, _)| name).collect();
    if names.is_empty() {
        return Ok(known);
    }
    match names.iter().find(|name| !known.contains(name)) {
        None => Ok(names.to_vec()),
        Some(unknown) => Err(CliError::NotFound {
            message: format!(
                "there is no MCP server `{}` that is enabled",
                one_line(unknown, SHOWN_PLACE_CHARS)
            ),
            hint: format!("there are {}", known.join(", ")),
        }),
    }
}

async fn try_one(pool: &Pool, name: String) -> Tested {
    let begun = Instant::now();
    // What went wrong is in the state.
    let _ = pool.start(&name).await;
    let states = pool.states().into_iter();
    let state = states
        .filter(|(known, _)| *known == name)
        .map(|(_, state)| state);
    Tested {
        elapsed: begun.elapsed(),
        state: state.last().unwrap_or_default(),
        name,
    }
}

fn show(base: &Base, settings: &Settings, tested: &[Tested]) -> Result<(), CliError> {
    if base.streams.json() {
        return base
            .streams
            .out_json(&tested.iter().map(report).collect::<Vec<_>>());
    }
    let rows = tested.iter().map(|one| {
        let listing = one.state.listing.as_deref().cloned().unwrap_or_default();
        let tools = match &one.state.unavailable {
            Some(_) => "unavailable".to_owned(),
            None => format!("{} tools", count_tools(one)),
        };
        vec![
            one_line(&one.name, SHOWN_PLACE_CHARS),
            tools,
            format!("{} ms", one.elapsed.as_millis()),
            listing.protocol,
            one_line(&listing.software.unwrap_or_default(), SHOWN_PLACE_CHARS),
        ]
    });
    let headings = ["SERVER", "HAS", "STARTED IN", "PROTOCOL", "SOFTWARE"];
    base.streams
        .out(&table(&headings, rows.collect(), base.streams.width()))?;
    for one in tested {
        if let Some(reason) = &one.state.unavailable {
            base.streams
                .failure(&format!("{}: {}", one.name, crate::escape::visible(reason)));
            if let Some(advice) = advice(settings, one) {
                base.streams.failure(&format!("hint: {advice}"));
            }
        }
        let listing = one.state.listing.as_deref();
        for note in listing.into_iter().flat_map(|listing| &listing.notes) {
            base.streams.note(&format!("{}: {note}", one.name));
        }
        let left_out = listing.into_iter().flat_map(|listing| &listing.left_out);
        for left_out in left_out {
            base.streams.note(&format!(
                "{}: the tool `{}` is left out: {}",
                one.name,
                one_line(&left_out.tool, SHOWN_PLACE_CHARS),
                left_out.reason
            ));
        }
    }
    Ok(())
}

/// Tools alone, without the operations on resources and prompts.
fn count_tools(one: &Tested) -> usize {
    let tools = one.state.listing.iter().flat_map(|listing| &listing.tools);
    tools
        .filter(|tool| tool.operation == codecell_catalog::Operation::Tool)
        .count()
}

fn advice(settings: &Settings, one: &Tested) -> Option<String> {
    let server = settings.loaded.config.mcp_servers().get(&one.name)?;
    Some(match &server.endpoint {
        McpEndpoint::Command { .. } => format!(
            "run its command by hand to see more; slow starts get more time with mcp.servers.{}.connectionTimeoutMs",
            one.name
        ),
        McpEndpoint::Url { .. } => {
            let why = one.state.unavailable.as_deref().unwrap_or_default();
            if why.contains("codecell mcp login") {
                return None;
            }
            let has_no_oauth = matches!(&server.endpoint, McpEndpoint::Url { oauth: None, .. });
            let is_login_missing = has_no_oauth && why.starts_with("it asks for");
            if is_login_missing {
                return Some(format!(
                    "put a token into its headers, or set mcp.servers.{}.auth to \"oauth\" and run codecell mcp login",
                    one.name
                ));
            }
            "check the address and the headers; older servers may need transport: \"sse\""
                .to_owned()
        }
    })
}

fn report(one: &Tested) -> Value {
    let listing = one.state.listing.as_deref();
    let tools = listing.into_iter().flat_map(|listing| &listing.tools);
    let tools: Vec<&str> = tools
        .filter(|tool| tool.operation == codecell_catalog::Operation::Tool)
        .map(|tool| tool.name())
        .collect();
    json!({
        "name": one.name,
        "available": one.state.unavailable.is_none(),
        "unavailable": one.state.unavailable,
        "elapsedMs": u64::try_from(one.elapsed.as_millis()).unwrap_or(u64::MAX),
        "protocol": listing.map(|listing| &listing.protocol),
        "software": listing.and_then(|listing| listing.software.as_ref()),
        "tools": tools,
        "resources": listing.is_some_and(|listing| listing.has_resources),
        "prompts": listing.is_some_and(|listing| listing.has_prompts),
        "notes": listing.map(|listing| &listing.notes),
        "leftOut": listing.map(|listing| {
            let left_out = listing.left_out.iter();
            left_out
                .map(|left| json!({"tool": left.tool, "reason": left.reason}))
                .collect::<Vec<_>>()
        }),
    })
}
