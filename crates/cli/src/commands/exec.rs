//! `codecell exec`: one cell, from its text to its last result.
//!
//! One loop: a leg gives a result; what it wrote is printed; if it is suspended and nobody asked to
//! be told, the next leg follows. With `--json` nothing is printed before the end, and the one value
//! carries everything that was written.

use std::sync::Arc;
use std::time::Duration;

use codecell_codemode::{CodeMode, RunContext};
use codecell_protocol::{
    CellResult, ExecInput, FailureKind, Language, OutputItem, WaitInput, Waiting,
};
use codecell_sandbox::Sandbox;
use codecell_script::MAX_SOURCE_BYTES;

use crate::args::ExecArgs;
use crate::compose::runtime::{block_on, unavailable};
use crate::compose::settings::Settings;
use crate::compose::tooling::Tooling;
use crate::compose::{Base, code_mode, engine};
use crate::error::{CliError, Exit};
use crate::interrupt::Interrupts;
use crate::program::{self, Program};
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
    let settings = Arc::new(base.settings(&overrides(&args))?);
    let tooling = Tooling::build(base, &settings, &args.rights.filter, args.rights.approve)?;
    block_on(async {
        let core = Arc::clone(&tooling.core);
        let interrupts = Interrupts::listen(Arc::clone(&base.streams), move || core.kill_all())
            .map_err(|error| unavailable("to listen for signals", &error))?;
        let Some(sandbox) = start_engine(base, &settings, &interrupts).await? else {
            return Err(CliError::StoppedEarly);
        };
        let cells = code_mode::build(&settings, &tooling, sandbox)?;
        let time = args.timeout_ms.map(Duration::from_millis);
        let abort = interrupts.asked().clone();
        let context =
            code_mode::run_context(&settings, &tooling, abort, time, base.streams.can_ask());
        let session = Session {
            base,
            tooling: &tooling,
            cells,
            context,
            no_wait: args.no_wait,
        };
        let ended = session.run(input(program, &args), &interrupts).await;
        session.cells.shutdown().await;
        ended
    })
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
    let started = tokio::task::spawn_blocking(move || engine::start(&streams, &settings));
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
}

impl Session<'_> {
    async fn run(&self, input: ExecInput, interrupts: &Interrupts) -> Result<Exit, CliError> {
        let mut written = Vec::new();
        let mut result = self
            .leg(
                self.cells.exec(input, &self.context, "exec-1".into()),
                interrupts,
            )
            .await?;
        loop {
            let is_quiet = self.base.streams.json();
            let output = std::mem::take(output_of(&mut result));
            if !is_quiet {
                self.print_output(&output)?;
            }
            written.extend(output);
            match &result {
                CellResult::Waiting(waiting) if !self.no_wait => {
                    result = self.next_leg(waiting, interrupts).await?;
                }
                _ => break,
            }
        }
        self.finish(result, written, interrupts.asked().is_cancelled())
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
        if matches!(result, CellResult::Waiting(_)) {
            let text = "the cell ends with this command, because no store for suspended cells is configured; \
                without --no-wait the command waits for it";
            cell::hint_line(streams, text, &mut advice);
        }
        if !advice.is_empty() {
            streams.note(advice.trim_end());
        }
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
