//! A cell's calls as they are stored, and as a journal brings them back.
//!
//! Nothing here starts a call. What was under way when its process died is settled as unknown, unless
//! it only reads or no tool had heard of it: then it is queued again.

use std::sync::Arc;
use std::time::Instant;

use codecell_protocol::{CallState, EffectKind};
use codecell_sandbox::{Method, SettlementKind};
use serde::{Deserialize, Serialize};

use super::{CallBounds, Calls, HostCall, Live, NewCall, Phase, Refusal, Reply};
use crate::durable::{Fate, Replied, Step};
use crate::ledger::Ledger;
use crate::reply::Rejection;

/// A call that has no reply yet.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredCall {
    guest_id: u32,
    number: u64,
    method: u8,
    tool: Arc<str>,
    effect: EffectKind,
    arguments: Box<str>,
    /// The executor has it.
    started: bool,
    /// No tool has heard of it.
    is_clean: bool,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredHostCall {
    guest_id: u32,
    method: u8,
    target: Box<str>,
    arguments: Box<str>,
}

#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
struct StoredReply {
    call: u32,
    kind: u8,
    arrival_us: u64,
    payload: String,
}

/// All calls of a suspended cell.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct CallsState {
    ledger: Ledger,
    /// In the order in which they were made.
    live: Vec<StoredCall>,
    host: Vec<StoredHostCall>,
    replies: Vec<StoredReply>,
    last_stamp_us: u64,
    rejections: Vec<(u32, Refusal)>,
}

/// What is stored contradicts itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Contradiction;

impl Calls {
    /// Everything, to be stored.
    pub(crate) fn state(&self) -> CallsState {
        let mut live: Vec<StoredCall> =
            self.live.iter().map(|(id, live)| live.state(*id)).collect();
        live.sort_unstable_by_key(|call| call.number);
        CallsState {
            ledger: self.ledger.clone(),
            live,
            host: self.host.iter().map(|(call, _)| call.state()).collect(),
            replies: self.replies.iter().map(Reply::state).collect(),
            last_stamp_us: self.last_stamp_us,
            rejections: self.remembered(),
        }
    }

    fn remembered(&self) -> Vec<(u32, Refusal)> {
        let still = |(id, stamp): &(u32, u64)| {
            let (of, refusal) = self.rejections.get(id)?;
            (of == stamp).then_some((*id, *refusal))
        };
        self.rejection_order.iter().filter_map(still).collect()
    }

    /// The calls as they were stored. What was under way stays so until [`Calls::settle_lost`].
    pub(crate) fn restored(
        bounds: CallBounds,
        state: CallsState,
        now: Instant,
    ) -> Result<Self, Contradiction> {
        let mut calls = Self::new(bounds);
        for stored in state.live {
            calls.restore_live(stored, now)?;
        }
        for stored in state.host {
            let method = Method::from_u8(stored.method).ok_or(Contradiction)?;
            let call = HostCall {
                guest_id: stored.guest_id,
                method,
                target: stored.target,
                arguments: stored.arguments,
            };
            calls.enqueue_host(call, now);
        }
        for stored in state.replies {
            let kind = crate::durable::kind_of(stored.kind).ok_or(Contradiction)?;
            calls.put(Reply {
                call: stored.call,
                kind,
                arrival_us: stored.arrival_us,
                payload: stored.payload,
            });
        }
        for (guest_id, refusal) in state.rejections {
            calls.remember(guest_id, refusal);
        }
        calls.ledger = state.ledger;
        calls.last_stamp_us = state.last_stamp_us;
        Ok(calls)
    }

    fn restore_live(&mut self, stored: StoredCall, now: Instant) -> Result<(), Contradiction> {
        let live = Live {
            number: stored.number,
            method: Method::from_u8(stored.method).ok_or(Contradiction)?,
            tool: stored.tool,
            effect: stored.effect,
            made: now,
            phase: Phase::Queued {
                arguments: stored.arguments.clone(),
            },
        };
        self.queued_bytes += stored.arguments.len() as u64;
        self.queue.push_back(stored.guest_id);
        if self.live.insert(stored.guest_id, live).is_some() {
            return Err(Contradiction);
        }
        if stored.started {
            let step = match stored.is_clean {
                true => Step::Waiting,
                false => Step::Admitted,
            };
            self.replay_step(stored.guest_id, step);
        }
        Ok(())
    }

    /// Takes in a call whose fate is recorded.
    pub(crate) fn replay_call(&mut self, call: NewCall, host: HostCall, fate: &Fate, now: Instant) {
        match fate {
            Fate::Tool { tool, effect } => self.enqueue(
                NewCall {
                    tool: Arc::clone(tool),
                    effect: *effect,
                    ..call
                },
                now,
            ),
            Fate::Host => self.enqueue_host(host, now),
            Fate::Refused { tool, effect } => {
                let number = self.ledger.open(tool);
                self.ledger
                    .close(number, Arc::clone(tool), CallState::NotStarted, *effect);
            }
            Fate::HostRefused | Fate::Again => {}
        }
    }

    /// Takes in a reply as it was recorded, stamp and all.
    pub(crate) fn replay_reply(
        &mut self,
        head: &Replied,
        payload: String,
    ) -> Result<(), Contradiction> {
        let kind = crate::durable::kind_of(head.kind).ok_or(Contradiction)?;
        if let Some(state) = head.state {
            self.close_recorded(head.call, state)?;
        }
        self.drop_host(head.call);
        if kind == SettlementKind::Reject {
            self.remember(head.call, Rejection::refusal_of(&payload));
        }
        self.put(Reply {
            call: head.call,
            kind,
            arrival_us: head.arrival_us,
            payload,
        });
        Ok(())
    }

    fn close_recorded(&mut self, guest_id: u32, state: CallState) -> Result<(), Contradiction> {
        let live = self.live.remove(&guest_id).ok_or(Contradiction)?;
        match live.phase {
            Phase::Queued { arguments } => {
                self.queued_bytes -= arguments.len() as u64;
                self.queue.retain(|queued| *queued != guest_id);
            }
            Phase::Running { .. } => self.in_flight -= 1,
        }
        self.ledger
            .close(live.number, live.tool, state, live.effect);
        Ok(())
    }

    fn drop_host(&mut self, guest_id: u32) {
        if !self.host_ids.remove(&guest_id) {
            return;
        }
        let at = self
            .host
            .iter()
            .position(|(call, _)| call.guest_id == guest_id);
        if let Some((call, _)) = at.and_then(|at| self.host.remove(at)) {
            self.queued_bytes -= call.arguments.len() as u64;
        }
    }

    /// Takes in how far a call had got.
    pub(crate) fn replay_step(&mut self, guest_id: u32, step: Step) {
        let is_handed_over = matches!(step, Step::Admitted | Step::HandedOver);
        let Some(live) = self.live.get_mut(&guest_id) else {
            return;
        };
        match &mut live.phase {
            Phase::Running { handed_over, .. } => *handed_over = is_handed_over,
            phase @ Phase::Queued { .. } => {
                let running = Phase::Running {
                    handed_over: is_handed_over,
                    approval_since: None,
                    asked: false,
                    arguments: None,
                };
                let Phase::Queued { arguments } = std::mem::replace(phase, running) else {
                    return;
                };
                self.queued_bytes -= arguments.len() as u64;
                self.queue.retain(|queued| *queued != guest_id);
                self.in_flight += 1;
                if let Phase::Running {
                    arguments: kept, ..
                } = phase
                {
                    *kept = Some(arguments);
                }
            }
        }
    }

    /// Ends the calls that were under way in a process that is gone: what may have taken effect is
    /// unknown, the rest waits for its turn again, before what was made later.
    pub(crate) fn settle_lost(&mut self, now_us: u64) {
        let mut lost: Vec<(u64, u32)> = self
            .live
            .iter()
            .filter(|(_, live)| matches!(live.phase, Phase::Running { .. }))
            .map(|(id, live)| (live.number, *id))
            .collect();
        lost.sort_unstable();
        for (_, guest_id) in &lost {
            let live = &self.live[guest_id];
            if live.must_not_be_repeated() {
                let rejection = Rejection::lost(&live.tool);
                self.settle(
                    *guest_id,
                    CallState::Unknown,
                    super::Answer::Reject(rejection),
                    now_us,
                );
            }
        }
        for (_, guest_id) in lost.into_iter().rev() {
            self.queue_again(guest_id);
        }
    }

    fn queue_again(&mut self, guest_id: u32) {
        let Some(live) = self.live.get_mut(&guest_id) else {
            return;
        };
        if let Phase::Running { arguments, .. } = &mut live.phase {
            let arguments = arguments.take().unwrap_or_default();
            self.queued_bytes += arguments.len() as u64;
            self.in_flight -= 1;
            live.phase = Phase::Queued { arguments };
            self.queue.push_front(guest_id);
        }
    }

    /// Takes back what no tool has heard of, since this process is about to end: another one makes
    /// these calls. Nothing starts any more.
    pub(crate) fn park(&mut self) {
        self.close();
        self.parked = true;
        let clean: Vec<u32> = self
            .live
            .iter()
            .filter(|(_, live)| {
                matches!(
                    live.phase,
                    Phase::Running {
                        handed_over: false,
                        ..
                    }
                )
            })
            .map(|(id, _)| *id)
            .collect();
        for guest_id in clean {
            self.note_step(guest_id, Step::Withdrawn);
        }
    }
}

impl Live {
    /// A tool may have heard of it, and not every tool may hear of it twice.
    fn must_not_be_repeated(&self) -> bool {
        let heard = matches!(
            self.phase,
            Phase::Running {
                handed_over: true,
                ..
            }
        );
        heard && self.effect == EffectKind::Write
    }

    fn state(&self, guest_id: u32) -> StoredCall {
        let (arguments, started, is_clean) = match &self.phase {
            Phase::Queued { arguments } => (arguments.clone(), false, true),
            Phase::Running {
                arguments,
                approval_since,
                handed_over,
                ..
            } => (
                arguments.clone().unwrap_or_default(),
                true,
                approval_since.is_some() && !handed_over,
            ),
        };
        StoredCall {
            guest_id,
            number: self.number,
            method: self.method as u8,
            tool: Arc::clone(&self.tool),
            effect: self.effect,
            arguments,
            started,
            is_clean,
        }
    }
}

impl HostCall {
    fn state(&self) -> StoredHostCall {
        StoredHostCall {
            guest_id: self.guest_id,
            method: self.method as u8,
            target: self.target.clone(),
            arguments: self.arguments.clone(),
        }
    }
}

impl Reply {
    fn state(&self) -> StoredReply {
        StoredReply {
            call: self.call,
            kind: crate::durable::kind_number(self.kind),
            arrival_us: self.arrival_us,
            payload: self.payload.clone(),
        }
    }
}
