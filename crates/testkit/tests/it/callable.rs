//! What the guest calls by a declared name arrives at that tool of that server, with those arguments.

#![expect(
    clippy::unwrap_used,
    clippy::panic,
    reason = "a test that cannot go on has failed"
)]

use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use codecell_catalog::{Catalog, McpServer, Operation};
use codecell_codemode::{
    CodeMode, CodeModeOptions, CodeModeParts, OsRandomness, ProcessLimits, RunContext, Scope,
    SystemClock,
};
use codecell_protocol::{CellResult, ExecInput};
use codecell_testkit::servers::{Servers, generated, minimal, nasty, real};
use codecell_tools::{
    ApprovalDesk, ApprovalMode, ApprovalOptions, CallContext, Executor, ExecutorOptions,
    ExecutorParts, NoEvents, Policy, Redactor, Tool, ToolDefinition, ToolError, ToolInput,
    ToolOutput, ToolSet, ToolSource,
};
use serde_json::{Value, json};

type Calls = Arc<Mutex<Vec<(String, Value)>>>;

/// A tool that notes what arrives.
struct Noting {
    definition: ToolDefinition,
    calls: Calls,
}

#[async_trait]
impl Tool for Noting {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: ToolInput, _: &CallContext) -> Result<ToolOutput, ToolError> {
        let call = (self.definition.id.to_string(), input.value().clone());
        self.calls.lock().unwrap().push(call);
        Ok(ToolOutput::details(json!({})))
    }
}

struct Source {
    tools: Vec<Arc<dyn Tool>>,
    servers: Vec<McpServer>,
}

impl ToolSource for Source {
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.tools.clone()
    }

    fn servers(&self) -> Vec<McpServer> {
        self.servers.clone()
    }
}

/// Code mode over servers that note what arrives.
struct World {
    cells: CodeMode,
    run: RunContext,
    calls: Calls,
}

impl World {
    fn of(servers: &Servers) -> Self {
        let calls = Calls::default();
        let tool = |entry: &codecell_catalog::Entry| {
            let words = entry.description.to_string();
            let parameters = (*entry.parameters).clone();
            let mut definition = ToolDefinition::new(entry.id.clone(), words, parameters);
            definition.operation = entry.operation;
            let calls = Arc::clone(&calls);
            Arc::new(Noting { definition, calls }) as Arc<dyn Tool>
        };
        let source = Source {
            tools: servers.entries.iter().map(tool).collect(),
            servers: servers.servers.clone(),
        };
        let tools = ToolSet::build(&[Arc::new(source)], &Policy::default()).unwrap();
        let options = CodeModeOptions {
            timeout_ms: 60_000,
            max_output_bytes: 4 << 20,
            ..CodeModeOptions::default()
        };
        let scope = Scope::new("owner", "main", "session", "run");
        Self {
            cells: code_mode(),
            run: RunContext::new(scope, tools).with_options(options),
            calls,
        }
    }

    fn catalog(&self) -> &Catalog {
        self.run.tools.catalog()
    }

    async fn value(&self, code: String) -> Value {
        let input = ExecInput {
            code,
            language: None,
        };
        match self
            .cells
            .exec(input, &self.run, "call".into())
            .await
            .result
        {
            CellResult::Completed(completed) => {
                serde_json::from_str(completed.value.get()).unwrap()
            }
            other => panic!("{}", other.model_text().unwrap()),
        }
    }
}

fn code_mode() -> CodeMode {
    let executor = Executor::new(ExecutorParts {
        options: ExecutorOptions::default(),
        approvals: ApprovalDesk::new(
            ApprovalOptions {
                mode: ApprovalMode::Always,
                ..ApprovalOptions::default()
            },
            None,
        ),
        hooks: Vec::new(),
        events: Arc::new(NoEvents),
        redactor: Redactor::default(),
    });
    CodeMode::new(CodeModeParts {
        sandbox: codecell_testkit::engine::sandbox(),
        executor: Arc::new(executor),
        clock: Arc::new(SystemClock),
        randomness: Arc::new(OsRandomness::new().unwrap()),
        runtime: tokio::runtime::Handle::current(),
        limits: ProcessLimits::default(),
        hooks: Vec::new(),
        transport: None,
        store: None,
        keep_records: false,
    })
}

/// A call of one server in a program: how it is written, the tool that it means, its arguments.
struct Call {
    spelling: String,
    id: String,
    arguments: Value,
}

fn calls_of(catalog: &Catalog, identifier: &str) -> Vec<Call> {
    let space = catalog
        .servers()
        .iter()
        .find(|space| space.identifier == identifier);
    let members = catalog.members(space.unwrap());
    let call = |entry: &codecell_catalog::Entry| Call {
        spelling: catalog.mcp_spelling(entry).unwrap().to_owned(),
        id: entry.id.to_string(),
        arguments: match entry.operation {
            Operation::Tool => minimal(&entry.parameters),
            _ => json!({}),
        },
    };
    members.map(call).collect()
}

/// Calls one after the other, each by its name; gives what those that failed say.
fn program(calls: &[Call]) -> String {
    let mut text = String::from(
        "const failed = [];\nconst of = (call, made) => made.catch((e) => { failed.push([call, e.code, e.tool]); });\n",
    );
    for (at, call) in calls.iter().enumerate() {
        let _ = writeln!(
            text,
            "await of({at}, {}({}));",
            call.spelling, call.arguments
        );
    }
    text + "return failed;"
}

/// What `$api` says that a server has, as a program writes the calls; each is a function there.
async fn declared(world: &World, identifier: &str) -> BTreeSet<String> {
    let code = format!(
        "const member = (path) => path.split('.').slice(1).reduce((at, name) => at[name], MCP);\n\
         return (await MCP.{identifier}.$api()).tools.map(({{path}}) => [path, typeof member(path)]);"
    );
    let listed = world.value(code).await;
    let named = listed.as_array().unwrap().iter().map(|pair| {
        assert_eq!(pair[1], "function", "{pair}");
        pair[0].as_str().unwrap().to_owned()
    });
    named.collect()
}

/// Whether what arrived is what was given, but for defaults that were filled in.
fn holds(arrived: &Value, given: &Value) -> bool {
    match (arrived, given) {
        (Value::Object(arrived), Value::Object(given)) => given
            .iter()
            .all(|(key, value)| arrived.get(key).is_some_and(|own| holds(own, value))),
        (Value::Array(arrived), Value::Array(given)) => {
            arrived.len() == given.len()
                && arrived
                    .iter()
                    .zip(given)
                    .all(|(one, other)| holds(one, other))
        }
        (Value::Number(one), Value::Number(other)) => one.as_f64() == other.as_f64(),
        (one, other) => one == other,
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn every_tool_of_every_recorded_list_is_reached_by_its_name() {
    let Some(servers) = real("every_tool_of_every_recorded_list_is_reached_by_its_name").unwrap()
    else {
        return;
    };
    let world = World::of(&servers);
    assert_eq!(
        world.catalog().len(),
        servers.entries.len(),
        "a tool is unavailable"
    );
    let (mut made, mut wrong) = (0, Vec::new());
    for space in world.catalog().servers() {
        let calls = calls_of(world.catalog(), &space.identifier);
        let spelled = calls.iter().map(|call| call.spelling.clone()).collect();
        assert_eq!(declared(&world, &space.identifier).await, spelled);
        let failed = world.value(program(&calls)).await;
        let arrived = std::mem::take(&mut *world.calls.lock().unwrap());
        for (at, call) in calls.iter().enumerate() {
            let is_failed = failed.as_array().unwrap().iter().find(|one| one[0] == at);
            let found = arrived.iter().filter(|(id, _)| *id == call.id);
            let found: Vec<&Value> = found.map(|(_, arguments)| arguments).collect();
            if is_failed.is_some() || found.len() != 1 || !holds(found[0], &call.arguments) {
                wrong.push(format!(
                    "{} {}: {is_failed:?} {found:?}",
                    call.spelling, call.arguments
                ));
            }
        }
        assert!(arrived.len() <= calls.len());
        made += arrived.len();
    }
    let counts = format!(
        "tools of recorded MCP servers called by name: {} servers, {made} ran, {} failed, 0 expected to fail",
        world.catalog().servers().len(),
        wrong.len()
    );
    codecell_testkit::hostile::report::keep("callable", &counts).unwrap();
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
    assert!(made >= 650, "{counts}");
}

/// Calls everything without arguments: what arrives is the right tool, and so is what refuses.
async fn reach_all(servers: &Servers) {
    let world = World::of(servers);
    for space in world.catalog().servers() {
        let mut calls = calls_of(world.catalog(), &space.identifier);
        for call in &mut calls {
            call.arguments = json!({});
        }
        let failed = world.value(program(&calls)).await;
        let arrived = std::mem::take(&mut *world.calls.lock().unwrap());
        let mut arrived = arrived.iter();
        for (at, call) in calls.iter().enumerate() {
            match failed.as_array().unwrap().iter().find(|one| one[0] == at) {
                Some(failure) => {
                    let code = failure[1].as_str().unwrap();
                    let is_refusal = ["invalid_arguments", "tool_unavailable"].contains(&code);
                    assert!(is_refusal && failure[2] == call.id.as_str(), "{failure}");
                }
                None => assert_eq!(arrived.next().unwrap().0, call.id, "{}", call.spelling),
            }
        }
        assert!(arrived.next().is_none());
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn made_up_servers_are_reached_whatever_they_are_called() {
    reach_all(&nasty().unwrap()).await;
    for seed in 0..12 {
        reach_all(&generated(seed, 6)).await;
    }
}
