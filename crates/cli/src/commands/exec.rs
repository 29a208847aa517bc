//! `codecell exec`: one cell, from its text to its last result.
//!
//! One loop: a leg gives a result; what it wrote is printed; if it is suspended and nobody asked to
//! be told, the next leg follows. With `--json` nothing is printed before the end, and the one value
//! carries everything that was written.

use std::sync::Arc;
use std::time::Duration;

use codecell_codemode::{
    CellOutcome, CodeMode, RecordSink, ReplayOptions, RunContext, SnapshotStore,
};
use codecell_protocol::{
    CellResult, ExecInput, Failed, Failure, FailureKind, Language, OutputItem, PendingState, Phase,
    Telemetry, WaitInput, Waiting, WaitingReason,
};
use codecell_sandbox::Sandbox;
use codecell_script::MAX_SOURCE_BYTES;

use crate::args::{ExecArgs, RightsArgs};
use crate::compose::engine::Cells;
use crate::compose::runtime::{block_on, unavailable};
use crate::compose::settings::Settings;
use crate::compose::tooling::{Audience, Tooling};
use crate::compose::{Base, code_mode, engine, store};
use crate::error::{CliError, Exit};
use crate::interrupt::Interrupts;
use crate::program::{self, Program};
use crate::record::RecordFile;
use crate::render::cell;

/// The longest that one leg may take, in milliseconds; a longer deadline is one of several legs.
/// Source: the contract's clamp of `timeoutMs`.
const MAX_LEG_MS: u64 = 60_000;

/// How long an aborted cell may take to answer, until the command ends without its last word.
const ABORT_PATIENCE: Duration = Duration::from_secs(10);

/// Runs the cell.
pub(crate) fn run(base: &Base, args: ExecArgs) -> Result<Exit, CliError> {
    let program = program::load(
        args.program.as_deref(),
        &base.surroundings.folder,
        MAX_SOURCE_BYTES,
    )?;
    base.streams.explain(&program.origin);
    let settings = base.settings(&overrides(&args))?;
    let record = args
        .record
        .as_ref()
        .map(|path| RecordFile::create(&base.surroundings.folder.join(path)))
        .transpose()?;
    let errand = Errand {
        time: args.timeout_ms.map(Duration::from_millis),
        no_wait: args.no_wait,
        record,
        first: First::Exec(input(program, &args)),
    };
    errand.run(base, settings, &args.rights)
}

/// What a command runs first; the legs after it are the same for all.
pub(crate) enum First {
    /// A program.
    Exec(ExecInput),
    /// A suspended cell.
    Wait(WaitInput),
    /// A record.
    Replay(Vec<u8>, ReplayOptions),
}

/// A cell to be run to its end, or to where somebody wants to be told.
pub(crate) struct Errand {
    /// How it begins.
    pub(crate) first: First,
    /// The deadline that the person set.
    pub(crate) time: Option<Duration>,
    /// End with the first leg.
    pub(crate) no_wait: bool,
    /// Takes the replay record.
    pub(crate) record: Option<Arc<RecordFile>>,
}

impl Errand {
    /// Runs the cell, and prints what it gives.
    ///
    /// # Errors
    ///
    /// When something that it needs is not there.
    pub(crate) fn run(
        self,
        base: &Base,
        settings: Settings,
        rights: &RightsArgs,
    ) -> Result<Exit, CliError> {
        let settings = Arc::new(settings);
        let store = store::open(&settings)?;
        block_on(async {
            let tooling = Tooling::build(
                base,
                &settings,
                &rights.filter,
                rights.approve,
                Audience::Person,
            )
            .await?;
            let ended = self.go(base, &settings, &tooling, store).await;
            tooling.close_servers().await;
            ended
        })
    }

    async fn go(
        self,
        base: &Base,
        settings: &Arc<Settings>,
        tooling: &Tooling,
        store: Option<Arc<dyn SnapshotStore>>,
    ) -> Result<Exit, CliError> {
        let core = Arc::clone(&tooling.core);
        let interrupts = Interrupts::listen(Arc::clone(&base.streams), move || core.kill_all())
            .map_err(|error| unavailable("to listen for signals", &error))?;
        let Some(sandbox) = start_engine(base, settings, &interrupts).await? else {
            return Err(CliError::StoppedEarly);
        };
        let is_durable = store.is_some() && !matches!(self.first, First::Replay(..));
        let store = store.filter(|_| is_durable);
        let cells = code_mode::build(settings, tooling, sandbox, store)?;
        let abort = interrupts.asked().clone();
        let person = base.streams.can_ask();
        let mut context = code_mode::run_context(settings, tooling, abort, self.time, person);
        let record = self.record.clone();
        context.record = record.clone().map(|record| record as Arc<dyn RecordSink>);
        let session = Session {
            base,
            tooling,
            cells,
            context,
            no_wait: self.no_wait,
            is_durable,
        };
        let ended = session.run(self.first, &interrupts).await;
        session.cells.shutdown().await;
        match record {
            Some(record) => ended.and_then(|exit| record.finish().map(|()| exit)),
            None => ended,
        }
    }
}

/// `--set`, and the deadline as the limit of a leg.
fn overrides(args: &ExecArgs) -> Vec<String> {
    let leg = args
        .timeout_ms
        .map(|ms| format!("tools.codeMode.timeoutMs={}", ms.min(MAX_LEG_MS)));
    args.set.iter().cloned().chain(leg).collect()
}

fn input(program: Program, args: &ExecArgs) -> ExecInput {
    ExecInput {
        code: program.code,
        language: args.language.map(Language::from).or(program.language),
    }
}

/// Starts the engine on a thread of its own, since it may have to compile; `None` after Ctrl-C.
async fn start_engine(
    base: &Base,
    settings: &Arc<Settings>,
    interrupts: &Interrupts,
) -> Result<Option<Sandbox>, CliError> {
    let (streams, settings) = (Arc::clone(&base.streams), Arc::clone(settings));
    let started =
        tokio::task::spawn_blocking(move || engine::start(&streams, &settings, Cells::One));
    tokio::select! {
        biased;
        started = started => started.unwrap_or_else(|error| Err(unavailable("the engine", &error.into()))).map(Some),
        () = interrupts.asked().cancelled() => Ok(None),
    }
}

/// What one run of the command needs from its beginning to its end.
struct Session<'a> {
    base: &'a Base,
    tooling: &'a Tooling,
    cells: CodeMode,
    context: RunContext,
    no_wait: bool,
    /// A suspended cell outlives this command.
    is_durable: bool,
}

impl Session<'_> {
    async fn run(&self, first: First, interrupts: &Interrupts) -> Result<Exit, CliError> {
        let mut written = Vec::new();
        let mut result = self.leg(self.first(first), interrupts).await?;
        loop {
            let is_quiet = self.base.streams.json();
            let output = std::mem::take(output_of(&mut result));
            if !is_quiet {
                self.print_output(&output)?;
            }
            written.extend(output);
            match &result {
                CellResult::Waiting(waiting) if !self.tells_of(waiting) => {
                    result = self.next_leg(waiting, interrupts).await?;
                }
                _ => break,
            }
        }
        self.finish(result, written, interrupts.asked().is_cancelled())
    }

    async fn first(&self, first: First) -> CellOutcome {
        match first {
            First::Exec(input) => self.cells.exec(input, &self.context, "exec-1".into()).await,
            First::Wait(input) => self.cells.wait(input, &self.context).await,
            First::Replay(record, options) => self.replay(&record, options).await,
        }
    }

    async fn replay(&self, record: &[u8], options: ReplayOptions) -> CellOutcome {
        let replayed = match self.cells.replay(record, options, &self.context).await {
            Ok(replayed) => replayed,
            Err(fault) => return no_replay(fault.to_string()),
        };
        let streams = &self.base.streams;
        match replayed.is_same {
            Some(true) => streams.explain("the replay came to the recorded end"),
            Some(false) => {
                return no_replay("the replay did not come to the recorded end".to_owned());
            }
            None => {}
        }
        replayed.outcome
    }

    /// Whether the command ends here and somebody else goes on: when nobody is to wait, or a stored
    /// cell asks for more than time.
    fn tells_of(&self, waiting: &Waiting) -> bool {
        let calls = &waiting.pending_tool_calls;
        let asks = calls
            .iter()
            .any(|call| call.state == PendingState::Approval);
        let wants_more = waiting.reason == WaitingReason::Yield || asks;
        self.no_wait || (self.is_durable && wants_more)
    }

    async fn next_leg(
        &self,
        waiting: &Waiting,
        interrupts: &Interrupts,
    ) -> Result<CellResult, CliError> {
        for call in &waiting.pending_tool_calls {
            self.base
                .streams
                .explain(&format!("waiting: {}", cell::pending(call)));
        }
        let input = WaitInput {
            run_id: waiting.run_id.to_string(),
            after: Some(waiting.seq),
        };
        self.leg(self.cells.wait(input, &self.context), interrupts)
            .await
    }

    /// Waits for one leg; after Ctrl-C for a bounded time only.
    async fn leg(
        &self,
        leg: impl Future<Output = codecell_codemode::CellOutcome>,
        interrupts: &Interrupts,
    ) -> Result<CellResult, CliError> {
        let given_up = async {
            interrupts.asked().cancelled().await;
            tokio::time::sleep(ABORT_PATIENCE).await;
        };
        let shown = self.tooling.activity.show_while(&self.base.streams, leg);
        tokio::select! {
            biased;
            outcome = shown => Ok(outcome.result),
            () = given_up => Err(CliError::Interrupted),
        }
    }

    fn print_output(&self, output: &[OutputItem]) -> Result<(), CliError> {
        output
            .iter()
            .try_for_each(|item| self.base.streams.out_foreign(&cell::output_item(item)))
    }

    fn finish(
        &self,
        mut result: CellResult,
        written: Vec<OutputItem>,
        interrupted: bool,
    ) -> Result<Exit, CliError> {
        let streams = &self.base.streams;
        let exit = exit_of(&result, interrupted);
        if let CellResult::Failed(failed) = &mut result {
            cell::advise_on_size(failed);
        }
        if streams.json() {
            *output_of(&mut result) = written;
            streams.out_json(&result)?;
            return Ok(exit);
        }
        if let CellResult::Completed(completed) = &result
            && let Some(value) = cell::value(&completed.value, !written.is_empty())
        {
            streams.out_foreign(&value)?;
        }
        let remarks = cell::remarks(streams, &result);
        match &result {
            _ if remarks.is_empty() => {}
            CellResult::Failed(_) => streams.failure(&remarks),
            CellResult::Completed(_) | CellResult::Waiting(_) => streams.note(&remarks),
        }
        self.advise(&result);
        Ok(exit)
    }

    /// What a person can do on the command line; a model is told other things.
    fn advise(&self, result: &CellResult) {
        let streams = &self.base.streams;
        let mut advice = String::new();
        for text in self.tooling.approver.advice() {
            cell::hint_line(streams, text, &mut advice);
        }
        match result {
            CellResult::Waiting(waiting) if self.is_durable => {
                let text = format!("codecell wait {} goes on with it", waiting.run_id);
                cell::hint_line(streams, &text, &mut advice);
            }
            CellResult::Waiting(_) => {
                let text = "the cell ends with this command, because no store for suspended cells is configured; \
                    without --no-wait the command waits for it";
                cell::hint_line(streams, text, &mut advice);
            }
            CellResult::Completed(_) | CellResult::Failed(_) => {}
        }
        if !advice.is_empty() {
            streams.note(advice.trim_end());
        }
    }
}

/// The result of a replay that cannot be, or went elsewhere.
fn no_replay(error: String) -> CellOutcome {
    CellOutcome {
        result: CellResult::Failed(Failed {
            error,
            code: FailureKind::SnapshotRestoreFailed.code(),
            failure: Failure::new(FailureKind::SnapshotRestoreFailed, Phase::Host),
            output: Vec::new(),
            effects: None,
            warnings: Vec::new(),
            telemetry: Telemetry::default(),
        }),
        content: Vec::new(),
    }
}

/// The output of a result, whatever its status.
fn output_of(result: &mut CellResult) -> &mut Vec<OutputItem> {
    match result {
        CellResult::Completed(completed) => &mut completed.output,
        CellResult::Waiting(waiting) => &mut waiting.output,
        CellResult::Failed(failed) => &mut failed.output,
    }
}

fn exit_of(result: &CellResult, interrupted: bool) -> Exit {
    match result {
        CellResult::Failed(_) if interrupted => Exit::Interrupted,
        CellResult::Failed(failed) if failed.failure.kind == FailureKind::InvalidConfig => {
            Exit::Usage
        }
        CellResult::Failed(_) => Exit::Failed,
        CellResult::Waiting(_) if interrupted => Exit::Interrupted,
        CellResult::Waiting(_) => Exit::Waiting,
        CellResult::Completed(_) => Exit::Done,
    }
}
