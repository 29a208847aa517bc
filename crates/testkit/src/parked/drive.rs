//! The world around a life: answers calls one by one in the order in which they were made, lets timers
//! fire, resumes yields. It is the same for every life, so lives can be compared.

use serde_json::Value;

use super::{Life, Pause, Reply, Step};
use crate::promises::START_US;

/// Time that passes before each answer.
const GAP_US: u64 = 1500;

/// Answers after which a program is taken for endless.
const MAX_ANSWERS: usize = 2000;

/// A call as the program made it.
#[derive(Clone, Debug)]
pub struct Call {
    /// Its method, as the bridge names it.
    pub method: String,
    /// Its target.
    pub target: String,
    /// Its arguments.
    pub arguments: Value,
}

/// What a call comes to.
#[derive(Clone, Debug)]
pub enum Answer {
    /// It resolves with this.
    Value(Value),
    /// It rejects with this message.
    Error(String),
}

/// Drives a program to its end; returns everything that it wrote, in order.
pub fn drive(
    life: &mut dyn Life,
    source: &str,
    answer: &mut dyn FnMut(&Call) -> Answer,
) -> Vec<Value> {
    let mut world = World {
        now_us: START_US,
        pending: Vec::new(),
        written: Vec::new(),
    };
    let mut pause = world.take(life.start(source, START_US));
    for _ in 0..MAX_ANSWERS {
        let Some(replies) = world.next(&pause, answer) else {
            return world.written;
        };
        let step = life.go_on(&replies, world.now_us);
        pause = world.take(step);
    }
    world.written.push(Value::from("endless"));
    world.written
}

struct World {
    now_us: u64,
    pending: Vec<(u32, Call)>,
    written: Vec<Value>,
}

impl World {
    fn take(&mut self, step: Step) -> Pause {
        for frame in step.frames {
            if let Some(id) = frame["call"].as_u64() {
                self.pending.push((id as u32, call(&frame)));
            }
            self.written.push(frame);
        }
        step.pause
    }

    /// What happens next; nothing when the program is over.
    fn next(
        &mut self,
        pause: &Pause,
        answer: &mut dyn FnMut(&Call) -> Answer,
    ) -> Option<Vec<Reply>> {
        match pause {
            Pause::Over => None,
            Pause::Yielded(_) => {
                self.now_us += GAP_US;
                Some(vec![Reply {
                    call: None,
                    ok: true,
                    at_us: self.now_us,
                    payload: String::new(),
                }])
            }
            Pause::Waits(_) if !self.pending.is_empty() => {
                self.now_us += GAP_US;
                let (id, call) = self.pending.remove(0);
                Some(vec![reply(id, answer(&call), self.now_us)])
            }
            Pause::Waits(due) => {
                self.now_us = self.now_us.max((*due)?);
                Some(Vec::new())
            }
        }
    }
}

fn call(frame: &Value) -> Call {
    let text = |key: &str| frame[key].as_str().unwrap_or_default().to_owned();
    let arguments = serde_json::from_str(&text("arguments")).unwrap_or_default();
    Call {
        method: text("method"),
        target: text("target"),
        arguments,
    }
}

fn reply(id: u32, answer: Answer, at_us: u64) -> Reply {
    let (ok, payload) = match answer {
        Answer::Value(value) => (true, value.to_string()),
        Answer::Error(message) => (
            false,
            serde_json::json!({ "message": message, "code": "failed" }).to_string(),
        ),
    };
    Reply {
        call: Some(id),
        ok,
        at_us,
        payload,
    }
}
