//! What other clients write, and what becomes of it.

use codecell_config::{VariableUse, Variables, read_servers};

fn shown(text: &str, usage: VariableUse) -> String {
    let env = |name: &str| match name {
        "TOKEN" => Some("secret".to_owned()),
        "small" => Some("value".to_owned()),
        "EMPTY" => Some(String::new()),
        _ => None,
    };
    let variables = Variables {
        env: &env,
        usage,
        workspace: "/the/workspace",
        home: Some("/the/home"),
    };
    let foreign = match read_servers("file.json".as_ref(), text, &variables) {
        Ok(foreign) => foreign,
        Err(error) => return format!("{error}\n"),
    };
    let mut lines = String::new();
    for server in foreign.servers {
        lines.push_str(&format!("{}: {}\n", server.name, server.value));
        for note in server.notes {
            lines.push_str(&format!("    {note}\n"));
        }
    }
    for refused in foreign.refused {
        lines.push_str(&format!("{} refused: {}\n", refused.name, refused.reason));
    }
    lines
}

fn table(texts: &[&str], usage: VariableUse) -> String {
    let rows = texts
        .iter()
        .map(|text| format!("{text}\n{}", shown(text, usage).replace("\n", "\n  ")));
    rows.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_forms_of_other_clients() {
    insta::assert_snapshot!(table(
        &[
            r#"{"mcpServers": {"a": {"command": "npx", "args": ["-y", "x"], "env": {"N": 1}}}}"#,
            r#"{"servers": {"a": {"type": "http", "url": "https://x/mcp", "headers": {"X": "y"}}}, "inputs": []}"#,
            r#"{"context_servers": {"a": {"source": "custom", "command": {"path": "p", "args": ["q"], "env": {"K": "v"}}}}}"#,
            r#"{"mcp": {"servers": {"a": {"command": "x", "toolFilter": {"include": ["y"]}, "timeout": 5}}}}"#,
            r#"{"mcp": {"a": {"type": "local", "command": ["x", "y"], "environment": {"K": "v"}, "enabled": false}}}"#,
            r#"{"mcpServers": [{"name": "a", "command": "x"}]}"#,
            r#"{"a": {"command": "x"}, "b": {"serverUrl": "https://x"}}"#,
            r#"{"mcpServers": {"a": {"httpUrl": "https://x"}, "b": {"url": "https://x", "type": "sse"}}}"#,
            r#"{"mcpServers": {"a": {"command": "x", "disabled": true, "timeout": 60000, "autoApprove": ["y"], "includeTools": ["z"]}}}"#,
            r#"{"mcpServers": {"a": {"command": "x", "envFile": ".env", "sampling": {}, "tools": ["*"], "oauth": {}}}}"#,
            r#"{"mcpServers": {"a": {"url": "https://x", "auth": "oauth"}, "b": {"url": "https://x", "oauth": {"clientId": "i", "scopes": ["s", "t"], "callbackPort": 8080, "tokenUrl": "u"}}}}"#,
            r#"{"mcpServers": {"a": {"url": "https://x", "auth": {"CLIENT_ID": "${TOKEN}", "CLIENT_SECRET": "${env:small}"}}, "b": {"url": "https://x", "oauth": {"enabled": false}}}}"#,
            r#"{"mcpServers": {"a": {"type": "ws", "url": "wss://x"}, "b": {"args": []}, "c": {"command": 5, "args": "x"}, "d": {"command": "x", "args": "y"}}}"#,
            r#"{"mcpServers": {}}"#,
            r#"{"something": "else"}"#,
            "[mcp_servers.a]\ncommand = \"x\"",
        ],
        VariableUse::Resolve
    ));
}

#[test]
fn variables_are_read_or_kept() {
    let texts = [
        r#"{"mcpServers": {"a": {"url": "https://x", "headers": {"A": "Bearer ${env:TOKEN}", "B": "${TOKEN}-${small}", "C": "${NONE:-d}", "D": "${EMPTY:-e}"}}}}"#,
        r#"{"mcpServers": {"a": {"command": "${workspaceFolder}/run", "args": ["${userHome}${/}x", "$TOKEN", "${unclosed"]}}}"#,
        r#"{"mcpServers": {"a": {"command": "x", "env": {"A": "${env:NONE}"}}, "b": {"command": "${input:key}"}, "c": {"command": "${file:x}"}}}"#,
    ];
    insta::assert_snapshot!("read", table(&texts, VariableUse::Resolve));
    insta::assert_snapshot!("kept", table(&texts, VariableUse::Keep));
}
