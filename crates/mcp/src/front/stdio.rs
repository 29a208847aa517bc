//! The front on stdin and stdout: one client, one session, nothing but protocol.

use std::collections::HashSet;
use std::future::Future;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use rmcp::ServiceExt as _;
use rmcp::model::{ClientNotification, JsonRpcMessage, RequestId};
use rmcp::service::{RoleServer, RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::stdio_pipes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::handler::{Door, Front, FrontParts, Handler};
use super::session::MAX_CALLS;

/// The longest message that is read; a longer one is skipped.
const MAX_MESSAGE_BYTES: usize = 4 << 20;

/// Requests without an answer, and messages that wait to be written; beyond either nothing is read.
/// Well above the calls of a session, so that answers to questions of ours are read.
const MAX_OPEN: usize = 4 * MAX_CALLS;

/// Why the connection did not come to be.
#[derive(Debug, thiserror::Error)]
pub enum StdioError {
    /// The first message was no request of the protocol.
    #[error("the client did not speak the protocol: {0}")]
    Handshake(String),
}

/// Serves the client at stdin and stdout until it leaves or `stop` is cancelled.
///
/// # Errors
/// When the client does not begin as the protocol has it.
pub async fn serve_stdio(parts: FrontParts, stop: CancellationToken) -> Result<(), StdioError> {
    let (read, write) = stdio_pipes();
    serve_pipes(parts, read, write, stop).await
}

async fn serve_pipes<R, W>(
    parts: FrontParts,
    read: R,
    write: W,
    stop: CancellationToken,
) -> Result<(), StdioError>
where
    R: AsyncRead + Send + Unpin + 'static,
    W: AsyncWrite + Send + Unpin + 'static,
{
    let front = Front::new(parts);
    let pipes = AsyncRwTransport::new_server(read, write).with_max_line_length(MAX_MESSAGE_BYTES);
    let handler = Handler::new(&front, Door::Stdio);
    let serving = handler.serve_with_ct(Bounded::new(pipes), stop.child_token());
    let service = tokio::select! {
        service = serving => service,
        () = stop.cancelled() => return Ok(()),
    };
    match service {
        Ok(service) => {
            let ended = service.waiting().await;
            tracing::debug!(?ended, "the client has left");
            Ok(())
        }
        Err(ServerInitializeError::ConnectionClosed(_) | ServerInitializeError::Cancelled) => {
            Ok(())
        }
        Err(error) => Err(StdioError::Handshake(error.to_string())),
    }
}

/// A transport that reads no further while its client does not read what was written for it, or has
/// asked for more than anybody answers at once.
struct Bounded<T> {
    inner: T,
    open: Arc<Open>,
}

/// What the client still has to get.
#[derive(Default)]
struct Open {
    /// Requests without an answer.
    unanswered: Mutex<HashSet<RequestId>>,
    /// Messages that are being written.
    unwritten: AtomicUsize,
    less: Notify,
}

impl Open {
    fn is_full(&self) -> bool {
        self.unwritten.load(Ordering::Acquire) >= MAX_OPEN || self.unanswered().len() >= MAX_OPEN
    }

    fn received(&self, message: &RxJsonRpcMessage<RoleServer>) {
        match message {
            JsonRpcMessage::Request(request) => {
                self.unanswered().insert(request.id.clone());
            }
            JsonRpcMessage::Notification(notification) => {
                // Whoever cancels gets no answer.
                if let ClientNotification::CancelledNotification(cancelled) =
                    &notification.notification
                    && let Some(id) = &cancelled.params.request_id
                {
                    self.unanswered().remove(id);
                }
            }
            _ => {}
        }
    }

    /// No code of others runs under this lock.
    fn unanswered(&self) -> MutexGuard<'_, HashSet<RequestId>> {
        self.unanswered
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// One message on its way out.
struct OnItsWay {
    open: Arc<Open>,
    answers: Option<RequestId>,
}

impl OnItsWay {
    fn new(open: &Arc<Open>, message: &TxJsonRpcMessage<RoleServer>) -> Self {
        open.unwritten.fetch_add(1, Ordering::AcqRel);
        Self {
            open: Arc::clone(open),
            answers: match message {
                JsonRpcMessage::Response(response) => Some(response.id.clone()),
                JsonRpcMessage::Error(error) => error.id.clone(),
                _ => None,
            },
        }
    }
}

impl Drop for OnItsWay {
    fn drop(&mut self) {
        if let Some(id) = &self.answers {
            self.open.unanswered().remove(id);
        }
        self.open.unwritten.fetch_sub(1, Ordering::AcqRel);
        self.open.less.notify_one();
    }
}

impl<T> Bounded<T> {
    fn new(inner: T) -> Self {
        Self {
            inner,
            open: Arc::default(),
        }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Bounded<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let on_its_way = OnItsWay::new(&self.open, &item);
        let sending = self.inner.send(item);
        async move {
            let sent = sending.await;
            drop(on_its_way);
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        while self.open.is_full() {
            self.open.less.notified().await;
        }
        let message = self.inner.receive().await?;
        self.open.received(&message);
        Some(message)
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
