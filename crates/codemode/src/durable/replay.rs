//! Running a recorded cell again: to its end, up to some result, or on from there with real calls.
//!
//! A record is a journal from the beginning, as bytes. A replay calls no tool: what tools answered is
//! in the record. It is compared with the record at every entry into the guest and at its end. A fork
//! is a replay that goes on by itself: calls whose results are not part of it are made.

use std::collections::HashSet;
use std::sync::Arc;

use codecell_protocol::{CellResult, FailureKind, SavedResult};
use codecell_sandbox::CatalogImage;
use serde_json::Value;
use tokio::sync::oneshot;

use super::record::{Fate, Record, Start};
use super::rerun::Beginning;
use super::tape::{Base, Mode, Outside, Tape};
use crate::cell::Cell;
use crate::code_mode::{CodeMode, answer_of, bounds, unshared};
use crate::failure::CellError;
use crate::job::LegJob;
use crate::leg::Body;
use crate::outcome::CellOutcome;
use crate::results;
use crate::run_results::RunResults;
use crate::run_state::RunState;
use crate::scope::RunContext;

/// First bytes of a record.
pub const RECORD_MAGIC: &[u8; 16] = b"codecell record\n";

/// Version of the records that this program writes and reads.
pub const RECORD_VERSION: u32 = 1;

/// Why a record cannot be replayed.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[non_exhaustive]
pub enum RecordFault {
    /// It is none.
    #[error("this is no record of a cell; codecell exec --record FILE writes one")]
    NotARecord,
    /// Another version of the format.
    #[error("the record has format {found}, this program reads {RECORD_VERSION}")]
    Version {
        /// Its version.
        found: u32,
    },
    /// It was cut or changed.
    #[error("the record is damaged: {0}")]
    Damaged(&'static str),
    /// It was made with another guest.
    #[error(
        "the record was made with another build of the guest; replay it with the program that wrote it"
    )]
    Image,
}

/// How far to replay.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct ReplayOptions {
    /// Only so many results of calls are delivered; all, if `None`.
    pub until: Option<u64>,
    /// Go on with real calls.
    pub fork: bool,
}

/// What a replay gave.
#[derive(Debug)]
pub struct Replayed {
    /// The result at its end.
    pub outcome: CellOutcome,
    /// The program has not ended: the record, or the part that was asked for, has.
    pub is_open: bool,
    /// The last result of the record, if all of it was replayed and it has one.
    pub recorded: Option<CellResult>,
    /// Whether the end is the recorded one; `None` when there is nothing to compare.
    pub is_same: Option<bool>,
}

/// The bytes before the first record.
#[must_use]
pub fn record_head() -> [u8; 20] {
    let mut head = [0; 20];
    head[..16].copy_from_slice(RECORD_MAGIC);
    head[16..].copy_from_slice(&RECORD_VERSION.to_le_bytes());
    head
}

/// One record as it stands in a file: kind, length, bytes.
#[must_use]
pub fn record_entry(kind: u8, bytes: &[u8]) -> Vec<u8> {
    let mut entry = Vec::with_capacity(5 + bytes.len());
    entry.push(kind);
    entry.extend_from_slice(&(bytes.len() as u32).to_le_bytes());
    entry.extend_from_slice(bytes);
    entry
}

fn parse(bytes: &[u8]) -> Result<Vec<Record>, RecordFault> {
    const CUT: RecordFault = RecordFault::Damaged("its end is missing");
    let rest = bytes
        .strip_prefix(RECORD_MAGIC)
        .ok_or(RecordFault::NotARecord)?;
    let (version, mut rest) = rest.split_first_chunk::<4>().ok_or(CUT)?;
    let found = u32::from_le_bytes(*version);
    if found != RECORD_VERSION {
        return Err(RecordFault::Version { found });
    }
    let mut records = Vec::new();
    while let Some((&kind, tail)) = rest.split_first() {
        let (length, tail) = tail.split_first_chunk::<4>().ok_or(CUT)?;
        let (bytes, tail) = tail
            .split_at_checked(u32::from_le_bytes(*length) as usize)
            .ok_or(CUT)?;
        let record = Record::decode(kind, bytes);
        records
            .push(record.map_err(|_| RecordFault::Damaged("one of its entries cannot be read"))?);
        rest = tail;
    }
    Ok(records)
}

impl CodeMode {
    /// Runs a recorded cell again, as `options` say. A fork uses the tools of `ctx`, as far as the
    /// cell had them at its start; nothing else calls a tool.
    ///
    /// # Errors
    /// When the record is none, or not of this guest.
    pub async fn replay(
        &self,
        record: &[u8],
        options: ReplayOptions,
        ctx: &RunContext,
    ) -> Result<Replayed, RecordFault> {
        let (start, mut tape) = lay_out(parse(record)?)?;
        let image = self.services().parts.sandbox.image();
        if start.identity.image != super::hex(image.as_bytes()) {
            return Err(RecordFault::Image);
        }
        tape.mode = match options.fork {
            true => Mode::Fork,
            false => Mode::Dry,
        };
        if let Some(until) = options.until {
            cut(&mut tape, until);
        }
        let was_suspended = was_suspended(&tape);
        let recorded = tape.ended.take();
        let recorded = recorded.and_then(|ended| CellResult::from_json(&ended.result).ok());
        let run = self.run_for(&tape, recorded.as_ref(), ctx);
        let outcome = match self.run_again(*start, tape, &run, ctx).await {
            Ok(outcome) => unshared(outcome),
            Err(error) => results::refused(&error, None, results::bare_telemetry(None)),
        };
        let is_open = matches!(&outcome.result, CellResult::Failed(failed) if is_stop(failed));
        let is_same = match (&recorded, options.fork) {
            (Some(recorded), false) => Some(
                is_open && is_stopped(recorded) || same(recorded, &outcome.result, was_suspended),
            ),
            _ => None,
        };
        Ok(Replayed {
            outcome,
            is_open,
            recorded,
            is_same,
        })
    }

    /// The run that a replayed cell belongs to. A dry one has its own: what it saves is nobody's, and
    /// has the number that it had.
    fn run_for(
        &self,
        tape: &Tape,
        recorded: Option<&CellResult>,
        ctx: &RunContext,
    ) -> Arc<RunState> {
        if tape.mode != Mode::Dry {
            return self.run_of(&ctx.scope);
        }
        let saved = recorded.and_then(saved_of);
        let number = saved.and_then(|saved| crate::saved::number(&saved.id));
        let results = RunResults::from_number(number.unwrap_or(1));
        Arc::new(RunState::new(Arc::clone(&ctx.scope), 0, results))
    }

    async fn run_again(
        &self,
        start: Start,
        tape: Tape,
        run: &Arc<RunState>,
        ctx: &RunContext,
    ) -> Result<Arc<CellOutcome>, CellError> {
        let services = self.services();
        let id = codecell_protocol::CellId::from_random(services.parts.randomness.bits());
        let identity = &start.identity;
        let options = start.options.clone().clamped();
        let cell = Cell::returned(services, run, ctx, id, Some(identity), bounds(&options));
        let cell = Arc::new(cell);
        let facts = services.facts.of(cell.start_tools.catalog());
        let mut body = Box::new(Body::new(Arc::clone(&identity.source), options, facts));
        (body.hint, body.inferred, body.warnings) = (start.hint, start.inferred, start.warnings);
        if let Some(entries) = &identity.catalog {
            body.catalog = Some(CatalogImage::new(entries.iter().map(String::as_str))?);
        }
        if tape.mode == Mode::Dry {
            cell.lock().calls.close();
        }
        body.tape = Some(Box::new(tape));
        body.beginning = Some(Box::new(Beginning {
            unit: start.unit,
            injection: start.injection,
        }));
        let room = self.memory_for(&body.options, ctx, run).await?;
        let (answer, answered) = oneshot::channel();
        cell.lock().waiter = Some(answer);
        let ticket = self.spawn(&ctx.scope, LegJob::wait(&cell, body, ctx.deadline, room))?;
        answer_of(&cell, answered, ctx, Some(&ticket)).await
    }
}

fn lay_out(records: Vec<Record>) -> Result<(Box<Start>, Tape), RecordFault> {
    match Tape::lay_out(records) {
        Ok((Base::Start(start), tape)) => Ok((start, tape)),
        _ => Err(RecordFault::Damaged(
            "it does not begin with the start of a cell",
        )),
    }
}

/// Leaves out what comes after so many results.
fn cut(tape: &mut Tape, until: u64) {
    let mut left = until;
    let mut kept = 0;
    for part in &mut tape.parts {
        let Some(entered) = &mut part.entered else {
            kept += 1;
            continue;
        };
        if entered.replies > 0 && left == 0 {
            break;
        }
        kept += 1;
        if entered.replies > left {
            entered.replies = left;
            part.left = None;
            left = 0;
            break;
        }
        left -= entered.replies;
    }
    let is_whole = kept == tape.parts.len() && left > 0;
    tape.parts.truncate(kept);
    if is_whole {
        return;
    }
    tape.ended = None;
    let dropped = drop_replies(tape, until);
    for turn in tape.parts.iter_mut().flat_map(|part| &mut part.turns) {
        for (id, fate) in &mut turn.calls {
            if dropped.contains(id) && matches!(fate, Fate::Refused { .. } | Fate::HostRefused) {
                *fate = Fate::Again;
            }
        }
    }
}

/// Drops the replies after so many, and gives the calls that they belong to.
fn drop_replies(tape: &mut Tape, keep: u64) -> HashSet<u32> {
    let mut seen = 0;
    let mut dropped = HashSet::new();
    for part in &mut tape.parts {
        part.outside.retain(|event| {
            let Outside::Replied(head, _) = event else {
                return true;
            };
            seen += 1;
            if seen > keep {
                dropped.insert(head.call);
            }
            seen <= keep
        });
    }
    dropped
}

fn was_suspended(tape: &Tape) -> bool {
    let mut outside = tape.parts.iter().flat_map(|part| &part.outside);
    outside.any(|event| matches!(event, Outside::Suspended))
}

/// What the host saved of a result that was too large.
fn saved_of(result: &CellResult) -> Option<&SavedResult> {
    match result {
        CellResult::Completed(completed) => completed.saved.as_ref(),
        CellResult::Failed(failed) => failed.failure.saved.as_ref(),
        CellResult::Waiting(_) => None,
    }
}

fn is_stop(failed: &codecell_protocol::Failed) -> bool {
    failed.failure.kind == FailureKind::Internal
        && failed
            .error
            .starts_with(CellError::StoppedThen.to_string().as_str())
}

/// Whether the host ended the recorded cell: a replay ends there, too, but cannot say why.
fn is_stopped(recorded: &CellResult) -> bool {
    use FailureKind as K;
    matches!(
        recorded.failure_kind(),
        Some(
            K::GuestDeadline
                | K::RunDeadline
                | K::Aborted
                | K::SnapshotExpired
                | K::SnapshotLimitExceeded
                | K::MemoryLimitExceeded
                | K::StackOverflow
                | K::Internal
        )
    )
}

/// Whether the end of a replay says what the recorded one says, but for what is measured. A replay
/// gives all output at its end; what a cell wrote before it was suspended went out then.
fn same(recorded: &CellResult, replayed: &CellResult, was_suspended: bool) -> bool {
    let said = |result: &CellResult| -> Option<(Value, Vec<Value>)> {
        let mut value = serde_json::to_value(result).ok()?;
        let fields = value.as_object_mut()?;
        fields.remove("telemetry");
        let output = match fields.remove("output") {
            Some(Value::Array(items)) => items,
            _ => Vec::new(),
        };
        Some((value, output))
    };
    let (Some((one, written)), Some((other, all))) = (said(recorded), said(replayed)) else {
        return false;
    };
    one == other && (written == all || was_suspended && all.ends_with(&written))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_record_is_refused() {
        assert_eq!(parse(b"hello").err(), Some(RecordFault::NotARecord));
        let mut newer = record_head();
        newer[16] = 9;
        assert_eq!(parse(&newer).err(), Some(RecordFault::Version { found: 9 }));
        let head = record_head();
        assert_eq!(parse(&head).map(|records| records.len()), Ok(0));
        let mut cut = head.to_vec();
        cut.extend_from_slice(&record_entry(2, b"abc")[..6]);
        assert!(matches!(parse(&cut), Err(RecordFault::Damaged(_))));
    }
}
