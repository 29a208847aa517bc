//! Tests of what a cell does not have by design; a checkout holds many, the data beside the project none.

use std::collections::BTreeMap;

use super::Test;

/// Features of the suite that no cell has, with what they stand for.
const FEATURES: &[(&str, &str)] = &[
    ("Atomics", "shared memory"),
    ("Atomics.pause", "shared memory"),
    ("Atomics.waitAsync", "shared memory"),
    ("SharedArrayBuffer", "shared memory"),
    ("dynamic-import", "modules"),
    ("import-attributes", "modules"),
    ("import-bytes", "modules"),
    ("import-defer", "modules"),
    ("import-text", "modules"),
    ("import.meta", "modules"),
    ("json-modules", "modules"),
    ("source-phase-imports", "modules"),
    ("source-phase-imports-module-source", "modules"),
    ("top-level-await", "modules"),
    (
        "tail-call-optimization",
        "tail calls, which the engine does not have",
    ),
    ("Temporal", "Temporal, which the engine does not have"),
    ("ShadowRealm", "ShadowRealm, which the engine does not have"),
    ("decorators", "decorators, which the engine does not have"),
    (
        "caller",
        "Function.prototype.caller, which the engine does not have",
    ),
    ("canonical-tz", "Temporal, which the engine does not have"),
];

/// Folders of what no cell has.
const FOLDERS: &[(&str, &str)] = &[
    ("test/intl402/", "Intl, which the engine does not have"),
    ("test/staging/", "tests that are not part of the suite yet"),
    (
        "test/annexB/built-ins/RegExp/legacy-accessors/",
        "RegExp.$1 and its kin",
    ),
];

/// The tests that concern a cell, and how many were left out for what.
#[must_use]
pub fn without_absent(tests: Vec<Test>) -> (Vec<Test>, BTreeMap<&'static str, usize>) {
    let mut left_out = BTreeMap::new();
    let mut kept = Vec::with_capacity(tests.len());
    for test in tests {
        match absent(&test) {
            Some(what) => *left_out.entry(what).or_default() += 1,
            None => kept.push(test),
        }
    }
    (kept, left_out)
}

fn absent(test: &Test) -> Option<&'static str> {
    if test.has_flag("module") {
        return Some("modules");
    }
    let folder = FOLDERS
        .iter()
        .find(|(folder, _)| test.path.starts_with(folder));
    let feature = FEATURES
        .iter()
        .find(|(feature, _)| test.features.iter().any(|own| own == feature));
    folder.or(feature).map(|(_, what)| *what)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn test(path: &str, flags: &[&str], features: &[&str]) -> Test {
        Test {
            path: path.to_owned(),
            flags: flags.iter().map(|flag| (*flag).to_owned()).collect(),
            features: features
                .iter()
                .map(|feature| (*feature).to_owned())
                .collect(),
            ..Test::default()
        }
    }

    #[test]
    fn what_a_cell_has_is_kept() {
        let (kept, left_out) = without_absent(vec![
            test("test/a.js", &[], &["Symbol"]),
            test("test/b.js", &["module"], &[]),
            test("test/c.js", &[], &["Atomics"]),
            test("test/intl402/d.js", &[], &[]),
        ]);
        assert_eq!(kept.len(), 1);
        let counts: Vec<_> = left_out.into_iter().collect();
        assert_eq!(
            counts,
            [
                ("Intl, which the engine does not have", 1),
                ("modules", 1),
                ("shared memory", 1)
            ]
        );
    }
}
