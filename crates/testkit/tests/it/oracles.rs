//! The oracles of the fuzz targets, over the inputs that were kept and over random edits of them.
//!
//! `fuzz/corpus/<target>/` holds the inputs; what a fuzzer finds is added there, so that it is tried
//! here ever after.

#![expect(
    clippy::expect_used,
    reason = "a test that panics is a test that fails"
)]

use std::path::PathBuf;

use codecell_testkit::oracles::{ORACLES, Oracle};
use codecell_testkit::places::workspace_root;
use proptest::prelude::*;
use proptest::sample::Index;
use proptest::test_runner::{Config, TestRunner};

/// Edited inputs for each target; a fuzzer tries millions.
const CASES: u32 = 256;

/// Tokens that mean something to one parser or another.
const PIECES: &[&[u8]] = &[
    b"",
    b"\0",
    b"\n",
    b"\r\n",
    b"\"",
    b"'",
    b"`",
    b"{",
    b"}",
    b"[",
    b"]",
    b"(",
    b")",
    b"/*",
    b"*/",
    b"//",
    b"\\",
    b"\\u0000",
    b"\xff",
    b"\xe2\x80\xa8",
    b"$ref",
    b"#/",
    b"null",
    b"-0",
    b"1e999",
    b"9007199254740993",
    b"__proto__",
    b"${",
    b"=>",
    b"<",
    b"as any",
    b"\xff\xff\xff\xff",
    b"\0\0\0\x80",
    b"+++ b/x\n",
    b"@@ -1 +1 @@\n",
    b"*** Update File: ",
    b"$include",
    b"\x1f",
    b",",
    b":",
    b"\r",
    b"\n\ndata: x\n\n",
    b"event: ",
    b"\xef\xbb\xbf",
    b"{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":{}}",
    b"\"id\"",
    b"${env:A}",
    b"\"command\"",
    b"\"url\"",
];

fn corpus(target: &str) -> Vec<Vec<u8>> {
    let folder: PathBuf = workspace_root().join("fuzz/corpus").join(target);
    let listed = std::fs::read_dir(&folder).expect("a corpus");
    let mut files: Vec<_> = listed.flatten().map(|entry| entry.path()).collect();
    files.sort();
    assert!(files.len() >= 8, "{target} has too few inputs");
    let read = |file: &PathBuf| std::fs::read(file).expect("an input");
    files.iter().map(read).collect()
}

fn edited(corpus: Vec<Vec<u8>>) -> impl Strategy<Value = Vec<u8>> {
    let edit = (
        any::<Index>(),
        0..12_usize,
        prop::sample::select(PIECES),
        any::<u8>(),
    );
    (
        prop::sample::select(corpus),
        prop::collection::vec(edit, 1..6),
    )
        .prop_map(|(mut bytes, edits)| {
            for (at, cut, piece, byte) in edits {
                let start = at.index(bytes.len() + 1);
                let end = (start + cut).min(bytes.len());
                let with = piece.iter().copied().chain((cut == 0).then_some(byte));
                bytes.splice(start..end, with);
            }
            bytes
        })
}

fn hold(target: &str) {
    let (_, oracle): &(&str, Oracle) = ORACLES
        .iter()
        .find(|(name, _)| *name == target)
        .expect("a target of this name");
    let corpus = corpus(target);
    for input in &corpus {
        oracle(input);
    }
    let config = Config {
        cases: CASES,
        failure_persistence: None,
        ..Config::default()
    };
    let run = TestRunner::new(config).run(&edited(corpus), |bytes| {
        oracle(&bytes);
        Ok(())
    });
    assert!(run.is_ok(), "{target}: {run:?}");
}

macro_rules! targets {
    ($($name:ident,)*) => {
        const TARGETS: &[&str] = &[$(stringify!($name),)*];
        $(#[test]
        fn $name() {
            hold(stringify!($name));
        })*
    };
}

targets! {
    frames, snapshot, json, typescript, module_access, schema, search, config, patch, foreign, lines,
    sse, declarations,
}

#[test]
fn every_oracle_has_a_target_and_a_test() {
    let oracles: Vec<&str> = ORACLES.iter().map(|(name, _)| *name).collect();
    assert_eq!(oracles, TARGETS);
    for target in TARGETS {
        let file = workspace_root().join(format!("fuzz/fuzz_targets/{target}.rs"));
        assert!(file.is_file(), "{}", file.display());
    }
}
