//! The client of one request: what it wants to hear of it, and how it can be asked.
#![expect(
    deprecated,
    reason = "logging is deprecated in the newest revision and part of those that clients speak"
)]

use std::sync::Arc;

use codecell_tools::ToolEventKind;
use rmcp::model::{
    LoggingLevel, LoggingMessageNotificationParam, ProgressNotificationParam, ProgressToken,
    ProtocolVersion,
};
use rmcp::service::{Peer, RequestContext, RoleServer};
use serde_json::{Value, json};
use tokio_util::sync::CancellationToken;

use super::hub::Heard;
use super::session::{Session, severity};

/// How a client can be asked something while its call is under way.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Asking {
    /// Not at all: the configured answer holds.
    Nobody,
    /// By a request of ours.
    Now,
    /// By an answer that demands another request.
    NextRequest,
}

/// The client of one request.
pub(crate) struct Client {
    pub(crate) peer: Peer<RoleServer>,
    pub(crate) cancelled: CancellationToken,
    pub(crate) asking: Asking,
    progress: Option<ProgressToken>,
    /// What a client without a connection wants to hear of this request; `None` for one that has a
    /// connection, and said so there.
    level: Option<Option<LoggingLevel>>,
    session: Arc<Session>,
}

impl Client {
    pub(crate) fn of(context: &RequestContext<RoleServer>, session: &Arc<Session>) -> Self {
        let is_stateless = is_stateless(context);
        let can_be_asked = context
            .client_capabilities()
            .and_then(|capabilities| capabilities.elicitation)
            // Neither form nor URL named means forms, as the first revision with elicitation had it.
            .is_some_and(|elicitation| elicitation.form.is_some() || elicitation.url.is_none());
        Self {
            peer: context.peer.clone(),
            cancelled: context.ct.clone(),
            asking: match (can_be_asked, is_stateless) {
                (false, _) => Asking::Nobody,
                (true, false) => Asking::Now,
                (true, true) => Asking::NextRequest,
            },
            progress: context.meta.get_progress_token(),
            level: is_stateless.then(|| context.meta.log_level()),
            session: Arc::clone(session),
        }
    }

    fn wants(&self, level: LoggingLevel) -> bool {
        match self.level {
            Some(asked) => asked.is_some_and(|asked| severity(level) >= severity(asked)),
            None => self.session.wants(level),
        }
    }

    /// Tells of one step of a nested call, as progress and as a log message, as far as the client
    /// wants either. A client that does not read holds up its own request only.
    pub(crate) async fn tell(&self, heard: &Heard) {
        let telling = async {
            if let Some(token) = &self.progress {
                let progress = ProgressNotificationParam::new(token.clone(), heard.count as f64)
                    .with_message(sentence(heard));
                let _ = self.peer.notify_progress(progress).await;
            }
            let level = level_of(&heard.event.kind);
            if self.wants(level) {
                let message = LoggingMessageNotificationParam::new(level, record(heard))
                    .with_logger("codecell");
                let _ = self.peer.notify_logging_message(message).await;
            }
        };
        tokio::select! {
            () = telling => {}
            () = self.cancelled.cancelled() => {}
        }
    }
}

/// Whether a request stands for itself, as in the revisions without `initialize`.
pub(crate) fn is_stateless(context: &RequestContext<RoleServer>) -> bool {
    context
        .protocol_version()
        .is_some_and(|version| version >= ProtocolVersion::V_2026_07_28)
}

fn sentence(heard: &Heard) -> String {
    let tool = codecell_tools::approval::escape_for_display(&heard.event.tool);
    match &heard.event.kind {
        ToolEventKind::PendingApproval { .. } => format!("{tool} waits for an approval"),
        ToolEventKind::Started { .. } => format!("{tool} started"),
        ToolEventKind::Completed { elapsed } => {
            format!("{tool} done in {} ms", elapsed.as_millis())
        }
        ToolEventKind::Error { code, .. } => format!("{tool} failed: {code}"),
        ToolEventKind::Blocked { code } => format!("{tool} was not run: {code}"),
    }
}

const fn level_of(kind: &ToolEventKind) -> LoggingLevel {
    match kind {
        ToolEventKind::Started { .. } => LoggingLevel::Debug,
        ToolEventKind::Completed { .. } => LoggingLevel::Info,
        ToolEventKind::PendingApproval { .. } => LoggingLevel::Notice,
        ToolEventKind::Error { .. } | ToolEventKind::Blocked { .. } => LoggingLevel::Warning,
    }
}

/// The event for a log. Arguments and results stay out of it.
fn record(heard: &Heard) -> Value {
    let event = &heard.event;
    let (what, elapsed, code) = match &event.kind {
        ToolEventKind::PendingApproval { .. } => ("approval", None, None),
        ToolEventKind::Started { .. } => ("started", None, None),
        ToolEventKind::Completed { elapsed } => ("completed", Some(elapsed), None),
        ToolEventKind::Error { code, elapsed } => ("error", Some(elapsed), Some(code)),
        ToolEventKind::Blocked { code } => ("blocked", None, Some(code)),
    };
    let mut record = json!({"event": what, "tool": &*event.tool, "callId": &*event.call_id});
    if let Some(cell) = &event.cell_id {
        record["cellId"] = json!(&**cell);
    }
    if let Some(elapsed) = elapsed {
        record["elapsedMs"] = json!(elapsed.as_millis() as u64);
    }
    if let Some(code) = code {
        record["code"] = json!(code);
    }
    record
}
