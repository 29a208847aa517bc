//! A thread swaps files and directories for links that leave while every tool runs against them.
//!
//! `CODECELL_LONG_TESTS=1` makes it half a minute.

use std::fs;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

use codecell_tools::core::OpenMethod;
use rustix::fs::{CWD, RenameFlags, renameat_with};
use serde_json::{Value, json};

use super::{Bench, SENTINEL, names};

const ROUNDS: usize = 50;

/// Exchanges two names until it is dropped.
struct Swapper {
    stop: Arc<AtomicBool>,
    thread: Option<JoinHandle<()>>,
}

impl Swapper {
    fn start(pairs: Vec<(PathBuf, PathBuf)>) -> Self {
        let stop = Arc::new(AtomicBool::new(false));
        let seen = Arc::clone(&stop);
        let thread = std::thread::spawn(move || {
            while !seen.load(Ordering::Relaxed) {
                for (a, b) in &pairs {
                    // A tool may hold a name at this moment; the next round tries again.
                    let _missed = renameat_with(CWD, a, CWD, b, RenameFlags::EXCHANGE);
                }
            }
        });
        Self {
            stop,
            thread: Some(thread),
        }
    }
}

impl Drop for Swapper {
    fn drop(&mut self) {
        self.stop.store(true, Ordering::Relaxed);
        self.thread.take().unwrap().join().unwrap();
    }
}

fn calls(round: usize) -> Vec<(&'static str, Value)> {
    let update = |path: &str| {
        format!(
            "*** Begin Patch\n*** Update File: {path}\n@@\n-inside\n+inside\n+ATTACK\n*** End Patch"
        )
    };
    let add = format!("*** Begin Patch\n*** Add File: d/added{round}\n+ATTACK\n*** End Patch");
    let delete = format!("*** Begin Patch\n*** Delete File: d/added{round}\n*** End Patch");
    let edit = |path: &str| json!({"path": path, "edits": [{"oldText": "inside", "newText": "inside and ATTACK"}]});
    vec![
        ("read", json!({"path": "f"})),
        ("read", json!({"path": "d/secret"})),
        ("read", json!({"path": "d/deep/../secret"})),
        ("ls", json!({"path": "d"})),
        ("find", json!({"pattern": "*"})),
        ("find", json!({"pattern": "*", "path": "d"})),
        ("grep", json!({"pattern": "THE|inside"})),
        ("grep", json!({"pattern": "THE|inside", "path": "d"})),
        ("grep", json!({"pattern": "THE|inside", "path": "f"})),
        ("edit", edit("f")),
        ("edit", edit("d/secret")),
        ("apply_patch", json!({"patch": update("f")})),
        ("apply_patch", json!({"patch": update("d/secret")})),
        ("apply_patch", json!({"patch": add})),
        ("apply_patch", json!({"patch": delete})),
        ("write", json!({"path": "f", "content": "inside"})),
        ("write", json!({"path": "d/secret", "content": "inside"})),
        ("write", json!({"path": "d/made/new", "content": "ATTACK"})),
    ]
}

fn long() -> bool {
    std::env::var_os("CODECELL_LONG_TESTS").is_some_and(|value| value == "1")
}

/// Gives the numbers of rounds, and of calls that went through and were refused.
async fn race(method: OpenMethod) -> [usize; 3] {
    let bench = Bench::with(|o, _| o.open_method = method);
    fs::create_dir(bench.outside.path().join("deep")).unwrap();
    fs::write(bench.outside.path().join("deep/secret"), SENTINEL).unwrap();
    bench.put("f", "inside");
    bench.put("d/secret", "inside");
    bench.put("d/deep/x", "inside");
    bench.link(bench.outside.path().join("secret"), "f2");
    bench.link(bench.outside.path(), "d2");
    let pairs = [("f", "f2"), ("d", "d2")].map(|(a, b)| (bench.path(a), bench.path(b)));
    let swapper = Swapper::start(pairs.to_vec());
    let until = Instant::now() + Duration::from_secs(if long() { 30 } else { 0 });
    let (mut allowed, mut refused, mut round) = (0, 0, 0usize);
    while round < ROUNDS || Instant::now() < until {
        round += 1;
        for (tool, args) in calls(round) {
            match bench.call(tool, args.clone()).await {
                Ok(value) => {
                    allowed += 1;
                    assert!(
                        !value.to_string().contains("SECRET"),
                        "{tool} {args} gave {value}"
                    );
                }
                Err(error) => {
                    refused += usize::from(error.code() == "outside_workspace");
                    assert!(
                        !error.message().contains("SECRET"),
                        "{tool} {args}: {error}"
                    );
                    assert_ne!(error.code(), "half_done", "{tool} {args}: {error}");
                }
            }
        }
    }
    drop(swapper);
    assert_eq!(names(bench.outside.path()), ["deep", "secret"]);
    assert_eq!(names(&bench.outside.path().join("deep")), ["secret"]);
    for name in ["secret", "deep/secret"] {
        assert_eq!(
            fs::read_to_string(bench.outside.path().join(name)).unwrap(),
            SENTINEL
        );
    }
    assert!(
        allowed > 0 && refused > 0,
        "the race never took place: {allowed} allowed, {refused} refused"
    );
    [round, allowed, refused]
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_outside_is_read_or_written_while_links_are_swapped() {
    println!(
        "rounds, allowed, refused: {:?}",
        race(OpenMethod::Detect).await
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn nothing_outside_is_read_or_written_without_openat2_either() {
    println!(
        "rounds, allowed, refused: {:?}",
        race(OpenMethod::ComponentsOnly).await
    );
}

#[tokio::test(flavor = "multi_thread", worker_threads = 2)]
async fn commands_begin_inside_while_links_are_swapped() {
    let bench = Bench::new();
    bench.put("d/x", "");
    bench.link(bench.outside.path(), "d2");
    let swapper = Swapper::start(vec![(bench.path("d"), bench.path("d2"))]);
    let outside = bench.outside.path().to_str().unwrap().to_owned();
    for _ in 0..if long() { 200 } else { 20 } {
        match bench
            .call("exec", json!({"command": "pwd -P", "cwd": "d"}))
            .await
        {
            Ok(value) => assert!(
                !value["stdout"].as_str().unwrap().starts_with(&outside),
                "{value}"
            ),
            Err(error) => assert!(
                ["outside_workspace", "changed"].contains(&error.code()),
                "{error}"
            ),
        }
    }
    drop(swapper);
}
