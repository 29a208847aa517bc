//! The calls that the host answers by itself, on the guest's thread: search, describe, `results.*`.
//!
//! Questions to the catalog and to the run's saved results. No tool is called from here, and nothing
//! here waits, but for the store behind the saved results of a durable run.

use codecell_catalog::{Catalog, CompactEntry, Scope, SearchRequest};
use serde::Serialize;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::calls::Answer;
use crate::limits::kept_bytes;
use crate::options::CodeModeOptions;
use crate::reply::Rejection;
use crate::run_state::RunState;
use crate::saved::{Owner, SaveError};

#[derive(Serialize)]
struct Found<'a> {
    #[serde(flatten)]
    entry: CompactEntry<'a>,
    input: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    output: Option<&'a str>,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct FoundMcp<'a> {
    server: &'a str,
    tool: &'a str,
    call: &'a str,
    path: String,
    input: &'a str,
    description: &'a str,
}

/// `tools.search(query, {limit?})`.
pub(crate) fn search(catalog: &Catalog, options: &CodeModeOptions, arguments: &str) -> Answer {
    let request = match request(arguments, options, Scope::NonMcp) {
        Ok(request) => request,
        Err(rejection) => return Answer::Reject(rejection),
    };
    let hits = catalog.search(&request);
    let found: Vec<Found<'_>> = hits
        .iter()
        .map(|hit| Found {
            entry: hit.entry.compact(),
            input: &hit.input,
            output: hit.output.as_deref(),
        })
        .collect();
    json(&found)
}

/// `API.search(query, {limit?})`.
pub(crate) fn api_search(catalog: &Catalog, options: &CodeModeOptions, arguments: &str) -> Answer {
    let request = match request(arguments, options, Scope::Mcp) {
        Ok(request) => request,
        Err(rejection) => return Answer::Reject(rejection),
    };
    let hits = catalog.search(&request);
    let found: Vec<FoundMcp<'_>> = hits
        .iter()
        .filter_map(|hit| {
            let call = catalog.mcp_spelling(hit.entry)?;
            let (server, tool) = call.strip_prefix("MCP.")?.split_once('.')?;
            Some(FoundMcp {
                server,
                tool,
                call,
                path: format!("mcp/{server}.d.ts"),
                input: &hit.input,
                description: &hit.entry.description,
            })
        })
        .collect();
    json(&found)
}

/// `tools.describe(id)`.
pub(crate) fn describe(catalog: &Catalog, target: &str) -> Answer {
    match catalog.resolve(target) {
        Ok(entry) => json(&entry.describe()),
        Err(error) => Answer::Reject(Rejection::not_started(
            "unknown_tool",
            error.to_string(),
            None,
        )),
    }
}

/// `results.save(value)`.
pub(crate) fn save(run: &RunState, options: &CodeModeOptions, arguments: &str) -> Answer {
    let parts: Vec<&RawValue> = serde_json::from_str(arguments).unwrap_or_default();
    let value = parts.first().map_or("null", |value| value.get());
    let saved = run.saved.save(value, Owner::Program, kept_bytes(options));
    saved.map_or_else(|error| not_kept(&error), |saved| json(&saved))
}

/// `results.load(id)`.
pub(crate) fn load(run: &RunState, id: &str) -> Answer {
    match run.saved.load(id) {
        Ok(Some(json)) => Answer::Json(json.to_string()),
        Err(error) => not_kept(&error),
        Ok(None) => {
            let known = match run.saved.ids() {
                ids if ids.is_empty() => "this run has no saved results".to_owned(),
                ids => format!("this run has {ids}"),
            };
            let message = format!("no saved result `{}`: {known}", shown(id));
            Answer::Reject(Rejection::not_started("unknown_result", message, None))
        }
    }
}

/// `results.delete(id)`: whether there was one.
pub(crate) fn delete(run: &RunState, id: &str) -> Answer {
    let deleted = run.saved.delete(id);
    deleted.map_or_else(|error| not_kept(&error), |deleted| json(&deleted))
}

fn not_kept(error: &SaveError) -> Answer {
    Answer::Reject(Rejection::not_started(
        error.code(),
        error.to_string(),
        None,
    ))
}

fn json<T: Serialize>(value: &T) -> Answer {
    match serde_json::to_string(value) {
        Ok(text) => Answer::Json(text),
        Err(_) => Answer::Reject(Rejection::not_started(
            "internal",
            "the answer has no JSON form",
            None,
        )),
    }
}

fn request(
    arguments: &str,
    options: &CodeModeOptions,
    scope: Scope,
) -> Result<SearchRequest, Rejection> {
    let wrong = |message: &str| Rejection::not_started("invalid_arguments", message, None);
    let parsed: Vec<Value> = serde_json::from_str(arguments)
        .map_err(|_| wrong("the arguments of search are too deep"))?;
    let queries = match parsed.first() {
        Some(Value::String(query)) => vec![query.clone()],
        Some(Value::Array(queries)) => {
            let texts: Option<Vec<String>> = queries
                .iter()
                .map(|q| q.as_str().map(str::to_owned))
                .collect();
            texts.ok_or_else(|| {
                wrong("search takes a text or an array of texts, for example search(\"read file\")")
            })?
        }
        _ => {
            return Err(wrong(
                "search takes a text or an array of texts, for example search(\"read file\")",
            ));
        }
    };
    let limit = match parsed.get(1).and_then(|given| given.get("limit")) {
        None | Some(Value::Null) => options.search_default_limit,
        Some(limit) => limit
            .as_f64()
            .filter(|limit| *limit >= 1.0)
            .map(|limit| limit as u64)
            .ok_or_else(|| wrong("the limit of a search is a number from 1, for example search(\"x\", {limit: 5})"))?,
    };
    let limit = limit.min(options.max_search_limit) as usize;
    Ok(SearchRequest {
        queries,
        limit,
        scope,
    })
}

fn shown(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(64).collect()
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use codecell_catalog::{Entry, ToolId};
    use serde_json::json;

    use super::*;
    use crate::run_results::RunResults;

    fn catalog() -> Catalog {
        let entry = |id: &str, description: &str| {
            let parameters = json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]});
            Entry::new(ToolId::parse(id).expect("an id"), description, parameters)
        };
        Catalog::build(vec![
            entry("openclaw:core:read", "Read a file"),
            entry("openclaw:core:write", "Write a file"),
            entry("mcp:files:read_all", "Read all files"),
        ])
        .expect("a catalog")
    }

    fn text(answer: Answer) -> String {
        match answer {
            Answer::Json(text) | Answer::Text(text) => text,
            Answer::Reject(rejection) => rejection.to_json(),
        }
    }

    #[test]
    fn search_gives_compact_entries_with_signatures() {
        let found = text(search(
            &catalog(),
            &CodeModeOptions::default(),
            r#"["read",{"limit":1}]"#,
        ));
        assert_eq!(
            found,
            r#"[{"id":"openclaw:core:read","name":"read","description":"Read a file","source":"openclaw","input":"{ path: string }"}]"#
        );
        let found = text(api_search(
            &catalog(),
            &CodeModeOptions::default(),
            r#"[["read"]]"#,
        ));
        assert_eq!(
            found,
            r#"[{"server":"files","tool":"readAll","call":"MCP.files.readAll","path":"mcp/files.d.ts","input":"{ path: string }","description":"Read all files"}]"#
        );
    }

    #[test]
    fn wrong_arguments_of_search_say_what_to_write() {
        let options = CodeModeOptions::default();
        for arguments in [
            "[1]",
            "[]",
            "[[1]]",
            r#"["x",{"limit":0}]"#,
            r#"["x",{"limit":"3"}]"#,
        ] {
            let answer = text(search(&catalog(), &options, arguments));
            assert!(answer.contains(r#""code":"invalid_arguments""#), "{answer}");
        }
    }

    #[test]
    fn the_limit_of_a_search_is_the_options() {
        let options = CodeModeOptions {
            max_search_limit: 1,
            ..CodeModeOptions::default()
        }
        .clamped();
        let found: Vec<Value> = serde_json::from_str(&text(search(
            &catalog(),
            &options,
            r#"["file",{"limit":50}]"#,
        )))
        .expect("JSON");
        assert_eq!(found.len(), 1);
    }

    #[test]
    fn describe_adds_the_schemas_and_knows_near_names() {
        assert!(text(describe(&catalog(), "read")).contains(r#""parameters":{"type":"object""#));
        assert!(text(describe(&catalog(), "raed")).contains("read"));
        assert!(text(describe(&catalog(), "mcp:files:read_all")).contains("MCP.files.readAll"));
    }

    #[test]
    fn saved_results_round_trip() {
        let scope = Arc::new(crate::Scope::new("o", "a", "s", "r"));
        let run = RunState::new(scope, 1, RunResults::new(None));
        let options = CodeModeOptions::default();
        assert_eq!(
            text(load(&run, "r1")),
            r#"{"message":"no saved result `r1`: this run has no saved results","code":"unknown_result","effectStatus":"notStarted"}"#
        );
        assert_eq!(
            text(save(&run, &options, "[[1,2]]")),
            r#"{"id":"r1","bytes":5,"count":2,"shape":"Array<number>","preview":"[1,2]"}"#
        );
        assert_eq!(text(load(&run, "r1")), "[1,2]");
        assert!(text(load(&run, "r9")).contains("this run has r1"));
        assert_eq!(
            (text(delete(&run, "r1")), text(delete(&run, "r1"))),
            ("true".into(), "false".into())
        );
    }
}
