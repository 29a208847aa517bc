//! Background commands of this process.
//!
//! A session is seen by the calls of the agent session that started it and by no other. All die when the tools are dropped.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};
use tokio::process::ChildStdin;
use tokio::time::Instant;
use tokio_util::sync::CancellationToken;
use tokio_util::task::AbortOnDropHandle;

use super::hunt::Quarry;
use super::job::{Job, Order, SharedOutput, Shell, exit_code, lock};
use super::millis;
use crate::core::error::CoreError;

/// Characters of the command that `list` shows.
const SHOWN_COMMAND_CHARS: usize = 200;

/// The background commands.
#[derive(Debug, Default)]
pub(crate) struct Sessions {
    all: Mutex<Registry>,
}

#[derive(Debug, Default)]
struct Registry {
    next: u64,
    sessions: BTreeMap<u64, Arc<Session>>,
}

/// One background command, running or finished.
#[derive(Debug)]
pub(super) struct Session {
    id: u64,
    owner: Arc<str>,
    command: String,
    started: Instant,
    stdout: SharedOutput,
    stderr: SharedOutput,
    pub(super) stdin: tokio::sync::Mutex<Option<ChildStdin>>,
    quarry: Option<Quarry>,
    pub(super) stop: CancellationToken,
    ended: Arc<Ended>,
    /// Ends the supervision when the session is forgotten.
    _task: AbortOnDropHandle<()>,
}

/// How it ended, once it has.
#[derive(Debug, Default)]
struct Ended {
    state: Mutex<Option<(Option<i32>, Duration)>>,
    done: CancellationToken,
}

impl Ended {
    fn get(&self) -> Option<(Option<i32>, Duration)> {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn set(&self, code: Option<i32>, after: Duration) {
        *self.state.lock().unwrap_or_else(PoisonError::into_inner) = Some((code, after));
        self.done.cancel();
    }
}

impl Sessions {
    /// Starts a command; without `timeout` it runs until it ends, is killed, or the tools are dropped.
    pub(super) fn start(
        &self,
        shell: &Shell,
        order: &Order<'_>,
        timeout: Option<Duration>,
        owner: &Arc<str>,
    ) -> Result<String, CoreError> {
        let mut all = self.lock();
        all.make_room(shell.limits.sessions)?;
        let mut job = shell.spawn(order)?;
        all.next += 1;
        let id = all.next;
        let (stop, ended) = (CancellationToken::new(), Arc::new(Ended::default()));
        let session = Session {
            id,
            owner: Arc::clone(owner),
            command: order.command.chars().take(SHOWN_COMMAND_CHARS).collect(),
            started: Instant::now(),
            stdout: Arc::clone(&job.stdout),
            stderr: Arc::clone(&job.stderr),
            stdin: tokio::sync::Mutex::new(job.stdin()),
            quarry: job.quarry(),
            stop: stop.clone(),
            ended: Arc::clone(&ended),
            _task: AbortOnDropHandle::new(tokio::spawn(supervise(job, timeout, stop, ended))),
        };
        all.sessions.insert(id, Arc::new(session));
        Ok(name(id))
    }

    /// The session `id` of `owner`.
    pub(super) fn get(&self, id: &str, owner: &str) -> Result<Arc<Session>, CoreError> {
        let all = self.lock();
        let found = id
            .strip_prefix(PREFIX)
            .and_then(|id| id.parse().ok())
            .and_then(|id: u64| all.sessions.get(&id));
        found
            .filter(|session| &*session.owner == owner)
            .cloned()
            .ok_or_else(|| {
                let known: Vec<_> = all.of(owner).map(|session| name(session.id)).collect();
                let known = if known.is_empty() {
                    "there is none".to_owned()
                } else {
                    format!("known are {}", known.join(", "))
                };
                CoreError::Process(format!("no background session {id:?}; {known}"))
            })
    }

    /// All sessions of `owner`, oldest first.
    pub(super) fn list(&self, owner: &str) -> Value {
        let all = self.lock();
        let lines: Vec<Value> = all.of(owner).map(|session| session.summary()).collect();
        json!({"sessions": lines})
    }

    fn lock(&self) -> MutexGuard<'_, Registry> {
        self.all.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Kills every command; blocks for milliseconds. The tools do this when they are dropped.
    pub(crate) fn kill_all(&self) {
        let sessions = std::mem::take(&mut self.lock().sessions);
        for session in sessions.values() {
            session.stop.cancel();
            if session.ended.get().is_none() {
                session.quarry.iter().for_each(Quarry::kill);
            }
        }
    }
}

impl Drop for Sessions {
    fn drop(&mut self) {
        self.kill_all();
    }
}

impl Registry {
    fn of<'a>(&'a self, owner: &'a str) -> impl Iterator<Item = &'a Arc<Session>> {
        self.sessions
            .values()
            .filter(move |session| &*session.owner == owner)
    }

    fn make_room(&mut self, limit: usize) -> Result<(), CoreError> {
        let finished: Vec<u64> = self
            .sessions
            .values()
            .filter(|s| s.ended.get().is_some())
            .map(|s| s.id)
            .collect();
        if self.sessions.len() - finished.len() >= limit {
            return Err(CoreError::Process(format!(
                "{limit} background sessions run already; kill one with process first"
            )));
        }
        let over = (finished.len() + 1).saturating_sub(limit);
        for id in finished.into_iter().take(over) {
            self.sessions.remove(&id);
        }
        Ok(())
    }
}

const PREFIX: &str = "bg";

fn name(id: u64) -> String {
    format!("{PREFIX}{id}")
}

async fn supervise(
    mut job: Job,
    timeout: Option<Duration>,
    stop: CancellationToken,
    ended: Arc<Ended>,
) {
    let started = Instant::now();
    let overtime = async {
        match timeout {
            Some(timeout) => tokio::time::sleep(timeout).await,
            None => std::future::pending().await,
        }
    };
    let code = tokio::select! {
        status = job.wait() => status.ok().map(exit_code),
        () = overtime => None,
        () = stop.cancelled() => None,
    };
    let after = started.elapsed();
    job.end().await;
    ended.set(code, after);
}

impl Session {
    fn summary(&self) -> Value {
        let (running, code, after) = self.state();
        json!({"sessionId": name(self.id), "command": self.command, "running": running, "exitCode": code, "durationMs": millis(after)})
    }

    fn state(&self) -> (bool, Option<i32>, Duration) {
        match self.ended.get() {
            Some((code, after)) => (false, code, after),
            None => (true, None, self.started.elapsed()),
        }
    }

    /// The state, and the output since the last look.
    pub(super) fn poll(&self) -> Value {
        // The state is read first: a session seen as ended has all its output here.
        let (running, code, after) = self.state();
        let (stdout, cut_out) = lock(&self.stdout).take();
        let (stderr, cut_err) = lock(&self.stderr).take();
        json!({
            "sessionId": name(self.id), "running": running, "exitCode": code, "durationMs": millis(after),
            "stdout": stdout, "stderr": stderr, "truncated": cut_out || cut_err,
        })
    }

    /// Kills the command and waits until nothing of it is left.
    pub(super) async fn kill(&self) {
        self.stop.cancel();
        self.ended.done.cancelled().await;
    }
}
