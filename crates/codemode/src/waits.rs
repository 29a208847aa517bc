//! `wait`: finding the cell, the stored answer or the next leg.
//!
//! A cell's id alone grants nothing: the scope is checked before anything else is said. The
//! invariant: a leg is started by at most one `wait`, and an answer that was given once can be
//! given again.

use std::sync::Arc;
use std::time::Duration;

use codecell_protocol::{CellId, Effects, WaitInput};
use codecell_sandbox::Ticket;
use tokio::sync::oneshot;

use crate::cell::{Cell, Stage, StopReason};
use crate::code_mode::{CodeMode, answer_of, bounds, unshared};
use crate::durable;
use crate::failure::CellError;
use crate::history::Ask;
use crate::job::{self, LegJob};
use crate::options::CodeModeOptions;
use crate::outcome::CellOutcome;
use crate::results;
use crate::scope::{RunContext, Scope};
use crate::services::Stone;

impl CodeMode {
    /// Goes on with a suspended cell, or gives the result that followed `after` again.
    ///
    /// Every failure is a result. Dropping the future detaches: the leg goes on, and its result is
    /// there for the next `wait`.
    pub async fn wait(&self, input: WaitInput, ctx: &RunContext) -> CellOutcome {
        let outcome = match self.try_wait(&input, ctx).await {
            Ok(outcome) => unshared(outcome),
            Err(refusal) => {
                let run = self.known_run(&ctx.scope);
                results::refused(
                    &refusal.error,
                    refusal.effects.map(|effects| *effects),
                    results::bare_telemetry(run.as_ref()),
                )
            }
        };
        results::trace("wait", &outcome);
        outcome
    }

    async fn try_wait(
        &self,
        input: &WaitInput,
        ctx: &RunContext,
    ) -> Result<Arc<CellOutcome>, Refusal> {
        let (id, cell) = self.find(&input.run_id, ctx)?;
        let outcome = match self.outcome_of(id, &cell, input.after, ctx).await {
            Ok(outcome) => outcome,
            Err(error) => self.without_leg(&cell, error, ctx).await?,
        };
        cell.lock().history.delivered(&outcome);
        Ok(outcome)
    }

    async fn outcome_of(
        &self,
        id: CellId,
        cell: &Arc<Cell>,
        after: Option<u64>,
        ctx: &RunContext,
    ) -> Result<Arc<CellOutcome>, CellError> {
        let options = self.check_run(ctx, &cell.run)?;
        match self.ask(cell, after)? {
            Asked::Again(outcome) => Ok(outcome),
            Asked::Attached(answered) => answer_of(cell, answered, ctx, None).await,
            Asked::Due => {
                let (answered, ticket) = self.resume(id, cell, &options, ctx).await?;
                answer_of(cell, answered, ctx, Some(&ticket)).await
            }
        }
    }

    /// What there is to say of a cell when no leg could run: if its run is over, so is the cell, and
    /// its last result tells what it has done.
    async fn without_leg(
        &self,
        cell: &Arc<Cell>,
        error: CellError,
        ctx: &RunContext,
    ) -> Result<Arc<CellOutcome>, Refusal> {
        let reason = match error {
            CellError::Aborted => StopReason::Aborted,
            CellError::RunDeadline => StopReason::RunDeadline,
            CellError::Expired => return cell.last_word().ok_or_else(|| with_effects(error, cell)),
            error => return Err(error.into()),
        };
        job::stop(cell, reason);
        match self.ask(cell, None) {
            Ok(Asked::Again(outcome)) => Ok(outcome),
            Ok(Asked::Attached(answered)) => Ok(answer_of(cell, answered, ctx, None).await?),
            Ok(Asked::Due) | Err(_) => Err(with_effects(reason.error(), cell)),
        }
    }

    /// The cell of this id, if it is the caller's.
    fn find(&self, given: &str, ctx: &RunContext) -> Result<(CellId, Arc<Cell>), Refusal> {
        let scope = &*ctx.scope;
        let Ok(id) = given.parse::<CellId>() else {
            return Err(not_a_cell(given).into());
        };
        let services = self.services();
        let shelf = services.shelf();
        let found = shelf.get(&id);
        let stone = shelf.stone(&id);
        drop(shelf);
        if let Some(cell) = found {
            if *cell.run.scope != *scope {
                return Err(CellError::WrongScope.into());
            }
            if services.now() < cell.lock().idle.expires_at() {
                return Ok((id, cell));
            }
            self.sweep();
            return self.find_stone(&id, scope);
        }
        match stone {
            Some(stone) => Err(refusal_of(&stone, scope)),
            None => self.revived(id, ctx),
        }
    }

    /// The cell of another process, or of an earlier one.
    fn revived(&self, id: CellId, ctx: &RunContext) -> Result<(CellId, Arc<Cell>), Refusal> {
        let run = self.run_of(&ctx.scope);
        match durable::revive(self.services(), &run, id, ctx) {
            Ok(cell) => Ok((id, cell)),
            Err(refused) => Err(Refusal {
                error: refused.error,
                effects: refused.effects,
            }),
        }
    }

    fn find_stone(&self, id: &CellId, scope: &Scope) -> Result<(CellId, Arc<Cell>), Refusal> {
        let stone = self.services().shelf().stone(id);
        Err(stone.map_or_else(
            || CellError::UnknownRun.into(),
            |stone| refusal_of(&stone, scope),
        ))
    }

    fn ask(&self, cell: &Cell, after: Option<u64>) -> Result<Asked, CellError> {
        let mut shared = cell.lock();
        match shared.history.ask(after) {
            Ask::Again(outcome) => Ok(Asked::Again(outcome)),
            Ask::TooOld { last } => Err(CellError::Arguments(format!(
                "the result after that suspension is no longer kept; the last one is number {last}"
            ))),
            Ask::Future { last } => Err(CellError::Arguments(format!(
                "`after` names a suspension that has not been; the last one is number {last}"
            ))),
            Ask::Resume => match &shared.stage {
                Stage::Suspended(_) => Ok(Asked::Due),
                Stage::Running
                    if shared
                        .waiter
                        .as_ref()
                        .is_some_and(|waiter| !waiter.is_closed()) =>
                {
                    Err(CellError::AlreadyResuming)
                }
                Stage::Running => {
                    let (answer, answered) = oneshot::channel();
                    shared.waiter = Some(answer);
                    Ok(Asked::Attached(answered))
                }
                Stage::Ended => Err(CellError::UnknownRun),
            },
        }
    }

    /// Starts the next leg of a suspended cell.
    async fn resume(
        &self,
        id: CellId,
        cell: &Arc<Cell>,
        options: &CodeModeOptions,
        ctx: &RunContext,
    ) -> Result<(oneshot::Receiver<Arc<CellOutcome>>, Ticket), CellError> {
        let services = self.services();
        let _awake = KeptAlive::keep(cell);
        let room = self.memory_for(options, ctx, &cell.run).await?;
        let tools = narrowed(cell, ctx);
        let (answer, answered) = oneshot::channel();
        let mut shared = cell.lock();
        let stage = std::mem::replace(&mut shared.stage, Stage::Running);
        let Stage::Suspended(mut body) = stage else {
            let is_running = matches!(stage, Stage::Running);
            shared.stage = stage;
            return Err(match is_running {
                true => CellError::AlreadyResuming,
                false => CellError::Expired,
            });
        };
        body.options = body.options.tightened_by(options);
        let approval_ttl = Duration::from_secs(body.options.approval_ttl_seconds);
        cell.begin_leg(&mut shared, bounds(&body.options), tools, approval_ttl);
        shared.waiter = Some(answer);
        shared.run_deadline = ctx.deadline;
        let life_end = shared.idle.life_end();
        drop(shared);
        services.reschedule(id, life_end);
        let job = LegJob::wait(cell, body, ctx.deadline, room);
        let ticket = self.spawn(&ctx.scope, job)?;
        Ok((answered, ticket))
    }
}

/// A `wait` in flight: the idle time of its cell stands still, whatever the `wait` waits for.
struct KeptAlive<'a>(&'a Arc<Cell>);

impl<'a> KeptAlive<'a> {
    fn keep(cell: &'a Arc<Cell>) -> Self {
        let services = &cell.services;
        let mut shared = cell.lock();
        shared.idle.pause(services.now());
        let due = cell.due(&shared);
        drop(shared);
        services.reschedule(cell.id, due);
        Self(cell)
    }
}

impl Drop for KeptAlive<'_> {
    /// Goes on counting if the cell is as suspended as before.
    fn drop(&mut self) {
        let due = self.0.judge_idle(&mut self.0.lock());
        self.0.told(due);
    }
}

/// What a `wait` has found.
enum Asked {
    Again(Arc<CellOutcome>),
    Attached(oneshot::Receiver<Arc<CellOutcome>>),
    Due,
}

/// Why a `wait` did nothing, and what the cell it named had done.
struct Refusal {
    error: CellError,
    effects: Option<Box<Effects>>,
}

impl From<CellError> for Refusal {
    fn from(error: CellError) -> Self {
        Self {
            error,
            effects: None,
        }
    }
}

/// A refusal that tells what the cell had done.
fn with_effects(error: CellError, cell: &Cell) -> Refusal {
    Refusal {
        error,
        effects: cell.lock().calls.ledger().effects().map(Box::new),
    }
}

fn refusal_of(stone: &Stone, scope: &Scope) -> Refusal {
    if *stone.scope != *scope {
        return CellError::WrongScope.into();
    }
    Refusal {
        error: CellError::Expired,
        effects: stone.effects.clone().map(Box::new),
    }
}

/// A text that is no cell's id: most often a tool's own session id.
fn not_a_cell(given: &str) -> CellError {
    if given.starts_with("cm_") {
        return CellError::UnknownRun;
    }
    CellError::NotACell {
        given: given.chars().filter(|c| !c.is_control()).take(64).collect(),
    }
}

/// The tools that a resumed cell may use: those of now that it had at its start, unchanged.
fn narrowed(cell: &Cell, ctx: &RunContext) -> codecell_tools::ToolSet {
    if Arc::ptr_eq(cell.start_tools.catalog(), ctx.tools.catalog()) {
        return ctx.tools.clone();
    }
    match &cell.starting {
        Some(starting) => ctx.tools.resumed(starting),
        None => ctx.tools.resumed(&cell.start_tools.starting_tools()),
    }
}
