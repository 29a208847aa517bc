//! No line of the suite is without cases, and no case without a line.

use std::collections::{BTreeMap, BTreeSet};

use codecell_testkit::hostile::case;
use codecell_testkit::hostile::class::CLASSES;
use codecell_testkit::hostile::driven;
use codecell_testkit::hostile::report::expected_failures;
use codecell_testkit::places::workspace_root;

use super::expected_file;

/// Several programs a line.
const LEAST: usize = 2;

fn ids() -> Vec<String> {
    let folder = workspace_root().join("crates/testkit/hostile");
    let mut ids = Vec::new();
    for class in CLASSES {
        let cases = case::load(&folder, class.letter).expect("the programs");
        ids.extend(cases.into_iter().map(|case| case.id));
        ids.extend(
            driven::of(class.letter)
                .iter()
                .map(|case| case.id.to_owned()),
        );
    }
    ids
}

#[test]
fn every_line_has_several_cases_and_every_case_a_line() {
    let mut counts: BTreeMap<String, usize> = BTreeMap::new();
    for class in CLASSES {
        for (line, _) in class.lines {
            counts.insert(format!("{}/{line}", class.letter), 0);
        }
    }
    for id in ids() {
        let (line, _) = id.rsplit_once('/').expect("class/line/name");
        let count = counts
            .get_mut(line)
            .unwrap_or_else(|| panic!("{id} has no line"));
        *count += 1;
    }
    let few: Vec<_> = counts.iter().filter(|(_, count)| **count < LEAST).collect();
    assert!(few.is_empty(), "{few:?}");
}

#[test]
fn ids_are_unique_and_expected_failures_are_cases() {
    let all = ids();
    let unique: BTreeSet<_> = all.iter().collect();
    assert_eq!(all.len(), unique.len());
    let expected = expected_failures(&expected_file()).expect("the expected failures");
    let unknown: Vec<_> = expected.keys().filter(|id| !unique.contains(id)).collect();
    assert!(unknown.is_empty(), "{unknown:?}");
}
