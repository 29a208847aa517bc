//! The core tools: files of the workspace, the shell, the web.
//!
//! File tools reach files through [`Workspace`] alone, by descriptors; the shell kills what it started; the
//! web is reached at addresses that were checked. Nothing here judges policy or asks anybody: tools
//! say what has to be asked, and the executor asks. What a tool is given ([`CoreOptions`]) comes from
//! the composition root: no environment variable, home directory or configuration is read.

mod adapt;
mod edit;
mod error;
mod file_tool;
mod find;
mod grep;
mod ls;
mod options;
mod patch;
mod read;
mod shell;
mod stop;
mod web;
mod workspace;
mod write;

use std::sync::Arc;

use crate::{Tool, ToolSource};
use adapt::Files;
pub use error::CoreError;
pub use options::{CoreLimits, CoreOptions, WebOptions};
#[doc(hidden)]
pub use patch::patch_paths;
pub use shell::CHILD_VARIABLES;
use shell::{Sessions, Shell};
pub use web::{HostResolver, SystemResolver, is_public_address};
pub use workspace::{OpenMethod, Workspace};

/// The core tools over one workspace. Dropping them kills every background command.
pub struct CoreTools {
    tools: Vec<Arc<dyn Tool>>,
    workspace: Arc<Workspace>,
    sessions: Arc<Sessions>,
}

impl CoreTools {
    /// Opens the workspace and makes the tools.
    ///
    /// # Errors
    /// When the workspace cannot be opened or lies in a denied directory, or an option is not valid.
    pub fn new(options: &CoreOptions) -> Result<Self, CoreError> {
        let workspace = Workspace::open(
            &options.workspace,
            options.denied.clone(),
            options.open_method,
        )?;
        let files = || {
            Arc::new(Files {
                workspace: Arc::clone(&workspace),
                limits: options.limits.clone(),
            })
        };
        let shell = Arc::new(Shell::new(Arc::clone(&workspace), options));
        let sessions = Arc::new(Sessions::default());
        let tools: Vec<Arc<dyn Tool>> = vec![
            read::tool(files())?,
            write::tool(files())?,
            edit::tool(files())?,
            patch::tool(files())?,
            ls::tool(files())?,
            find::tool(files())?,
            grep::tool(files())?,
            Arc::new(shell::ExecTool::new(shell, Arc::clone(&sessions))?),
            Arc::new(shell::ProcessTool::new(Arc::clone(&sessions))?),
            Arc::new(web::WebFetchTool::new(options)?),
        ];
        Ok(Self {
            tools,
            workspace,
            sessions,
        })
    }

    /// The workspace that the file tools are confined to.
    pub fn workspace(&self) -> &Arc<Workspace> {
        &self.workspace
    }

    /// Kills every background command and waits until nothing of it runs; blocks for milliseconds.
    ///
    /// For the moment before a process ends without dropping its tools, as after an interrupt.
    pub fn kill_all(&self) {
        self.sessions.kill_all();
    }
}

impl std::fmt::Debug for CoreTools {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        let names: Vec<&str> = self
            .tools
            .iter()
            .map(|tool| tool.definition().name())
            .collect();
        f.debug_struct("CoreTools")
            .field("tools", &names)
            .finish_non_exhaustive()
    }
}

impl Drop for CoreTools {
    fn drop(&mut self) {
        self.sessions.kill_all();
    }
}

impl ToolSource for CoreTools {
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.tools.clone()
    }
}
