//! What a program finds in its global object is what `guest/globals.txt` lists, and nothing more.

use codecell_testkit::parked::{Answer, Live, drive};
use codecell_testkit::places::workspace_root;

use crate::support::on_guest_thread;

/// Names that would give a guest authority; listed here so that the list itself cannot grow them.
const FORBIDDEN: &[&str] = &[
    "process",
    "require",
    "module",
    "Buffer",
    "fetch",
    "XMLHttpRequest",
    "WebSocket",
    "Worker",
    "SharedArrayBuffer",
    "Atomics",
    "WebAssembly",
    "std",
    "os",
    "eval",
    "print",
    "scriptArgs",
];

const SOURCE: &str =
    "(async function(){\nreturn Object.getOwnPropertyNames(globalThis).sort().join('\\n');\n})";

#[test]
fn the_global_names_are_the_committed_ones() {
    let written = on_guest_thread(|sandbox, thread| {
        let mut refuse = |_: &_| Answer::Error("no calls here".to_owned());
        drive(&mut Live::new(sandbox, thread), SOURCE, &mut refuse)
    });
    let value = written
        .iter()
        .find_map(|frame| frame["value"].as_str())
        .expect("a value");
    let names: String = serde_json::from_str(value).expect("a string");
    let file = workspace_root().join("guest/globals.txt");
    let committed = std::fs::read_to_string(file).expect("the list");
    let mut committed: Vec<_> = committed
        .lines()
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .collect();
    committed.sort_unstable();
    assert_eq!(names, committed.join("\n"));
    for name in FORBIDDEN {
        assert!(!committed.contains(name), "{name} must be absent");
    }
}
