//! What the tools of a cell are doing, for the progress line.

use std::future::Future;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use codecell_tools::{EventSink, ToolEvent, ToolEventKind};

use crate::streams::Streams;

/// Nothing is shown before a wait is this long.
const PATIENCE: Duration = Duration::from_secs(1);

/// How often the line is brought up to date.
const REFRESH: Duration = Duration::from_millis(250);

/// Names on the line; the rest are counted.
const SHOWN_TOOLS: usize = 3;

/// The calls of this command, as the executor's events tell them.
#[derive(Default)]
pub(crate) struct Activity {
    state: Mutex<State>,
}

#[derive(Default)]
struct State {
    running: Vec<(Arc<str>, String)>,
    done: usize,
    /// Calls with an open question: the terminal belongs to them.
    asking: Vec<Arc<str>>,
}

impl EventSink for Activity {
    fn emit(&self, event: &ToolEvent) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        match &event.kind {
            ToolEventKind::PendingApproval { .. } => state.asking.push(Arc::clone(&event.call_id)),
            ToolEventKind::Started { .. } => {
                state.asking.retain(|call| *call != event.call_id);
                let name = event.tool.rsplit(':').next().unwrap_or_default().to_owned();
                state.running.push((Arc::clone(&event.call_id), name));
            }
            ToolEventKind::Completed { .. }
            | ToolEventKind::Error { .. }
            | ToolEventKind::Blocked { .. } => {
                state.asking.retain(|call| *call != event.call_id);
                state.running.retain(|(call, _)| *call != event.call_id);
                state.done += 1;
            }
        }
    }
}

impl Activity {
    /// The line; `None` while a person is asked.
    fn line(&self) -> Option<String> {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        if !state.asking.is_empty() {
            return None;
        }
        let names: Vec<&str> = state
            .running
            .iter()
            .take(SHOWN_TOOLS)
            .map(|(_, name)| name.as_str())
            .collect();
        let more = state.running.len().saturating_sub(SHOWN_TOOLS);
        Some(match (names.is_empty(), more) {
            (true, _) if state.done == 0 => "the cell runs".to_owned(),
            (true, _) => format!("the cell runs, {} calls done", state.done),
            (false, 0) => format!("{} running, {} calls done", names.join(", "), state.done),
            (false, more) => format!(
                "{} and {more} more running, {} calls done",
                names.join(", "),
                state.done
            ),
        })
    }

    /// Waits for a future, with progress on a terminal once that takes more than a second.
    pub(crate) async fn show_while<T>(
        &self,
        streams: &Streams,
        future: impl Future<Output = T>,
    ) -> T {
        if !streams.shows_progress() {
            return future.await;
        }
        let mut future = std::pin::pin!(future);
        let mut pause = PATIENCE;
        loop {
            tokio::select! {
                biased;
                result = &mut future => {
                    streams.end_progress();
                    return result;
                }
                () = tokio::time::sleep(pause) => {
                    pause = REFRESH;
                    match self.line() {
                        Some(line) => streams.progress(&line),
                        None => streams.end_progress(),
                    }
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn event(call: &str, kind: ToolEventKind) -> ToolEvent {
        ToolEvent {
            call_id: call.into(),
            parent_call: None,
            run_id: "r".into(),
            cell_id: None,
            tool: "openclaw:core:grep".into(),
            kind,
        }
    }

    #[test]
    fn the_line_follows_the_calls() {
        let activity = Activity::default();
        let started = || ToolEventKind::Started {
            arguments: serde_json::Value::Null,
        };
        assert_eq!(activity.line().as_deref(), Some("the cell runs"));
        for call in ["1", "2", "3", "4"] {
            activity.emit(&event(call, started()));
        }
        assert_eq!(
            activity.line().as_deref(),
            Some("grep, grep, grep and 1 more running, 0 calls done")
        );
        for call in ["1", "2", "3", "4"] {
            activity.emit(&event(
                call,
                ToolEventKind::Completed {
                    elapsed: Duration::ZERO,
                },
            ));
        }
        assert_eq!(
            activity.line().as_deref(),
            Some("the cell runs, 4 calls done")
        );
    }

    #[test]
    fn the_terminal_belongs_to_an_open_question() {
        let activity = Activity::default();
        let asking = ToolEventKind::PendingApproval {
            reason: String::new(),
            arguments: serde_json::Value::Null,
        };
        activity.emit(&event("1", asking));
        activity.emit(&event(
            "2",
            ToolEventKind::Completed {
                elapsed: Duration::ZERO,
            },
        ));
        assert_eq!(
            activity.line(),
            None,
            "another call's end closes no question"
        );
        activity.emit(&event(
            "1",
            ToolEventKind::Blocked {
                code: "approval_denied".into(),
            },
        ));
        assert!(activity.line().is_some());
    }
}
