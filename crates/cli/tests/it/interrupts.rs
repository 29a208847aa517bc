//! Ctrl-C and signals: the cell stops, says what it did, and leaves no process behind.

use std::fs;
use std::path::Path;
use std::process::Stdio;
use std::time::{Duration, Instant};

use rustix::process::{Pid, Signal, kill_process};

use crate::harness::Cli;
use crate::pty::Terminal;

/// A command that starts a grandchild, in a session of its own as well, and tells all ids.
const FAMILY: &str = "sleep 1000 & echo $! >> pids; setsid sleep 1001 & echo $! >> pids; echo $$ >> pids; echo ready > ready; sleep 1002";

const DEADLINE: Duration = Duration::from_secs(60);

fn program() -> String {
    format!(
        "return await tools.exec({{ command: {} }})",
        serde_json::to_string(FAMILY).unwrap()
    )
}

/// Waits until a condition holds, or fails.
fn until(what: &str, condition: impl Fn() -> bool) {
    let start = Instant::now();
    while !condition() {
        assert!(start.elapsed() < DEADLINE, "never happened: {what}");
        std::thread::yield_now();
    }
}

fn is_alive(pid: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    !status.is_empty() && !status.contains("State:\tZ")
}

fn assert_family_is_gone(workspace: &Path) {
    let pids = fs::read_to_string(workspace.join("pids")).unwrap();
    assert_eq!(
        pids.lines().count(),
        3,
        "the command told all its processes: {pids}"
    );
    for pid in pids.lines() {
        until(&format!("{pid} ends"), || !is_alive(pid));
    }
}

#[test]
fn ctrl_c_stops_the_cell_and_everything_it_started() {
    let cli = Cli::new();
    let mut terminal = Terminal::start(&cli, &["exec", "--approve", "always", &program()], &[]);
    until("the command runs", || {
        cli.env.workspace().join("ready").exists()
    });
    terminal.type_text("\u{3}");
    let (code, screen) = terminal.end();
    assert_eq!(code, 130, "{screen}");
    assert!(
        screen.contains("1 unknown") && screen.contains("openclaw:core:exec"),
        "{screen}"
    );
    assert_family_is_gone(&cli.env.workspace());
}

#[test]
fn ctrl_c_at_a_question_denies_it() {
    let cli = Cli::new();
    let mut terminal = Terminal::start(
        &cli,
        &["exec", "await tools.write({ path: 'a', content: '' })"],
        &[],
    );
    terminal.wait_for("Allow?");
    terminal.type_text("\u{3}");
    let (code, screen) = terminal.end();
    assert_eq!(code, 130, "{screen}");
    assert!(!cli.env.workspace().join("a").exists());
}

#[test]
fn a_request_to_end_is_answered_like_ctrl_c() {
    let cli = Cli::new();
    let program = program();
    let args = ["exec", "--json", "--approve", "always", &program];
    let child = cli
        .command(&args)
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("the command runs", || {
        cli.env.workspace().join("ready").exists()
    });
    kill_process(Pid::from_child(&child), Signal::TERM).unwrap();
    let ran = cli.finish(&args, child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(130), "{}", ran.stderr);
    let result = ran.json();
    assert_eq!(result["failure"]["kind"], "aborted", "{result}");
    assert_eq!(result["effects"]["unknown"], 1, "{result}");
    assert_family_is_gone(&cli.env.workspace());
}

#[test]
fn a_program_that_spins_is_stopped_too() {
    let cli = Cli::new();
    let program = "await tools.write({ path: 'ready', content: '' }); while (true) {}";
    let mut terminal = Terminal::start(&cli, &["exec", "--approve", "always", program], &[]);
    until("the program runs", || {
        cli.env.workspace().join("ready").exists()
    });
    terminal.type_text("\u{3}");
    let (code, screen) = terminal.end();
    assert_eq!(code, 130, "{screen}");
}

#[test]
fn a_tool_called_directly_is_stopped_too() {
    let cli = Cli::new();
    let input = serde_json::json!({"command": FAMILY}).to_string();
    let mut terminal = Terminal::start(
        &cli,
        &["tools", "call", "exec", &input, "--approve", "always"],
        &[],
    );
    until("the command runs", || {
        cli.env.workspace().join("ready").exists()
    });
    terminal.type_text("\u{3}");
    let (code, screen) = terminal.end();
    assert_eq!(code, 130, "{screen}");
    assert_family_is_gone(&cli.env.workspace());
}

/// Runs the family, sends these signals one after the other, and gives the exit code.
fn ended_by(cli: &Cli, signals: &[Signal]) -> Option<i32> {
    let program = program();
    let mut command = cli.command(&["exec", "--approve", "always", &program]);
    let child = command
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    until("the command runs", || {
        cli.env.workspace().join("ready").exists()
    });
    for signal in signals {
        kill_process(Pid::from_child(&child), *signal).unwrap();
    }
    child.wait_with_output().unwrap().status.code()
}

#[test]
fn impatience_leaves_nothing_behind_either() {
    let cli = Cli::new();
    assert_eq!(ended_by(&cli, &[Signal::INT, Signal::INT]), Some(130));
    assert_family_is_gone(&cli.env.workspace());
}

#[test]
fn nor_does_a_sudden_death() {
    let cli = Cli::new();
    assert_eq!(ended_by(&cli, &[Signal::KILL]), None);
    assert_family_is_gone(&cli.env.workspace());
}

#[test]
fn a_stop_while_the_engine_starts_is_one_json_value() {
    let cli = Cli::new();
    let args = ["exec", "--json", "return 1"];
    // An empty cache: the engine compiles, and says so.
    let mut child = cli
        .command(&args)
        .env("XDG_CACHE_HOME", cli.env.root().join("empty-cache"))
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    let mut stderr = child.stderr.take().unwrap();
    let mut first = [0u8; 1];
    std::io::Read::read_exact(&mut stderr, &mut first).unwrap();
    kill_process(Pid::from_child(&child), Signal::INT).unwrap();
    let ran = cli.finish(&args, child.wait_with_output().unwrap());
    assert_eq!(ran.code, Some(130));
    assert_eq!(ran.json()["failure"]["kind"], "aborted", "{}", ran.stdout);
}
