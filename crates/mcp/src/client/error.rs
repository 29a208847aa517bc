//! What goes wrong between us and a server, in words for a person or a model.

use std::time::Duration;

use codecell_tools::ToolError;

/// Why a server could not be brought up.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StartError {
    /// Its options make no sense.
    #[error("{0}")]
    Options(String),
    /// Its process could not be started.
    #[error("cannot start `{command}`: {reason}")]
    Spawn {
        /// The program.
        command: String,
        /// What the system said.
        reason: String,
    },
    /// It did not get through the greeting.
    #[error("{reason}{}", said(.stderr))]
    Greeting {
        /// What went wrong.
        reason: String,
        /// The last of what its process wrote to stderr.
        stderr: String,
    },
    /// It took too long.
    #[error("it did not answer within {} ms{}", .after.as_millis(), said(.stderr))]
    Timeout {
        /// The configured time.
        after: Duration,
        /// The last of what its process wrote to stderr.
        stderr: String,
    },
    /// It does not let us; the text says what it takes.
    #[error("{0}")]
    Unauthorized(String),
    /// The pool is being closed.
    #[error("the servers are being stopped")]
    Closing,
}

fn said(stderr: &str) -> String {
    match stderr.trim() {
        "" => String::new(),
        text => format!("; it wrote: {text}"),
    }
}

/// Why a request had no result.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RequestError {
    /// The server is not up, and the request was never sent.
    #[error("the MCP server `{server}` is unavailable: {reason}")]
    Unavailable {
        /// The server.
        server: String,
        /// Why.
        reason: String,
    },
    /// The server did not let us, so nothing was done.
    #[error("the MCP server `{server}` did not take the call: {reason}")]
    Unauthorized {
        /// The server.
        server: String,
        /// What it takes.
        reason: String,
    },
    /// The server ended before it answered.
    #[error(
        "the MCP server `{server}` ended before it answered{}; it is started again when it is next needed",
        said(.stderr)
    )]
    Died {
        /// The server.
        server: String,
        /// The last of what its process wrote to stderr.
        stderr: String,
    },
    /// The server ended, and nothing of the request was sent.
    #[error(
        "the MCP server `{server}` ended before it was asked; it is started again when it is next needed"
    )]
    Gone {
        /// The server.
        server: String,
    },
    /// There was no connection, and nothing of the request was sent.
    #[error("the MCP server `{server}` cannot be reached: {reason}")]
    Unreached {
        /// The server.
        server: String,
        /// Why.
        reason: String,
    },
    /// The request could not be sent, or its sending went wrong half-way.
    #[error("the MCP server `{server}` cannot be reached: {reason}")]
    Unsent {
        /// The server.
        server: String,
        /// Why.
        reason: String,
    },
    /// The server did not answer in time, and was told that nobody waits any more.
    #[error("the MCP server `{server}` did not answer within {} ms and was told to stop", .after.as_millis())]
    Timeout {
        /// The server.
        server: String,
        /// The configured time.
        after: Duration,
    },
    /// Nobody waits any more, and the server was told.
    #[error("the call was aborted; the MCP server `{server}` was told to stop")]
    Aborted {
        /// The server.
        server: String,
    },
    /// The server refused with an error of the protocol.
    #[error("the MCP server `{server}` refused with error {code}: {message}")]
    Refused {
        /// The server.
        server: String,
        /// The code of JSON-RPC.
        code: i32,
        /// Its text.
        message: String,
    },
    /// The answer is none.
    #[error("the MCP server `{server}` gave an answer that is none: {reason}")]
    Malformed {
        /// The server.
        server: String,
        /// What is wrong with it.
        reason: String,
    },
    /// The server wants something of us that we do not have.
    #[error(
        "the MCP server `{server}` wants `{method}` before it goes on, which codecell does not offer; a tool that does without it may do"
    )]
    NotOffered {
        /// The server.
        server: String,
        /// The method of the protocol.
        method: String,
    },
    /// The tool is not what it was when the catalog was made.
    #[error(
        "`{tool}` of the MCP server `{server}` {what} since the catalog was made, so it was not called; start a new cell to work with the tools of now"
    )]
    Changed {
        /// The server.
        server: String,
        /// The tool.
        tool: String,
        /// `was removed` or `has changed`.
        what: &'static str,
    },
}

impl RequestError {
    /// The same for a call of several requests, of which some were answered.
    pub(super) fn after_answers(self) -> Self {
        match self {
            Self::Gone { server } => Self::Died {
                server,
                stderr: String::new(),
            },
            Self::Unreached { server, reason } => Self::Unsent { server, reason },
            other => other,
        }
    }

    /// The word that programs compare.
    #[must_use]
    pub fn code(&self) -> &'static str {
        match self {
            Self::Unavailable { .. } => "mcp_unavailable",
            Self::Unauthorized { .. } => "mcp_unauthorized",
            Self::Died { .. } => "mcp_server_died",
            Self::Gone { .. } => "mcp_server_gone",
            Self::Unreached { .. } | Self::Unsent { .. } => "mcp_unreachable",
            Self::Timeout { .. } => "mcp_timeout",
            Self::Aborted { .. } => "aborted",
            Self::Refused { .. } => "mcp_error",
            Self::Malformed { .. } => "mcp_malformed",
            Self::NotOffered { .. } => "mcp_not_offered",
            Self::Changed { .. } => "tool_gone",
        }
    }
}

impl From<RequestError> for ToolError {
    /// What was never sent, or was refused at the door, changed nothing; of everything else only the
    /// server knows.
    fn from(error: RequestError) -> Self {
        let tool_error = Self::new(error.code(), error.to_string());
        match error {
            RequestError::Unavailable { .. }
            | RequestError::Gone { .. }
            | RequestError::Unreached { .. }
            | RequestError::Unauthorized { .. }
            | RequestError::Changed { .. } => tool_error.without_effect(),
            _ => tool_error,
        }
    }
}
