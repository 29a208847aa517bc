//! `exec`, `wait` and the end of runs: the public face of the crate.
//!
//! Asynchronous at this edge only. A call becomes a job on a guest's thread and a channel for its
//! answer; dropping an `exec` aborts its cell, dropping a `wait` lets the leg go on for the next
//! one. Nothing is spawned that is not tracked, and [`CodeMode::shutdown`] waits for all of it.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::{Duration, Instant};

use codecell_protocol::{CellId, ExecInput};
use codecell_sandbox::{QueueFull, Ticket};
use tokio::sync::{OwnedSemaphorePermit, oneshot};
use tokio_util::sync::CancellationToken;

use crate::calls::CallBounds;
use crate::cell::{Cell, Stage, StopReason};
use crate::durable;
use crate::exec_hook;
use crate::failure::CellError;
use crate::job::{self, LegJob};
use crate::leg::Body;
use crate::limits;
use crate::options::CodeModeOptions;
use crate::outcome::CellOutcome;
use crate::results;
use crate::run_results::{Keeper, RunResults};
use crate::run_state::RunState;
use crate::scope::{RunContext, Scope};
use crate::services::{CodeModeParts, Services};

/// How long [`CodeMode::shutdown`] waits for tools to end.
const SHUTDOWN_WAIT: Duration = Duration::from_secs(2);

/// The longest that the sweeper sleeps; it is woken when something is due earlier.
const SWEEP: Duration = Duration::from_secs(60);

/// Code mode of one process. Clones share it.
#[derive(Clone)]
pub struct CodeMode {
    inner: Arc<Inner>,
}

struct Inner {
    services: Arc<Services>,
    runs: Mutex<HashMap<Arc<Scope>, Arc<RunState>>>,
    closed: CancellationToken,
}

impl std::fmt::Debug for CodeMode {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("CodeMode")
            .field("suspended", &self.suspended())
            .finish_non_exhaustive()
    }
}

impl Drop for Inner {
    /// Suspended cells know the shelf that they lie on: it must not outlive the last owner.
    fn drop(&mut self) {
        self.closed.cancel();
        // Bound first: the shelf must be open again when the cells end.
        let cells = self.services.shelf().drain();
        let (parked, cells): (Vec<_>, Vec<_>) =
            cells.into_iter().partition(|cell| durable::park(cell));
        end_all(cells);
        for cell in &parked {
            durable::let_go(cell);
        }
    }
}

fn end_all(cells: Vec<Arc<Cell>>) {
    for cell in cells {
        job::stop(&cell, StopReason::Aborted);
    }
}

impl CodeMode {
    /// Code mode of these parts. Starts the one task that expires suspended cells.
    #[must_use]
    pub fn new(parts: CodeModeParts) -> Self {
        let services = Arc::new(Services::new(parts));
        let closed = CancellationToken::new();
        let runtime = services.parts.runtime.clone();
        services
            .tasks
            .spawn_on(sweep(Arc::clone(&services), closed.clone()), &runtime);
        Self {
            inner: Arc::new(Inner {
                services,
                runs: Mutex::default(),
                closed,
            }),
        }
    }

    /// Runs a program until it ends, yields, or its time is over with calls outstanding.
    ///
    /// `call_id` is the model's own id of this call; nested calls keep it as their parent. Every
    /// failure is a result. Dropping the future aborts the cell.
    pub async fn exec(&self, input: ExecInput, ctx: &RunContext, call_id: Arc<str>) -> CellOutcome {
        let run = self.run_of(&ctx.scope);
        let outcome = match self.try_exec(input, ctx, call_id, &run).await {
            Ok(outcome) => outcome,
            Err(error) => results::refused(&error, None, results::bare_telemetry(Some(&run))),
        };
        results::trace("exec", &outcome);
        outcome
    }

    async fn try_exec(
        &self,
        input: ExecInput,
        ctx: &RunContext,
        call_id: Arc<str>,
        run: &Arc<RunState>,
    ) -> Result<CellOutcome, CellError> {
        let services = &self.inner.services;
        let options = self.check_run(ctx, run)?;
        let code = exec_hook::run_hooks(&services.parts.hooks, input.code, input.language, ctx)
            .await
            .map_err(CellError::Blocked)?;
        if code.trim().is_empty() {
            return Err(codecell_protocol::InputError::NoCode.into());
        }
        if services.suspended_bytes() >= services.parts.limits.max_suspended_bytes {
            return Err(CellError::Busy(
                "the suspended cells of this process hold all the memory they may".into(),
            ));
        }
        let room = self.memory_for(&options, ctx, run).await?;
        let cell = Arc::new(Cell::new(services, run, ctx, &call_id, bounds(&options)));
        let (answer, answered) = oneshot::channel();
        cell.lock().waiter = Some(answer);
        let facts = services.facts.of(ctx.tools.catalog());
        let body = Box::new(Body::new(code.into(), options, facts));
        let job = LegJob::exec(&cell, body, input.language, ctx.deadline, room);
        let ticket = self.spawn(&ctx.scope, job)?;
        let guard = AbortOnDrop {
            cell: &cell,
            ticket: &ticket,
        };
        let outcome = answer_of(&cell, answered, ctx, Some(&ticket)).await;
        std::mem::forget(guard);
        let outcome = outcome?;
        cell.lock().history.delivered(&outcome);
        Ok(unshared(outcome))
    }

    /// Checks what concerns the run, and gives its options within their ranges.
    pub(crate) fn check_run(
        &self,
        ctx: &RunContext,
        run: &RunState,
    ) -> Result<CodeModeOptions, CellError> {
        if let Some(reason) = &ctx.invalid_override {
            return Err(CellError::Config(reason.clone()));
        }
        let is_over =
            ctx.abort.is_cancelled() || run.end.is_cancelled() || self.inner.closed.is_cancelled();
        if is_over {
            return Err(CellError::Aborted);
        }
        let now = self.inner.services.now();
        if ctx.deadline.is_some_and(|deadline| now >= deadline) {
            return Err(CellError::RunDeadline);
        }
        Ok((*ctx.options).clone().clamped())
    }

    /// Waits until a guest of this size may run, at most for the cell's own timeout, and no longer
    /// than its run.
    pub(crate) async fn memory_for(
        &self,
        options: &CodeModeOptions,
        ctx: &RunContext,
        run: &RunState,
    ) -> Result<OwnedSemaphorePermit, CellError> {
        let services = &self.inner.services;
        let permits = Services::permits(options.memory_limit_bytes);
        let gate = Arc::clone(&services.memory);
        if let Ok(room) = Arc::clone(&gate).try_acquire_many_owned(permits) {
            return Ok(room);
        }
        if u64::from(permits) << 20 > services.parts.limits.max_guest_memory_bytes {
            return Err(CellError::Busy(
                "one cell of this size needs more memory than all may have together".into(),
            ));
        }
        let wait = tokio::time::timeout(
            Duration::from_millis(options.timeout_ms),
            gate.acquire_many_owned(permits),
        );
        let waited = tokio::select! {
            biased;
            () = ctx.abort.cancelled() => return Err(CellError::Aborted),
            () = run.end.cancelled() => return Err(CellError::Aborted),
            () = late(ctx) => return Err(CellError::RunDeadline),
            waited = wait => waited,
        };
        match waited {
            Ok(Ok(room)) => Ok(room),
            _ => Err(CellError::Busy(
                "the running cells use all the memory they may have together".into(),
            )),
        }
    }

    pub(crate) fn spawn(&self, scope: &Scope, job: LegJob) -> Result<Ticket, CellError> {
        let spawned = self
            .inner
            .services
            .parts
            .sandbox
            .spawn(&scope.session_key, move |thread| job.run(thread));
        spawned.map_err(|full: QueueFull| CellError::Busy(full.to_string()))
    }

    fn runs(&self) -> MutexGuard<'_, HashMap<Arc<Scope>, Arc<RunState>>> {
        self.inner
            .runs
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn run_of(&self, scope: &Arc<Scope>) -> Arc<RunState> {
        let mut runs = self.runs();
        if let Some(run) = runs.get(scope) {
            return Arc::clone(run);
        }
        let parts = &self.inner.services.parts;
        let keeper = parts.store.as_ref().map(|store| {
            let (store, clock) = (Arc::clone(store), Arc::clone(&parts.clock));
            Keeper::new(store, clock, scope)
        });
        let nonce = parts.randomness.bits() as u64;
        let saved = RunResults::new(keeper);
        let run = Arc::new(RunState::new(Arc::clone(scope), nonce, saved));
        runs.insert(Arc::clone(scope), Arc::clone(&run));
        run
    }

    pub(crate) fn known_run(&self, scope: &Scope) -> Option<Arc<RunState>> {
        self.runs().get(scope).cloned()
    }

    pub(crate) fn services(&self) -> &Arc<Services> {
        &self.inner.services
    }

    /// Ends a run: its cells are aborted, their calls cancelled, its saved results forgotten.
    pub fn end_run(&self, scope: &Scope) {
        let Some(run) = self.runs().remove(scope) else {
            return;
        };
        run.end.cancel();
        let services = &self.inner.services;
        let cells = services.shelf().filter(|cell| *cell.run.scope == *scope);
        for cell in &cells {
            services.shelf().remove(&cell.id);
        }
        end_all(cells);
        if services.parts.store.is_some() {
            // The disk is not waited for here; `shutdown` waits for it.
            let forget = move || run.saved.forget();
            let runtime = &services.parts.runtime;
            services.tasks.spawn_blocking_on(forget, runtime);
        }
    }

    /// Ends all runs of a session.
    pub fn end_session(&self, owner: &str, agent_id: &str, session_key: &str) {
        let is_of_session = |scope: &&Arc<Scope>| {
            *scope.owner == *owner
                && *scope.agent_id == *agent_id
                && *scope.session_key == *session_key
        };
        let scopes: Vec<Arc<Scope>> = self.runs().keys().filter(is_of_session).cloned().collect();
        for scope in scopes {
            self.end_run(&scope);
        }
        let approvals = self.inner.services.parts.executor.approvals();
        approvals.forget_session(owner, agent_id, session_key);
    }

    /// Aborts one cell that has been suspended at least once. `false` when there is none of this id
    /// in the scope, or it has ended.
    pub fn abort(&self, id: &CellId, scope: &Scope) -> bool {
        let Some(cell) = self.inner.services.shelf().get(id) else {
            return false;
        };
        if *cell.run.scope != *scope || matches!(cell.lock().stage, Stage::Ended) {
            return false;
        }
        job::stop(&cell, StopReason::Aborted);
        true
    }

    /// Ends all runs and waits, for a bounded time, until their tools have ended.
    pub async fn shutdown(&self) {
        let services = &self.inner.services;
        self.inner.closed.cancel();
        let cells = services.shelf().drain();
        let (parked, cells): (Vec<_>, Vec<_>) =
            cells.into_iter().partition(|cell| durable::park(cell));
        let runs: Vec<Arc<RunState>> = self.runs().drain().map(|(_, run)| run).collect();
        for run in &runs {
            run.end.cancel();
        }
        end_all(cells);
        services.tasks.close();
        let ended = tokio::time::timeout(SHUTDOWN_WAIT, services.tasks.wait());
        if ended.await.is_err() {
            tracing::warn!("some tools were still running at the end");
        }
        for cell in &parked {
            durable::let_go(cell);
        }
        if let Some(store) = &services.parts.store {
            store.flush();
        }
    }

    /// Id and size in bytes of each value that the cells of a run have kept, the newest first.
    #[must_use]
    pub fn saved_values(&self, scope: &Scope) -> Vec<(String, u64)> {
        let run = self.known_run(scope);
        run.map_or_else(Vec::new, |run| run.saved.sizes())
    }

    /// The JSON of a value that a cell of this run has kept.
    #[must_use]
    pub fn saved_value(&self, scope: &Scope, id: &str) -> Option<Arc<str>> {
        self.known_run(scope)?.saved.load(id).ok().flatten()
    }

    /// Suspended cells, those that a `wait` has woken included.
    #[must_use]
    pub fn suspended(&self) -> u64 {
        self.inner.services.suspended()
    }

    /// Bytes of the snapshots that are held.
    #[must_use]
    pub fn suspended_bytes(&self) -> u64 {
        self.inner.services.suspended_bytes()
    }

    /// Looks after everything that is due by the clock: expired cells, approvals that nobody gave.
    /// The process does so by itself; a test that moves the clock calls it.
    pub fn sweep(&self) {
        sweep_once(&self.inner.services);
    }
}

/// The bounds of a cell's calls.
pub(crate) fn bounds(options: &CodeModeOptions) -> CallBounds {
    /// What a batch needs besides its payload.
    const OVERHEAD_BYTES: u64 = 4096;
    CallBounds {
        in_flight: options.max_pending_tool_calls as usize,
        queued_bytes: limits::queued_bytes(options),
        undelivered_bytes: limits::kept_bytes(options),
        message_bytes: limits::message_bytes(options)
            .min(options.memory_limit_bytes - OVERHEAD_BYTES),
    }
}

/// Waits until the run must end.
async fn late(ctx: &RunContext) {
    match ctx.deadline {
        Some(deadline) => tokio::time::sleep_until(deadline.into()).await,
        None => std::future::pending().await,
    }
}

/// Waits for the answer of a leg, and passes on that the run was stopped.
pub(crate) async fn answer_of(
    cell: &Arc<Cell>,
    mut answered: oneshot::Receiver<Arc<CellOutcome>>,
    ctx: &RunContext,
    ticket: Option<&Ticket>,
) -> Result<Arc<CellOutcome>, CellError> {
    let reason = tokio::select! {
        biased;
        outcome = &mut answered => return outcome.map_err(|_| CellError::WorkerCrashed),
        () = ctx.abort.cancelled() => StopReason::Aborted,
        () = cell.abort.cancelled() => StopReason::Aborted,
        () = late(ctx) => StopReason::RunDeadline,
    };
    // A leg that ends cancels its calls' token too: then the answer is on its way.
    if cell.abort.is_cancelled()
        && cell.stop_reason().is_none()
        && !cell.run.end.is_cancelled()
        && !ctx.abort.is_cancelled()
    {
        return answered.await.map_err(|_| CellError::WorkerCrashed);
    }
    job::stop(cell, reason);
    if ticket.is_some_and(Ticket::cancel) {
        // A `wait` that was still in the queue has put its cell back.
        job::end_suspended(cell, &reason.error());
    }
    let answer = answered.await;
    // What the end of the cell has recorded tells more than a suspension just before it.
    let last_word = cell.last_word();
    last_word.or(answer.ok()).ok_or_else(|| reason.error())
}

/// Aborts a cell whose `exec` is dropped.
struct AbortOnDrop<'a> {
    cell: &'a Arc<Cell>,
    ticket: &'a Ticket,
}

impl Drop for AbortOnDrop<'_> {
    fn drop(&mut self) {
        job::stop(self.cell, StopReason::Aborted);
        let _ = self.ticket.cancel();
    }
}

pub(crate) fn unshared(outcome: Arc<CellOutcome>) -> CellOutcome {
    Arc::try_unwrap(outcome).unwrap_or_else(|shared| (*shared).clone())
}

/// Expires what is due, forever.
async fn sweep(services: Arc<Services>, closed: CancellationToken) {
    loop {
        let next = services.shelf().next_due();
        let left = next.map_or(SWEEP, |due| {
            due.saturating_duration_since(services.now()).min(SWEEP)
        });
        tokio::select! {
            () = closed.cancelled() => return,
            () = services.swept.notified() => continue,
            () = tokio::time::sleep(left) => sweep_once(&services),
        }
    }
}

fn sweep_once(services: &Arc<Services>) {
    if services.parts.store.is_some() {
        let (swept, tasks) = (Arc::clone(services), &services.tasks);
        tasks.spawn_blocking_on(move || durable::sweep(&swept), &services.parts.runtime);
    }
    let now: Instant = services.now();
    let due = services.shelf().take_due(now);
    for (_, cell) in due {
        job::look_after(services, &cell, now);
    }
}
