//! The names under which policy knows a tool, and the groups that stand for many.
//!
//! Policy compares normalised names; calls do not: an alias or another case never resolves to a
//! tool, it only reaches the tool's rules.

use codecell_catalog::{Source, Tier};

use crate::tool::ToolDefinition;

/// Groups and the core tools in them. Source: the contract's table of groups.
const GROUPS: &[(&str, &[&str])] = &[
    ("runtime", &["exec", "process", "code_execution"]),
    ("fs", &["read", "write", "edit", "apply_patch"]),
    (
        "sessions",
        &[
            "sessions_list",
            "sessions_history",
            "sessions_send",
            "sessions_spawn",
            "sessions_yield",
            "subagents",
            "session_status",
        ],
    ),
    ("memory", &["memory_search", "memory_get"]),
    ("web", &["web_search", "x_search", "web_fetch"]),
    ("ui", &["browser", "canvas"]),
    ("automation", &["heartbeat_respond", "cron", "gateway"]),
    ("messaging", &["message"]),
    ("nodes", &["nodes"]),
    (
        "agents",
        &[
            "agents_list",
            "get_goal",
            "create_goal",
            "update_goal",
            "update_plan",
            "skill_workshop",
        ],
    ),
    (
        "media",
        &[
            "image",
            "image_generate",
            "music_generate",
            "video_generate",
            "tts",
        ],
    ),
];

/// Every core tool.
const GROUP_CORE: &str = "openclaw";
/// Every tool of a plugin or an MCP server.
const GROUP_PLUGINS: &str = "plugins";
/// Every tool of an MCP server; written without the word `group`.
pub(super) const BUNDLE_MCP: &str = "bundle-mcp";

const ALIASES: &[(&str, &str)] = &[("bash", "exec"), ("apply-patch", "apply_patch")];

/// A name as policy compares it: trimmed, in lower case, aliases replaced.
pub(super) fn normalise(name: &str) -> String {
    let lower = name.trim().to_lowercase();
    let alias = ALIASES.iter().find(|(from, _)| *from == lower);
    alias.map_or(lower, |(_, to)| (*to).to_owned())
}

/// Whether this is a group that some tool could be in.
pub(super) fn is_known_group(name: &str) -> bool {
    [GROUP_CORE, GROUP_PLUGINS].contains(&name) || GROUPS.iter().any(|(group, _)| *group == name)
}

/// The names of one tool, all normalised.
#[derive(Debug)]
pub(super) struct PolicyNames {
    /// `<tool>`, or `<server>__<tool>` for an MCP tool.
    pub(super) name: String,
    /// The owner's own name of the tool, where it differs. Rules that deny match it, rules that
    /// allow do not: a server must not be able to name its tool after an allowed one.
    bare: Option<String>,
    /// What the owner made of both names, in letters that rules can write.
    safe: Option<String>,
    id: String,
    owner: Option<String>,
    tier: Tier,
}

impl PolicyNames {
    pub(super) fn of(definition: &ToolDefinition) -> Self {
        let id = &definition.id;
        let own = normalise(id.name());
        let is_mcp = id.source() == Source::Mcp;
        Self {
            name: if is_mcp {
                format!("{}__{own}", normalise(id.owner()))
            } else {
                own.clone()
            },
            bare: is_mcp.then_some(own),
            safe: definition.policy_name.as_deref().map(normalise),
            id: normalise(id.as_str()),
            owner: (definition.tier != Tier::Core).then(|| normalise(id.owner())),
            tier: definition.tier,
        }
    }

    /// The names that a rule that allows can meet. Of owners only plugins are groups by their bare
    /// id: a server or client must not get in by being called like an allowed tool.
    pub(super) fn allowable(&self) -> impl Iterator<Item = &str> {
        let is_plugin = matches!(self.tier, Tier::BundledPlugin | Tier::ExternalPlugin);
        let plugin = self.owner.as_deref().filter(|_| is_plugin);
        let bundle = (self.tier == Tier::Mcp).then_some(BUNDLE_MCP);
        [
            Some(self.name.as_str()),
            self.safe.as_deref(),
            Some(self.id.as_str()),
            plugin,
            bundle,
        ]
        .into_iter()
        .flatten()
    }

    /// The names that a rule that denies can meet.
    pub(super) fn deniable(&self) -> impl Iterator<Item = &str> {
        let more = [self.bare.as_deref(), self.owner.as_deref()];
        self.allowable().chain(more.into_iter().flatten())
    }

    pub(super) fn is_in_group(&self, group: &str) -> bool {
        match group {
            GROUP_CORE => self.tier == Tier::Core,
            GROUP_PLUGINS => matches!(
                self.tier,
                Tier::BundledPlugin | Tier::ExternalPlugin | Tier::Mcp
            ),
            _ => self.owner.as_deref() == Some(group) || self.is_core_member(group),
        }
    }

    fn is_core_member(&self, group: &str) -> bool {
        let members = GROUPS.iter().find(|(name, _)| *name == group);
        self.tier == Tier::Core
            && members.is_some_and(|(_, members)| members.contains(&self.name.as_str()))
    }
}
