//! A cell's calls from the moment the guest makes one until its reply is delivered: the queue, the
//! calls in flight, and the replies that wait for the guest.
//!
//! A plain state machine: it starts nothing and waits for nothing. Whoever owns it starts what
//! [`Calls::next_to_start`] gives out and reports what became of it. Invariants: a call is in the
//! ledger before anybody can start it; no call is given out twice; replies leave in the order in
//! which they arrived, with stamps that strictly rise; after [`Calls::finish`] nothing changes.

use std::collections::{HashMap, HashSet, VecDeque};
use std::sync::Arc;
use std::time::{Duration, Instant};

use codecell_protocol::{CallState, EffectKind, PendingCall, PendingState};
use codecell_sandbox::{Method, Settlement, SettlementKind};
use serde::{Deserialize, Serialize};

use crate::clock::millis;
use crate::durable::{Journal, Record, Replied, Step, kind_number};
use crate::ledger::{Ledger, call_id};
use crate::limits::{PENDING_LISTED, QUEUED_CALLS};
use crate::reply::Rejection;

/// Rejections that are remembered, newest last, so that an uncaught one can be told from an error
/// of the program's own. Older ones are reported as the program's.
const REMEMBERED_REJECTIONS: usize = 16_384;

/// A tool call as the dispatcher resolved it.
#[derive(Clone, Debug)]
pub(crate) struct NewCall {
    /// The guest's id of the call.
    pub(crate) guest_id: u32,
    /// What was asked for.
    pub(crate) method: Method,
    /// The catalog id.
    pub(crate) tool: Arc<str>,
    /// What the tool may do.
    pub(crate) effect: EffectKind,
    /// The arguments as JSON.
    pub(crate) arguments: Box<str>,
}

/// A call that the host answers itself, as the guest made it.
#[derive(Clone, Debug)]
pub(crate) struct HostCall {
    /// The guest's id of the call.
    pub(crate) guest_id: u32,
    /// What was asked for.
    pub(crate) method: Method,
    /// What it was asked of: an id, or nothing.
    pub(crate) target: Box<str>,
    /// The arguments as JSON.
    pub(crate) arguments: Box<str>,
}

/// A call that may be handed to the executor now.
#[derive(Debug)]
pub(crate) struct Start {
    pub(crate) guest_id: u32,
    pub(crate) number: u64,
    pub(crate) method: Method,
    pub(crate) tool: Arc<str>,
    pub(crate) arguments: Box<str>,
}

/// A reply on its way to the guest.
#[derive(Clone, Debug)]
pub(crate) struct Reply {
    pub(crate) call: u32,
    pub(crate) kind: SettlementKind,
    pub(crate) arrival_us: u64,
    pub(crate) payload: String,
}

/// What a reply says, before it has a stamp.
#[derive(Clone, Debug)]
pub(crate) enum Answer {
    Json(String),
    Text(String),
    Reject(Rejection),
}

#[derive(Debug)]
struct Live {
    number: u64,
    method: Method,
    tool: Arc<str>,
    effect: EffectKind,
    made: Instant,
    phase: Phase,
}

#[derive(Debug)]
enum Phase {
    Queued {
        arguments: Box<str>,
    },
    Running {
        handed_over: bool,
        approval_since: Option<Instant>,
        /// A person was asked.
        asked: bool,
        /// Kept where the call may have to be made by another process.
        arguments: Option<Box<str>>,
    },
}

/// The bounds of one cell's calls.
#[derive(Clone, Copy, Debug)]
pub(crate) struct CallBounds {
    /// Calls in flight.
    pub(crate) in_flight: usize,
    /// Bytes of queued arguments.
    pub(crate) queued_bytes: u64,
    /// Bytes of replies that wait.
    pub(crate) undelivered_bytes: u64,
    /// Bytes of one reply.
    pub(crate) message_bytes: u64,
}

/// A cell's calls.
#[derive(Debug)]
pub(crate) struct Calls {
    bounds: CallBounds,
    ledger: Ledger,
    live: HashMap<u32, Live>,
    queue: VecDeque<u32>,
    /// Calls that the host answers itself when there is room for their replies.
    host: VecDeque<(HostCall, Instant)>,
    host_ids: HashSet<u32>,
    queued_bytes: u64,
    in_flight: usize,
    replies: VecDeque<Reply>,
    reply_bytes: u64,
    last_stamp_us: u64,
    rejections: HashMap<u32, (u64, Refusal)>,
    rejection_order: VecDeque<(u32, u64)>,
    /// Nothing starts any more.
    closing: bool,
    finished: bool,
    /// The process is about to end: what no tool has heard of is another one's.
    parked: bool,
    /// Where replies are written down, if they are.
    journal: Option<Arc<Journal>>,
}

/// Why a call was rejected, as far as a failure's kind depends on it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Refusal {
    /// The whole turn was refused.
    TooMany,
    /// Anything else.
    Other,
}

impl Calls {
    pub(crate) fn new(bounds: CallBounds) -> Self {
        Self {
            bounds,
            ledger: Ledger::default(),
            live: HashMap::new(),
            queue: VecDeque::new(),
            host: VecDeque::new(),
            host_ids: HashSet::new(),
            queued_bytes: 0,
            in_flight: 0,
            replies: VecDeque::new(),
            reply_bytes: 0,
            last_stamp_us: 0,
            rejections: HashMap::new(),
            rejection_order: VecDeque::new(),
            closing: false,
            finished: false,
            parked: false,
            journal: None,
        }
    }

    /// From here on replies are written down.
    pub(crate) fn set_journal(&mut self, journal: &Arc<Journal>) {
        self.journal = Some(Arc::clone(journal));
    }

    fn note_step(&self, guest_id: u32, step: Step) {
        if let Some(journal) = &self.journal {
            journal.append(&Record::Step(guest_id, step));
        }
    }

    /// Takes the bounds of another leg.
    pub(crate) fn set_bounds(&mut self, bounds: CallBounds) {
        self.bounds = bounds;
    }

    pub(crate) fn ledger(&self) -> &Ledger {
        &self.ledger
    }

    /// Whether this many further calls with this many bytes of arguments may be queued.
    pub(crate) fn admits(&self, calls: usize, bytes: u64) -> bool {
        let free = self
            .bounds
            .in_flight
            .saturating_sub(self.in_flight + self.queue.len());
        let queued = self.queue.len() as u64 + calls.saturating_sub(free) as u64;
        queued <= QUEUED_CALLS && self.queued_bytes + bytes <= self.bounds.queued_bytes.max(1)
    }

    /// Whether a call of this id is outstanding: a guest that uses one twice is broken.
    pub(crate) fn is_live(&self, guest_id: u32) -> bool {
        self.live.contains_key(&guest_id) || self.host_ids.contains(&guest_id)
    }

    /// Takes a call into the ledger and the queue.
    pub(crate) fn enqueue(&mut self, call: NewCall, now: Instant) {
        let number = self.ledger.open(&call.tool);
        self.queued_bytes += call.arguments.len() as u64;
        self.queue.push_back(call.guest_id);
        let live = Live {
            number,
            method: call.method,
            tool: call.tool,
            effect: call.effect,
            made: now,
            phase: Phase::Queued {
                arguments: call.arguments,
            },
        };
        self.live.insert(call.guest_id, live);
    }

    /// Takes a call into the ledger that never gets as far as the queue, and answers it.
    pub(crate) fn refuse(
        &mut self,
        guest_id: u32,
        tool: &Arc<str>,
        effect: EffectKind,
        rejection: Rejection,
        now_us: u64,
    ) {
        let number = self.ledger.open(tool);
        self.ledger
            .close(number, Arc::clone(tool), CallState::NotStarted, effect);
        self.answer(guest_id, Answer::Reject(rejection), now_us);
    }

    /// Takes note of calls that the guest refused itself, without a frame.
    pub(crate) fn never_sent(&mut self, calls: u32) {
        self.ledger.never_sent(calls);
    }

    /// Takes a call that the host answers itself into its queue.
    pub(crate) fn enqueue_host(&mut self, call: HostCall, now: Instant) {
        self.queued_bytes += call.arguments.len() as u64;
        self.host_ids.insert(call.guest_id);
        self.host.push_back((call, now));
    }

    /// The next call that the host may answer, as long as there is room for what it says.
    pub(crate) fn next_for_host(&mut self) -> Option<HostCall> {
        if !self.has_reply_room() {
            return None;
        }
        self.take_host()
    }

    /// The oldest call that the host would answer, whether or not there is room for the reply.
    pub(crate) fn take_host(&mut self) -> Option<HostCall> {
        if self.closing || self.finished {
            return None;
        }
        let (call, _) = self.host.pop_front()?;
        self.host_ids.remove(&call.guest_id);
        self.queued_bytes -= call.arguments.len() as u64;
        Some(call)
    }

    /// Half of the room for replies belongs to the calls that are already in flight.
    fn has_reply_room(&self) -> bool {
        self.reply_bytes <= self.bounds.undelivered_bytes / 2
    }

    /// From here on nothing starts: the cell is over, what is queued never happens.
    pub(crate) fn close(&mut self) {
        self.closing = true;
    }

    /// The next call that may start, in the order in which the calls were made.
    pub(crate) fn next_to_start(&mut self) -> Option<Start> {
        let room = self.in_flight < self.bounds.in_flight && self.has_reply_room();
        if self.closing || self.finished || !room {
            return None;
        }
        let guest_id = self.queue.pop_front()?;
        let live = self.live.get_mut(&guest_id)?;
        let running = Phase::Running {
            handed_over: false,
            approval_since: None,
            asked: false,
            arguments: None,
        };
        let Phase::Queued { arguments } = std::mem::replace(&mut live.phase, running) else {
            return None;
        };
        if let (
            Phase::Running {
                arguments: kept, ..
            },
            true,
        ) = (&mut live.phase, self.journal.is_some())
        {
            *kept = Some(arguments.clone());
        }
        self.queued_bytes -= arguments.len() as u64;
        self.in_flight += 1;
        Some(Start {
            guest_id,
            number: live.number,
            method: live.method,
            tool: Arc::clone(&live.tool),
            arguments,
        })
    }

    /// The executor gives the call to its tool now: from here on, no clear outcome means unknown.
    /// `false` when the call was closed before: its tool must never hear of it.
    pub(crate) fn handed_over(&mut self, guest_id: u32) -> bool {
        if self.parked {
            return false;
        }
        let phase = self.live.get_mut(&guest_id).map(|live| &mut live.phase);
        if let Some(Phase::Running { handed_over, .. }) = phase {
            *handed_over = true;
            return true;
        }
        false
    }

    /// Whether a call that ended because its process does is made again by the next one: its tool
    /// never heard of it, or only reads and did not get to its end.
    fn is_for_later(&self, guest_id: u32, state: CallState) -> bool {
        self.live.get(&guest_id).is_some_and(|live| {
            let heard = matches!(
                live.phase,
                Phase::Running {
                    handed_over: true,
                    ..
                }
            );
            !heard || (live.effect == EffectKind::Read && state == CallState::Unknown)
        })
    }

    /// Writes down that the executor gets a call, where that must be known before: not of one that
    /// only reads. `None` when there is nothing to wait for.
    pub(crate) fn note_admitted(&self, guest_id: u32) -> Option<Arc<Journal>> {
        let live = self.live.get(&guest_id)?;
        let journal = self.journal.as_ref()?;
        if live.effect == EffectKind::Read {
            return None;
        }
        self.note_step(guest_id, Step::Admitted);
        Some(Arc::clone(journal))
    }

    /// Writes down that a call that waited for a person gets to its tool. `None` for any other.
    pub(crate) fn note_handed_over(&self, guest_id: u32) -> Option<Arc<Journal>> {
        let live = self.live.get(&guest_id)?;
        let journal = self.journal.as_ref()?;
        if live.effect == EffectKind::Read
            || !matches!(live.phase, Phase::Running { asked: true, .. })
        {
            return None;
        }
        self.note_step(guest_id, Step::HandedOver);
        Some(Arc::clone(journal))
    }

    /// The call waits for a person since now, or does so no longer.
    pub(crate) fn set_approval(&mut self, guest_id: u32, since: Option<Instant>) {
        if let Some(Phase::Running {
            approval_since,
            asked,
            ..
        }) = self.live.get_mut(&guest_id).map(|l| &mut l.phase)
        {
            *approval_since = since;
            *asked |= since.is_some();
            if since.is_some() {
                self.note_step(guest_id, Step::Waiting);
            }
        }
    }

    /// Closes a call that was started and queues its reply. `false` when there is no such call any
    /// more: the cell ended, or the call was closed by a clock.
    pub(crate) fn settle(
        &mut self,
        guest_id: u32,
        state: CallState,
        answer: Answer,
        now_us: u64,
    ) -> bool {
        if self.finished || (self.parked && self.is_for_later(guest_id, state)) {
            return false;
        }
        let Some(live) = self.live.remove(&guest_id) else {
            return false;
        };
        self.in_flight -= 1;
        self.ledger
            .close(live.number, Arc::clone(&live.tool), state, live.effect);
        let answer = self.bounded(answer, &live.tool, state);
        self.reply(guest_id, answer, Some(state), now_us);
        true
    }

    /// Queues a reply. A result that is larger than a message becomes a rejection: the sandbox takes
    /// no batch that holds one. A rejection is smaller than the smallest message by its own bound.
    pub(crate) fn answer(&mut self, guest_id: u32, answer: Answer, now_us: u64) {
        self.reply(guest_id, answer, None, now_us);
    }

    /// Queues the reply of a call that ended in this state, if it was a tool's and under way.
    fn reply(&mut self, guest_id: u32, answer: Answer, state: Option<CallState>, now_us: u64) {
        let (kind, payload) = match answer {
            Answer::Json(json) => (SettlementKind::ResolveJson, json),
            Answer::Text(text) => (SettlementKind::ResolveText, text),
            Answer::Reject(rejection) => {
                self.remember(guest_id, rejection.refusal());
                (SettlementKind::Reject, rejection.to_json())
            }
        };
        let bytes = payload.len() as u64;
        if kind == SettlementKind::Reject || bytes <= self.bounds.message_bytes {
            return self.push(guest_id, kind, payload, state, now_us);
        }
        self.remember(guest_id, Refusal::Other);
        let rejection = Rejection::answer_too_large(bytes, self.bounds.message_bytes);
        self.push(
            guest_id,
            SettlementKind::Reject,
            rejection.to_json(),
            state,
            now_us,
        );
    }

    /// Queues the settlement of the yields.
    pub(crate) fn push_yield(&mut self, now_us: u64) {
        self.push(0, SettlementKind::Yield, String::new(), None, now_us);
    }

    fn push(
        &mut self,
        call: u32,
        kind: SettlementKind,
        payload: String,
        state: Option<CallState>,
        now_us: u64,
    ) {
        let reply = Reply {
            call,
            kind,
            arrival_us: now_us.max(self.last_stamp_us + 1),
            payload,
        };
        if let Some(journal) = &self.journal {
            journal.append(&reply.to_record(state));
        }
        self.put(reply);
    }

    fn put(&mut self, reply: Reply) {
        self.last_stamp_us = reply.arrival_us;
        self.reply_bytes += reply.payload.len() as u64;
        self.replies.push_back(reply);
    }

    /// The answer, or the rejection that takes its place when it is too large to be delivered.
    fn bounded(&self, answer: Answer, tool: &Arc<str>, state: CallState) -> Answer {
        let bytes = match &answer {
            Answer::Json(text) | Answer::Text(text) => text.len() as u64,
            Answer::Reject(_) => return answer,
        };
        if bytes > self.bounds.message_bytes {
            return Answer::Reject(Rejection::reply_too_large(
                tool,
                state,
                bytes,
                self.bounds.message_bytes,
            ));
        }
        if self.reply_bytes + bytes > self.bounds.undelivered_bytes {
            return Answer::Reject(Rejection::replies_full(
                tool,
                state,
                self.bounds.undelivered_bytes,
            ));
        }
        answer
    }

    /// Takes the oldest replies, as many as fit into this many bytes, and at least one.
    pub(crate) fn take_replies(&mut self, max_bytes: u64) -> Vec<Reply> {
        let mut taken = Vec::new();
        let mut bytes = 0;
        while let Some(reply) = self.replies.front() {
            let cost = reply.payload.len() as u64 + 64;
            if !taken.is_empty() && bytes + cost > max_bytes {
                break;
            }
            bytes += cost;
            self.reply_bytes -= reply.payload.len() as u64;
            taken.extend(self.replies.pop_front());
        }
        taken
    }

    /// Takes exactly so many of the oldest replies, or none when there are not as many.
    pub(crate) fn take_exactly(&mut self, count: u64) -> Option<Vec<Reply>> {
        let count = usize::try_from(count)
            .ok()
            .filter(|count| *count <= self.replies.len())?;
        let taken: Vec<Reply> = self.replies.drain(..count).collect();
        self.reply_bytes -= taken
            .iter()
            .map(|reply| reply.payload.len() as u64)
            .sum::<u64>();
        Some(taken)
    }

    pub(crate) fn has_replies(&self) -> bool {
        !self.replies.is_empty()
    }

    /// The stamp of the newest reply; the guest's clock must not lag behind it.
    pub(crate) fn last_stamp_us(&self) -> u64 {
        self.last_stamp_us
    }

    /// Calls that were made and have no reply yet.
    pub(crate) fn outstanding(&self) -> usize {
        self.live.len()
    }

    /// Calls that were started and have no reply yet.
    pub(crate) fn in_flight(&self) -> usize {
        self.in_flight
    }

    /// Whether there are outstanding calls and every one of them waits for a person.
    pub(crate) fn all_wait_for_approval(&self) -> bool {
        !self.live.is_empty() && self.live.values().all(Live::waits_for_approval)
    }

    /// Whether any outstanding call waits for a person.
    pub(crate) fn any_waits_for_approval(&self) -> bool {
        self.live.values().any(Live::waits_for_approval)
    }

    /// Rejects the calls whose approval has been awaited for `ttl`, and gives their ids.
    pub(crate) fn expire_approvals(
        &mut self,
        ttl: Duration,
        now: Instant,
        now_us: u64,
    ) -> Vec<u32> {
        let is_due = |since: Instant| now.saturating_duration_since(since) >= ttl;
        let mut due: Vec<(u64, u32)> = self
            .live
            .iter()
            .filter(|(_, live)| live.approval_since().is_some_and(is_due))
            .map(|(id, live)| (live.number, *id))
            .collect();
        due.sort_unstable();
        let ids: Vec<u32> = due.into_iter().map(|(_, id)| id).collect();
        for id in &ids {
            let tool = Arc::clone(&self.live[id].tool);
            self.settle(
                *id,
                CallState::NotStarted,
                Answer::Reject(Rejection::approval_expired(&tool)),
                now_us,
            );
        }
        ids
    }

    /// When the next approval expires.
    pub(crate) fn next_approval_expiry(&self, ttl: Duration) -> Option<Instant> {
        self.live
            .values()
            .filter_map(Live::approval_since)
            .min()
            .map(|since| since + ttl)
    }

    /// The outstanding calls as a `waiting` result lists them, in the order in which they were made,
    /// and how many more there are. The list has at most [`PENDING_LISTED`] calls and `max_bytes` of
    /// JSON; what waits for a person or runs goes before what is queued.
    pub(crate) fn pending(&self, now: Instant, max_bytes: u64) -> (Vec<PendingCall>, u64) {
        let mut live: Vec<&Live> = self.live.values().collect();
        live.sort_unstable_by_key(|live| (live.rank(), live.number));
        live.truncate(PENDING_LISTED as usize);
        let mut left = max_bytes;
        let fits = |call: &&Live| {
            let cost = PENDING_CALL_BYTES + call.tool.len() as u64;
            left.checked_sub(cost).map(|rest| left = rest).is_some()
        };
        let mut shown: Vec<&Live> = live.into_iter().take_while(fits).collect();
        shown.sort_unstable_by_key(|live| live.number);
        let mut listed: Vec<PendingCall> =
            shown.into_iter().map(|live| live.to_pending(now)).collect();
        if listed.len() == self.live.len() {
            let room = PENDING_LISTED as usize - listed.len();
            let room = room.min((left / PENDING_CALL_BYTES) as usize);
            let host = self.host.iter().take(room);
            listed.extend(host.map(|(call, made)| call.to_pending(*made, now)));
        }
        let more = (self.live.len() + self.host.len() - listed.len()) as u64;
        (listed, more)
    }

    /// Ends everything: what was handed over without an outcome is unknown, the rest never started.
    pub(crate) fn finish(&mut self) {
        let mut live: Vec<Live> = self.live.drain().map(|(_, live)| live).collect();
        live.sort_unstable_by_key(|live| live.number);
        for call in live {
            let state = call.state_at_end();
            self.ledger
                .close(call.number, call.tool, state, call.effect);
        }
        self.queue.clear();
        self.host.clear();
        self.host_ids.clear();
        self.replies.clear();
        (self.in_flight, self.queued_bytes, self.reply_bytes) = (0, 0, 0);
        self.finished = true;
    }

    /// Why this call was rejected, if it was and that is still remembered.
    pub(crate) fn rejection_of(&self, guest_id: u32) -> Option<Refusal> {
        self.rejections.get(&guest_id).map(|(_, refusal)| *refusal)
    }

    fn remember(&mut self, guest_id: u32, refusal: Refusal) {
        let stamp = self.last_stamp_us + 1;
        self.rejections.insert(guest_id, (stamp, refusal));
        self.rejection_order.push_back((guest_id, stamp));
        if self.rejection_order.len() > REMEMBERED_REJECTIONS
            && let Some((oldest, stamp)) = self.rejection_order.pop_front()
            && self
                .rejections
                .get(&oldest)
                .is_some_and(|(of, _)| *of == stamp)
        {
            self.rejections.remove(&oldest);
        }
    }
}

/// Bytes of one listed call's JSON besides its tool, at the most.
const PENDING_CALL_BYTES: u64 = 140;

impl Reply {
    pub(crate) fn settlement(&self) -> Settlement<'_> {
        Settlement {
            call: self.call,
            kind: self.kind,
            arrival_us: self.arrival_us,
            payload: &self.payload,
        }
    }

    fn to_record(&self, state: Option<CallState>) -> Record {
        let head = Replied {
            call: self.call,
            kind: kind_number(self.kind),
            arrival_us: self.arrival_us,
            state,
        };
        Record::Replied(head, self.payload.clone())
    }
}

impl HostCall {
    fn to_pending(&self, made: Instant, now: Instant) -> PendingCall {
        PendingCall {
            id: format!("h{}", self.guest_id),
            method: method_name(self.method).to_owned(),
            tool: None,
            elapsed_ms: millis(now.saturating_duration_since(made)),
            state: PendingState::Queued,
        }
    }
}

impl Live {
    /// What a short list leaves out last has the lowest rank.
    fn rank(&self) -> u8 {
        match self.phase {
            Phase::Running {
                approval_since: Some(_),
                ..
            } => 0,
            Phase::Running { .. } => 1,
            Phase::Queued { .. } => 2,
        }
    }

    fn approval_since(&self) -> Option<Instant> {
        match self.phase {
            Phase::Running { approval_since, .. } => approval_since,
            Phase::Queued { .. } => None,
        }
    }

    fn waits_for_approval(&self) -> bool {
        self.approval_since().is_some()
    }

    fn state_at_end(&self) -> CallState {
        match self.phase {
            Phase::Running {
                handed_over: true, ..
            } => CallState::Unknown,
            Phase::Running { .. } | Phase::Queued { .. } => CallState::NotStarted,
        }
    }

    fn to_pending(&self, now: Instant) -> PendingCall {
        PendingCall {
            id: call_id(self.number),
            method: method_name(self.method).to_owned(),
            tool: Some(self.tool.to_string()),
            elapsed_ms: millis(now.saturating_duration_since(self.made)),
            state: match self.phase {
                Phase::Queued { .. } => PendingState::Queued,
                Phase::Running {
                    approval_since: Some(_),
                    ..
                } => PendingState::Approval,
                Phase::Running { .. } => PendingState::Running,
            },
        }
    }
}

/// The guest's function that makes such a call.
pub(crate) fn method_name(method: Method) -> &'static str {
    match method {
        Method::Call | Method::CallByName => "tools.call",
        Method::CallRaw => "tools.callRaw",
        Method::Search => "tools.search",
        Method::Describe => "tools.describe",
        Method::ApiSearch => "API.search",
        Method::Mcp => "MCP",
        Method::McpApi => "MCP.$api",
        Method::Namespace => "namespace",
        Method::ResultsSave => "results.save",
        Method::ResultsLoad => "results.load",
        Method::ResultsDelete => "results.delete",
        Method::Agents => "agents.run",
    }
}

mod stored;

pub(crate) use stored::CallsState;

#[cfg(test)]
mod tests;
