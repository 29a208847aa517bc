//! How long blocking work may go on.
//!
//! Blocking loops ask [`Stop::check`] at every entry, file or block that they handle, so that work on a
//! blocking thread ends soon after its call was aborted or dropped.

use tokio_util::sync::CancellationToken;

use super::error::CoreError;

/// The abort signal of one call, as blocking code sees it.
#[derive(Debug, Clone)]
pub(crate) struct Stop(CancellationToken);

impl Stop {
    /// A signal that follows `token`.
    pub(crate) fn new(token: CancellationToken) -> Self {
        Self(token)
    }

    /// Whether the work should end.
    pub(crate) fn is_set(&self) -> bool {
        self.0.is_cancelled()
    }

    /// Goes on, or ends the work.
    ///
    /// # Errors
    /// [`CoreError::Stopped`] once the call was aborted or dropped.
    pub(crate) fn check(&self) -> Result<(), CoreError> {
        if self.is_set() {
            Err(CoreError::Stopped)
        } else {
            Ok(())
        }
    }
}
