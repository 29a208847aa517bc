//! Everything that can go wrong with a cell, in one type, and the one place where it becomes the
//! failure that a model reads.
//!
//! Kinds come from what the host knows, never from text that the guest wrote: a guest's words are
//! quoted, not believed. No text holds a host path, a host stack or debug output.

use codecell_protocol::{Failure, FailureKind, InputError, Phase, SavedResult, texts};
use codecell_sandbox::{RestoreError, SandboxError};
use codecell_script::ScriptError;

use crate::durable::StoreError;

/// A place in the text that the model sent.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Place {
    pub(crate) line: u32,
    pub(crate) column: u32,
    pub(crate) frame: String,
}

/// What the guest said about the error that ended the program.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct GuestError {
    /// `name: message`, with the place.
    pub(crate) text: String,
    pub(crate) place: Option<Place>,
}

/// Why a cell failed.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CellError {
    /// The arguments of `exec` or `wait` are wrong.
    #[error(transparent)]
    Input(#[from] InputError),
    /// A number in the arguments does not fit the cell's history.
    #[error("{0}")]
    Arguments(String),
    /// An override given with the run is not valid.
    #[error("the options given with this run are not valid: {0}")]
    Config(String),
    /// The text was refused before it ran.
    #[error(transparent)]
    Script(#[from] ScriptError),
    /// A hook refused the call.
    #[error("{0}")]
    Blocked(String),
    /// The engine refused to compile.
    #[error("{}", .0.text)]
    EngineSyntax(GuestError),
    /// No place for another suspended cell.
    #[error("{}", texts::TOO_MANY_SUSPENDED)]
    TooManySuspended,
    /// The cell would have to be suspended where nobody could come back to it.
    #[error(
        "{} None may be suspended here, since this client shows no name to come back with: finish in one \
         exec, or connect with a session or a token.",
        texts::TOO_MANY_SUSPENDED
    )]
    NoReturn,
    /// The id names nothing.
    #[error("{}", texts::RUN_UNAVAILABLE)]
    UnknownRun,
    /// The id is none of a cell.
    #[error(
        "{} `{given}` is not the id of a cell: pass the `runId` (cm_…) of the `waiting` result, not the `sessionId` of a tool",
        texts::RUN_UNAVAILABLE
    )]
    NotACell { given: String },
    /// The cell's time ran out while it was suspended.
    #[error("{}", texts::RUN_UNAVAILABLE)]
    Expired,
    /// The cell is somebody else's.
    #[error("{}", texts::WRONG_SESSION)]
    WrongScope,
    /// Somebody waits already.
    #[error("another wait for this cell is in flight; let it answer, then call wait again")]
    AlreadyResuming,
    /// Another process runs the cell, or holds it while it is suspended there.
    #[error(
        "another process holds this cell; wait for it there, or call wait again when that process has ended"
    )]
    HeldElsewhere,
    /// The sandbox gave no guest.
    #[error("the sandbox cannot run this cell now: {0}. Nothing ran; try again later")]
    Engine(#[from] SandboxError),
    /// Too many cells wait or exist.
    #[error("the sandbox is busy: {0}. Nothing ran; try again later")]
    Busy(String),
    /// The guest's thread ended without an answer.
    #[error("the thread that ran this cell ended without an answer; the cell is lost")]
    WorkerCrashed,
    /// Guest code was running at the leg's deadline.
    #[error(
        "the program was still computing after {timeout_ms} ms and was stopped; do less in one cell, or await between the parts"
    )]
    GuestDeadline { timeout_ms: u64 },
    /// The cell's guest time is used up.
    #[error(
        "the program used up the {max_guest_ms} ms of processor time that one cell has; split the work over several cells"
    )]
    GuestBudget { max_guest_ms: u64 },
    /// The run's own time ran out.
    #[error("the time of this run is over; the cell was stopped")]
    RunDeadline,
    /// Somebody stopped the cell.
    #[error("the cell was aborted")]
    Aborted,
    /// Value and output do not fit.
    #[error("{text}")]
    OutputTooLarge {
        text: String,
        saved: Option<SavedResult>,
    },
    /// The cell cannot be suspended.
    #[error(
        "the cell could not be suspended: its memory needs {bytes} bytes, at most {max_bytes} are allowed; keep less data while waiting, or put it away with results.save"
    )]
    SnapshotTooLarge { bytes: u64, max_bytes: u64 },
    /// An error of the program's own.
    #[error("{}", .0.text)]
    Guest(GuestError),
    /// An error of a tool that the program did not catch.
    #[error("{}", .0.text)]
    NestedTool(GuestError),
    /// A turn with too many calls that the program did not catch.
    #[error("{}", .0.text)]
    TooManyPending(GuestError),
    /// The guest had no memory left.
    #[error(
        "the program needed more than the {limit_bytes} bytes of memory that a cell has; work on less data at a time"
    )]
    Memory { limit_bytes: u64 },
    /// The guest's stack was used up.
    #[error("the program used up the stack: a recursion does not end, or is too deep; use a loop")]
    Stack,
    /// Nothing can ever settle what the program awaits.
    #[error(
        "the program waits for a promise that nothing can settle: no call and no timer is outstanding. A promise made with new Promise needs something that calls its resolve"
    )]
    Deadlock,
    /// The snapshot did not come back to life.
    #[error("the suspended cell could not be restored: {0}")]
    Restore(RestoreError),
    /// The store refused what had to be written before the cell could go on.
    #[error("the cell was stopped because it could not be stored: {0}")]
    Store(StoreError),
    /// The store refused the start of the cell.
    #[error(
        "the cell was not started because it could not be stored: {0}. Nothing ran; try again later"
    )]
    StoreAtStart(StoreError),
    /// The stored cell cannot be read.
    #[error("the suspended cell could not be restored: {0}")]
    Stored(StoreError),
    /// What is stored does not lead to where the cell was.
    #[error("the suspended cell could not be restored: {0}")]
    Diverged(&'static str),
    /// A record ends where the host stopped the program.
    #[error("the record ends here: the host stopped the program at this point")]
    StoppedThen,
    /// A defect of ours.
    #[error("an internal error stopped this cell: {0}")]
    Internal(&'static str),
}

impl CellError {
    /// The finer reason.
    pub(crate) fn kind(&self) -> FailureKind {
        use FailureKind as K;
        match self {
            Self::Input(InputError::UnsupportedLanguage { .. }) => K::UnsupportedLanguage,
            Self::Input(_) | Self::Arguments(_) | Self::Blocked(_) => K::InvalidArguments,
            Self::Config(_) => K::InvalidConfig,
            Self::Script(error) => script_kind(error),
            Self::EngineSyntax(_) => K::SyntaxError,
            Self::TooManySuspended | Self::NoReturn => K::TooManySuspendedRuns,
            Self::UnknownRun | Self::NotACell { .. } => K::UnknownRun,
            Self::Expired => K::SnapshotExpired,
            Self::WrongScope => K::WrongScope,
            Self::AlreadyResuming | Self::HeldElsewhere => K::AlreadyResuming,
            Self::Engine(_) | Self::Busy(_) | Self::StoreAtStart(_) => K::EngineUnavailable,
            Self::WorkerCrashed => K::WorkerCrashed,
            Self::GuestDeadline { .. } | Self::GuestBudget { .. } => K::GuestDeadline,
            Self::RunDeadline => K::RunDeadline,
            Self::Aborted => K::Aborted,
            Self::OutputTooLarge { .. } => K::OutputLimitExceeded,
            Self::SnapshotTooLarge { .. } => K::SnapshotLimitExceeded,
            Self::Guest(_) => K::GuestError,
            Self::NestedTool(_) => K::NestedToolFailed,
            Self::TooManyPending(_) => K::TooManyPendingToolCalls,
            Self::Memory { .. } => K::MemoryLimitExceeded,
            Self::Stack => K::StackOverflow,
            Self::Deadlock => K::Deadlock,
            Self::Restore(_) | Self::Stored(_) | Self::Diverged(_) => K::SnapshotRestoreFailed,
            Self::Internal(_) | Self::Store(_) | Self::StoppedThen => K::Internal,
        }
    }

    /// Where it arose.
    pub(crate) fn phase(&self) -> Phase {
        match self {
            Self::Input(_)
            | Self::Arguments(_)
            | Self::Config(_)
            | Self::Script(_)
            | Self::Blocked(_)
            | Self::EngineSyntax(_)
            | Self::UnknownRun
            | Self::NotACell { .. }
            | Self::Expired
            | Self::WrongScope
            | Self::AlreadyResuming
            | Self::HeldElsewhere => Phase::Input,
            Self::GuestDeadline { .. }
            | Self::GuestBudget { .. }
            | Self::Guest(_)
            | Self::Memory { .. }
            | Self::Stack
            | Self::Deadlock => Phase::Guest,
            Self::NestedTool(_) | Self::TooManyPending(_) | Self::OutputTooLarge { .. } => {
                Phase::Bridge
            }
            Self::TooManySuspended
            | Self::NoReturn
            | Self::Engine(_)
            | Self::Busy(_)
            | Self::WorkerCrashed
            | Self::RunDeadline
            | Self::Aborted
            | Self::SnapshotTooLarge { .. }
            | Self::Restore(_)
            | Self::Store(_)
            | Self::StoreAtStart(_)
            | Self::Stored(_)
            | Self::Diverged(_)
            | Self::StoppedThen
            | Self::Internal(_) => Phase::Host,
        }
    }

    /// The failure without its text.
    pub(crate) fn to_failure(&self) -> Failure {
        let mut failure = Failure::new(self.kind(), self.phase());
        if let Some(place) = self.place() {
            failure.line = Some(place.line);
            failure.column = Some(place.column);
            failure.frame = Some(place.frame).filter(|frame| !frame.is_empty());
        }
        if let Self::OutputTooLarge { saved, .. } = self {
            failure.saved.clone_from(saved);
        }
        failure
    }

    fn place(&self) -> Option<Place> {
        match self {
            Self::Script(error) => error.place().map(|at| Place {
                line: at.line,
                column: at.column,
                frame: at.frame.clone(),
            }),
            Self::EngineSyntax(error)
            | Self::Guest(error)
            | Self::NestedTool(error)
            | Self::TooManyPending(error) => error.place.clone(),
            _ => None,
        }
    }
}

fn script_kind(error: &ScriptError) -> FailureKind {
    let word = error.kind();
    let found = FailureKind::ALL.iter().find(|kind| kind.as_str() == word);
    found.copied().unwrap_or(FailureKind::Internal)
}

#[cfg(test)]
mod tests {
    use codecell_script::{PrepareOptions, prepare};

    use super::*;

    #[test]
    fn every_word_of_the_script_room_is_a_kind() {
        let error = prepare(" ", &PrepareOptions::default()).expect_err("blank");
        assert_eq!(CellError::from(error).kind(), FailureKind::InvalidArguments);
    }

    /// One of each, with a word for what differs.
    fn one_of_each() -> Vec<CellError> {
        let guest = || GuestError {
            text: "TypeError: x".into(),
            place: None,
        };
        let script = |text: &str| {
            CellError::from(prepare(text, &PrepareOptions::default()).expect_err("refused"))
        };
        vec![
            CellError::Input(InputError::NoCode),
            CellError::Input(InputError::UnsupportedLanguage {
                given: "python".into(),
            }),
            CellError::Arguments("`after` is wrong".into()),
            CellError::Config("tools.codeMode.timeoutMs: a number".into()),
            script(" "),
            script("const x = ;"),
            script("import x from 'x'"),
            script("ls -la"),
            CellError::Blocked("the hook says no".into()),
            CellError::EngineSyntax(guest()),
            CellError::TooManySuspended,
            CellError::NoReturn,
            CellError::UnknownRun,
            CellError::NotACell {
                given: "proc_1".into(),
            },
            CellError::Expired,
            CellError::WrongScope,
            CellError::AlreadyResuming,
            CellError::HeldElsewhere,
            CellError::Engine(SandboxError::NoSlot { max_guests: 4 }),
            CellError::Busy("all threads are taken".into()),
            CellError::WorkerCrashed,
            CellError::GuestDeadline { timeout_ms: 100 },
            CellError::GuestBudget { max_guest_ms: 100 },
            CellError::RunDeadline,
            CellError::Aborted,
            CellError::OutputTooLarge {
                text: "too large".into(),
                saved: None,
            },
            CellError::SnapshotTooLarge {
                bytes: 2,
                max_bytes: 1,
            },
            CellError::Guest(guest()),
            CellError::NestedTool(guest()),
            CellError::TooManyPending(guest()),
            CellError::Memory { limit_bytes: 1 },
            CellError::Stack,
            CellError::Deadlock,
            CellError::Restore(RestoreError::Mac),
            CellError::Store(StoreError::Full),
            CellError::StoreAtStart(StoreError::Full),
            CellError::Stored(StoreError::Damaged("a record is missing")),
            CellError::Diverged("it did not do what it did before"),
            CellError::StoppedThen,
            CellError::Internal("the engine broke the protocol"),
        ]
    }

    #[test]
    fn every_failure_has_its_code_kind_phase_and_text() {
        let lines: Vec<String> = one_of_each()
            .iter()
            .map(|error| {
                let kind = error.kind();
                format!("{} / {kind} / {}: {error}", kind.code(), error.phase())
            })
            .collect();
        insta::assert_snapshot!(lines.join("\n"));
    }

    #[test]
    fn only_kinds_of_typescript_are_missing_from_the_list() {
        let kinds: Vec<FailureKind> = one_of_each().iter().map(CellError::kind).collect();
        let missing: Vec<_> = FailureKind::ALL
            .iter()
            .filter(|kind| !kinds.contains(kind))
            .collect();
        assert_eq!(missing, [&FailureKind::TypescriptTransformFailed]);
    }

    #[test]
    fn the_exact_texts_are_the_contracts() {
        assert_eq!(
            CellError::UnknownRun.to_string(),
            "code mode run is unavailable or expired."
        );
        assert_eq!(
            CellError::Expired.to_string(),
            "code mode run is unavailable or expired."
        );
        assert_eq!(
            CellError::WrongScope.to_string(),
            "code mode run belongs to a different session."
        );
        assert_eq!(
            CellError::TooManySuspended.to_string(),
            "too many suspended code mode runs."
        );
    }

    #[test]
    fn a_place_goes_into_the_failure() {
        let error = CellError::Guest(GuestError {
            text: "Error: x".into(),
            place: Some(Place {
                line: 2,
                column: 3,
                frame: "f".into(),
            }),
        });
        let failure = error.to_failure();
        assert_eq!(
            (failure.line, failure.column, failure.frame.as_deref()),
            (Some(2), Some(3), Some("f"))
        );
    }
}
