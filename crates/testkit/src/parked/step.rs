//! What crosses between a driver and a life, as plain data that also crosses processes.

use codecell_sandbox::{Frame, Settlement, SettlementKind, Slice, SliceEnd};
use serde::{Deserialize, Serialize};
use serde_json::{Value, json};

/// How an entry ended.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Pause {
    /// The program is over.
    Over,
    /// It waits for calls, or for a timer due at this instant.
    Waits(Option<u64>),
    /// It yielded.
    Yielded(Option<u64>),
}

/// What one entry showed.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// How it ended.
    pub pause: Pause,
    /// What the guest wrote, readable and complete.
    pub frames: Vec<Value>,
}

/// One settlement.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reply {
    /// The call; none resumes a yield.
    pub call: Option<u32>,
    /// Whether it resolves.
    pub ok: bool,
    /// Its instant.
    pub at_us: u64,
    /// JSON.
    pub payload: String,
}

impl Reply {
    pub(super) fn settlement(&self) -> Settlement<'_> {
        let kind = match (self.call, self.ok) {
            (None, _) => SettlementKind::Yield,
            (Some(_), true) => SettlementKind::ResolveJson,
            (Some(_), false) => SettlementKind::Reject,
        };
        Settlement {
            call: self.call.unwrap_or_default(),
            kind,
            arrival_us: self.at_us,
            payload: &self.payload,
        }
    }
}

impl From<Slice> for Step {
    fn from(slice: Slice) -> Self {
        let mut frames: Vec<_> = slice.frames.iter().map(readable).collect();
        let pause = match slice.end {
            SliceEnd::Pending { next_timer_us } => Pause::Waits(next_timer_us),
            SliceEnd::Yielded { next_timer_us } => Pause::Yielded(next_timer_us),
            end => {
                frames.push(json!({ "end": format!("{end:?}") }));
                Pause::Over
            }
        };
        Self { pause, frames }
    }
}

fn readable(frame: &Frame) -> Value {
    match frame {
        Frame::Call {
            id,
            method,
            target,
            arguments,
        } => {
            json!({ "call": id, "method": format!("{method:?}"), "target": target, "arguments": arguments })
        }
        Frame::Output { json, text } => json!({ "output": text, "json": json }),
        Frame::Console { level, text } => json!({ "console": format!("{level:?}"), "text": text }),
        Frame::Value(value) => json!({ "value": value }),
        Frame::ValueTooLarge => json!("value too large"),
        Frame::Error { source, json } => json!({ "error": format!("{source:?}"), "json": json }),
        Frame::Yield { reason } => json!({ "yield": reason }),
        Frame::Turn { refused, .. } => json!({ "turn": refused }),
        Frame::Print(text) => json!({ "print": text }),
    }
}
