//! What `exec` and `wait` give back: the result, and the binary content that it names.

use codecell_protocol::CellResult;
use codecell_tools::ContentBlock;

/// One result of a cell.
#[derive(Clone, Debug)]
pub struct CellOutcome {
    /// The result as the contract shapes it.
    pub result: CellResult,
    /// The real content behind the references that value and output name, each once.
    pub content: Vec<ContentBlock>,
}

impl CellOutcome {
    /// A result that names no binary content.
    pub(crate) fn plain(result: CellResult) -> Self {
        Self {
            result,
            content: Vec::new(),
        }
    }
}

#[cfg(test)]
pub(crate) mod testing {
    //! Outcomes for tests of the state machines that carry them.

    use codecell_protocol::{Failed, Failure, FailureKind, Phase, Telemetry};

    use super::*;

    pub(crate) fn aborted() -> CellOutcome {
        CellOutcome::plain(CellResult::Failed(Failed {
            error: "stopped".into(),
            code: FailureKind::Aborted.code(),
            failure: Failure::new(FailureKind::Aborted, Phase::Host),
            output: Vec::new(),
            effects: None,
            warnings: Vec::new(),
            telemetry: Telemetry::default(),
        }))
    }
}
