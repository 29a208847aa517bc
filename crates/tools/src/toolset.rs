//! The effective tools of one run.
//!
//! A tool that policy removed is not in here, and there is no way back to it from here: the
//! catalog, the near names of errors and the lookup are made of what survived.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::fmt;
use std::sync::Arc;

use codecell_catalog::{
    Catalog, CatalogError, ContentHash, Entry, McpLookupError, McpServer, ResolveError, Scope,
    Source, ToolId, mcp_spelling_of,
};

use crate::policy::{Policy, Verdict};
use crate::tool::{Tool, ToolSource};

/// Why sources and policy make no set of tools.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum ToolSetError {
    /// The tools contradict each other.
    #[error(transparent)]
    Catalog(#[from] CatalogError),
    /// Lists that allow something leave nothing.
    #[error(
        "no tool is left: {} allows none of the tools of this run; correct the names, or set allow to [] if a run without tools is meant",
        labels.join(" and ")
    )]
    NothingLeft {
        /// The steps that allow only what they list.
        labels: Vec<String>,
    },
}

/// A tool that policy removed, for audits. Never shown to a model.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Removal {
    /// The tool.
    pub tool: ToolId,
    /// The step that removed it.
    pub step: String,
}

/// Why a name leads to no tool that can be called.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum LookupError {
    /// Unknown, ambiguous, or to be called in another way.
    #[error(transparent)]
    Resolve(#[from] ResolveError),
    /// No tool of an MCP server has this spelling.
    #[error(transparent)]
    Mcp(#[from] McpLookupError),
    /// The cell could call it when it started, and cannot now.
    #[error(
        "`{tool}` is no longer available to this cell: while the cell was suspended it was removed or denied, or its definition changed. Start a new cell to work with the tools of now."
    )]
    Gone {
        /// The tool.
        tool: ToolId,
    },
}

/// The tools that a cell started with: each id, and the definition that it stood for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct StartingTools(pub BTreeMap<ToolId, ContentHash>);

/// The effective tools of one run, in the order of the catalog. Cheap to clone.
#[derive(Clone)]
pub struct ToolSet {
    catalog: Arc<Catalog>,
    tools: Arc<HashMap<ToolId, Arc<dyn Tool>>>,
    /// Known when the cell started and not to be called now.
    gone: Arc<BTreeSet<ToolId>>,
    removals: Arc<[Removal]>,
    unknown_allow_entries: Arc<[(String, String)]>,
}

impl ToolSet {
    /// Takes the tools of the sources that survive the policy.
    ///
    /// # Errors
    /// When two tools share an id, or lists that are not empty allow nothing of what there is.
    pub fn build(sources: &[Arc<dyn ToolSource>], policy: &Policy) -> Result<Self, ToolSetError> {
        Self::build_after(None, sources, policy)
    }

    /// As [`ToolSet::build`], for a set that takes the place of this one: search reads only what differs.
    ///
    /// # Errors
    /// As [`ToolSet::build`].
    pub fn rebuilt(
        &self,
        sources: &[Arc<dyn ToolSource>],
        policy: &Policy,
    ) -> Result<Self, ToolSetError> {
        Self::build_after(Some(&self.catalog), sources, policy)
    }

    fn build_after(
        before: Option<&Catalog>,
        sources: &[Arc<dyn ToolSource>],
        policy: &Policy,
    ) -> Result<Self, ToolSetError> {
        let offered: Vec<Arc<dyn Tool>> =
            sources.iter().flat_map(|source| source.tools()).collect();
        let definitions: Vec<_> = offered.iter().map(|tool| tool.definition()).collect();
        let unknown_allow_entries = policy
            .unknown_entries(&definitions)
            .into_iter()
            .map(|(label, text)| (label.to_owned(), text.to_owned()))
            .collect();
        let (tools, removals) = apply(policy, &offered);
        if tools.is_empty() && !offered.is_empty() && !policy.wants_no_tools() {
            let labels = policy.allowing_steps();
            if !labels.is_empty() {
                return Err(ToolSetError::NothingLeft {
                    labels: labels.into_iter().map(str::to_owned).collect(),
                });
            }
        }
        let servers = sources.iter().flat_map(|source| source.servers());
        let servers = servers.filter(|server| is_shown(server, &offered, &tools, policy));
        let mut set = Self::of_tools(before, servers.collect(), tools)?;
        set.removals = removals.into();
        set.unknown_allow_entries = unknown_allow_entries;
        Ok(set)
    }

    fn of_tools(
        before: Option<&Catalog>,
        servers: Vec<McpServer>,
        tools: Vec<Arc<dyn Tool>>,
    ) -> Result<Self, CatalogError> {
        let entries = tools.iter().map(|tool| tool.definition().entry()).collect();
        let by_id = tools
            .into_iter()
            .map(|tool| (tool.definition().id.clone(), tool));
        let catalog = match before {
            Some(before) => before.succeeded_by(entries, servers)?,
            None => Catalog::with_servers(entries, servers)?,
        };
        Ok(Self {
            catalog: Arc::new(catalog),
            tools: Arc::new(by_id.collect()),
            gone: Arc::default(),
            removals: Arc::default(),
            unknown_allow_entries: Arc::default(),
        })
    }

    /// The catalog of exactly these tools.
    #[must_use]
    pub fn catalog(&self) -> &Arc<Catalog> {
        &self.catalog
    }

    /// The tool with exactly this id.
    #[must_use]
    pub fn get(&self, id: &ToolId) -> Option<&Arc<dyn Tool>> {
        self.tools.get(id)
    }

    /// The tool that an id, or an unambiguous name, means.
    ///
    /// # Errors
    /// When it means none of these tools, several, or one that has gone since the cell started.
    pub fn resolve(&self, id_or_name: &str, scope: Scope) -> Result<&Arc<dyn Tool>, LookupError> {
        let found = self.catalog.resolve_in(id_or_name, scope);
        match found.map(|entry| (self.tools.get(&entry.id), &entry.id)) {
            Ok((Some(tool), _)) => Ok(tool),
            Ok((None, id)) => Err(LookupError::Gone { tool: id.clone() }),
            Err(error) => Err(self.gone_one(id_or_name).unwrap_or(error.into())),
        }
    }

    /// The tool that the guest spells `<server>.<tool>` behind `MCP.`.
    ///
    /// # Errors
    /// When it means none of these tools, or one that has gone since the cell started.
    pub fn resolve_mcp(&self, spelling: &str) -> Result<&Arc<dyn Tool>, LookupError> {
        if let Some(entry) = self.catalog.by_mcp_spelling(spelling)
            && let Some(tool) = self.tools.get(&entry.id)
        {
            return Ok(tool);
        }
        // Which of several tools had a number is not known any more, so it does not count.
        let plain = spelling.trim_end_matches(|c: char| c.is_ascii_digit());
        let is_meant = |id: &&ToolId| {
            let own = mcp_spelling_of(id.owner(), id.name());
            let own = own.strip_prefix("MCP.");
            id.source() == Source::Mcp && (own == Some(spelling) || own == Some(plain))
        };
        match self.gone.iter().find(is_meant) {
            Some(tool) => Err(LookupError::Gone { tool: tool.clone() }),
            None => Err(self.catalog.explain_mcp(spelling).into()),
        }
    }

    fn gone_one(&self, id_or_name: &str) -> Option<LookupError> {
        let mut fitting = self
            .gone
            .iter()
            .filter(|id| id.as_str() == id_or_name || id.name() == id_or_name);
        let tool = fitting.next()?.clone();
        Some(LookupError::Gone { tool })
    }

    /// What a cell that starts with this set has to remember.
    #[must_use]
    pub fn starting_tools(&self) -> StartingTools {
        let entries = self.catalog.entries().iter();
        StartingTools(
            entries
                .map(|entry| (entry.id.clone(), self.catalog.identity(entry)))
                .collect(),
        )
    }

    /// This set, narrowed for a cell that started with others: what is there now and was there
    /// then with the same definition.
    #[must_use]
    pub fn resumed(&self, start: &StartingTools) -> Self {
        let is_kept = |entry: &Entry| {
            start.0.get(&entry.id) == Some(&self.catalog.identity(entry))
                && self.tools.contains_key(&entry.id)
        };
        let catalog = self.catalog.narrowed(is_kept);
        let kept = catalog.entries().iter();
        let tools =
            kept.filter_map(|entry| Some((entry.id.clone(), self.tools.get(&entry.id)?.clone())));
        let gone = start.0.keys().filter(|id| catalog.get(id).is_none());
        Self {
            gone: Arc::new(gone.cloned().collect()),
            tools: Arc::new(tools.collect()),
            catalog: Arc::new(catalog),
            removals: Arc::default(),
            unknown_allow_entries: Arc::default(),
        }
    }

    /// What policy removed, for audits. Never shown to a model.
    #[must_use]
    pub fn removals(&self) -> &[Removal] {
        &self.removals
    }

    /// Allow entries that name nothing, as `(label, entry)`: worth one warning.
    #[must_use]
    pub fn unknown_allow_entries(&self) -> &[(String, String)] {
        &self.unknown_allow_entries
    }
}

impl fmt::Debug for ToolSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set()
            .entries(self.catalog.entries().iter().map(|entry| &entry.id))
            .finish()
    }
}

/// Whether a run learns of a server: one of its tools is left, or policy would leave some if the
/// server had any.
fn is_shown(
    server: &McpServer,
    offered: &[Arc<dyn Tool>],
    kept: &[Arc<dyn Tool>],
    policy: &Policy,
) -> bool {
    let has_any = |tools: &[Arc<dyn Tool>]| {
        tools.iter().any(|tool| {
            let id = &tool.definition().id;
            id.source() == Source::Mcp && id.owner() == server.name
        })
    };
    match has_any(offered) {
        true => has_any(kept),
        false => policy.could_admit_server(&server.name),
    }
}

fn apply(policy: &Policy, offered: &[Arc<dyn Tool>]) -> (Vec<Arc<dyn Tool>>, Vec<Removal>) {
    let mut kept = Vec::new();
    let mut removals = Vec::new();
    for tool in offered {
        match policy.judge(tool.definition()) {
            Verdict::Allowed => kept.push(Arc::clone(tool)),
            Verdict::Removed(step) => removals.push(Removal {
                tool: tool.definition().id.clone(),
                step: step.to_owned(),
            }),
        }
    }
    (kept, removals)
}
