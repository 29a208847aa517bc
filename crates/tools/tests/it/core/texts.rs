//! What a model reads when a call fails: one line for each way, as a snapshot.

use serde_json::{Value, json};

use super::Bench;

#[tokio::test]
async fn error_texts() {
    let bench = Bench::with(|o, outside| {
        o.denied = vec![outside.join("state")];
        o.limits.write_bytes = 64;
        o.limits.image_bytes = 10;
        o.child_env.clear();
    });
    bench.put("f.txt", "alpha\nbeta\nbeta\n");
    bench.put("bin", b"a\0b");
    bench.put("big.png", b"\x89PNG\r\n\x1a\n0123456789");
    bench.put(".git/config", "");
    bench.put("large", "x".repeat(65));
    bench.link(".git", "alias");
    bench.link("loop", "loop");
    bench.link(bench.outside.path(), "out");
    let edit = |path: &str, old: &str| json!({"path": path, "edits": [{"oldText": old, "newText": "new"}]});
    let cases: Vec<(&str, Value)> = vec![
        ("read", json!({"path": "nothing-like-it"})),
        ("read", json!({"path": "F.text"})),
        ("read", json!({"path": ""})),
        ("read", json!({"path": "../x"})),
        ("read", json!({"path": "out/secret"})),
        ("read", json!({"path": "loop"})),
        ("read", json!({"path": ".git"})),
        ("read", json!({"path": "f.txt/x"})),
        ("read", json!({"path": "bin"})),
        ("read", json!({"path": "big.png"})),
        ("read", json!({"path": "f.txt", "offset": 9})),
        ("write", json!({"path": "w", "content": "x".repeat(65)})),
        ("write", json!({"path": "alias/config", "content": "x"})),
        ("edit", edit("large", "x")),
        ("edit", edit("f.txt", "beta")),
        ("edit", edit("f.txt", "alpho")),
        ("edit", edit("bin", "zz")),
        (
            "apply_patch",
            json!({"patch": "*** Begin Patch\n*** Add File: f.txt\n+x\n*** End Patch"}),
        ),
        (
            "apply_patch",
            json!({"patch": "--- f.txt\n+++ f.txt\n@@ -1 +1 @@\n-gamma\n+x\n"}),
        ),
        ("apply_patch", json!({"patch": "nothing"})),
        ("ls", json!({"path": "f.txt"})),
        ("find", json!({"pattern": "["})),
        ("grep", json!({"pattern": "("})),
        ("grep", json!({"pattern": "a", "glob": "["})),
        ("exec", json!({"command": "true", "env": {"A B": ""}})),
        ("exec", json!({"command": "true", "cwd": "f.txt"})),
        ("process", json!({"action": "poll"})),
        ("process", json!({"action": "poll", "sessionId": "bg9"})),
        ("web_fetch", json!({"url": "ftp://example.org/"})),
        ("web_fetch", json!({"url": "nonsense"})),
        ("web_fetch", json!({"url": "http://u:p@example.org/"})),
        ("web_fetch", json!({"url": "http://127.0.0.1:9/"})),
    ];
    let mut lines = String::new();
    for (tool, args) in cases {
        let error = bench.call(tool, args).await.unwrap_err();
        lines += &format!(
            "{tool}: {} [{:?}]: {}\n",
            error.code(),
            error.effect(),
            error.message()
        );
    }
    assert!(
        !lines.contains(bench.inside.path().to_str().unwrap()),
        "a path of the host"
    );
    insta::assert_snapshot!(lines);
}
