//! The results that a cell has given, so that a lost one can be asked for again.
//!
//! Result number 0 is that of `exec`; each suspension has a `seq`, from 1, and `wait` with `after`
//! asks for the result that followed it. The invariant: asking again runs nothing and gives the
//! very same result.

use std::collections::VecDeque;
use std::sync::Arc;

use crate::outcome::CellOutcome;

/// What `wait` has to do.
#[derive(Clone, Debug)]
pub(crate) enum Ask {
    /// Give this stored result.
    Again(Arc<CellOutcome>),
    /// The cell is suspended there: resume it.
    Resume,
    /// The result that was asked for is no longer stored.
    TooOld { last: u64 },
    /// No such suspension has been.
    Future { last: u64 },
}

/// The results of one cell, newest last.
#[derive(Debug, Default)]
pub(crate) struct History {
    /// Number of suspensions so far.
    last_seq: u64,
    /// Each result with the `seq` that it followed.
    results: VecDeque<(u64, Arc<CellOutcome>)>,
    ended: bool,
    /// The newest result has reached nobody.
    undelivered: bool,
}

impl History {
    /// The number that the next suspension gets.
    pub(crate) fn next_seq(&self) -> u64 {
        self.last_seq + 1
    }

    /// The number of the last suspension, 0 before the first.
    pub(crate) fn last_seq(&self) -> u64 {
        self.last_seq
    }

    /// Keeps a result. One that suspends the cell opens the next number.
    pub(crate) fn record(&mut self, outcome: Arc<CellOutcome>, suspends: bool, max_results: usize) {
        self.results.push_back((self.last_seq, outcome));
        while self.results.len() > max_results {
            self.results.pop_front();
        }
        if suspends {
            self.last_seq += 1;
        } else {
            self.ended = true;
        }
        self.undelivered = true;
    }

    /// This result has reached whoever waited for it. Only the newest counts: whoever comes late
    /// with an earlier one says nothing about it.
    pub(crate) fn delivered(&mut self, outcome: &Arc<CellOutcome>) {
        let newest = self.results.back();
        if newest.is_some_and(|(_, newest)| Arc::ptr_eq(newest, outcome)) {
            self.undelivered = false;
        }
    }

    /// A leg starts from the newest suspension: whoever asked for it knows of it.
    pub(crate) fn went_on(&mut self) {
        self.undelivered = false;
    }

    /// The results that are kept, each with the suspension that it followed, oldest first.
    pub(crate) fn kept(&self) -> impl Iterator<Item = (u64, &Arc<CellOutcome>)> {
        self.results.iter().map(|(seq, outcome)| (*seq, outcome))
    }

    /// The history of a cell that comes back, suspended for the `last_seq`th time or ended.
    pub(crate) fn restored(
        last_seq: u64,
        results: Vec<(u64, Arc<CellOutcome>)>,
        ended: bool,
    ) -> Self {
        Self {
            last_seq,
            results: results.into(),
            ended,
            // Whoever asks without a number knows of the suspension, or would not know the id.
            undelivered: false,
        }
    }

    /// The result that ended the cell.
    pub(crate) fn last_word(&self) -> Option<Arc<CellOutcome>> {
        let (_, newest) = self.results.back().filter(|_| self.ended)?;
        Some(Arc::clone(newest))
    }

    /// What a `wait` with this `after` asks for.
    pub(crate) fn ask(&self, after: Option<u64>) -> Ask {
        let newest = self.results.back().map(|(_, outcome)| Arc::clone(outcome));
        match after {
            Some(after) if after > self.last_seq => Ask::Future {
                last: self.last_seq,
            },
            Some(after) if after == self.last_seq && !self.ended => Ask::Resume,
            Some(after) => self.stored(after).map_or(
                Ask::TooOld {
                    last: self.last_seq,
                },
                Ask::Again,
            ),
            None if self.ended || self.undelivered => newest.map_or(Ask::Resume, Ask::Again),
            None => Ask::Resume,
        }
    }

    fn stored(&self, after: u64) -> Option<Arc<CellOutcome>> {
        let found = self.results.iter().find(|(seq, _)| *seq == after);
        found.map(|(_, outcome)| Arc::clone(outcome))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::outcome::testing::aborted;

    fn history(suspensions: usize, ended: bool, keep: usize) -> (History, Vec<Arc<CellOutcome>>) {
        let mut history = History::default();
        let mut given = Vec::new();
        for number in 0..suspensions + usize::from(ended) {
            let outcome = Arc::new(aborted());
            given.push(Arc::clone(&outcome));
            history.record(Arc::clone(&outcome), number < suspensions, keep);
            history.delivered(&outcome);
        }
        (history, given)
    }

    fn is_again(ask: &Ask, outcome: &Arc<CellOutcome>) -> bool {
        matches!(ask, Ask::Again(again) if Arc::ptr_eq(again, outcome))
    }

    #[test]
    fn the_suspension_that_is_due_resumes() {
        let (history, _) = history(2, false, 16);
        assert!(matches!(history.ask(None), Ask::Resume));
        assert!(matches!(history.ask(Some(2)), Ask::Resume));
        assert!(matches!(history.ask(Some(3)), Ask::Future { last: 2 }));
    }

    #[test]
    fn an_earlier_one_gives_the_stored_result() {
        let (history, given) = history(2, true, 16);
        assert!(is_again(&history.ask(Some(1)), &given[1]));
        assert!(is_again(&history.ask(Some(2)), &given[2]));
        assert!(is_again(&history.ask(None), &given[2]));
    }

    #[test]
    fn a_result_that_reached_nobody_is_given_before_anything_runs() {
        let (mut history, _) = history(1, false, 16);
        let lost = Arc::new(aborted());
        history.record(Arc::clone(&lost), true, 16);
        assert!(is_again(&history.ask(None), &lost));
        assert!(is_again(&history.ask(Some(1)), &lost));
        assert!(matches!(history.ask(Some(2)), Ask::Resume));
        history.delivered(&Arc::new(aborted()));
        assert!(
            is_again(&history.ask(None), &lost),
            "another result says nothing"
        );
        history.delivered(&lost);
        assert!(matches!(history.ask(None), Ask::Resume));
    }

    #[test]
    fn the_last_word_is_that_of_an_ended_cell() {
        let (suspended, _) = history(2, false, 16);
        assert!(suspended.last_word().is_none());
        let (ended, given) = history(2, true, 16);
        assert!(
            ended
                .last_word()
                .is_some_and(|last| Arc::ptr_eq(&last, &given[2]))
        );
    }

    #[test]
    fn only_the_newest_results_are_kept() {
        let (history, _) = history(5, true, 2);
        assert!(matches!(history.ask(Some(3)), Ask::TooOld { last: 5 }));
        assert!(matches!(history.ask(Some(4)), Ask::Again(_)));
    }
}
