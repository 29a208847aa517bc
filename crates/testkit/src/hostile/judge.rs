//! What is compared after every case.

use codecell_codemode::CellOutcome;
use codecell_protocol::{CellResult, Effects, FailureKind};

use super::case::{Case, Ending};
use super::fakes::Counts;
use super::house::text_of;

/// Compares how a case ended with what its header says.
///
/// # Errors
/// What is different.
pub fn ending(case: &Case, outcome: &CellOutcome) -> Result<(), String> {
    let fits = case
        .endings
        .iter()
        .any(|ending| match (ending, &outcome.result) {
            (Ending::Completed, CellResult::Completed(_))
            | (Ending::Waiting, CellResult::Waiting(_)) => true,
            (Ending::Failed(kinds), CellResult::Failed(failed)) => {
                kinds.contains(&failed.failure.kind)
            }
            _ => false,
        });
    if !fits {
        let expected = &case.endings;
        return Err(format!("ended as {}, not as {expected:?}", shown(outcome)));
    }
    match (&case.value, &outcome.result) {
        (Some(expected), CellResult::Completed(completed)) => {
            let value: serde_json::Value =
                serde_json::from_str(completed.value.get()).map_err(|e| e.to_string())?;
            if &value == expected {
                return Ok(());
            }
            Err(format!("returned {}, not {expected}", shown(outcome)))
        }
        _ => Ok(()),
    }
}

/// The result, cut to what a report can carry.
#[must_use]
pub fn shown(outcome: &CellOutcome) -> String {
    const SHOWN_CHARS: usize = 600;
    text_of(outcome).chars().take(SHOWN_CHARS).collect()
}

/// The word for how a cell ended.
#[must_use]
pub fn word(outcome: &CellOutcome) -> &'static str {
    match &outcome.result {
        CellResult::Completed(_) => "completed",
        CellResult::Waiting(_) => "waiting",
        CellResult::Failed(failed) => failed.failure.kind.as_str(),
    }
}

/// Compares the ledger's words with the tools' own books, when the cell has ended.
///
/// # Errors
/// What one says and the other does not.
pub fn ledger(outcome: &CellOutcome, books: Counts) -> Result<(), String> {
    if books.denied > 0 {
        return Err(format!("{} calls of a denied tool", books.denied));
    }
    let calls = outcome.result.telemetry().call_count;
    if u64::from(books.begun) > u64::from(calls) {
        return Err(format!("{} calls began, {calls} are counted", books.begun));
    }
    let Some(effects) = effects(outcome) else {
        return if books.begun_writes == 0 {
            Ok(())
        } else {
            Err(format!("{} writes began, no effects", books.begun_writes))
        };
    };
    let handed_over = effects.committed + effects.failed + effects.unknown;
    let whole = effects.committed <= books.succeeded
        && books.succeeded <= effects.committed + effects.unknown
        && books.begun <= handed_over;
    if whole {
        Ok(())
    } else {
        Err(format!("the tools say {books:?}, the ledger {effects:?}"))
    }
}

fn effects(outcome: &CellOutcome) -> Option<&Effects> {
    match &outcome.result {
        CellResult::Completed(completed) => completed.effects.as_ref(),
        CellResult::Waiting(waiting) => waiting.effects.as_ref(),
        CellResult::Failed(failed) => failed.effects.as_ref(),
    }
}

/// Whether the host takes the blame: that is never right.
#[must_use]
pub fn is_our_fault(outcome: &CellOutcome) -> bool {
    matches!(
        outcome.result.failure_kind(),
        Some(FailureKind::Internal | FailureKind::WorkerCrashed | FailureKind::EngineUnavailable)
    )
}
