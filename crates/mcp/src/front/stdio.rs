//! The front on stdin and stdout: one client, one session, nothing but protocol.

use std::future::Future;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use rmcp::ServiceExt as _;
use rmcp::service::{RoleServer, RxJsonRpcMessage, ServerInitializeError, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::async_rw::AsyncRwTransport;
use rmcp::transport::io::stdio_pipes;
use tokio::io::{AsyncRead, AsyncWrite};
use tokio::sync::Notify;
use tokio_util::sync::CancellationToken;

use super::handler::{Door, Front, FrontParts, Handler};

/// The longest message that is read; a longer one is skipped.
const MAX_MESSAGE_BYTES: usize = 4 << 20;

/// Answers that wait to be written; beyond it nothing is read.
const MAX_UNWRITTEN: usize = 256;

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

/// A transport that reads no further while its client does not read what was written for it.
struct Bounded<T> {
    inner: T,
    unwritten: Arc<Unwritten>,
}

#[derive(Default)]
struct Unwritten {
    count: AtomicUsize,
    less: Notify,
}

/// One message on its way out.
struct OnItsWay(Arc<Unwritten>);

impl OnItsWay {
    fn new(unwritten: &Arc<Unwritten>) -> Self {
        unwritten.count.fetch_add(1, Ordering::AcqRel);
        Self(Arc::clone(unwritten))
    }
}

impl Drop for OnItsWay {
    fn drop(&mut self) {
        self.0.count.fetch_sub(1, Ordering::AcqRel);
        self.0.less.notify_one();
    }
}

impl<T> Bounded<T> {
    fn new(inner: T) -> Self {
        Self {
            inner,
            unwritten: Arc::default(),
        }
    }
}

impl<T: Transport<RoleServer>> Transport<RoleServer> for Bounded<T> {
    type Error = T::Error;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleServer>,
    ) -> impl Future<Output = Result<(), Self::Error>> + Send + 'static {
        let on_its_way = OnItsWay::new(&self.unwritten);
        let sending = self.inner.send(item);
        async move {
            let sent = sending.await;
            drop(on_its_way);
            sent
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleServer>> {
        while self.unwritten.count.load(Ordering::Acquire) >= MAX_UNWRITTEN {
            self.unwritten.less.notified().await;
        }
        self.inner.receive().await
    }

    async fn close(&mut self) -> Result<(), Self::Error> {
        self.inner.close().await
    }
}
