//! The words for what goes wrong, in one table: a coarse `code` for clients, a finer `kind` for readers.

use serde::{Deserialize, Serialize};

macro_rules! words {
    ($(#[$meta:meta])* $name:ident { $(#[doc = $doc:literal] $variant:ident = $word:literal,)* }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
        pub enum $name { $(#[doc = $doc] #[serde(rename = $word)] $variant,)* }

        impl $name {
            /// Every value, in the order of the table.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)*];

            /// The word on the wire.
            #[must_use]
            pub const fn as_str(self) -> &'static str {
                match self { $(Self::$variant => $word,)* }
            }

            /// What it means, in a sentence.
            #[must_use]
            pub const fn meaning(self) -> &'static str {
                match self { $(Self::$variant => $doc,)* }
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.write_str(self.as_str())
            }
        }
    };
}

words! {
    /// The coarse reason, which clients branch on.
    FailureCode {
        /// The input, the program's text or the cell's name is wrong; nothing ran.
        InvalidInput = "invalid_input",
        /// The sandbox could not serve.
        RuntimeUnavailable = "runtime_unavailable",
        /// A clock ran out.
        Timeout = "timeout",
        /// Somebody stopped the cell.
        Aborted = "aborted",
        /// The output was larger than allowed.
        OutputLimitExceeded = "output_limit_exceeded",
        /// The snapshot was larger than allowed.
        SnapshotLimitExceeded = "snapshot_limit_exceeded",
        /// The program failed, or we did.
        InternalError = "internal_error",
    }
}

words! {
    /// The finer reason.
    FailureKind {
        /// An argument of `exec` or `wait` is missing, unknown or of the wrong type.
        InvalidArguments = "invalid_arguments",
        /// An override given with the run is no valid configuration.
        InvalidConfig = "invalid_config",
        /// The language does not exist or is switched off.
        UnsupportedLanguage = "unsupported_language",
        /// The program does not parse.
        SyntaxError = "syntax_error",
        /// The TypeScript program could not be turned into JavaScript.
        TypescriptTransformFailed = "typescript_transform_failed",
        /// The program asks for a module.
        ModuleAccessDenied = "module_access_denied",
        /// The text is plainly shell or Python.
        NotJavascript = "not_javascript",
        /// One turn made more calls than may be queued.
        TooManyPendingToolCalls = "too_many_pending_tool_calls",
        /// The cap on suspended cells is reached.
        TooManySuspendedRuns = "too_many_suspended_runs",
        /// No such cell, or it ended and is forgotten.
        UnknownRun = "unknown_run",
        /// The cell was suspended for longer than its time to live.
        SnapshotExpired = "snapshot_expired",
        /// The cell belongs to another owner, agent, session or run.
        WrongScope = "wrong_scope",
        /// Another `wait` is in flight for the cell, or another process holds it.
        AlreadyResuming = "already_resuming",
        /// The sandbox could not start, or is over its process-wide limits.
        EngineUnavailable = "engine_unavailable",
        /// A guest's thread ended without an answer.
        WorkerCrashed = "worker_crashed",
        /// Guest code was running at the deadline, or its processor time is used up.
        GuestDeadline = "guest_deadline",
        /// The agent run's own deadline passed.
        RunDeadline = "run_deadline",
        /// The cell was aborted from outside.
        Aborted = "aborted",
        /// Value, output and error together were larger than allowed.
        OutputLimitExceeded = "output_limit_exceeded",
        /// The snapshot was larger than allowed.
        SnapshotLimitExceeded = "snapshot_limit_exceeded",
        /// An exception or rejection that the program did not handle.
        GuestError = "guest_error",
        /// The error that ended the program came from a tool.
        NestedToolFailed = "nested_tool_failed",
        /// The guest needed more memory than allowed.
        MemoryLimitExceeded = "memory_limit_exceeded",
        /// The guest's stack was used up.
        StackOverflow = "stack_overflow",
        /// The program awaits something that no call will ever settle.
        Deadlock = "deadlock",
        /// The snapshot could not be restored.
        SnapshotRestoreFailed = "snapshot_restore_failed",
        /// A defect of ours.
        Internal = "internal",
    }
}

words! {
    /// Where the failure arose.
    Phase {
        /// Before anything ran.
        Input = "input",
        /// In the program.
        Guest = "guest",
        /// Between guest and host.
        Bridge = "bridge",
        /// In the host.
        Host = "host",
    }
}

/// Every kind with the code that it belongs to, in the contract's order.
pub const FAILURE_TABLE: &[(FailureKind, FailureCode)] = {
    use FailureCode as C;
    use FailureKind as K;
    &[
        (K::InvalidArguments, C::InvalidInput),
        (K::InvalidConfig, C::InvalidInput),
        (K::UnsupportedLanguage, C::InvalidInput),
        (K::SyntaxError, C::InvalidInput),
        (K::TypescriptTransformFailed, C::InvalidInput),
        (K::ModuleAccessDenied, C::InvalidInput),
        (K::NotJavascript, C::InvalidInput),
        (K::TooManyPendingToolCalls, C::InvalidInput),
        (K::TooManySuspendedRuns, C::InvalidInput),
        (K::UnknownRun, C::InvalidInput),
        (K::SnapshotExpired, C::InvalidInput),
        (K::WrongScope, C::InvalidInput),
        (K::AlreadyResuming, C::InvalidInput),
        (K::EngineUnavailable, C::RuntimeUnavailable),
        (K::WorkerCrashed, C::RuntimeUnavailable),
        (K::GuestDeadline, C::Timeout),
        (K::RunDeadline, C::Timeout),
        (K::Aborted, C::Aborted),
        (K::OutputLimitExceeded, C::OutputLimitExceeded),
        (K::SnapshotLimitExceeded, C::SnapshotLimitExceeded),
        (K::GuestError, C::InternalError),
        (K::NestedToolFailed, C::InternalError),
        (K::MemoryLimitExceeded, C::InternalError),
        (K::StackOverflow, C::InternalError),
        (K::Deadlock, C::InternalError),
        (K::SnapshotRestoreFailed, C::InternalError),
        (K::Internal, C::InternalError),
    ]
};

impl FailureKind {
    /// The coarse code of this kind.
    #[must_use]
    pub fn code(self) -> FailureCode {
        FAILURE_TABLE
            .iter()
            .find_map(|(kind, code)| (*kind == self).then_some(*code))
            .unwrap_or(FailureCode::InternalError)
    }
}

/// The table as the documentation shows it.
#[must_use]
pub fn render_failures() -> String {
    let row = |(kind, code): &(FailureKind, FailureCode)| {
        format!("| `{code}` | `{kind}` |{} |\n", kind.meaning())
    };
    let rows: String = FAILURE_TABLE.iter().map(row).collect();
    format!("{FAILURES_PAGE}| `code` | `failure.kind` | meaning |\n|---|---|---|\n{rows}")
}

const FAILURES_PAGE: &str = "# How a cell fails

A failed result carries a coarse `code`, which a client branches on, and a finer `failure.kind` for readers, with the
phase it arose in (`input`, `guest`, `bridge`, `host`) and, where there is one, the place in the program. What the
cell did to the world before stands in `effects`: a call that is `committed` or `unknown` must not be made again blindly.
This page is made from the table in `crates/protocol/src/failure.rs`; a test compares them.

";

/// A value kept for later cells of the run, as a failure or a truncated result names it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SavedResult {
    /// The id that `results.load` takes.
    pub id: String,
    /// Size of the value's JSON in bytes.
    pub bytes: u64,
    /// Number of elements or members of the value; 1 for a scalar.
    pub count: u64,
    /// The value's shape in the notation of the catalog's signatures.
    pub shape: String,
    /// The first part of the value's JSON.
    pub preview: String,
}

/// The finer description of a failure.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Failure {
    /// The finer reason.
    pub kind: FailureKind,
    /// Where it arose.
    pub phase: Phase,
    /// Line in the text that the model sent, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// Column in UTF-16 code units, from 1.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub column: Option<u32>,
    /// The source line with a caret under the place.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub frame: Option<String>,
    /// The full output, when it was too large to return and has been kept.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub saved: Option<SavedResult>,
}

impl Failure {
    /// A failure without a place.
    #[must_use]
    pub const fn new(kind: FailureKind, phase: Phase) -> Self {
        Self {
            kind,
            phase,
            line: None,
            column: None,
            frame: None,
            saved: None,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_kind_stands_once_in_the_table() {
        let kinds: Vec<_> = FAILURE_TABLE.iter().map(|(kind, _)| *kind).collect();
        assert_eq!(kinds, FailureKind::ALL);
    }

    #[test]
    fn the_page_shows_the_table() {
        let page = concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs/failures.md");
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            std::fs::write(page, render_failures()).unwrap();
        }
        let committed = std::fs::read_to_string(page).unwrap();
        assert_eq!(
            committed,
            render_failures(),
            "UPDATE_EXPECTED=1 cargo test -p codecell-protocol writes it"
        );
    }

    #[test]
    fn every_code_has_a_kind() {
        for code in FailureCode::ALL {
            assert!(FAILURE_TABLE.iter().any(|(_, c)| c == code), "{code}");
        }
    }
}
