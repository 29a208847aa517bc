//! Why there is no login, in words for a person.

use std::error::Error;

use codecell_tools::redact::REDACTED;
use rmcp::transport::auth::AuthError;

/// The most of the words of others in an error, in characters.
const MAX_WORDS_CHARS: usize = 300;

/// Why a login came to nothing.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LoginError {
    /// The options of the server make no login possible.
    #[error("{0}")]
    Options(String),
    /// The browser cannot be sent back to us.
    #[error("cannot listen for the browser's answer: {0}")]
    Listen(String),
    /// It is not known, or not to be believed, who gives tokens for the server.
    #[error("the server's authorization cannot be used: {0}")]
    Discovery(String),
    /// The server of tokens does not do what keeps a login safe.
    #[error(
        "the authorization server {0} does not promise PKCE with S256, without which a login could be stolen; its operator has to turn that on"
    )]
    NoPkce(String),
    /// We are not known there, and cannot make ourselves known.
    #[error("codecell could not register with the authorization server: {0}")]
    Registration(String),
    /// The person, or the server of tokens for them, said no.
    #[error("the login was refused: {0}")]
    Refused(String),
    /// The answer did not come from the server that was asked.
    #[error(
        "the answer names {received} as its sender, but {expected} was asked; nothing was sent"
    )]
    WrongIssuer {
        /// Who was asked.
        expected: String,
        /// Who is said to have answered.
        received: String,
    },
    /// The code was not taken.
    #[error("the authorization server gave no token: {0}")]
    Exchange(String),
    /// The tokens cannot be kept.
    #[error("the tokens cannot be kept: {0}")]
    Keep(String),
}

/// The words of others in an error: bounded, on one line, without these secrets.
pub(super) fn words(text: &str, secrets: &[&str]) -> String {
    let mut text = text.to_owned();
    for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
        text = text.replace(secret, REDACTED);
    }
    let shown = text.chars().map(|c| if c.is_control() { ' ' } else { c });
    shown.take(MAX_WORDS_CHARS).collect()
}

/// What an error of the SDK says, with the cause that it hides.
pub(super) fn explain(error: &AuthError, secrets: &[&str]) -> String {
    let mut text = error.to_string();
    let mut cause: &dyn Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
        text = format!("{text}: {inner}");
    }
    words(&text, secrets)
}
