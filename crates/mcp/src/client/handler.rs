//! What a server may say unasked, and what it gets for it.
//!
//! Changed lists are told to the actor of the server, logs go to our own log. A question for a
//! person goes the way of the approvals of the call that it belongs to. Whoever asks for a model gets
//! none, and there are no roots to tell of.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};

use codecell_tools::approval::FormAnswer;
#[expect(deprecated, reason = "servers of the older revisions log")]
use rmcp::model::{
    ClientCapabilities, ClientConfig, ElicitRequestParams, ElicitResult, ElicitationCapability,
    FormElicitationCapability, Implementation, LoggingLevel, LoggingMessageNotificationParam,
    ProgressNotificationParam, ProtocolVersion,
};
use rmcp::service::{NotificationContext, RequestContext};
use rmcp::{ClientHandler, ErrorData, RoleClient};
use serde_json::Value;
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::forms;
use super::signs::Signs;

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
    pub(super) signs: Signs,
    pub(super) can_ask: bool,
    pub(super) max_questions: usize,
}

impl Handler {
    /// The answer of a person to a question of a server that does not say which call it is for.
    async fn ask(&self, params: &Value, withdrawn: &CancellationToken) -> FormAnswer {
        let Some(asked) = self.signs.person(self.max_questions) else {
            return FormAnswer::Declined;
        };
        tokio::select! {
            biased;
            () = withdrawn.cancelled() => FormAnswer::Cancelled,
            () = asked.ended.cancelled() => FormAnswer::Cancelled,
            answer = forms::ask(&self.server, params, &asked.person) => answer,
        }
    }
}

impl ClientHandler for Handler {
    async fn create_elicitation(
        &self,
        request: ElicitRequestParams,
        context: RequestContext<RoleClient>,
    ) -> Result<ElicitResult, ErrorData> {
        let params = serde_json::to_value(&request).unwrap_or_default();
        Ok(forms::result(self.ask(&params, &context.ct).await))
    }

    async fn on_progress(
        &self,
        params: ProgressNotificationParam,
        _: NotificationContext<RoleClient>,
    ) {
        self.signs.progress(&params.progress_token);
    }

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
        let mut capabilities = ClientCapabilities::default();
        if self.can_ask {
            let forms = ElicitationCapability::new().with_form(FormElicitationCapability::new());
            capabilities.elicitation = Some(forms);
        }
        ClientConfig::new(capabilities, us)
            .with_protocol_version(ProtocolVersion::LATEST_WITH_INITIALIZE)
    }
}
