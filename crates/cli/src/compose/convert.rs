//! From one crate's options to another's. The values are checked and clamped already.

use codecell_config as config;
use codecell_tools::policy::UnknownProfile;
use codecell_tools::{AskFallback, PolicyOptions, PolicyRules, Profile};

/// What holds when nobody can be asked. There is no allowlist of commands in this program, so the
/// configured word for one refuses.
pub(crate) fn ask_fallback(fallback: config::AskFallback) -> AskFallback {
    match fallback {
        config::AskFallback::Deny | config::AskFallback::Allowlist => AskFallback::Deny,
        config::AskFallback::Full => AskFallback::Allow,
    }
}

/// The policy of a command: the global rules, the agent's, and what was typed. Each scope can only
/// take away.
///
/// # Errors
///
/// For a profile that does not exist; the configuration has been checked, so this does not arise
/// from a file.
pub(crate) fn policy(
    global: &config::ToolRules,
    agent: &config::AgentOptions,
    allow: &[String],
    deny: &[String],
) -> Result<PolicyOptions, UnknownProfile> {
    let profile = agent.tools.profile.as_deref().or(global.profile.as_deref());
    let typed = PolicyRules {
        label: "the command line".to_owned(),
        allow: (!allow.is_empty()).then(|| allow.to_vec()),
        also_allow: Vec::new(),
        deny: deny.to_vec(),
    };
    Ok(PolicyOptions {
        profile: profile
            .map(str::parse::<Profile>)
            .transpose()?
            .unwrap_or_default(),
        scopes: vec![
            rules("tools", global),
            rules(&format!("agents.{}.tools", agent.id), &agent.tools),
            typed,
        ],
    })
}

fn rules(label: &str, rules: &config::ToolRules) -> PolicyRules {
    PolicyRules {
        label: label.to_owned(),
        allow: rules.allow.clone(),
        also_allow: rules.also_allow.clone(),
        deny: rules.deny.clone(),
    }
}
