//! `codecell tools`, `codecell api` and `codecell wait`.

use serde_json::json;

use crate::harness::{Cli, shows};

#[test]
fn the_list_is_a_table() {
    let ran = Cli::new().run(&["tools"]);
    insta::assert_snapshot!(ran.show());
}

#[test]
fn the_list_is_json_on_request_and_follows_the_rules() {
    let cli = Cli::new();
    cli.env.write_config("{tools: {deny: ['exec']}}").unwrap();
    let all = cli
        .run(&["tools", "list", "--deny", "group:web", "--json"])
        .json();
    let names: Vec<&str> = all
        .as_array()
        .unwrap()
        .iter()
        .map(|tool| tool["name"].as_str().unwrap())
        .collect();
    assert!(names.contains(&"read"), "{names:?}");
    assert!(
        !names.contains(&"exec") && !names.contains(&"web_fetch"),
        "{names:?}"
    );
}

#[test]
fn a_search_finds_by_meaningful_words() {
    let found = Cli::new()
        .run(&[
            "tools",
            "search",
            "search file contents",
            "--limit",
            "2",
            "--json",
        ])
        .json();
    assert_eq!(found.as_array().unwrap().len(), 2);
    assert_eq!(found[0]["name"], "grep");
    assert!(
        found[0]["input"].as_str().unwrap().contains("pattern"),
        "{found}"
    );
}

#[test]
fn a_tool_is_described_with_its_schemas() {
    let described = Cli::new()
        .run(&["tools", "describe", "ls", "--json"])
        .json();
    assert_eq!(described["id"], "openclaw:core:ls");
    assert!(
        described["parameters"]["properties"]["path"].is_object(),
        "{described}"
    );
    assert!(described["outputSchema"].is_object(), "{described}");
    let ran = Cli::new().run(&["tools", "describe", "ls"]);
    assert!(
        ran.stdout.starts_with("ls  (openclaw:core:ls, reads)\n"),
        "{}",
        ran.stdout
    );
}

#[test]
fn an_unknown_tool_names_its_neighbours() {
    let cli = Cli::new();
    shows!(cli.run(&["tools", "describe", "grpe"]));
    shows!(cli.run(&["tools", "call", "writ", "{}"]));
}

#[test]
fn a_call_prints_the_value() {
    let cli = Cli::with_files(&[("a.txt", "one\ntwo\n")]);
    shows!(cli.run(&["tools", "call", "read", r#"{"path": "a.txt"}"#]));
    let value = cli
        .run_with_input(
            &["tools", "call", "read", "-", "--json"],
            r#"{"path": "a.txt"}"#,
        )
        .json();
    assert_eq!(value["totalLines"], 2);
}

#[test]
fn wrong_arguments_say_what_is_expected() {
    let cli = Cli::new();
    shows!(cli.run(&["tools", "call", "read", r#"{"pth": "a.txt"}"#]));
    shows!(cli.run(&["tools", "call", "read", "a.txt"]));
}

#[test]
fn what_changes_something_is_refused_without_a_terminal() {
    let cli = Cli::new();
    let input = r#"{"path": "new.txt", "content": "x"}"#;
    shows!(cli.run(&["tools", "call", "write", input]));
    assert!(!cli.env.workspace().join("new.txt").exists());
    shows!(cli.run(&["tools", "call", "write", input, "--approve", "never"]));
    let ran = cli.run(&[
        "tools",
        "call",
        "write",
        input,
        "--approve",
        "always",
        "--json",
    ]);
    assert_eq!(
        ran.json(),
        json!({"path": "new.txt", "bytes": 1, "created": true})
    );
    assert_eq!(
        std::fs::read_to_string(cli.env.workspace().join("new.txt")).unwrap(),
        "x"
    );
}

#[test]
fn approve_always_does_not_widen_what_the_configuration_denies() {
    let cli = Cli::new();
    cli.env.write_config("{tools: {deny: ['write']}}").unwrap();
    let ran = cli.run(&[
        "tools",
        "call",
        "write",
        r#"{"path": "a", "content": ""}"#,
        "--approve",
        "always",
        "--allow",
        "write",
    ]);
    assert_ne!(ran.code, Some(0));
    assert!(!cli.env.workspace().join("a").exists());
}

#[test]
fn the_state_folder_is_out_of_reach_even_inside_the_workspace() {
    let cli = Cli::new();
    cli.env.write_config("{}").unwrap();
    let root = cli.env.root().to_str().unwrap().to_owned();
    shows!(cli.run(&[
        "tools",
        "call",
        "read",
        r#"{"path": "state/codecell.json"}"#,
        "--workspace",
        &root
    ]));
}

#[test]
fn a_workspace_that_is_no_folder_is_refused() {
    let cli = Cli::with_files(&[("file", "")]);
    shows!(cli.run(&["tools", "--workspace", "file"]));
    shows!(cli.run(&["tools", "--workspace", "none"]));
}

#[test]
fn a_cell_of_another_command_is_gone() {
    let cli = Cli::new();
    let id = "cm_0f8fad5b-d9cb-469f-a165-70867728950e";
    shows!(cli.run(&["wait", id]));
    let result = cli.run(&["wait", id, "--json"]).json();
    assert_eq!(result["failure"]["kind"], "unknown_run");
    shows!(cli.run(&["wait", "42"]));
}

#[test]
fn without_servers_there_are_no_declaration_files() {
    let cli = Cli::new();
    assert_eq!(cli.run(&["api", "--json"]).json(), json!({"files": []}));
    shows!(cli.run(&["api", "mcp/none.d.ts"]));
}
