//! The front over streamable HTTP, for clients of this machine.
//!
//! Whoever listens here stands before every door: connections are counted and timed, tokens are
//! compared in constant time, `Host` and `Origin` are checked against names that cannot be a
//! stranger's page. Only then does the SDK see a request, whose size it bounds.

mod guard;
mod listen;

use std::net::SocketAddr;
use std::sync::Arc;
use std::time::Duration;

use axum::Router;
use axum::middleware;
use rmcp::transport::streamable_http_server::session::local::{LocalSessionManager, SessionConfig};
use rmcp::transport::streamable_http_server::{StreamableHttpServerConfig, StreamableHttpService};
use tokio::net::TcpListener;
use tokio_util::sync::CancellationToken;

use guard::{Guard, Secret};

use super::handler::{Door, Front, FrontParts, Handler};

/// Where the front is found below its address.
pub const PATH: &str = "/mcp";

/// The largest body of a request.
const MAX_BODY_BYTES: usize = 4 << 20;

/// Sessions that may be open at once; beyond it none begins.
const MAX_SESSIONS: usize = 512;

/// How long a session may be idle. Longer than a suspended cell lives by default, and than the longest
/// answer takes.
const SESSION_IDLE: Duration = Duration::from_secs(1800);

/// How the front serves HTTP.
pub struct HttpOptions {
    /// The token that clients show; `None` serves whoever comes, and suspends no cell of a client
    /// that keeps no session.
    pub token: Option<String>,
    /// Names that `Host` may have besides those of this machine and the address itself.
    pub allowed_hosts: Vec<String>,
    /// Pages that may call, as `scheme://host:port`, besides those that this machine serves.
    pub allowed_origins: Vec<String>,
}

impl std::fmt::Debug for HttpOptions {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("HttpOptions")
            .field("token", &self.token.as_ref().map(|_| "..."))
            .field("allowed_hosts", &self.allowed_hosts)
            .field("allowed_origins", &self.allowed_origins)
            .finish()
    }
}

/// Serves clients on this listener until `stop` is cancelled; then ends every session and gives
/// connections a moment to finish.
pub async fn serve_http(
    parts: FrontParts,
    listener: TcpListener,
    options: HttpOptions,
    stop: CancellationToken,
) {
    let address = listener.local_addr().ok();
    let router = router(Front::new(parts), address, options, &stop);
    listen::serve(listener, router, stop).await;
}

fn router(
    front: Arc<Front>,
    address: Option<SocketAddr>,
    options: HttpOptions,
    stop: &CancellationToken,
) -> Router {
    let mut sessions = LocalSessionManager::default();
    sessions.session_config = SessionConfig::default();
    sessions.session_config.keep_alive = Some(SESSION_IDLE);
    let sessions = Arc::new(sessions);
    let guard = Guard {
        secret: options.token.as_deref().map(Secret::new),
        sessions: Arc::clone(&sessions),
        max_sessions: MAX_SESSIONS,
    };
    let service = StreamableHttpService::new(
        move || Ok(Handler::new(&front, Door::Http)),
        sessions,
        config(address, &options, stop),
    );
    Router::new()
        .route_service(PATH, service)
        .layer(middleware::from_fn_with_state(
            Arc::new(guard),
            guard::check,
        ))
}

fn config(
    address: Option<SocketAddr>,
    options: &HttpOptions,
    stop: &CancellationToken,
) -> StreamableHttpServerConfig {
    let loopback = ["localhost", "127.0.0.1", "::1"].map(str::to_owned);
    let own = address.map(|address| address.ip().to_string());
    let hosts = loopback.iter().cloned().chain(own);
    let local_pages = ["localhost", "127.0.0.1", "[::1]"]
        .map(|host| ["http", "https"].map(|scheme| format!("{scheme}://{host}:*")))
        .into_iter()
        .flatten();
    StreamableHttpServerConfig::default()
        .with_allowed_hosts(hosts.chain(options.allowed_hosts.iter().cloned()))
        .with_allowed_origins(local_pages.chain(options.allowed_origins.iter().cloned()))
        .enforce_origin_validation()
        .with_max_request_body_bytes(MAX_BODY_BYTES)
        .with_cancellation_token(stop.child_token())
}
