//! MCP servers behind the commands: the real binary before scripted servers.

use std::process::Stdio;
use std::time::{Duration, Instant};

use serde_json::{Value, json};

use crate::harness::Cli;

#[path = "../../../mcp/tests/it/fake.rs"]
mod fake;

/// No test by itself: here a test binary that was started as a server becomes one.
#[test]
fn become_a_server() {
    fake::serve_if_asked();
}

/// The entry of a server that follows this script.
fn scripted(script: &Value) -> Value {
    json!({
        "command": std::env::current_exe().unwrap(),
        "args": fake::arguments("servers::become_a_server"),
        "env": {fake::SCRIPT: script.to_string()},
    })
}

/// Writes a file of these servers, each with its script, into the workspace.
pub(crate) fn with_servers(servers: &[(&str, Value)]) -> Cli {
    let servers = servers
        .iter()
        .map(|(name, script)| ((*name).to_owned(), scripted(script)));
    let file = json!({"mcpServers": servers.collect::<serde_json::Map<_, _>>()});
    Cli::with_files(&[("mcp.json", &file.to_string())])
}

fn value(cli: &Cli, args: &[&str]) -> Value {
    let all: Vec<&str> = args
        .iter()
        .copied()
        .chain(["--mcp-config", "mcp.json", "--json"])
        .collect();
    let ran = cli.run(&all);
    assert!(ran.code == Some(0), "{}", ran.show());
    ran.json()
}

#[test]
fn servers_are_listed_tested_and_called() {
    let cli = with_servers(&[
        ("one", json!({"tools": ["echo", "add item"]})),
        ("gone", json!({"exit": true, "stderr": "no license"})),
    ]);
    let listed = value(&cli, &["mcp", "list"]);
    let listed: Vec<_> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|one| &one["name"])
        .collect();
    assert_eq!(listed, ["gone", "one"]);

    let tested = cli.run(&["mcp", "test", "--mcp-config", "mcp.json", "--json"]);
    assert_eq!(tested.code, Some(1));
    let tested = tested.json();
    assert_eq!(tested[0]["available"], json!(false));
    assert!(
        tested[0]["unavailable"]
            .as_str()
            .unwrap()
            .contains("no license")
    );
    assert_eq!(tested[1]["tools"], json!(["echo", "add item"]));
    let one = value(&cli, &["mcp", "test", "one"]);
    assert_eq!(one.as_array().unwrap().len(), 1);

    let tools = value(&cli, &["tools", "list"]);
    let ids: Vec<_> = tools
        .as_array()
        .unwrap()
        .iter()
        .filter_map(|tool| tool["id"].as_str().filter(|id| id.starts_with("mcp:")))
        .collect();
    assert_eq!(ids, ["mcp:one:echo", "mcp:one:add item"]);
    let args = [
        "tools",
        "call",
        "mcp:one:echo",
        "{\"a\":1}",
        "--approve",
        "always",
    ];
    assert_eq!(
        value(&cli, &args),
        json!({"name": "echo", "arguments": {"a": 1}})
    );
    // Without anybody to ask, nothing of a stranger is called.
    let refused = cli.run(&["tools", "call", "mcp:one:echo", "--mcp-config", "mcp.json"]);
    assert_eq!(refused.code, Some(1), "{}", refused.show());
}

#[test]
fn a_server_that_cannot_be_opened_leaves_the_others_alone() {
    let cli = Cli::with_files(&[(
        "mcp.json",
        &json!({"mcpServers": {
            "one": scripted(&json!({"tools": ["echo"]})),
            "card": {"url": "https://127.0.0.1:1/mcp", "clientCert": "card.pem"},
        }})
        .to_string(),
    )]);
    let tested = cli.run(&["mcp", "test", "--mcp-config", "mcp.json", "--json"]);
    assert_eq!(tested.code, Some(1), "{}", tested.show());
    let tested = tested.json();
    let reason = tested[0]["unavailable"].as_str().unwrap();
    assert!(reason.contains("card.pem"), "{reason}");
    assert_eq!(tested[1]["tools"], json!(["echo"]));
}

#[test]
fn rules_reach_the_tools_of_servers_by_every_name() {
    let cli = with_servers(&[
        ("my.server", json!({"tools": ["get", "add item"]})),
        ("gone", json!({"exit": true})),
    ]);
    let left = |rule: &str| {
        let tools = value(&cli, &["tools", "list", "--deny", rule]);
        let tools = tools.as_array().unwrap().iter();
        let ids = tools.filter_map(|tool| tool["id"].as_str());
        ids.filter(|id| id.starts_with("mcp:")).count()
    };
    let cases = [
        ("mcp:my.server:get", 1),
        ("mcp:my.server:*", 0),
        ("my.server__*", 0),
        ("my-server__add-item", 1),
        ("my-server__*", 0),
        ("bundle-mcp", 0),
        ("group:plugins", 0),
        // It may have such a tool when it is up.
        ("gone__anything", 2),
    ];
    for (rule, expected) in cases {
        assert_eq!(left(rule), expected, "{rule}");
    }
    let unknown = cli.run(&[
        "tools",
        "list",
        "--deny",
        "my-server__gte",
        "--mcp-config",
        "mcp.json",
    ]);
    assert_eq!(unknown.code, Some(2), "{}", unknown.show());
}

#[test]
fn servers_die_with_us_whatever_the_way() {
    let cli = with_servers(&[(
        "tree",
        json!({"tools": ["offspring", "stall"], "stubborn": true}),
    )]);
    let args = [
        "tools",
        "call",
        "mcp:tree:stall",
        "--approve",
        "always",
        "--mcp-config",
        "mcp.json",
    ];
    let mut command = cli.command(&args);
    command.stdout(Stdio::null()).stderr(Stdio::null());
    let mut child = command.spawn().unwrap();
    let below = || descendants(child.id());
    wait_for("the server is up", || below().len() >= 2);
    let servers = below();
    child.kill().unwrap();
    child.wait().unwrap();
    wait_for("nothing is left", || {
        !servers.iter().any(|pid| is_running(*pid))
    });
}

fn wait_for(what: &str, mut holds: impl FnMut() -> bool) {
    let begun = Instant::now();
    while !holds() {
        assert!(begun.elapsed() < Duration::from_secs(60), "never: {what}");
        std::thread::sleep(Duration::from_millis(10));
    }
}

/// State and parent of a process, unless it is gone.
fn look(pid: u32) -> Option<(char, u32)> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    Some((fields.next()?.chars().next()?, fields.next()?.parse().ok()?))
}

fn is_running(pid: u32) -> bool {
    look(pid).is_some_and(|(state, _)| state != 'Z')
}

fn descendants(root: u32) -> Vec<u32> {
    let entries = std::fs::read_dir("/proc").unwrap();
    let all: Vec<u32> = entries
        .filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok())
        .collect();
    let mut found = vec![root];
    let mut at = 0;
    while let Some(parent) = found.get(at).copied() {
        let children = all
            .iter()
            .filter(|pid| look(**pid).is_some_and(|(_, own)| own == parent));
        found.extend(children);
        at += 1;
    }
    found.split_off(1)
}

#[test]
fn servers_are_added_imported_and_removed_and_the_rest_of_the_file_stays() {
    let cli = Cli::with_files(&[
        (
            "codecell.json",
            "{\n  // mine\n  tools: { deny: ['exec'] },\n}\n",
        ),
        (
            "other.json",
            r#"{"servers": {
                "web": {"type": "http", "url": "https://x.example/mcp", "headers": {"Authorization": "Bearer ${env:HOME}"}},
                "asks": {"command": "x", "args": ["${input:key}"]},
                "files": {"command": "y", "autoApprove": ["z"]}
            }}"#,
        ),
    ]);
    let run = |args: &[&str]| {
        let all: Vec<&str> = args
            .iter()
            .copied()
            .chain(["--config", "codecell.json"])
            .collect();
        cli.run(&all).show()
    };
    let mut all = String::new();
    all.push_str(&run(&["mcp", "import", "other.json"]));
    all.push_str(&run(&["mcp", "import", "other.json", "web"]));
    all.push_str(&run(&["mcp", "import", "other.json", "none"]));
    all.push_str(
        &cli.run(&[
            "mcp",
            "add",
            "local",
            "--env",
            "A=b",
            "--config",
            "codecell.json",
            "--",
            "npx",
            "-y",
            "x",
        ])
        .show(),
    );
    all.push_str(&run(&["mcp", "add", "local", "--url", "https://y.example"]));
    all.push_str(&run(&["mcp", "add", "a:b", "--url", "https://y.example"]));
    all.push_str(&run(&["mcp", "remove", "files"]));
    all.push_str(&run(&["mcp", "remove", "files"]));
    all.push_str(&run(&["mcp", "list"]));
    let file = cli.env.workspace().join("codecell.json");
    all.push_str(&std::fs::read_to_string(file).unwrap());
    insta::assert_snapshot!(all);
}
