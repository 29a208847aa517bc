//! What goes on in a connection besides requests and answers: whose calls are under way, which
//! requests make progress, whether a person is being asked.
//!
//! Servers of the older revisions ask without saying which call it is for. A question is asked on
//! behalf of a call that is under way, and only if all of them belong to one session: nobody is ever
//! asked about somebody else's call.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use codecell_tools::{CallContext, MidCallApprovals};
use rmcp::model::ProgressToken;
use tokio::sync::{Notify, watch};
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

/// Longer than any process waits for an answer, and short enough to be added to a time of now.
const FAR_AWAY: Duration = Duration::from_secs(365 * 24 * 3600);

/// The signs of one connection. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Signs(Arc<Inner>);

#[derive(Debug, Default)]
struct Inner {
    calls: Mutex<Vec<Calling>>,
    progressed: Mutex<HashMap<ProgressToken, Arc<Notify>>>,
    /// Questions that are open.
    asked: watch::Sender<usize>,
}

/// A call that is under way.
#[derive(Debug)]
struct Calling {
    ctx: CallContext,
    /// Questions asked on its behalf.
    questions: usize,
    ended: CancellationToken,
}

/// Ends what was begun for a call.
pub(super) struct CallGuard {
    signs: Signs,
    ended: CancellationToken,
    _end: DropGuard,
}

/// Somebody to ask on behalf of a call, for as long as it is under way.
pub(super) struct Asked {
    pub(super) person: MidCallApprovals,
    pub(super) ended: CancellationToken,
    _hold: Hold,
}

/// Lets the time of all requests stand still.
struct Hold(Signs);

impl Signs {
    /// Takes note of a call, until the guard is dropped.
    pub(super) fn calling(&self, ctx: &CallContext) -> CallGuard {
        let ended = CancellationToken::new();
        self.calls().push(Calling {
            ctx: ctx.clone(),
            questions: 0,
            ended: ended.clone(),
        });
        CallGuard {
            signs: self.clone(),
            _end: ended.clone().drop_guard(),
            ended,
        }
    }

    /// Who is to be asked, if it is clear whose call it is and it has not asked too often.
    pub(super) fn person(&self, max_questions: usize) -> Option<Asked> {
        let mut calls = self.calls();
        let session = |calling: &Calling| {
            let ctx = &calling.ctx;
            [&ctx.owner, &ctx.agent_id, &ctx.session_key].map(Arc::clone)
        };
        let whose = session(calls.first()?);
        if calls.iter().any(|calling| session(calling) != whose) {
            return None;
        }
        let calling = calls.last_mut()?;
        calling.questions += 1;
        (calling.questions <= max_questions).then(|| Asked {
            person: calling.ctx.approvals.clone(),
            ended: calling.ended.clone(),
            _hold: self.hold(),
        })
    }

    fn hold(&self) -> Hold {
        self.0.asked.send_modify(|count| *count += 1);
        Hold(self.clone())
    }

    /// Takes note of progress.
    pub(super) fn progress(&self, token: &ProgressToken) {
        if let Some(waiting) = self.progressed().get(token) {
            waiting.notify_one();
        }
    }

    /// The time of one request, which begins now.
    pub(super) fn time(&self, token: ProgressToken, timeout: Duration, in_all: Duration) -> Time {
        let progressed = Arc::new(Notify::new());
        self.progressed()
            .insert(token.clone(), Arc::clone(&progressed));
        let now = Instant::now();
        let after = |time| now.checked_add(time).unwrap_or(now + FAR_AWAY);
        Time {
            asked: self.0.asked.subscribe(),
            signs: self.clone(),
            token,
            progressed,
            timeout: timeout.min(FAR_AWAY),
            silent_until: after(timeout),
            at_most_until: after(in_all),
        }
    }

    fn calls(&self) -> MutexGuard<'_, Vec<Calling>> {
        self.0.calls.lock().unwrap_or_else(PoisonError::into_inner)
    }

    fn progressed(&self) -> MutexGuard<'_, HashMap<ProgressToken, Arc<Notify>>> {
        let progressed = self.0.progressed.lock();
        progressed.unwrap_or_else(PoisonError::into_inner)
    }
}

impl Drop for CallGuard {
    fn drop(&mut self) {
        self.ended.cancel();
        let ended = |calling: &Calling| calling.ended.is_cancelled();
        self.signs.calls().retain(|calling| !ended(calling));
    }
}

impl Drop for Hold {
    fn drop(&mut self) {
        self.0.0.asked.send_modify(|count| *count -= 1);
    }
}

/// The time that a request may take. It begins anew with each sign of progress, up to a bound, and
/// stands still while a person is asked.
pub(super) struct Time {
    signs: Signs,
    token: ProgressToken,
    progressed: Arc<Notify>,
    asked: watch::Receiver<usize>,
    timeout: Duration,
    silent_until: Instant,
    at_most_until: Instant,
}

impl Time {
    /// Returns when it is over. Safe to be dropped and called again.
    pub(super) async fn over(&mut self) {
        loop {
            let is_asked = *self.asked.borrow_and_update() > 0;
            let until = self.silent_until.min(self.at_most_until);
            let begun = Instant::now();
            tokio::select! {
                biased;
                () = self.progressed.notified() => self.silent_until = Instant::now() + self.timeout,
                // The sender is ours.
                _ = self.asked.changed() => {}
                () = tokio::time::sleep_until(until), if !is_asked => return,
            }
            if is_asked {
                self.silent_until += begun.elapsed();
                self.at_most_until += begun.elapsed();
            }
        }
    }
}

impl Drop for Time {
    fn drop(&mut self) {
        self.signs.progressed().remove(&self.token);
    }
}
