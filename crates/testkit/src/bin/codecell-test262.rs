//! Runs a checkout of tc39/test262 in the guest and says what failed.
//!
//! `codecell-test262 CHECKOUT [PART-OF-A-PATH]`. Tests of what a cell does not have are left out and counted.

#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command of its own, for development"
)]

use std::path::Path;
use std::process::ExitCode;

use codecell_testkit::test262::{Expected, read_checkout, run_all, without_absent};

fn main() -> ExitCode {
    let mut arguments = std::env::args().skip(1);
    let Some(root) = arguments.next() else {
        eprintln!("usage: codecell-test262 CHECKOUT [PART-OF-A-PATH]");
        return ExitCode::FAILURE;
    };
    let filter = arguments.next().unwrap_or_default();
    match run(Path::new(&root), &filter) {
        Ok(true) => ExitCode::SUCCESS,
        Ok(false) => ExitCode::FAILURE,
        Err(error) => {
            eprintln!("{root} is not a checkout of tc39/test262 that can be read: {error}");
            ExitCode::FAILURE
        }
    }
}

/// Whether every failure is a listed one, and every listed one failed.
fn run(root: &Path, filter: &str) -> std::io::Result<bool> {
    let (harness, tests) = read_checkout(root, filter)?;
    let (tests, left_out) = without_absent(tests);
    for (what, count) in &left_out {
        println!("left out {count}: {what}");
    }
    let outcomes = run_all(&codecell_testkit::engine::sandbox(), harness, tests);
    let judged = Expected::committed().judge(&outcomes);
    for failure in &judged.unlisted {
        println!("failed: {failure}");
    }
    for path in &judged.passed_though_listed {
        println!("passed though listed: {path}");
    }
    let share = 100.0 * (judged.ran - judged.failed) as f64 / judged.ran.max(1) as f64;
    println!(
        "ran {}, failed {}, expected to fail {} ({share:.2} % pass)",
        judged.ran, judged.failed, judged.expected
    );
    Ok(judged.unlisted.is_empty() && judged.passed_though_listed.is_empty())
}
