//! What a server of revision 2026-07-28 tells of changes: on a stream that we have to ask for.
//!
//! A stream that ends is opened again, after ever longer pauses. What happened in between is not
//! known, so the lists count as changed. Only changes of the tools are asked for: resources and
//! prompts are read when somebody wants them. What arrives has passed the bound on notifications.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{ErrorCode, ProtocolVersion, ServerPeerInfo, SubscriptionFilter};
use rmcp::service::{Peer, ServiceError};
use tokio::time::Instant;

use super::handler::Staleness;
use super::limits::ClientLimits;

/// Where news of a server go.
pub(super) struct News {
    pub(super) server: Arc<str>,
    pub(super) peer: Peer<RoleClient>,
    pub(super) staleness: Staleness,
    pub(super) limits: ClientLimits,
    /// How long the server may take to open the stream.
    pub(super) patience: Duration,
}

/// Whether a server tells of changes in this way.
pub(super) fn are_offered(info: &ServerPeerInfo) -> bool {
    let tools = info.capabilities.tools.as_ref();
    info.protocol_version >= ProtocolVersion::V_2026_07_28
        && tools.is_some_and(|tools| tools.list_changed == Some(true))
}

impl News {
    /// Listens until it is dropped, or the server says that it has no such stream.
    pub(super) async fn listen(self) {
        let mut pause = self.limits.first_pause;
        let mut has_missed = false;
        loop {
            let begun = Instant::now();
            match self.follow(&mut has_missed).await {
                End::ForGood => return,
                End::ForNow => {}
            }
            if begun.elapsed() > self.limits.max_pause {
                pause = self.limits.first_pause;
            }
            tracing::debug!(server = &*self.server, "an MCP server tells no news now");
            tokio::time::sleep(pause).await;
            pause = pause.saturating_mul(2).min(self.limits.max_pause);
        }
    }

    /// One stream, from its opening to its end.
    async fn follow(&self, has_missed: &mut bool) -> End {
        let filter = SubscriptionFilter::builder().tools_list_changed().build();
        let opening = tokio::time::timeout(self.patience, self.peer.listen(filter));
        let mut stream = match opening.await {
            Ok(Ok(stream)) => stream,
            Ok(Err(error)) => return End::of(&error),
            Err(_late) => return End::ForNow,
        };
        if std::mem::replace(has_missed, true) {
            self.staleness.mark();
        }
        loop {
            match stream.next().await {
                Ok(Some(_)) => self.staleness.mark(),
                Ok(None) => return End::ForNow,
                Err(error) => return End::of(&error),
            }
        }
    }
}

/// How a stream ended, or did not begin.
enum End {
    ForNow,
    ForGood,
}

impl End {
    fn of(error: &ServiceError) -> Self {
        match error {
            ServiceError::McpError(error) if error.code == ErrorCode::METHOD_NOT_FOUND => {
                Self::ForGood
            }
            _ => Self::ForNow,
        }
    }
}
