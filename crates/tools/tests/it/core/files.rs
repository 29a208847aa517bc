//! `read`, `write` and `ls`.

use std::fs;
use std::os::unix::fs::{MetadataExt as _, PermissionsExt as _};
use std::os::unix::net::UnixListener;
use std::time::Duration;

use codecell_tools::ContentBlock;
use codecell_tools::core::CoreLimits;
use rustix::fs::{CWD, Mode};
use serde_json::json;

use super::{Bench, context};

#[tokio::test]
async fn read_gives_lines_and_their_count() {
    let bench = Bench::new();
    bench.put("a.txt", "one\ntwo\nthree");
    let whole = bench.ok("read", json!({"path": "a.txt"})).await;
    let expected = json!({"path": "a.txt", "text": "one\ntwo\nthree", "startLine": 1, "totalLines": 3, "truncated": false});
    assert_eq!(whole, expected);
    let part = bench
        .ok("read", json!({"path": "./a.txt", "offset": 2, "limit": 1}))
        .await;
    let expected = json!({"path": "a.txt", "text": "two\n", "startLine": 2, "totalLines": 3, "truncated": true, "note": "go on with offset 3"});
    assert_eq!(part, expected);
    let last = bench
        .ok("read", json!({"path": "a.txt", "offset": 3, "limit": 9}))
        .await;
    assert_eq!(
        (&last["text"], &last["truncated"]),
        (&json!("three"), &json!(false))
    );
    assert_eq!(
        bench
            .code("read", json!({"path": "a.txt", "offset": 4}))
            .await,
        "invalid_arguments"
    );
}

#[tokio::test]
async fn an_empty_file_has_no_lines() {
    let bench = Bench::new();
    bench.put("empty", "");
    let empty = bench.ok("read", json!({"path": "empty"})).await;
    assert_eq!(
        empty,
        json!({"path": "empty", "text": "", "startLine": 1, "totalLines": 0, "truncated": false})
    );
}

#[tokio::test]
async fn read_stops_at_its_cap_between_lines_and_counts_on() {
    let bench = Bench::with(|o, _| {
        o.limits = CoreLimits {
            read_text_bytes: 10,
            ..CoreLimits::default()
        }
    });
    bench.put("fits", "1234\n6789\n");
    assert_eq!(
        bench.ok("read", json!({"path": "fits"})).await["truncated"],
        false
    );
    bench.put("over", "1234\n6789\nx\n");
    let over = bench.ok("read", json!({"path": "over"})).await;
    assert_eq!(
        (&over["text"], &over["totalLines"], &over["note"]),
        (
            &json!("1234\n6789\n"),
            &json!(3),
            &json!("go on with offset 3")
        )
    );
    bench.put("long", "12345678é0\nx\n");
    let long = bench.ok("read", json!({"path": "long"})).await;
    assert_eq!(
        (&long["text"], &long["truncated"]),
        (&json!("12345678é"), &json!(true))
    );
    bench.put("split", "123456789é\n");
    assert_eq!(
        bench.ok("read", json!({"path": "split"})).await["text"],
        "123456789"
    );
}

#[tokio::test]
async fn a_file_too_long_to_count_is_refused() {
    let bench = Bench::with(|o, _| o.limits.scan_bytes = 100);
    bench.put("at", vec![b'a'; 100]);
    bench.put("over", vec![b'a'; 101]);
    assert_eq!(
        bench.ok("read", json!({"path": "at"})).await["totalLines"],
        1
    );
    assert_eq!(
        bench.code("read", json!({"path": "over"})).await,
        "too_large"
    );
}

#[tokio::test]
async fn bytes_that_are_not_text_are_said_or_refused() {
    let bench = Bench::new();
    bench.put("latin", b"caf\xe9\n");
    let latin = bench.ok("read", json!({"path": "latin"})).await;
    assert_eq!(latin["text"], "caf\u{fffd}\n");
    assert!(
        latin["note"]
            .as_str()
            .unwrap()
            .starts_with("bytes that are not UTF-8 were replaced")
    );
    bench.put("binary", b"ab\0cd");
    assert_eq!(
        bench.code("read", json!({"path": "binary"})).await,
        "binary_file"
    );
}

#[tokio::test]
async fn an_image_comes_back_as_image_content() {
    let bench = Bench::with(|o, _| o.limits.image_bytes = 64);
    let png = [b"\x89PNG\r\n\x1a\n".as_slice(), &[7; 20]].concat();
    bench.put("a.txt", &png);
    let output = bench
        .raw("read", json!({"path": "a.txt"}), &context())
        .await
        .unwrap();
    assert_eq!(
        output.content,
        [ContentBlock::Image {
            mime_type: "image/png".to_owned(),
            data: png.into()
        }]
    );
    bench.put("b.gif", [b"GIF89a".as_slice(), &[7; 59]].concat());
    assert_eq!(
        bench.code("read", json!({"path": "b.gif"})).await,
        "too_large"
    );
}

#[tokio::test]
async fn what_is_no_regular_file_is_refused_without_waiting() {
    let bench = Bench::new();
    rustix::fs::mkfifoat(CWD, bench.path("pipe"), Mode::from_raw_mode(0o644)).unwrap();
    let _listener = UnixListener::bind(bench.path("socket")).unwrap();
    bench.put("dir/file", "x");
    for name in ["pipe", "socket", "dir"] {
        let calls = [
            ("read", json!({"path": name})),
            ("write", json!({"path": name, "content": "x"})),
            (
                "edit",
                json!({"path": name, "edits": [{"oldText": "a", "newText": "b"}]}),
            ),
            (
                "apply_patch",
                json!({"patch": format!("--- {name}\n+++ {name}\n@@ -1 +1 @@\n-a\n+b\n")}),
            ),
            (
                "apply_patch",
                json!({"patch": format!("*** Begin Patch\n*** Delete File: {name}\n*** End Patch")}),
            ),
        ];
        for (tool, args) in calls {
            let call = bench.code(tool, args.clone());
            let code = tokio::time::timeout(Duration::from_secs(20), call)
                .await
                .unwrap();
            assert_eq!(code, "not_a_file", "{tool} {args}");
        }
    }
    let found = tokio::time::timeout(
        Duration::from_secs(20),
        bench.ok("grep", json!({"pattern": "x"})),
    )
    .await
    .unwrap();
    assert_eq!(found["matches"].as_array().unwrap().len(), 1);
}

#[tokio::test]
async fn write_makes_directories_and_says_what_is_new() {
    let bench = Bench::new();
    let made = bench
        .ok("write", json!({"path": "a/b/c.txt", "content": "é"}))
        .await;
    assert_eq!(
        made,
        json!({"path": "a/b/c.txt", "bytes": 2, "created": true})
    );
    let replaced = bench
        .ok("write", json!({"path": "a/b/c.txt", "content": ""}))
        .await;
    assert_eq!(
        replaced,
        json!({"path": "a/b/c.txt", "bytes": 0, "created": false})
    );
    assert_eq!(bench.get("a/b/c.txt"), "");
    assert_eq!(super::names(&bench.path("a/b")), ["c.txt"]);
}

#[tokio::test]
async fn write_keeps_the_mode_and_replaces_the_file_as_a_whole() {
    let bench = Bench::new();
    bench.put("tool.sh", "old");
    fs::set_permissions(bench.path("tool.sh"), fs::Permissions::from_mode(0o4751)).unwrap();
    let before = fs::metadata(bench.path("tool.sh")).unwrap();
    bench
        .ok("write", json!({"path": "tool.sh", "content": "new"}))
        .await;
    let after = fs::metadata(bench.path("tool.sh")).unwrap();
    assert_eq!(
        after.mode() & 0o7777,
        0o751,
        "the mode is kept, set-user-id is not"
    );
    assert_ne!(
        before.ino(),
        after.ino(),
        "a reader of the old file goes on reading the old file"
    );
}

#[tokio::test]
async fn write_follows_a_link_that_stays_inside_and_keeps_it() {
    let bench = Bench::new();
    bench.put("real/file", "old");
    bench.link("real/file", "alias");
    let result = bench
        .ok("write", json!({"path": "alias", "content": "new"}))
        .await;
    assert_eq!(result["path"], "real/file");
    assert!(
        fs::symlink_metadata(bench.path("alias"))
            .unwrap()
            .is_symlink()
    );
    assert_eq!(bench.get("real/file"), "new");
}

#[tokio::test]
async fn write_has_a_limit() {
    let bench = Bench::with(|o, _| o.limits.write_bytes = 4);
    bench
        .ok("write", json!({"path": "a", "content": "1234"}))
        .await;
    assert_eq!(
        bench
            .code("write", json!({"path": "a", "content": "12345"}))
            .await,
        "too_large"
    );
    assert_eq!(bench.get("a"), "1234");
}

#[tokio::test]
async fn ls_lists_by_name_with_kinds_and_sizes() {
    let bench = Bench::new();
    bench.put("b.txt", "12345");
    bench.put(".hidden", "1");
    bench.put("a/x", "");
    bench.link("nowhere", "l");
    let all = bench.ok("ls", json!({})).await;
    let expected = json!({"entries": [
        {"name": ".hidden", "type": "file", "bytes": 1},
        {"name": "a", "type": "directory", "bytes": 0},
        {"name": "b.txt", "type": "file", "bytes": 5},
        {"name": "l", "type": "link", "bytes": 0},
    ], "truncated": false});
    assert_eq!(all, expected);
    assert_eq!(
        bench.ok("ls", json!({"limit": 4})).await["truncated"],
        false
    );
    assert_eq!(bench.ok("ls", json!({"limit": 3})).await["truncated"], true);
    assert_eq!(
        bench.code("ls", json!({"path": "b.txt"})).await,
        "not_a_directory"
    );
    assert_eq!(bench.code("ls", json!({"path": "no"})).await, "not_found");
}
