//! A world to run cells in: the real sandbox and executor, tools that do what a test wants, and a
//! clock that a test can move.

use std::collections::HashMap;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::sync::{Arc, Mutex, OnceLock};
use std::time::{Duration, Instant};

use async_trait::async_trait;
use codecell_codemode::{
    CellOutcome, Clock, CodeMode, CodeModeOptions, CodeModeParts, ProcessLimits, Randomness,
    RunContext, Scope, SnapshotTransport, SystemClock,
};
use codecell_protocol::{CellResult, ExecInput, FailureKind, WaitInput};
use codecell_sandbox::{Sandbox, SandboxOptions};
use codecell_tools::{
    ApprovalDesk, ApprovalMode, ApprovalOptions, ApprovalRequest, Approver, CallContext,
    ContentBlock, Decision, Executor, ExecutorOptions, ExecutorParts, NoEvents, Policy, Redactor,
    Tool, ToolDefinition, ToolError, ToolInput, ToolOutput, ToolSet, ToolSource,
};
use serde_json::{Value, json};
use tokio::sync::Notify;

/// The sandbox of all tests: compiling the guest takes seconds.
pub(crate) fn sandbox() -> Sandbox {
    static SANDBOX: OnceLock<Sandbox> = OnceLock::new();
    SANDBOX
        .get_or_init(|| {
            let cache_dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("guest-cache");
            let options = SandboxOptions {
                cache_dir: Some(cache_dir),
                max_guests: 128,
                ..SandboxOptions::default()
            };
            Sandbox::new(&options).unwrap()
        })
        .clone()
}

/// The system's clock, some time ahead.
#[derive(Default)]
pub(crate) struct MovedClock {
    ahead_ms: AtomicU64,
    wall_ahead_ms: AtomicU64,
    stands: AtomicBool,
}

impl MovedClock {
    /// Stops the clock on the wall, for runs that are compared: a program may ask it when a millisecond ends.
    pub(crate) fn stop_wall(&self) {
        self.stands.store(true, Ordering::SeqCst);
    }

    pub(crate) fn advance(&self, by: Duration) {
        self.ahead_ms
            .fetch_add(by.as_millis() as u64, Ordering::SeqCst);
    }

    /// Sets the clock on the wall forward, and no other.
    pub(crate) fn advance_wall(&self, by: Duration) {
        self.wall_ahead_ms
            .fetch_add(by.as_millis() as u64, Ordering::SeqCst);
    }

    fn ahead(&self) -> Duration {
        Duration::from_millis(self.ahead_ms.load(Ordering::SeqCst))
    }
}

impl Clock for MovedClock {
    fn unix_us(&self) -> u64 {
        let wall_ahead_us = self.wall_ahead_ms.load(Ordering::SeqCst) * 1000;
        let unix_us = match self.stands.load(Ordering::SeqCst) {
            true => 1_700_000_000_000_000,
            false => SystemClock.unix_us(),
        };
        unix_us + self.ahead().as_micros() as u64 + wall_ahead_us
    }

    fn now(&self) -> Instant {
        Instant::now() + self.ahead()
    }
}

/// Counts instead of drawing: runs are repeatable.
#[derive(Default)]
pub(crate) struct Counted {
    drawn: AtomicU64,
    broken: AtomicBool,
}

impl Counted {
    /// The next seed, which a guest's thread asks for, panics there.
    pub(crate) fn break_next_seed(&self) {
        self.broken.store(true, Ordering::SeqCst);
    }
}

impl Randomness for Counted {
    fn bits(&self) -> u128 {
        u128::from(self.drawn.fetch_add(1, Ordering::SeqCst)) << 64
    }

    fn seed(&self) -> [u8; 32] {
        assert!(
            !self.broken.swap(false, Ordering::SeqCst),
            "a thread is lost"
        );
        [7; 32]
    }
}

/// Doors that tools wait behind until a test opens them, and what has happened so far.
#[derive(Default)]
pub(crate) struct Stage {
    open: Mutex<HashMap<String, usize>>,
    log: Mutex<Vec<String>>,
    changed: Notify,
}

impl Stage {
    pub(crate) fn say(&self, line: impl Into<String>) {
        self.log.lock().unwrap().push(line.into());
        self.changed.notify_waiters();
    }

    pub(crate) fn log(&self) -> Vec<String> {
        self.log.lock().unwrap().clone()
    }

    pub(crate) fn release(&self, key: &str) {
        *self.open.lock().unwrap().entry(key.to_owned()).or_default() += 1;
        self.changed.notify_waiters();
    }

    /// Waits until a line has been said.
    pub(crate) async fn wait_for(&self, line: &str) {
        self.until(|stage| stage.log().iter().any(|said| said == line), line)
            .await;
    }

    async fn pass(&self, key: &str) {
        self.until(
            |stage| match stage.open.lock().unwrap().get_mut(key) {
                Some(left) if *left > 0 => {
                    *left -= 1;
                    true
                }
                _ => false,
            },
            key,
        )
        .await;
    }

    async fn until(&self, is_so: impl Fn(&Self) -> bool, what: &str) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if is_so(self) {
                return;
            }
            let waited = tokio::time::timeout(Duration::from_secs(60), changed).await;
            assert!(waited.is_ok(), "{what} never happened: {:?}", self.log());
        }
    }
}

/// What a fake tool does.
#[derive(Clone, Copy)]
enum Act {
    Echo,
    Hold,
    Fail,
    FailClean,
    Big,
    Image,
    Text,
    Json,
    Deep,
    Hang,
    Panic,
}

struct Fake {
    definition: ToolDefinition,
    act: Act,
    stage: Arc<Stage>,
}

#[async_trait]
impl Tool for Fake {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: ToolInput, _ctx: &CallContext) -> Result<ToolOutput, ToolError> {
        let name = self.definition.name();
        let key = input.value()["key"].as_str().unwrap_or("").to_owned();
        self.stage
            .say(format!("{name} {key}").trim_end().to_owned());
        match self.act {
            Act::Echo => Ok(ToolOutput::details(input.value().clone())),
            Act::Hold => {
                self.stage.pass(&key).await;
                self.stage.say(format!("{name} {key} done"));
                match input.value()["fail"].as_str() {
                    Some(message) => Err(ToolError::no_effect("held", message)),
                    None => Ok(ToolOutput::details(json!({"key": key}))),
                }
            }
            Act::Fail => Err(ToolError::new("broken", "the tool is broken")),
            Act::FailClean => Err(ToolError::no_effect("refused", "nothing was changed")),
            Act::Big => {
                let bytes = input.value()["bytes"].as_u64().unwrap_or(0) as usize;
                Ok(ToolOutput::details(Value::from("x".repeat(bytes))))
            }
            Act::Image => Ok(ToolOutput {
                content: vec![
                    ContentBlock::Text("a picture".into()),
                    ContentBlock::Image {
                        mime_type: "image/png".into(),
                        data: vec![1, 2, 3].into(),
                    },
                ],
                ..ToolOutput::default()
            }),
            Act::Text => Ok(ToolOutput::text("{\"not\": \"parsed\"}")),
            Act::Json => Ok(ToolOutput::text("{\"parsed\": true}")),
            Act::Deep => Ok(ToolOutput::details(
                (0..100).fold(json!(1), |inner, _| json!([inner])),
            )),
            Act::Hang => std::future::pending().await,
            Act::Panic => panic!("a fake tool panics"),
        }
    }
}

fn fake(stage: &Arc<Stage>, name: &str, act: Act, reads: bool) -> Arc<dyn Tool> {
    let parameters = json!({"type": "object"});
    let mut definition =
        ToolDefinition::core(name, format!("The fake tool {name}."), parameters).unwrap();
    if reads {
        definition = definition.read_only();
    }
    definition.returns_json = matches!(act, Act::Json);
    Arc::new(Fake {
        definition,
        act,
        stage: Arc::clone(stage),
    })
}

/// A tool that echoes under this name and describes itself in other words.
pub(crate) fn renamed(stage: &Arc<Stage>, name: &str, description: &str) -> Arc<dyn Tool> {
    let definition = ToolDefinition::core(name, description, json!({"type": "object"})).unwrap();
    Arc::new(Fake {
        definition: definition.read_only(),
        act: Act::Echo,
        stage: Arc::clone(stage),
    })
}

/// A tool that only another server has.
fn mcp(stage: &Arc<Stage>) -> Arc<dyn Tool> {
    let id = codecell_tools::ToolId::parse("mcp:git-hub:list_issues").unwrap();
    let definition = ToolDefinition::new(id, "Lists issues.", json!({"type": "object"}));
    Arc::new(Fake {
        definition,
        act: Act::Echo,
        stage: Arc::clone(stage),
    })
}

/// All tools of a world; names that end in `_w` change something.
pub(crate) fn tools(stage: &Arc<Stage>) -> Vec<Arc<dyn Tool>> {
    let mut all = vec![
        fake(stage, "echo", Act::Echo, true),
        fake(stage, "hold", Act::Hold, true),
        fake(stage, "fail", Act::Fail, true),
        fake(stage, "big", Act::Big, true),
        fake(stage, "image", Act::Image, true),
        fake(stage, "plain", Act::Text, true),
        fake(stage, "parsed", Act::Json, true),
        fake(stage, "deep", Act::Deep, true),
        fake(stage, "hang", Act::Hang, true),
        fake(stage, "panic_w", Act::Panic, false),
        fake(stage, "echo_w", Act::Echo, false),
        fake(stage, "hold_w", Act::Hold, false),
        fake(stage, "fail_w", Act::Fail, false),
        fake(stage, "fail_clean_w", Act::FailClean, false),
        fake(stage, "hang_w", Act::Hang, false),
        fake(stage, "exec", Act::Echo, false),
    ];
    all.push(mcp(stage));
    all
}

pub(crate) fn tool_set(tools: Vec<Arc<dyn Tool>>) -> ToolSet {
    let source: Arc<dyn ToolSource> = Arc::new(tools);
    ToolSet::build(&[source], &Policy::default()).unwrap()
}

/// Answers every approval when its door is open: `approve` says yes, `approve tool` for good, `deny` no.
pub(crate) struct Person {
    pub(crate) stage: Arc<Stage>,
}

#[async_trait]
impl Approver for Person {
    async fn ask(&self, request: &ApprovalRequest) -> Decision {
        self.stage.say(format!("asked {}", request.tool.name()));
        tokio::select! {
            () = self.stage.pass("approve") => Decision::Once,
            () = self.stage.pass("approve tool") => Decision::ThisTool,
            () = self.stage.pass("deny") => Decision::Deny { reason: Some("not today".into()) },
        }
    }
}

/// How a world differs from the plain one.
#[derive(Default)]
pub(crate) struct Setup {
    pub(crate) asks: bool,
    pub(crate) limits: ProcessLimits,
    pub(crate) sandbox: Option<Sandbox>,
    pub(crate) transport: Option<Arc<dyn SnapshotTransport>>,
    pub(crate) hooks: Vec<Arc<dyn codecell_codemode::ExecHook>>,
}

/// A process with one run.
pub(crate) struct World {
    pub(crate) code_mode: CodeMode,
    pub(crate) run: RunContext,
    pub(crate) stage: Arc<Stage>,
    pub(crate) clock: Arc<MovedClock>,
    pub(crate) random: Arc<Counted>,
}

impl World {
    pub(crate) fn new() -> Self {
        Self::of(Setup::default())
    }

    pub(crate) fn of(setup: Setup) -> Self {
        let stage = Arc::new(Stage::default());
        let clock = Arc::new(MovedClock::default());
        let random = Arc::new(Counted::default());
        let mode = if setup.asks {
            ApprovalMode::Ask
        } else {
            ApprovalMode::Always
        };
        let person: Arc<dyn Approver> = Arc::new(Person {
            stage: Arc::clone(&stage),
        });
        let executor = Executor::new(ExecutorParts {
            options: ExecutorOptions {
                abort_grace: Duration::from_millis(50),
                ..ExecutorOptions::default()
            },
            approvals: ApprovalDesk::new(
                ApprovalOptions {
                    mode,
                    ..ApprovalOptions::default()
                },
                Some(person),
            ),
            hooks: Vec::new(),
            events: Arc::new(NoEvents),
            redactor: Redactor::default(),
        });
        let code_mode = CodeMode::new(CodeModeParts {
            sandbox: setup.sandbox.unwrap_or_else(sandbox),
            executor: Arc::new(executor),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
            randomness: Arc::clone(&random) as Arc<dyn Randomness>,
            runtime: tokio::runtime::Handle::current(),
            limits: setup.limits,
            hooks: setup.hooks,
            transport: setup.transport,
            store: None,
            keep_records: false,
        });
        let run = RunContext::new(
            Scope::new("owner", "main", "session", "run"),
            tool_set(tools(&stage)),
        );
        Self {
            code_mode,
            run,
            stage,
            clock,
            random,
        }
    }

    pub(crate) fn with_options(mut self, options: CodeModeOptions) -> Self {
        self.run = self.run.with_options(options);
        self
    }

    pub(crate) async fn exec(&self, code: &str) -> CellOutcome {
        self.exec_in(code, &self.run).await
    }

    pub(crate) async fn exec_in(&self, code: &str, run: &RunContext) -> CellOutcome {
        let input = ExecInput {
            code: code.to_owned(),
            language: None,
        };
        self.code_mode.exec(input, run, "call".into()).await
    }

    pub(crate) async fn wait(&self, run_id: &str) -> CellOutcome {
        self.wait_after(run_id, None).await
    }

    pub(crate) async fn wait_after(&self, run_id: &str, after: Option<u64>) -> CellOutcome {
        self.wait_in(run_id, after, &self.run).await
    }

    pub(crate) async fn wait_in(
        &self,
        run_id: &str,
        after: Option<u64>,
        run: &RunContext,
    ) -> CellOutcome {
        let input = WaitInput {
            run_id: run_id.to_owned(),
            after,
        };
        self.code_mode.wait(input, run).await
    }

    /// Runs a program that must be completed, and gives its value.
    pub(crate) async fn value(&self, code: &str) -> Value {
        value(&self.exec(code).await)
    }
}

/// The value of a completed result.
pub(crate) fn value(outcome: &CellOutcome) -> Value {
    match &outcome.result {
        CellResult::Completed(completed) => serde_json::from_str(completed.value.get()).unwrap(),
        other => panic!("not completed: {}", other.model_text().unwrap()),
    }
}

/// The cell id of a waiting result.
pub(crate) fn run_id(outcome: &CellOutcome) -> String {
    match &outcome.result {
        CellResult::Waiting(waiting) => waiting.run_id.to_string(),
        other => panic!("not waiting: {}", other.model_text().unwrap()),
    }
}

/// The kind of a failed result.
pub(crate) fn kind(outcome: &CellOutcome) -> FailureKind {
    outcome
        .result
        .failure_kind()
        .unwrap_or_else(|| panic!("not failed: {}", text(outcome)))
}

/// The error text of a failed result.
pub(crate) fn error(outcome: &CellOutcome) -> &str {
    match &outcome.result {
        CellResult::Failed(failed) => &failed.error,
        other => panic!("not failed: {}", other.model_text().unwrap()),
    }
}

pub(crate) fn text(outcome: &CellOutcome) -> String {
    outcome.result.model_text().unwrap()
}

/// The whole result as JSON, without what differs from run to run.
pub(crate) fn stable(outcome: &CellOutcome) -> Value {
    let mut json: Value = serde_json::from_str(&text(outcome)).unwrap();
    if let Some(object) = json.as_object_mut() {
        object.remove("telemetry");
        if object.contains_key("runId") {
            object.insert("runId".into(), "<id>".into());
        }
        let pending = object
            .get_mut("pendingToolCalls")
            .and_then(Value::as_array_mut);
        for call in pending.into_iter().flatten() {
            call["elapsedMs"] = json!(0);
        }
    }
    json
}
