//! `apply_patch`: both forms, all or nothing over many files.

use std::fs;
use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use super::Bench;

const MANY: &str = "*** Begin Patch
*** Add File: new/dir/added.txt
+hello
+world
*** Update File: src/a.rs
@@ fn two() {
-    1
+    2
@@
-last
+LAST
*** Update File: old.txt
*** Move to: moved/new.txt
@@
-x
+y
*** Delete File: gone.txt
*** End Patch
";

fn many() -> Bench {
    let bench = Bench::new();
    bench.put(
        "src/a.rs",
        "fn one() {\n    1\n}\nfn two() {\n    1\n}\nlast\n",
    );
    bench.put("old.txt", "x\n");
    bench.put("gone.txt", b"\0binary");
    bench
}

#[tokio::test]
async fn the_begin_form_adds_updates_moves_and_deletes() {
    let bench = many();
    let result = bench.ok("apply_patch", json!({"patch": MANY})).await;
    let expected = json!({"files": [
        {"path": "new/dir/added.txt", "action": "added"},
        {"path": "src/a.rs", "action": "updated"},
        {"path": "moved/new.txt", "action": "moved", "from": "old.txt"},
        {"path": "gone.txt", "action": "deleted"},
    ]});
    assert_eq!(result, expected);
    assert_eq!(bench.get("new/dir/added.txt"), "hello\nworld\n");
    assert_eq!(
        bench.get("src/a.rs"),
        "fn one() {\n    1\n}\nfn two() {\n    2\n}\nLAST\n"
    );
    assert_eq!(bench.get("moved/new.txt"), "y\n");
    assert_eq!(bench.names(), ["moved", "new", "src"]);
}

#[tokio::test]
async fn one_file_that_does_not_fit_leaves_all_as_they_were() {
    type Spoiler = (&'static str, fn(&Bench), &'static str);
    let spoilers: [Spoiler; 4] = [
        (
            "a context that is gone",
            |b| b.put("old.txt", "z\n"),
            "bad_patch",
        ),
        (
            "a file to delete that is missing",
            |b| fs::remove_file(b.path("gone.txt")).unwrap(),
            "not_found",
        ),
        (
            "a name that is taken",
            |b| b.put("moved/new.txt", ""),
            "already_exists",
        ),
        (
            "a link that leaves",
            |b| b.link(b.outside.path(), "moved"),
            "outside_workspace",
        ),
    ];
    for (what, spoil, code) in spoilers {
        let bench = many();
        spoil(&bench);
        let before = (bench.names(), bench.get("src/a.rs"), bench.get("old.txt"));
        assert_eq!(
            bench.code("apply_patch", json!({"patch": MANY})).await,
            code,
            "{what}"
        );
        assert_eq!(
            (bench.names(), bench.get("src/a.rs"), bench.get("old.txt")),
            before,
            "{what}"
        );
    }
}

/// A file that even the superuser cannot replace, where the file system has such a thing.
fn immutable(path: &std::path::Path, on: bool) -> bool {
    let flag = if on { "+i" } else { "-i" };
    let status = std::process::Command::new("chattr")
        .arg(flag)
        .arg(path)
        .stderr(std::process::Stdio::null())
        .status();
    status.is_ok_and(|status| status.success())
}

#[tokio::test]
async fn a_failure_while_files_are_put_in_place_takes_the_earlier_ones_back() {
    let bench = Bench::new();
    for name in ["a", "b", "gone", "moving"] {
        bench.put(name, "1\n");
    }
    if !immutable(&bench.path("b"), true) {
        println!("skipped: no immutable files here");
        return;
    }
    let patch = "*** Begin Patch\n*** Update File: a\n-1\n+2\n*** Add File: dir/new\n+x\n*** Delete File: gone\n\
        *** Update File: moving\n*** Move to: moved\n*** Update File: b\n-1\n+2\n*** End Patch";
    let code = bench.code("apply_patch", json!({"patch": patch})).await;
    assert!(immutable(&bench.path("b"), false));
    assert_eq!(code, "permission_denied");
    for name in ["a", "b", "gone", "moving"] {
        assert_eq!(bench.get(name), "1\n", "{name}");
    }
    assert_eq!(bench.names(), ["a", "b", "gone", "moving"]);
}

#[tokio::test]
async fn git_diffs_are_understood() {
    let bench = Bench::new();
    bench.put("keep.sh", "one\ntwo\nthree\n");
    bench.put("ren.txt", "same\n");
    bench.put("del.txt", "bye\n");
    bench.put("mode.sh", "#!\n");
    let patch = "From 0123 Mon Sep 17 00:00:00 2001
Subject: [PATCH] several

---
 keep.sh | 2 +-

diff --git a/keep.sh b/keep.sh
index 111..222 100644
--- a/keep.sh
+++ b/keep.sh
@@ -1,3 +1,3 @@ some section
 one
-two
+2
 three
diff --git a/ren.txt b/dir/ren.txt
similarity index 100%
rename from ren.txt
rename to dir/ren.txt
diff --git a/del.txt b/del.txt
deleted file mode 100644
index 111..000
--- a/del.txt
+++ /dev/null
@@ -1 +0,0 @@
-bye
diff --git a/add.sh b/add.sh
new file mode 100755
--- /dev/null
+++ b/add.sh
@@ -0,0 +1,2 @@
+#!/bin/sh
+true
\\ No newline at end of file
diff --git a/mode.sh b/mode.sh
old mode 100644
new mode 100755
-- 
2.40.0
";
    let result = bench.ok("apply_patch", json!({"patch": patch})).await;
    let actions: Vec<_> = result["files"]
        .as_array()
        .unwrap()
        .iter()
        .map(|f| {
            format!(
                "{} {}",
                f["action"].as_str().unwrap(),
                f["path"].as_str().unwrap()
            )
        })
        .collect();
    assert_eq!(
        actions,
        [
            "updated keep.sh",
            "moved dir/ren.txt",
            "deleted del.txt",
            "added add.sh",
            "updated mode.sh"
        ]
    );
    assert_eq!(bench.get("keep.sh"), "one\n2\nthree\n");
    assert_eq!(bench.get("add.sh"), "#!/bin/sh\ntrue");
    for name in ["add.sh", "mode.sh"] {
        assert_eq!(
            fs::metadata(bench.path(name)).unwrap().permissions().mode() & 0o111,
            0o111,
            "{name}"
        );
    }
    assert_eq!(bench.names(), ["add.sh", "dir", "keep.sh", "mode.sh"]);
}

#[tokio::test]
async fn what_cannot_be_understood_is_refused_with_its_line() {
    let bench = Bench::new();
    bench.put("f", "a\n");
    let cases = [
        (
            "hello",
            "the patch names no file: give a unified diff with --- and +++ lines, or the form that begins with *** Begin Patch",
        ),
        (
            "*** Begin Patch\n*** Update File: f\n-a\n+b\n",
            "line 4 of the patch: *** End Patch is missing; nothing was changed",
        ),
        (
            "*** Begin Patch\n*** Update File: f\nxx\n*** End Patch",
            "line 3 of the patch: a line of a hunk begins with space, - or +; nothing was changed",
        ),
        (
            "*** Begin Patch\n*** Add File: n\nxx\n*** End Patch",
            "line 3 of the patch: every line of an added file begins with +; nothing was changed",
        ),
        (
            "@@ -1 +1 @@\n-a\n+b\n",
            "line 1 of the patch: a hunk without --- and +++ lines before it; nothing was changed",
        ),
        (
            "diff --git a/l b/l\nnew file mode 120000\n--- /dev/null\n+++ b/l\n@@ -0,0 +1 @@\n+/etc\n",
            "line 2 of the patch: only regular files (mode 100644 or 100755) can be made; nothing was changed",
        ),
        (
            "--- f\n+++ f\n@@ -1 +1 @@\n-a\n+b\n--- f\n+++ f\n@@ -1 +1 @@\n-a\n+c\n",
            "the patch names `f` twice; put all its hunks under one header. Nothing was changed",
        ),
        (
            "--- a/\n+++ b/\n@@ -1 +1 @@\n-a\n+b\n",
            "the patch names a file whose path is empty; give every path, relative to the workspace",
        ),
        (
            "diff --git a/f b/g\nrename from f\nrename to \n",
            "the patch names a file whose path is empty; give every path, relative to the workspace",
        ),
    ];
    for (patch, expected) in cases {
        let error = bench
            .call("apply_patch", json!({"patch": patch}))
            .await
            .unwrap_err();
        assert_eq!(error.message(), expected);
    }
    assert_eq!(
        (bench.get("f"), bench.names()),
        ("a\n".to_owned(), vec!["f".to_owned()])
    );
}

#[tokio::test]
async fn a_fenced_patch_is_taken() {
    let bench = Bench::new();
    bench.put("f", "a\n");
    bench
        .ok(
            "apply_patch",
            json!({"patch": "```diff\n--- a/f\n+++ b/f\n@@ -1 +1 @@\n-a\n+b\n```\n"}),
        )
        .await;
    assert_eq!(bench.get("f"), "b\n");
}
