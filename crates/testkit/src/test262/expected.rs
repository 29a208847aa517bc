//! The tests that are known to fail, each under its reason.

use std::collections::BTreeMap;

use super::{Outcome, Test};

/// Lines that start in the first column are reasons; indented lines are the paths that they cover.
const LIST: &str = include_str!("failures.txt");

/// The list of failures.
#[derive(Clone, Debug)]
pub struct Expected {
    reasons: BTreeMap<&'static str, &'static str>,
}

/// A run, compared with the list.
#[derive(Clone, Debug, Default)]
pub struct Judged {
    /// Tests that ran.
    pub ran: usize,
    /// Tests that failed.
    pub failed: usize,
    /// Tests that ran and are listed as failing.
    pub expected: usize,
    /// Tests that failed and are not listed, each with what happened.
    pub unlisted: Vec<String>,
    /// Tests that passed and are listed as failing.
    pub passed_though_listed: Vec<String>,
}

impl Expected {
    /// The committed list.
    #[must_use]
    pub fn committed() -> Self {
        Self::parse(LIST)
    }

    fn parse(text: &'static str) -> Self {
        let mut reasons = BTreeMap::new();
        let mut reason = "";
        for line in text.lines().filter(|line| !line.starts_with('#')) {
            match line.strip_prefix("  ") {
                Some(path) => drop(reasons.insert(path.trim(), reason)),
                None if !line.trim().is_empty() => reason = line.trim(),
                None => {}
            }
        }
        Self { reasons }
    }

    /// Why a test is expected to fail, if it is.
    #[must_use]
    pub fn reason(&self, path: &str) -> Option<&'static str> {
        self.reasons.get(path).copied()
    }

    /// The listed paths.
    pub fn paths(&self) -> impl Iterator<Item = &'static str> + '_ {
        self.reasons.keys().copied()
    }

    /// Compares a run with the list.
    #[must_use]
    pub fn judge(&self, outcomes: &[(Test, Outcome)]) -> Judged {
        let mut judged = Judged {
            ran: outcomes.len(),
            ..Judged::default()
        };
        for (test, outcome) in outcomes {
            let listed = self.reason(&test.path).is_some();
            judged.expected += usize::from(listed);
            judged.failed += usize::from(outcome.is_err());
            match outcome {
                Err(why) if !listed => judged.unlisted.push(format!("{}: {why}", test.path)),
                Ok(()) if listed => judged.passed_though_listed.push(test.path.clone()),
                _ => {}
            }
        }
        judged
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn outcome(path: &str, outcome: Outcome) -> (Test, Outcome) {
        let test = Test {
            path: path.to_owned(),
            ..Test::default()
        };
        (test, outcome)
    }

    #[test]
    fn a_run_differs_from_the_list_in_both_ways() {
        let list = Expected::parse("# note\n\nOne reason.\n  a\n  b\nAnother.\n  c\n");
        assert_eq!(
            (list.reason("b"), list.reason("c")),
            (Some("One reason."), Some("Another."))
        );
        let failed = |path| outcome(path, Err("why".to_owned()));
        let judged = list.judge(&[
            failed("a"),
            outcome("b", Ok(())),
            failed("d"),
            outcome("e", Ok(())),
        ]);
        assert_eq!((judged.ran, judged.failed, judged.expected), (4, 2, 2));
        assert_eq!(judged.unlisted, ["d: why"]);
        assert_eq!(judged.passed_though_listed, ["b"]);
    }

    #[test]
    fn every_listed_failure_has_a_reason() {
        let list = Expected::committed();
        assert!(
            list.paths()
                .all(|path| list.reason(path).is_some_and(|reason| reason.len() > 20))
        );
    }
}
