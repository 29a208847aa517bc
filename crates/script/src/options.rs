//! What a caller may ask of [`prepare`](crate::prepare): languages and limits, already checked.
//!
//! Nothing here reads configuration; the caller converts its own options into these.

use std::fmt;

use crate::error::ScriptError;
use crate::stack;

/// Bytes of source text that are accepted when the caller names no other limit.
pub const MAX_SOURCE_BYTES: usize = 256 * 1024;

/// A language that a cell may be written in.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Language {
    /// ECMAScript as the engine runs it.
    JavaScript,
    /// TypeScript, turned into JavaScript before it runs.
    TypeScript,
}

impl Language {
    /// The word used in `exec`'s `language` field and in telemetry.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::JavaScript => "javascript",
            Self::TypeScript => "typescript",
        }
    }

    /// The language named by one of the words of the contract, `javascript` or `typescript`.
    ///
    /// # Errors
    /// [`ScriptError::UnsupportedLanguage`] for every other word; `allowed` is only listed in the error.
    pub fn parse(word: &str, allowed: LanguageSet) -> Result<Self, ScriptError> {
        match word {
            "javascript" => Ok(Self::JavaScript),
            "typescript" => Ok(Self::TypeScript),
            _ => Err(ScriptError::UnsupportedLanguage {
                language: word.chars().take(64).collect(),
                allowed,
            }),
        }
    }

    /// The language that people mean by a word after a Markdown fence, in a directive or in conversation.
    pub(crate) fn from_alias(word: &str) -> Option<Self> {
        match word.to_ascii_lowercase().as_str() {
            "javascript" | "js" | "mjs" | "cjs" | "ecmascript" | "node" => Some(Self::JavaScript),
            "typescript" | "ts" | "mts" | "cts" => Some(Self::TypeScript),
            _ => None,
        }
    }
}

impl fmt::Display for Language {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.as_str())
    }
}

/// The languages that a configuration allows; `tools.codeMode.languages`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LanguageSet {
    /// JavaScript may be run.
    pub javascript: bool,
    /// TypeScript may be run.
    pub typescript: bool,
}

impl LanguageSet {
    /// Both languages, the default.
    pub const ALL: Self = Self {
        javascript: true,
        typescript: true,
    };

    /// Whether `language` is in the set.
    #[must_use]
    pub const fn allows(self, language: Language) -> bool {
        match language {
            Language::JavaScript => self.javascript,
            Language::TypeScript => self.typescript,
        }
    }
}

impl Default for LanguageSet {
    fn default() -> Self {
        Self::ALL
    }
}

impl fmt::Display for LanguageSet {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match (self.javascript, self.typescript) {
            (true, true) => "javascript, typescript",
            (true, false) => "javascript",
            (false, true) => "typescript",
            (false, false) => "none",
        })
    }
}

/// How one text is to be prepared.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PrepareOptions {
    /// The `language` field of the call; `None` when it was omitted.
    pub language: Option<Language>,
    /// What the configuration allows.
    pub allowed: LanguageSet,
    /// The longest accepted text, in UTF-8 bytes.
    pub max_source_bytes: usize,
    /// Stack that is free on the calling thread, in bytes. A text that may need more gets a thread of its own.
    pub free_stack_bytes: usize,
}

impl Default for PrepareOptions {
    fn default() -> Self {
        Self {
            language: None,
            allowed: LanguageSet::ALL,
            max_source_bytes: MAX_SOURCE_BYTES,
            free_stack_bytes: stack::ASSUMED_BYTES,
        }
    }
}
