//! What stands behind the front: the seam to the composition root.

use std::sync::Arc;

use async_trait::async_trait;
use codecell_tools::ModelSurface;
use tokio::sync::watch;

/// Whose cells they are, as the front tells its sessions apart.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub struct SessionScope {
    /// The session or principal. Unguessable, or the name of somebody who proved it; unique in the
    /// life of the process.
    pub key: Arc<str>,
    /// Whether a cell may be suspended here: only where somebody can come back to it.
    pub may_suspend: bool,
}

/// A value that a session kept, or that was kept for it because it was too large.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct SavedValue {
    /// Its id within the session.
    pub id: String,
    /// Its size as JSON.
    pub bytes: u64,
}

/// Why there is nothing to show or call, in words for the client.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{0}")]
pub struct BackendError(pub String);

/// The two tools of every session.
#[async_trait]
pub trait Backend: Send + Sync + 'static {
    /// The surface of now: tools, policy and options are taken anew, so that what changed upstream
    /// shows in the next cell. `words` are what it is wanted for, such as a program: a server that they
    /// name is worth waiting for.
    ///
    /// # Errors
    /// When the tools of now make no catalog.
    async fn surface(
        &self,
        scope: &SessionScope,
        words: &str,
    ) -> Result<Arc<dyn ModelSurface>, BackendError>;

    /// Ends a session: its cells are dropped, its saved results and its lasting answers forgotten.
    fn end_session(&self, scope: &SessionScope);

    /// The values that the session has kept.
    fn saved(&self, scope: &SessionScope) -> Vec<SavedValue>;

    /// One of them, as JSON.
    fn read_saved(&self, scope: &SessionScope, id: &str) -> Option<String>;

    /// Moves whenever tools may have come, gone or changed.
    fn changes(&self) -> watch::Receiver<u64>;

    /// A number that is another one whenever the catalog of now is another one; `None` while there
    /// is none.
    async fn catalog_mark(&self) -> Option<u64>;

    /// 128 unpredictable bits.
    fn random_bits(&self) -> u128;
}
