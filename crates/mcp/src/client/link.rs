//! One connection to one server, from the greeting to its end.
//!
//! A link is used up when it ends: whoever needs the server again makes a new one. Dropping the
//! last reference closes the connection.

use std::sync::Arc;
use std::time::Duration;

use rmcp::RoleClient;
use rmcp::model::{
    CancelledNotification, CancelledNotificationParam, ClientRequest, ErrorData, ProtocolVersion,
    RequestId, ServerPeerInfo,
};
use rmcp::service::{
    ClientInitializeError, ClientLifecycleMode, PeerRequestOptions, RunningService, ServiceError,
    serve_client_with_lifecycle,
};
use rmcp::transport::Transport;
use serde_json::Value;
use tokio::sync::{OwnedSemaphorePermit, Semaphore};
use tokio_util::sync::CancellationToken;
use tokio_util::task::{AbortOnDropHandle, TaskTracker};

use super::error::{RequestError, StartError};
use super::handler::{Handler, Staleness};
use super::http;
use super::lines::{Lines, SendError};
use super::message::raw_result;
use super::news::{self, News};
use super::oauth;
use super::options::{Endpoint, HttpTransport, Lifecycle, PoolOptions, ServerOptions};
use super::process::{Process, Spawned, Tail};
use super::signs::Signs;
use super::watched::Watched;

/// How long a request may take in all, in request timeouts, if the server keeps reporting progress.
const PROGRESS_FACTOR: u32 = 10;

/// How long a server at an address may take to say that it does not know `server/discover`. Source:
/// what the SDK waits by default.
const DISCOVER_TIME: Duration = Duration::from_secs(10);

/// How long telling a server that nobody waits may take.
const WITHDRAWAL_TIME: Duration = Duration::from_secs(1);

/// How long the last words of a process that ended are waited for.
const LAST_WORDS: Duration = Duration::from_millis(250);

/// A connection.
#[derive(Debug)]
pub(super) struct Link {
    server: Arc<str>,
    service: RunningService<RoleClient, Handler>,
    info: Arc<ServerPeerInfo>,
    ended: CancellationToken,
    tail: Tail,
    timeout: Duration,
    turns: Arc<Semaphore>,
    all_turns: usize,
    withdrawals: TaskTracker,
    stderr: Option<AbortOnDropHandle<()>>,
    _news: Option<AbortOnDropHandle<()>>,
}

impl Link {
    /// Starts or reaches a server, and greets it.
    ///
    /// # Errors
    /// [`StartError`], the time not counted.
    pub(super) async fn open(
        options: &ServerOptions,
        pool: &PoolOptions,
        tail: &Tail,
    ) -> Result<Self, StartError> {
        let modern = ClientLifecycleMode::Discover {
            preferred_versions: vec![ProtocolVersion::LATEST],
        };
        let initialize = ClientLifecycleMode::Initialize;
        let answer = match (options.lifecycle, &options.endpoint) {
            (Lifecycle::Initialize, _) => attempt(options, pool, tail, initialize).await,
            (Lifecycle::Discover, _) => attempt(options, pool, tail, modern).await,
            // Over HTTP a question that is not understood is answered, and costs little.
            (Lifecycle::Auto, Endpoint::Http(endpoint))
                if endpoint.transport == HttpTransport::Streamable =>
            {
                let again = modern.clone();
                let asked = attempt(options, pool, tail, modern);
                match tokio::time::timeout(DISCOVER_TIME, asked).await {
                    Ok(Ok(link)) => Ok(link),
                    Ok(Err(Attempt::Failed(error @ StartError::Unauthorized(_)))) => {
                        Err(Attempt::Failed(error))
                    }
                    Ok(Err(_)) => attempt(options, pool, tail, initialize).await,
                    // It may be slow, and know no other greeting.
                    Err(_late) => match attempt(options, pool, tail, initialize).await {
                        Err(Attempt::Refused(_)) => attempt(options, pool, tail, again).await,
                        answer => answer,
                    },
                }
            }
            // A process may end over a request that it does not know.
            (Lifecycle::Auto, _) => match attempt(options, pool, tail, initialize).await {
                Err(Attempt::Refused(_)) => attempt(options, pool, tail, modern).await,
                answer => answer,
            },
        };
        answer.map_err(Attempt::into_error)
    }

    /// What the server said of itself.
    pub(super) fn info(&self) -> &ServerPeerInfo {
        &self.info
    }

    /// Fires when the connection has ended and its process is gone.
    pub(super) fn ended(&self) -> &CancellationToken {
        &self.ended
    }

    pub(super) fn staleness(&self) -> &Staleness {
        &self.service.service().staleness
    }

    /// Whether a call is under way.
    pub(super) fn is_busy(&self) -> bool {
        self.turns.available_permits() < self.all_turns
    }

    /// Asks the connection to end; [`Link::ended`] fires when it has.
    pub(super) fn close(&self) {
        self.service.cancellation_token().cancel();
    }

    /// Waits for the turn of a call.
    pub(super) async fn turn(&self) -> Option<OwnedSemaphorePermit> {
        Arc::clone(&self.turns).acquire_owned().await.ok()
    }

    /// Sends a request and waits for its result. Dropping the future tells the server that nobody
    /// waits any more.
    ///
    /// # Errors
    /// Everything but a result.
    pub(super) async fn request(&self, request: ClientRequest) -> Result<Value, RequestError> {
        let peer = self.service.peer();
        let options = PeerRequestOptions::no_options();
        let sent = peer.send_cancellable_request(request, options).await;
        let mut handle = match sent {
            Ok(handle) => handle,
            Err(ServiceError::TransportClosed) => return Err(self.gone().await),
            Err(error) => return Err(self.explain(error).await),
        };
        let mut waiting = Waiting {
            link: self,
            id: Some(handle.id.clone()),
        };
        let in_all = self.timeout.saturating_mul(PROGRESS_FACTOR);
        let token = handle.progress_token.clone();
        let mut time = self.signs().time(token, self.timeout, in_all);
        let answer = tokio::select! {
            biased;
            answer = &mut handle.rx => answer.unwrap_or(Err(ServiceError::TransportClosed)),
            () = time.over() => {
                return Err(RequestError::Timeout {
                    server: self.server.to_string(),
                    after: self.timeout,
                });
            }
        };
        waiting.id = None;
        let result = match answer {
            Ok(result) => result,
            Err(error) => return Err(self.explain(error).await),
        };
        raw_result(result).ok_or_else(|| self.malformed("it is no JSON".to_owned()))
    }

    /// What goes on besides requests and answers.
    pub(super) fn signs(&self) -> &Signs {
        &self.service.service().signs
    }

    /// The server's name.
    pub(super) fn server(&self) -> &str {
        &self.server
    }

    /// The error of an answer that is none.
    pub(super) fn malformed(&self, reason: String) -> RequestError {
        RequestError::Malformed {
            server: self.server.to_string(),
            reason,
        }
    }

    async fn explain(&self, error: ServiceError) -> RequestError {
        let server = self.server.to_string();
        match error {
            ServiceError::McpError(ErrorData { code, message, .. }) => RequestError::Refused {
                server,
                code: code.0,
                message: message.into_owned(),
            },
            ServiceError::Timeout { timeout } => RequestError::Timeout {
                server,
                after: timeout,
            },
            ServiceError::Cancelled { .. } => RequestError::Aborted { server },
            ServiceError::TransportClosed => self.died().await,
            ServiceError::TransportSend(error) => self.unsent(error.error).await,
            other => RequestError::Malformed {
                server,
                reason: other.to_string(),
            },
        }
    }

    async fn unsent(&self, error: Box<dyn std::error::Error + Send + Sync>) -> RequestError {
        let server = self.server.to_string();
        match error.downcast().map(|error| *error) {
            Ok(SendError::Closed) => self.gone().await,
            Ok(SendError::Cut(_)) => {
                self.close();
                self.died().await
            }
            Ok(SendError::Json(error)) => RequestError::Unsent {
                server,
                reason: error.to_string(),
            },
            Err(error) => {
                let reason = http::explain(error.as_ref());
                match oauth::refusal(error.as_ref()) {
                    Some(reason) => RequestError::Unauthorized { server, reason },
                    None if http::is_unconnected(error.as_ref()) => {
                        RequestError::Unreached { server, reason }
                    }
                    None => RequestError::Unsent { server, reason },
                }
            }
        }
    }

    /// The server ended, or ends for want of input, before anything of the request was sent. When
    /// this is known, the next who needs it gets another process.
    async fn gone(&self) -> RequestError {
        self.close();
        self.ended.cancelled().await;
        RequestError::Gone {
            server: self.server.to_string(),
        }
    }

    async fn died(&self) -> RequestError {
        // The process writes its last words while it ends.
        let _ = tokio::time::timeout(LAST_WORDS, self.ended.cancelled()).await;
        RequestError::Died {
            server: self.server.to_string(),
            stderr: self.tail.text(),
        }
    }
}

/// A request whose answer is awaited; dropped before it came, it is withdrawn.
struct Waiting<'a> {
    link: &'a Link,
    id: Option<RequestId>,
}

impl Drop for Waiting<'_> {
    fn drop(&mut self) {
        let Some(id) = self.id.take() else {
            return;
        };
        let peer = self.link.service.peer().clone();
        let reason = Some("nobody waits for the answer any more".to_owned());
        let withdrawal =
            CancelledNotification::new(CancelledNotificationParam::new(Some(id), reason));
        self.link
            .withdrawals
            .spawn(tokio::time::timeout(WITHDRAWAL_TIME, async move {
                peer.send_notification(withdrawal.into()).await
            }));
    }
}

/// Why one try to greet a server failed.
enum Attempt {
    /// It answered, and refused: it may speak another life-cycle.
    Refused(StartError),
    /// Anything else.
    Failed(StartError),
}

impl Attempt {
    fn into_error(self) -> StartError {
        match self {
            Self::Refused(error) | Self::Failed(error) => error,
        }
    }
}

async fn attempt(
    options: &ServerOptions,
    pool: &PoolOptions,
    tail: &Tail,
    mode: ClientLifecycleMode,
) -> Result<Link, Attempt> {
    match &options.endpoint {
        Endpoint::Unusable(reason) => Err(Attempt::Failed(StartError::Options(reason.clone()))),
        Endpoint::Stdio(endpoint) => {
            let spawned = Process::spawn(endpoint, pool, tail.clone()).map_err(Attempt::Failed)?;
            let Spawned {
                process,
                stdin,
                stdout,
                mut stderr,
            } = spawned;
            let lines = Lines::new(stdout, stdin, Some(process), pool.limits);
            let greeted = greet(options, pool, tail, lines, mode).await;
            if greeted.is_err() {
                // What it wrote before it ended says more than that it ended.
                let _ = tokio::time::timeout(LAST_WORDS, &mut stderr).await;
            }
            greeted.map_err(|error| told(error, tail)).map(|mut link| {
                link.stderr = Some(stderr);
                link
            })
        }
        Endpoint::Http(endpoint) if endpoint.transport == HttpTransport::Sse => {
            let transport = http::sse(endpoint, pool).await.map_err(Attempt::Failed)?;
            let greeted = greet(options, pool, tail, transport, mode).await;
            greeted.map_err(|error| told(error, tail))
        }
        Endpoint::Http(endpoint) => {
            let transport = http::transport(endpoint, pool).map_err(Attempt::Failed)?;
            let greeted = greet(options, pool, tail, transport, mode).await;
            greeted.map_err(|error| told(error, tail))
        }
    }
}

async fn greet<T: Transport<RoleClient> + 'static>(
    options: &ServerOptions,
    pool: &PoolOptions,
    tail: &Tail,
    transport: T,
    mode: ClientLifecycleMode,
) -> Result<Link, ClientInitializeError> {
    let server: Arc<str> = options.name.as_str().into();
    let ended = CancellationToken::new();
    let handler = Handler {
        server: Arc::clone(&server),
        staleness: Staleness::default(),
        signs: Signs::default(),
        can_ask: pool.can_ask,
        max_questions: pool.limits.max_questions,
    };
    let watched = Watched::new(transport, pool.limits, &ended);
    let service = serve_client_with_lifecycle(handler, watched, mode).await?;
    let info = service.peer().peer_info().unwrap_or_else(|| {
        let unknown = ServerPeerInfo::new(ProtocolVersion::default(), Default::default());
        Arc::new(unknown)
    });
    let news = news::are_offered(&info).then(|| News {
        server: Arc::clone(&server),
        peer: service.peer().clone(),
        staleness: service.service().staleness.clone(),
        limits: pool.limits,
        patience: options.request_timeout,
    });
    let all_turns = if options.is_parallel {
        pool.limits.max_calls
    } else {
        1
    };
    Ok(Link {
        server,
        service,
        info,
        ended,
        tail: tail.clone(),
        timeout: options.request_timeout,
        turns: Arc::new(Semaphore::new(all_turns)),
        all_turns,
        withdrawals: TaskTracker::new(),
        stderr: None,
        _news: news.map(|news| AbortOnDropHandle::new(tokio::spawn(news.listen()))),
    })
}

const ENDED: &str = "it ended before it answered";

fn is_broken_pipe(error: &(dyn std::error::Error + 'static)) -> bool {
    matches!(
        error.downcast_ref(),
        Some(SendError::Closed | SendError::Cut(_))
    )
}

/// Why the server did not let us, if that is what went wrong.
fn refusal(error: &ClientInitializeError) -> Option<String> {
    match error {
        ClientInitializeError::TransportError { error, .. } => oauth::refusal(error.error.as_ref()),
        ClientInitializeError::LegacyFallbackFailed { fallback, .. } => refusal(fallback),
        _ => None,
    }
}

fn told(error: ClientInitializeError, tail: &Tail) -> Attempt {
    if let Some(reason) = refusal(&error) {
        return Attempt::Failed(StartError::Unauthorized(reason));
    }
    let is_refusal = matches!(error, ClientInitializeError::JsonRpcError(_));
    let reason = match error {
        ClientInitializeError::JsonRpcError(error) => {
            format!("it refused the greeting: {}", bounded(&error.message))
        }
        ClientInitializeError::ConnectionClosed(_) => ENDED.to_owned(),
        // It was gone before it had read the greeting.
        ClientInitializeError::TransportError { error, .. }
            if is_broken_pipe(error.error.as_ref()) =>
        {
            ENDED.to_owned()
        }
        ClientInitializeError::TransportError { error, .. } => http::explain(error.error.as_ref()),
        ClientInitializeError::NoCompatibleProtocolVersion {
            server_supported, ..
        } => {
            let versions: Vec<_> = server_supported.iter().map(ToString::to_string).collect();
            format!(
                "it speaks no revision that we do, only {}",
                bounded(&versions.join(", "))
            )
        }
        other => bounded(&other.to_string()),
    };
    let error = StartError::Greeting {
        reason,
        stderr: tail.text(),
    };
    match is_refusal {
        true => Attempt::Refused(error),
        false => Attempt::Failed(error),
    }
}

/// The most of a server's own words in an error, in characters.
const MAX_WORDS_CHARS: usize = 500;

fn bounded(text: &str) -> String {
    text.chars().take(MAX_WORDS_CHARS).collect()
}
