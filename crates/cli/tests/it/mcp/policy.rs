//! One gate: what is denied or not approved cannot be done by any way that the front has.

use serde_json::{Value, json};

use super::pipes::{Pipes, structured};
use crate::harness::Cli;

const INPUT: &str = "{ path: 'made', content: '' }";

/// Ways to the tool from inside a cell.
fn ways() -> Vec<String> {
    let calls = [
        "tools.write(INPUT)",
        "tools['wri' + 'te'](INPUT)",
        "tools.call('openclaw:core:write', INPUT)",
        "tools.call('write', INPUT)",
        "tools.callRaw('openclaw:core:write', INPUT)",
        "Promise.all([tools.call('write', INPUT), tools.ls()])",
        "yield_control().then(() => tools.call('write', INPUT))",
        "new Promise(done => setTimeout(done, 5)).then(() => tools.call('write', INPUT))",
        "(async w => await w('openclaw:core:write', INPUT))(tools.call)",
    ];
    calls
        .iter()
        .map(|call| format!("await {}; return 'done'", call.replace("INPUT", INPUT)))
        .collect()
}

/// Runs a program to its end.
fn run(client: &mut Pipes, code: &str) -> Value {
    let mut result = client.exec(code);
    while result["status"] == "waiting" {
        result = client.wait(&result["runId"]);
    }
    result
}

#[test]
fn a_denied_tool_is_out_of_reach_by_every_way() {
    let cli = Cli::new();
    let mut client = Pipes::connected(&cli, &["--approve", "always", "--deny", "write"]);
    for code in ways() {
        let result = run(&mut client, &code);
        assert_eq!(result["status"], "failed", "{code}: {result}");
    }
    for code in [
        "return await tools.call('WRITE', INPUT)",
        "return await tools.call('openclaw:core:write ', INPUT)",
        "return await tools.call('openclaw:core:wr\u{456}te', INPUT)",
        "return await MCP.openclaw.write(INPUT)",
        "return await tools.call('exec', { code: 'return 1' })",
    ] {
        let result = run(&mut client, &code.replace("INPUT", INPUT));
        assert_eq!(result["status"], "failed", "{code}: {result}");
    }
    for name in [
        "write",
        "openclaw:core:write",
        "tools.write",
        "exec.write",
        "Exec",
    ] {
        let params = json!({"name": name, "arguments": {"path": "made", "content": ""}});
        let answer = client.request("tools/call", params);
        assert_eq!(structured(&answer)["status"], "failed", "{name}: {answer}");
    }
    let told =
        client.exec("return JSON.stringify([ALL_TOOLS, await tools.search('write a file')])");
    let told = told["value"].as_str().unwrap();
    assert!(!told.contains("openclaw:core:write"), "{told}");
    let shown = client.request("tools/list", json!({})).to_string();
    assert!(!shown.contains("- write "), "{shown}");
    assert!(!cli.env.workspace().join("made").exists());
}

#[test]
fn the_gate_is_passed_once_by_each_way_and_tells_of_it() {
    let cli = Cli::new();
    let mut client = Pipes::connected(&cli, &["--approve", "never"]);
    for code in ways() {
        let result = run(&mut client, &code);
        assert_eq!(
            result["failure"]["kind"], "nested_tool_failed",
            "{code}: {result}"
        );
        assert_eq!(result["effects"]["notStarted"], 1, "{code}: {result}");
        let told = client.wait_for_method("notifications/message");
        let data = &told["params"]["data"];
        assert_eq!(data["event"], "blocked", "{code}: {told}");
        assert_eq!(data["tool"], "openclaw:core:write", "{code}: {told}");
    }
    assert!(!cli.env.workspace().join("made").exists());
}

#[test]
fn a_yes_for_one_session_is_none_for_another() {
    let cli = Cli::new();
    let asks = json!({"elicitation": {}});
    let code = format!("await tools.write({INPUT}); return 'done'");
    for _ in 0..2 {
        let mut client = Pipes::with_capabilities(&cli, &[], asks.clone());
        let call = client.send_exec(&code);
        let question = client.wait_for_method("elicitation/create");
        let yes = json!({"action": "accept", "content": {"decision": "tool"}});
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": yes});
        client.write(&answer.to_string());
        assert_eq!(structured(&client.answer(call))["value"], "done");
        assert_eq!(client.exec(&code)["value"], "done");
    }
}
