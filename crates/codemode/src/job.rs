//! From a job on a guest's thread to a recorded result: what surrounds a leg.
//!
//! The one place where a cell changes its stage. Whatever happens to a leg, its cell ends up
//! suspended or ended, its books closed or kept, and whoever waits gets an answer.

use std::sync::{Arc, MutexGuard};
use std::time::{Duration, Instant};

use codecell_protocol::{Effects, Language, Warning};
use codecell_sandbox::GuestThread;
use codecell_script::{LanguageSet, PrepareOptions, Prepared, prepare};
use tokio::sync::OwnedSemaphorePermit;

use crate::advice;
use crate::cell::{Cell, Shared, Stage, StopReason};
use crate::durable;
use crate::failure::CellError;
use crate::leg::{Body, Leg, LegEnd};
use crate::limits::{REPEATED_RESULTS, SOURCE_BYTES};
use crate::outcome::CellOutcome;
use crate::results;
use crate::services::{Services, Stone};

/// The least timeout of a leg, in milliseconds. Source: the contract's clamp of `timeoutMs`.
const MIN_TIMEOUT_MS: u64 = 100;

enum Kind {
    Exec { language: Option<Language> },
    Wait,
}

/// One leg, ready to run.
pub(crate) struct LegJob {
    cell: Arc<Cell>,
    body: Option<Box<Body>>,
    kind: Kind,
    run_deadline: Option<Instant>,
    /// The cell has been given its next stage.
    done: bool,
    /// Room for the guest, held for as long as the leg runs.
    _room: OwnedSemaphorePermit,
}

impl LegJob {
    pub(crate) fn exec(
        cell: &Arc<Cell>,
        body: Box<Body>,
        language: Option<Language>,
        run_deadline: Option<Instant>,
        room: OwnedSemaphorePermit,
    ) -> Self {
        Self {
            cell: Arc::clone(cell),
            body: Some(body),
            kind: Kind::Exec { language },
            run_deadline,
            done: false,
            _room: room,
        }
    }

    pub(crate) fn wait(
        cell: &Arc<Cell>,
        body: Box<Body>,
        run_deadline: Option<Instant>,
        room: OwnedSemaphorePermit,
    ) -> Self {
        Self {
            cell: Arc::clone(cell),
            body: Some(body),
            kind: Kind::Wait,
            run_deadline,
            done: false,
            _room: room,
        }
    }

    /// Runs the leg and records its result.
    pub(crate) fn run(mut self, thread: &GuestThread) {
        let Some(mut body) = self.body.take() else {
            return;
        };
        let cell = Arc::clone(&self.cell);
        let program = match &self.kind {
            Kind::Exec { language } => Some(prepare_program(&mut body, *language)),
            Kind::Wait => None,
        };
        let mut leg = Leg::new(&cell, thread, body, self.run_deadline);
        let end = match program {
            Some(Ok(prepared)) => leg.exec(&prepared),
            Some(Err(error)) => Err(error),
            None => leg.resume(),
        };
        let outcome = match end {
            Ok(LegEnd::Suspended(reason)) => {
                let outcome = results::waiting(&mut leg, reason);
                match durable::suspend(&cell, &leg.body, &outcome) {
                    Ok(()) => {
                        self.done = true;
                        suspend_cell(&cell, leg.into_body(), outcome);
                        return;
                    }
                    Err(error) => {
                        let effects = cell.wind_down();
                        results::not_suspended(&mut leg, error, outcome, effects)
                    }
                }
            }
            Ok(LegEnd::Completed) => {
                let effects = cell.wind_down();
                results::completed(&mut leg, effects)
            }
            Err(error) => {
                let effects = cell.wind_down();
                results::failed(&mut leg, error, effects)
            }
        };
        // The guest's slot is free before anybody hears of the result.
        drop(leg);
        self.done = true;
        end_cell(&cell, outcome);
    }
}

impl Drop for LegJob {
    /// A job that never ran, or whose leg panicked, leaves no cell that seems to run.
    fn drop(&mut self) {
        if self.done {
            return;
        }
        match (&self.kind, self.body.take()) {
            (Kind::Wait, Some(body)) => put_back(&self.cell, body),
            _ => {
                let stopped = self.cell.stop_reason();
                let error = stopped.map_or(CellError::WorkerCrashed, StopReason::error);
                end_abruptly(&self.cell, None, &error);
            }
        }
    }
}

/// Leaves a cell as it was before a `wait` that got no thread.
fn put_back(cell: &Arc<Cell>, body: Box<Body>) {
    let mut shared = cell.lock();
    shared.stage = Stage::Suspended(body);
    shared.waiter = None;
    if !shared.calls.any_waits_for_approval() {
        shared.idle.resume(cell.services.now());
    }
    let due = cell.due(&shared);
    drop(shared);
    cell.services.reschedule(cell.id, due);
}

/// Checks the text and takes from it what concerns the cell.
fn prepare_program(body: &mut Body, language: Option<Language>) -> Result<Prepared, CellError> {
    let options = PrepareOptions {
        language: language.map(to_script),
        allowed: LanguageSet {
            javascript: body.options.languages.contains(&Language::JavaScript),
            typescript: body.options.languages.contains(&Language::TypeScript),
        },
        max_source_bytes: SOURCE_BYTES as usize,
        // A guest thread has no guest code on its stack yet.
        free_stack_bytes: codecell_sandbox::FREE_STACK_BYTES,
    };
    let mut prepared = prepare(&body.source, &options)?;
    if let Some(timeout_ms) = prepared.directive.timeout_ms {
        body.options.timeout_ms = body.options.timeout_ms.min(timeout_ms.max(MIN_TIMEOUT_MS));
    }
    body.hint = prepared.hint.take();
    body.inferred = prepared.inferred.then_some(match prepared.language {
        codecell_script::Language::JavaScript => Language::JavaScript,
        codecell_script::Language::TypeScript => Language::TypeScript,
    });
    body.warnings = prepared
        .warnings
        .drain(..)
        .map(|warning| Warning {
            kind: warning.kind.to_owned(),
            message: warning.message,
            line: Some(warning.line),
            column: Some(warning.column),
        })
        .collect();
    // What a program will trip over comes before remarks about how it was sent.
    let advice = advice::advise(&prepared.calls, body.facts.catalog(), &body.source);
    body.warnings.splice(0..0, advice);
    Ok(prepared)
}

const fn to_script(language: Language) -> codecell_script::Language {
    match language {
        Language::JavaScript => codecell_script::Language::JavaScript,
        Language::TypeScript => codecell_script::Language::TypeScript,
    }
}

/// Puts a suspended cell on the shelf and gives its result.
fn suspend_cell(cell: &Arc<Cell>, body: Box<Body>, outcome: CellOutcome) {
    let outcome = Arc::new(outcome);
    let services = Arc::clone(&cell.services);
    let now = services.now();
    let ttl = Duration::from_secs(body.options.snapshot_ttl_seconds);
    let mut shared = cell.lock();
    shared.idle.restart(ttl, now);
    if shared.calls.any_waits_for_approval() {
        shared.idle.pause(now);
    }
    shared.stage = Stage::Suspended(body);
    let is_first = shared.history.last_seq() == 0;
    shared
        .history
        .record(Arc::clone(&outcome), true, REPEATED_RESULTS as usize);
    let due = cell.due(&shared);
    let waiter = shared.waiter.take();
    drop(shared);
    services.shelve(cell.id, cell, due);
    tracing::debug!(cell = %cell.id, "suspended");
    if is_first {
        watch_run(cell);
    }
    end_if_stopped(cell);
    deliver(cell, waiter, cell.last_word().unwrap_or(outcome));
}

/// Ends a cell that was stopped in the last moment: whoever stopped it found it running, and whoever
/// ended its run did not find it on the shelf.
fn end_if_stopped(cell: &Arc<Cell>) {
    let run_is_over = cell.run.end.is_cancelled();
    let reason = cell.stop_reason();
    if let Some(reason) = reason.or_else(|| run_is_over.then_some(StopReason::Aborted)) {
        end_suspended(cell, &reason.error());
    }
    if run_is_over {
        cell.services.shelf().remove(&cell.id);
    }
}

/// Has a suspended cell ended when its run is aborted. The task is gone with the cell.
fn watch_run(cell: &Arc<Cell>) {
    let (run_abort, over) = (cell.run_abort.clone(), cell.abort.clone());
    let watched = Arc::downgrade(cell);
    let watching = async move {
        tokio::select! {
            biased;
            () = over.cancelled() => return,
            () = run_abort.cancelled() => {}
        }
        if let Some(cell) = watched.upgrade() {
            stop(&cell, StopReason::Aborted);
        }
    };
    let services = &cell.services;
    services.tasks.spawn_on(watching, &services.parts.runtime);
}

/// Stops a cell, whatever it does: one that is suspended ends here, one with a leg by itself.
pub(crate) fn stop(cell: &Arc<Cell>, reason: StopReason) {
    cell.stop_with(reason);
    end_suspended(cell, &reason.error());
}

/// Records the last result of a cell and gives it.
fn end_cell(cell: &Arc<Cell>, outcome: CellOutcome) {
    let services = &cell.services;
    let outcome = Arc::new(outcome);
    let mut shared = cell.lock();
    let last_seq = shared.history.last_seq();
    let was_suspended = last_seq > 0;
    durable::end(cell, &outcome, last_seq, shared.idle.ttl().as_secs());
    shared.stage = Stage::Ended;
    shared.place = None;
    let waiter = shared.waiter.take();
    if !shared.calls.ledger().called().is_empty() {
        let approvals = services.parts.executor.approvals();
        approvals.forget_cell(&cell.id.to_string());
    }
    if !was_suspended {
        // Nobody knows its id, so nobody can ask again.
        drop(shared);
        // In this order, or whoever waits for the answer is woken twice.
        deliver(cell, waiter, outcome);
        cell.abort.cancel();
        return;
    }
    shared
        .history
        .record(Arc::clone(&outcome), false, REPEATED_RESULTS as usize);
    let now = services.now();
    shared.idle.restart_same(now);
    let due = shared.idle.expires_at();
    drop(shared);
    services.reschedule(cell.id, due);
    deliver(cell, waiter, outcome);
    cell.abort.cancel();
}

fn deliver(
    cell: &Cell,
    waiter: Option<tokio::sync::oneshot::Sender<Arc<CellOutcome>>>,
    outcome: Arc<CellOutcome>,
) {
    let Some(waiter) = waiter else { return };
    if waiter.send(outcome).is_ok() {
        return;
    }
    tracing::debug!(cell = %cell.id, "nobody waits for this result any more");
}

/// Ends a cell that is suspended; one with a leg ends by itself when it is told to stop.
pub(crate) fn end_suspended(cell: &Arc<Cell>, error: &CellError) {
    let mut shared = cell.lock();
    if !matches!(shared.stage, Stage::Suspended(_)) {
        return;
    }
    let stage = std::mem::replace(&mut shared.stage, Stage::Running);
    drop(shared);
    let Stage::Suspended(body) = stage else {
        return;
    };
    end_abruptly(cell, Some(&body), error);
}

/// Ends a cell without a leg: what is in flight is told to stop and counts as unknown.
fn end_abruptly(cell: &Arc<Cell>, body: Option<&Body>, error: &CellError) {
    let mut shared = cell.lock();
    let effects = cell.close_books(&mut shared);
    drop(shared);
    let outcome = results::ended_without_leg(cell, body, error, effects);
    end_cell(cell, outcome);
}

/// Looks after a cell that is due and off the shelf: it expires, or goes back for later.
pub(crate) fn look_after(services: &Arc<Services>, cell: &Arc<Cell>, now: Instant) {
    let mut shared = cell.lock();
    if cell.expire_approvals(&mut shared) {
        if !shared.calls.any_waits_for_approval() {
            shared.idle.resume(now);
        }
        let due = cell.due(&shared);
        drop(shared);
        cell.pump();
        services.shelve(cell.id, cell, due);
        return;
    }
    if shared.idle.expires_at() > now {
        let is_overdue = matches!(shared.stage, Stage::Suspended(_))
            && shared.run_deadline.is_some_and(|end| now >= end);
        let due = match is_overdue {
            true => shared.idle.life_end(),
            false => cell.due(&shared).max(now + Duration::from_millis(1)),
        };
        drop(shared);
        services.shelve(cell.id, cell, due);
        if is_overdue {
            stop(cell, StopReason::RunDeadline);
        }
        return;
    }
    match &shared.stage {
        // A result that nobody asks for any more.
        Stage::Ended => {}
        Stage::Suspended(_) => expire(services, cell, shared),
        // Its life is over in the middle of a leg, which ends by itself.
        Stage::Running => {
            drop(shared);
            cell.stop_with(StopReason::Aborted);
            leave_stone(services, cell, None);
        }
    }
}

fn expire(services: &Arc<Services>, cell: &Arc<Cell>, mut shared: MutexGuard<'_, Shared>) {
    let stage = std::mem::replace(&mut shared.stage, Stage::Ended);
    let effects = cell.close_books(&mut shared);
    shared.place = None;
    let last_seq = shared.history.last_seq();
    drop(shared);
    drop(stage);
    let telemetry = results::bare_telemetry(Some(&cell.run));
    let outcome = results::refused(&CellError::Expired, effects.clone(), telemetry);
    durable::end(cell, &outcome, last_seq, 0);
    cell.abort.cancel();
    let approvals = services.parts.executor.approvals();
    approvals.forget_cell(&cell.id.to_string());
    tracing::info!(cell = %cell.id, "expired");
    leave_stone(services, cell, effects);
}

fn leave_stone(services: &Services, cell: &Cell, effects: Option<Effects>) {
    let stone = Stone {
        scope: Arc::clone(&cell.run.scope),
        effects,
    };
    services.shelf().put_stone(cell.id, stone);
}
