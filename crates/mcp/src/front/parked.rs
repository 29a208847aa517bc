//! Calls that wait for an answer which the client brings with its next request.
//!
//! The stateless life-cycle has no questions from the server: the call is answered with what is to be
//! asked and a state, and asked again with the answers. Until then the call lies here, under a state
//! of 128 random bits that is good for one use, in its own session only, and for a bounded time.

use std::collections::HashMap;
use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use tokio::time::Instant;
use tokio_util::task::AbortOnDropHandle;

use super::ask::Question;
use super::call::Call;

/// How long a client may take to answer. Source: the contract's default life of a suspended cell.
pub(crate) const PATIENCE: Duration = Duration::from_secs(900);

/// Calls of one session that may lie here; beyond it the oldest is dropped, which aborts its cell.
const MAX_PARKED: usize = 64;

struct Entry {
    call: Call,
    question: Question,
    due: Instant,
    /// Comes back when it is due.
    _expiry: AbortOnDropHandle<()>,
}

/// The parked calls of one session.
#[derive(Default)]
pub(crate) struct Parked {
    entries: Mutex<HashMap<String, Entry>>,
}

impl Parked {
    /// Keeps a call under this state.
    pub(crate) fn put(
        &self,
        state: String,
        call: Call,
        question: Question,
        expiry: AbortOnDropHandle<()>,
    ) {
        let due = Instant::now() + PATIENCE;
        let mut gone = Vec::new();
        let mut entries = self.entries();
        if entries.len() >= MAX_PARKED {
            let oldest = entries.iter().min_by_key(|(_, entry)| entry.due);
            let oldest = oldest.map(|(state, _)| state.clone());
            gone.extend(oldest.and_then(|state| entries.remove(&state)));
        }
        let entry = Entry {
            call,
            question,
            due,
            _expiry: expiry,
        };
        entries.insert(state, entry);
        drop(entries);
    }

    /// Takes the call of this state, if there is one.
    pub(crate) fn take(&self, state: &str) -> Option<(Call, Question)> {
        let entry = self.entries().remove(state)?;
        Some((entry.call, entry.question))
    }

    /// Drops what nobody came back for in time.
    pub(crate) fn sweep(&self) {
        let now = Instant::now();
        let mut entries = self.entries();
        let late: Vec<String> = entries
            .iter()
            .filter(|(_, entry)| entry.due <= now || entry.question.is_moot())
            .map(|(state, _)| state.clone())
            .collect();
        let gone: Vec<_> = late
            .iter()
            .filter_map(|state| entries.remove(state))
            .collect();
        // What a dropped call does is none of this lock's business.
        drop(entries);
        drop(gone);
    }

    fn entries(&self) -> std::sync::MutexGuard<'_, HashMap<String, Entry>> {
        self.entries.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
