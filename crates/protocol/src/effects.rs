//! What a cell did to the world: the ledger's words, as every result carries them.

use serde::{Deserialize, Serialize};

/// At most this many calls are listed in [`Effects::calls`]; the counts are always complete.
/// Source: the contract's `effects` shape.
pub const MAX_EFFECT_CALLS: usize = 32;

/// Where a nested call stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub enum CallState {
    /// Handed to the tool without a clear outcome: aborted, timed out, crashed, or failed
    /// without declaring that failure means no effect.
    Unknown,
    /// The tool reported success.
    Committed,
    /// The tool reported failure and declares that this means no effect.
    Failed,
    /// Refused by policy, schema, approval or cap, or never handed over.
    NotStarted,
}

impl CallState {
    /// The word that results and guest errors use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::Unknown => "unknown",
            Self::Committed => "committed",
            Self::Failed => "failed",
            Self::NotStarted => "notStarted",
        }
    }
}

/// Whether a tool only reads. Untrusted declarations never make a tool `Read`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum EffectKind {
    /// May change something outside the cell.
    Write,
    /// Changes nothing that anybody can see.
    Read,
}

/// One call in [`Effects::calls`].
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct EffectCall {
    /// The call's id within the cell.
    pub id: String,
    /// The catalog id of the tool, or the name that the guest used when it resolved to none.
    pub tool: String,
    /// Where the call stands.
    pub state: CallState,
    /// What the tool may do.
    pub effect: EffectKind,
}

/// The calls of a cell so far, counted by state.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub struct Effects {
    /// Calls whose tool reported success.
    pub committed: u32,
    /// Calls whose tool reported failure without effect.
    pub failed: u32,
    /// Calls handed over without a clear outcome.
    pub unknown: u32,
    /// Calls that never reached a tool.
    pub not_started: u32,
    /// The first [`MAX_EFFECT_CALLS`]: unknown first, then writes, then the rest.
    pub calls: Vec<EffectCall>,
}

impl Effects {
    /// Counts and orders `calls`, given in the order in which they were made. `None` when every
    /// call was read-only and none is unknown: such a result carries no effects.
    #[must_use]
    pub fn of(calls: &[EffectCall]) -> Option<Self> {
        let matters = |call: &EffectCall| {
            call.effect == EffectKind::Write || call.state == CallState::Unknown
        };
        if !calls.iter().any(matters) {
            return None;
        }
        let mut effects = Self::default();
        for call in calls {
            *effects.count_mut(call.state) += 1;
        }
        let mut ordered: Vec<&EffectCall> = calls.iter().collect();
        ordered.sort_by_key(|call| (call.state != CallState::Unknown, call.effect));
        effects.calls = ordered
            .into_iter()
            .take(MAX_EFFECT_CALLS)
            .cloned()
            .collect();
        Some(effects)
    }

    const fn count_mut(&mut self, state: CallState) -> &mut u32 {
        match state {
            CallState::Committed => &mut self.committed,
            CallState::Failed => &mut self.failed,
            CallState::Unknown => &mut self.unknown,
            CallState::NotStarted => &mut self.not_started,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn call(id: &str, state: CallState, effect: EffectKind) -> EffectCall {
        EffectCall {
            id: id.into(),
            tool: "t".into(),
            state,
            effect,
        }
    }

    #[test]
    fn read_only_calls_leave_no_effects() {
        assert_eq!(Effects::of(&[]), None);
        assert_eq!(
            Effects::of(&[call("1", CallState::Committed, EffectKind::Read)]),
            None
        );
    }

    #[test]
    fn unknown_calls_come_first_then_writes_then_reads() {
        let effects = Effects::of(&[
            call("1", CallState::Committed, EffectKind::Read),
            call("2", CallState::Committed, EffectKind::Write),
            call("3", CallState::Unknown, EffectKind::Read),
            call("4", CallState::NotStarted, EffectKind::Write),
        ])
        .expect("there was a write");
        let ids: Vec<_> = effects.calls.iter().map(|call| call.id.as_str()).collect();
        assert_eq!(ids, ["3", "2", "4", "1"]);
        assert_eq!(
            (
                effects.committed,
                effects.failed,
                effects.unknown,
                effects.not_started
            ),
            (2, 0, 1, 1)
        );
    }

    #[test]
    fn the_list_is_cut_and_the_counts_are_not() {
        let calls: Vec<_> = (0..100)
            .map(|i| call(&i.to_string(), CallState::Committed, EffectKind::Write))
            .collect();
        let effects = Effects::of(&calls).expect("there were writes");
        assert_eq!(
            (effects.calls.len(), effects.committed),
            (MAX_EFFECT_CALLS, 100)
        );
    }
}
