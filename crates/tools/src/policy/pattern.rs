//! One entry of an allow or deny list.

use super::names::{PolicyNames, is_known_group, normalise};

/// The longest entry, in bytes.
pub const MAX_PATTERN_BYTES: usize = 1024;

/// `group:<name>`, a name, an id, an owner, or any of the last three with `*` in it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Pattern {
    Group(String),
    Name(String),
    Glob(String),
}

impl Pattern {
    pub(super) fn parse(text: &str) -> Option<Self> {
        let name = normalise(text);
        if name.is_empty() || text.len() > MAX_PATTERN_BYTES {
            return None;
        }
        Some(match name.strip_prefix("group:") {
            Some(group) => Self::Group(group.trim().to_owned()),
            None if name.contains('*') => Self::Glob(name),
            None => Self::Name(name),
        })
    }

    /// Whether this entry of an allow list admits the tool. `write` admits `apply_patch` too, which
    /// writes files as well.
    pub(super) fn allows(&self, tool: &PolicyNames) -> bool {
        self.covers(tool, tool.allowable())
            || (tool.name == "apply_patch" && *self == Self::Name("write".to_owned()))
    }

    /// Whether this entry of an allow list could admit a tool of the same server as `any`, whose
    /// last character stands for its name.
    pub(super) fn could_allow_one_of(&self, any: &PolicyNames) -> bool {
        let begins = |text: &str| {
            any.allowable().any(|own| {
                let server = own.strip_suffix('\u{fffd}').unwrap_or(own);
                text.starts_with(server) && server.len() < own.len()
            })
        };
        match self {
            Self::Name(name) => self.allows(any) || begins(name),
            Self::Glob(glob) => {
                let fixed = glob.split('*').next().unwrap_or_default();
                let is_prefix = any.allowable().any(|own| own.starts_with(fixed));
                self.allows(any) || begins(fixed) || is_prefix
            }
            Self::Group(_) => self.allows(any),
        }
    }

    /// Whether this entry of a deny list removes the tool.
    pub(super) fn denies(&self, tool: &PolicyNames) -> bool {
        self.covers(tool, tool.deniable())
    }

    fn covers<'a>(&self, tool: &PolicyNames, mut names: impl Iterator<Item = &'a str>) -> bool {
        match self {
            Self::Group(group) => tool.is_in_group(group),
            Self::Name(name) => names.any(|own| own == name),
            Self::Glob(glob) => names.any(|own| glob_matches(glob, own)),
        }
    }

    /// Whether this can be expected to name something even if no tool of now is covered.
    pub(super) fn is_known(&self) -> bool {
        match self {
            Self::Group(group) => is_known_group(group),
            Self::Name(_) => false,
            Self::Glob(glob) => glob == "*",
        }
    }
}

/// Whether `text` fits `glob`, where `*` is any run of characters and nothing else is special.
/// Takes time in the product of the lengths at most.
fn glob_matches(glob: &str, text: &str) -> bool {
    let mut parts = glob.split('*');
    let first = parts.next().unwrap_or_default();
    let Some(mut rest) = text.strip_prefix(first) else {
        return false;
    };
    let Some(last) = parts.next_back() else {
        return rest.is_empty();
    };
    for part in parts {
        let Some(at) = rest.find(part) else {
            return false;
        };
        rest = &rest[at + part.len()..];
    }
    rest.ends_with(last)
}

#[cfg(test)]
mod tests {
    use super::glob_matches;

    #[test]
    fn a_star_is_any_run_of_characters() {
        let cases = [
            ("*", "", true),
            ("*", "read", true),
            ("read", "read", true),
            ("read", "reads", false),
            ("web_*", "web_fetch", true),
            ("web_*", "xweb_fetch", false),
            ("*_fetch", "web_fetch", true),
            ("a*a", "a", false),
            ("a*a", "aa", true),
            ("*b*c", "abcabc", true),
            ("*b*c", "acb", false),
            ("mcp:*:get_*", "mcp:github:get_issue", true),
            ("**", "x", true),
        ];
        for (glob, text, expected) in cases {
            assert_eq!(glob_matches(glob, text), expected, "{glob} {text}");
        }
    }
}
