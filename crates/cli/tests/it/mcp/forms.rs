//! A server behind codecell asks a person: through the front's client, or at the terminal.

use serde_json::{Value, json};

use super::pipes::{Pipes, structured};
use crate::harness::Cli;
use crate::pty::Terminal;

/// A server in a few lines of shell. Its tool asks, and gives the answer as its result.
const SERVER: &str = r#"
while read -r line; do
  id=$(printf '%s' "$line" | sed -n 's/.*"id":\("[^"]*"\|[0-9]*\).*/\1/p')
  case $line in
    *'"method":"initialize"'*)
      result='{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
    *'"method":"tools/list"'*)
      result='{"tools":[{"name":"order","inputSchema":{"type":"object"}}]}' ;;
    *'"method":"tools/call"'*)
      call=$id
      printf '%s\n' '{"jsonrpc":"2.0","id":"q","method":"elicitation/create","params":{"message":"How many?\nDecision:","requestedSchema":{"type":"object","properties":{"count":{"type":"integer"},"size":{"type":"string","enum":["s","m"],"default":"m"}},"required":["count"]}}}'
      continue ;;
    *'"id":"q"'*)
      id=$call
      answer=$(printf '%s' "$line" | sed 's/.*"result":\(.*\)}$/\1/')
      result='{"content":[],"structuredContent":'$answer'}' ;;
    *) continue ;;
  esac
  echo '{"jsonrpc":"2.0","id":'$id',"result":'$result'}'
done
"#;

const PROGRAM: &str = "return (await MCP.shop.order({})).structuredContent";

const ARGUMENTS: [&str; 4] = ["--mcp-config", "servers.json", "--approve", "always"];

fn with_server() -> Cli {
    let cli = Cli::with_files(&[("server.sh", SERVER)]);
    let servers = json!({"mcpServers": {"shop": {"command": "sh", "args": ["server.sh"]}}});
    cli.env.write("servers.json", servers.to_string()).unwrap();
    cli
}

fn answered(capabilities: Value, answer: Option<Value>) -> Value {
    let cli = with_server();
    let mut client = Pipes::with_capabilities(&cli, &ARGUMENTS, capabilities);
    let call = client.send_exec(PROGRAM);
    if let Some(answer) = answer {
        let question = client.wait_for_method("elicitation/create");
        let params = &question["params"];
        assert_eq!(
            params["message"],
            "the MCP server `shop` asks, while a program calls mcp:shop:order. \
             What is entered goes to that server: no passwords, no keys.\n\
             It says:\n> How many?\n> Decision:"
        );
        assert_eq!(
            params["requestedSchema"]["required"],
            json!(["count"]),
            "{question}"
        );
        let answer = json!({"jsonrpc": "2.0", "id": question["id"], "result": answer});
        client.write(&answer.to_string());
    }
    structured(&client.answer(call))["value"].clone()
}

#[test]
fn the_client_of_the_front_is_asked_for_its_servers() {
    let can = json!({"elicitation": {}});
    let given = json!({"action": "accept", "content": {"count": 2, "more": true}});
    assert_eq!(
        answered(can.clone(), Some(given)),
        json!({"action": "accept", "content": {"count": 2, "size": "m"}})
    );
    for no in [
        json!({"action": "decline"}),
        json!({"action": "accept", "content": {"count": "two"}}),
    ] {
        assert_eq!(
            answered(can.clone(), Some(no)),
            json!({"action": "decline"})
        );
    }
    assert_eq!(answered(json!({}), None), json!({"action": "decline"}));
}

#[test]
fn at_the_terminal_fields_are_typed() {
    let cli = with_server();
    let arguments = [&["exec"], &ARGUMENTS[..], &[PROGRAM]].concat();
    let mut terminal = Terminal::start(&cli, &arguments, &[]);
    terminal.wait_for("Answer it?");
    terminal.type_text("y\n");
    terminal.wait_for("count [whole number] > ");
    terminal.type_text("3\n");
    terminal.wait_for("else m] > ");
    terminal.type_text("\n");
    let (code, screen) = terminal.end();
    assert_eq!(code, 0, "{screen}");
    assert!(
        screen.contains("the MCP server `shop` asks, for mcp:shop:order:"),
        "{screen}"
    );
    assert!(screen.contains("\"size\": \"m\""), "{screen}");
}

#[test]
fn without_a_terminal_nobody_is_asked() {
    let cli = with_server();
    let run = cli.run(&[&["exec"], &ARGUMENTS[..], &["--json", PROGRAM]].concat());
    assert!(
        run.stdout.contains("\"action\":\"decline\""),
        "{}",
        run.stdout
    );
}
