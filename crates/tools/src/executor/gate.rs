//! Turns: sequential tools run alone and in the order in which they were called.
//!
//! A session has one gate. Parallel calls share it; a sequential call first takes its place in
//! line, which it keeps through hooks and approvals, and then waits until it has the gate for
//! itself.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use tokio::sync::{Mutex as FairMutex, OwnedMutexGuard, OwnedRwLockReadGuard};
use tokio::sync::{OwnedRwLockWriteGuard, RwLock};

use crate::tool::Execution;

/// Gates are forgotten with their last call; beyond this many entries the dead ones are swept.
const SWEEP_ABOVE: usize = 256;

#[derive(Default)]
struct Gate {
    line: Arc<FairMutex<()>>,
    floor: Arc<RwLock<()>>,
}

/// The gates of all sessions.
#[derive(Default)]
pub(super) struct Gates {
    by_session: Mutex<HashMap<Arc<str>, Weak<Gate>>>,
}

/// A call's place in line.
pub(super) struct Place {
    gate: Arc<Gate>,
    execution: Execution,
    _line: Option<OwnedMutexGuard<()>>,
}

/// The right to run now.
pub(super) enum Turn {
    Shared { _floor: OwnedRwLockReadGuard<()> },
    Alone { _floor: OwnedRwLockWriteGuard<()> },
    Free,
}

impl Gates {
    /// Takes a place; waits only if the call is sequential and others are before it.
    pub(super) async fn arrive(&self, session: &Arc<str>, execution: Execution) -> Place {
        let gate = self.gate(session);
        let line = match execution {
            Execution::Sequential => Some(Arc::clone(&gate.line).lock_owned().await),
            Execution::Parallel | Execution::Nesting => None,
        };
        Place {
            gate,
            execution,
            _line: line,
        }
    }

    fn gate(&self, session: &Arc<str>) -> Arc<Gate> {
        let mut table = self
            .by_session
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if let Some(gate) = table.get(session).and_then(Weak::upgrade) {
            return gate;
        }
        if table.len() >= SWEEP_ABOVE {
            table.retain(|_, gate| gate.strong_count() > 0);
        }
        let gate = Arc::new(Gate::default());
        table.insert(Arc::clone(session), Arc::downgrade(&gate));
        gate
    }
}

impl Place {
    /// Waits until the call may run.
    pub(super) async fn turn(&self) -> Turn {
        let floor = Arc::clone(&self.gate.floor);
        match self.execution {
            Execution::Parallel => Turn::Shared {
                _floor: floor.read_owned().await,
            },
            Execution::Sequential => Turn::Alone {
                _floor: floor.write_owned().await,
            },
            Execution::Nesting => Turn::Free,
        }
    }
}
