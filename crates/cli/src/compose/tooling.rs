//! The tools of a command: core tools over the workspace, policy, approvals, the one executor.

use std::fmt;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

use codecell_catalog::{ResolveError, Scope};
use codecell_mcp::client::Pool;
use codecell_tools::core::{CoreOptions, CoreTools, WebOptions};
use codecell_tools::{
    ApprovalDesk, ApprovalMode, ApprovalOptions, Approver, CallContext, EventSink, Executor,
    ExecutorOptions, ExecutorParts, Policy, PolicyOptions, PolicyRules, Redactor, ToolSet,
    ToolSetError, ToolSource,
};

use super::settings::{Settings, refused_policy};
use super::{Base, convert, servers};
use crate::activity::Activity;
use crate::approve::TerminalApprover;
use crate::args::{ApproveMode, FilterArgs};
use crate::error::CliError;
use crate::escape::visible_line;
use crate::surroundings::ConfigFile;

/// The tools of a command and the way to call them.
pub(crate) struct Tooling {
    /// The core tools; dropping them kills what runs in the background.
    pub(crate) core: Arc<CoreTools>,
    /// The MCP servers, if there are any; dropping them ends them.
    pub(crate) servers: Option<Arc<Pool>>,
    /// What policy left.
    pub(crate) set: ToolSet,
    /// Where tools come from.
    pub(crate) sources: Vec<Arc<dyn ToolSource>>,
    /// What removes some of them.
    pub(crate) policy: Policy,
    /// What takes secrets out of what is kept.
    redactor: Redactor,
    /// The one way to call it.
    pub(crate) executor: Arc<Executor>,
    /// What the tools are doing.
    pub(crate) activity: Arc<Activity>,
    /// Who is asked.
    pub(crate) approver: Arc<TerminalApprover>,
}

/// Who is waiting for the tools.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Audience {
    /// A person who ran a command, and waits until every server is up or is known not to come up.
    Person,
    /// The clients of the front, who are served at once: servers are only told to start.
    Clients,
}

impl Tooling {
    /// Opens the workspace, brings up the MCP servers, makes the tools and applies policy.
    ///
    /// # Errors
    ///
    /// [`CliError::Config`] when rules contradict each other or leave nothing,
    /// [`CliError::Workspace`] when the workspace cannot be opened.
    pub(crate) async fn build(
        base: &Base,
        settings: &Settings,
        filter: &FilterArgs,
        approve: ApproveMode,
        audience: Audience,
    ) -> Result<Self, CliError> {
        let core = Arc::new(open_core(base, settings)?);
        let config = &settings.loaded.config;
        let rules = convert::policy(config.tools(), &settings.agent, &filter.allow, &filter.deny)
            .map_err(|error| refused_policy(&error))?;
        let policy = Policy::build(&rules).map_err(|error| refused_policy(&error))?;
        // A front asks through its clients, whoever they are.
        let has_person = audience == Audience::Clients || base.streams.can_ask();
        let can_ask = approve != ApproveMode::Never && has_person;
        let redactor = Redactor::default();
        let servers = servers::open(base, settings, &redactor, can_ask)?;
        match (&servers, audience) {
            (Some(pool), Audience::Person) => connect(base, pool).await,
            (Some(pool), Audience::Clients) => {
                let nothing = Duration::ZERO;
                pool.refresh_within(nothing, nothing, |_| false).await
            }
            (None, _) => {}
        }
        let sources = sources(&core, servers.as_ref());
        let set = ToolSet::build(&sources, &policy).map_err(|error| refused_policy(&error))?;
        let absent = absent_servers(&sources);
        for (label, entry) in set.unknown_allow_entries() {
            if could_name_one_of(&absent, entry) {
                continue;
            }
            base.streams.warn(&format!(
                "`{entry}`, allowed by {label}, names no tool that exists here"
            ));
        }
        for unknown in unknown_denials(&sources, settings, &filter.deny)? {
            if unknown.place == TYPED_DENIAL {
                return Err(unknown.into_error());
            }
            base.streams.warn(&unknown.to_string());
        }
        let approver = Arc::new(TerminalApprover::new(Arc::clone(&base.streams)));
        let activity = Arc::new(Activity::default());
        let executor = Executor::new(ExecutorParts {
            options: ExecutorOptions::default(),
            approvals: desk(settings, approve, Arc::clone(&approver) as _),
            hooks: Vec::new(),
            events: Arc::clone(&activity) as _,
            redactor: redactor.clone(),
        });
        Ok(Self {
            core,
            servers,
            set,
            sources,
            policy,
            redactor,
            executor: Arc::new(executor),
            activity,
            approver,
        })
    }

    /// The same tools for others than the person at the terminal: `approver` is asked, and `events`
    /// are told to somebody else.
    #[must_use]
    pub(crate) fn for_others(
        self,
        settings: &Settings,
        approve: ApproveMode,
        approver: Arc<dyn Approver>,
        events: Arc<dyn EventSink>,
    ) -> Self {
        let executor = Executor::new(ExecutorParts {
            options: ExecutorOptions::default(),
            approvals: desk(settings, approve, approver),
            hooks: Vec::new(),
            events,
            redactor: self.redactor.clone(),
        });
        Self {
            executor: Arc::new(executor),
            ..self
        }
    }

    /// The tools of now, after the policy of the start.
    ///
    /// # Errors
    ///
    /// When the tools of now contradict each other, or policy leaves none.
    pub(crate) fn set_of_now(&self) -> Result<ToolSet, ToolSetError> {
        self.set.rebuilt(&self.sources, &self.policy)
    }

    /// Ends the MCP servers, gently at first. What is still needed of them is lost.
    pub(crate) async fn close_servers(&self) {
        if let Some(pool) = &self.servers {
            pool.close().await;
        }
    }
}

/// Brings up the servers, each in its own time, and says which of them cannot be used.
pub(crate) async fn connect(base: &Base, pool: &Pool) {
    pool.refresh().await;
    for (name, state) in pool.states() {
        if let Some(reason) = &state.unavailable {
            base.streams
                .warn(&format!("the MCP server `{name}` is unavailable: {reason}"));
        }
        for note in state.listing.iter().flat_map(|listing| &listing.notes) {
            base.streams
                .warn(&format!("the MCP server `{name}`: {note}"));
        }
        let left_out = state.listing.iter().flat_map(|listing| &listing.left_out);
        for left_out in left_out {
            base.streams.explain(&format!(
                "the tool `{}` of the MCP server `{name}` is left out: {}",
                left_out.tool, left_out.reason
            ));
        }
    }
}

/// Where the tools come from.
pub(crate) fn sources(
    core: &Arc<CoreTools>,
    servers: Option<&Arc<Pool>>,
) -> Vec<Arc<dyn ToolSource>> {
    let core = Arc::clone(core) as Arc<dyn ToolSource>;
    let servers = servers.map(|pool| Arc::clone(pool) as Arc<dyn ToolSource>);
    std::iter::once(core).chain(servers).collect()
}

/// The MCP servers whose tools are not known now.
fn absent_servers(sources: &[Arc<dyn ToolSource>]) -> Vec<String> {
    let servers = sources.iter().flat_map(|source| source.servers());
    servers
        .filter(|server| server.unavailable.is_some())
        .map(|server| server.name)
        .collect()
}

/// Whether an entry of a list could name a tool of a server whose tools are not known.
fn could_name_one_of(servers: &[String], entry: &str) -> bool {
    let rules = PolicyOptions {
        scopes: vec![PolicyRules {
            allow: Some(vec![entry.to_owned()]),
            ..PolicyRules::new("")
        }],
        ..PolicyOptions::default()
    };
    Policy::build(&rules).is_ok_and(|policy| {
        let mut servers = servers.iter();
        servers.any(|server| policy.could_admit_server(server))
    })
}

/// The place of what was typed.
const TYPED_DENIAL: &str = "--deny";

/// An entry of a deny list that covers no tool of this program, and no known group.
pub(crate) struct UnknownDenial {
    place: String,
    entry: String,
    near: Vec<String>,
}

impl UnknownDenial {
    fn hint(&self) -> String {
        match self.near.as_slice() {
            [] => "codecell tools lists the names".to_owned(),
            near => format!("did you mean {}?", near.join(", ")),
        }
    }

    fn into_error(self) -> CliError {
        CliError::Argument {
            hint: format!(
                "{} (a name, an id, group:NAME, or either with *)",
                self.hint()
            ),
            message: format!("--deny {}: no tool has this name", self.entry),
        }
    }
}

impl fmt::Display for UnknownDenial {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let entry = visible_line(&self.entry);
        let (place, hint) = (&self.place, self.hint());
        write!(
            f,
            "`{entry}` in {place} names no tool that exists here, so it denies nothing; {hint}"
        )
    }
}

/// What the deny lists of the configuration and the command line name in vain.
///
/// # Errors
///
/// [`CliError::Config`] for rules or tools that contradict each other.
pub(crate) fn unknown_denials(
    sources: &[Arc<dyn ToolSource>],
    settings: &Settings,
    typed: &[String],
) -> Result<Vec<UnknownDenial>, CliError> {
    let agent = &settings.agent;
    let lists = [
        (
            "tools.deny".to_owned(),
            settings.loaded.config.tools().deny.as_slice(),
        ),
        (
            format!("agents.{}.tools.deny", agent.id),
            agent.tools.deny.as_slice(),
        ),
        (TYPED_DENIAL.to_owned(), typed),
    ];
    if lists.iter().all(|(_, list)| list.is_empty()) {
        return Ok(Vec::new());
    }
    // As allow lists, since those tell what they cover without removing it.
    let scopes = lists.into_iter().map(|(place, list)| PolicyRules {
        allow: Some(list.to_vec()),
        ..PolicyRules::new(place)
    });
    let rules = PolicyOptions {
        scopes: scopes.collect(),
        ..PolicyOptions::default()
    };
    let policy = Policy::build(&rules).map_err(|error| refused_policy(&error))?;
    let tools: Vec<_> = sources.iter().flat_map(|source| source.tools()).collect();
    let definitions: Vec<_> = tools.iter().map(|tool| tool.definition()).collect();
    let unknown = policy.unknown_entries(&definitions);
    if unknown.is_empty() {
        return Ok(Vec::new());
    }
    let all =
        ToolSet::build(sources, &Policy::default()).map_err(|error| refused_policy(&error))?;
    let absent = absent_servers(sources);
    let unknown = unknown.into_iter();
    let unknown = unknown.filter(|(_, entry)| !could_name_one_of(&absent, entry));
    let found = unknown.map(|(place, entry)| UnknownDenial {
        place: place.to_owned(),
        entry: entry.to_owned(),
        near: match all.catalog().resolve_in(entry, Scope::All) {
            Err(ResolveError::Unknown { near, .. }) => near,
            _ => Vec::new(),
        },
    });
    Ok(found.collect())
}

fn desk(settings: &Settings, mode: ApproveMode, approver: Arc<dyn Approver>) -> ApprovalDesk {
    let options = ApprovalOptions {
        mode: match mode {
            ApproveMode::Ask => ApprovalMode::Ask,
            ApproveMode::Never => ApprovalMode::Never,
            ApproveMode::Always => ApprovalMode::Always,
        },
        fallback: convert::ask_fallback(settings.loaded.config.exec().ask_fallback()),
        ttl: Duration::from_secs(settings.agent.code_mode.approval_ttl_seconds()),
    };
    ApprovalDesk::new(options, Some(approver))
}

/// The core tools over the workspace.
///
/// # Errors
///
/// [`CliError::Workspace`] when it cannot be opened.
pub(crate) fn open_core(base: &Base, settings: &Settings) -> Result<CoreTools, CliError> {
    let config = &settings.loaded.config;
    let mut options = CoreOptions::new(&settings.workspace);
    options.denied = denied(settings, base.config_file()?.as_ref());
    options.child_env = base.surroundings.child_env();
    options.limits.exec_default_timeout_ms = config.exec().timeout_ms();
    options.limits.exec_max_timeout_ms = options
        .limits
        .exec_max_timeout_ms
        .max(config.exec().timeout_ms());
    options.web = WebOptions {
        allow_hosts: config.web_fetch().allow_hosts.clone(),
        allow_private: config.web_fetch().allow_private_network,
        ..WebOptions::default()
    };
    CoreTools::new(&options).map_err(|error| CliError::Workspace {
        path: settings.workspace.clone(),
        reason: error.to_string(),
    })
}

/// What no file tool reaches, wherever the workspace is.
fn denied(settings: &Settings, config: Option<&ConfigFile>) -> Vec<std::path::PathBuf> {
    let named = config.map(|file| file.path.as_path());
    let read = settings.loaded.report.file.as_deref();
    let all = [
        settings.state_dir.as_deref(),
        settings.cache_dir.as_deref(),
        named,
        read,
    ];
    let mut denied: Vec<_> = all.into_iter().flatten().map(Path::to_owned).collect();
    denied.extend(super::store::files(settings));
    denied
}

/// The context of a call that a person makes from the command line.
pub(crate) fn direct_context(settings: &Settings) -> CallContext {
    let session = settings.workspace.display().to_string();
    CallContext::new(&settings.agent.id, &session, &session)
}
