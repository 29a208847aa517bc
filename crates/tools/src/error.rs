//! The failure of one tool, as the tool itself reports it.
//!
//! A tool's failure is an ordinary value: the executor turns it into the report of the call, and
//! code mode turns that into an `Error` which the guest can catch. The text is for a model that
//! must know what to change: no host path, no host stack, no `Debug` output.

use std::borrow::Cow;

/// What a tool knows about the effects of a call that failed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum FailureEffect {
    /// The tool vouches that nothing changed, so that a retry is safe.
    None,
    /// The tool cannot tell whether something changed.
    Unknown,
}

/// The failure of one tool call.
///
/// [`ToolError::new`] says nothing about effects; a tool that knows that nothing has happened says
/// so with [`ToolError::without_effect`].
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("{message}")]
pub struct ToolError {
    code: Cow<'static, str>,
    message: String,
    effect: FailureEffect,
}

impl ToolError {
    /// A failure after which effects are unknown.
    ///
    /// `code` is a short `snake_case` word that programs compare, `message` is for the reader.
    pub fn new(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self {
            code: code.into(),
            message: message.into(),
            effect: FailureEffect::Unknown,
        }
    }

    /// A failure that changed nothing.
    pub fn no_effect(code: impl Into<Cow<'static, str>>, message: impl Into<String>) -> Self {
        Self::new(code, message).without_effect()
    }

    /// The arguments are wrong in a way that the schema cannot say; nothing has happened.
    pub fn invalid_arguments(message: impl Into<String>) -> Self {
        Self::no_effect("invalid_arguments", message)
    }

    /// The same failure, with the tool's word that nothing changed.
    #[must_use]
    pub fn without_effect(mut self) -> Self {
        self.effect = FailureEffect::None;
        self
    }

    /// The word that programs compare.
    #[must_use]
    pub fn code(&self) -> &str {
        &self.code
    }

    /// The text for the reader.
    #[must_use]
    pub fn message(&self) -> &str {
        &self.message
    }

    /// What the tool knows about effects.
    #[must_use]
    pub fn effect(&self) -> FailureEffect {
        self.effect
    }
}
