//! A leg's side of the journal: writing down what it does, and doing again what is written down.
//!
//! A leg that is run again gets the seeds, clocks and replies of the first time; tools are not
//! called, since what they answered is part of the record. What the guest writes is compared with the
//! hash of what it wrote. Where the record ends, the leg goes on by itself.

use std::sync::Arc;

use codecell_sandbox::{Entry, EvalFlags, Frame, Method, Program, Settlement, Slice, SliceEnd};

use super::journal::Journal;
use super::record::{Entered, Fate, Left, Record, Start, Turn};
use super::tape::{Mode, Outside, Part};
use crate::calls::{HostCall, NewCall, Reply};
use crate::dispatch::GuestCall;
use crate::failure::CellError;
use crate::leg::{After, Leg, guest_limits};
use crate::limits::CELL_LIFE_SECONDS;

/// The program of a cell whose first leg is run again.
#[derive(Debug)]
pub(crate) struct Beginning {
    pub(crate) unit: String,
    pub(crate) injection: String,
}

const DIVERGED: CellError =
    CellError::Diverged("run again from its journal, the program did something else than before");

impl Leg<'_> {
    /// Opens the journal of a cell that starts, if it has one, and writes its beginning.
    pub(crate) fn open_journal(&mut self, unit: &str, injection: &str) -> Result<(), CellError> {
        let cell = self.cell;
        let services = &cell.services;
        let (store, sink) = (&services.parts.store, cell.sink.clone());
        if store.is_none() && sink.is_none() {
            return Ok(());
        }
        let owned = match store {
            Some(store) => {
                let owner = store.own(&cell.id).map_err(CellError::StoreAtStart)?;
                let owner = owner.ok_or(CellError::Internal("a new cell is owned by another"))?;
                Some((Arc::clone(store), owner))
            }
            None => None,
        };
        let life_us = CELL_LIFE_SECONDS * 1_000_000;
        let expires_us = services.unix_us().saturating_add(life_us);
        let keeps_all = services.parts.keep_records;
        let journal = Journal::new(cell.id, owned, sink, keeps_all, (0, expires_us));
        let body = &self.body;
        journal.append(&Record::Start(Box::new(Start {
            identity: cell.identity(&body.source, body.catalog_entries()),
            unit: unit.to_owned(),
            injection: injection.to_owned(),
            options: body.options.clone(),
            hint: body.hint.clone(),
            inferred: body.inferred,
            warnings: body.warnings.clone(),
        })));
        cell.set_journal(Arc::new(journal));
        Ok(())
    }

    /// Writes down an entry and everything before it, and waits until that is stored.
    pub(crate) fn note_entry(&self, entry: &Entry, replies: usize) -> Result<(), CellError> {
        let Some(journal) = self.cell.journal() else {
            return Ok(());
        };
        journal.append(&Record::Entered(Entered {
            now_us: entry.now_us,
            seed: entry.seed,
            replies: replies as u64,
        }));
        let is_start = self.cell.lock().history.last_seq() == 0 && self.body.guest_time.is_zero();
        journal.commit().map_err(|error| match is_start {
            true => CellError::StoreAtStart(error),
            false => CellError::Store(error),
        })
    }

    /// Writes down what an entry gave.
    pub(crate) fn note_slice(&self, slice: &Slice) {
        if let Some(journal) = self.cell.journal() {
            journal.append(&Record::Left(left(slice)));
        }
    }

    /// Runs again what is recorded, up to the last entry, whose slice is still to be judged. `None`
    /// when no entry is recorded.
    pub(crate) fn rerun(&mut self) -> Result<Option<Slice>, CellError> {
        loop {
            self.happen()?;
            let Some(tape) = &mut self.body.tape else {
                return Ok(None);
            };
            tape.parts.pop_front();
            let is_last = tape.parts.len() == 1;
            let Some(part) = tape.parts.front_mut() else {
                tape.parts.push_back(Part::default());
                self.end_rerun(None)?;
                return self.begin_late();
            };
            let (entered, recorded) = (part.entered.clone(), part.left.take());
            let entered = entered.ok_or(DIVERGED)?;
            let was_killed = recorded.as_ref().is_some_and(|left| left.killed);
            if was_killed && tape.mode == Mode::Dry {
                return Err(CellError::StoppedThen);
            }
            let slice = self.enter_again(&entered)?;
            match recorded {
                Some(recorded) if !was_killed => compare(&recorded, &slice)?,
                Some(_) => {}
                None => self.note_slice(&slice),
            }
            if is_last {
                return Ok(Some(slice));
            }
            if let After::Done = self.judge(slice)? {
                return Err(DIVERGED);
            }
            let left_over = self.body.tape.as_ref().and_then(|tape| tape.parts.front());
            if left_over.is_none_or(|part| !part.turns.is_empty()) {
                return Err(DIVERGED);
            }
        }
    }

    /// Enters the guest as it was entered before.
    fn enter_again(&mut self, entered: &Entered) -> Result<Slice, CellError> {
        // One leg goes on: what comes after the record draws from the same source.
        self.seed = None;
        let replies = self.cell.lock().calls.take_exactly(entered.replies);
        let replies = replies.ok_or(DIVERGED)?;
        let batch: Vec<Settlement<'_>> = replies.iter().map(Reply::settlement).collect();
        let entry = Entry {
            now_us: entered.now_us,
            seed: entered.seed,
            ..self.entry()
        };
        if let Some(beginning) = self.body.beginning.take() {
            return self.begin(&beginning, &entry);
        }
        self.wake_guest()?;
        let guest = self.guest.as_mut().ok_or(DIVERGED)?;
        let slice = guest.resume(self.thread, &batch, &entry, &self.cell.stop);
        slice.map_err(|_| DIVERGED)
    }

    /// Starts the program of a cell that died before its first instruction.
    fn begin_late(&mut self) -> Result<Option<Slice>, CellError> {
        let Some(beginning) = self.body.beginning.take() else {
            return Ok(None);
        };
        let entry = self.entry();
        self.note_entry(&entry, 0)?;
        let slice = self.begin(&beginning, &entry)?;
        self.note_slice(&slice);
        Ok(Some(slice))
    }

    fn begin(&mut self, beginning: &Beginning, entry: &Entry) -> Result<Slice, CellError> {
        let program = Program {
            source: &beginning.unit,
            injection: &beginning.injection,
            catalog: self.body.catalog.as_ref(),
            limits: guest_limits(&self.body.options),
            first_line: 0,
            flags: EvalFlags::default(),
        };
        let mut guest = self.cell.services.parts.sandbox.start(&program)?;
        let slice = guest.eval(self.thread, entry, &self.cell.stop);
        self.guest = Some(guest);
        slice.map_err(|_| DIVERGED)
    }

    /// Takes in what happened outside the guest after the entry at hand.
    fn happen(&mut self) -> Result<(), CellError> {
        loop {
            let part = self
                .body
                .tape
                .as_mut()
                .and_then(|tape| tape.parts.front_mut());
            let Some(event) = part.and_then(|part| part.outside.pop_front()) else {
                return Ok(());
            };
            match event {
                Outside::Replied(head, payload) => {
                    if super::kind_of(head.kind) == Some(codecell_sandbox::SettlementKind::Yield) {
                        self.body.yielded = false;
                    }
                    let taken = self.cell.lock().calls.replay_reply(&head, payload);
                    taken.map_err(|_| DIVERGED)?;
                }
                Outside::Step(call, step) => {
                    let mode = self.body.tape.as_ref().map(|tape| tape.mode);
                    if mode == Some(Mode::Recover) {
                        self.cell.lock().calls.replay_step(call, step);
                    }
                }
                // What had been written by then went out with a result of its own; a replay gives
                // everything at its end.
                Outside::Suspended => {}
            }
        }
    }

    /// Ends the repetition, if there is one: from here on the leg is on its own.
    ///
    /// # Errors
    /// When it differs from the record, or when nothing may follow it.
    pub(crate) fn end_rerun(&mut self, after: Option<&After>) -> Result<(), CellError> {
        if self.body.tape.is_none() {
            return Ok(());
        }
        self.happen()?;
        let mode = self.body.tape.take().map(|tape| tape.mode);
        match mode {
            Some(Mode::Recover) => {
                let now_us = self.cell.unix_us();
                self.cell.lock().calls.settle_lost(now_us);
            }
            Some(Mode::Dry) if !matches!(after, Some(After::Done)) => {
                return Err(CellError::StoppedThen);
            }
            Some(Mode::Dry | Mode::Fork) | None => {}
        }
        Ok(())
    }

    /// Takes in the calls of a turn whose fates are recorded.
    pub(crate) fn replay_turn(
        &mut self,
        calls: Vec<GuestCall>,
        turn: &Turn,
    ) -> Result<(), CellError> {
        let ids = turn.calls.iter().map(|(id, _)| *id);
        if !ids.eq(calls.iter().map(|call| call.id)) {
            return Err(DIVERGED);
        }
        self.body.note_refused(turn.refused);
        let now = self.cell.services.now();
        for (mut call, (_, fate)) in calls.into_iter().zip(&turn.calls) {
            if *fate == Fate::Again {
                crate::dispatch::one(self, call);
                continue;
            }
            crate::dispatch::count(self, call.method, fate);
            let host = HostCall {
                guest_id: call.id,
                method: call.method,
                target: call.target.clone(),
                arguments: call.arguments.clone(),
            };
            // It may be made yet, with what its tool takes.
            if call.method == Method::Mcp && matches!(fate, Fate::Tool { .. }) {
                call.arguments =
                    crate::dispatch::only_object(&call.arguments).map_err(|_| DIVERGED)?;
            }
            let new = NewCall {
                guest_id: call.id,
                method: call.method,
                tool: call.target.as_ref().into(),
                effect: codecell_protocol::EffectKind::Write,
                arguments: call.arguments,
            };
            self.cell.lock().calls.replay_call(new, host, fate, now);
        }
        Ok(())
    }
}

/// Writes down what became of a turn's calls.
pub(crate) fn note_turn(journal: &Journal, refused: bool, calls: Vec<(u32, Fate)>) {
    journal.append(&Record::Turn(Turn { refused, calls }));
}

fn compare(recorded: &Left, slice: &Slice) -> Result<(), CellError> {
    let now = left(slice);
    // Stopped by the host this time: that is no difference in what the program does.
    if now.killed || *recorded == now {
        return Ok(());
    }
    Err(DIVERGED)
}

fn left(slice: &Slice) -> Left {
    let mut hasher = blake3::Hasher::new();
    for frame in &slice.frames {
        hash_frame(&mut hasher, frame);
    }
    let (end, timer) = match &slice.end {
        SliceEnd::Done => ("done", None),
        SliceEnd::Pending { next_timer_us } => ("pending", *next_timer_us),
        SliceEnd::Yielded { next_timer_us } => ("yielded", *next_timer_us),
        SliceEnd::Deadlock => ("deadlock", None),
        SliceEnd::Killed(_) => ("killed", None),
    };
    hasher.update(&timer.unwrap_or(0).to_le_bytes());
    Left {
        wrote: hasher.finalize().to_hex().to_string(),
        end: end.to_owned(),
        killed: matches!(slice.end, SliceEnd::Killed(_)),
    }
}

fn hash_frame(hasher: &mut blake3::Hasher, frame: &Frame) {
    let mut part = |tag: u8, number: u32, texts: [&str; 2]| {
        hasher.update(&[tag]);
        hasher.update(&number.to_le_bytes());
        for text in texts {
            hasher.update(&(text.len() as u64).to_le_bytes());
            hasher.update(text.as_bytes());
        }
    };
    match frame {
        Frame::Call {
            id,
            method,
            target,
            arguments,
        } => {
            part(1, *id, [target, arguments]);
            part(2, *method as u32, ["", ""]);
        }
        Frame::Output { json, text } => part(3, u32::from(*json), [text, ""]),
        Frame::Console { level, text } => part(4, *level as u32, [text, ""]),
        Frame::Value(json) => part(5, 0, [json, ""]),
        Frame::ValueTooLarge => part(6, 0, ["", ""]),
        Frame::Error { source, json } => part(7, *source as u32, [json, ""]),
        Frame::Yield { reason } => part(8, 0, [reason, ""]),
        Frame::Turn { refused, unsent } => {
            part(9, *unsent, [if *refused { "refused" } else { "" }, ""]);
        }
        Frame::Print(text) => part(10, 0, [text, ""]),
    }
}
