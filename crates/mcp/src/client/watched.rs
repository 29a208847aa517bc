//! What stands around every transport: it says when it has ended, and lets no server flood us.

use std::borrow::Cow;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::JsonRpcMessage;
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::time::Instant;
use tokio_util::sync::{CancellationToken, DropGuard};

use super::limits::ClientLimits;

/// A transport with both.
pub(super) struct Watched<T> {
    inner: T,
    throttle: Throttle,
    _ended: DropGuard,
}

impl<T> Watched<T> {
    /// `ended` fires when the transport is gone, its process with it.
    pub(super) fn new(inner: T, limits: ClientLimits, ended: &CancellationToken) -> Self {
        Self {
            inner,
            throttle: Throttle::new(limits),
            _ended: ended.clone().drop_guard(),
        }
    }
}

impl<T: Transport<RoleClient> + 'static> Transport<RoleClient> for Watched<T> {
    type Error = T::Error;

    fn name() -> Cow<'static, str> {
        T::name()
    }

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        self.inner.send(item)
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            let message = self.inner.receive().await?;
            let is_answer = matches!(
                message,
                JsonRpcMessage::Response(_) | JsonRpcMessage::Error(_)
            );
            if is_answer || self.throttle.admits() {
                return Some(message);
            }
            // A flood leaves the others of this thread their turn.
            tokio::task::yield_now().await;
        }
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}

/// Counts what a server sends unasked.
struct Throttle {
    second: Instant,
    seen: u32,
    max: u32,
}

impl Throttle {
    fn new(limits: ClientLimits) -> Self {
        Self {
            second: Instant::now(),
            seen: 0,
            max: limits.max_notifications_per_second,
        }
    }

    fn admits(&mut self) -> bool {
        if self.second.elapsed() >= Duration::from_secs(1) {
            self.second = Instant::now();
            self.seen = 0;
        }
        self.seen = self.seen.saturating_add(1);
        self.seen <= self.max
    }
}
