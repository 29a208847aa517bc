//! The servers of a process, side by side.
//!
//! Nobody waits for a server but those who need it: starts run in parallel, each with its own time,
//! and one that fails is named as unavailable while the others go on.

use std::collections::HashSet;
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use codecell_catalog::McpServer;
use codecell_tools::{Tool, ToolSource};
use futures::future::join_all;
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use super::error::RequestError;
use super::names;
use super::options::PoolOptions;
use super::server::{Server, ServerState};

/// Why options make no pool.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PoolError {
    /// A name that cannot be part of a tool's id.
    #[error("`{name}` cannot be the name of an MCP server: {reason}")]
    BadName {
        /// The name.
        name: String,
        /// Why not.
        reason: String,
    },
    /// Two servers with one name.
    #[error("there are two MCP servers with the name `{0}`; rename one of them")]
    TwiceNamed(String),
}

/// The servers. Dropping the pool ends them all.
pub struct Pool {
    servers: Vec<Arc<Server>>,
    actors: Mutex<Vec<AbortOnDropHandle<()>>>,
    changes: watch::Sender<u64>,
}

impl fmt::Debug for Pool {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let names = self.servers.iter().map(|server| &server.handle.name);
        f.debug_set().entries(names).finish()
    }
}

impl Pool {
    /// A pool of servers that are not started yet. To be called on the runtime that they run on.
    ///
    /// # Errors
    /// [`PoolError`] for names that cannot be.
    pub fn new(mut options: PoolOptions) -> Result<Self, PoolError> {
        let servers = std::mem::take(&mut options.servers);
        let mut seen = HashSet::new();
        for server in &servers {
            check_name(&server.name)?;
            if !seen.insert(server.name.clone()) {
                return Err(PoolError::TwiceNamed(server.name.clone()));
            }
        }
        let shared = Arc::new(options);
        let (changes, _) = watch::channel(0);
        let safe_names = names::of_servers(servers.iter().map(|server| server.name.as_str()));
        let started = servers
            .into_iter()
            .zip(safe_names)
            .map(|(server, safe_name)| {
                let (server, actor) =
                    Server::new(server, safe_name, Arc::clone(&shared), changes.clone());
                let actor = AbortOnDropHandle::new(tokio::spawn(actor));
                (Arc::new(server), actor)
            });
        let (servers, actors) = started.unzip();
        Ok(Self {
            servers,
            actors: Mutex::new(actors),
            changes,
        })
    }

    /// Brings up every server of which it is not known what it has, and reads lists that have
    /// changed, all at once. Servers that were stopped because nobody called them sleep on. What
    /// fails is told by [`Pool::states`], and delays nothing but this call, for its own time.
    pub async fn refresh(&self) {
        join_all(self.servers.iter().map(|server| server.handle.look())).await;
    }

    /// As [`Pool::refresh`], but no server is waited for for longer than `patience`, and one that
    /// comes up for the first time for `first` after it was first asked, in all calls together. Those
    /// whose names are wanted have all the time that they are configured to have. What takes longer
    /// goes on starting, and tells when it is up by [`Pool::changes`].
    pub async fn refresh_within(
        &self,
        first: Duration,
        patience: Duration,
        is_wanted: impl Fn(&str) -> bool,
    ) {
        // What is not up yet is named as starting.
        let looks = self.servers.iter().map(|server| {
            let patience = match is_wanted(&server.handle.name) {
                true => Duration::MAX,
                false => server.patience(first, patience),
            };
            tokio::time::timeout(patience, server.handle.look())
        });
        join_all(looks).await;
    }

    /// Brings up one server.
    ///
    /// # Errors
    /// Why it is unavailable; `None` when there is no such server.
    pub async fn start(&self, name: &str) -> Option<Result<(), RequestError>> {
        let server = self
            .servers
            .iter()
            .find(|server| &*server.handle.name == name)?;
        Some(server.handle.ready().await.map(drop))
    }

    /// What is known of each server, in the configured order.
    #[must_use]
    pub fn states(&self) -> Vec<(String, ServerState)> {
        let servers = self.servers.iter();
        servers
            .map(|server| (server.handle.name.to_string(), server.state()))
            .collect()
    }

    /// Counts what makes a catalog stale: whoever shows one can wait for the next change.
    #[must_use]
    pub fn changes(&self) -> watch::Receiver<u64> {
        self.changes.subscribe()
    }

    /// Ends every server, gently at first, and waits until they are gone.
    pub async fn close(&self) {
        join_all(self.servers.iter().map(|server| server.handle.close())).await;
        let actors = {
            let mut actors = self.actors.lock().unwrap_or_else(PoisonError::into_inner);
            std::mem::take(&mut *actors)
        };
        // An actor that crashed has nothing left to close.
        let _ = join_all(actors).await;
    }
}

fn check_name(name: &str) -> Result<(), PoolError> {
    // Any tool's name does; the id checks the owner.
    let id = codecell_catalog::ToolId::new(codecell_catalog::Source::Mcp, name, "x");
    id.map(drop).map_err(|error| PoolError::BadName {
        name: name.to_owned(),
        reason: error.to_string(),
    })
}

impl ToolSource for Pool {
    /// The very same objects as long as a server's lists are the same.
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let states = self.servers.iter().map(|server| server.state());
        states.flat_map(|state| state.tools.to_vec()).collect()
    }

    fn servers(&self) -> Vec<McpServer> {
        let servers = self.servers.iter();
        servers
            .map(|server| {
                let state = server.state();
                let is_starting = state.listing.is_none();
                let starting = is_starting.then(|| "it is still starting".to_owned());
                McpServer {
                    name: server.handle.name.to_string(),
                    description: state
                        .listing
                        .and_then(|listing| listing.description.clone()),
                    unavailable: state.unavailable.or(starting),
                }
            })
            .collect()
    }
}
