//! What the core tools are given: nothing here is read from the environment or the home directory.

use std::path::PathBuf;
use std::sync::Arc;

use super::web::{HostResolver, SystemResolver};
use super::workspace::OpenMethod;

/// Everything that the core tools need to know.
#[derive(Debug, Clone)]
pub struct CoreOptions {
    /// The workspace directory.
    pub workspace: PathBuf,
    /// Directories (or files) that no file tool reaches: state, configuration, keys, cache.
    pub denied: Vec<PathBuf>,
    /// How paths are opened.
    pub open_method: OpenMethod,
    /// The shell that runs `exec` commands with `-c`.
    pub shell: PathBuf,
    /// The environment from which children get the variables of
    /// [`CHILD_VARIABLES`](super::CHILD_VARIABLES); everything else in it is dropped.
    pub child_env: Vec<(String, String)>,
    /// Sizes, counts and times.
    pub limits: CoreLimits,
    /// What `web_fetch` may reach.
    pub web: WebOptions,
}

impl CoreOptions {
    /// The defaults for `workspace`: `/bin/sh`, an empty environment, nothing denied, public web addresses only.
    pub fn new(workspace: impl Into<PathBuf>) -> Self {
        Self {
            workspace: workspace.into(),
            denied: Vec::new(),
            open_method: OpenMethod::Detect,
            shell: PathBuf::from("/bin/sh"),
            child_env: Vec::new(),
            limits: CoreLimits::default(),
            web: WebOptions::default(),
        }
    }
}

/// Limits of the core tools.
#[derive(Debug, Clone)]
pub struct CoreLimits {
    /// Most text that one `read` gives.
    pub read_text_bytes: usize,
    /// Most bytes that one `read` passes over to count lines.
    pub scan_bytes: u64,
    /// Largest image that `read` gives.
    pub image_bytes: u64,
    /// Largest file that `edit` and `apply_patch` change, and largest that they and `write` make.
    pub write_bytes: u64,
    /// Most entries that `ls`, paths that `find` and matches that `grep` give, whatever `limit` asks for.
    pub result_count: usize,
    /// Most bytes of matches that `grep` gives.
    pub grep_output_bytes: usize,
    /// Longest line that `grep` gives whole.
    pub grep_line_chars: usize,
    /// Largest file that `grep` searches.
    pub grep_file_bytes: u64,
    /// Most entries that one walk looks at.
    pub walk_entries: usize,
    /// Most bytes of each of stdout and stderr, head and tail together.
    pub exec_output_bytes: usize,
    /// Time of an `exec` that asks for none.
    pub exec_default_timeout_ms: u64,
    /// Most that an `exec` may ask for.
    pub exec_max_timeout_ms: u64,
    /// Most background sessions that run at once; as many finished ones are remembered.
    pub sessions: usize,
    /// Most bytes of a fetched body, after decompression.
    pub fetch_bytes: usize,
    /// Characters that a `web_fetch` gives when it asks for no number.
    pub fetch_default_chars: usize,
    /// Time of one `web_fetch`, redirects included.
    pub fetch_timeout_ms: u64,
}

impl Default for CoreLimits {
    fn default() -> Self {
        Self {
            read_text_bytes: 512 * 1024,
            scan_bytes: 256 * 1024 * 1024,
            image_bytes: 5 * 1024 * 1024,
            write_bytes: 16 * 1024 * 1024,
            result_count: 10_000,
            grep_output_bytes: 512 * 1024,
            grep_line_chars: 500,
            grep_file_bytes: 64 * 1024 * 1024,
            walk_entries: 500_000,
            exec_output_bytes: 128 * 1024,
            exec_default_timeout_ms: 120_000,
            exec_max_timeout_ms: 600_000,
            sessions: 16,
            fetch_bytes: 4 * 1024 * 1024,
            fetch_default_chars: 50_000,
            fetch_timeout_ms: 30_000,
        }
    }
}

/// What `web_fetch` may reach.
#[derive(Debug, Clone)]
pub struct WebOptions {
    /// Origins that need no approval, as `host`, `host:port`, `scheme://host` or `scheme://host:port`; `*.host` stands for
    /// every name below `host`. An entry without `*` also allows that host to have a private address.
    pub allow_hosts: Vec<String>,
    /// Any host may have a private address.
    pub allow_private: bool,
    /// Where names become addresses.
    pub resolver: Arc<dyn HostResolver>,
}

impl Default for WebOptions {
    fn default() -> Self {
        Self {
            allow_hosts: Vec::new(),
            allow_private: false,
            resolver: Arc::new(SystemResolver),
        }
    }
}
