//! A full disk and a read-only file system: clear errors, and the old file stays.

use std::path::Path;
use std::process::{Command, Stdio};

use serde_json::json;

use super::Bench;

/// A small file system of its own, where the test may mount one.
struct Mount<'a>(&'a Path);

impl<'a> Mount<'a> {
    fn new(at: &'a Path) -> Option<Self> {
        let status = Command::new("mount")
            .args(["-t", "tmpfs", "-o", "size=64k", "none"])
            .arg(at)
            .stderr(Stdio::null())
            .status();
        let mounted = status.is_ok_and(|status| status.success());
        mounted.then_some(Self(at))
    }

    fn make_read_only(&self) {
        let status = Command::new("mount")
            .args(["-o", "remount,ro"])
            .arg(self.0)
            .status()
            .unwrap();
        assert!(status.success());
    }
}

impl Drop for Mount<'_> {
    fn drop(&mut self) {
        let _left = Command::new("umount").arg(self.0).status();
    }
}

#[tokio::test]
async fn a_full_disk_leaves_the_old_file_and_says_so() {
    let bench = Bench::new();
    std::fs::create_dir(bench.path("disk")).unwrap();
    let disk = bench.path("disk");
    let Some(mount) = Mount::new(&disk) else {
        println!("skipped: this user cannot mount a small file system");
        return;
    };
    bench.put("disk/f", "old\n");
    let big = "x".repeat(200_000);
    let calls = [
        ("write", json!({"path": "disk/f", "content": big})),
        ("write", json!({"path": "disk/new/g", "content": big})),
        (
            "edit",
            json!({"path": "disk/f", "edits": [{"oldText": "old", "newText": big}]}),
        ),
        (
            "apply_patch",
            json!({"patch": format!("--- disk/f\n+++ disk/f\n@@ -1 +1 @@\n-old\n+{big}\n")}),
        ),
    ];
    for (tool, args) in calls {
        let error = bench.call(tool, args).await.unwrap_err();
        assert_eq!(error.code(), "no_space", "{tool}: {error}");
        assert_eq!(bench.get("disk/f"), "old\n");
        assert_eq!(super::names(&disk), ["f"], "{tool} left something behind");
    }
    mount.make_read_only();
    let calls = [
        ("write", json!({"path": "disk/f", "content": "new"})),
        (
            "edit",
            json!({"path": "disk/f", "edits": [{"oldText": "old", "newText": "new"}]}),
        ),
        (
            "apply_patch",
            json!({"patch": "*** Begin Patch\n*** Delete File: disk/f\n*** End Patch"}),
        ),
    ];
    for (tool, args) in calls {
        assert_eq!(bench.code(tool, args).await, "read_only", "{tool}");
    }
    assert_eq!(bench.get("disk/f"), "old\n");
}
