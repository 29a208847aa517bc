//! The front with servers of its own behind it: what changes there shows here.

use serde_json::json;

use super::pipes::Pipes;
use crate::harness::Cli;

/// A server in a few lines of shell. It has the tool `first`, and after the file `grown` appeared
/// also `second`, of which it tells.
const SERVER: &str = r#"
(while [ ! -e grown ]; do sleep 0.05; done
 echo '{"jsonrpc":"2.0","method":"notifications/tools/list_changed"}') &
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
  case $line in
    *'"method":"initialize"'*)
      result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{"listChanged":true}},"serverInfo":{"name":"sh","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      second=; [ -e grown ] && second=',{"name":"second","inputSchema":{"type":"object"}}'
      result='{"tools":[{"name":"first","inputSchema":{"type":"object"}}'$second']}' ;;
    *'"method":"tools/call"'*)
      result='{"content":[{"type":"image","data":"AAEC","mimeType":"image/png"},{"type":"audio","data":"AwQF","mimeType":"audio/wav"}]}' ;;
    *'"id":'*)
      echo '{"jsonrpc":"2.0","id":'$id',"error":{"code":-32601,"message":"unknown"}}'; continue ;;
    *) continue ;;
  esac
  echo '{"jsonrpc":"2.0","id":'$id',"result":'$result'}'
done
"#;

fn with_server() -> Cli {
    let cli = Cli::with_files(&[("server.sh", SERVER)]);
    let servers = json!({"mcpServers": {
        "grows": {"command": "sh", "args": ["server.sh"]},
        "broken": {"command": "sh", "args": ["-c", "exit 1"]}
    }});
    cli.env.write("servers.json", servers.to_string()).unwrap();
    cli
}

fn tools_of(client: &mut Pipes) -> Vec<String> {
    let listed = client.exec("return await API.search('first second', { limit: 9 })");
    let found = listed["value"].as_array();
    let found = found.unwrap_or_else(|| panic!("{listed}"));
    let mut names: Vec<_> = found
        .iter()
        .map(|tool| tool["call"].as_str().unwrap().to_owned())
        .collect();
    names.sort();
    names
}

#[test]
fn a_change_upstream_is_announced_and_in_the_next_cell() {
    let cli = with_server();
    let mut client = Pipes::connected(&cli, &["--mcp-config", "servers.json"]);
    let shown = client.request("tools/list", json!({})).to_string();
    assert!(shown.contains("grows"), "{shown}");
    assert_eq!(tools_of(&mut client), ["MCP.grows.first"]);
    cli.env.write("grown", "").unwrap();
    client.wait_for_method("notifications/tools/list_changed");
    assert_eq!(
        tools_of(&mut client),
        ["MCP.grows.first", "MCP.grows.second"]
    );
}

#[test]
fn a_server_that_hangs_or_is_late_holds_up_no_other() {
    let cli = Cli::with_files(&[("server.sh", SERVER)]);
    let late = "while [ ! -e grown ]; do sleep 0.05; done; exec sh server.sh";
    let servers = json!({"mcpServers": {
        "grows": {"command": "sh", "args": ["server.sh"]},
        "hangs": {"command": "sleep", "args": ["1000"]},
        "late": {"command": "sh", "args": ["-c", late]}
    }});
    cli.env.write("servers.json", servers.to_string()).unwrap();
    let mut client = Pipes::connected(&cli, &["--mcp-config", "servers.json"]);
    assert_eq!(tools_of(&mut client), ["MCP.grows.first"]);
    cli.env.write("grown", "").unwrap();
    let whole = ["grows.first", "grows.second", "late.first", "late.second"];
    let whole = whole.map(|tool| format!("MCP.{tool}"));
    // Each of the two changes is told of.
    while tools_of(&mut client) != whole {
        client.wait_for_method("notifications/tools/list_changed");
    }
}

#[test]
fn a_program_waits_for_a_server_that_it_names() {
    let cli = Cli::with_files(&[("server.sh", SERVER)]);
    // Longer than whoever comes first waits for any server.
    let slow = "sleep 4; exec sh server.sh";
    let servers = json!({"mcpServers": {
        "hangs": {"command": "sleep", "args": ["1000"]},
        "slow-one": {"command": "sh", "args": ["-c", slow]}
    }});
    cli.env.write("servers.json", servers.to_string()).unwrap();
    let mut client = Pipes::connected(&cli, &["--mcp-config", "servers.json"]);
    let listed = client.exec("return (await API.list('mcp')).files.length");
    assert_eq!(listed["status"], "completed", "{listed}");
    let named = client.exec("return typeof MCP.slowOne.first");
    assert_eq!(named["value"], "function", "{named}");
}

#[test]
fn images_and_sound_of_a_server_arrive_as_what_they_are() {
    let cli = with_server();
    let args = ["--mcp-config", "servers.json", "--approve", "always"];
    let mut client = Pipes::connected(&cli, &args);
    let id = client.send_exec("return (await MCP.grows.first()).content");
    let answer = client.answer(id);
    let blocks = &answer["result"]["content"];
    let shown =
        |block: &serde_json::Value| json!([block["type"], block["mimeType"], block["data"]]);
    assert_eq!(shown(&blocks[1]), json!(["image", "image/png", "AAEC"]));
    assert_eq!(shown(&blocks[2]), json!(["audio", "audio/wav", "AwQF"]));
    let value = &answer["result"]["structuredContent"]["value"];
    assert_eq!(
        (&value[1]["type"], &value[1]["bytes"]),
        (&json!("audio"), &json!(3))
    );
    assert!(value[1].get("data").is_none(), "{value}");
    // Only what is passed on: a program that heard it and says nothing of it shows nothing.
    let id = client.send_exec("await MCP.grows.first(); return 1");
    assert!(client.answer(id)["result"]["content"].get(1).is_none());
}
