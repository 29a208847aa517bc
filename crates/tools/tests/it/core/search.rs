//! `find` and `grep`.

use std::time::Duration;

use codecell_tools::CallContext;
use serde_json::{Value, json};

use super::{Bench, context};

fn tree() -> Bench {
    let bench = Bench::new();
    bench.put("src/main.rs", "fn main() {\n    // TODO: one\n}\n");
    bench.put("src/deep/lib.rs", "// todo two\n");
    bench.put("src/gen.rs", "// TODO generated\n");
    bench.put("target/out.rs", "// TODO built\n");
    bench.put("notes.md", "TODO\n");
    bench.put(".hidden/x.rs", "TODO\n");
    bench.put(".git/info/exclude", "notes.md\n");
    bench.put(".git/HEAD", "TODO\n");
    bench.put(".gitignore", "/target/\n*.log\n");
    bench.put("src/.ignore", "gen.rs\n!keep.log\n");
    bench.put("src/keep.log", "TODO kept\n");
    bench.put("src/drop.log", "TODO dropped\n");
    bench.put("blob.bin", b"TODO\0TODO\n");
    bench
}

async fn found(bench: &Bench, args: Value) -> Vec<String> {
    let result = bench.ok("find", args).await;
    result["paths"]
        .as_array()
        .unwrap()
        .iter()
        .map(|p| p.as_str().unwrap().to_owned())
        .collect()
}

async fn hits(bench: &Bench, args: Value) -> Vec<String> {
    let result = bench.ok("grep", args).await;
    let line = |m: &Value| {
        format!(
            "{}:{}:{}",
            m["path"].as_str().unwrap(),
            m["line"],
            m["text"].as_str().unwrap()
        )
    };
    result["matches"]
        .as_array()
        .unwrap()
        .iter()
        .map(line)
        .collect()
}

#[tokio::test]
async fn find_takes_names_and_paths_and_obeys_ignore_files() {
    let bench = tree();
    assert_eq!(
        found(&bench, json!({"pattern": "*.rs"})).await,
        ["src/deep/lib.rs", "src/main.rs"]
    );
    assert_eq!(
        found(&bench, json!({"pattern": "src/*.rs"})).await,
        ["src/main.rs"]
    );
    assert_eq!(
        found(&bench, json!({"pattern": "**/*.{rs,log}"})).await,
        ["src/deep/lib.rs", "src/keep.log", "src/main.rs"]
    );
    assert_eq!(
        found(&bench, json!({"pattern": "*.rs", "path": "src/deep"})).await,
        ["src/deep/lib.rs"]
    );
    assert_eq!(
        found(&bench, json!({"pattern": "deep/*", "path": "src"})).await,
        ["src/deep/lib.rs"]
    );
    assert_eq!(
        found(&bench, json!({"pattern": ".hidden/**"})).await,
        [".hidden/x.rs"]
    );
    assert_eq!(
        found(&bench, json!({"pattern": "*.log", "path": "src"})).await,
        ["src/keep.log"]
    );
    assert_eq!(
        bench.code("find", json!({"pattern": "[a"})).await,
        "invalid_arguments"
    );
    assert_eq!(
        bench
            .code("find", json!({"pattern": "*", "path": "notes.md"}))
            .await,
        "not_a_directory"
    );
}

#[tokio::test]
async fn find_says_when_there_is_more() {
    let bench = tree();
    let all = bench
        .ok("find", json!({"pattern": "*.rs", "limit": 2}))
        .await;
    assert_eq!(
        (all["paths"].as_array().unwrap().len(), &all["truncated"]),
        (2, &json!(false))
    );
    let part = bench
        .ok("find", json!({"pattern": "*.rs", "limit": 1}))
        .await;
    assert_eq!(
        (part["paths"].as_array().unwrap().len(), &part["truncated"]),
        (1, &json!(true))
    );
}

#[tokio::test]
async fn a_walk_has_a_bound() {
    let bench = Bench::with(|o, _| o.limits.walk_entries = 3);
    for name in ["a", "b", "c", "d"] {
        bench.put(name, "x");
    }
    let part = bench.ok("find", json!({"pattern": "*"})).await;
    assert_eq!(
        (&part["truncated"], part["paths"].as_array().unwrap().len()),
        (&json!(true), 3)
    );
}

#[tokio::test]
async fn every_path_found_can_be_read() {
    let bench = Bench::new();
    bench.put("real", "x");
    bench.link("real", "good");
    bench.link("nowhere", "dangling");
    bench.link(".", "directory");
    assert_eq!(
        found(&bench, json!({"pattern": "*"})).await,
        ["good", "real"]
    );
}

#[tokio::test]
async fn grep_finds_lines_and_obeys_ignore_files() {
    let bench = tree();
    assert_eq!(
        hits(&bench, json!({"pattern": "TODO"})).await,
        ["src/keep.log:1:TODO kept", "src/main.rs:2:    // TODO: one"]
    );
    assert_eq!(
        hits(
            &bench,
            json!({"pattern": "todo", "ignoreCase": true, "glob": "*.rs"})
        )
        .await,
        [
            "src/deep/lib.rs:1:// todo two",
            "src/main.rs:2:    // TODO: one"
        ]
    );
    assert_eq!(
        hits(&bench, json!({"pattern": "TODO", "glob": "!*.log"})).await,
        ["src/main.rs:2:    // TODO: one"]
    );
    assert_eq!(
        hits(&bench, json!({"pattern": "main()", "literal": true})).await,
        ["src/main.rs:1:fn main() {"]
    );
    assert_eq!(
        hits(&bench, json!({"pattern": "^}$"})).await,
        ["src/main.rs:3:}"]
    );
    assert_eq!(
        hits(&bench, json!({"pattern": "TODO", "path": "notes.md"})).await,
        ["notes.md:1:TODO"]
    );
    assert_eq!(
        hits(&bench, json!({"pattern": "TODO", "path": "src/deep"})).await,
        [""; 0]
    );
    assert_eq!(
        hits(&bench, json!({"pattern": "TODO", "path": "blob.bin"})).await,
        [""; 0]
    );
}

#[tokio::test]
async fn grep_gives_context_to_the_right_match() {
    let bench = Bench::new();
    bench.put("f", "a\nhit 1\nb\nc\nhit 2\nd\n");
    let result = bench
        .ok("grep", json!({"pattern": "hit", "context": 1}))
        .await;
    let expected = json!([
        {"path": "f", "line": 2, "text": "hit 1", "before": ["a"], "after": ["b"]},
        {"path": "f", "line": 5, "text": "hit 2", "before": ["c"], "after": ["d"]},
    ]);
    assert_eq!(result["matches"], expected);
}

#[tokio::test]
async fn grep_is_bounded_in_matches_and_line_length() {
    let bench = Bench::with(|o, _| o.limits.grep_line_chars = 5);
    bench.put("f", "ééééé\néééééx\n");
    let all = bench.ok("grep", json!({"pattern": "é", "limit": 2})).await;
    assert_eq!(all["truncated"], false);
    assert_eq!(
        (&all["matches"][0]["text"], &all["matches"][1]["text"]),
        (&json!("ééééé"), &json!("ééééé […]"))
    );
    assert_eq!(
        bench.ok("grep", json!({"pattern": "é", "limit": 1})).await["truncated"],
        true
    );
    let bench = Bench::with(|o, _| o.limits.grep_file_bytes = 4);
    bench.put("f", "abc\nabc\n");
    let part = bench.ok("grep", json!({"pattern": "abc"})).await;
    assert_eq!(
        (
            part["matches"].as_array().unwrap().len(),
            &part["truncated"]
        ),
        (1, &json!(true))
    );
}

#[tokio::test]
async fn expressions_are_bounded_and_explained() {
    let bench = tree();
    for pattern in ["(", "a(?=b)", r"(\w{1000}){1000}", "a\\nb"] {
        let error = bench
            .call("grep", json!({"pattern": pattern}))
            .await
            .unwrap_err();
        assert_eq!(error.code(), "invalid_arguments", "{pattern}");
    }
    bench.put("evil", "a".repeat(100_000) + "!");
    let searched = bench.ok("grep", json!({"pattern": "(a*)*b", "path": "evil"}));
    let result = tokio::time::timeout(Duration::from_secs(30), searched)
        .await
        .unwrap();
    assert_eq!(result["matches"], json!([]));
}

#[tokio::test]
async fn a_long_search_ends_when_it_is_aborted() {
    let bench = Bench::new();
    bench.put("big", vec![b'a'; 60 * 1024 * 1024]);
    let ctx: CallContext = context();
    let abort = ctx.abort.clone();
    let search = bench.raw("grep", json!({"pattern": "b$"}), &ctx);
    let (result, ()) = tokio::join!(search, async { abort.cancel() });
    assert_eq!(result.unwrap_err().code(), "aborted");
}
