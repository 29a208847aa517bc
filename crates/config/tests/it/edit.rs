//! Setting a key in a file's text keeps everything else, comments included.

use std::path::Path;

use codecell_config::set_in_text;
use serde_json::{Value, json};

use crate::support::{World, path};

fn set(text: &str, at: &str, value: Value) -> String {
    match set_in_text(Path::new("/conf/codecell.json"), text, &path(at), &value) {
        Err(error) => format!("refused: {error}"),
        Ok(edited) => {
            World::new(&edited).load(&[]).unwrap();
            edited
        }
    }
}

#[test]
fn the_rest_of_the_text_stays() {
    let text = "// mine\n{\n  tools: {\n    codeMode: true, // on\n    deny: ['exec'] // no shell\n  },\n  mcp: { servers: {} },\n}\n";
    let cases = [
        ("tools.codeMode.timeoutMs", json!(500)),
        ("tools.deny", json!(["exec", "process"])),
        ("tools.deny[0]", json!("write")),
        ("tools.allow", json!(["read"])),
        ("tools.webFetch.allowHosts", json!(["a", "b"])),
        ("mcp.servers[\"my.server\"]", json!({"command": "x"})),
        ("agents.list", json!([{"id": "a"}])),
    ];
    let edits = cases.map(|(at, value)| format!("--- {at}\n{}", set(text, at, value)));
    insta::assert_snapshot!(edits.concat());
}

#[test]
fn small_and_odd_texts() {
    let cases = [
        ("", "tools.codeMode.enabled", json!(true)),
        ("{}", "tools.codeMode", json!(true)),
        ("{ tools: {} }", "tools.codeMode.timeoutMs", json!(500)),
        (
            "{ tools: { deny: [] } }",
            "tools.codeMode.timeoutMs",
            json!(500),
        ),
        (
            "{\n\t'tools': {\n\t\t\"codeMode\": {\n\t\t\ttimeoutMs: 100,\n\t\t\t/* end */\n\t\t}\n\t}\n}",
            "tools.codeMode.maxGuestMs",
            json!(100),
        ),
        (
            "{ tools: { codeMode: { timeoutMs: 0x64 } } }",
            "tools.codeMode.timeoutMs",
            json!(500),
        ),
        (
            "{ tools: {\n  // nothing yet\n} }",
            "tools.codeMode",
            json!(false),
        ),
    ];
    let edits =
        cases.map(|(text, at, value)| format!("--- {text} <- {at}\n{}\n", set(text, at, value)));
    insta::assert_snapshot!(edits.concat());
}

#[test]
fn what_cannot_be_set() {
    let cases = [
        ("{}", "tools.codMode", json!(true)),
        ("{}", "tools.codeMode.timeoutMs", json!("soon")),
        ("{}", "tools.sandbox", json!({})),
        ("{ agents: { list: [] } }", "agents.list[3].id", json!("a")),
        ("{ tools: 5 }", "tools.deny", json!([])),
        ("{", "tools.deny", json!([])),
        ("{}", "", json!([])),
    ];
    let lines = cases.map(|(text, at, value)| format!("{text} <- {at}: {}", set(text, at, value)));
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn a_removed_key_leaves_the_rest_alone() {
    let path = crate::support::path("mcp.servers.b");
    let cases = [
        (
            "{\n  // mine\n  mcp: {\n    servers: {\n      a: { command: 'x' }, // keep\n      b: {\n        url: 'u',\n      },\n      c: {},\n    },\n  },\n}\n",
            Some(
                "{\n  // mine\n  mcp: {\n    servers: {\n      a: { command: 'x' }, // keep\n      c: {},\n    },\n  },\n}\n",
            ),
        ),
        (
            "{ mcp: { servers: { a: 1, b: 2 } } }",
            Some("{ mcp: { servers: { a: 1,  } } }"),
        ),
        (
            "{ mcp: { servers: { b: 2 , c: 3 } } }",
            Some("{ mcp: { servers: {  c: 3 } } }"),
        ),
        (
            "{ mcp: { servers: { \"b\": 2 } } }",
            Some("{ mcp: { servers: {  } } }"),
        ),
        ("{ mcp: { servers: {} } }", None),
        ("{}", None),
        ("{ mcp: { servers: [1] } }", None),
    ];
    for (text, expected) in cases {
        let left = codecell_config::remove_from_text("c".as_ref(), text, &path).unwrap();
        assert_eq!(left.as_deref(), expected, "{text}");
    }
}
