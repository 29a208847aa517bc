//! The language as the guest speaks it, against test262.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test that panics is a test that fails, and one that runs many cases says how many"
)]

use codecell_testkit::data::data_or_skip;
use codecell_testkit::engine::sandbox;
use codecell_testkit::test262::{Expected, read_harness, read_lines, run_all};

/// Runs a file of the data; returns the paths that ran.
fn agrees(name: &str, file: &str, least_percent: f64) {
    let Some(file) = data_or_skip(name, &format!("test262/{file}")) else {
        return;
    };
    let harness = read_harness(&file.with_file_name("harness")).expect("the harness");
    let tests = read_lines(&file).expect("the tests");
    let outcomes = run_all(&sandbox(), harness, tests);
    let judged = Expected::committed().judge(&outcomes);
    let percent = 100.0 * (judged.ran - judged.failed) as f64 / judged.ran as f64;
    println!(
        "{name}: ran {}, failed {}, expected to fail {} ({percent:.2} % pass)",
        judged.ran, judged.failed, judged.expected
    );
    assert!(
        judged.unlisted.is_empty(),
        "not in failures.txt:\n{}",
        judged.unlisted.join("\n")
    );
    assert!(
        judged.passed_though_listed.is_empty(),
        "in failures.txt, but they pass:\n{}",
        judged.passed_though_listed.join("\n")
    );
    assert!(
        percent >= least_percent,
        "{percent:.2} % is below {least_percent} %"
    );
}

#[test]
fn the_language_core() {
    agrees("the_language_core", "subset_core.jsonl", 99.72);
}

#[test]
fn the_newer_features() {
    agrees("the_newer_features", "subset_new_features.jsonl", 99.75);
}
