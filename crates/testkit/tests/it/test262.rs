//! The language as the guest speaks it, against test262.

#![expect(
    clippy::expect_used,
    clippy::print_stdout,
    reason = "a test that panics is a test that fails, and one that runs many cases says how many"
)]

use codecell_testkit::data::data_or_skip;
use codecell_testkit::engine::sandbox;
use codecell_testkit::test262::{
    Expected, read_checkout, read_harness, read_lines, run_all, without_absent,
};

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

#[test]
fn a_checkout_is_read_and_judged() {
    let folder = tempfile::tempdir().expect("a folder");
    let root = folder.path();
    let file = |path: &str, text: &str| {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().expect("a parent")).expect("a folder");
        std::fs::write(path, text).expect("a file");
    };
    file(
        "harness/assert.js",
        "function assert(it) { if (!it) throw new Test262Error('no'); }",
    );
    file(
        "harness/sta.js",
        "function Test262Error(message) { this.message = message; }",
    );
    file(
        "harness/doneprintHandle.js",
        "function $DONE(e) { print(e ? 'Test262:AsyncTestFailure' : 'Test262:AsyncTestComplete'); }",
    );
    file(
        "test/a/passes.js",
        "/*---\nflags: [onlyStrict]\n---*/\nassert(function () { return !this; }());",
    );
    file("test/a/fails.js", "/*---\n---*/\nassert(false);");
    file(
        "test/b/refuses.js",
        "/*---\nnegative:\n  phase: parse\n  type: SyntaxError\n---*/\nlet let;",
    );
    file(
        "test/b/later.js",
        "/*---\nflags: [async]\n---*/\nPromise.resolve().then($DONE);",
    );
    file("test/b/never.js", "/*---\nflags: [async]\n---*/\n0;");
    file(
        "test/b/detached.js",
        "/*---\n---*/\nvar b = new ArrayBuffer(8); $262.detachArrayBuffer(b); assert(b.byteLength === 0);",
    );
    file(
        "test/b/realm.js",
        "/*---\n---*/\nvar o = $262.createRealm().global; assert(o.Array !== Array); assert(o.eval('1 + 1') === 2);",
    );
    file(
        "test/b/module.js",
        "/*---\nflags: [module]\n---*/\nexport {};",
    );
    file("test/b/part_FIXTURE.js", "/*---\n---*/\nassert(false);");
    let (harness, tests) = read_checkout(root, "").expect("a checkout");
    let (tests, left_out) = without_absent(tests);
    assert_eq!(left_out.values().sum::<usize>(), 1);
    let outcomes = run_all(&sandbox(), harness, tests);
    let failed: Vec<_> = outcomes
        .iter()
        .filter_map(|(test, outcome)| Some((test.path.as_str(), outcome.as_ref().err()?.as_str())))
        .collect();
    assert_eq!(
        failed,
        [
            ("test/a/fails.js", "Test262Error no"),
            ("test/b/never.js", "never completed: ")
        ]
    );
    let (_, some) = read_checkout(root, "b/re").expect("a checkout");
    assert_eq!(some.len(), 2);
}
