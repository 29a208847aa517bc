//! From the executor's events to the requests that they concern.
//!
//! A request listens for its own cell only, and only in its own session: an `exec` by its call id,
//! since its cell has no id yet, a `wait` by the cell's. A listener that does not keep up loses
//! events, never the executor its time; the count that each event carries goes on.

use std::sync::{Arc, Mutex, PoisonError};

use codecell_tools::{EventSink, ToolEvent};
use tokio::sync::mpsc;

/// Events that wait for one request.
const BACKLOG: usize = 64;

/// Which calls a request wants to hear of.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Concern {
    /// Those nested in this call of the model.
    Call(Arc<str>),
    /// Those of this cell.
    Cell(Arc<str>),
}

impl Concern {
    pub(crate) fn covers(&self, parent: Option<&Arc<str>>, cell: Option<&Arc<str>>) -> bool {
        match self {
            Self::Call(call) => parent == Some(call),
            Self::Cell(id) => cell == Some(id),
        }
    }
}

/// One event, and how many there were of this kind of concern before and with it.
#[derive(Debug, Clone)]
pub(crate) struct Heard {
    pub(crate) event: ToolEvent,
    pub(crate) count: u64,
}

struct Listener {
    session: Arc<str>,
    concern: Concern,
    count: u64,
    sender: mpsc::Sender<Heard>,
}

/// Passes the executor's events on to the requests of the front.
#[derive(Default)]
pub struct EventHub {
    listeners: Mutex<Vec<Listener>>,
}

impl EventHub {
    /// Listens until the receiver is dropped. `session` is the run that the events must be of.
    pub(crate) fn listen(&self, session: &Arc<str>, concern: Concern) -> mpsc::Receiver<Heard> {
        let (sender, receiver) = mpsc::channel(BACKLOG);
        self.listeners().push(Listener {
            session: Arc::clone(session),
            concern,
            count: 0,
            sender,
        });
        receiver
    }

    /// No code of others runs under this lock.
    fn listeners(&self) -> std::sync::MutexGuard<'_, Vec<Listener>> {
        self.listeners
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

impl EventSink for EventHub {
    fn emit(&self, event: &ToolEvent) {
        self.listeners().retain_mut(|listener| {
            if listener.session == event.run_id
                && listener
                    .concern
                    .covers(event.parent_call.as_ref(), event.cell_id.as_ref())
            {
                listener.count += 1;
                let heard = Heard {
                    event: event.clone(),
                    count: listener.count,
                };
                // Full: this one is lost, and the next one's count says so.
                let _ = listener.sender.try_send(heard);
            }
            !listener.sender.is_closed()
        });
    }
}

#[cfg(test)]
mod tests {
    use std::time::Duration;

    use codecell_tools::ToolEventKind;

    use super::*;

    fn event(run: &str, parent: &str, cell: &str) -> ToolEvent {
        ToolEvent {
            call_id: "c".into(),
            parent_call: Some(parent.into()),
            run_id: run.into(),
            cell_id: Some(cell.into()),
            tool: "openclaw:core:ls".into(),
            kind: ToolEventKind::Completed {
                elapsed: Duration::ZERO,
            },
        }
    }

    #[test]
    fn a_request_hears_of_its_own_cell_in_its_own_session_only() {
        let hub = EventHub::default();
        let mut by_call = hub.listen(&"s1".into(), Concern::Call("exec-1".into()));
        let mut by_cell = hub.listen(&"s1".into(), Concern::Cell("cm_1".into()));
        let mut foreign = hub.listen(&"s2".into(), Concern::Cell("cm_1".into()));
        hub.emit(&event("s1", "exec-1", "cm_1"));
        hub.emit(&event("s1", "exec-2", "cm_2"));
        assert_eq!(by_call.try_recv().map(|heard| heard.count), Ok(1));
        assert_eq!(by_cell.try_recv().map(|heard| heard.count), Ok(1));
        assert!(by_call.try_recv().is_err() && by_cell.try_recv().is_err());
        assert!(foreign.try_recv().is_err());
    }

    #[test]
    fn a_slow_listener_loses_events_and_keeps_the_count() {
        let hub = EventHub::default();
        let mut slow = hub.listen(&"s".into(), Concern::Call("e".into()));
        for _ in 0..BACKLOG + 10 {
            hub.emit(&event("s", "e", "c"));
        }
        for _ in 0..BACKLOG {
            assert!(slow.try_recv().is_ok());
        }
        hub.emit(&event("s", "e", "c"));
        let count = slow.try_recv().map(|heard| heard.count);
        assert_eq!(count, Ok(BACKLOG as u64 + 11));
        drop(slow);
        hub.emit(&event("s", "e", "c"));
        assert!(hub.listeners().is_empty());
    }
}
