//! Fakes: tools that do what a test wants, and one log of everything that happened.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use codecell_catalog::Scope;
use codecell_tools::{
    ApprovalDesk, ApprovalNeed, ApprovalOptions, ApprovalRequest, Approver, CallContext,
    CallProgress, CallReport, CallRequest, CallStep, ContentBlock, Decision, EventSink, Executor,
    ExecutorOptions, ExecutorParts, Hook, Policy, Redactor, Tool, ToolDefinition, ToolError,
    ToolEvent, ToolEventKind, ToolId, ToolInput, ToolOutput, ToolSet,
};
use serde_json::{Value, json};
use tokio::sync::{Notify, Semaphore};

/// What happened, in order.
#[derive(Default)]
pub(crate) struct Log {
    lines: Mutex<Vec<String>>,
    grown: Notify,
}

impl Log {
    pub(crate) fn add(&self, line: impl Into<String>) {
        self.lines.lock().unwrap().push(line.into());
        self.grown.notify_waiters();
    }

    pub(crate) fn lines(&self) -> Vec<String> {
        self.lines.lock().unwrap().clone()
    }

    /// Waits until a line is there.
    pub(crate) async fn wait_for(&self, line: &str) {
        loop {
            let grown = self.grown.notified();
            tokio::pin!(grown);
            grown.as_mut().enable();
            if self.lines().iter().any(|known| known == line) {
                return;
            }
            tokio::time::timeout(Duration::from_secs(30), grown)
                .await
                .unwrap_or_else(|_| panic!("{line} never happened: {:?}", self.lines()));
        }
    }
}

impl CallProgress for Log {
    fn step(&self, call_id: &str, step: CallStep) {
        self.add(format!("{call_id} {step:?}"));
    }

    fn hand_over(&self, call_id: &str) -> bool {
        self.add(format!("{call_id} HandedOver"));
        true
    }
}

/// Keeps events as lines, apart from the steps.
#[derive(Default)]
pub(crate) struct Events(pub(crate) Log);

impl EventSink for Events {
    fn emit(&self, event: &ToolEvent) {
        let kind = match &event.kind {
            ToolEventKind::PendingApproval { reason, arguments } => {
                format!("pendingApproval {reason} {arguments}")
            }
            ToolEventKind::Started { arguments } => format!("started {arguments}"),
            ToolEventKind::Completed { .. } => "completed".to_owned(),
            ToolEventKind::Error { code, .. } => format!("error {code}"),
            ToolEventKind::Blocked { code } => format!("blocked {code}"),
        };
        self.0
            .add(format!("{} {} {kind}", event.call_id, event.tool));
    }
}

/// What a fake tool does when it is called.
#[derive(Clone)]
pub(crate) enum Act {
    /// Gives its arguments back.
    Echo,
    Answer(ToolOutput),
    Fail(ToolError),
    Panic,
    /// Never ends by itself, whatever happens.
    Hang,
    /// Ends when it is told to stop, in this way.
    StopWith(Result<ToolOutput, ToolError>),
    /// Asks for more approvals while it runs, in this order.
    Ask(Vec<ApprovalNeed>),
    /// Waits for a permit.
    Wait(Arc<Semaphore>),
}

pub(crate) struct Fake {
    pub(crate) definition: ToolDefinition,
    pub(crate) act: Act,
    pub(crate) needs: Option<Result<Vec<ApprovalNeed>, ToolError>>,
    pub(crate) log: Arc<Log>,
}

#[async_trait]
impl Tool for Fake {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: ToolInput, ctx: &CallContext) -> Result<ToolOutput, ToolError> {
        let name = self.definition.name();
        self.log.add(format!("{name} called {}", input.text()));
        let result = match self.act.clone() {
            Act::Echo => Ok(ToolOutput::details(input.value().clone())),
            Act::Answer(output) => Ok(output),
            Act::Fail(error) => Err(error),
            Act::Panic => panic!("a fake tool panics"),
            Act::Hang => std::future::pending().await,
            Act::StopWith(result) => {
                ctx.abort.cancelled().await;
                result
            }
            Act::Ask(needs) => {
                for need in needs {
                    ctx.approvals.ask(need).await?;
                }
                Ok(ToolOutput::text("asked"))
            }
            Act::Wait(permits) => {
                permits.acquire().await.unwrap().forget();
                Ok(ToolOutput::text("waited"))
            }
        };
        self.log.add(format!("{name} done"));
        result
    }

    fn approvals(
        &self,
        _input: &ToolInput,
        _ctx: &CallContext,
    ) -> Result<Vec<ApprovalNeed>, ToolError> {
        match &self.needs {
            Some(needs) => needs.clone(),
            None => match self.definition.effect() {
                codecell_tools::EffectKind::Read => Ok(Vec::new()),
                codecell_tools::EffectKind::Write => {
                    Ok(vec![ApprovalNeed::of_tool(&self.definition)])
                }
            },
        }
    }
}

pub(crate) fn id(text: &str) -> ToolId {
    ToolId::parse(text).unwrap()
}

/// A tool that takes anything.
pub(crate) fn definition(id_text: &str) -> ToolDefinition {
    ToolDefinition::new(id(id_text), "A fake tool.", json!({"type": "object"}))
}

/// A reading core tool.
pub(crate) fn reading(name: &str) -> ToolDefinition {
    definition(&format!("openclaw:core:{name}")).read_only()
}

/// A writing core tool.
pub(crate) fn writing(name: &str) -> ToolDefinition {
    definition(&format!("openclaw:core:{name}"))
}

pub(crate) fn need(key: &str) -> ApprovalNeed {
    ApprovalNeed {
        key: key.to_owned(),
        reason: format!("needs {key}"),
        covers: format!("everything that needs {key}"),
        asked_once: false,
    }
}

/// Answers from a list, then says that there is nobody.
pub(crate) struct Scripted {
    answers: Mutex<Vec<Decision>>,
    pub(crate) log: Arc<Log>,
    /// When set, every question waits for a permit before it is answered.
    pub(crate) gate: Option<Arc<Semaphore>>,
}

#[async_trait]
impl Approver for Scripted {
    async fn ask(&self, request: &ApprovalRequest) -> Decision {
        self.log.add(format!(
            "{} asked {} {}",
            request.call_id,
            request.need.key,
            request.shown_arguments()
        ));
        if let Some(gate) = &self.gate {
            gate.acquire().await.unwrap().forget();
        }
        let mut answers = self.answers.lock().unwrap();
        if answers.is_empty() {
            return Decision::Unavailable;
        }
        answers.remove(0)
    }
}

/// A world with one executor and one set of tools.
pub(crate) struct World {
    pub(crate) log: Arc<Log>,
    pub(crate) events: Arc<Events>,
    pub(crate) set: ToolSet,
    pub(crate) executor: Arc<Executor>,
    pub(crate) ctx: CallContext,
}

/// How a world differs from the plain one.
pub(crate) struct Setup {
    pub(crate) tools: Vec<(ToolDefinition, Act)>,
    pub(crate) needs: Option<Result<Vec<ApprovalNeed>, ToolError>>,
    pub(crate) policy: Policy,
    pub(crate) answers: Vec<Decision>,
    pub(crate) gate: Option<Arc<Semaphore>>,
    pub(crate) nobody: bool,
    pub(crate) approvals: ApprovalOptions,
    pub(crate) hooks: Vec<Arc<dyn Hook>>,
    pub(crate) options: ExecutorOptions,
}

impl Default for Setup {
    fn default() -> Self {
        Self {
            tools: Vec::new(),
            needs: None,
            policy: Policy::default(),
            answers: Vec::new(),
            gate: None,
            nobody: false,
            approvals: ApprovalOptions::default(),
            hooks: Vec::new(),
            options: ExecutorOptions {
                abort_grace: Duration::from_millis(20),
                ..ExecutorOptions::default()
            },
        }
    }
}

impl Setup {
    pub(crate) fn of(tools: impl IntoIterator<Item = (ToolDefinition, Act)>) -> Self {
        Self {
            tools: tools.into_iter().collect(),
            ..Self::default()
        }
    }

    pub(crate) fn answering(mut self, answers: impl IntoIterator<Item = Decision>) -> Self {
        self.answers = answers.into_iter().collect();
        self
    }

    pub(crate) fn build(self) -> World {
        let log = Arc::new(Log::default());
        let events = Arc::new(Events::default());
        let tools: Vec<Arc<dyn Tool>> = self
            .tools
            .into_iter()
            .map(|(definition, act)| {
                Arc::new(Fake {
                    definition,
                    act,
                    needs: self.needs.clone(),
                    log: Arc::clone(&log),
                }) as Arc<dyn Tool>
            })
            .collect();
        let approver = Scripted {
            answers: Mutex::new(self.answers),
            log: Arc::clone(&log),
            gate: self.gate,
        };
        let approver = (!self.nobody).then(|| Arc::new(approver) as Arc<dyn Approver>);
        let redactor = Redactor::default();
        redactor.register("hunter2-hunter2");
        let executor = Executor::new(ExecutorParts {
            options: self.options,
            approvals: ApprovalDesk::new(self.approvals, approver),
            hooks: self.hooks,
            events: Arc::clone(&events) as Arc<dyn EventSink>,
            redactor,
        });
        World {
            log,
            events,
            set: ToolSet::build(&[Arc::new(tools)], &self.policy).unwrap(),
            executor: Arc::new(executor),
            ctx: CallContext::new("main", "session", "run"),
        }
    }
}

impl World {
    pub(crate) fn request(&self, call_id: &str, tool: &str, args: Value) -> CallRequest {
        CallRequest {
            call_id: call_id.into(),
            tool: tool.into(),
            scope: Scope::All,
            args,
            ctx: self.ctx.clone(),
        }
    }

    pub(crate) async fn call(&self, call_id: &str, tool: &str, args: Value) -> CallReport {
        let request = self.request(call_id, tool, args);
        self.send(request).await
    }

    pub(crate) async fn send(&self, request: CallRequest) -> CallReport {
        let log = Arc::clone(&self.log) as Arc<dyn CallProgress>;
        self.executor.call(&self.set, request, log).await
    }

    /// The call as a task of its own.
    pub(crate) fn spawn(&self, request: CallRequest) -> tokio::task::JoinHandle<CallReport> {
        let (executor, set) = (Arc::clone(&self.executor), self.set.clone());
        let log = Arc::clone(&self.log) as Arc<dyn CallProgress>;
        tokio::spawn(async move { executor.call(&set, request, log).await })
    }
}

/// `state code` of a report, or `state value`.
pub(crate) fn verdict(report: &CallReport) -> String {
    let state = report.state.as_str();
    match report.failure() {
        Some(failure) => {
            assert_eq!(failure.effect_status, report.state);
            format!("{state} {}", failure.code)
        }
        None => format!("{state} {}", report.value().unwrap()),
    }
}

pub(crate) fn text_block(text: &str) -> ContentBlock {
    ContentBlock::Text(text.to_owned())
}
