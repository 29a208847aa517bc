//! One session of the front: a scope, what its client wants to hear, and its bounds.
//!
//! The last owner of a session ends it: whatever way a connection dies, its cells go with it.
#![expect(
    deprecated,
    reason = "logging is deprecated in the newest revision and part of those that clients speak"
)]

use std::sync::atomic::{AtomicU8, Ordering};
use std::sync::{Arc, Mutex, PoisonError, Weak};

use rmcp::model::LoggingLevel;
use tokio::sync::Semaphore;

use super::backend::{Backend, SessionScope};
use super::parked::Parked;

/// Calls of one session that may be under way at once; beyond it they are refused.
pub(crate) const MAX_CALLS: usize = 128;

/// One session.
pub(crate) struct Session {
    pub(crate) scope: SessionScope,
    pub(crate) backend: Arc<dyn Backend>,
    pub(crate) calls: Semaphore,
    pub(crate) parked: Parked,
    level: AtomicU8,
}

impl Session {
    /// A session of its own, which nobody can name.
    pub(crate) fn unguessable(backend: &Arc<dyn Backend>, may_suspend: bool) -> Arc<Self> {
        let key = format!("mcp-{:032x}", backend.random_bits());
        Self::of_key(backend, &key, may_suspend)
    }

    fn of_key(backend: &Arc<dyn Backend>, key: &str, may_suspend: bool) -> Arc<Self> {
        Arc::new(Self {
            scope: SessionScope {
                key: key.into(),
                may_suspend,
            },
            backend: Arc::clone(backend),
            calls: Semaphore::new(MAX_CALLS),
            parked: Parked::default(),
            level: AtomicU8::new(severity(LoggingLevel::Warning)),
        })
    }

    /// Whether the client of a connection wants to hear of this.
    pub(crate) fn wants(&self, level: LoggingLevel) -> bool {
        severity(level) >= self.level.load(Ordering::Relaxed)
    }

    /// What the client wants to hear from now on.
    pub(crate) fn set_level(&self, level: LoggingLevel) {
        self.level.store(severity(level), Ordering::Relaxed);
    }
}

impl Drop for Session {
    fn drop(&mut self) {
        self.backend.end_session(&self.scope);
    }
}

/// The severities in order; the SDK's type has none.
pub(crate) fn severity(level: LoggingLevel) -> u8 {
    match level {
        LoggingLevel::Debug => 0,
        LoggingLevel::Info => 1,
        LoggingLevel::Notice => 2,
        LoggingLevel::Warning => 3,
        LoggingLevel::Error => 4,
        LoggingLevel::Critical => 5,
        LoggingLevel::Alert => 6,
        LoggingLevel::Emergency => 7,
    }
}

/// The sessions of those who are authenticated and keep no connection: one for each principal, as
/// long as the server lives.
pub(crate) struct Principals {
    /// Part of every key, so that a session of this server means nothing in another.
    instance: String,
    known: Mutex<Vec<(Arc<str>, Arc<Session>)>>,
}

impl Principals {
    pub(crate) fn new(backend: &Arc<dyn Backend>) -> Self {
        Self {
            instance: format!("{:032x}", backend.random_bits()),
            known: Mutex::default(),
        }
    }

    /// The session of a principal. There are as many as there are tokens.
    pub(crate) fn session(&self, backend: &Arc<dyn Backend>, principal: &Arc<str>) -> Arc<Session> {
        let mut known = self.known.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, session)) = known.iter().find(|(name, _)| name == principal) {
            return Arc::clone(session);
        }
        let key = format!("mcp-{}-{principal}", self.instance);
        let session = Session::of_key(backend, &key, true);
        known.push((Arc::clone(principal), Arc::clone(&session)));
        session
    }
}

/// A session that does not keep it alive.
pub(crate) type WeakSession = Weak<Session>;
