//! The ledger's memory of calls that have ended: counts by state, and the few that results list.
//!
//! It keeps no call for longer than a result could show it, so a cell that makes millions of calls
//! costs no more than one that makes a hundred. Calls that are still outstanding are not its
//! business; [`crate::calls`] moves each here exactly once, when it ends.

use std::sync::Arc;

use serde::{Deserialize, Serialize};

use codecell_protocol::{CallState, CalledTool, EffectCall, EffectKind, Effects, MAX_EFFECT_CALLS};

/// At most this many tools are listed in a result's telemetry. Source: the contract.
const MAX_CALLED_TOOLS: usize = 32;

/// One call that has ended.
#[derive(Clone, Debug, Serialize, Deserialize)]
struct Ended {
    number: u64,
    tool: Arc<str>,
    state: CallState,
    effect: EffectKind,
}

/// The lists that a result's effects are made of, in their order there.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct Ledger {
    counts: [u32; 4],
    /// Writes first, then reads.
    unknown: [Vec<Ended>; 2],
    writes: Vec<Ended>,
    rest: Vec<Ended>,
    called: Vec<CalledTool>,
    calls: u64,
}

impl Ledger {
    /// Takes note of a call that is about to be queued or handed over, and gives it its number.
    pub(crate) fn open(&mut self, tool: &str) -> u64 {
        self.calls += 1;
        if let Some(called) = self.called.iter_mut().find(|called| called.id == tool) {
            called.count = called.count.saturating_add(1);
        } else if self.called.len() < MAX_CALLED_TOOLS {
            self.called.push(CalledTool {
                id: tool.to_owned(),
                count: 1,
            });
        }
        self.calls
    }

    /// Takes note of calls that the guest refused itself: nobody knows more of them than their number.
    pub(crate) fn never_sent(&mut self, calls: u32) {
        let count = &mut self.counts[index(CallState::NotStarted)];
        *count = count.saturating_add(calls);
    }

    /// Takes note of how a call ended.
    pub(crate) fn close(
        &mut self,
        number: u64,
        tool: Arc<str>,
        state: CallState,
        effect: EffectKind,
    ) {
        self.counts[index(state)] = self.counts[index(state)].saturating_add(1);
        let list = match (state, effect) {
            (CallState::Unknown, EffectKind::Write) => &mut self.unknown[0],
            (CallState::Unknown, EffectKind::Read) => &mut self.unknown[1],
            (_, EffectKind::Write) => &mut self.writes,
            (_, EffectKind::Read) => &mut self.rest,
        };
        let at = list.partition_point(|ended| ended.number < number);
        if at < MAX_EFFECT_CALLS {
            list.insert(
                at,
                Ended {
                    number,
                    tool,
                    state,
                    effect,
                },
            );
            list.truncate(MAX_EFFECT_CALLS);
        }
    }

    /// The tools called, in the order of their first call.
    pub(crate) fn called(&self) -> &[CalledTool] {
        &self.called
    }

    /// What results say. `None` when every ended call was read-only and none is unknown.
    pub(crate) fn effects(&self) -> Option<Effects> {
        let lists = [&self.unknown[0], &self.unknown[1], &self.writes, &self.rest];
        if lists[..3].iter().all(|list| list.is_empty()) {
            return None;
        }
        let calls = lists.into_iter().flatten().take(MAX_EFFECT_CALLS);
        Some(Effects {
            committed: self.counts[index(CallState::Committed)],
            failed: self.counts[index(CallState::Failed)],
            unknown: self.counts[index(CallState::Unknown)],
            not_started: self.counts[index(CallState::NotStarted)],
            calls: calls.map(Ended::to_effect).collect(),
        })
    }

    /// What a failed result must say about repeating the program; empty when it may be repeated.
    pub(crate) fn retry_advice(&self) -> String {
        let committed = self
            .writes
            .iter()
            .filter(|ended| ended.state == CallState::Committed);
        let mut parts = Vec::new();
        if let Some(names) = names(committed) {
            parts.push(format!(
                "These calls took effect: {names}. Do not make them again."
            ));
        }
        if let Some(names) = names(self.unknown.iter().flatten()) {
            parts.push(format!(
                "It is unknown whether these took effect: {names}. Look before you repeat them."
            ));
        }
        parts.join(" ")
    }
}

/// The first few calls as `id tool`, joined; `None` when there are none.
fn names<'a>(ended: impl Iterator<Item = &'a Ended>) -> Option<String> {
    const SHOWN: usize = 8;
    let all: Vec<String> = ended
        .map(|e| format!("{} {}", call_id(e.number), e.tool))
        .collect();
    let (shown, more) = all.split_at(all.len().min(SHOWN));
    match (shown, more.len()) {
        ([], _) => None,
        (shown, 0) => Some(shown.join(", ")),
        (shown, more) => Some(format!("{} and at least {more} more", shown.join(", "))),
    }
}

impl Ended {
    fn to_effect(&self) -> EffectCall {
        EffectCall {
            id: call_id(self.number),
            tool: self.tool.to_string(),
            state: self.state,
            effect: self.effect,
        }
    }
}

/// A call's id within its cell, as results show it.
pub(crate) fn call_id(number: u64) -> String {
    format!("c{number}")
}

const fn index(state: CallState) -> usize {
    match state {
        CallState::Unknown => 0,
        CallState::Committed => 1,
        CallState::Failed => 2,
        CallState::NotStarted => 3,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ledger(calls: &[(CallState, EffectKind)]) -> Ledger {
        let mut ledger = Ledger::default();
        for (state, effect) in calls {
            let number = ledger.open("t");
            ledger.close(number, "t".into(), *state, *effect);
        }
        ledger
    }

    #[test]
    fn reads_that_worked_leave_no_effects() {
        use CallState::{Committed, Failed, NotStarted};
        use EffectKind::Read;
        assert_eq!(
            ledger(&[(Committed, Read), (Failed, Read), (NotStarted, Read)]).effects(),
            None
        );
    }

    #[test]
    fn the_summary_is_that_of_the_full_list() {
        use CallState::{Committed, Failed, NotStarted, Unknown};
        use EffectKind::{Read, Write};
        let states = [Committed, Failed, NotStarted, Unknown];
        let calls: Vec<_> = (0..200)
            .map(|i: usize| {
                (
                    states[i * 7 % 4],
                    if i.is_multiple_of(3) { Write } else { Read },
                )
            })
            .collect();
        let full: Vec<EffectCall> = calls
            .iter()
            .zip(1..)
            .map(|((state, effect), number)| EffectCall {
                id: call_id(number),
                tool: "t".into(),
                state: *state,
                effect: *effect,
            })
            .collect();
        for length in [0, 1, 2, 5, 40, 200] {
            assert_eq!(
                ledger(&calls[..length]).effects(),
                Effects::of(&full[..length]),
                "{length}"
            );
        }
    }

    #[test]
    fn calls_are_listed_in_the_order_they_were_made_whatever_ended_first() {
        let mut ledger = Ledger::default();
        let (first, second) = (ledger.open("a"), ledger.open("b"));
        ledger.close(second, "b".into(), CallState::Committed, EffectKind::Write);
        ledger.close(first, "a".into(), CallState::Committed, EffectKind::Write);
        let effects = ledger.effects().expect("writes");
        let tools: Vec<_> = effects
            .calls
            .iter()
            .map(|call| call.tool.as_str())
            .collect();
        assert_eq!(tools, ["a", "b"]);
    }

    #[test]
    fn advice_names_what_must_not_be_repeated() {
        use CallState::{Committed, Failed, Unknown};
        use EffectKind::{Read, Write};
        assert_eq!(
            ledger(&[(Committed, Read), (Failed, Write)]).retry_advice(),
            ""
        );
        assert_eq!(
            ledger(&[(Committed, Write), (Unknown, Write)]).retry_advice(),
            "These calls took effect: c1 t. Do not make them again. \
             It is unknown whether these took effect: c2 t. Look before you repeat them."
        );
    }

    #[test]
    fn the_list_of_tools_is_bounded_and_counts() {
        let mut ledger = Ledger::default();
        for i in 0..100 {
            ledger.open(&format!("t{}", i % 50));
        }
        assert_eq!(
            (ledger.called().len(), ledger.called()[0].count),
            (MAX_CALLED_TOOLS, 2)
        );
    }
}
