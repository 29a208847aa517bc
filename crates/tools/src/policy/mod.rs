//! Policy: which tools exist for a run.
//!
//! A policy is a row of steps; a tool has to survive all of them, and a step can only remove. What
//! is removed is nowhere: not in the catalog, not searchable, not callable by a guessed id.

mod names;
mod pattern;
mod profile;

pub use pattern::MAX_PATTERN_BYTES;
pub use profile::{Profile, UnknownProfile};

use codecell_catalog::{Source, ToolId};
use serde_json::Value;

use crate::tool::ToolDefinition;
use names::PolicyNames;
use pattern::Pattern;

/// A name that no rule writes out: what covers it covers every tool of its server.
const ANY_TOOL: &str = "\u{fffd}";

/// The most entries of one list.
pub const MAX_PATTERNS: usize = 10_000;

/// One scope's lists as they are configured.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyRules {
    /// Where the rules come from, for records and errors: `tools`, `agents.main.tools`, `--allow`.
    pub label: String,
    /// Only these. `None` leaves the step open; an empty list means no tools at all.
    pub allow: Option<Vec<String>>,
    /// These as well, where the profile would leave them out.
    pub also_allow: Vec<String>,
    /// Not these, whatever else says so.
    pub deny: Vec<String>,
}

impl PolicyRules {
    /// Rules that say nothing yet.
    pub fn new(label: impl Into<String>) -> Self {
        Self {
            label: label.into(),
            ..Self::default()
        }
    }
}

/// Everything that decides about the tools of a run.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct PolicyOptions {
    /// The starting point.
    pub profile: Profile,
    /// The scopes, outermost first.
    pub scopes: Vec<PolicyRules>,
}

/// Why rules make no policy.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
pub enum PolicyError {
    /// `allow` and `alsoAllow` in one scope.
    #[error("{label}.allow and {label}.alsoAllow exclude each other: add the entries to allow")]
    AllowAndAlsoAllow {
        /// The scope.
        label: String,
    },
    /// An entry that names nothing.
    #[error(
        "{label}.{list}[{index}] is empty or longer than {MAX_PATTERN_BYTES} bytes: write a tool's name or id, group:<name>, or either with *"
    )]
    BadPattern {
        /// The scope.
        label: String,
        /// `allow`, `alsoAllow` or `deny`.
        list: &'static str,
        /// The place in the list.
        index: usize,
    },
    /// A list that is too long.
    #[error("{label}.{list} has more than {MAX_PATTERNS} entries")]
    TooManyPatterns {
        /// The scope.
        label: String,
        /// `allow`, `alsoAllow` or `deny`.
        list: &'static str,
    },
}

/// What policy says of one tool.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict<'a> {
    /// The tool survives every step.
    Allowed,
    /// The step with this label removes it.
    Removed(&'a str),
}

/// An entry of an allow list, as written, with its parsed form.
#[derive(Debug, Clone)]
struct Entry {
    text: String,
    pattern: Pattern,
}

#[derive(Debug, Clone)]
struct Step {
    label: String,
    allow: Option<Vec<Entry>>,
    deny: Vec<Entry>,
}

impl Step {
    fn admits(&self, tool: &PolicyNames) -> bool {
        let denied = self.deny.iter().any(|entry| entry.pattern.denies(tool));
        let allowed = match &self.allow {
            None => true,
            Some(entries) => entries.iter().any(|entry| entry.pattern.allows(tool)),
        };
        allowed && !denied
    }
}

/// The checked rules of a run.
#[derive(Debug, Clone, Default)]
pub struct Policy {
    steps: Vec<Step>,
}

impl Policy {
    /// Checks rules.
    ///
    /// # Errors
    /// When the rules of a scope contradict each other or an entry names nothing.
    pub fn build(options: &PolicyOptions) -> Result<Self, PolicyError> {
        let mut extras = Vec::new();
        let mut steps = Vec::new();
        for rules in &options.scopes {
            if rules.allow.is_some() && !rules.also_allow.is_empty() {
                return Err(PolicyError::AllowAndAlsoAllow {
                    label: rules.label.clone(),
                });
            }
            extras.extend(parse_list(&rules.label, "alsoAllow", &rules.also_allow)?);
            steps.push(scope_step(rules)?);
        }
        steps.splice(0..0, profile_step(options.profile, extras));
        Ok(Self { steps })
    }

    /// What the policy says of one tool.
    #[must_use]
    pub fn judge(&self, tool: &ToolDefinition) -> Verdict<'_> {
        let names = PolicyNames::of(tool);
        let removing = self.steps.iter().find(|step| !step.admits(&names));
        removing.map_or(Verdict::Allowed, |step| Verdict::Removed(&step.label))
    }

    /// Whether some tool of this MCP server, whatever its name, could survive every step.
    #[must_use]
    pub fn could_admit_server(&self, server: &str) -> bool {
        let Ok(any) = ToolId::new(Source::Mcp, server, ANY_TOOL) else {
            return false;
        };
        let names = PolicyNames::of(&ToolDefinition::new(any, "", Value::Null));
        self.steps.iter().all(|step| {
            let denied = step.deny.iter().any(|entry| entry.pattern.denies(&names));
            let could = |entry: &Entry| entry.pattern.could_allow_one_of(&names);
            !denied
                && step
                    .allow
                    .as_ref()
                    .is_none_or(|list| list.iter().any(could))
        })
    }

    /// Whether an explicit empty list asks for a run without tools.
    #[must_use]
    pub fn wants_no_tools(&self) -> bool {
        self.steps
            .iter()
            .any(|step| step.allow.as_ref().is_some_and(Vec::is_empty))
    }

    /// The labels of the steps that allow only what they list.
    #[must_use]
    pub fn allowing_steps(&self) -> Vec<&str> {
        let allowing = self.steps.iter().filter(|step| step.allow.is_some());
        allowing.map(|step| step.label.as_str()).collect()
    }

    /// Entries of allow lists, as written, that cover none of these tools and no known group.
    #[must_use]
    pub fn unknown_entries(&self, tools: &[&ToolDefinition]) -> Vec<(&str, &str)> {
        let names: Vec<_> = tools.iter().map(|tool| PolicyNames::of(tool)).collect();
        let is_unknown = |entry: &&Entry| {
            !entry.pattern.is_known() && !names.iter().any(|tool| entry.pattern.allows(tool))
        };
        self.steps
            .iter()
            .filter(|step| !step.label.starts_with(PROFILE_LABEL))
            .flat_map(|step| {
                let entries = step.allow.iter().flatten().filter(is_unknown);
                entries.map(|entry| (step.label.as_str(), entry.text.as_str()))
            })
            .collect()
    }
}

const PROFILE_LABEL: &str = "tools.profile";

fn profile_step(profile: Profile, extras: Vec<Entry>) -> Option<Step> {
    let own = profile.entries()?.iter().filter_map(|text| {
        let pattern = Pattern::parse(text)?;
        Some(Entry {
            text: (*text).to_owned(),
            pattern,
        })
    });
    Some(Step {
        label: format!("{PROFILE_LABEL} ({})", profile.as_str()),
        allow: Some(own.chain(extras).collect()),
        deny: Vec::new(),
    })
}

fn scope_step(rules: &PolicyRules) -> Result<Step, PolicyError> {
    let allow = rules.allow.as_ref();
    Ok(Step {
        label: rules.label.clone(),
        allow: allow
            .map(|entries| parse_list(&rules.label, "allow", entries))
            .transpose()?,
        deny: parse_list(&rules.label, "deny", &rules.deny)?,
    })
}

fn parse_list(
    label: &str,
    list: &'static str,
    entries: &[String],
) -> Result<Vec<Entry>, PolicyError> {
    if entries.len() > MAX_PATTERNS {
        return Err(PolicyError::TooManyPatterns {
            label: label.to_owned(),
            list,
        });
    }
    let parse = |(index, text): (usize, &String)| {
        let pattern = Pattern::parse(text).ok_or_else(|| PolicyError::BadPattern {
            label: label.to_owned(),
            list,
            index,
        })?;
        Ok(Entry {
            text: text.clone(),
            pattern,
        })
    };
    entries.iter().enumerate().map(parse).collect()
}
