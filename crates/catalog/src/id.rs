//! Tool ids: `<source>:<owner>:<tool>`, the one spelling that is never ambiguous.
//!
//! An id is text on the wire and in transcripts. Parsing checks its form only; whether it names a
//! tool is the catalog's business. The invariant: the owner holds no colon, so an id splits in one
//! way, even when the tool's own name has colons in it.

use std::borrow::Borrow;
use std::fmt;
use std::str::FromStr;
use std::sync::Arc;

use serde::{Deserialize, Serialize};

/// The longest owner (plugin, server or client name) in an id, in bytes.
pub const MAX_OWNER_BYTES: usize = 256;

/// The longest tool name in an id, in bytes.
pub const MAX_NAME_BYTES: usize = 1024;

/// The owner in the ids of core tools.
pub(crate) const CORE_OWNER: &str = "core";

/// Who a tool comes from, in the words of the wire.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Source {
    /// Core tools and the tools of plugins.
    OpenClaw,
    /// Tools of MCP servers.
    Mcp,
    /// Tools that a client brought along.
    Client,
}

impl Source {
    /// The first part of the ids of this source.
    pub fn as_str(self) -> &'static str {
        match self {
            Self::OpenClaw => "openclaw",
            Self::Mcp => "mcp",
            Self::Client => "client",
        }
    }

    fn parse(text: &str) -> Option<Self> {
        [Self::OpenClaw, Self::Mcp, Self::Client]
            .into_iter()
            .find(|source| source.as_str() == text)
    }
}

impl fmt::Display for Source {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The id of a tool, for example `openclaw:core:read`, `openclaw:<plugin>:<tool>`,
/// `mcp:<server>:<tool>` or `client:<owner>:<tool>`.
///
/// Cloning is cheap; order is the order of the text.
#[derive(Clone, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(try_from = "String", into = "String")]
pub struct ToolId(Arc<str>);

/// Why a text is not a tool id.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum IdError {
    /// Fewer than three parts.
    #[error(
        "`{0}` is not a tool id: write <source>:<owner>:<tool>, for example openclaw:core:read"
    )]
    Shape(String),
    /// The first part is no known source.
    #[error("`{0}` is not a source of tools: use openclaw, mcp or client")]
    UnknownSource(String),
    /// A part is empty.
    #[error("the {part} of a tool id must not be empty")]
    Empty {
        /// `owner` or `name`.
        part: &'static str,
    },
    /// A part is longer than its limit.
    #[error("the {part} of a tool id has {bytes} bytes; the limit is {max_bytes}")]
    TooLong {
        /// `owner` or `name`.
        part: &'static str,
        /// Its length in bytes.
        bytes: usize,
        /// The limit in bytes.
        max_bytes: usize,
    },
    /// A part holds a control character, or the owner a colon.
    #[error("the {part} of a tool id must not contain {character:?}")]
    Character {
        /// `owner` or `name`.
        part: &'static str,
        /// The offending character.
        character: char,
    },
}

impl ToolId {
    /// Puts an id together from its parts.
    ///
    /// # Errors
    /// When the owner or the name is empty, too long or holds a control character, or the owner
    /// holds a colon.
    pub fn new(source: Source, owner: &str, name: &str) -> Result<Self, IdError> {
        check_part("owner", owner, MAX_OWNER_BYTES, true)?;
        check_part("name", name, MAX_NAME_BYTES, false)?;
        Ok(Self(format!("{source}:{owner}:{name}").into()))
    }

    /// The id of a core tool, `openclaw:core:<name>`.
    ///
    /// # Errors
    /// As [`ToolId::new`].
    pub fn core(name: &str) -> Result<Self, IdError> {
        Self::new(Source::OpenClaw, CORE_OWNER, name)
    }

    /// Reads an id.
    ///
    /// # Errors
    /// When the text has not the form of an id; see [`IdError`].
    pub fn parse(text: &str) -> Result<Self, IdError> {
        let mut parts = text.splitn(3, ':');
        let (Some(source), Some(owner), Some(name)) = (parts.next(), parts.next(), parts.next())
        else {
            return Err(IdError::Shape(shown(text)));
        };
        let source = Source::parse(source).ok_or_else(|| IdError::UnknownSource(shown(source)))?;
        Self::new(source, owner, name)
    }

    /// The whole id.
    pub fn as_str(&self) -> &str {
        &self.0
    }

    /// The source that the first part names.
    pub fn source(&self) -> Source {
        Source::parse(self.part(0)).unwrap_or(Source::Client)
    }

    /// The plugin, server or client; `core` for core tools.
    pub fn owner(&self) -> &str {
        self.part(1)
    }

    /// The tool's own name.
    pub fn name(&self) -> &str {
        self.part(2)
    }

    fn part(&self, index: usize) -> &str {
        self.0.splitn(3, ':').nth(index).unwrap_or_default()
    }
}

fn check_part(
    part: &'static str,
    text: &str,
    max_bytes: usize,
    colon_ends: bool,
) -> Result<(), IdError> {
    if text.is_empty() {
        return Err(IdError::Empty { part });
    }
    if text.len() > max_bytes {
        return Err(IdError::TooLong {
            part,
            bytes: text.len(),
            max_bytes,
        });
    }
    let offends = |c: &char| c.is_control() || (colon_ends && *c == ':');
    match text.chars().find(offends) {
        Some(character) => Err(IdError::Character { part, character }),
        None => Ok(()),
    }
}

/// The part of a rejected text that an error shows.
fn shown(text: &str) -> String {
    const SHOWN_CHARS: usize = 80;
    text.chars()
        .filter(|c| !c.is_control())
        .take(SHOWN_CHARS)
        .collect()
}

impl fmt::Display for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl fmt::Debug for ToolId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "ToolId({:?})", &*self.0)
    }
}

impl Borrow<str> for ToolId {
    fn borrow(&self) -> &str {
        &self.0
    }
}

impl AsRef<str> for ToolId {
    fn as_ref(&self) -> &str {
        &self.0
    }
}

impl FromStr for ToolId {
    type Err = IdError;
    fn from_str(text: &str) -> Result<Self, IdError> {
        Self::parse(text)
    }
}

impl TryFrom<String> for ToolId {
    type Error = IdError;
    fn try_from(text: String) -> Result<Self, IdError> {
        Self::parse(&text)
    }
}

impl From<ToolId> for String {
    fn from(id: ToolId) -> Self {
        id.0.as_ref().into()
    }
}
