//! Programs and recorded tool results from outside: parked at every await they must give what they
//! give when they are never parked. Skipped, and said so, without the data.

use std::collections::{BTreeMap, BTreeSet, HashMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use codecell_codemode::{CodeModeOptions, Park};
use codecell_tools::{CallContext, Tool, ToolDefinition, ToolError, ToolId, ToolInput, ToolOutput};
use serde_json::{Value, json};

use crate::support::{World, stable, tool_set};

/// The lines of a file of the data, each an object.
#[expect(clippy::print_stdout, reason = "a test that skips says so")]
pub(crate) fn rows(name: &str) -> Option<Vec<Value>> {
    let beside = || PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data"));
    let folder = std::env::var_os("CODECELL_DATA").map_or_else(beside, PathBuf::from);
    let Ok(text) = std::fs::read_to_string(folder.join(name)) else {
        println!("skipped: {name} is not there; set CODECELL_DATA to the folder of the data");
        return None;
    };
    Some(
        text.lines()
            .map(|line| serde_json::from_str(line).unwrap())
            .collect(),
    )
}

/// Gives the recorded results in the order in which they were recorded.
struct Recorded {
    definition: ToolDefinition,
    results: Mutex<VecDeque<Value>>,
}

#[async_trait]
impl Tool for Recorded {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: ToolInput, _ctx: &CallContext) -> Result<ToolOutput, ToolError> {
        let Some(call) = self.results.lock().unwrap().pop_front() else {
            return Err(ToolError::no_effect(
                "not_recorded",
                "no such call was recorded",
            ));
        };
        assert_eq!(as_javascript(&call["args"]), as_javascript(input.value()));
        match call["error"].as_str() {
            Some(error) => Err(ToolError::no_effect("recorded", error)),
            None => Ok(ToolOutput::details(call["result"].clone())),
        }
    }
}

fn tools_of(row: &Value) -> Vec<Arc<dyn Tool>> {
    let mut by_id: HashMap<String, VecDeque<Value>> = HashMap::new();
    for call in row["calls"].as_array().unwrap() {
        let id = format!(
            "openclaw:{}:{}",
            call["server"].as_str().unwrap(),
            call["tool"].as_str().unwrap()
        );
        by_id.entry(id).or_default().push_back(call.clone());
    }
    let tools = by_id.into_iter().map(|(id, results)| {
        let schema = json!({"type": "object"});
        let definition = ToolDefinition::new(ToolId::parse(&id).unwrap(), "Recorded.", schema);
        Arc::new(Recorded {
            definition,
            results: Mutex::new(results),
        }) as Arc<dyn Tool>
    });
    tools.collect()
}

/// The value with its numbers as JavaScript writes them: there is one zero, and `37.0` is `37`.
fn as_javascript(value: &Value) -> Value {
    match value {
        Value::Number(number) => match number.as_f64() {
            Some(float) if float.fract() == 0.0 && float.abs() < 9e15 => Value::from(float as i64),
            _ => value.clone(),
        },
        Value::Array(items) => items.iter().map(as_javascript).collect(),
        Value::Object(members) => {
            let members = members
                .iter()
                .map(|(key, value)| (key.clone(), as_javascript(value)));
            Value::Object(members.collect())
        }
        other => other.clone(),
    }
}

/// What a program's own list of calls names of `tools`.
pub(crate) fn named_tools(row: &Value) -> BTreeSet<&str> {
    let calls = row["calls"].as_array().unwrap().iter();
    calls
        .filter_map(|call| call.as_str()?.strip_prefix("tools."))
        .map(|name| name.split(['.', '(']).next().unwrap_or(name))
        .filter(|name| !codecell_catalog::HELPER_NAMES.contains(name))
        .collect()
}

/// A tool that takes anything and gives it back.
struct Echo(ToolDefinition);

#[async_trait]
impl Tool for Echo {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    async fn call(&self, input: ToolInput, _ctx: &CallContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::details(input.value().clone()))
    }
}

fn echoes(row: &Value) -> Vec<Arc<dyn Tool>> {
    let echo = |name: &str| {
        let definition = ToolDefinition::core(name, "Echoes.", json!({})).ok()?;
        Some(Arc::new(Echo(definition.read_only())) as Arc<dyn Tool>)
    };
    named_tools(row).into_iter().filter_map(echo).collect()
}

/// Whether a program never ends by itself.
fn is_endless(program: &str) -> bool {
    let loops = ["while (true)", "while(true)", "for (;;)"];
    loops.iter().any(|endless| program.contains(endless))
}

/// How a program ended, in a line: the status, the kind of failure and what was said.
async fn verdict(row: &Value) -> String {
    let verdict = verdict_within(3000, row).await;
    let is_late = verdict.starts_with("guest_deadline");
    match is_late && !is_endless(row["code"].as_str().unwrap()) {
        // The machine is busy.
        true => verdict_within(60_000, row).await,
        false => verdict,
    }
}

async fn verdict_within(timeout_ms: u64, row: &Value) -> String {
    let options = CodeModeOptions {
        timeout_ms,
        ..CodeModeOptions::default()
    };
    let mut world = World::new().with_options(options);
    world.run.tools = tool_set(echoes(row));
    let result = stable(&world.exec(row["code"].as_str().unwrap()).await);
    let failure = result["failure"]["kind"].as_str();
    match (result["status"].as_str().unwrap(), failure) {
        ("failed", Some(kind)) => {
            let error = result["error"].as_str().unwrap();
            format!("{kind}: {}", error.lines().collect::<Vec<_>>().join(" / "))
        }
        (status, _) => status.to_owned(),
    }
}

/// Each program of others runs, or fails with an error that says what to change.
#[tokio::test(flavor = "multi_thread")]
async fn programs_of_others_run_or_say_what_to_change() {
    let Some(rows) = rows("programs/test_authored.jsonl") else {
        return;
    };
    let mut verdicts = Vec::new();
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for (at, row) in rows.iter().enumerate() {
        let verdict = verdict(row).await;
        let kind = verdict.split(':').next().unwrap_or_default().to_owned();
        *counts.entry(kind).or_default() += 1;
        let helps = !verdict.contains(" is not defined") || verdict.contains("). ");
        assert!(helps, "line {}: {verdict}", at + 1);
        verdicts.push(format!("{}: {verdict}", at + 1));
    }
    println!("programs: ran {}, {counts:?}", rows.len());
    insta::assert_snapshot!(verdicts.join("\n"));
}

/// Both ways to call a tool come to the same.
#[tokio::test(flavor = "multi_thread")]
async fn recorded_tasks_are_the_same_by_id_and_by_name() {
    let Some(rows) = rows("tasks/bfcl_replay.jsonl") else {
        return;
    };
    let mut ran = 0;
    for row in &rows {
        let by_id = row["js_tools_call"]
            .as_str()
            .unwrap()
            .replace("\"mcp:", "\"openclaw:");
        let set = tool_set(tools_of(row));
        let mut by_name = by_id.clone();
        for (name, entry) in set.catalog().safe_names() {
            let called = format!("tools.call(\"{}\", ", entry.id.as_str());
            by_name = by_name.replace(&called, &format!("tools.{name}("));
        }
        let calls = row["calls"].as_array().unwrap();
        assert_eq!(by_name == by_id, calls.is_empty());
        let mut first = run(&by_id, Some(row), Park::AsNeeded).await;
        let mut second = run(&by_name, Some(row), Park::AsNeeded).await;
        // A failure points at the call, which stands elsewhere.
        for result in [&mut first, &mut second] {
            if result["status"] == "failed" {
                *result = json!([result["code"], result["failure"]["kind"], result["effects"]]);
            }
        }
        assert_eq!(second.to_string(), first.to_string(), "{}", row["id"]);
        ran += 1;
    }
    println!("tasks: {ran} turns, equal in both call styles");
}

async fn run(program: &str, row: Option<&Value>, park: Park) -> Value {
    let options = CodeModeOptions {
        park,
        timeout_ms: 3000,
        ..CodeModeOptions::default()
    };
    let mut world = World::new().with_options(options);
    world.clock.stop_wall();
    if let Some(row) = row {
        world.run.tools = tool_set(tools_of(row));
    }
    stable(&world.exec(program).await)
}

#[tokio::test(flavor = "multi_thread")]
async fn recorded_tasks_are_the_same_parked_or_not() {
    let Some(rows) = rows("tasks/bfcl_replay.jsonl") else {
        return;
    };
    for row in &rows {
        let id = &row["id"];
        let program = row["js_tools_call"]
            .as_str()
            .unwrap()
            .replace("\"mcp:", "\"openclaw:");
        let plain = run(&program, Some(row), Park::AsNeeded).await;
        let parked = run(&program, Some(row), Park::EveryAwait).await;
        assert_eq!(parked.to_string(), plain.to_string(), "{id}");
        let calls = row["calls"].as_array().unwrap();
        if calls.iter().all(|call| call["error"].is_null()) {
            let results: Vec<&Value> = calls.iter().map(|call| &call["result"]).collect();
            assert_eq!(
                plain["value"],
                as_javascript(&json!(results)),
                "{id}: {plain}"
            );
        }
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn programs_of_others_are_the_same_parked_or_not() {
    let Some(rows) = rows("programs/test_authored.jsonl") else {
        return;
    };
    for (line, row) in rows.iter().enumerate() {
        let program = row["code"].as_str().unwrap();
        // Endless ones would take their whole time, twice.
        if is_endless(program) {
            continue;
        }
        let plain = run(program, None, Park::AsNeeded).await;
        let parked = run(program, None, Park::EveryAwait).await;
        // Where a program stands at its deadline is a matter of speed.
        let is_late = |result: &Value| result["status"] == "waiting" || result["code"] == "timeout";
        if is_late(&plain) || is_late(&parked) {
            continue;
        }
        assert_eq!(
            parked.to_string(),
            plain.to_string(),
            "line {}: {program}",
            line + 1
        );
    }
}
