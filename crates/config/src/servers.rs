//! `mcp.servers`: from checked values to the options of each server.

use std::collections::BTreeMap;

use serde_json::Value;

use crate::build::texts;
use crate::check::clamped;
use crate::keys::{self, Kind};
use crate::options::{McpEndpoint, McpOAuth, McpServerOptions};

/// The servers by name. The values have passed the check.
pub(crate) fn build(servers: Option<&Value>) -> BTreeMap<String, McpServerOptions> {
    let servers = servers.and_then(Value::as_object).into_iter().flatten();
    servers
        .filter_map(|(name, value)| Some((name.clone(), server(value)?)))
        .collect()
}

fn server(value: &Value) -> Option<McpServerOptions> {
    let flag = |name: &str| value.get(name).and_then(Value::as_bool).unwrap_or(true);
    let filter = |name: &str| value.get("toolFilter").and_then(|filter| filter.get(name));
    Some(McpServerOptions {
        endpoint: endpoint(value)?,
        request_timeout_ms: time(value, "timeout", "requestTimeoutMs"),
        connect_timeout_ms: time(value, "connectTimeout", "connectionTimeoutMs"),
        is_parallel: flag("supportsParallelToolCalls"),
        include_tools: texts(filter("include")).unwrap_or_default(),
        exclude_tools: texts(filter("exclude")).unwrap_or_default(),
        is_enabled: flag("enabled"),
    })
}

fn endpoint(value: &Value) -> Option<McpEndpoint> {
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    if let Some(command) = text("command") {
        return Some(McpEndpoint::Command {
            command,
            args: texts(value.get("args")).unwrap_or_default(),
            env: text_map(value.get("env")),
            cwd: text("cwd"),
        });
    }
    Some(McpEndpoint::Url {
        url: text("url")?,
        is_sse: text("transport").as_deref() == Some("sse"),
        headers: text_map(value.get("headers")),
        oauth: oauth(value),
        verifies_certificate: value.get("sslVerify").and_then(Value::as_bool) != Some(false),
        client_certificate: text("clientCert").map(|file| (file, text("clientKey"))),
    })
}

fn oauth(value: &Value) -> Option<McpOAuth> {
    let given = value.get("oauth");
    let is_meant = value.get("auth").and_then(Value::as_str) == Some("oauth");
    if given.is_none() && !is_meant {
        return None;
    }
    let field = |name: &str| given.and_then(|given| given.get(name));
    let text = |name: &str| field(name).and_then(Value::as_str).map(str::to_owned);
    let port = field("callbackPort").and_then(Value::as_u64);
    Some(McpOAuth {
        client_id: text("clientId"),
        client_secret: text("clientSecret"),
        scope: text("scope"),
        callback_port: port.and_then(|port| u16::try_from(port.clamp(1, 65_535)).ok()),
    })
}

/// A time in milliseconds, however it was written.
fn time(value: &Value, seconds: &str, milliseconds: &str) -> Option<u64> {
    let number = |name: &str| match &keys::find(keys::SERVER, name)?.kind {
        Kind::Integer(clamp) => clamped(*clamp, value.get(name)?),
        _ => None,
    };
    number(milliseconds).or_else(|| number(seconds)?.checked_mul(1_000))
}

fn text_map(value: Option<&Value>) -> BTreeMap<String, String> {
    let fields = value.and_then(Value::as_object).into_iter().flatten();
    fields
        .filter_map(|(name, value)| Some((name.clone(), value.as_str()?.to_owned())))
        .collect()
}
