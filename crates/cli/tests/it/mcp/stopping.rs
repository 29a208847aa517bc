//! Cancellation, progress, logs, and how a front ends.

use rustix::process::{Pid, Signal, kill_process};
use serde_json::json;

use super::pipes::{Pipes, structured};
use crate::harness::Cli;

const ALWAYS: [&str; 2] = ["--approve", "always"];

/// A cell that says that it runs, and then waits for a command that does not end.
const ENDLESS: &str = "await tools.write({ path: 'ready', content: '' }); \
    return await tools.exec({ command: 'echo $$ > pid; exec sleep 1000' })";

pub(super) fn until_runs(cli: &Cli) -> String {
    let end = std::time::Instant::now() + super::DEADLINE;
    loop {
        let pid = std::fs::read_to_string(cli.env.workspace().join("pid")).unwrap_or_default();
        if pid.ends_with('\n') {
            return pid.trim().to_owned();
        }
        assert!(std::time::Instant::now() < end, "the command never ran");
        std::thread::yield_now();
    }
}

pub(super) fn until_gone(pid: &str) {
    let end = std::time::Instant::now() + super::DEADLINE;
    let alive = || {
        let status = std::fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
        !status.is_empty() && !status.contains("State:\tZ")
    };
    while alive() {
        assert!(std::time::Instant::now() < end, "{pid} goes on");
        std::thread::yield_now();
    }
}

#[test]
fn cancelling_exec_aborts_the_cell() {
    let cli = Cli::new();
    let mut client = Pipes::connected(&cli, &ALWAYS);
    let call = client.send_exec(ENDLESS);
    let pid = until_runs(&cli);
    client.notify("notifications/cancelled", json!({"requestId": call}));
    until_gone(&pid);
    assert_eq!(client.exec("return 1")["value"], 1);
}

#[test]
fn cancelling_wait_only_detaches() {
    let cli = Cli::new();
    let mut client = Pipes::connected(&cli, &ALWAYS);
    let code = "await yield_control(); await tools.exec({ command: \
        'echo $$ > pid; while [ ! -e go ]; do sleep 0.05; done' }); return 'done'";
    let first = client.exec(code);
    let arguments = json!({"runId": first["runId"]});
    let wait = json!({"name": "wait", "arguments": arguments});
    let call = client.send("tools/call", wait.clone());
    until_runs(&cli);
    client.notify("notifications/cancelled", json!({"requestId": call}));
    assert_eq!(client.exec("return 1")["value"], 1);
    cli.env.write("go", "").unwrap();
    let mut result = structured(&client.request("tools/call", wait));
    while result["status"] != "completed" {
        assert!(
            result["status"] == "waiting" || result["failure"]["kind"] == "already_resuming",
            "{result}"
        );
        result = client.wait(&first["runId"]);
    }
    assert_eq!(result["value"], "done");
}

#[test]
fn nested_calls_are_progress_for_who_asks() {
    let cli = Cli::new();
    let mut client = Pipes::connected(&cli, &[]);
    let call = client.send(
        "tools/call",
        json!({
            "name": "exec",
            "arguments": {"code": "await tools.ls(); await tools.ls()"},
            "_meta": {"progressToken": "p1"}
        }),
    );
    let mut last = 0.0;
    for message in ["started", "done", "started", "done"] {
        let progress = client.wait_for_method("notifications/progress");
        let params = &progress["params"];
        assert_eq!(params["progressToken"], "p1");
        let said = params["message"].as_str().unwrap();
        assert!(
            said.starts_with(&format!("openclaw:core:ls {message}")),
            "{said}"
        );
        let now = params["progress"].as_f64().unwrap();
        assert!(now > last, "{progress}");
        last = now;
    }
    assert_eq!(structured(&client.answer(call))["status"], "completed");
}

#[test]
fn logs_follow_the_level() {
    let cli = Cli::new();
    let mut client = Pipes::connected(&cli, &[]);
    // Warnings are heard without asking.
    client.exec("await tools.read({ path: 'nothing' }).catch(() => 0)");
    let warning = client.wait_for_method("notifications/message");
    assert_eq!(warning["params"]["level"], "warning", "{warning}");
    assert_eq!(warning["params"]["data"]["tool"], "openclaw:core:read");
    client.request("logging/setLevel", json!({"level": "debug"}));
    client.exec("await tools.ls()");
    let levels = [(); 2].map(|()| {
        let heard = client.wait_for_method("notifications/message");
        heard["params"]["level"].as_str().unwrap().to_owned()
    });
    assert_eq!(levels, ["debug", "info"]);
    client.request("logging/setLevel", json!({"level": "emergency"}));
    client.exec("await tools.read({ path: 'nothing' }).catch(() => 0)");
    client.request("logging/setLevel", json!({"level": "debug"}));
    client.exec("await tools.ls()");
    let next = client.wait_for_method("notifications/message");
    assert_eq!(next["params"]["data"]["tool"], "openclaw:core:ls", "{next}");
}

#[test]
fn a_client_that_leaves_takes_its_cells_with_it() {
    let cli = Cli::new();
    let mut client = Pipes::connected(&cli, &ALWAYS);
    client.send_exec(ENDLESS);
    let pid = until_runs(&cli);
    assert!(client.leave().success());
    until_gone(&pid);
}

#[test]
fn a_signal_ends_the_front_and_its_cells() {
    let cli = Cli::new();
    let mut client = Pipes::connected(&cli, &ALWAYS);
    client.send_exec(ENDLESS);
    let pid = until_runs(&cli);
    kill_process(Pid::from_child(&client.child), Signal::TERM).unwrap();
    assert_eq!(client.ended().code(), Some(130));
    until_gone(&pid);
}
