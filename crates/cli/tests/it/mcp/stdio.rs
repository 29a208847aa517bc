//! One client on pipes: what it is shown, what its calls give, and how it leaves.

use serde_json::{Value, json};

use super::pipes::{Pipes, structured};
use crate::harness::Cli;

fn names(answer: &Value) -> Vec<&str> {
    let tools = answer["result"]["tools"].as_array().unwrap();
    tools
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect()
}

#[test]
fn exactly_two_tools_are_shown_with_schemas_hints_and_the_index() {
    let cli = Cli::new();
    let mut client = Pipes::connected(&cli, &[]);
    let answer = client.request("tools/list", json!({}));
    assert_eq!(names(&answer), ["exec", "wait"], "{answer}");
    let exec = &answer["result"]["tools"][0];
    assert_eq!(exec["inputSchema"]["required"], json!(["code"]));
    assert_eq!(exec["outputSchema"]["type"], "object");
    assert_eq!(exec["annotations"]["readOnlyHint"], false);
    let description = exec["description"].as_str().unwrap();
    assert!(description.contains("\n- grep "), "{description}");
    assert!(client.leave().success());
}

#[test]
fn a_cell_runs_and_gives_text_and_structure() {
    let cli = Cli::with_files(&[("a.txt", "one\ntwo\n")]);
    let mut client = Pipes::connected(&cli, &[]);
    let result = client.exec("return (await tools.read({ path: 'a.txt' })).totalLines");
    assert_eq!(result["status"], "completed");
    assert_eq!(result["value"], 2);
    let result = client.exec("throw new Error('no')");
    assert_eq!(result["failure"]["kind"], "guest_error");
    assert!(client.leave().success());
}

#[test]
fn another_name_is_answered_with_the_cell_to_write() {
    let cli = Cli::new();
    let mut client = Pipes::connected(&cli, &[]);
    let answer = client.request("tools/call", json!({"name": "ls", "arguments": {}}));
    let result = structured(&answer);
    assert_eq!(
        result["error"],
        "only exec and wait can be called directly, so nothing was done. \
         Call exec with this code: return await tools.ls({})"
    );
}

#[test]
fn a_suspended_cell_goes_on_with_wait() {
    let cli = Cli::new();
    let mut client = Pipes::connected(&cli, &[]);
    let first = client.exec("const n = 2; await yield_control('a pause'); return n + 3");
    assert_eq!(first["status"], "waiting", "{first}");
    let second = client.wait(&first["runId"]);
    assert_eq!(second["value"], 5, "{second}");
    // A result that was lost can be asked for again.
    assert_eq!(client.wait(&first["runId"])["value"], 5);
}

#[test]
fn saved_results_stay_for_the_session() {
    let cli = Cli::new();
    let mut client = Pipes::connected(&cli, &[]);
    client.exec("return await results.save({ a: 1 })");
    let listed = client.request("resources/list", json!({}));
    let uri = &listed["result"]["resources"][0]["uri"];
    let read = client.request("resources/read", json!({"uri": uri}));
    assert_eq!(read["result"]["contents"][0]["text"], "{\"a\":1}", "{read}");
    assert_eq!(
        client.exec("return await results.load('r1')")["value"]["a"],
        1
    );
    for unknown in [
        "codecell://saved/r2",
        "codecell://saved/",
        "file:///etc/passwd",
        "",
    ] {
        let read = client.request("resources/read", json!({"uri": unknown}));
        assert_eq!(read["error"]["code"], -32002, "{unknown}: {read}");
        assert_eq!(read["error"]["data"]["uri"], unknown);
    }
}

#[test]
fn a_value_that_is_too_large_becomes_a_link_that_can_be_read() {
    let cli = Cli::new();
    let mut client = Pipes::connected(&cli, &["--set", "tools.codeMode.maxOutputBytes=2000"]);
    let id = client.send_exec("return 'x'.repeat(5000)");
    let answer = client.answer(id);
    assert_eq!(structured(&answer)["code"], "output_limit_exceeded");
    let link = &answer["result"]["content"][1];
    assert_eq!(link["type"], "resource_link", "{answer}");
    let read = client.request("resources/read", json!({"uri": link["uri"]}));
    let text = read["result"]["contents"][0]["text"].as_str().unwrap();
    assert_eq!(text.len(), 5002);
}

/// The smallest image there is: one transparent pixel.
const PIXEL: &[u8] = b"GIF89a\x01\0\x01\0\x80\0\0\0\0\0\0\0\0!\xf9\x04\x01\0\0\0\0,\0\0\0\0\x01\0\x01\0\0\x02\x02D\x01\0;";

#[test]
fn an_image_that_a_cell_passes_on_arrives_as_an_image() {
    let cli = Cli::new();
    std::fs::write(cli.env.workspace().join("a.gif"), PIXEL).unwrap();
    let mut client = Pipes::connected(&cli, &[]);
    let id =
        client.send_exec("return (await tools.callRaw('read', { path: 'a.gif' })).result.content");
    let answer = client.answer(id);
    let named = &structured(&answer)["value"][0];
    assert_eq!(named["bytes"], PIXEL.len(), "{answer}");
    let block = &answer["result"]["content"][1];
    assert_eq!(
        (&block["type"], &block["mimeType"]),
        (&json!("image"), &json!("image/gif"))
    );
    let data = "R0lGODlhAQABAIAAAAAAAAAAACH5BAEAAAAALAAAAAABAAEAAAICRAEAOw==";
    assert_eq!(block["data"], data, "{answer}");
    // Written as output it arrives too, and not if it is not passed on.
    let id = client.send_exec("json(await tools.callRaw('read', { path: 'a.gif' }))");
    assert_eq!(client.answer(id)["result"]["content"][1]["data"], data);
    let id = client.send_exec("await tools.callRaw('read', { path: 'a.gif' }); return 1");
    assert!(client.answer(id)["result"]["content"].get(1).is_none());
}

#[test]
fn older_revisions_are_spoken_too() {
    for version in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let cli = Cli::new();
        let mut client = Pipes::start(&cli, &[]);
        let params = json!({
            "protocolVersion": version,
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "0"}
        });
        let answer = client.request("initialize", params);
        assert_eq!(answer["result"]["protocolVersion"], version, "{answer}");
        client.notify("notifications/initialized", json!({}));
        assert_eq!(client.exec("return 1")["value"], 1);
    }
}

/// What a request of the revision without `initialize` carries.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {}
    })
}

#[test]
fn the_revision_without_a_handshake_is_spoken_too() {
    let cli = Cli::new();
    let mut client = Pipes::start(&cli, &[]);
    let found = client.request("server/discover", json!({"_meta": meta()}));
    let versions = found["result"]["supportedVersions"].as_array().unwrap();
    assert!(versions.contains(&json!("2026-07-28")), "{found}");
    let listed = client.request("tools/list", json!({"_meta": meta()}));
    assert_eq!(names(&listed), ["exec", "wait"]);
    let mut call = |name: &str, arguments: Value| {
        let params = json!({"name": name, "arguments": arguments, "_meta": meta()});
        structured(&client.request("tools/call", params))
    };
    let first = call("exec", json!({"code": "await yield_control(); return 7"}));
    let second = call("wait", json!({"runId": first["runId"]}));
    assert_eq!(second["value"], 7, "{second}");
}
