//! Profiles: named starting points of an allow list.

use std::str::FromStr;

/// A named starting point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Profile {
    /// The state of the session only.
    Minimal,
    /// What writes software.
    Coding,
    /// What talks to people.
    Messaging,
    /// No restriction.
    #[default]
    Full,
}

/// A profile that does not exist.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a tool profile: use minimal, coding, messaging or full")]
pub struct UnknownProfile(pub String);

impl Profile {
    /// The word in the configuration.
    #[must_use]
    pub fn as_str(self) -> &'static str {
        match self {
            Self::Minimal => "minimal",
            Self::Coding => "coding",
            Self::Messaging => "messaging",
            Self::Full => "full",
        }
    }

    /// The entries of the profile's allow list; `None` for no restriction.
    /// Source: the contract's table of profiles.
    pub(super) fn entries(self) -> Option<&'static [&'static str]> {
        match self {
            Self::Minimal => Some(&["session_status"]),
            Self::Coding => Some(&[
                "group:fs",
                // The workspace's listings and searches; the contract's shell covers them there.
                "ls",
                "find",
                "grep",
                "group:runtime",
                "group:web",
                "group:sessions",
                "group:memory",
                "cron",
                "get_goal",
                "create_goal",
                "update_goal",
                "update_plan",
                "skill_workshop",
                "image",
                "image_generate",
                "music_generate",
                "video_generate",
                "bundle-mcp",
            ]),
            Self::Messaging => Some(&[
                "group:messaging",
                "sessions_list",
                "sessions_history",
                "sessions_send",
                "session_status",
                "bundle-mcp",
            ]),
            Self::Full => None,
        }
    }
}

impl FromStr for Profile {
    type Err = UnknownProfile;

    fn from_str(text: &str) -> Result<Self, UnknownProfile> {
        [Self::Minimal, Self::Coding, Self::Messaging, Self::Full]
            .into_iter()
            .find(|profile| profile.as_str() == text)
            .ok_or_else(|| UnknownProfile(text.to_owned()))
    }
}
