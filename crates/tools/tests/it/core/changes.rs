//! `edit`: all or nothing, once and only once.

use serde_json::{Value, json};

use super::{Bench, context};

async fn edit(bench: &Bench, edits: &[(&str, &str)]) -> Result<Value, String> {
    let edits: Vec<Value> = edits
        .iter()
        .map(|(old, new)| json!({"oldText": old, "newText": new}))
        .collect();
    let result = bench
        .call("edit", json!({"path": "f", "edits": edits}))
        .await;
    result.map_err(|error| error.message().to_owned())
}

#[tokio::test]
async fn edits_are_made_together_and_shown_as_a_diff() {
    let bench = Bench::new();
    bench.put("f", "one\ntwo\nthree\n");
    let result = edit(&bench, &[("three", "3"), ("one", "1\n1.5")])
        .await
        .unwrap();
    assert_eq!(bench.get("f"), "1\n1.5\ntwo\n3\n");
    let diff = "--- a/f\n+++ b/f\n@@ -1,3 +1,4 @@\n-one\n+1\n+1.5\n two\n-three\n+3\n";
    assert_eq!(result, json!({"path": "f", "replaced": 2, "diff": diff}));
    assert_eq!(bench.names(), ["f"]);
}

#[tokio::test]
async fn an_edit_that_does_not_fit_changes_nothing() {
    let bench = Bench::new();
    let text = "let alpha = 1;\nlet beta = 2;\nlet beta = 2;\naaa\n";
    bench.put("f", text);
    let cases: [(&[(&str, &str)], &str); 6] = [
        (
            &[("alpha", "x"), ("let gamma = 1;", "x")],
            "edit 2 of 2: oldText is not in `f`; nothing was changed; the nearest line is 1: \"let alpha = 1;\"",
        ),
        (
            &[("let beta", "x")],
            "edit 1 of 1: oldText is in `f` 2 times (lines 2 and 3); nothing was changed, add lines around it",
        ),
        (
            &[("aa", "x")],
            "edit 1 of 1: oldText is in `f` 2 times (lines 4 and 4); nothing was changed, add lines around it",
        ),
        (
            &[("", "x")],
            "edit 1 of 1: oldText is empty; to add text, give a passage beside it and repeat that in newText",
        ),
        (
            &[("alpha", "alpha")],
            "edit 1 of 1: oldText and newText are the same",
        ),
        (
            &[("alpha = 1", "x"), ("1;\nlet", "y")],
            "edits 1 and 2 overlap at line 1; nothing was changed, join them into one",
        ),
    ];
    for (edits, expected) in cases {
        assert_eq!(edit(&bench, edits).await.unwrap_err(), expected);
        assert_eq!(bench.get("f"), text);
    }
}

#[tokio::test]
async fn line_ends_of_the_file_are_kept() {
    let bench = Bench::new();
    bench.put("f", "a\r\nb\r\nc\r\n");
    edit(&bench, &[("a\nb", "x\ny")]).await.unwrap();
    assert_eq!(bench.get("f"), "x\r\ny\r\nc\r\n");
    edit(&bench, &[("c", "1\n2")]).await.unwrap();
    assert_eq!(bench.get("f"), "x\r\ny\r\n1\r\n2\r\n");
}

#[tokio::test]
async fn a_file_that_is_no_text_is_not_edited() {
    let bench = Bench::new();
    bench.put("f", b"caf\xe9");
    assert_eq!(
        bench
            .code(
                "edit",
                json!({"path": "f", "edits": [{"oldText": "c", "newText": "d"}]})
            )
            .await,
        "binary_file"
    );
}

#[tokio::test]
async fn edits_at_the_same_time_do_not_lose_each_other() {
    let bench = Bench::new();
    let lines: Vec<String> = (0..24).map(|n| format!("<{n}>\n")).collect();
    bench.put("f", lines.concat());
    let calls = (0..24).map(|n| bench.call("edit", json!({"path": "f", "edits": [{"oldText": format!("<{n}>"), "newText": format!("[{n}]")}]})));
    for result in futures::future::join_all(calls).await {
        result.unwrap();
    }
    let expected: Vec<String> = (0..24).map(|n| format!("[{n}]\n")).collect();
    assert_eq!(bench.get("f"), expected.concat());
}

#[tokio::test]
async fn an_aborted_call_changes_nothing() {
    let bench = Bench::new();
    bench.put("f", "old");
    let ctx = context();
    ctx.abort.cancel();
    for (tool, args) in [
        ("write", json!({"path": "f", "content": "new"})),
        (
            "edit",
            json!({"path": "f", "edits": [{"oldText": "old", "newText": "new"}]}),
        ),
        (
            "apply_patch",
            json!({"patch": "--- f\n+++ f\n@@ -1 +1 @@\n-old\n+new\n"}),
        ),
        ("read", json!({"path": "f"})),
        ("grep", json!({"pattern": "o"})),
        ("find", json!({"pattern": "*"})),
        ("ls", json!({})),
    ] {
        assert_eq!(
            bench.raw(tool, args, &ctx).await.unwrap_err().code(),
            "aborted",
            "{tool}"
        );
    }
    assert_eq!(bench.get("f"), "old");
}
