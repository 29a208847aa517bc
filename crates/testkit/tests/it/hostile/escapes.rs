//! Attacks that others collected: none gets out, and each ends as it did before.

use std::fmt::Write as _;

use codecell_testkit::data::data_or_skip;

use super::{judge, run};

#[test]
fn none_of_the_collected_escapes_gets_out() {
    if data_or_skip("escapes", "escapes/programs.jsonl").is_none() {
        return;
    }
    let report = run("escapes");
    judge(&report);
    let mut record = String::new();
    for verdict in &report.verdicts {
        writeln!(record, "{}: {}", verdict.id, verdict.end).expect("a string takes text");
    }
    insta::assert_snapshot!("escapes", record);
}
