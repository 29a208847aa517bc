//! Code mode over a store in some folder, with tools that change a server's world.

use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use codecell_codemode::{
    CellOutcome, CodeMode, CodeModeOptions, CodeModeParts, OsRandomness, ProcessLimits, RecordSink,
    RunContext, Scope, SnapshotStore, SystemClock,
};
use codecell_protocol::{CellResult, ExecInput, WaitInput};
use codecell_store::{SqliteStore, StorePlaces};
use codecell_tools::{
    ApprovalDesk, ApprovalMode, ApprovalOptions, ApprovalRequest, Approver, CallContext, Decision,
    Executor, ExecutorOptions, ExecutorParts, NoEvents, Policy, Redactor, Tool, ToolDefinition,
    ToolError, ToolInput, ToolOutput, ToolSet, ToolSource,
};
use serde_json::{Value, json};

use crate::server::EffectServer;
use crate::{mcp, server};

/// Where the store of a folder lies.
pub(crate) fn places(folder: &Path) -> StorePlaces {
    StorePlaces {
        database: folder.join("cells.db"),
        key: folder.join("store.key"),
    }
}

pub(crate) fn open(folder: &Path) -> Arc<SqliteStore> {
    let random = Arc::new(OsRandomness::new().unwrap());
    Arc::new(SqliteStore::open(&places(folder), random).unwrap())
}

/// A folder for a store, and the server whose world is changed.
pub(crate) struct Places {
    _keep: tempfile::TempDir,
    pub(crate) path: PathBuf,
    pub(crate) server: EffectServer,
}

impl Places {
    pub(crate) fn new() -> Self {
        let (keep, path) = folder();
        Self {
            _keep: keep,
            path,
            server: EffectServer::start(),
        }
    }

    pub(crate) fn setup(&self) -> Setup {
        let store: Arc<dyn SnapshotStore> = open(&self.path);
        Setup::new(&self.server.address(), Some(store))
    }

    pub(crate) fn world(&self) -> World {
        World::of(self.setup())
    }

    /// Runs a program up to its first suspension, and ends the process.
    pub(crate) async fn suspended(&self, code: &str) -> String {
        let world = self.world();
        let id = id_of(&world.exec(code).await);
        world.cells.shutdown().await;
        id
    }

    /// What a later process gives, whose servers offer these.
    pub(crate) async fn later(&self, id: &str, members: &[&'static str]) -> CellResult {
        let world = World::of(Setup {
            mcp: members.to_vec(),
            ..self.setup()
        });
        let result = world.wait(id, None).await;
        let result = world.wait_out(result).await;
        world.cells.shutdown().await;
        result
    }
}

/// `effect {token, delayMs?}` asks the server; `look {}` only reads; `nap {ms}` reads slowly.
struct WorldTool {
    definition: ToolDefinition,
    server: String,
}

#[async_trait]
impl Tool for WorldTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: ToolInput, _: &CallContext) -> Result<ToolOutput, ToolError> {
        let text = |key: &str| input.value()[key].as_str().unwrap_or_default().to_owned();
        let delay = input.value()["delayMs"].as_u64().unwrap_or(0);
        tokio::time::sleep(Duration::from_millis(delay)).await;
        if self.definition.name() == "effect" {
            let (server, token) = (self.server.clone(), text("token"));
            let asked = tokio::task::spawn_blocking(move || server::ask(&server, &token)).await;
            asked
                .unwrap()
                .map_err(|error| ToolError::new("unreachable", error.to_string()))?;
        }
        Ok(ToolOutput::details(json!("ok")))
    }
}

fn tools(server: &str, description: &str) -> Vec<Arc<dyn Tool>> {
    let schema = || json!({"type": "object"});
    let tool = |definition: ToolDefinition| {
        Arc::new(WorldTool {
            definition,
            server: server.to_owned(),
        }) as Arc<dyn Tool>
    };
    vec![
        tool(ToolDefinition::core("effect", description, schema()).unwrap()),
        tool(
            ToolDefinition::core("look", "Looks.", schema())
                .unwrap()
                .read_only(),
        ),
    ]
}

/// One process's code mode.
pub(crate) struct World {
    pub(crate) cells: CodeMode,
    pub(crate) run: RunContext,
}

/// What differs from the usual world.
#[derive(Clone)]
pub(crate) struct Setup {
    pub(crate) server: String,
    pub(crate) store: Option<Arc<dyn SnapshotStore>>,
    pub(crate) keep_records: bool,
    pub(crate) session: &'static str,
    pub(crate) description: &'static str,
    pub(crate) policy: Policy,
    pub(crate) options: CodeModeOptions,
    pub(crate) record: Option<Arc<dyn RecordSink>>,
    /// The ids of what the MCP servers offer.
    pub(crate) mcp: Vec<&'static str>,
    /// What a person says who is asked about each call that changes something; nobody is, if `None`.
    pub(crate) person: Option<Person>,
}

/// Somebody who is asked.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Person {
    Agrees,
    Refuses,
    /// Never says anything.
    Ponders,
}

#[async_trait]
impl Approver for Person {
    async fn ask(&self, _: &ApprovalRequest) -> Decision {
        match self {
            Self::Agrees => Decision::Once,
            Self::Refuses => Decision::Deny { reason: None },
            Self::Ponders => std::future::pending().await,
        }
    }
}

impl Setup {
    pub(crate) fn new(server: &str, store: Option<Arc<dyn SnapshotStore>>) -> Self {
        Self {
            server: server.to_owned(),
            store,
            keep_records: false,
            session: "session",
            description: "Changes the world.",
            policy: Policy::default(),
            options: CodeModeOptions::default(),
            record: None,
            mcp: mcp::MEMBERS.to_vec(),
            person: None,
        }
    }
}

fn desk(person: Option<Person>) -> ApprovalDesk {
    let mode = match person {
        Some(_) => ApprovalMode::Ask,
        None => ApprovalMode::Always,
    };
    let options = ApprovalOptions {
        mode,
        ..ApprovalOptions::default()
    };
    let person = person.map(|person| Arc::new(person) as Arc<dyn Approver>);
    ApprovalDesk::new(options, person)
}

impl World {
    pub(crate) fn of(setup: Setup) -> Self {
        let executor = Executor::new(ExecutorParts {
            options: ExecutorOptions {
                abort_grace: Duration::from_millis(50),
                ..ExecutorOptions::default()
            },
            approvals: desk(setup.person),
            hooks: Vec::new(),
            events: Arc::new(NoEvents),
            redactor: Redactor::default(),
        });
        let cells = CodeMode::new(CodeModeParts {
            sandbox: codecell_testkit::engine::sandbox(),
            executor: Arc::new(executor),
            clock: Arc::new(SystemClock),
            randomness: Arc::new(OsRandomness::new().unwrap()),
            runtime: tokio::runtime::Handle::current(),
            limits: ProcessLimits::default(),
            hooks: Vec::new(),
            transport: None,
            store: setup.store,
            keep_records: setup.keep_records,
        });
        let sources: Vec<Arc<dyn ToolSource>> = vec![
            Arc::new(tools(&setup.server, setup.description)),
            Arc::new(mcp::source(&setup.server, &setup.mcp)),
        ];
        let tools = ToolSet::build(&sources, &setup.policy).unwrap();
        let scope = Scope::new("owner", "main", setup.session, "run");
        let mut run = RunContext::new(scope, tools).with_options(setup.options);
        run.record = setup.record;
        Self { cells, run }
    }

    pub(crate) async fn exec(&self, code: &str) -> CellResult {
        let input = ExecInput {
            code: code.to_owned(),
            language: None,
        };
        let outcome: CellOutcome = self.cells.exec(input, &self.run, "call".into()).await;
        outcome.result
    }

    pub(crate) async fn wait(&self, id: &str, after: Option<u64>) -> CellResult {
        let input = WaitInput {
            run_id: id.to_owned(),
            after,
        };
        self.cells.wait(input, &self.run).await.result
    }

    /// Waits until the cell gives something else than `waiting`.
    pub(crate) async fn wait_out(&self, mut result: CellResult) -> CellResult {
        while let CellResult::Waiting(waiting) = &result {
            let (id, seq) = (waiting.run_id.to_string(), waiting.seq);
            result = self.wait(&id, Some(seq)).await;
        }
        result
    }
}

pub(crate) fn value(result: &CellResult) -> Value {
    match result {
        CellResult::Completed(completed) => serde_json::from_str(completed.value.get()).unwrap(),
        other => panic!("not completed: {}", serde_json::to_string(other).unwrap()),
    }
}

pub(crate) fn id_of(result: &CellResult) -> String {
    match result {
        CellResult::Waiting(waiting) => waiting.run_id.to_string(),
        other => panic!("not waiting: {}", serde_json::to_string(other).unwrap()),
    }
}

/// A folder of a test's own.
pub(crate) fn folder() -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().unwrap();
    let path = folder.path().to_owned();
    (folder, path)
}
