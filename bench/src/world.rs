//! A process with code mode and a few tools that cost nothing.

use std::sync::Arc;

use anyhow::Context as _;
use async_trait::async_trait;
use codecell_catalog::Entry;
use codecell_codemode::{
    CellOutcome, CodeMode, CodeModeOptions, CodeModeParts, OsRandomness, ProcessLimits, RunContext,
    Scope, SnapshotStore, SystemClock,
};
use codecell_protocol::{CellResult, ExecInput, WaitInput};
use codecell_sandbox::{Sandbox, SandboxOptions};
use codecell_tools::{
    ApprovalDesk, ApprovalMode, ApprovalOptions, CallContext, Executor, ExecutorOptions,
    ExecutorParts, NoEvents, Policy, Redactor, Tool, ToolDefinition, ToolError, ToolInput,
    ToolOutput, ToolSet, ToolSource,
};
use serde_json::{Value, json};

/// A tool that gives back what it gets.
struct Echo(ToolDefinition);

#[async_trait]
impl Tool for Echo {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    async fn call(&self, input: ToolInput, _: &CallContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::details(input.value().clone()))
    }
}

/// A tool that gives a megabyte of rows.
struct Rows {
    definition: ToolDefinition,
    rows: Value,
}

impl Rows {
    fn new() -> anyhow::Result<Self> {
        let row = |i: u32| {
            json!({
                "id": i, "name": format!("customer {i}"), "email": format!("c{i}@example.com"),
                "total": f64::from(i) * 1.5, "open": i.is_multiple_of(3), "tags": ["a", "b"],
            })
        };
        let definition =
            ToolDefinition::core("rows", "Gives rows.", json!({ "type": "object" }))?.read_only();
        Ok(Self {
            definition,
            rows: json!({ "rows": (0..9000).map(row).collect::<Vec<_>>() }),
        })
    }
}

#[async_trait]
impl Tool for Rows {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, _: ToolInput, _: &CallContext) -> Result<ToolOutput, ToolError> {
        Ok(ToolOutput::details(self.rows.clone()))
    }
}

/// Code mode with everything around it.
pub(crate) struct World {
    /// Code mode.
    pub(crate) code_mode: CodeMode,
    run: RunContext,
}

impl World {
    /// Starts it; the compiled guest is kept in the system's folder for temporary files.
    pub(crate) fn start(options: CodeModeOptions) -> anyhow::Result<Self> {
        Self::with_tools(options, Vec::new())
    }

    /// Starts it with more tools, all of which give back what they get.
    pub(crate) fn with_tools(options: CodeModeOptions, more: Vec<Entry>) -> anyhow::Result<Self> {
        Self::with_store(options, more, None)
    }

    /// Starts it with more tools, and with cells that outlive their process.
    pub(crate) fn with_store(
        options: CodeModeOptions,
        more: Vec<Entry>,
        store: Option<Arc<dyn SnapshotStore>>,
    ) -> anyhow::Result<Self> {
        let cache = std::env::temp_dir().join("codecell-bench-cache");
        let sandbox = Sandbox::new(&SandboxOptions {
            cache_dir: Some(cache),
            ..SandboxOptions::default()
        })?;
        let executor = Executor::new(ExecutorParts {
            options: ExecutorOptions::default(),
            approvals: ApprovalDesk::new(
                ApprovalOptions {
                    // Nobody is asked: the tools give back what they get.
                    mode: ApprovalMode::Always,
                    ..ApprovalOptions::default()
                },
                None,
            ),
            hooks: Vec::new(),
            events: Arc::new(NoEvents),
            redactor: Redactor::default(),
        });
        let code_mode = CodeMode::new(CodeModeParts {
            sandbox,
            executor: Arc::new(executor),
            clock: Arc::new(SystemClock),
            randomness: Arc::new(OsRandomness::new().map_err(anyhow::Error::msg)?),
            runtime: tokio::runtime::Handle::current(),
            limits: ProcessLimits::default(),
            hooks: Vec::new(),
            transport: None,
            store,
            keep_records: false,
        });
        let echo =
            ToolDefinition::core("echo", "Gives back its input.", json!({ "type": "object" }))?
                .read_only();
        let mut tools: Vec<Arc<dyn Tool>> = vec![Arc::new(Echo(echo)), Arc::new(Rows::new()?)];
        tools.extend(more.into_iter().map(echoing));
        let source: Arc<dyn ToolSource> = Arc::new(tools);
        let set = ToolSet::build(&[source], &Policy::default())?;
        let run = RunContext::new(Scope::new("bench", "main", "bench", "bench"), set)
            .with_options(options);
        Ok(Self { code_mode, run })
    }

    /// The same tools for another session.
    pub(crate) fn beside(&self, session: &str, options: CodeModeOptions) -> RunContext {
        let scope = Scope::new("bench", "main", session, "bench");
        RunContext::new(scope, self.run.tools.clone()).with_options(options)
    }

    /// Runs a program.
    pub(crate) async fn exec(&self, code: &str) -> CellOutcome {
        self.exec_as(&self.run, code).await
    }

    /// Runs a program of another session.
    pub(crate) async fn exec_as(&self, run: &RunContext, code: &str) -> CellOutcome {
        let input = ExecInput {
            code: code.to_owned(),
            language: None,
        };
        self.code_mode.exec(input, run, "bench".into()).await
    }

    /// What is held for the suspended cells, once they are compressed.
    pub(crate) async fn settled_suspended_bytes(&self) -> anyhow::Result<usize> {
        let mut last = usize::MAX;
        for _ in 0..1000 {
            tokio::time::sleep(std::time::Duration::from_millis(5)).await;
            let now = usize::try_from(self.code_mode.suspended_bytes())?;
            if now == last {
                return Ok(now);
            }
            last = now;
        }
        anyhow::bail!("the snapshots were not compressed within 5 s")
    }

    /// Resumes a cell.
    pub(crate) async fn wait(&self, run_id: String) -> CellOutcome {
        self.code_mode
            .wait(
                WaitInput {
                    run_id,
                    after: None,
                },
                &self.run,
            )
            .await
    }
}

fn echoing(entry: Entry) -> Arc<dyn Tool> {
    let mut definition = ToolDefinition::new(entry.id, entry.description, Value::Null);
    definition.parameters = entry.parameters;
    Arc::new(Echo(definition))
}

/// Fails unless the program completed.
pub(crate) fn completed(outcome: &CellOutcome) -> anyhow::Result<()> {
    match &outcome.result {
        CellResult::Completed(_) => Ok(()),
        other => anyhow::bail!("not completed: {}", other.model_text().context("a result")?),
    }
}

/// The id of a cell that must be waiting.
pub(crate) fn waiting(outcome: &CellOutcome) -> anyhow::Result<String> {
    match &outcome.result {
        CellResult::Waiting(waiting) => Ok(waiting.run_id.to_string()),
        other => anyhow::bail!("not waiting: {}", other.model_text().context("a result")?),
    }
}

/// Fails unless the program failed.
pub(crate) fn failed(outcome: &CellOutcome) -> anyhow::Result<()> {
    match &outcome.result {
        CellResult::Failed(_) => Ok(()),
        other => anyhow::bail!("not failed: {}", other.model_text().context("a result")?),
    }
}
