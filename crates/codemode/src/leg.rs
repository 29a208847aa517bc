//! One leg: an `exec` or a `wait` from its first step to its result, on a guest's thread.
//!
//! One loop: run a slice of guest code, take its frames, dispatch its calls, wait for the next
//! event. The leg owns the guest and the cell's [`Body`]; everything that others touch is in
//! [`Cell`]. It never waits for anything but events, and it runs no guest code past its clock.

use std::sync::Arc;
use std::time::{Duration, Instant};

use codecell_protocol::{CellId, Language, WaitingReason, Warning};
use codecell_sandbox::{
    Binding, CatalogImage, Entry, ErrorSource, EvalFlags, Frame, Guest, GuestThread, Kill, Limits,
    Program, Settlement, Slice, SliceEnd, Snapshot, SnapshotError,
};
use codecell_script::Prepared;

use crate::calls::{HostCall, Reply};
use crate::catalog_facts::CatalogFacts;
use crate::cell::{Cell, Event, StopReason};
use crate::dispatch::{self, GuestCall};
use crate::durable::{Beginning, Tape};
use crate::failure::CellError;
use crate::guest_error::{self, Known};
use crate::held::Held;
use crate::leg_clock::LegClock;
use crate::limits;
use crate::options::{CodeModeOptions, Park};
use crate::output::Output;
use crate::provision::Provision;
use crate::services::Place;

/// What a cell's legs hand on to each other.
pub(crate) struct Body {
    /// The text that the model sent.
    pub(crate) source: Arc<str>,
    pub(crate) options: CodeModeOptions,
    pub(crate) facts: Arc<CatalogFacts>,
    pub(crate) catalog: Option<CatalogImage>,
    pub(crate) output: Output,
    pub(crate) warnings: Vec<Warning>,
    pub(crate) hint: Option<String>,
    pub(crate) inferred: Option<Language>,
    pub(crate) value: Option<ProgramValue>,
    pub(crate) guest_time: Duration,
    /// Host time spent on answers to searches and the like; it counts against the same budget.
    pub(crate) answer_time: Duration,
    pub(crate) peak_bytes: u64,
    pub(crate) suspend_time: Option<Duration>,
    pub(crate) resume_time: Option<Duration>,
    pub(crate) snapshot_bytes: Option<u64>,
    pub(crate) held: Option<Arc<Held>>,
    error: Option<(ErrorSource, Box<str>)>,
    pub(crate) faults: u32,
    pub(crate) turn_refused: bool,
    pub(crate) yielded: bool,
    pub(crate) next_timer_us: Option<u64>,
    timer_since: Option<Instant>,
    pub(crate) items: u64,
    pub(crate) output_bytes: u64,
    /// What is recorded and has to be run again first.
    pub(crate) tape: Option<Box<Tape>>,
    /// The program, when it has to be run again from its beginning.
    pub(crate) beginning: Option<Box<Beginning>>,
}

/// What the program returned.
pub(crate) enum ProgramValue {
    /// Its JSON.
    Json(Box<str>),
    /// It passed the bound of what can be kept.
    TooLarge,
}

/// How a leg ends when nothing failed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LegEnd {
    Completed,
    Suspended(WaitingReason),
}

pub(crate) enum After {
    Done,
    Yielded,
    Idle,
}

impl Body {
    pub(crate) fn new(
        source: Arc<str>,
        options: CodeModeOptions,
        facts: Arc<CatalogFacts>,
    ) -> Self {
        Self {
            source,
            options,
            facts,
            catalog: None,
            output: Output::default(),
            warnings: Vec::new(),
            hint: None,
            inferred: None,
            value: None,
            guest_time: Duration::ZERO,
            answer_time: Duration::ZERO,
            peak_bytes: 0,
            suspend_time: None,
            resume_time: None,
            snapshot_bytes: None,
            held: None,
            error: None,
            faults: 0,
            turn_refused: false,
            yielded: false,
            next_timer_us: None,
            timer_since: None,
            items: 0,
            output_bytes: 0,
            tape: None,
            beginning: None,
        }
    }

    /// The texts behind `ALL_TOOLS` and `API`, if the program uses them.
    pub(crate) fn catalog_entries(&self) -> Option<Vec<String>> {
        let region = self.catalog.as_ref()?;
        Some(region.entries().map(str::to_owned).collect())
    }

    /// A whole turn was refused.
    pub(crate) fn note_refused(&mut self, refused: bool) {
        self.turn_refused |= refused;
    }

    /// Since when the cell has waited for timers only.
    pub(crate) fn timer_since(&self) -> Option<Instant> {
        self.timer_since
    }
}

/// One leg.
pub(crate) struct Leg<'a> {
    pub(crate) cell: &'a Arc<Cell>,
    pub(crate) body: Box<Body>,
    pub(crate) thread: &'a GuestThread,
    clock: LegClock,
    run_deadline: Option<Instant>,
    pub(crate) guest: Option<Guest>,
    pub(crate) seed: Option<[u8; 32]>,
    /// Time spent waiting for events.
    pub(crate) idle: Duration,
}

impl<'a> Leg<'a> {
    pub(crate) fn new(
        cell: &'a Arc<Cell>,
        thread: &'a GuestThread,
        body: Box<Body>,
        run_deadline: Option<Instant>,
    ) -> Self {
        let options = &body.options;
        let hold = options.approval_hold_ms.map(Duration::from_millis);
        let clock = LegClock::new(
            cell.services.now(),
            Duration::from_millis(options.timeout_ms),
            hold,
        );
        Self {
            cell,
            thread,
            clock,
            run_deadline,
            guest: None,
            seed: Some(cell.services.parts.randomness.seed()),
            idle: Duration::ZERO,
            body,
        }
    }

    pub(crate) fn into_body(self) -> Box<Body> {
        self.body
    }

    pub(crate) fn start_instant(&self) -> Instant {
        self.clock.start()
    }

    /// Runs a program from its beginning.
    pub(crate) fn exec(&mut self, prepared: &Prepared) -> Result<LegEnd, CellError> {
        self.check_stopped()?;
        let slice = self.start(prepared)?;
        self.run(Some(slice))
    }

    /// Goes on where the cell was suspended. The guest comes back to life when there is something
    /// for it to do.
    pub(crate) fn resume(&mut self) -> Result<LegEnd, CellError> {
        self.check_stopped()?;
        let again = self.rerun()?;
        if again.is_none() && std::mem::take(&mut self.body.yielded) {
            let now_us = self.cell.unix_us();
            self.cell.lock().calls.push_yield(now_us);
        }
        if again.is_none() {
            self.cell.pump_here();
        }
        self.run(again)
    }

    pub(crate) fn check_stopped(&self) -> Result<(), CellError> {
        match self.cell.stop_reason() {
            Some(reason) => Err(reason.error()),
            None => Ok(()),
        }
    }

    fn run(&mut self, first: Option<Slice>) -> Result<LegEnd, CellError> {
        let mut slice = first;
        loop {
            if let Some(slice) = slice.take() {
                let after = self.judge(slice)?;
                self.end_rerun(Some(&after))?;
                self.cell.pump_here();
                match after {
                    After::Done => {
                        dispatch::finish_host_calls(self);
                        return self.ended();
                    }
                    After::Yielded => {
                        self.body.yielded = true;
                        dispatch::answer_host_calls(self, u64::MAX)?;
                        return self.suspend(WaitingReason::Yield);
                    }
                    After::Idle => {}
                }
            }
            dispatch::answer_host_calls(self, limits::HOST_BATCH_CALLS)?;
            if self.body.options.park == Park::EveryAwait {
                self.park()?;
            }
            slice = match self.next_event() {
                Event::Settled | Event::TimerDue if self.may_start() => Some(self.enter()?),
                Event::Settled | Event::TimerDue | Event::Deadline => {
                    return self.suspend(WaitingReason::PendingTools);
                }
                Event::Stopped(reason) => return Err(reason.error()),
            };
        }
    }

    pub(crate) fn may_start(&self) -> bool {
        let now = self.cell.services.now();
        self.clock.may_start(now) && self.run_deadline.is_none_or(|end| now < end)
    }

    /// Charges time that the host spent on the program's questions to the cell's processor time.
    pub(crate) fn charge(&mut self, spent: Duration) -> Result<(), CellError> {
        self.body.answer_time += spent;
        let max_guest_ms = self.body.options.max_guest_ms;
        if self.body.guest_time + self.body.answer_time > Duration::from_millis(max_guest_ms) {
            return Err(CellError::GuestBudget { max_guest_ms });
        }
        Ok(())
    }

    pub(crate) fn take_host_call(&self) -> Option<HostCall> {
        self.cell.lock().calls.take_host()
    }

    fn next_event(&mut self) -> Event {
        let before = Instant::now();
        let event =
            self.cell
                .next_event(&mut self.clock, self.body.next_timer_us, self.run_deadline);
        self.idle += before.elapsed();
        event
    }

    /// Makes the guest and runs its program up to the first time that it has nothing to do.
    fn start(&mut self, prepared: &Prepared) -> Result<Slice, CellError> {
        let facts = Arc::clone(&self.body.facts);
        let Provision { injection, region } = Provision::of(prepared, &facts)?;
        self.body.catalog = region;
        let unit = prepared.compile_unit();
        self.open_journal(&unit, &injection)?;
        let program = Program {
            source: &unit,
            injection: &injection,
            catalog: self.body.catalog.as_ref(),
            limits: guest_limits(&self.body.options),
            // The wrapper's own line: the program's first line is 1.
            first_line: 0,
            flags: EvalFlags::default(),
        };
        let mut guest = self.cell.services.parts.sandbox.start(&program)?;
        let entry = self.entry();
        self.note_entry(&entry, 0)?;
        let slice = guest.eval(self.thread, &entry, &self.cell.stop);
        self.guest = Some(guest);
        slice
            .inspect(|slice| self.note_slice(slice))
            .map_err(|_| CellError::Internal("the guest refused its program"))
    }

    /// Delivers the replies that wait, as one batch, and runs what they wake.
    fn enter(&mut self) -> Result<Slice, CellError> {
        self.wake_guest()?;
        let max_batch = self.body.options.memory_limit_bytes / 4;
        let replies = self.cell.lock().calls.take_replies(max_batch);
        let batch: Vec<Settlement<'_>> = replies.iter().map(Reply::settlement).collect();
        let entry = self.entry();
        self.note_entry(&entry, batch.len())?;
        let Some(guest) = &mut self.guest else {
            return Err(CellError::Internal("there is no guest"));
        };
        let slice = guest.resume(self.thread, &batch, &entry, &self.cell.stop);
        slice
            .inspect(|slice| self.note_slice(slice))
            .map_err(|error| {
                tracing::error!(%error, "a guest was not entered");
                CellError::Internal("the guest could not take its replies")
            })
    }

    /// Brings the guest back to life if it is not.
    pub(crate) fn wake_guest(&mut self) -> Result<(), CellError> {
        if self.guest.is_some() {
            return Ok(());
        }
        let held = self
            .body
            .held
            .take()
            .ok_or(CellError::Internal("the suspended cell is gone"))?;
        let started = Instant::now();
        let sandbox = &self.cell.services.parts.sandbox;
        let snapshot = held.take(sandbox).map_err(CellError::Restore)?;
        let guest = sandbox
            .restore(&snapshot, self.body.catalog.as_ref())
            .map_err(CellError::Restore)?;
        self.guest = Some(guest);
        self.body.resume_time = Some(started.elapsed());
        Ok(())
    }

    pub(crate) fn entry(&mut self) -> Entry {
        let services = &self.cell.services;
        let now = services.now();
        self.clock.set_held(false, now);
        let clock_end = self.clock.deadline().unwrap_or(now);
        let budget = Duration::from_millis(self.body.options.max_guest_ms);
        Entry {
            now_us: self
                .cell
                .unix_us()
                .max(self.cell.lock().calls.last_stamp_us()),
            seed: self.seed.take(),
            deadline: self
                .run_deadline
                .map_or(clock_end, |run| run.min(clock_end)),
            guest_budget: budget.saturating_sub(self.body.guest_time + self.body.answer_time),
        }
    }

    /// Takes in what a slice gave.
    pub(crate) fn judge(&mut self, slice: Slice) -> Result<After, CellError> {
        let body = &mut self.body;
        body.guest_time += slice.guest_time;
        body.peak_bytes = body.peak_bytes.max(slice.heap.peak_bytes);
        body.faults |= slice.faults;
        let is_dead = matches!(slice.end, SliceEnd::Killed(_));
        self.absorb(slice.frames, is_dead)?;
        match slice.end {
            SliceEnd::Done => Ok(After::Done),
            SliceEnd::Pending { next_timer_us } => {
                self.set_timer(next_timer_us);
                Ok(After::Idle)
            }
            SliceEnd::Yielded { next_timer_us } => {
                self.set_timer(next_timer_us);
                Ok(After::Yielded)
            }
            SliceEnd::Deadlock => Err(CellError::Deadlock),
            SliceEnd::Killed(kill) => Err(self.killed(kill)),
        }
    }

    fn set_timer(&mut self, next_timer_us: Option<u64>) {
        self.body.next_timer_us = next_timer_us;
        match next_timer_us {
            Some(_) => {
                let now = self.cell.services.now();
                self.body.timer_since.get_or_insert(now);
            }
            None => self.body.timer_since = None,
        }
    }

    fn absorb(&mut self, frames: Vec<Frame>, is_dead: bool) -> Result<(), CellError> {
        let mut turn: Vec<GuestCall> = Vec::new();
        for frame in frames {
            match frame {
                Frame::Call {
                    id,
                    method,
                    target,
                    arguments,
                } => {
                    turn.push(GuestCall {
                        id,
                        method,
                        target,
                        arguments,
                    });
                }
                Frame::Turn { refused, unsent } if !is_dead => {
                    dispatch::turn(self, std::mem::take(&mut turn), refused)?;
                    self.cell.lock().calls.never_sent(unsent);
                }
                other => self.absorb_plain(other),
            }
        }
        if is_dead {
            dispatch::never_started(self, &turn);
            return Ok(());
        }
        dispatch::turn(self, turn, false)
    }

    fn absorb_plain(&mut self, frame: Frame) {
        let body = &mut self.body;
        match frame {
            Frame::Output { json, text } => {
                // The guest keeps to these bounds by itself; a broken one must not fill the host.
                body.items += 1;
                body.output_bytes += text.len() as u64;
                if body.items <= limits::OUTPUT_ITEMS
                    && body.output_bytes <= limits::kept_bytes(&body.options)
                {
                    body.output.push(json, &text);
                }
            }
            Frame::Console { level, text } => {
                let max_bytes = limits::console_bytes(&body.options);
                body.output.push_console(level, &text, max_bytes);
            }
            Frame::Value(json) => body.value = Some(ProgramValue::Json(json)),
            Frame::ValueTooLarge => body.value = Some(ProgramValue::TooLarge),
            Frame::Error { source, json } => body.error = Some((source, json)),
            Frame::Yield { .. } | Frame::Print(_) | Frame::Turn { .. } | Frame::Call { .. } => {}
        }
    }

    /// The program has ended, and so have the calls that it left behind.
    fn ended(&mut self) -> Result<LegEnd, CellError> {
        let Some((source, json)) = self.body.error.take() else {
            let has_value = self.body.value.is_some();
            return has_value
                .then_some(LegEnd::Completed)
                .ok_or(CellError::Internal("the guest gave no result"));
        };
        let shared = self.cell.lock();
        Err(guest_error::judge(
            source,
            &json,
            &Known {
                source: &self.body.source,
                faults: self.body.faults,
                calls: &shared.calls,
                turn_refused: self.body.turn_refused,
                memory_limit_bytes: self.body.options.memory_limit_bytes,
            },
        ))
    }

    /// The host stopped the guest: its own reason decides.
    fn killed(&self, kill: Kill) -> CellError {
        let options = &self.body.options;
        match kill {
            Kill::Deadline
                if self
                    .run_deadline
                    .is_some_and(|end| self.cell.services.now() >= end) =>
            {
                CellError::RunDeadline
            }
            Kill::Deadline => CellError::GuestDeadline {
                timeout_ms: options.timeout_ms,
            },
            Kill::GuestBudget => CellError::GuestBudget {
                max_guest_ms: options.max_guest_ms,
            },
            Kill::Aborted => self
                .cell
                .stop_reason()
                .unwrap_or(StopReason::Aborted)
                .error(),
            Kill::Memory => CellError::Memory {
                limit_bytes: options.memory_limit_bytes,
            },
            Kill::Stack => CellError::Stack,
            Kill::Trap(trap) => {
                tracing::error!(trap, cell = %self.cell.id, "a guest trapped");
                CellError::Internal("the engine gave up on the program")
            }
            Kill::Protocol(how) => {
                tracing::error!(how, cell = %self.cell.id, "a guest broke the protocol");
                CellError::Internal("the engine broke the protocol")
            }
        }
    }

    /// Freezes the guest, if it is awake, and lets go of it.
    fn suspend(&mut self, reason: WaitingReason) -> Result<LegEnd, CellError> {
        if self.body.options.park == Park::Never {
            return Err(CellError::NoReturn);
        }
        let is_first = self.cell.lock().history.last_seq() == 0;
        let services = Arc::clone(&self.cell.services);
        if is_first {
            // With the cell, so that it is given back however this leg ends.
            let place = Place::take(&services, self.body.options.max_suspended_runs)
                .ok_or(CellError::TooManySuspended)?;
            self.cell.lock().place = Some(place);
        }
        if let Some(snapshot) = self.freeze()? {
            let held = Held::hold(&services, snapshot);
            self.body.snapshot_bytes = Some(held.raw_bytes());
            self.body.held = Some(held);
        }
        Ok(LegEnd::Suspended(reason))
    }

    fn freeze(&mut self) -> Result<Option<Snapshot>, CellError> {
        let Some(mut guest) = self.guest.take() else {
            return Ok(None);
        };
        let started = Instant::now();
        let snapshot = self.snapshot_of(&mut guest)?;
        self.body.suspend_time = Some(started.elapsed());
        Ok(Some(snapshot))
    }

    fn snapshot_of(&self, guest: &mut Guest) -> Result<Snapshot, CellError> {
        let max_bytes = self.body.options.max_snapshot_bytes;
        let too_large = |bytes| CellError::SnapshotTooLarge { bytes, max_bytes };
        let snapshot = guest
            .snapshot(&self.binding())
            .map_err(|error| match error {
                SnapshotError::LimitExceeded { bytes, .. } => too_large(bytes),
                error => {
                    tracing::error!(%error, "a cell cannot be suspended");
                    CellError::Internal("the cell could not be suspended")
                }
            })?;
        // The guest knows the limit of its start; one that is tighter now counts too.
        match snapshot.raw_bytes() {
            bytes if bytes > max_bytes => Err(too_large(bytes)),
            _ => Ok(snapshot),
        }
    }

    fn binding(&self) -> Binding {
        binding_of(&self.cell.id, self.cell.lock().history.next_seq())
    }

    /// The test of suspension: every time that the guest waits, it goes through bytes and back.
    fn park(&mut self) -> Result<(), CellError> {
        let Some(mut guest) = self.guest.take() else {
            return Ok(());
        };
        let snapshot = self.snapshot_of(&mut guest)?;
        drop(guest);
        let parts = &self.cell.services.parts;
        let catalog = self.body.catalog.as_ref();
        self.guest = Some(crate::park::journey(
            parts,
            &snapshot,
            self.binding(),
            catalog,
        )?);
        Ok(())
    }
}

/// Whose snapshot it is, and which.
pub(crate) fn binding_of(id: &CellId, sequence: u64) -> Binding {
    let mut owner = [0; 32];
    owner[..16].copy_from_slice(id.uuid().as_bytes());
    Binding { owner, sequence }
}

/// The limits that a guest lives under.
pub(crate) fn guest_limits(options: &CodeModeOptions) -> Limits {
    let narrow = |number: u64| u32::try_from(number).unwrap_or(u32::MAX);
    let kept = narrow(limits::kept_bytes(options));
    Limits {
        memory_bytes: narrow(options.memory_limit_bytes),
        stack_bytes: narrow(limits::ENGINE_STACK_BYTES),
        message_bytes: narrow(limits::message_bytes(options)),
        output_bytes: kept,
        console_bytes: narrow(limits::console_bytes(options)),
        output_items: narrow(limits::OUTPUT_ITEMS),
        timers: narrow(limits::TIMERS),
        calls: narrow(limits::QUEUED_CALLS + options.max_pending_tool_calls),
        call_argument_bytes: narrow(limits::queued_bytes(options)),
        json_depth: narrow(limits::JSON_DEPTH_LEVELS),
        result_bytes: kept,
        snapshot_bytes: options.max_snapshot_bytes,
    }
}
