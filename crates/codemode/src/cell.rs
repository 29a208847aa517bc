//! One cell: what its legs, its calls and its callers share.
//!
//! All of it is behind one lock that is held for moments only: no guest code, no tool and no await
//! runs under it. A leg waits for the next [`Event`]; calls, clocks and callers cause events. The
//! invariants: the first reason to stop wins; at most one leg runs; a call is in the ledger before
//! the executor sees it, and nothing is ever handed over twice.

use std::collections::HashMap;
use std::panic::AssertUnwindSafe;
use std::pin::Pin;
use std::sync::{Arc, Condvar, Mutex, MutexGuard, OnceLock, PoisonError};
use std::task::{Context, Waker};
use std::time::{Duration, Instant};

use codecell_catalog::Scope as Names;
use codecell_protocol::{CallState, CellId, EffectKind, Effects};
use codecell_sandbox::StopHandle;
use codecell_tools::toolset::StartingTools;
use codecell_tools::{CallContext, CallProgress, CallReport, CallRequest, CallStep, ToolSet};
use futures::FutureExt as _;
use serde_json::Value;
use tokio::sync::oneshot;
use tokio_util::sync::CancellationToken;

use crate::calls::{Answer, CallBounds, Calls, Start};
use crate::clock::micros;
use crate::durable::{self, Identity, Journal, RecordSink, StoreError};
use crate::failure::CellError;
use crate::history::History;
use crate::idle_clock::IdleClock;
use crate::ledger::call_id;
use crate::leg::Body;
use crate::leg_clock::LegClock;
use crate::limits::CELL_LIFE_SECONDS;
use crate::outcome::CellOutcome;
use crate::reply::Rejection;
use crate::run_state::RunState;
use crate::scope::RunContext;
use crate::services::{Place, Services};
use crate::values;

/// How long calls in flight may take to end after their cell was stopped, until they count as
/// unknown: a little more than the executor gives to tools.
const WIND_DOWN: Duration = Duration::from_millis(400);

/// Why a cell is stopped from outside.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum StopReason {
    Aborted,
    RunDeadline,
}

impl StopReason {
    pub(crate) fn error(self) -> CellError {
        match self {
            Self::Aborted => CellError::Aborted,
            Self::RunDeadline => CellError::RunDeadline,
        }
    }
}

/// What a leg that has nothing to do can be woken by.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Event {
    /// Replies wait for the guest.
    Settled,
    /// A timer of the guest is due.
    TimerDue,
    /// The leg must answer.
    Deadline,
    /// The cell is stopped.
    Stopped(StopReason),
}

/// Whether a leg runs, and for whom.
pub(crate) enum Stage {
    /// A leg runs; its body is with it.
    Running,
    /// The cell is suspended.
    Suspended(Box<Body>),
    /// The cell has given its last result.
    Ended,
}

/// The part behind the lock.
pub(crate) struct Shared {
    pub(crate) calls: Calls,
    pub(crate) idle: IdleClock,
    pub(crate) history: History,
    pub(crate) stage: Stage,
    pub(crate) waiter: Option<oneshot::Sender<Arc<CellOutcome>>>,
    /// The tools that new calls may use.
    pub(crate) tools: ToolSet,
    /// The place among the suspended cells, from the first suspension to the end.
    pub(crate) place: Option<Place>,
    /// When the run that the cell belongs to must end.
    pub(crate) run_deadline: Option<Instant>,
    approval_ttl: Duration,
    stopped: Option<StopReason>,
    tokens: HashMap<u32, CancellationToken>,
}

/// A call whose turn it is.
struct NextCall {
    start: Start,
    token: CancellationToken,
    tools: ToolSet,
}

/// What is left to do for a call that was started.
type CallWork = Pin<Box<dyn Future<Output = ()> + Send>>;

/// One cell.
pub(crate) struct Cell {
    pub(crate) id: CellId,
    pub(crate) run: Arc<RunState>,
    pub(crate) services: Arc<Services>,
    pub(crate) stop: StopHandle,
    /// Cancelled when the cell ends or its run does; the tokens of its calls are children of it.
    pub(crate) abort: CancellationToken,
    /// The tools of the start: the catalog that the program sees.
    pub(crate) start_tools: ToolSet,
    /// Stops everything that the run started; watched while the cell is suspended.
    pub(crate) run_abort: CancellationToken,
    /// The start on both clocks.
    born: (Instant, u64),
    /// When the cell really started, microseconds since the Unix epoch.
    born_us: u64,
    /// What the calls of this cell need of the run; most cells make few, so it is put together late.
    origin: Origin,
    caller: OnceLock<CallContext>,
    /// The tools of the start, for a cell that started in another process.
    pub(crate) starting: Option<StartingTools>,
    /// Takes the replay record, if one is wanted.
    pub(crate) sink: Option<Arc<dyn RecordSink>>,
    journal: OnceLock<Arc<Journal>>,
    shared: Mutex<Shared>,
    wake: Condvar,
}

impl Cell {
    pub(crate) fn new(
        services: &Arc<Services>,
        run: &Arc<RunState>,
        ctx: &RunContext,
        call_id: &Arc<str>,
        bounds: CallBounds,
    ) -> Self {
        let id = CellId::from_random(services.parts.randomness.bits());
        let mut cell = Self::of(services, run, ctx, id, Origin::of(ctx, call_id), bounds);
        cell.sink.clone_from(&ctx.record);
        cell
    }

    /// A cell that comes back from a store, or only its last result.
    pub(crate) fn returned(
        services: &Arc<Services>,
        run: &Arc<RunState>,
        ctx: &RunContext,
        id: CellId,
        identity: Option<&Identity>,
        bounds: CallBounds,
    ) -> Self {
        let origin = Origin::returned(ctx, identity);
        let mut cell = Self::of(services, run, ctx, id, origin, bounds);
        let Some(identity) = identity else {
            return cell;
        };
        let starting = durable::tools_of_text(&identity.tools);
        // The tools of now that it had then.
        cell.start_tools = ctx.tools.resumed(&starting);
        cell.starting = Some(starting);
        cell.born_us = identity.born_us;
        let left =
            Duration::from_secs(CELL_LIFE_SECONDS) - durable::age(services, identity.born_us);
        cell.lock().idle = IdleClock::new(services.now(), left);
        cell
    }

    fn of(
        services: &Arc<Services>,
        run: &Arc<RunState>,
        ctx: &RunContext,
        id: CellId,
        origin: Origin,
        bounds: CallBounds,
    ) -> Self {
        let born = services.now();
        let abort = run.end.child_token();
        Self {
            id,
            run: Arc::clone(run),
            services: Arc::clone(services),
            stop: StopHandle::new(),
            origin,
            caller: OnceLock::new(),
            starting: None,
            sink: None,
            journal: OnceLock::new(),
            abort,
            run_abort: ctx.abort.clone(),
            born: (born, services.unix_us()),
            born_us: services.unix_us(),
            start_tools: ctx.tools.clone(),
            shared: Mutex::new(Shared {
                calls: Calls::new(bounds),
                idle: IdleClock::new(born, Duration::from_secs(CELL_LIFE_SECONDS)),
                history: History::default(),
                stage: Stage::Running,
                waiter: None,
                tools: ctx.tools.clone(),
                place: None,
                run_deadline: ctx.deadline,
                approval_ttl: Duration::from_secs(ctx.options.approval_ttl_seconds),
                stopped: None,
                tokens: HashMap::new(),
            }),
            wake: Condvar::new(),
        }
    }

    /// No code of others runs under this lock, so a poisoned one still guards a whole state.
    pub(crate) fn lock(&self) -> MutexGuard<'_, Shared> {
        self.shared.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Where the cell writes down what it does, if anywhere.
    pub(crate) fn journal(&self) -> Option<&Arc<Journal>> {
        self.journal.get()
    }

    /// Gives the cell its journal, once.
    pub(crate) fn set_journal(&self, journal: Arc<Journal>) {
        self.lock().calls.set_journal(&journal);
        let _ = self.journal.set(journal);
    }

    /// What the cell is, for its journal.
    pub(crate) fn identity(&self, source: &Arc<str>, catalog: Option<Vec<String>>) -> Identity {
        let origin = &self.origin;
        let tools = match &self.starting {
            Some(starting) => durable::tools_to_text(starting),
            None => durable::tools_to_text(&self.start_tools.starting_tools()),
        };
        Identity {
            id: self.id,
            scope: durable::scope_parts(&self.run.scope),
            session_id: Arc::clone(&origin.session_id),
            sender: origin.sender.clone(),
            channel: origin.channel.clone(),
            call_id: Arc::clone(&origin.call_id),
            source: Arc::clone(source),
            image: durable::hex(self.services.parts.sandbox.image().as_bytes()),
            born_us: self.born_us,
            tools,
            catalog,
        }
    }

    /// Has it stored that a call is about to be made, where that must be known before.
    async fn admit(&self, start: &Start) -> Result<(), StoreError> {
        let journal = self.lock().calls.note_admitted(start.guest_id);
        match journal {
            Some(journal) => journal.committed().await,
            None => Ok(()),
        }
    }

    /// The tools that new calls may use.
    pub(crate) fn lock_tools(&self) -> ToolSet {
        self.lock().tools.clone()
    }

    /// Stops the cell: guest code within some milliseconds, tools as soon as they listen.
    pub(crate) fn stop_with(&self, reason: StopReason) {
        self.lock().stopped.get_or_insert(reason);
        self.stop.abort();
        self.abort.cancel();
        self.wake.notify_all();
    }

    /// Why the cell is stopped, if it is.
    pub(crate) fn stop_reason(&self) -> Option<StopReason> {
        self.lock().stopped
    }

    /// Prepares for another leg: bounds, tools and clocks of now.
    pub(crate) fn begin_leg(
        &self,
        shared: &mut Shared,
        bounds: CallBounds,
        tools: ToolSet,
        approval_ttl: Duration,
    ) {
        shared.calls.set_bounds(bounds);
        shared.tools = tools;
        shared.approval_ttl = approval_ttl;
        shared.idle.pause(self.services.now());
        shared.history.went_on();
    }

    /// The result that ended the cell, if it has ended and that is kept.
    pub(crate) fn last_word(&self) -> Option<Arc<CellOutcome>> {
        self.lock().history.last_word()
    }

    /// Microseconds since the Unix epoch as this cell counts them: from its start on, at the pace of
    /// the clock that never jumps. Its timers and the stamps of its replies follow no other time.
    pub(crate) fn unix_us(&self) -> u64 {
        let (born, born_us) = self.born;
        born_us + micros(self.services.now().saturating_duration_since(born))
    }

    /// Who makes the calls of this cell.
    fn caller(&self) -> &CallContext {
        self.caller.get_or_init(|| {
            let (scope, origin) = (&self.run.scope, &self.origin);
            let mut caller = CallContext::new(&scope.agent_id, &scope.session_key, &scope.run_id);
            caller.owner = Arc::clone(&scope.owner);
            caller.session_id = Arc::clone(&origin.session_id);
            caller.cell_id = Some(self.id.to_string().into());
            caller.parent_call = Some(Arc::clone(&origin.call_id));
            caller.sender.clone_from(&origin.sender);
            caller.channel.clone_from(&origin.channel);
            caller.abort = self.abort.clone();
            caller
        })
    }

    /// Hands the calls whose turn it is to the executor, each on a task of its own.
    pub(crate) fn pump(self: &Arc<Self>) {
        while let Some(next) = self.next_call() {
            if let Some(call) = self.prepare_call(next) {
                self.spawn_call(call);
            }
        }
    }

    /// As [`pump`](Self::pump), on a guest's thread: what is over at once needs no other thread. A
    /// call that has to wait for something becomes a task.
    pub(crate) fn pump_here(self: &Arc<Self>) {
        let Some(mut next) = self.next_call() else {
            return;
        };
        let _runtime = self.services.parts.runtime.enter();
        let mut nobody = Context::from_waker(Waker::noop());
        loop {
            if let Some(mut call) = self.prepare_call(next) {
                // The first poll of the task asks everything again, so that no wake-up is lost.
                if call.as_mut().poll(&mut nobody).is_pending() {
                    self.spawn_call(call);
                }
            }
            let Some(following) = self.next_call() else {
                return;
            };
            next = following;
        }
    }

    fn next_call(&self) -> Option<NextCall> {
        let mut shared = self.lock();
        let start = shared.calls.next_to_start()?;
        let token = self.abort.child_token();
        shared.tokens.insert(start.guest_id, token.clone());
        let tools = shared.tools.clone();
        Some(NextCall {
            start,
            token,
            tools,
        })
    }

    /// The work of one call, up to its entry in the books. A call whose arguments are not JSON ends
    /// here.
    fn prepare_call(self: &Arc<Self>, next: NextCall) -> Option<CallWork> {
        match values::parse(&next.start.arguments) {
            Ok(args) => Some(self.work(next, args)),
            Err(message) => {
                let start = next.start;
                let rejection =
                    Rejection::not_started("invalid_arguments", message, Some(&start.tool));
                self.close_call(
                    start.guest_id,
                    CallState::NotStarted,
                    Answer::Reject(rejection),
                );
                None
            }
        }
    }

    fn work(self: &Arc<Self>, next: NextCall, args: Value) -> CallWork {
        let NextCall {
            start,
            token,
            tools,
        } = next;
        let request = CallRequest {
            call_id: format!("{}/{}", self.id, call_id(start.number)).into(),
            tool: Arc::clone(&start.tool),
            scope: Names::All,
            args,
            ctx: CallContext {
                abort: token,
                ..self.caller().clone()
            },
        };
        let books = Arc::new(Books {
            cell: Arc::clone(self),
            guest_id: start.guest_id,
        });
        let cell = Arc::clone(self);
        let call = async move {
            let ending = Ending {
                cell: &cell,
                guest_id: start.guest_id,
                tool: &start.tool,
            };
            if let Err(error) = cell.admit(&start).await {
                let rejection = Rejection::not_stored(&start.tool, &error.to_string());
                return ending.close(CallState::NotStarted, Answer::Reject(rejection));
            }
            let report = cell
                .services
                .parts
                .executor
                .call(&tools, request, books)
                .await;
            let answer = cell.answer(&start, &tools, &report);
            ending.close(report.state, answer);
        };
        // A panic is told by what is dropped in it.
        Box::pin(AssertUnwindSafe(call).catch_unwind().map(drop))
    }

    fn spawn_call(self: &Arc<Self>, call: CallWork) {
        let cell = Arc::clone(self);
        let task = async move {
            call.await;
            cell.pump();
        };
        self.services
            .tasks
            .spawn_on(task, &self.services.parts.runtime);
    }

    /// What the guest gets of a report.
    fn answer(&self, start: &Start, tools: &ToolSet, report: &CallReport) -> Answer {
        match &report.outcome {
            Ok(_) => values::answer(start.method, &start.tool, tools, report, &self.run),
            Err(failure) => Answer::Reject(Rejection::new(
                failure.code.clone(),
                failure.message.clone(),
                Some(Arc::clone(&failure.tool)),
                failure.effect_status,
            )),
        }
    }

    /// Takes note of how a call ended and wakes the leg.
    fn close_call(&self, guest_id: u32, state: CallState, answer: Answer) {
        let mut shared = self.lock();
        shared.tokens.remove(&guest_id);
        shared.calls.settle(guest_id, state, answer, self.unix_us());
        let due = self.judge_idle(&mut shared);
        drop(shared);
        self.told(due);
        self.wake.notify_all();
    }

    /// Pauses the idle clock while an approval is pending; gives the new expiry of a suspended cell.
    pub(crate) fn judge_idle(&self, shared: &mut Shared) -> Option<Instant> {
        let Stage::Suspended(_) = &shared.stage else {
            return None;
        };
        let now = self.services.now();
        if shared.calls.any_waits_for_approval() {
            shared.idle.pause(now);
        } else {
            shared.idle.resume(now);
        }
        Some(self.due(shared))
    }

    /// When a suspended or ended cell has to be looked at.
    pub(crate) fn due(&self, shared: &Shared) -> Instant {
        let approval = shared.calls.next_approval_expiry(shared.approval_ttl);
        let run_end = match shared.stage {
            Stage::Suspended(_) => shared.run_deadline,
            Stage::Running | Stage::Ended => None,
        };
        let expiry = shared.idle.expires_at();
        [approval, run_end]
            .into_iter()
            .flatten()
            .fold(expiry, Instant::min)
    }

    pub(crate) fn told(&self, due: Option<Instant>) {
        if let Some(due) = due {
            self.services.reschedule(self.id, due);
        }
    }

    fn step(self: &Arc<Self>, guest_id: u32, step: CallStep) {
        let mut shared = self.lock();
        match step {
            CallStep::ApprovalPending => shared
                .calls
                .set_approval(guest_id, Some(self.services.now())),
            CallStep::ApprovalSettled => shared.calls.set_approval(guest_id, None),
        }
        let due = self.judge_idle(&mut shared);
        drop(shared);
        self.told(due);
        self.wake.notify_all();
    }

    /// Marks a call as handed over, unless the cell was stopped or the call closed before.
    fn hand_over(&self, guest_id: u32) -> bool {
        if let Some(journal) = self.lock().calls.note_handed_over(guest_id)
            && journal.commit().is_err()
        {
            return false;
        }
        let mut shared = self.lock();
        shared.stopped.is_none() && shared.calls.handed_over(guest_id)
    }

    /// Rejects calls whose approval has waited for too long, and makes sure that they never start.
    pub(crate) fn expire_approvals(&self, shared: &mut Shared) -> bool {
        let now = self.services.now();
        let expired = shared
            .calls
            .expire_approvals(shared.approval_ttl, now, self.unix_us());
        for guest_id in &expired {
            if let Some(token) = shared.tokens.remove(guest_id) {
                token.cancel();
            }
        }
        !expired.is_empty()
    }

    /// Waits for the next event of a leg whose guest has nothing to do. Time spent here is not ours.
    pub(crate) fn next_event(
        &self,
        clock: &mut LegClock,
        timer_us: Option<u64>,
        run_deadline: Option<Instant>,
    ) -> Event {
        let mut shared = self.lock();
        loop {
            if let Some(reason) = shared.stopped {
                return Event::Stopped(reason);
            }
            let now = self.services.now();
            if run_deadline.is_some_and(|deadline| now >= deadline) {
                return Event::Stopped(StopReason::RunDeadline);
            }
            self.expire_approvals(&mut shared);
            if shared.calls.has_replies() {
                return Event::Settled;
            }
            let timer_in =
                timer_us.map(|due| Duration::from_micros(due.saturating_sub(self.unix_us())));
            if timer_in.is_some_and(|left| left.is_zero()) {
                return Event::TimerDue;
            }
            clock.set_held(shared.calls.all_wait_for_approval(), now);
            let deadline = clock.deadline();
            if deadline.is_some_and(|deadline| now >= deadline) {
                return Event::Deadline;
            }
            let approval = shared.calls.next_approval_expiry(shared.approval_ttl);
            let instants = [
                deadline,
                run_deadline,
                approval,
                timer_in.map(|left| now + left),
            ];
            let next = instants.into_iter().flatten().min();
            shared = match next {
                Some(next) => self.wait_until(shared, next.saturating_duration_since(now)),
                None => self
                    .wake
                    .wait(shared)
                    .unwrap_or_else(PoisonError::into_inner),
            };
        }
    }

    fn wait_until<'a>(
        &self,
        shared: MutexGuard<'a, Shared>,
        left: Duration,
    ) -> MutexGuard<'a, Shared> {
        // Never less than a moment: a clock that stands still in a test must not spin.
        let left = left.max(Duration::from_micros(50));
        self.wake
            .wait_timeout(shared, left)
            .unwrap_or_else(PoisonError::into_inner)
            .0
    }

    /// Ends all calls of a cell that is over: tells those in flight to stop, gives them a moment to
    /// say how they ended, and closes the books.
    pub(crate) fn wind_down(&self) -> Option<Effects> {
        let mut shared = self.lock();
        shared.calls.close();
        if shared.calls.outstanding() > 0 {
            self.abort.cancel();
            let until = Instant::now() + WIND_DOWN;
            while shared.calls.in_flight() > 0 {
                let left = until.saturating_duration_since(Instant::now());
                if left.is_zero() {
                    break;
                }
                shared = self
                    .wake
                    .wait_timeout(shared, left)
                    .unwrap_or_else(PoisonError::into_inner)
                    .0;
            }
        }
        self.close_books(&mut shared)
    }

    /// Closes the books at once: what is in flight is told to stop and counts as unknown.
    pub(crate) fn close_books(&self, shared: &mut Shared) -> Option<Effects> {
        if shared.calls.outstanding() > 0 {
            self.abort.cancel();
        }
        shared.calls.finish();
        shared.tokens.clear();
        shared.calls.ledger().effects()
    }
}

/// Who started a cell, and by which call.
struct Origin {
    session_id: Arc<str>,
    sender: Option<Arc<str>>,
    channel: Option<Arc<str>>,
    call_id: Arc<str>,
}

impl Origin {
    fn returned(ctx: &RunContext, identity: Option<&Identity>) -> Self {
        match identity {
            Some(identity) => Self {
                session_id: Arc::clone(&identity.session_id),
                sender: identity.sender.clone(),
                channel: identity.channel.clone(),
                call_id: Arc::clone(&identity.call_id),
            },
            None => Self::of(ctx, &Arc::clone(&ctx.session_id)),
        }
    }

    fn of(ctx: &RunContext, call_id: &Arc<str>) -> Self {
        Self {
            session_id: Arc::clone(&ctx.session_id),
            sender: ctx.sender.clone(),
            channel: ctx.channel.clone(),
            call_id: Arc::clone(call_id),
        }
    }
}

/// Keeps the books of one call while the executor has it.
struct Books {
    cell: Arc<Cell>,
    guest_id: u32,
}

impl CallProgress for Books {
    fn step(&self, _call_id: &str, step: CallStep) {
        self.cell.step(self.guest_id, step);
    }

    fn hand_over(&self, _call_id: &str) -> bool {
        self.cell.hand_over(self.guest_id)
    }
}

/// Closes a call whatever becomes of its work.
struct Ending<'a> {
    cell: &'a Arc<Cell>,
    guest_id: u32,
    tool: &'a Arc<str>,
}

impl Ending<'_> {
    fn close(self, state: CallState, answer: Answer) {
        self.cell.close_call(self.guest_id, state, answer);
        std::mem::forget(self);
    }
}

impl Drop for Ending<'_> {
    fn drop(&mut self) {
        let message = format!(
            "the call of {} ended without a report; it may have taken effect",
            self.tool
        );
        let rejection = Rejection::new(
            "internal",
            message,
            Some(Arc::clone(self.tool)),
            CallState::Unknown,
        );
        self.cell
            .close_call(self.guest_id, CallState::Unknown, Answer::Reject(rejection));
    }
}

/// The effect that a call of this tool counts as; of no tool, the worst.
pub(crate) fn effect_of(tools: &ToolSet, id: &codecell_catalog::ToolId) -> EffectKind {
    tools
        .get(id)
        .map_or(EffectKind::Write, |tool| tool.definition().effect())
}
