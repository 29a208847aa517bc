//! The errors that a guest can catch when a call of its own goes wrong.
//!
//! One type for all of them, so that each carries what the contract promises: `message`, `code`,
//! `tool` and `effectStatus`. Texts are for a model that must know what to change; they hold no
//! host path and no debug output.

use std::sync::Arc;

use codecell_protocol::CallState;
use serde::Serialize;

use crate::calls::Refusal;
use crate::limits::REJECTION_BYTES;

/// One catchable error.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Rejection {
    code: String,
    message: String,
    tool: Option<Arc<str>>,
    state: CallState,
}

#[derive(Serialize)]
#[serde(rename_all = "camelCase")]
struct Wire<'a> {
    message: &'a str,
    code: &'a str,
    #[serde(skip_serializing_if = "Option::is_none")]
    tool: Option<&'a str>,
    effect_status: &'a str,
}

/// The code of a turn that was refused as a whole.
const TOO_MANY: &str = "too_many_pending_tool_calls";

impl Rejection {
    pub(crate) fn new(
        code: impl Into<String>,
        message: impl Into<String>,
        tool: Option<Arc<str>>,
        state: CallState,
    ) -> Self {
        Self {
            code: cut(code.into(), CODE_BYTES),
            message: cut(message.into(), REJECTION_BYTES),
            tool,
            state,
        }
    }

    /// Nothing was handed over.
    pub(crate) fn not_started(
        code: &str,
        message: impl Into<String>,
        tool: Option<&Arc<str>>,
    ) -> Self {
        Self::new(code, message, tool.map(Arc::clone), CallState::NotStarted)
    }

    pub(crate) fn too_many(limit: u64) -> Self {
        let message = format!(
            "too many calls at once: at most {limit} may wait, so none of this turn was made. \
             Make them in batches: await Promise.all over a slice, then the next slice"
        );
        Self::not_started(TOO_MANY, message, None)
    }

    pub(crate) fn reply_too_large(
        tool: &Arc<str>,
        state: CallState,
        bytes: u64,
        max_bytes: u64,
    ) -> Self {
        let message = format!(
            "the result of {tool} has {bytes} bytes, at most {max_bytes} can be delivered; \
             ask the tool for less, for example a range or a filter"
        );
        Self::new("reply_too_large", message, Some(Arc::clone(tool)), state)
    }

    pub(crate) fn reply_too_deep(tool: &Arc<str>, state: CallState, levels: u64) -> Self {
        let message = format!(
            "the result of {tool} is nested deeper than {levels} levels and cannot be delivered; \
             ask the tool for a part of it, or for text"
        );
        Self::new("reply_too_deep", message, Some(Arc::clone(tool)), state)
    }

    /// An answer of the host itself that does not fit into a message.
    pub(crate) fn answer_too_large(bytes: u64, max_bytes: u64) -> Self {
        let message = format!(
            "the answer has {bytes} bytes, at most {max_bytes} can be delivered; keep or ask for \
             smaller parts"
        );
        Self::not_started("reply_too_large", message, None)
    }

    pub(crate) fn replies_full(tool: &Arc<str>, state: CallState, max_bytes: u64) -> Self {
        let message = format!(
            "the result of {tool} was dropped: results that wait for the program may have {max_bytes} \
             bytes together; make fewer calls at once or ask for less"
        );
        Self::new(
            "reply_limit_exceeded",
            message,
            Some(Arc::clone(tool)),
            state,
        )
    }

    pub(crate) fn approval_expired(tool: &Arc<str>) -> Self {
        let message = format!("nobody approved the call of {tool} in time; it was not made");
        Self::not_started("approval_expired", message, Some(tool))
    }

    pub(crate) fn refusal(&self) -> Refusal {
        if self.code == TOO_MANY {
            Refusal::TooMany
        } else {
            Refusal::Other
        }
    }

    /// Why the call of this reply was rejected, as far as it matters later.
    pub(crate) fn refusal_of(json: &str) -> Refusal {
        #[derive(serde::Deserialize)]
        struct Code<'a> {
            #[serde(borrow)]
            code: std::borrow::Cow<'a, str>,
        }
        match serde_json::from_str::<Code<'_>>(json) {
            Ok(Code { code }) if code == TOO_MANY => Refusal::TooMany,
            _ => Refusal::Other,
        }
    }

    /// A call that was under way when its process died.
    pub(crate) fn lost(tool: &Arc<str>) -> Self {
        let message = format!(
            "the process that made the call of {tool} ended before the call did; it may have taken effect. Look before you repeat it"
        );
        Self::new("lost", message, Some(Arc::clone(tool)), CallState::Unknown)
    }

    /// A call that is not made because it cannot be written down first.
    pub(crate) fn not_stored(tool: &Arc<str>, why: &str) -> Self {
        let message =
            format!("the call of {tool} was not made, because it could not be stored first: {why}");
        Self::not_started("store_failed", message, Some(tool))
    }

    pub(crate) fn to_json(&self) -> String {
        let wire = Wire {
            message: &self.message,
            code: &self.code,
            tool: self.tool.as_deref(),
            effect_status: self.state.as_str(),
        };
        // Strings only: the serialiser has nothing to refuse.
        serde_json::to_string(&wire)
            .unwrap_or_else(|_| r#"{"message":"the call failed"}"#.to_owned())
    }
}

/// A code is a word, whatever a tool says.
const CODE_BYTES: u64 = 128;

/// The text, or its head in at most `max_bytes` with a mark of the cut.
fn cut(mut text: String, max_bytes: u64) -> String {
    let max_bytes = max_bytes as usize;
    if text.len() > max_bytes {
        let end = (0..=max_bytes - "…".len())
            .rev()
            .find(|at| text.is_char_boundary(*at));
        text.truncate(end.unwrap_or(0));
        text.push('…');
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_rejection_carries_the_ledgers_words() {
        let tool: Arc<str> = "openclaw:core:read".into();
        let rejection = Rejection::approval_expired(&tool);
        assert_eq!(
            rejection.to_json(),
            r#"{"message":"nobody approved the call of openclaw:core:read in time; it was not made","code":"approval_expired","tool":"openclaw:core:read","effectStatus":"notStarted"}"#
        );
        assert_eq!(rejection.refusal(), Refusal::Other);
        assert_eq!(Rejection::too_many(5).refusal(), Refusal::TooMany);
    }
}
