//! What stands behind the MCP front: code mode over the tools of now, one run for each session.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use codecell_codemode::{
    CodeMode, CodeModeOptions, CodeModeSurface, Park, Randomness, RunContext, Scope,
};
use codecell_mcp::front::{Backend, BackendError, SavedValue, SessionScope};
use codecell_tools::{ModelSurface, Tool, ToolSet};
use tokio::sync::watch;

use super::code_mode;
use super::settings::Settings;
use super::tooling::Tooling;
use crate::commands::mcp::serve::UPSTREAM_PATIENCE;

/// Code mode as the front's backend.
pub(crate) struct FrontBackend {
    cells: CodeMode,
    tooling: Tooling,
    options: CodeModeOptions,
    owner: String,
    agent: String,
    randomness: Arc<dyn Randomness>,
    changes: watch::Sender<u64>,
    last: Mutex<Option<Known>>,
}

/// The tools of the last look, and the catalog that was made of them.
struct Known {
    tools: Vec<Arc<dyn Tool>>,
    set: ToolSet,
}

impl FrontBackend {
    /// A backend over these tools.
    pub(crate) fn new(
        settings: &Settings,
        tooling: Tooling,
        cells: CodeMode,
        randomness: Arc<dyn Randomness>,
    ) -> Self {
        let state = settings.state_dir.as_ref();
        Self {
            cells,
            tooling,
            options: code_mode::convert(&settings.agent.code_mode, false),
            owner: state.map_or_else(String::new, |state| state.display().to_string()),
            agent: settings.agent.id.clone(),
            randomness,
            changes: watch::Sender::new(0),
            last: Mutex::default(),
        }
    }

    fn scope(&self, session: &SessionScope) -> Scope {
        Scope::new(&self.owner, &self.agent, &session.key, &session.key)
    }

    /// The catalog of now: the last one, if the tools are the very same.
    fn set(&self) -> Result<ToolSet, BackendError> {
        let sources = self.tooling.sources.iter();
        let tools: Vec<Arc<dyn Tool>> = sources.flat_map(|source| source.tools()).collect();
        let mut last = self.last.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some(known) = last.as_ref().filter(|known| same(&known.tools, &tools)) {
            return Ok(known.set.clone());
        }
        let set = self.tooling.set_of_now();
        let set = set.map_err(|error| BackendError(error.to_string()))?;
        *last = Some(Known {
            tools,
            set: set.clone(),
        });
        Ok(set)
    }
}

fn same(then: &[Arc<dyn Tool>], now: &[Arc<dyn Tool>]) -> bool {
    then.len() == now.len()
        && then
            .iter()
            .zip(now)
            .all(|(then, now)| Arc::ptr_eq(then, now))
}

#[async_trait]
impl Backend for FrontBackend {
    async fn surface(&self, session: &SessionScope) -> Result<Arc<dyn ModelSurface>, BackendError> {
        if let Some(servers) = &self.tooling.servers {
            servers.refresh_within(UPSTREAM_PATIENCE).await;
        }
        let mut options = self.options.clone();
        if !session.may_suspend {
            options.park = Park::Never;
        }
        let run = RunContext::new(self.scope(session), self.set()?).with_options(options);
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
        match &self.tooling.servers {
            Some(servers) => servers.changes(),
            None => self.changes.subscribe(),
        }
    }

    fn random_bits(&self) -> u128 {
        self.randomness.bits()
    }
}
