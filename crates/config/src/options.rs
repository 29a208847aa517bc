//! The checked options: what the rest of the program reads.
//!
//! Values are inside their clamps and defaults are filled in. The fields are private so that no
//! other way leads to them than [`crate::load`].

use std::collections::BTreeMap;
use std::fmt;

use serde::Serialize;
use serde_json::Value;

use crate::error::{ConfigError, Origin};
use crate::load;
use crate::path::KeyPath;

/// Whether code mode is on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enabled {
    /// Off.
    Off,
    /// On.
    On,
    /// On for the models that prefer it.
    Auto,
}

/// A language of cells.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Language {
    /// JavaScript.
    JavaScript,
    /// TypeScript.
    TypeScript,
}

/// What becomes of output beyond `maxOutputBytes`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OutputOverflow {
    /// The cell fails and the value is saved.
    Fail,
    /// The value is cut and marked.
    Truncate,
}

/// The kind of a durable store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum StoreKind {
    /// A file of this machine.
    Sqlite,
    /// A Redis server.
    Redis,
    /// A PostgreSQL server.
    Postgres,
}

/// Where suspended cells are kept when they are to outlive the process.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SnapshotStore {
    /// The kind.
    pub kind: StoreKind,
    /// The file of an sqlite store.
    pub path: Option<String>,
    /// The address of a server.
    pub url: Option<String>,
}

/// The answer to an approval that nobody can be asked for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum AskFallback {
    /// Refuse.
    Deny,
    /// Refuse all that no allowlist names.
    Allowlist,
    /// Go ahead.
    Full,
}

/// A number that was outside its clamp, for `doctor`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Clamped {
    /// The key.
    pub path: KeyPath,
    /// What was given, as text.
    pub given: String,
    /// What is used instead.
    pub used: u64,
    /// The smallest value.
    pub min: u64,
    /// The largest value.
    pub max: u64,
}

/// A value as `config get` shows it.
#[derive(Clone, Debug, PartialEq)]
pub struct Setting {
    /// The value in use.
    pub value: Value,
    /// Where it came from.
    pub origin: Origin,
}

macro_rules! code_mode_options {
    ($($(#[doc = $doc:literal])+ $field:ident: $ty:ty,)+) => {
        /// `tools.codeMode`, checked, clamped and complete.
        #[derive(Clone, Debug, PartialEq, Eq)]
        pub struct CodeModeOptions {
            pub(crate) enabled: Enabled,
            pub(crate) languages: Vec<Language>,
            pub(crate) snapshot_store: Option<SnapshotStore>,
            $(pub(crate) $field: $ty,)+
        }

        impl CodeModeOptions {
            $($(#[doc = $doc])+ pub fn $field(&self) -> $ty { self.$field })+
        }
    };
}

code_mode_options! {
    /// Wall clock of one `exec` or `wait`, in milliseconds.
    timeout_ms: u64,
    /// What the engine may allocate, in bytes.
    memory_limit_bytes: u64,
    /// Value, output and error together, in bytes of UTF-8.
    max_output_bytes: u64,
    /// The raw delta of a suspended guest, in bytes.
    max_snapshot_bytes: u64,
    /// Calls in flight.
    max_pending_tool_calls: u64,
    /// Idle time of a suspended cell, in seconds.
    snapshot_ttl_seconds: u64,
    /// Hits of a search that names no limit; never more than the largest.
    search_default_limit: u64,
    /// The most hits of a search.
    max_search_limit: u64,
    /// Suspended cells in this process.
    max_suspended_runs: u64,
    /// What becomes of output that is too large.
    output_overflow: OutputOverflow,
    /// The bound of the index in `exec`'s description, in characters.
    prompt_index_chars: u64,
    /// Guest processor time of one cell over all its legs, in milliseconds.
    max_guest_ms: u64,
    /// Cells that run at once in this process; more queue.
    max_running_cells: u64,
    /// How long an answer is held back for a pending approval, in milliseconds.
    approval_hold_ms: u64,
    /// How long a pending approval lives, in seconds.
    approval_ttl_seconds: u64,
    /// Whether replay records are kept.
    records: bool,
    /// Memory of all guests in this process, in bytes; `None`: half of what the machine has.
    max_guest_memory_bytes: Option<u64>,
    /// Bytes of all suspended cells in this process; `None`: a quarter of the machine's memory.
    max_suspended_bytes: Option<u64>,
}

impl CodeModeOptions {
    /// Whether code mode is on.
    pub fn enabled(&self) -> Enabled {
        self.enabled
    }

    /// The languages of cells; at least one.
    pub fn languages(&self) -> &[Language] {
        &self.languages
    }

    /// The durable store, if one is configured.
    pub fn snapshot_store(&self) -> Option<&SnapshotStore> {
        self.snapshot_store.as_ref()
    }
}

/// One scope's rules about tools; names, globs and groups are the policy's to interpret.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ToolRules {
    /// Only these; `Some` of nothing means no tools on purpose.
    pub allow: Option<Vec<String>>,
    /// These in addition to the profile; never together with `allow`.
    pub also_allow: Vec<String>,
    /// None of these.
    pub deny: Vec<String>,
    /// `minimal`, `coding`, `messaging` or `full`.
    pub profile: Option<String>,
}

/// `tools.exec`: the shell tool.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecOptions {
    pub(crate) ask_fallback: AskFallback,
    pub(crate) timeout_ms: u64,
}

impl ExecOptions {
    /// The answer where nobody can be asked.
    pub fn ask_fallback(&self) -> AskFallback {
        self.ask_fallback
    }

    /// The time of a command that names none, in milliseconds.
    pub fn timeout_ms(&self) -> u64 {
        self.timeout_ms
    }
}

/// `tools.webFetch`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct WebFetchOptions {
    /// Hosts that are fetched from without asking: `example.com`, `*.example.com`, or with a port.
    pub allow_hosts: Vec<String>,
    /// Whether addresses of private networks may be fetched from.
    pub allow_private_network: bool,
}

/// How an MCP server is reached.
#[derive(Clone, PartialEq, Eq)]
pub enum McpEndpoint {
    /// A program to start.
    Command {
        /// The program.
        command: String,
        /// Its arguments.
        args: Vec<String>,
        /// Variables of its environment.
        env: BTreeMap<String, String>,
        /// The folder to start it in.
        cwd: Option<String>,
    },
    /// An address.
    Url {
        /// The address.
        url: String,
        /// Whether the older transport with an event stream is meant.
        is_sse: bool,
        /// Headers of every request.
        headers: BTreeMap<String, String>,
        /// How OAuth says who asks, if it does.
        oauth: Option<McpOAuth>,
        /// Whether the certificate is checked.
        verifies_certificate: bool,
        /// The files of our certificate and its key.
        client_certificate: Option<(String, Option<String>)>,
    },
}

/// `mcp.servers.<name>.oauth`; every field may be left to the server.
#[derive(Clone, Default, PartialEq, Eq)]
pub struct McpOAuth {
    /// Our id at the authorization server.
    pub client_id: Option<String>,
    /// The secret that goes with it.
    pub client_secret: Option<String>,
    /// The scopes to ask for, separated by blanks.
    pub scope: Option<String>,
    /// The port that the browser comes back to.
    pub callback_port: Option<u16>,
}

impl fmt::Debug for McpEndpoint {
    /// Without arguments, variables and headers, which may hold secrets.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Command { command, .. } => f.debug_tuple("Command").field(command).finish(),
            Self::Url { url, .. } => f.debug_tuple("Url").field(url).finish(),
        }
    }
}

/// `mcp.servers.<name>`, checked and clamped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct McpServerOptions {
    /// How it is reached.
    pub endpoint: McpEndpoint,
    /// The time of one request, in milliseconds, where it is set.
    pub request_timeout_ms: Option<u64>,
    /// The time of starting and listing, in milliseconds, where it is set.
    pub connect_timeout_ms: Option<u64>,
    /// Whether calls may overlap.
    pub is_parallel: bool,
    /// Only tools with these names; an empty list is all.
    pub include_tools: Vec<String>,
    /// No tools with these names.
    pub exclude_tools: Vec<String>,
    /// Whether the server is used at all.
    pub is_enabled: bool,
}

/// What holds for one agent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct AgentOptions {
    /// The agent's id; `main` when the config lists none.
    pub id: String,
    /// Code mode, the agent's fields over the global ones.
    pub code_mode: CodeModeOptions,
    /// The agent's own rules, a step of policy beside the global ones.
    pub tools: ToolRules,
}

/// The whole configuration, checked.
#[derive(Clone, Debug)]
pub struct Config {
    pub(crate) code_mode: CodeModeOptions,
    pub(crate) tools: ToolRules,
    pub(crate) exec: ExecOptions,
    pub(crate) web_fetch: WebFetchOptions,
    pub(crate) mcp_servers: BTreeMap<String, McpServerOptions>,
    pub(crate) mcp_idle_ttl_ms: u64,
    pub(crate) model_code_mode: BTreeMap<String, bool>,
    pub(crate) agents: Vec<AgentOptions>,
    /// Raw values with defaults and clamps worked in, for [`Config::get`].
    pub(crate) effective: Value,
    pub(crate) origins: BTreeMap<KeyPath, Origin>,
}

impl Config {
    /// `tools.codeMode` without any agent's changes.
    pub fn code_mode(&self) -> &CodeModeOptions {
        &self.code_mode
    }

    /// The global rules about tools.
    pub fn tools(&self) -> &ToolRules {
        &self.tools
    }

    /// `tools.exec`.
    pub fn exec(&self) -> &ExecOptions {
        &self.exec
    }

    /// `tools.webFetch`.
    pub fn web_fetch(&self) -> &WebFetchOptions {
        &self.web_fetch
    }

    /// `mcp.servers` by name, those that are not enabled included.
    pub fn mcp_servers(&self) -> &BTreeMap<String, McpServerOptions> {
        &self.mcp_servers
    }

    /// How long an MCP server that nobody calls stays up, in milliseconds; 0 keeps it up.
    pub fn mcp_idle_ttl_ms(&self) -> u64 {
        self.mcp_idle_ttl_ms
    }

    /// `agents.defaults.models["provider/model"].codeMode`, where it is set.
    pub fn model_code_mode(&self, model: &str) -> Option<bool> {
        self.model_code_mode.get(model).copied()
    }

    /// The agents that the config lists, in its order.
    pub fn agents(&self) -> &[AgentOptions] {
        &self.agents
    }

    /// What holds for an agent; without an id for the first one listed, or for `main`.
    ///
    /// # Errors
    /// [`ConfigError::UnknownAgent`] when the config lists no agent with this id. `main` always
    /// exists.
    pub fn agent(&self, id: Option<&str>) -> Result<AgentOptions, ConfigError> {
        load::agent(self, id)
    }

    /// The value in use at a path, defaults and clamps included.
    ///
    /// # Errors
    /// [`ConfigError::UnknownKey`] for a path that no configuration has.
    pub fn get(&self, path: &KeyPath) -> Result<Setting, ConfigError> {
        load::get(self, path)
    }
}
