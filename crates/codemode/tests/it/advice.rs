//! Advice over programs from outside: no false alarm, and most of the seeded mistakes are found.
//!
//! The schemas of the tasks' tools are learned from all recorded calls: what was always given is required,
//! what was never given is unknown, and results have the fields that they were seen to have.

use std::collections::{BTreeMap, BTreeSet};

use codecell_catalog::{Catalog, Entry, ToolId};
use codecell_codemode::advise;
use codecell_protocol::Warning;
use codecell_script::{PrepareOptions, prepare};
use serde_json::{Map, Value, json};

use crate::recorded::{named_tools, rows};
use crate::support::World;

/// Leaves a line for the end of a run of all tests.
fn keep(name: &str, line: &str) {
    let folder = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("../test-reports");
    std::fs::create_dir_all(&folder).unwrap();
    std::fs::write(folder.join(format!("{name}.txt")), format!("{line}\n")).unwrap();
}

/// The share of seeded mistakes of each kind that must be found, in percent.
const FLOOR_PERCENT: usize = 99;

fn warnings(code: &str, catalog: &Catalog) -> Vec<Warning> {
    match prepare(code, &PrepareOptions::default()) {
        Ok(program) => advise(&program.calls, catalog, code),
        Err(_) => Vec::new(),
    }
}

/// What was seen of an object or a value.
#[derive(Default)]
struct Seen {
    times: usize,
    types: BTreeSet<&'static str>,
    fields: BTreeMap<String, Seen>,
    elements: Option<Box<Seen>>,
}

impl Seen {
    fn note(&mut self, value: &Value) {
        self.times += 1;
        let kind = match value {
            Value::Null => "null",
            Value::Bool(_) => "boolean",
            Value::Number(_) => "number",
            Value::String(_) => "string",
            Value::Array(_) => "array",
            Value::Object(_) => "object",
        };
        self.types.insert(kind);
        for (key, inner) in value.as_object().into_iter().flatten() {
            self.fields.entry(key.clone()).or_default().note(inner);
        }
        for inner in value.as_array().into_iter().flatten() {
            self.elements.get_or_insert_default().note(inner);
        }
    }

    fn schema(&self) -> Value {
        let mut schema = Map::new();
        schema.insert("type".into(), json!(self.types));
        if self.types.contains("object") {
            let fields = self.fields.iter();
            let properties: Map<String, Value> = fields
                .clone()
                .map(|(name, seen)| (name.clone(), seen.schema()))
                .collect();
            let required: Vec<&String> = fields
                .filter(|(_, seen)| seen.times == self.times)
                .map(|(name, _)| name)
                .collect();
            schema.insert("properties".into(), properties.into());
            schema.insert("required".into(), json!(required));
        }
        if let Some(elements) = &self.elements {
            schema.insert("items".into(), elements.schema());
        }
        schema.into()
    }
}

/// The tools of all tasks.
fn learned(rows: &[Value]) -> Catalog {
    let mut tools: BTreeMap<String, (Seen, Seen)> = BTreeMap::new();
    for call in rows.iter().flat_map(|row| row["calls"].as_array().unwrap()) {
        let (server, tool) = (
            call["server"].as_str().unwrap(),
            call["tool"].as_str().unwrap(),
        );
        let (input, output) = tools
            .entry(format!("openclaw:{server}:{tool}"))
            .or_default();
        input.note(&call["args"]);
        if call["error"].is_null() && !call["result"].is_null() {
            output.note(&call["result"]);
        }
    }
    let entries = tools.iter().map(|(id, (input, output))| {
        let mut entry = Entry::new(ToolId::parse(id).unwrap(), "Learned.", input.schema());
        entry.output_schema = (output.times > 0).then(|| output.schema().into());
        entry
    });
    Catalog::build(entries.collect()).unwrap()
}

/// The same tools as those of MCP servers.
fn of_servers(catalog: &Catalog) -> Catalog {
    let entries = catalog.entries().iter().map(|entry| {
        let id = entry.id.as_str().replacen("openclaw:", "mcp:", 1);
        let id = ToolId::parse(&id).unwrap();
        let mut moved = Entry::new(id, "Learned.", (*entry.parameters).clone());
        moved.output_schema.clone_from(&entry.output_schema);
        moved
    });
    Catalog::build(entries.collect()).unwrap()
}

/// A task's program as it calls MCP servers.
fn over_servers(row: &Value, servers: &Catalog) -> String {
    let mut code = row["js_mcp_namespace"].as_str().unwrap().to_owned();
    for entry in servers.entries() {
        let written = format!("MCP.{}.{}(", entry.id.owner(), entry.name());
        code = code.replace(
            &written,
            &format!("{}(", servers.mcp_spelling(entry).unwrap()),
        );
    }
    code
}

/// Both ways to write a task's program: by id, and by name.
fn styles(row: &Value, catalog: &Catalog) -> Vec<String> {
    let by_id = row["js_tools_call"]
        .as_str()
        .unwrap()
        .replace("\"mcp:", "\"openclaw:");
    let mut by_name = by_id.clone();
    for (name, entry) in catalog.safe_names() {
        let called = format!("tools.call(\"{}\", ", entry.id.as_str());
        by_name = by_name.replace(&called, &format!("tools.{name}("));
    }
    vec![by_id, by_name]
}

#[test]
fn no_false_alarm_on_the_recorded_tasks() {
    let Some(rows) = rows("tasks/bfcl_replay.jsonl") else {
        return;
    };
    let catalog = learned(&rows);
    let servers = of_servers(&catalog);
    let mut alarms = Vec::new();
    let mut ran = 0;
    let by_tools = rows.iter().flat_map(|row| styles(row, &catalog));
    let by_tools = by_tools.map(|code| (code, &catalog));
    let by_servers = rows
        .iter()
        .map(|row| (over_servers(row, &servers), &servers));
    for (code, catalog) in by_tools.chain(by_servers) {
        ran += 1;
        let said = warnings(&code, catalog);
        if !said.is_empty() {
            alarms.push(format!("{code}\n{said:?}"));
        }
    }
    let counts = format!(
        "advice on tasks, through tools and MCP: {ran} ran, {} false alarms, 0 expected",
        alarms.len()
    );
    keep("advice-tasks", &counts);
    assert!(alarms.is_empty(), "{}", alarms.join("\n\n"));
}

/// What a program's own list of calls names of `tools`; such tools take anything.
fn fakes(row: &Value) -> Vec<Entry> {
    let entry = |name: &str| {
        let id = ToolId::core(name).ok()?;
        Some(Entry::new(id, "A fake.", json!({})))
    };
    named_tools(row).into_iter().filter_map(entry).collect()
}

#[test]
fn no_false_alarm_on_programs_of_others() {
    let Some(rows) = rows("programs/test_authored.jsonl") else {
        return;
    };
    let mut alarms = Vec::new();
    for (at, row) in rows.iter().enumerate() {
        let catalog = Catalog::build(fakes(row)).unwrap();
        let code = row["code"].as_str().unwrap();
        let said = warnings(code, &catalog);
        if !said.is_empty() {
            alarms.push(format!("line {}:\n{code}\n{said:?}", at + 1));
        }
    }
    let counts = format!(
        "advice on programs of others: {} ran, {} false alarms, 0 expected",
        rows.len(),
        alarms.len()
    );
    keep("advice-programs", &counts);
    assert!(alarms.is_empty(), "{}", alarms.join("\n\n"));
}

/// A program with one mistake, and the kind of warning that it deserves.
type Seeded = (&'static str, String);

/// One mistake of each kind in each call of a program.
fn seed(row: &Value, code: &str, catalog: &Catalog, kind: &str) -> Vec<Seeded> {
    let mut seeded = Vec::new();
    for (at, call) in row["calls"].as_array().unwrap().iter().enumerate() {
        let id = format!(
            "{kind}:{}:{}",
            call["server"].as_str().unwrap(),
            call["tool"].as_str().unwrap()
        );
        let entry = catalog.get(&ToolId::parse(&id).unwrap()).unwrap();
        let line = code.lines().nth(at).unwrap();
        let mut change = |kind, new: String| seeded.push((kind, code.replacen(line, &new, 1)));
        let own = catalog.mcp_spelling(entry).unwrap_or(entry.name());
        let name = own.rsplit('.').next().unwrap();
        change(
            "unknown_tool",
            line.replacen(&format!("{name}\""), &format!("{name}x\""), 1)
                .replacen(&format!(".{name}("), &format!(".{name}x("), 1),
        );
        change("missing_await", line.replacen("await ", "", 1));
        let given = line.find('{').unwrap();
        let (head, tail) = line.split_at(given);
        let end = tail.rfind(')').unwrap();
        let written = |args: &Map<String, Value>| {
            format!("{head}{}{}", Value::from(args.clone()), &tail[end..])
        };
        let args = call["args"].as_object().unwrap();
        let required = entry.parameters["required"].as_array().unwrap();
        for (key, value) in args {
            let mut fewer = args.clone();
            fewer.remove(key);
            if required.iter().any(|name| name == key) {
                change("missing_argument", written(&fewer));
            }
            fewer.insert(format!("{key}_"), value.clone());
            change("unknown_argument", written(&fewer));
            let types = &entry.parameters["properties"][key]["type"];
            let wrong = [json!("text"), json!(7), json!(true)];
            let wrong = wrong.iter().zip(["string", "number", "boolean"]);
            if let Some((wrong, _)) = wrong
                .into_iter()
                .find(|(_, kind)| !types.as_array().unwrap().iter().any(|own| own == kind))
            {
                let mut other = args.clone();
                other.insert(key.clone(), wrong.clone());
                change("wrong_literal", written(&other));
            }
        }
        let fields = entry
            .output_schema
            .as_ref()
            .filter(|schema| schema["type"] == json!(["object"]));
        if let Some((field, _)) =
            fields.and_then(|schema| schema["properties"].as_object()?.iter().next())
        {
            let last = code.lines().last().unwrap();
            seeded.push((
                "unknown_field",
                code.replacen(
                    last,
                    &format!("return r{at}[{}];", Value::from(format!("{field}x"))),
                    1,
                ),
            ));
        }
    }
    seeded
}

#[test]
fn seeded_mistakes_are_found() {
    let Some(rows) = rows("tasks/bfcl_replay.jsonl") else {
        return;
    };
    let catalog = learned(&rows);
    let mut found: BTreeMap<&str, (usize, usize)> = BTreeMap::new();
    let mut missed = Vec::new();
    let servers = of_servers(&catalog);
    for row in &rows {
        let by_tools = styles(row, &catalog).into_iter();
        let by_tools = by_tools.map(|code| (code, &catalog, "openclaw"));
        let by_servers = (over_servers(row, &servers), &servers, "mcp");
        for (code, catalog, source) in by_tools.chain([by_servers]) {
            for (kind, program) in seed(row, &code, catalog, source) {
                let count = found.entry(kind).or_default();
                count.1 += 1;
                if warnings(&program, catalog)
                    .iter()
                    .any(|warning| warning.kind == kind)
                {
                    count.0 += 1;
                } else {
                    missed.push(format!("{kind}: {program}"));
                }
            }
        }
    }
    let counts = found
        .iter()
        .map(|(kind, (hit, all))| format!("{kind} {hit} of {all}"));
    let counts: Vec<String> = counts.collect();
    keep(
        "advice-seeded",
        &format!("advice, seeded mistakes found: {}", counts.join(", ")),
    );
    assert_eq!(found.len(), 6, "a mistake of every kind");
    for (kind, (hit, all)) in found {
        let enough = hit * 100 >= all * FLOOR_PERCENT;
        assert!(
            enough,
            "{kind}: {hit} of {all}; for example {:?}",
            missed.first()
        );
    }
}

#[tokio::test]
async fn advice_stands_in_the_result_and_stops_nothing() {
    let world = World::new();
    let outcome = world
        .exec("const r = tools.echo({ a: 1 });\nreturn [r.a, (await r).a, `${tools.echo({})}`];")
        .await;
    let result = serde_json::to_value(&outcome.result).unwrap();
    assert_eq!(result["status"], "completed");
    assert_eq!(result["warnings"][0]["kind"], "missing_await");
    assert_eq!(
        (
            &result["warnings"][0]["line"],
            &result["warnings"][0]["column"]
        ),
        (&json!(2), &json!(30))
    );

    let outcome = world.exec("return await tools.ehco({});").await;
    let text = outcome.result.model_text().unwrap();
    assert!(
        text.starts_with(r#"{"status":"failed","warnings":[{"kind":"unknown_tool","#),
        "{text}"
    );
}
