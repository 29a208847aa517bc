//! What `exec` and `wait` give: one of `completed`, `waiting` and `failed`.

use serde::{Deserialize, Serialize};
use serde_json::value::RawValue;

use crate::{CellId, Effects, Failure, FailureCode, FailureKind, Telemetry};

/// One item of a cell's output, in the order in which the program wrote it.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(tag = "type", rename_all = "lowercase", from = "StoredItem")]
pub enum OutputItem {
    /// From `text(value)` or the console.
    Text {
        /// The text.
        text: String,
    },
    /// From `json(value)`.
    Json {
        /// The value.
        value: Box<RawValue>,
    },
}

/// An item as it is read back: a tagged enum has no way to keep raw JSON.
#[derive(Deserialize)]
struct StoredItem {
    #[serde(default)]
    text: String,
    value: Option<Box<RawValue>>,
}

impl From<StoredItem> for OutputItem {
    fn from(stored: StoredItem) -> Self {
        match stored.value {
            Some(value) => Self::Json { value },
            None => Self::Text { text: stored.text },
        }
    }
}

/// Advice found before anything was dispatched.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Warning {
    /// A stable word for the sort of advice.
    pub kind: String,
    /// What to change.
    pub message: String,
    /// Line in the text that the model sent, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column in UTF-16 code units, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
}

/// What an unsettled call is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum PendingState {
    /// Waits for its turn.
    Queued,
    /// Runs.
    Running,
    /// Waits for a person.
    Approval,
}

/// One unsettled call of a suspended cell.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct PendingCall {
    /// The call's id within the cell.
    pub id: String,
    /// The guest's function, such as `tools.call`; `timer` for a cell that waits only for timers.
    pub method: String,
    /// The catalog id of the tool, when the call is one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub tool: Option<String>,
    /// Milliseconds since the call was made.
    pub elapsed_ms: u64,
    /// What it is doing.
    pub state: PendingState,
}

/// Why a cell is suspended.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum WaitingReason {
    /// Calls or timers were outstanding at the deadline.
    PendingTools,
    /// The program yielded.
    Yield,
}

/// The program ended and this is its value.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Completed {
    /// The value, JSON.
    pub value: Box<RawValue>,
    /// Output since the last result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output: Vec<OutputItem>,
    /// What the cell did to the world, when it did anything but read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<Effects>,
    /// What the program probably meant to do, such as to return its last expression.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub hint: Option<String>,
    /// Advice found before dispatch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// The full value, when `value` is a cut of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<crate::SavedResult>,
    /// Counts and sizes.
    pub telemetry: Telemetry,
}

/// The cell is suspended; `wait` with its id goes on.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Waiting {
    /// The cell's id.
    pub run_id: CellId,
    /// Number of this suspension, from 1.
    pub seq: u64,
    /// Why.
    pub reason: WaitingReason,
    /// The calls that are not settled.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub pending_tool_calls: Vec<PendingCall>,
    /// How many more there are than `pending_tool_calls` lists.
    #[serde(default, skip_serializing_if = "is_none")]
    pub more_pending_tool_calls: u64,
    /// Output since the last result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output: Vec<OutputItem>,
    /// What the cell did to the world, when it did anything but read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<Effects>,
    /// Advice found before dispatch.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// Counts and sizes.
    pub telemetry: Telemetry,
}

/// Whether a count is zero, and so left out.
#[expect(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands it over like this"
)]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// The cell is over without a value, or never began.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Failed {
    /// Advice found before dispatch. It comes first: often it says why the program failed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub warnings: Vec<Warning>,
    /// What happened and what to change.
    pub error: String,
    /// The coarse reason.
    pub code: FailureCode,
    /// The finer description.
    pub failure: Failure,
    /// Output since the last result.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub output: Vec<OutputItem>,
    /// What the cell did to the world, when it did anything but read.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub effects: Option<Effects>,
    /// Counts and sizes.
    pub telemetry: Telemetry,
}

/// The result of `exec` or `wait`.
#[derive(Clone, Debug, Serialize)]
#[serde(tag = "status", rename_all = "lowercase")]
pub enum CellResult {
    /// The program ended.
    Completed(Completed),
    /// The cell is suspended.
    Waiting(Waiting),
    /// The cell is over without a value.
    Failed(Failed),
}

impl CellResult {
    /// Whether the tool result must be marked as an error.
    #[must_use]
    pub const fn is_error(&self) -> bool {
        matches!(self, Self::Failed(_))
    }

    /// The finer reason of a failure.
    #[must_use]
    pub const fn failure_kind(&self) -> Option<FailureKind> {
        match self {
            Self::Failed(failed) => Some(failed.failure.kind),
            Self::Completed(_) | Self::Waiting(_) => None,
        }
    }

    /// The telemetry that every result carries.
    #[must_use]
    pub const fn telemetry(&self) -> &Telemetry {
        match self {
            Self::Completed(completed) => &completed.telemetry,
            Self::Waiting(waiting) => &waiting.telemetry,
            Self::Failed(failed) => &failed.telemetry,
        }
    }

    /// The telemetry, to be completed by whoever measured.
    #[must_use]
    pub const fn telemetry_mut(&mut self) -> &mut Telemetry {
        match self {
            Self::Completed(completed) => &mut completed.telemetry,
            Self::Waiting(waiting) => &mut waiting.telemetry,
            Self::Failed(failed) => &mut failed.telemetry,
        }
    }

    /// A result as it was written as JSON.
    ///
    /// # Errors
    ///
    /// When the text is no result.
    pub fn from_json(text: &str) -> Result<Self, serde_json::Error> {
        #[derive(Deserialize)]
        #[serde(rename_all = "lowercase")]
        enum Status {
            Completed,
            Waiting,
            Failed,
        }
        #[derive(Deserialize)]
        struct Head {
            status: Status,
        }
        Ok(match serde_json::from_str::<Head>(text)?.status {
            Status::Completed => Self::Completed(serde_json::from_str(text)?),
            Status::Waiting => Self::Waiting(serde_json::from_str(text)?),
            Status::Failed => Self::Failed(serde_json::from_str(text)?),
        })
    }

    /// The compact JSON that the model reads: this object without its timings.
    ///
    /// # Errors
    ///
    /// Only when a value that was made by hand is no JSON.
    pub fn model_text(&self) -> Result<String, serde_json::Error> {
        let mut plain = self.clone();
        plain.telemetry_mut().timings = None;
        serde_json::to_string(&plain)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Phase, Timings};

    fn telemetry() -> Telemetry {
        Telemetry {
            visible_tools: vec!["exec".into(), "wait".into()],
            timings: Some(Timings {
                guest_ms: 1.0,
                ..Timings::default()
            }),
            ..Telemetry::default()
        }
    }

    #[test]
    fn the_model_reads_a_completed_result_without_timings() {
        let result = CellResult::Completed(Completed {
            value: RawValue::from_string("[1,2]".into()).expect("JSON"),
            output: vec![OutputItem::Text { text: "hi".into() }],
            effects: None,
            hint: None,
            warnings: Vec::new(),
            saved: None,
            telemetry: telemetry(),
        });
        let expected = concat!(
            r#"{"status":"completed","value":[1,2],"output":[{"type":"text","text":"hi"}],"#,
            r#""telemetry":{"catalogSize":0,"sources":{"openclaw":0,"mcp":0,"client":0},"searchCount":0,"#,
            r#""describeCount":0,"callCount":0,"visibleTools":["exec","wait"],"calledTools":[],"peakMemoryBytes":0}}"#,
        );
        assert_eq!(result.model_text().expect("JSON"), expected);
    }

    #[test]
    fn a_result_is_read_back_as_it_was_written() {
        let texts = [
            r#"{"status":"completed","value":{"a":[1.50,"x"]},"output":[{"type":"text","text":"hi"},{"type":"json","value":[1,  2]}],"hint":"h","telemetry":@}"#,
            r#"{"status":"waiting","runId":"cm_01234567-89ab-4def-8123-456789abcdef","seq":2,"reason":"yield","morePendingToolCalls":3,"telemetry":@}"#,
            r#"{"status":"failed","error":"e","code":"aborted","failure":{"kind":"aborted","phase":"host"},"effects":{"committed":1,"failed":0,"unknown":0,"notStarted":0,"calls":[]},"telemetry":@}"#,
        ];
        let telemetry = serde_json::to_string(&telemetry()).expect("JSON");
        for text in texts {
            let text = text.replace('@', &telemetry);
            let read = CellResult::from_json(&text).expect("a result");
            assert_eq!(serde_json::to_string(&read).expect("JSON"), text);
        }
        assert!(CellResult::from_json(r#"{"status":"done"}"#).is_err());
    }

    #[test]
    fn a_failure_carries_code_and_kind() {
        let result = CellResult::Failed(Failed {
            error: "stopped".into(),
            code: FailureKind::Aborted.code(),
            failure: Failure::new(FailureKind::Aborted, Phase::Host),
            output: Vec::new(),
            effects: None,
            warnings: Vec::new(),
            telemetry: Telemetry::default(),
        });
        let text = result.model_text().expect("JSON");
        assert!(text.starts_with(r#"{"status":"failed","error":"stopped","code":"aborted","failure":{"kind":"aborted","phase":"host"},"#), "{text}");
        assert!(result.is_error());
    }
}
