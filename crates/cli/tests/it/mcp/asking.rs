//! Approvals: asked in the client if it can, answered by the configuration if not.

use serde_json::{Value, json};

use super::pipes::{Pipes, structured};
use crate::harness::Cli;

const WRITE: &str = "return (await tools.write({ path: 'a\\u202e.txt', content: 'x' })).created";

fn asked(cli: &Cli, args: &[&str]) -> Pipes {
    Pipes::with_capabilities(cli, args, json!({"elicitation": {}}))
}

fn answer(client: &mut Pipes, question: &Value, result: Value) {
    let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": result});
    client.write(&answer.to_string());
}

fn accept(decision: &str) -> Value {
    json!({"action": "accept", "content": {"decision": decision}})
}

#[test]
fn a_change_is_asked_for_with_its_arguments_escaped() {
    let cli = Cli::new();
    let mut client = asked(&cli, &[]);
    let call = client.send_exec(WRITE);
    let question = client.wait_for_method("elicitation/create");
    let params = &question["params"];
    assert_eq!(
        params["message"],
        "A program wants to call openclaw:core:write, which changes files in the workspace.\n\
         Arguments: {\"path\":\"a\\u202e.txt\",\"content\":\"x\"}"
    );
    let decision = &params["requestedSchema"]["properties"]["decision"];
    assert_eq!(decision["enum"], json!(["once", "cell", "tool", "deny"]));
    answer(&mut client, &question, accept("once"));
    let result = structured(&client.answer(call));
    assert_eq!(result["value"], true, "{result}");
    assert_eq!(result["effects"]["committed"], 1, "{result}");
    // Once was once.
    let call = client.send_exec(WRITE);
    let question = client.wait_for_method("elicitation/create");
    answer(&mut client, &question, json!({"action": "decline"}));
    let result = structured(&client.answer(call));
    assert_eq!(result["failure"]["kind"], "nested_tool_failed", "{result}");
    assert_eq!(result["effects"]["notStarted"], 1, "{result}");
}

#[test]
fn an_answer_for_the_cell_and_one_for_the_tool_reach_as_far_as_they_say() {
    let cli = Cli::new();
    let mut client = asked(&cli, &[]);
    let twice = "for (const n of [1, 2]) await tools.write({ path: `f${n}`, content: '' });";
    for (decision, questions) in [("cell", 1), ("tool", 1), ("deny", 0)] {
        let call = client.send_exec(twice);
        for _ in 0..questions {
            let question = client.wait_for_method("elicitation/create");
            answer(&mut client, &question, accept(decision));
        }
        let result = structured(&client.answer(call));
        assert_eq!(result["status"], "completed", "{decision}: {result}");
    }
}

#[test]
fn without_a_way_to_ask_the_configured_answer_holds() {
    let cli = Cli::new();
    let mut client = Pipes::connected(&cli, &[]);
    let result = client.exec(WRITE);
    assert_eq!(result["effects"]["notStarted"], 1, "{result}");
    let mut client = Pipes::connected(&cli, &["--approve", "always"]);
    assert_eq!(client.exec(WRITE)["value"], true);
    // Who answers for the client need not ask it, nor does one who has refused.
    let mut client = asked(&cli, &["--approve", "never"]);
    let result = client.exec(WRITE);
    assert_eq!(result["effects"]["notStarted"], 1, "{result}");
}

#[test]
fn a_question_that_outlives_its_request_is_asked_again_by_wait() {
    let cli = Cli::new();
    let options = ["timeoutMs=500", "approvalHoldMs=0"];
    let set = options.map(|option| format!("tools.codeMode.{option}"));
    let mut client = asked(&cli, &["--set", &set[0], "--set", &set[1]]);
    let call = client.send_exec(WRITE);
    let first = client.wait_for_method("elicitation/create");
    let result = structured(&client.answer(call));
    assert_eq!(
        result["pendingToolCalls"][0]["state"], "approval",
        "{result}"
    );
    let withdrawn = client.wait_for_method("notifications/cancelled");
    assert_eq!(withdrawn["params"]["requestId"], first["id"]);
    // Too late: nobody asks this any more.
    answer(&mut client, &first, accept("once"));
    let arguments = json!({"runId": result["runId"]});
    let call = client.send(
        "tools/call",
        json!({"name": "wait", "arguments": arguments}),
    );
    let second = client.wait_for_method("elicitation/create");
    assert_ne!(second["id"], first["id"]);
    answer(&mut client, &second, accept("once"));
    assert_eq!(structured(&client.answer(call))["value"], true);
}

#[test]
fn a_client_that_answers_nonsense_has_denied() {
    let cli = Cli::new();
    let mut client = asked(&cli, &[]);
    for nonsense in [
        json!({"action": "accept"}),
        json!({"action": "accept", "content": {"decision": "yes"}}),
        json!({"action": "cancel", "content": {"decision": "once"}}),
        json!({}),
    ] {
        let call = client.send_exec(WRITE);
        let question = client.wait_for_method("elicitation/create");
        answer(&mut client, &question, nonsense.clone());
        let result = structured(&client.answer(call));
        assert_eq!(result["effects"]["notStarted"], 1, "{nonsense}: {result}");
    }
    assert!(!cli.env.workspace().join("a\u{202e}.txt").exists());
}

/// What a request of the revision without `initialize` carries.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {"elicitation": {}}
    })
}

#[test]
fn the_revision_without_questions_asks_by_its_answer() {
    let cli = Cli::new();
    let mut client = Pipes::start(&cli, &[]);
    let mut params = json!({"name": "exec", "arguments": {"code": WRITE}, "_meta": meta()});
    let first = client.request("tools/call", params.clone());
    assert_eq!(first["result"]["resultType"], "input_required", "{first}");
    let question = &first["result"]["inputRequests"]["approval"];
    assert_eq!(question["method"], "elicitation/create", "{first}");
    params["requestState"] = first["result"]["requestState"].clone();
    params["inputResponses"] = json!({"approval": accept("once")});
    let second = client.request("tools/call", params.clone());
    assert_eq!(structured(&second)["value"], true, "{second}");
    // A state is good for one use.
    let third = client.request("tools/call", params.clone());
    assert_eq!(third["error"]["code"], -32602, "{third}");
    // An answer to something else is asked for again, nonsense is a no.
    params.as_object_mut().unwrap().remove("requestState");
    let first = client.request("tools/call", params.clone());
    params["requestState"] = first["result"]["requestState"].clone();
    params["inputResponses"] = json!({"other": accept("once")});
    let again = client.request("tools/call", params.clone());
    assert_eq!(
        again["result"]["inputRequests"],
        first["result"]["inputRequests"]
    );
    params["requestState"] = again["result"]["requestState"].clone();
    params["inputResponses"] = json!({"approval": "yes"});
    let second = structured(&client.request("tools/call", params));
    assert_eq!(second["effects"]["notStarted"], 1, "{second}");
}
