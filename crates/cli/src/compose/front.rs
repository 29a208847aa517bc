//! What stands behind the MCP front: code mode over the tools of now, one run for each session.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use async_trait::async_trait;
use codecell_catalog::McpServer;
use codecell_codemode::{
    CodeMode, CodeModeOptions, CodeModeSurface, Park, Randomness, RunContext, Scope,
};
use codecell_mcp::front::{Backend, BackendError, SavedValue, SessionScope};
use codecell_tools::{ModelSurface, ToolSet};
use tokio::sync::watch;

use super::code_mode;
use super::settings::Settings;
use super::tooling::Tooling;

/// Code mode as the front's backend.
pub(crate) struct FrontBackend {
    cells: CodeMode,
    tooling: Tooling,
    options: CodeModeOptions,
    owner: String,
    agent: String,
    randomness: Arc<dyn Randomness>,
    changes: watch::Receiver<u64>,
    /// Keeps the channel open where there is nobody to tell of changes.
    _silence: watch::Sender<u64>,
    last: Mutex<Option<Known>>,
}

/// The catalog of the last look, and how many changes had been told of before it.
struct Known {
    changes: u64,
    set: ToolSet,
    /// Another one for another catalog.
    mark: u64,
}

/// How long a cell waits for servers whose lists are out of date; they join a later one.
const PATIENCE: Duration = Duration::from_millis(250);

/// How long whoever comes first waits for a server that comes up for the first time. One that takes
/// longer joins when it is up, and is not waited for again but by programs that name it.
const FIRST_PATIENCE: Duration = Duration::from_secs(3);

impl FrontBackend {
    /// A backend over these tools.
    pub(crate) fn new(
        settings: &Settings,
        tooling: Tooling,
        cells: CodeMode,
        randomness: Arc<dyn Randomness>,
    ) -> Self {
        let state = settings.state_dir.as_ref();
        let silence = watch::Sender::new(0);
        let servers = tooling.servers.as_ref();
        Self {
            cells,
            changes: servers.map_or_else(|| silence.subscribe(), |servers| servers.changes()),
            _silence: silence,
            tooling,
            options: code_mode::convert(&settings.agent.code_mode, false),
            owner: state.map_or_else(String::new, |state| state.display().to_string()),
            agent: settings.agent.id.clone(),
            randomness,
            last: Mutex::default(),
        }
    }

    fn scope(&self, session: &SessionScope) -> Scope {
        Scope::new(&self.owner, &self.agent, &session.key, &session.key)
    }

    async fn refresh(&self, words: &str) {
        if let Some(servers) = &self.tooling.servers {
            let is_wanted = |server: &str| speak_of(words, server);
            servers
                .refresh_within(FIRST_PATIENCE, PATIENCE, is_wanted)
                .await;
        }
    }

    /// The catalog of now: the last one, if nothing has changed since.
    fn set(&self) -> Result<(ToolSet, u64), BackendError> {
        // Read before the tools are: what changes meanwhile makes the next look a new one.
        let changes = *self.changes.borrow();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = last.as_ref().filter(|known| known.changes == changes) {
            return Ok((known.set.clone(), known.mark));
        }
        let set = self.tooling.set_of_now();
        let set = set.map_err(|error| BackendError(error.to_string()))?;
        let mark = match last.as_ref() {
            Some(known) if same(&known.set, &set) => known.mark,
            Some(known) => known.mark + 1,
            None => 0,
        };
        *last = Some(Known {
            changes,
            set: set.clone(),
            mark,
        });
        Ok((set, mark))
    }
}

/// Whether these words are about the tools of a server of MCP: they name it as configured, or as a program
/// spells it.
fn speak_of(words: &str, server: &str) -> bool {
    let plain = |text: &str| -> String {
        let kept = text.chars().filter(char::is_ascii_alphanumeric);
        kept.map(|c| c.to_ascii_lowercase()).collect()
    };
    let mut of_words = words.split(|c: char| !c.is_alphanumeric() && !"_$-".contains(c));
    let name = plain(server);
    words.to_ascii_lowercase().contains("mcp") && of_words.any(|word| plain(word) == name)
}

/// Whether two catalogs say the same.
fn same(then: &ToolSet, now: &ToolSet) -> bool {
    let servers = |set: &ToolSet| -> Vec<McpServer> {
        let spaces = set.catalog().servers().iter();
        spaces.map(|space| space.server.clone()).collect()
    };
    servers(then) == servers(now) && then.starting_tools() == now.starting_tools()
}

#[async_trait]
impl Backend for FrontBackend {
    async fn surface(
        &self,
        session: &SessionScope,
        words: &str,
    ) -> Result<Arc<dyn ModelSurface>, BackendError> {
        self.refresh(words).await;
        let mut options = self.options.clone();
        if !session.may_suspend {
            options.park = Park::Never;
        }
        let run = RunContext::new(self.scope(session), self.set()?.0).with_options(options);
        Ok(Arc::new(CodeModeSurface::new(self.cells.clone(), run)))
    }

    fn end_session(&self, session: &SessionScope) {
        self.cells
            .end_session(&self.owner, &self.agent, &session.key);
    }

    fn saved(&self, session: &SessionScope) -> Vec<SavedValue> {
        let kept = self.cells.saved_values(&self.scope(session));
        kept.into_iter()
            .map(|(id, bytes)| SavedValue { id, bytes })
            .collect()
    }

    fn read_saved(&self, session: &SessionScope, id: &str) -> Option<String> {
        let json = self.cells.saved_value(&self.scope(session), id)?;
        Some(json.to_string())
    }

    fn changes(&self) -> watch::Receiver<u64> {
        self.changes.clone()
    }

    async fn catalog_mark(&self) -> Option<u64> {
        self.refresh("").await;
        self.set().ok().map(|(_, mark)| mark)
    }

    fn random_bits(&self) -> u128 {
        self.randomness.bits()
    }
}

#[cfg(test)]
mod tests {
    use super::speak_of;

    #[test]
    fn words_speak_of_the_servers_that_they_name() {
        for (words, server, expected) in [
            ("await MCP.github.issues()", "github", true),
            ("await MCP.GitHub.issues()", "git-hub", true),
            ("await MCP['git-hub'].issues()", "git-hub", true),
            ("const {git_hub} = MCP;", "git-hub", true),
            ("API.read('mcp/github.d.ts')", "github", true),
            ("await MCP.gitlab.issues()", "github", false),
            ("await MCP.githubber.issues()", "github", false),
            ("await MCP.git.hub()", "github", false),
            ("await tools.read({path: 'github'})", "github", false),
            ("", "github", false),
        ] {
            assert_eq!(speak_of(words, server), expected, "{words} of {server}");
        }
    }
}
