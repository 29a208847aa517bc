//! Runs cases in a guest, with the batches that a test asks for.

#![expect(
    clippy::panic,
    reason = "a guest that breaks the bridge's rules fails the test"
)]

use std::time::{Duration, Instant};

use codecell_sandbox::abi::{PROGRAM_CLOSE, PROGRAM_OPEN};
use codecell_sandbox::{
    Entry, EvalFlags, Frame, Guest, GuestThread, Limits, Program, Sandbox, Settlement,
    SettlementKind, Slice, SliceEnd, StopHandle,
};
use serde_json::{Value, json};

use super::{Case, Outcome, Rng, START_US};

/// How settlements are grouped into entries of the guest.
#[derive(Clone, Copy, Debug)]
pub enum Batches {
    /// One by one; this run defines the order.
    Single,
    /// Grouped at random as far as the order allows, by this seed.
    Random(u64),
}

/// What a run in the guest showed.
#[derive(Clone, Debug)]
pub struct Observed {
    /// The outcome.
    pub outcome: Outcome,
    /// The labels in the order in which they settled, each with its instant.
    pub order: Vec<(usize, u64)>,
    /// Entries into the guest.
    pub entries: usize,
}

/// Runs a case. With an order, calls settle in that order and at those instants; without, by priority.
///
/// # Panics
///
/// When the guest breaks the bridge's rules, so that the test fails with what it did.
#[must_use]
pub fn run_in_guest(
    sandbox: &Sandbox,
    thread: &GuestThread,
    case: &Case,
    order: Option<&[(usize, u64)]>,
    batches: Batches,
) -> Observed {
    let program = Program {
        source: &format!("{PROGRAM_OPEN}\n{}\n{PROGRAM_CLOSE}", case.code),
        injection: "",
        catalog: None,
        limits: Limits::default(),
        first_line: 0,
        flags: EvalFlags::default(),
    };
    let guest = sandbox
        .start(&program)
        .unwrap_or_else(|error| panic!("start: {error}"));
    World {
        case,
        guest,
        thread,
        now_us: START_US,
        pending: Vec::new(),
        output: Vec::new(),
        end: None,
        order: Vec::new(),
        entries: 0,
    }
    .run(order, batches)
}

struct World<'a> {
    case: &'a Case,
    guest: Guest,
    thread: &'a GuestThread,
    now_us: u64,
    pending: Vec<(u32, usize)>,
    output: Vec<String>,
    end: Option<String>,
    order: Vec<(usize, u64)>,
    entries: usize,
}

impl World<'_> {
    fn run(mut self, order: Option<&[(usize, u64)]>, batches: Batches) -> Observed {
        let mut rng = Rng::new(if let Batches::Random(seed) = batches {
            seed
        } else {
            0
        });
        let slice = self.guest.eval(
            self.thread,
            &self.entry(Some([7; 32])),
            &StopHandle::default(),
        );
        let mut next_timer = self.take(slice.unwrap_or_else(|error| panic!("eval: {error}")));
        while self.end.is_none() {
            let batch = self.choose(order, batches, &mut rng);
            match (batch.last(), next_timer) {
                (Some(last), _) => self.now_us = last.1,
                (None, Some(due)) => self.now_us = due,
                (None, None) => panic!("pending without calls or timers"),
            }
            next_timer = self.deliver(&batch);
        }
        let outcome = Outcome {
            output: self.output,
            end: self.end.unwrap_or_default(),
        };
        Observed {
            outcome,
            order: self.order,
            entries: self.entries,
        }
    }

    fn entry(&self, seed: Option<[u8; 32]>) -> Entry {
        let minute = Duration::from_secs(60);
        Entry {
            now_us: self.now_us,
            seed,
            deadline: Instant::now() + minute,
            guest_budget: minute,
        }
    }

    /// The next settlements: label and instant.
    fn choose(
        &self,
        order: Option<&[(usize, u64)]>,
        batches: Batches,
        rng: &mut Rng,
    ) -> Vec<(usize, u64)> {
        let Some(order) = order else {
            return self.by_priority();
        };
        let rest = order.get(self.order.len()..).unwrap_or_default();
        let known =
            |(label, _): &&(usize, u64)| self.pending.iter().any(|(_, pending)| pending == label);
        let possible = rest.iter().take_while(known).count();
        let count = match batches {
            Batches::Single => possible.min(1),
            Batches::Random(_) if possible > 0 => 1 + rng.below(possible as u64) as usize,
            Batches::Random(_) => 0,
        };
        rest[..count].to_vec()
    }

    fn by_priority(&self) -> Vec<(usize, u64)> {
        let settlings = &self.case.settlings;
        let chosen = self
            .pending
            .iter()
            .min_by_key(|(_, label)| settlings[*label].priority);
        chosen
            .map(|(_, label)| (*label, self.now_us + settlings[*label].gap_us))
            .into_iter()
            .collect()
    }

    fn deliver(&mut self, batch: &[(usize, u64)]) -> Option<u64> {
        let replies: Vec<_> = batch
            .iter()
            .map(|(label, at)| self.settle(*label, *at))
            .collect();
        let settlements: Vec<_> = replies.iter().map(|reply| reply.settlement()).collect();
        let entry = self.entry(None);
        let slice = self
            .guest
            .resume(self.thread, &settlements, &entry, &StopHandle::default());
        self.take(slice.unwrap_or_else(|error| panic!("resume: {error}")))
    }

    fn settle(&mut self, label: usize, at: u64) -> Reply {
        let position = self
            .pending
            .iter()
            .position(|(_, pending)| *pending == label);
        let (call, _) = self
            .pending
            .remove(position.unwrap_or_else(|| panic!("call {label} is not pending")));
        self.order.push((label, at));
        let ok = self.case.settlings[label].ok;
        let payload = if ok {
            label.to_string()
        } else {
            json!({ "message": format!("no {label}") }).to_string()
        };
        Reply {
            call,
            ok,
            at,
            payload,
        }
    }

    /// Takes what a slice gave; returns when the next timer is due.
    fn take(&mut self, slice: Slice) -> Option<u64> {
        self.entries += 1;
        for frame in slice.frames {
            self.frame(frame);
        }
        match slice.end {
            SliceEnd::Done if self.end.is_some() => None,
            SliceEnd::Pending { next_timer_us } => next_timer_us,
            SliceEnd::Deadlock => {
                self.end = Some("deadlock".to_owned());
                None
            }
            end => panic!("the slice ended as {end:?} with {:?}", self.end),
        }
    }

    fn frame(&mut self, frame: Frame) {
        match frame {
            Frame::Call { id, arguments, .. } => {
                let arguments: Value = serde_json::from_str(&arguments).unwrap_or_default();
                self.pending
                    .push((id, arguments["k"].as_u64().unwrap_or(u64::MAX) as usize));
            }
            Frame::Output { text, .. } => self.output.push(text.into()),
            Frame::Value(_) => self.end = Some("done".to_owned()),
            Frame::Error { source, json } => self.end = Some(describe(source, &json)),
            Frame::Turn { refused: false, .. } => {}
            other => panic!("unexpected frame {other:?}"),
        }
    }
}

struct Reply {
    call: u32,
    ok: bool,
    at: u64,
    payload: String,
}

impl Reply {
    fn settlement(&self) -> Settlement<'_> {
        let kind = if self.ok {
            SettlementKind::ResolveJson
        } else {
            SettlementKind::Reject
        };
        Settlement {
            call: self.call,
            kind,
            arrival_us: self.at,
            payload: &self.payload,
        }
    }
}

fn describe(source: codecell_sandbox::ErrorSource, json: &str) -> String {
    let error: Value = serde_json::from_str(json).unwrap_or_default();
    let message = |error: &Value| match error["name"].as_str() {
        // Engines word the failure of Promise.any differently.
        Some("AggregateError") => "aggregate".to_owned(),
        _ => error["message"].as_str().unwrap_or_default().to_owned(),
    };
    if source != codecell_sandbox::ErrorSource::Unhandled {
        return format!("program: {}", message(&error));
    }
    let others = error["others"]
        .as_array()
        .map(Vec::as_slice)
        .unwrap_or_default();
    let mut messages: Vec<_> = std::iter::once(&error).chain(others).map(message).collect();
    messages.sort();
    format!("unhandled: {}", messages.join(", "))
}
