//! Connections: counted, timed, and ended together.

use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use hyper::server::conn::http1;
use hyper_util::rt::{TokioIo, TokioTimer};
use hyper_util::service::TowerToHyperService;
use tokio::net::{TcpListener, TcpStream};
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio::task::JoinSet;
use tokio_util::sync::CancellationToken;

/// Connections at once; more wait to be accepted.
const MAX_CONNECTIONS: usize = 1024;

/// How long a client may take from its connection, or its last request, to the end of a request's
/// head.
const HEAD_PATIENCE: Duration = Duration::from_secs(30);

/// The largest head of a request.
const MAX_HEAD_BYTES: usize = 64 << 10;

/// How long connections may take to finish when the server stops.
const FAREWELL: Duration = Duration::from_secs(2);

/// How long to pause when the system gives no connection, as when descriptors run out.
const PAUSE: Duration = Duration::from_millis(100);

/// Accepts until `stop` is cancelled.
pub(super) async fn serve(listener: TcpListener, router: Router, stop: CancellationToken) {
    let room = Arc::new(Semaphore::new(MAX_CONNECTIONS));
    let mut connections = JoinSet::new();
    loop {
        let accepted = tokio::select! {
            biased;
            () = stop.cancelled() => break,
            Some(_) = connections.join_next() => continue,
            accepted = accept(&listener, &room) => accepted,
        };
        match accepted {
            Some((stream, place)) => {
                connections.spawn(connection(stream, router.clone(), stop.clone(), place));
            }
            None => tokio::time::sleep(PAUSE).await,
        }
    }
    drop(listener);
    let finish = async { while connections.join_next().await.is_some() {} };
    if tokio::time::timeout(FAREWELL, finish).await.is_err() {
        tracing::debug!("connections were cut at the end");
    }
}

async fn accept(
    listener: &TcpListener,
    room: &Arc<Semaphore>,
) -> Option<(TcpStream, OwnedSemaphorePermit)> {
    let place = Arc::clone(room).acquire_owned().await.ok()?;
    match listener.accept().await {
        Ok((stream, _)) => Some((stream, place)),
        Err(error) => {
            tracing::warn!(%error, "a connection could not be accepted");
            None
        }
    }
}

async fn connection(
    stream: TcpStream,
    router: Router,
    stop: CancellationToken,
    place: OwnedSemaphorePermit,
) {
    // Without this small answers wait for others.
    let _ = stream.set_nodelay(true);
    let serving = http1::Builder::new()
        .timer(TokioTimer::new())
        .header_read_timeout(HEAD_PATIENCE)
        .max_buf_size(MAX_HEAD_BYTES)
        .serve_connection(TokioIo::new(stream), TowerToHyperService::new(router));
    let mut serving = std::pin::pin!(serving);
    let ended = tokio::select! {
        ended = serving.as_mut() => ended,
        () = stop.cancelled() => {
            serving.as_mut().graceful_shutdown();
            serving.await
        }
    };
    if let Err(error) = ended {
        tracing::debug!(%error, "a connection ended early");
    }
    drop(place);
}
