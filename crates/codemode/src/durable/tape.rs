//! A recorded journal, laid out for another run.
//!
//! Cut at the entries into the guest: each part holds what the host decided about the turns that this
//! entry gave, and what happened outside the guest until the next one. Within a part the two may be
//! mixed in the journal in any way, since they came from different threads; across parts they may not.

use std::collections::VecDeque;

use super::record::{Ended, Entered, Left, Record, Replied, Start, Step, Suspended, Turn};

/// Something that happened outside the guest.
#[derive(Debug)]
pub(crate) enum Outside {
    /// A reply arrived.
    Replied(Replied, String),
    /// A call got further.
    Step(u32, Step),
    /// The leg ended in a suspension, and the cell went on later.
    Suspended,
}

/// One entry and what came of it.
#[derive(Debug, Default)]
pub(crate) struct Part {
    /// `None` only for what came before the first entry.
    pub(crate) entered: Option<Entered>,
    pub(crate) left: Option<Left>,
    pub(crate) turns: VecDeque<Turn>,
    pub(crate) outside: VecDeque<Outside>,
}

/// What the journal begins with.
#[derive(Debug)]
pub(crate) enum Base {
    Start(Box<Start>),
    Suspended(Box<Suspended>, Vec<u8>),
    Ended(Ended),
}

/// A journal to be run again.
#[derive(Debug)]
pub(crate) struct Tape {
    pub(crate) parts: VecDeque<Part>,
    pub(crate) ended: Option<Ended>,
    pub(crate) mode: Mode,
}

/// What a journal is run again for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Mode {
    /// Its leg died: it goes on, and what was under way is lost.
    Recover,
    /// To see what it did; no tool is called.
    Dry,
    /// To go on from there with real calls.
    Fork,
}

/// Why a journal cannot be run again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum TapeError {
    #[error("the journal has no beginning")]
    NoBase,
    #[error("the journal is out of order")]
    Order,
}

impl Tape {
    /// Lays out the records that follow the newest point from which the cell can go on.
    pub(crate) fn since_last_stop(records: Vec<Record>) -> Result<(Base, Self), TapeError> {
        let is_base = |record: &Record| {
            matches!(
                record,
                Record::Start(_) | Record::Suspended(..) | Record::Ended(_)
            )
        };
        let at = records.iter().rposition(is_base).ok_or(TapeError::NoBase)?;
        Self::lay_out(records.into_iter().skip(at))
    }

    /// Lays out a whole record.
    pub(crate) fn lay_out(
        records: impl IntoIterator<Item = Record>,
    ) -> Result<(Base, Self), TapeError> {
        let mut records = records.into_iter();
        let base = match records.next().ok_or(TapeError::NoBase)? {
            Record::Start(start) => Base::Start(start),
            Record::Suspended(suspended, snapshot) => Base::Suspended(suspended, snapshot),
            Record::Ended(ended) => Base::Ended(ended),
            _ => return Err(TapeError::NoBase),
        };
        let mut tape = Self {
            parts: VecDeque::from([Part::default()]),
            ended: None,
            mode: Mode::Recover,
        };
        for record in records {
            tape.add(record)?;
        }
        Ok((base, tape))
    }

    fn add(&mut self, record: Record) -> Result<(), TapeError> {
        let part = self.parts.back_mut().ok_or(TapeError::Order)?;
        match record {
            Record::Start(_) => return Err(TapeError::Order),
            Record::Entered(entered) => self.parts.push_back(Part {
                entered: Some(entered),
                ..Part::default()
            }),
            Record::Left(left) if part.left.is_none() => part.left = Some(left),
            Record::Left(_) => return Err(TapeError::Order),
            Record::Turn(turn) => part.turns.push_back(turn),
            Record::Replied(replied, payload) => {
                part.outside.push_back(Outside::Replied(replied, payload));
            }
            Record::Step(call, step) => part.outside.push_back(Outside::Step(call, step)),
            Record::Suspended(..) => part.outside.push_back(Outside::Suspended),
            Record::Ended(ended) => self.ended = Some(ended),
        }
        Ok(())
    }

    /// The fates of the calls of the next turn, if they are recorded.
    pub(crate) fn next_turn(&mut self) -> Option<Turn> {
        self.parts.front_mut()?.turns.pop_front()
    }
}
