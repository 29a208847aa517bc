//! Whose cell it is, and what the run that owns it brings along.

use std::sync::Arc;
use std::time::Instant;

use codecell_tools::ToolSet;
use tokio_util::sync::CancellationToken;

use crate::durable::RecordSink;
use crate::options::CodeModeOptions;

/// Whom a cell belongs to. Two scopes are the same only if all four parts are.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Scope {
    /// The person, state directory or principal behind the process.
    pub owner: Arc<str>,
    /// The agent.
    pub agent_id: Arc<str>,
    /// The session's stable key.
    pub session_key: Arc<str>,
    /// The run: one agent turn, one MCP session, or one command's workspace.
    pub run_id: Arc<str>,
}

impl Scope {
    /// A scope of these parts.
    #[must_use]
    pub fn new(owner: &str, agent_id: &str, session_key: &str, run_id: &str) -> Self {
        Self {
            owner: owner.into(),
            agent_id: agent_id.into(),
            session_key: session_key.into(),
            run_id: run_id.into(),
        }
    }
}

/// What one run gives to each of its `exec` and `wait` calls. Cheap to clone.
#[derive(Clone, Debug)]
pub struct RunContext {
    /// Whose cells they are.
    pub scope: Arc<Scope>,
    /// The session's current id.
    pub session_id: Arc<str>,
    /// Who asked, where a channel knows it.
    pub sender: Option<Arc<str>>,
    /// Where they asked.
    pub channel: Option<Arc<str>>,
    /// The tools of now, after policy.
    pub tools: ToolSet,
    /// Options of now.
    pub options: Arc<CodeModeOptions>,
    /// Why the overrides that came with this run are not valid; every call fails with it.
    pub invalid_override: Option<String>,
    /// Stops everything that the run started.
    pub abort: CancellationToken,
    /// When the run itself must end.
    pub deadline: Option<Instant>,
    /// Takes the replay record of each cell that this run starts.
    pub record: Option<Arc<dyn RecordSink>>,
}

impl RunContext {
    /// A run of this scope with these tools, the default options and nothing optional.
    #[must_use]
    pub fn new(scope: Scope, tools: ToolSet) -> Self {
        Self {
            session_id: Arc::clone(&scope.session_key),
            scope: Arc::new(scope),
            sender: None,
            channel: None,
            tools,
            options: Arc::new(CodeModeOptions::default()),
            invalid_override: None,
            abort: CancellationToken::new(),
            deadline: None,
            record: None,
        }
    }

    /// The same run with these options.
    #[must_use]
    pub fn with_options(mut self, options: CodeModeOptions) -> Self {
        self.options = Arc::new(options);
        self
    }
}
