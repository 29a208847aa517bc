//! Nothing outside is reached, whatever a path or a link says.

use std::fs;
use std::path::Path;

use codecell_tools::ToolInput;
use codecell_tools::core::{CoreOptions, CoreTools, OpenMethod};
use serde_json::{Value, json};

use super::{Bench, SENTINEL, context, names};

fn both_ways() -> [Bench; 2] {
    [OpenMethod::Detect, OpenMethod::ComponentsOnly]
        .map(|method| Bench::with(|o, _| o.open_method = method))
}

/// Every file tool on one path.
fn calls(path: &str) -> Vec<(&'static str, Value)> {
    vec![
        ("read", json!({"path": path})),
        ("write", json!({"path": path, "content": "ATTACK"})),
        (
            "edit",
            json!({"path": path, "edits": [{"oldText": SENTINEL, "newText": "ATTACK"}]}),
        ),
        (
            "apply_patch",
            json!({"patch": format!("*** Begin Patch\n*** Update File: {path}\n-{SENTINEL}\n+ATTACK\n*** End Patch")}),
        ),
        (
            "apply_patch",
            json!({"patch": format!("*** Begin Patch\n*** Delete File: {path}\n*** End Patch")}),
        ),
        (
            "apply_patch",
            json!({"patch": format!("*** Begin Patch\n*** Update File: mine\n*** Move to: {path}\n*** End Patch")}),
        ),
        ("ls", json!({"path": path})),
        ("find", json!({"path": path, "pattern": "*"})),
        ("grep", json!({"path": path, "pattern": "."})),
        ("exec", json!({"command": "cat secret", "cwd": path})),
    ]
}

#[tokio::test]
async fn paths_that_leave_are_refused_by_every_tool() {
    for bench in both_ways() {
        let out = bench.outside.path().to_str().unwrap().to_owned();
        let out_name = bench
            .outside
            .path()
            .file_name()
            .unwrap()
            .to_str()
            .unwrap()
            .to_owned();
        bench.put("mine", "x");
        bench.put("dir/sub/file", "x");
        bench.link(&out, "out");
        bench.link(format!("../{out_name}"), "relative");
        bench.link(format!("{out}/secret"), "file");
        bench.link("../../..", "dir/up");
        bench.link("file", "chain");
        let paths = [
            format!("../{out_name}/secret"),
            format!("dir/sub/../../../{out_name}/secret"),
            format!("{out}/secret"),
            out.clone(),
            "/etc/passwd".to_owned(),
            "/".to_owned(),
            "..".to_owned(),
            "out".to_owned(),
            "out/secret".to_owned(),
            "relative/secret".to_owned(),
            "file".to_owned(),
            "chain".to_owned(),
            format!("dir/up/{out_name}/secret"),
            format!("/proc/self/{}/etc/passwd", "root"),
        ];
        for path in paths {
            for (tool, args) in calls(&path) {
                assert_eq!(
                    bench.code(tool, args.clone()).await,
                    "outside_workspace",
                    "{tool} {args}"
                );
            }
        }
        assert_eq!(names(bench.outside.path()), ["secret"]);
        assert_eq!(
            fs::read_to_string(bench.outside.path().join("secret")).unwrap(),
            SENTINEL
        );
    }
}

#[tokio::test]
async fn searches_pass_by_links_that_leave() {
    for bench in both_ways() {
        bench.link(bench.outside.path(), "out");
        bench.link(bench.outside.path().join("secret"), "file");
        bench.put("mine", "x");
        assert_eq!(
            bench.ok("find", json!({"pattern": "**/*"})).await["paths"],
            json!(["mine"])
        );
        assert_eq!(
            bench.ok("grep", json!({"pattern": "SECRET"})).await["matches"],
            json!([])
        );
    }
}

#[tokio::test]
async fn paths_that_stay_inside_are_taken_in_every_form() {
    for bench in both_ways() {
        bench.put("dir/sub/file", "text");
        let root = bench.inside.path().to_str().unwrap().to_owned();
        bench.link("sub", "dir/link");
        bench.link(format!("{root}/dir"), "absolute");
        bench.link("../dir/sub", "dir/back");
        let paths = [
            "dir/sub/file".to_owned(),
            "./dir//sub/./file".to_owned(),
            "dir/sub/../sub/file".to_owned(),
            "dir/link/file".to_owned(),
            "dir/link/../sub/file".to_owned(),
            "absolute/sub/file".to_owned(),
            "dir/back/file".to_owned(),
            format!("{root}/dir/sub/file"),
        ];
        for path in paths {
            let read = bench.ok("read", json!({"path": path})).await;
            assert_eq!(
                (&read["path"], &read["text"]),
                (&json!("dir/sub/file"), &json!("text")),
                "{path}"
            );
        }
    }
}

#[tokio::test]
async fn link_loops_and_bent_paths_end_with_an_error() {
    for bench in both_ways() {
        bench.link("b", "a");
        bench.link("a", "b");
        bench.link(".", "self");
        bench.put("file", "x");
        assert_eq!(bench.code("read", json!({"path": "a"})).await, "link_loop");
        assert_eq!(
            bench
                .code("read", json!({"path": "self/".repeat(41) + "file"}))
                .await,
            "link_loop"
        );
        assert_eq!(
            bench
                .ok("read", json!({"path": "self/".repeat(40) + "file"}))
                .await["path"],
            "file"
        );
        assert_eq!(
            bench.code("read", json!({"path": "d/".repeat(129)})).await,
            "not_found"
        );
        assert_eq!(
            bench.code("read", json!({"path": "./".repeat(3000)})).await,
            "invalid_arguments"
        );
        assert_eq!(
            bench.code("read", json!({"path": "file/x"})).await,
            "not_a_directory"
        );
        assert_eq!(
            bench
                .code("write", json!({"path": "new/../../x", "content": ""}))
                .await,
            "not_found"
        );
        assert_eq!(
            bench.code("read", json!({"path": "a\0b"})).await,
            "invalid_arguments"
        );
        assert_eq!(
            bench.code("read", json!({"path": ""})).await,
            "invalid_arguments"
        );
    }
}

#[tokio::test]
async fn denied_directories_are_closed_by_every_name() {
    for method in [OpenMethod::Detect, OpenMethod::ComponentsOnly] {
        let home = tempfile::tempdir().unwrap();
        let mut options = CoreOptions::new(home.path());
        options.open_method = method;
        options.denied = vec![
            home.path().join(".state"),
            home.path().join("later"),
            home.path().join("key.pem"),
        ];
        options.child_env = vec![("PATH".to_owned(), "/usr/bin:/bin".to_owned())];
        let bench = Bench {
            inside: home,
            outside: tempfile::tempdir().unwrap(),
            tools: CoreTools::new(&options).unwrap(),
        };
        bench.put(".state/keys/secret", SENTINEL);
        bench.put("key.pem", SENTINEL);
        bench.put("later/secret", SENTINEL);
        bench.put("mine", "x");
        bench.link(".state/keys", "alias");
        let paths = [
            ".state",
            ".state/keys",
            ".state/keys/secret",
            ".state/new",
            "alias",
            "alias/secret",
            "alias/../x",
            "later/secret",
            "key.pem",
            "alias/../../mine",
        ];
        for path in paths {
            for (tool, args) in calls(path) {
                assert_eq!(
                    bench.code(tool, args.clone()).await,
                    "denied_path",
                    "{tool} {args}"
                );
            }
        }
        fs::rename(bench.path(".state"), bench.path("moved")).unwrap();
        fs::create_dir(bench.path(".state")).unwrap();
        assert_eq!(
            bench.ok("find", json!({"pattern": "*"})).await["paths"],
            json!(["mine", "moved/keys/secret"])
        );
        fs::remove_dir(bench.path(".state")).unwrap();
        fs::rename(bench.path("moved"), bench.path(".state")).unwrap();
        assert_eq!(
            bench.ok("find", json!({"pattern": "{.*,*}"})).await["paths"],
            json!(["mine"])
        );
        assert_eq!(
            bench.ok("grep", json!({"pattern": "SECRET"})).await["matches"],
            json!([])
        );
        let listed = bench.ok("ls", json!({})).await.to_string();
        assert!(
            !listed.contains("key.pem") && !listed.contains(".state") && !listed.contains("later"),
            "{listed}"
        );
    }
}

#[test]
fn a_workspace_in_a_denied_directory_is_refused() {
    let state = tempfile::tempdir().unwrap();
    fs::create_dir_all(state.path().join("a/b")).unwrap();
    let mut options = CoreOptions::new(state.path().join("a/b"));
    options.denied = vec![state.path().to_owned()];
    assert_eq!(CoreTools::new(&options).unwrap_err().code(), "denied_path");
}

#[tokio::test]
async fn a_change_in_git_has_a_question_of_its_own() {
    let bench = Bench::new();
    bench.put(".git/config", "old");
    bench.link(".git", "plain");
    let keys = |tool: &str, args: Value| -> Vec<String> {
        let needs = bench
            .tool(tool)
            .approvals(&ToolInput::new(args), &context())
            .unwrap();
        needs.into_iter().map(|need| need.key).collect()
    };
    for path in [
        ".git/config",
        "a/../.GIT/hooks/x",
        &bench.path(".git/config").display().to_string(),
    ] {
        assert_eq!(
            keys("write", json!({"path": path, "content": ""})),
            ["call", "git"],
            "{path}"
        );
    }
    let patch = "*** Begin Patch\n*** Update File: a\n*** Move to: .git/hooks/x\n*** End Patch";
    assert_eq!(
        keys("apply_patch", json!({"patch": patch})),
        ["call", "git"]
    );
    assert_eq!(
        keys("edit", json!({"path": ".git/x", "edits": []})),
        ["call", "git"]
    );
    assert_eq!(
        keys("write", json!({"path": ".github/x", "content": ""})),
        ["call"]
    );
    let executable =
        "diff --git a/x b/x\nnew file mode 100755\n--- /dev/null\n+++ b/x\n@@ -0,0 +1 @@\n+a\n";
    assert_eq!(
        keys("apply_patch", json!({"patch": executable})),
        ["call", "executable"]
    );
    assert_eq!(keys("read", json!({"path": ".git/config"})), [""; 0]);
    // A link that hides the name was not asked about, so it is not followed.
    assert_eq!(
        bench
            .code("write", json!({"path": "plain/config", "content": "x"}))
            .await,
        "needs_approval"
    );
    assert_eq!(bench.get(".git/config"), "old");
    bench
        .ok("write", json!({"path": ".git/config", "content": "new"}))
        .await;
}

#[tokio::test]
async fn the_real_tree_is_confined_by_the_kernel_where_it_can() {
    let kernel = Bench::new();
    let plain = Bench::with(|o, _| o.open_method = OpenMethod::ComponentsOnly);
    assert!(!plain.tools.workspace().is_kernel_confined());
    let version = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    if version
        .split('.')
        .next()
        .and_then(|major| major.parse::<u32>().ok())
        .is_some_and(|major| major >= 6)
    {
        assert!(kernel.tools.workspace().is_kernel_confined());
    } else {
        println!("skipped: kernel {version:?} may be without openat2");
    }
    assert!(Path::new(kernel.tools.workspace().root_path()).is_absolute());
}
