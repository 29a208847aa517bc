//! A process with code mode in it, and the runs that visit it.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use async_trait::async_trait;
use codecell_codemode::{
    CellOutcome, Clock, CodeMode, CodeModeOptions, CodeModeParts, OsRandomness, ProcessLimits,
    Randomness, RunContext, Scope, SnapshotTransport, SystemClock,
};
use codecell_protocol::{CellResult, ExecInput, Language, WaitInput};
use codecell_sandbox::Sandbox;
use codecell_tools::{
    ApprovalDesk, ApprovalMode, ApprovalOptions, ApprovalRequest, Approver, Decision, Executor,
    ExecutorOptions, ExecutorParts, Redactor,
};

use super::canary::Log;
use super::fakes::{Books, ExtraServers, tool_set_with};

/// How a house differs from the plain one.
#[derive(Default)]
pub struct Plan {
    /// Takes parked cells somewhere and back.
    pub transport: Option<Arc<dyn SnapshotTransport>>,
    /// Every call that changes something is asked about, and nobody ever answers.
    pub asks: bool,
    /// The clock, if not the system's.
    pub clock: Option<Arc<dyn Clock>>,
    /// The source of ids and seeds, if not the system's.
    pub randomness: Option<Arc<dyn Randomness>>,
}

impl std::fmt::Debug for Plan {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Plan")
            .field("asks", &self.asks)
            .finish_non_exhaustive()
    }
}

/// Somebody who is asked and never answers.
struct Silent;

#[async_trait]
impl Approver for Silent {
    async fn ask(&self, _: &ApprovalRequest) -> Decision {
        std::future::pending().await
    }
}

/// Code mode with everything around it.
#[derive(Debug)]
pub struct House {
    /// The one under attack.
    pub code_mode: CodeMode,
    /// Where its guests run.
    pub sandbox: Sandbox,
    guests: AtomicU64,
}

impl House {
    /// Builds it on this runtime.
    ///
    /// # Errors
    /// In words, when the system has no random bytes.
    pub fn new(sandbox: Sandbox, log: &Log, plan: Plan) -> Result<Self, String> {
        let approvals = ApprovalOptions {
            mode: if plan.asks {
                ApprovalMode::Ask
            } else {
                ApprovalMode::Always
            },
            ..ApprovalOptions::default()
        };
        let executor = Executor::new(ExecutorParts {
            options: ExecutorOptions {
                abort_grace: Duration::from_millis(50),
                ..ExecutorOptions::default()
            },
            approvals: ApprovalDesk::new(approvals, Some(Arc::new(Silent))),
            hooks: Vec::new(),
            events: Arc::new(log.clone()),
            redactor: Redactor::default(),
        });
        let randomness = match plan.randomness {
            Some(randomness) => randomness,
            None => Arc::new(OsRandomness::new()?),
        };
        let code_mode = CodeMode::new(CodeModeParts {
            sandbox: sandbox.clone(),
            executor: Arc::new(executor),
            clock: plan.clock.unwrap_or_else(|| Arc::new(SystemClock)),
            randomness,
            runtime: tokio::runtime::Handle::current(),
            limits: ProcessLimits::default(),
            hooks: Vec::new(),
            transport: plan.transport,
            store: None,
            keep_records: false,
        });
        Ok(Self {
            code_mode,
            sandbox,
            guests: AtomicU64::new(0),
        })
    }

    /// A run of a session of its own.
    ///
    /// # Errors
    /// In words, when its tools are wrong.
    pub fn visit(&self, options: CodeModeOptions) -> Result<Visit, String> {
        self.visit_with(options, ExtraServers::None)
    }

    /// A run of a session of its own that has these servers too.
    ///
    /// # Errors
    /// As [`House::visit`].
    pub fn visit_with(
        &self,
        options: CodeModeOptions,
        servers: ExtraServers,
    ) -> Result<Visit, String> {
        let number = self.guests.fetch_add(1, Ordering::Relaxed);
        let books = Arc::new(Books::default());
        let scope = Scope::new("somebody", "main", &format!("session {number}"), "run");
        let run = RunContext::new(scope, tool_set_with(&books, servers)?).with_options(options);
        Ok(Visit {
            code_mode: self.code_mode.clone(),
            run,
            books,
        })
    }

    /// Whether nothing of any run is left, once the guests that are ending have ended. `others` cells
    /// may go on: `running` at once and `suspended`.
    pub async fn is_empty_but_for(&self, running: u32, suspended: u64) -> Result<(), String> {
        /// Tools get 50 ms to end after an abort; a machine under load needs more.
        const PATIENCE: u32 = 2000;
        for _ in 0..PATIENCE {
            if self.sandbox.info().guests <= running && self.code_mode.suspended() <= suspended {
                return Ok(());
            }
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
        Err(format!(
            "{} guests and {} suspended cells are left",
            self.sandbox.info().guests,
            self.code_mode.suspended()
        ))
    }
}

/// One run.
#[derive(Clone, Debug)]
pub struct Visit {
    code_mode: CodeMode,
    /// What the run is.
    pub run: RunContext,
    /// What its tools know.
    pub books: Arc<Books>,
}

impl Visit {
    /// Runs a program.
    pub async fn exec(&self, code: &str) -> CellOutcome {
        self.exec_as(code, None).await
    }

    /// Runs a program in a language.
    pub async fn exec_as(&self, code: &str, language: Option<Language>) -> CellOutcome {
        let input = ExecInput {
            code: code.to_owned(),
            language,
        };
        self.code_mode.exec(input, &self.run, "call".into()).await
    }

    /// Waits for a cell.
    pub async fn wait(&self, run_id: &str) -> CellOutcome {
        self.wait_after(run_id, None).await
    }

    /// Waits for a cell, for what comes after this number.
    pub async fn wait_after(&self, run_id: &str, after: Option<u64>) -> CellOutcome {
        let input = WaitInput {
            run_id: run_id.to_owned(),
            after,
        };
        self.code_mode.wait(input, &self.run).await
    }

    /// Ends the run.
    pub fn end(&self) {
        self.code_mode.end_run(&self.run.scope);
    }
}

/// The whole result as the model reads it.
#[must_use]
pub fn text_of(outcome: &CellOutcome) -> String {
    outcome
        .result
        .model_text()
        .unwrap_or_else(|error| format!("no text: {error}"))
}

/// The id of a waiting cell.
#[must_use]
pub fn waiting_id(outcome: &CellOutcome) -> Option<String> {
    match &outcome.result {
        CellResult::Waiting(waiting) => Some(waiting.run_id.to_string()),
        CellResult::Completed(_) | CellResult::Failed(_) => None,
    }
}
