//! The hostile suite: each class in a fresh process, beside a bystander whose latency is recorded.
//!
//! `crates/testkit/src/hostile` says what the cases are and what is judged; here it is compared with
//! what is expected to fail, and the counts are kept for the end of a run of all tests.

#![expect(
    clippy::expect_used,
    reason = "a test that panics is a test that fails"
)]

mod coverage;
mod escapes;

use std::path::PathBuf;
use std::process::Command;
use std::sync::{Mutex, PoisonError};

use codecell_testkit::hostile::canary::VARIABLE;
use codecell_testkit::hostile::report::{Report, expected_failures, keep};
use codecell_testkit::places::workspace_root;

/// Classes take turns: a bystander's latency is to be that of one attack.
static TURN: Mutex<()> = Mutex::new(());

fn expected_file() -> PathBuf {
    workspace_root().join("crates/testkit/hostile/expected_failures.txt")
}

/// Runs a class in a process of its own, in a folder and an environment that carry a canary.
fn run(class: &str) -> Report {
    let _turn = TURN.lock().unwrap_or_else(PoisonError::into_inner);
    let canary = format!(
        "canary{:x}",
        std::process::id() as u64 ^ 0x5eed_cafe_f00d_beef
    );
    let folder = tempfile::Builder::new()
        .prefix(&canary)
        .tempdir()
        .expect("a folder");
    let output = Command::new(env!("CARGO_BIN_EXE_codecell-hostile"))
        .arg(class)
        .env(VARIABLE, &canary)
        .env("CODECELL_DATA", data())
        // One of the tools panics on purpose.
        .env("RUST_BACKTRACE", "0")
        .current_dir(folder.path())
        .output()
        .expect("the process starts");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(
        output.status.success(),
        "the host died: {}\n{said}",
        output.status
    );
    serde_json::from_slice(&output.stdout).expect("a report")
}

/// The child stands elsewhere: it is told where the data is.
fn data() -> PathBuf {
    codecell_testkit::data::data_folder().unwrap_or_default()
}

/// Fails for whatever nobody expected, and keeps the counts.
fn judge(report: &Report) {
    let expected = expected_failures(&expected_file()).expect("the expected failures");
    let counts = report.against(&expected);
    keep(&format!("hostile-{}", report.class), &counts.line).expect("the counts are kept");
    assert!(
        counts.surprises.is_empty(),
        "{}",
        counts.surprises.join("\n")
    );
}

macro_rules! classes {
    ($($name:ident: $letter:literal,)*) => {
        $(#[test]
        fn $name() {
            judge(&run($letter));
        })*
    };
}

classes! {
    class_a_ambient_authority: "A",
    class_b_dynamic_code_and_modules: "B",
    class_c_tampering: "C",
    class_d_the_bridge: "D",
    class_e_processor_time: "E",
    class_f_memory: "F",
    class_g_stack: "G",
    class_h_engine_bugs: "H",
    class_i_asynchrony_and_life_cycle: "I",
    class_j_snapshots: "J",
    class_k_output: "K",
    class_l_typescript: "L",
    class_m_servers_that_lie: "M",
    class_p_leaks: "P",
}
