//! What a pool is told: its servers and how to reach each.
//!
//! The values are checked by whoever made them, names included; nothing here reads an environment
//! or a file.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fmt;
use std::path::PathBuf;
use std::sync::Arc;
use std::time::Duration;

use super::limits::ClientLimits;
use super::oauth::Authorization;

/// How long a request may take where nothing else is configured. Source: what the official clients
/// wait by default.
pub const DEFAULT_REQUEST_TIMEOUT: Duration = Duration::from_secs(60);

/// How long a server may take to start and to say what it has, where nothing else is configured.
pub const DEFAULT_CONNECT_TIMEOUT: Duration = Duration::from_secs(30);

/// How long a server that nobody calls stays up. Source: the contract's `mcp.sessionIdleTtlMs`.
pub const DEFAULT_IDLE_TTL: Duration = Duration::from_secs(600);

/// The variables of our own environment that a server's process gets without being named.
/// Source: what the official clients pass on, and what locates tools and temporary files.
pub const SAFE_VARIABLES: [&str; 9] = [
    "PATH", "HOME", "LANG", "LC_ALL", "LOGNAME", "SHELL", "TERM", "TMPDIR", "USER",
];

/// A pool's servers and what they share.
#[derive(Clone, Debug)]
pub struct PoolOptions {
    /// The servers, in the order of the catalog.
    pub servers: Vec<ServerOptions>,
    /// How long a server that nobody calls stays up; zero keeps it up.
    pub idle_ttl: Duration,
    /// The environment that server processes start from; only [`SAFE_VARIABLES`] are taken.
    pub environment: Vec<(String, String)>,
    /// Where server processes start that name no folder of their own.
    pub folder: PathBuf,
    /// A program that watches over a server's process, with its first arguments; our process id and
    /// the server's command follow, and it calls [`run_guard`](super::run_guard) with them. Without
    /// one, a server that does not notice the end of its stdin outlives us if we are killed.
    pub guard: Option<Vec<OsString>>,
    /// Whether servers are told that they may have a person asked. Whether there is one shows when
    /// they do.
    pub can_ask: bool,
    /// The bounds.
    pub limits: ClientLimits,
}

impl PoolOptions {
    /// A pool of these servers, with the defaults.
    #[must_use]
    pub fn new(servers: Vec<ServerOptions>) -> Self {
        Self {
            servers,
            idle_ttl: DEFAULT_IDLE_TTL,
            environment: Vec::new(),
            folder: PathBuf::from("/"),
            guard: None,
            can_ask: false,
            limits: ClientLimits::default(),
        }
    }
}

/// One server.
#[derive(Clone, Debug)]
pub struct ServerOptions {
    /// The name that it is configured under.
    pub name: String,
    /// How it is reached.
    pub endpoint: Endpoint,
    /// How long one request may take.
    pub request_timeout: Duration,
    /// How long starting, greeting and listing may take together.
    pub connect_timeout: Duration,
    /// Whether calls may overlap; otherwise they take turns.
    pub is_parallel: bool,
    /// Which of its tools exist.
    pub filter: ToolFilter,
    /// Which life-cycle is spoken.
    pub lifecycle: Lifecycle,
}

impl ServerOptions {
    /// A server with the defaults.
    pub fn new(name: impl Into<String>, endpoint: Endpoint) -> Self {
        Self {
            name: name.into(),
            endpoint,
            request_timeout: DEFAULT_REQUEST_TIMEOUT,
            connect_timeout: DEFAULT_CONNECT_TIMEOUT,
            is_parallel: true,
            filter: ToolFilter::default(),
            lifecycle: Lifecycle::default(),
        }
    }
}

/// How a server is reached.
#[derive(Clone, Debug)]
pub enum Endpoint {
    /// A process of ours, over its stdin and stdout.
    Stdio(StdioEndpoint),
    /// An address, over HTTP.
    Http(HttpEndpoint),
    /// Nowhere, for this reason: the server is named as unavailable, and the others go on.
    Unusable(String),
}

/// A process to start.
#[derive(Clone, Default)]
pub struct StdioEndpoint {
    /// The program: a path, or a name to be found in `PATH`.
    pub command: String,
    /// Its arguments.
    pub args: Vec<String>,
    /// Variables besides [`SAFE_VARIABLES`].
    pub env: BTreeMap<String, String>,
    /// The folder to start it in, absolute; by default the pool's.
    pub cwd: Option<PathBuf>,
}

impl fmt::Debug for StdioEndpoint {
    /// Without arguments and values, which may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("StdioEndpoint")
            .field("command", &self.command)
            .field("env", &self.env.keys())
            .finish_non_exhaustive()
    }
}

/// How HTTP is spoken.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum HttpTransport {
    /// Streamable HTTP.
    #[default]
    Streamable,
    /// The older transport: one event stream, and an address to post to.
    Sse,
}

/// An address to talk to.
#[derive(Clone)]
pub struct HttpEndpoint {
    /// The address.
    pub url: String,
    /// How HTTP is spoken.
    pub transport: HttpTransport,
    /// Headers of every request.
    pub headers: BTreeMap<String, String>,
    /// Whether the server's certificate is checked.
    pub verifies_certificate: bool,
    /// Authorities that are trusted besides the known ones, in PEM form.
    pub authorities: Vec<u8>,
    /// Our certificate chain and its key.
    pub client_certificate: Option<ClientCertificate>,
    /// The login that requests go with.
    pub authorization: Option<Arc<Authorization>>,
}

impl HttpEndpoint {
    /// An address that is spoken with over streamable HTTP, without headers.
    pub fn new(url: impl Into<String>) -> Self {
        Self {
            url: url.into(),
            transport: HttpTransport::default(),
            headers: BTreeMap::new(),
            verifies_certificate: true,
            authorities: Vec::new(),
            client_certificate: None,
            authorization: None,
        }
    }
}

/// A certificate that says who we are, in PEM form.
#[derive(Clone)]
pub struct ClientCertificate {
    /// The certificate and those that it rests on.
    pub chain: Vec<u8>,
    /// Its private key.
    pub key: Vec<u8>,
}

impl fmt::Debug for HttpEndpoint {
    /// Without the values of headers, which are secrets more often than not.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("HttpEndpoint")
            .field("url", &self.url)
            .field("transport", &self.transport)
            .field("headers", &self.headers.keys())
            .finish()
    }
}

/// Which of a server's tools exist. `*` in an entry is any run of characters.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolFilter {
    /// Only these; an empty list is all.
    pub include: Vec<String>,
    /// None of these.
    pub exclude: Vec<String>,
}

/// Which life-cycle is spoken with a server.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Lifecycle {
    /// Processes get `initialize`, and `server/discover` if they refuse it, so that those of the
    /// older revisions never see a request that they do not know; addresses the other way round.
    #[default]
    Auto,
    /// `initialize` only.
    Initialize,
    /// `server/discover` only.
    Discover,
}
