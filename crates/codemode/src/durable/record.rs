//! The records of a cell's journal, as bytes.
//!
//! A journal is what a cell took in and what it decided, in order: enough to run it again to the same
//! point. A record's bytes are a version, the length of its head, the head as JSON and, where there is
//! one, a body as it is: payloads, arguments and snapshots are not escaped.

use std::collections::BTreeMap;
use std::sync::Arc;

use codecell_protocol::{CallState, CellId, EffectKind, Language, Warning};
use codecell_sandbox::SettlementKind;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use super::state::State;
use crate::options::CodeModeOptions;

/// Version of the records.
const VERSION: u8 = 1;

/// Why bytes are no record.
#[derive(Clone, Copy, Debug, PartialEq, Eq, thiserror::Error)]
pub(crate) enum RecordError {
    #[error("a record has another version")]
    Version,
    #[error("a record is malformed")]
    Malformed,
}

/// What a cell is, from its start on.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Identity {
    pub(crate) id: CellId,
    /// Owner, agent, session key and run.
    pub(crate) scope: [Arc<str>; 4],
    pub(crate) session_id: Arc<str>,
    pub(crate) sender: Option<Arc<str>>,
    pub(crate) channel: Option<Arc<str>>,
    pub(crate) call_id: Arc<str>,
    /// The text that the model sent.
    pub(crate) source: Arc<str>,
    /// The guest image, in hexadecimal digits.
    pub(crate) image: String,
    /// When the cell started, microseconds since the Unix epoch.
    pub(crate) born_us: u64,
    /// The tools of the start: each id with the hash of its definition.
    pub(crate) tools: BTreeMap<String, String>,
    /// The entries behind `ALL_TOOLS`, if the program uses it.
    pub(crate) catalog: Option<Vec<String>>,
}

/// The start of a cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Start {
    pub(crate) identity: Identity,
    /// The program as the engine gets it.
    pub(crate) unit: String,
    pub(crate) injection: String,
    pub(crate) options: CodeModeOptions,
    pub(crate) hint: Option<String>,
    pub(crate) inferred: Option<Language>,
    pub(crate) warnings: Vec<Warning>,
}

/// One entry into the guest.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Entered {
    pub(crate) now_us: u64,
    /// The seed, at the first entry of a leg.
    pub(crate) seed: Option<[u8; 32]>,
    /// How many of the replies that waited were delivered, the oldest first.
    pub(crate) replies: u64,
}

/// What an entry gave.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Left {
    /// Hash of everything that the guest wrote, in hexadecimal digits.
    pub(crate) wrote: String,
    /// How the slice ended.
    pub(crate) end: String,
    /// The host stopped the guest: another run would not stop at the same point.
    pub(crate) killed: bool,
}

/// What became of one call of a turn.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Fate {
    /// It is a tool's.
    Tool { tool: Arc<str>, effect: EffectKind },
    /// It is answered by the host itself.
    Host,
    /// It was refused; the reply is a record of its own.
    Refused { tool: Arc<str>, effect: EffectKind },
    /// One of the host's own was refused.
    HostRefused,
    /// To be judged anew: it was refused in a part of the record that is left out.
    #[serde(skip)]
    Again,
}

/// The calls of one turn, in the order in which they were made.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Turn {
    /// The whole turn was refused.
    pub(crate) refused: bool,
    /// Guest's id and fate.
    pub(crate) calls: Vec<(u32, Fate)>,
}

/// A reply has arrived. Its payload is the record's body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Replied {
    pub(crate) call: u32,
    pub(crate) kind: u8,
    pub(crate) arrival_us: u64,
    /// How the call ended, if it was a tool's and was under way.
    pub(crate) state: Option<CallState>,
}

/// Where a tool's call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) enum Step {
    /// The executor has it: from here on it may have taken effect.
    Admitted,
    /// It waits for a person, and has not been handed to its tool.
    Waiting,
    /// A person has agreed; it may have taken effect.
    HandedOver,
    /// It was taken back before its tool heard of it.
    Withdrawn,
}

/// The cell is suspended. The snapshot, if there is a new one, is the record's body.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct Suspended {
    pub(crate) identity: Identity,
    /// Number of the suspension.
    pub(crate) seq: u64,
    /// Everything else that the next leg needs.
    pub(crate) state: Box<State>,
    /// Number of the snapshot, which an earlier record may hold.
    pub(crate) snapshot_seq: u64,
}

/// The last result, as JSON.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Ended {
    /// Owner, agent, session key and run.
    pub(crate) scope: [Arc<str>; 4],
    pub(crate) result: String,
    pub(crate) seq: u64,
}

/// One record.
#[derive(Debug)]
pub(crate) enum Record {
    Start(Box<Start>),
    Entered(Entered),
    Left(Left),
    Turn(Turn),
    Replied(Replied, String),
    Step(u32, Step),
    Suspended(Box<Suspended>, Vec<u8>),
    Ended(Ended),
}

impl Record {
    /// The number of its kind.
    pub(crate) const fn kind(&self) -> u8 {
        match self {
            Self::Start(_) => 1,
            Self::Entered(_) => 2,
            Self::Left(_) => 3,
            Self::Turn(_) => 4,
            Self::Replied(..) => 5,
            Self::Step(..) => 6,
            Self::Suspended(..) => 7,
            Self::Ended(_) => 8,
        }
    }

    /// Its bytes. Without `body` a snapshot is left out.
    pub(crate) fn encode(&self, snapshots: bool) -> Vec<u8> {
        match self {
            Self::Start(start) => frame(start, &[]),
            Self::Entered(entered) => frame(entered, &[]),
            Self::Left(left) => frame(left, &[]),
            Self::Turn(turn) => frame(turn, &[]),
            Self::Replied(replied, payload) => frame(replied, payload.as_bytes()),
            Self::Step(call, step) => frame(&(call, step), &[]),
            Self::Suspended(suspended, snapshot) if snapshots => frame(suspended, snapshot),
            Self::Suspended(suspended, _) => frame(suspended, &[]),
            Self::Ended(ended) => frame(ended, &[]),
        }
    }

    /// Reads what [`Record::encode`] wrote.
    pub(crate) fn decode(kind: u8, bytes: &[u8]) -> Result<Self, RecordError> {
        let (&version, rest) = bytes.split_first().ok_or(RecordError::Malformed)?;
        if version != VERSION {
            return Err(RecordError::Version);
        }
        let (length, rest) = rest
            .split_first_chunk::<4>()
            .ok_or(RecordError::Malformed)?;
        let (head, body) = rest
            .split_at_checked(u32::from_le_bytes(*length) as usize)
            .ok_or(RecordError::Malformed)?;
        Ok(match kind {
            1 => Self::Start(read(head)?),
            2 => Self::Entered(read(head)?),
            3 => Self::Left(read(head)?),
            4 => Self::Turn(read(head)?),
            5 => {
                let payload = String::from_utf8(body.to_vec());
                Self::Replied(read(head)?, payload.map_err(|_| RecordError::Malformed)?)
            }
            6 => {
                let (call, step) = read(head)?;
                Self::Step(call, step)
            }
            7 => Self::Suspended(read(head)?, body.to_vec()),
            8 => Self::Ended(read(head)?),
            _ => return Err(RecordError::Malformed),
        })
    }
}

fn frame<T: Serialize>(head: &T, body: &[u8]) -> Vec<u8> {
    // Maps have string keys and numbers are finite: the serialiser has nothing to refuse.
    let head = serde_json::to_vec(head).unwrap_or_default();
    let mut bytes = Vec::with_capacity(5 + head.len() + body.len());
    bytes.push(VERSION);
    bytes.extend_from_slice(&(head.len() as u32).to_le_bytes());
    bytes.extend_from_slice(&head);
    bytes.extend_from_slice(body);
    bytes
}

fn read<T: DeserializeOwned>(head: &[u8]) -> Result<T, RecordError> {
    serde_json::from_slice(head).map_err(|_| RecordError::Malformed)
}

/// The number of a settlement's kind.
pub(crate) const fn kind_number(kind: SettlementKind) -> u8 {
    match kind {
        SettlementKind::ResolveJson => 0,
        SettlementKind::ResolveText => 1,
        SettlementKind::Reject => 2,
        SettlementKind::Yield => 3,
    }
}

/// The settlement's kind of this number.
pub(crate) const fn kind_of(number: u8) -> Option<SettlementKind> {
    Some(match number {
        0 => SettlementKind::ResolveJson,
        1 => SettlementKind::ResolveText,
        2 => SettlementKind::Reject,
        3 => SettlementKind::Yield,
        _ => return None,
    })
}
