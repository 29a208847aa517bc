//! Why a text was refused before anything of it ran.
//!
//! Every variant has one `failure.kind` word of the contract and, where a place in the text is to
//! blame, that place with a drawn frame. The texts are for a model: each says what to change.

use thiserror::Error;

use crate::options::LanguageSet;

/// A place in the text that the model sent.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Place {
    /// Line, counted from 1.
    pub line: u32,
    /// Column, counted from 1 in UTF-16 code units, as JavaScript engines count.
    pub column: u32,
    /// The line with a caret below the column; see [`frame`](crate::frame).
    pub frame: String,
}

/// What a text is plainly written in instead of JavaScript.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Foreign {
    /// Commands for a shell.
    Shell,
    /// A Python program.
    Python,
}

/// Why [`prepare`](crate::prepare) refused a text.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum ScriptError {
    /// There is no program: the text is empty, white space, or an empty Markdown fence.
    #[error(
        "the code is empty; send the body of an async JavaScript function, for example: return 1 + 1"
    )]
    Blank,

    /// The text is longer than the limit.
    #[error(
        "the code has {bytes} bytes, the limit is {max}; pass data through tools or saved results instead of writing it into the program"
    )]
    TooLarge {
        /// Length of the text in UTF-8 bytes.
        bytes: usize,
        /// The limit in UTF-8 bytes.
        max: usize,
    },

    /// A language was asked for that does not exist here or is not allowed by the configuration.
    #[error("language `{language}` is not supported here; supported: {allowed}")]
    UnsupportedLanguage {
        /// What was asked for.
        language: String,
        /// What may be used.
        allowed: LanguageSet,
    },

    /// The text is plainly a shell command or a Python program.
    #[error("this is not JavaScript: {advice}")]
    NotJavaScript {
        /// What it is.
        what: Foreign,
        /// What to write instead.
        advice: String,
    },

    /// The text does not parse as the body of an async function.
    #[error("{message} (line {}, column {})", at.line, at.column)]
    Syntax {
        /// What the parser expected or found.
        message: String,
        /// Where.
        at: Place,
    },

    /// The text is TypeScript that cannot be turned into JavaScript here.
    #[error("{message} (line {}, column {})", at.line, at.column)]
    TypeScript {
        /// Which construct, and what to write instead.
        message: String,
        /// Where.
        at: Place,
    },

    /// The program asks for a module; there is no module loader.
    #[error("{what} is not available (line {}, column {}): {advice}", at.line, at.column)]
    ModuleAccess {
        /// The construct, for example `import` or `require("fs")`.
        what: String,
        /// What to use instead.
        advice: String,
        /// Where.
        at: Place,
    },

    /// The text is nested or grows beyond what one transform may take.
    #[error("the program {what}; the limit is {max} (line {}, column {})", at.line, at.column)]
    TransformLimit {
        /// Which limit, as the rest of a sentence that starts with "the program".
        what: &'static str,
        /// The limit, in the unit that `what` names.
        max: usize,
        /// Where it was passed.
        at: Place,
    },
}

impl ScriptError {
    /// The contract's `failure.kind` word.
    #[must_use]
    pub const fn kind(&self) -> &'static str {
        match self {
            Self::Blank | Self::TooLarge { .. } => "invalid_arguments",
            Self::UnsupportedLanguage { .. } => "unsupported_language",
            Self::NotJavaScript { .. } => "not_javascript",
            Self::Syntax { .. } | Self::TransformLimit { .. } => "syntax_error",
            Self::TypeScript { .. } => "typescript_transform_failed",
            Self::ModuleAccess { .. } => "module_access_denied",
        }
    }

    /// The place to blame, if one place is.
    #[must_use]
    pub const fn place(&self) -> Option<&Place> {
        match self {
            Self::Syntax { at, .. }
            | Self::TypeScript { at, .. }
            | Self::ModuleAccess { at, .. }
            | Self::TransformLimit { at, .. } => Some(at),
            _ => None,
        }
    }

    /// Line of [`Self::place`], counted from 1.
    #[must_use]
    pub fn line(&self) -> Option<u32> {
        self.place().map(|at| at.line)
    }

    /// Column of [`Self::place`], counted from 1 in UTF-16 code units.
    #[must_use]
    pub fn column(&self) -> Option<u32> {
        self.place().map(|at| at.column)
    }

    /// The drawn source line of [`Self::place`].
    #[must_use]
    pub fn frame(&self) -> Option<&str> {
        self.place().map(|at| at.frame.as_str())
    }
}
