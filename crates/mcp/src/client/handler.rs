//! What a server may say unasked, and what it gets for it.
//!
//! Changed lists are told to the actor of the server, logs go to our own log, everything that asks
//! a person or a model is declined: a program's tool call has nobody to ask but the approvals that
//! were settled before it.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

#[expect(deprecated, reason = "servers of the older revisions log")]
use rmcp::model::{
    ClientCapabilities, ClientConfig, Implementation, LoggingLevel,
    LoggingMessageNotificationParam, ProtocolVersion,
};
use rmcp::service::NotificationContext;
use rmcp::{ClientHandler, RoleClient};
use tokio::sync::Notify;

/// The most of one log message that is kept, in characters.
const MAX_LOG_CHARS: usize = 2_000;

/// Whether a server's lists are other than when they were read. Cheap to clone.
#[derive(Clone, Debug, Default)]
pub(super) struct Staleness {
    is_stale: Arc<AtomicBool>,
    changed: Arc<Notify>,
}

impl Staleness {
    pub(super) fn mark(&self) {
        self.is_stale.store(true, Ordering::Release);
        self.changed.notify_one();
    }

    /// Whether the lists are to be read again; they count as read from here on.
    pub(super) fn take(&self) -> bool {
        self.is_stale.swap(false, Ordering::AcqRel)
    }

    /// Waits for the next change. The lists stay stale until they are taken.
    pub(super) async fn changed(&self) {
        self.changed.notified().await;
    }
}

/// Our end of a connection.
#[derive(Clone, Debug)]
pub(super) struct Handler {
    pub(super) server: Arc<str>,
    pub(super) staleness: Staleness,
}

impl ClientHandler for Handler {
    async fn on_tool_list_changed(&self, _: NotificationContext<RoleClient>) {
        self.staleness.mark();
    }

    #[expect(deprecated, reason = "servers of the older revisions log")]
    async fn on_logging_message(
        &self,
        params: LoggingMessageNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        let text: String = match params.data.as_str() {
            Some(text) => text.chars().take(MAX_LOG_CHARS).collect(),
            None => params
                .data
                .to_string()
                .chars()
                .take(MAX_LOG_CHARS)
                .collect(),
        };
        let server = &*self.server;
        match params.level {
            LoggingLevel::Debug => tracing::debug!(server, text, "the MCP server says"),
            LoggingLevel::Info | LoggingLevel::Notice => {
                tracing::info!(server, text, "the MCP server says");
            }
            _ => tracing::warn!(server, text, "the MCP server says"),
        }
    }

    fn get_info(&self) -> ClientConfig {
        let us = Implementation::new("codecell", env!("CARGO_PKG_VERSION"));
        ClientConfig::new(ClientCapabilities::default(), us)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }
}
