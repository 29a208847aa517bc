//! From a checked value to options: defaults, clamps, and one agent's fields over the global ones.
//!
//! It runs after the walk of [`crate::check`], so no value has a wrong type here. What is configured
//! but not part of this build is refused in one place, [`refuse_what_is_not_built`].

use std::collections::{BTreeMap, HashSet};

use serde_json::{Map, Value, json};

use crate::check::{self, whole};
use crate::document::{Raw, put};
use crate::error::ConfigError;
use crate::keys::{self, Key, Kind};
use crate::load::Override;
use crate::options::{
    AgentOptions, AskFallback, CodeModeOptions, Config, Enabled, ExecOptions, Language,
    OutputOverflow, SnapshotStore, StoreKind, ToolRules, WebFetchOptions,
};
use crate::path::{KeyPath, Segment};
use crate::servers;

/// Makes options of a value that has been checked.
pub(crate) fn build(raw: &Raw, overrides: &[Override]) -> Result<Config, ConfigError> {
    let at = |path: &str| pointer(&raw.value, path);
    refuse_what_is_not_built(
        raw,
        at("/tools/codeMode"),
        &keys_path(&["tools", "codeMode"]),
    )?;
    let global = code_mode_fields(at("/tools/codeMode"));
    let mut effective = complete(&keys::ROOT, Some(&raw.value)).unwrap_or_default();
    let exec = pointer(&effective, "/tools/exec")
        .cloned()
        .unwrap_or_default();
    let idle_ttl = pointer(&effective, "/mcp/sessionIdleTtlMs").and_then(whole);
    let idle_ttl = idle_ttl.unwrap_or_default();
    let config = Config {
        code_mode: code_mode(&completed_code_mode(&global)),
        tools: tool_rules(at("/tools")),
        exec: ExecOptions {
            ask_fallback: ask_fallback(&exec),
            timeout_ms: exec.get("timeoutMs").and_then(whole).unwrap_or_default(),
        },
        web_fetch: WebFetchOptions {
            allow_hosts: texts(at("/tools/webFetch/allowHosts")).unwrap_or_default(),
            allow_private_network: at("/tools/webFetch/allowPrivateNetwork") == Some(&json!(true)),
        },
        mcp_servers: servers::build(at("/mcp/servers")),
        mcp_idle_ttl_ms: idle_ttl,
        model_code_mode: model_code_mode(at("/agents/defaults/models")),
        agents: agents(raw, &global, overrides)?,
        effective: {
            put(
                &mut effective,
                &keys_path(&["tools", "codeMode"]),
                completed_code_mode(&global),
            );
            effective
        },
        origins: raw.origins.clone(),
    };
    Ok(config)
}

/// The one place that knows which configured features this build lacks.
fn refuse_what_is_not_built(
    raw: &Raw,
    code_mode: Option<&Value>,
    path: &KeyPath,
) -> Result<(), ConfigError> {
    let Some(Value::Object(fields)) = code_mode else {
        return Ok(());
    };
    let refuse = |key: KeyPath, given: &Value, advice: &str| {
        Err(ConfigError::NotBuilt {
            at: raw.origin(&key),
            key,
            given: given.to_string(),
            advice: advice.to_owned(),
        })
    };
    if let Some(store) = fields.get("snapshotStore") {
        let key = path.key("snapshotStore").key("kind");
        let Some(kind) = store.get("kind") else {
            return Err(ConfigError::Missing {
                at: raw.origin(&path.key("snapshotStore")),
                key: path.key("snapshotStore"),
                needs: "`kind`".to_owned(),
            });
        };
        if kind != "sqlite" {
            return refuse(
                key,
                kind,
                "Use \"sqlite\", or remove the key: suspended cells are then kept in memory and end with the process.",
            );
        }
    }
    Ok(())
}

fn agents(
    raw: &Raw,
    global: &Map<String, Value>,
    overrides: &[Override],
) -> Result<Vec<AgentOptions>, ConfigError> {
    let list = pointer(&raw.value, "/agents/list").and_then(Value::as_array);
    let mut seen = HashSet::new();
    let mut agents = Vec::new();
    for (at, value) in list.into_iter().flatten().enumerate() {
        let path = keys_path(&["agents", "list"]).index(at);
        let Some(id) = value
            .get("id")
            .and_then(Value::as_str)
            .filter(|id| !id.is_empty())
        else {
            let at = raw.origin(&path);
            return Err(ConfigError::Missing {
                at,
                key: path,
                needs: "an `id`".to_owned(),
            });
        };
        if !seen.insert(id) {
            let at = raw.origin(&path.key("id"));
            return Err(ConfigError::DuplicateAgent {
                at,
                id: id.to_owned(),
            });
        }
        let own = pointer(value, "/tools/codeMode");
        refuse_what_is_not_built(raw, own, &path.key("tools").key("codeMode"))?;
        let mut fields = global.clone();
        fields.extend(code_mode_fields(own));
        over_agents(&mut fields, overrides);
        agents.push(AgentOptions {
            id: id.to_owned(),
            code_mode: code_mode(&completed_code_mode(&fields)),
            tools: tool_rules(value.get("tools")),
        });
    }
    Ok(agents)
}

/// Overrides of `tools.codeMode` win over the file's agents, too: flags are the top layer.
fn over_agents(fields: &mut Map<String, Value>, overrides: &[Override]) {
    for wanted in overrides {
        match wanted.path.segments() {
            [Segment::Key(tools), Segment::Key(code_mode), rest @ ..]
                if tools == "tools" && code_mode == "codeMode" =>
            {
                let mut object = Value::Object(std::mem::take(fields));
                match rest {
                    [] => object = Value::Object(code_mode_fields(Some(&wanted.value))),
                    rest => put(
                        &mut object,
                        &KeyPath::from_segments(rest),
                        wanted.value.clone(),
                    ),
                }
                if let Value::Object(changed) = object {
                    *fields = changed;
                }
            }
            _ => {}
        }
    }
}

/// A checked value with its defaults filled in and its numbers clamped.
fn complete(kind: &'static Kind, value: Option<&Value>) -> Option<Value> {
    match (kind, value) {
        (Kind::Object(keys), value) => Some(complete_object(keys, value)),
        (Kind::FlagOrObject(keys), value) => {
            let fields = Value::Object(code_mode_fields(value));
            Some(complete_object(keys, Some(&fields)))
        }
        (Kind::Map(each), Some(Value::Object(fields))) => {
            let each = |(name, field): (&String, &Value)| {
                Some((name.clone(), complete(each, Some(field))?))
            };
            Some(Value::Object(fields.iter().filter_map(each).collect()))
        }
        (Kind::List(each), Some(Value::Array(items))) => {
            let items = items.iter().filter_map(|item| complete(each, Some(item)));
            Some(Value::Array(items.collect()))
        }
        (Kind::Integer(clamp), Some(value)) => check::clamped(*clamp, value).map(Value::from),
        (Kind::Integer(clamp), None) => clamp.default.map(Value::from),
        (_, Some(value)) => Some(value.clone()),
        (Kind::Flag(default), None) => Some(Value::Bool(*default)),
        (Kind::FlagOr(_), None) => Some(Value::Bool(false)),
        (Kind::Choice(_, default), None) => default.map(Value::from),
        (Kind::Choices(all), None) => Some(json!(all)),
        (_, None) => None,
    }
}

fn complete_object(keys: &'static [Key], value: Option<&Value>) -> Value {
    let fields = keys.iter().filter_map(|key| {
        let given = value.and_then(|value| value.get(key.name));
        let is_optional = given.is_none() && OPTIONAL_OBJECTS.contains(&key.name);
        let completed = if is_optional {
            None
        } else {
            complete(&key.kind, given)
        };
        completed.map(|value| (key.name.to_owned(), value))
    });
    Value::Object(fields.collect())
}

/// Objects that are either configured or absent; defaults inside them mean nothing by themselves.
const OPTIONAL_OBJECTS: [&str; 2] = ["snapshotStore", "sandbox"];

/// `tools.codeMode` as an object, whichever way it was written.
fn code_mode_fields(value: Option<&Value>) -> Map<String, Value> {
    match value {
        Some(Value::Object(fields)) => fields.clone(),
        Some(flag @ Value::Bool(_)) => Map::from_iter([("enabled".to_owned(), flag.clone())]),
        _ => Map::new(),
    }
}

fn completed_code_mode(fields: &Map<String, Value>) -> Value {
    let mut value = complete_object(keys::CODE_MODE, Some(&Value::Object(fields.clone())));
    let max = value.get("maxSearchLimit").and_then(whole);
    let default = value.get("searchDefaultLimit").and_then(whole);
    if let (Some(max), Some(default)) = (max, default) {
        put(
            &mut value,
            &keys_path(&["searchDefaultLimit"]),
            Value::from(default.min(max)),
        );
    }
    value
}

/// Reads a completed `tools.codeMode`.
fn code_mode(value: &Value) -> CodeModeOptions {
    // Completion has put every number there that has a default.
    let number = |name: &str| value.get(name).and_then(whole).unwrap_or_default();
    CodeModeOptions {
        enabled: enabled(value.get("enabled")),
        languages: languages(value.get("languages")),
        snapshot_store: value.get("snapshotStore").and_then(snapshot_store),
        timeout_ms: number("timeoutMs"),
        memory_limit_bytes: number("memoryLimitBytes"),
        max_output_bytes: number("maxOutputBytes"),
        max_snapshot_bytes: number("maxSnapshotBytes"),
        max_pending_tool_calls: number("maxPendingToolCalls"),
        snapshot_ttl_seconds: number("snapshotTtlSeconds"),
        search_default_limit: number("searchDefaultLimit"),
        max_search_limit: number("maxSearchLimit"),
        max_suspended_runs: number("maxSuspendedRuns"),
        output_overflow: match value.get("outputOverflow").and_then(Value::as_str) {
            Some("truncate") => OutputOverflow::Truncate,
            _ => OutputOverflow::Fail,
        },
        prompt_index_chars: number("promptIndexChars"),
        max_guest_ms: number("maxGuestMs"),
        max_running_cells: number("maxRunningCells"),
        approval_hold_ms: number("approvalHoldMs"),
        approval_ttl_seconds: number("approvalTtlSeconds"),
        records: value.get("records").is_some_and(is_on),
        max_guest_memory_bytes: value.get("maxGuestMemoryBytes").and_then(whole),
        max_suspended_bytes: value.get("maxSuspendedBytes").and_then(whole),
    }
}

fn enabled(value: Option<&Value>) -> Enabled {
    match value {
        Some(Value::Bool(true)) => Enabled::On,
        Some(Value::String(word)) if word == "auto" => Enabled::Auto,
        _ => Enabled::Off,
    }
}

fn is_on(value: &Value) -> bool {
    *value == json!(true) || *value == json!("on")
}

fn languages(value: Option<&Value>) -> Vec<Language> {
    let names = texts(value).unwrap_or_default();
    let both = [
        ("javascript", Language::JavaScript),
        ("typescript", Language::TypeScript),
    ];
    let chosen = both
        .into_iter()
        .filter(|(name, _)| names.iter().any(|given| given == name));
    chosen.map(|(_, language)| language).collect()
}

fn snapshot_store(value: &Value) -> Option<SnapshotStore> {
    let text = |name: &str| value.get(name).and_then(Value::as_str).map(str::to_owned);
    let kind = match value.get("kind").and_then(Value::as_str)? {
        "sqlite" => StoreKind::Sqlite,
        "redis" => StoreKind::Redis,
        "postgres" => StoreKind::Postgres,
        _ => return None,
    };
    Some(SnapshotStore {
        kind,
        path: text("path"),
        url: text("url"),
    })
}

fn ask_fallback(exec: &Value) -> AskFallback {
    match exec.get("askFallback").and_then(Value::as_str) {
        Some("full") => AskFallback::Full,
        Some("allowlist") => AskFallback::Allowlist,
        _ => AskFallback::Deny,
    }
}

fn tool_rules(tools: Option<&Value>) -> ToolRules {
    let field = |name: &str| tools.and_then(|tools| tools.get(name));
    ToolRules {
        allow: texts(field("allow")),
        also_allow: texts(field("alsoAllow")).unwrap_or_default(),
        deny: texts(field("deny")).unwrap_or_default(),
        profile: field("profile").and_then(Value::as_str).map(str::to_owned),
    }
}

pub(crate) fn texts(value: Option<&Value>) -> Option<Vec<String>> {
    let items = value?.as_array()?.iter();
    Some(items.filter_map(Value::as_str).map(str::to_owned).collect())
}

fn model_code_mode(models: Option<&Value>) -> BTreeMap<String, bool> {
    let models = models.and_then(Value::as_object).into_iter().flatten();
    let flag = |model: &Value| model.get("codeMode").and_then(Value::as_bool);
    models
        .filter_map(|(name, model)| Some((name.clone(), flag(model)?)))
        .collect()
}

pub(crate) fn pointer<'a>(value: &'a Value, pointer: &str) -> Option<&'a Value> {
    value.pointer(pointer)
}

fn keys_path(names: &[&str]) -> KeyPath {
    names
        .iter()
        .fold(KeyPath::default(), |path, name| path.key(name))
}
