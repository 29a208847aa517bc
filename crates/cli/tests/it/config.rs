//! `codecell config`, and what a broken configuration does to every other command.

use serde_json::json;

use crate::harness::{Cli, shows};

#[test]
fn a_value_is_printed_with_its_default() {
    let cli = Cli::new();
    shows!(cli.run(&["config", "get", "tools.codeMode.timeoutMs", "-v"]));
}

#[test]
fn what_is_set_is_read_back_and_the_comments_stay() {
    let cli = Cli::new();
    cli.env
        .write_config("{\n  // how long\n  tools: { codeMode: { timeoutMs: 5000, }, },\n}\n")
        .unwrap();
    let ran = cli.run(&["config", "set", "tools.codeMode.maxOutputBytes", "2048"]);
    shows!(ran);
    insta::assert_snapshot!(
        std::fs::read_to_string(cli.env.state().join("codecell.json")).unwrap()
    );
    let ran = cli.run(&["config", "get", "tools.codeMode.maxOutputBytes", "--json"]);
    assert_eq!(ran.json(), json!(2048));
}

#[test]
fn a_file_is_made_for_its_owner_alone() {
    use std::os::unix::fs::PermissionsExt as _;
    let cli = Cli::new();
    assert_eq!(
        cli.run(&["config", "set", "tools.deny", "[\"web_fetch\"]"])
            .code,
        Some(0)
    );
    let file = cli.env.state().join("codecell.json");
    assert_eq!(file.metadata().unwrap().permissions().mode() & 0o777, 0o600);
    assert_eq!(
        cli.run(&["config", "get", "tools.deny", "--json"]).json(),
        json!(["web_fetch"])
    );
}

#[test]
fn a_wrong_value_changes_nothing() {
    let cli = Cli::new();
    shows!(cli.run(&["config", "set", "tools.codeMode.timeoutMs", "soon"]));
    assert!(!cli.env.state().join("codecell.json").exists());
}

#[test]
fn an_unknown_key_names_its_path_and_the_nearest_key() {
    let cli = Cli::new();
    cli.env
        .write_config("{\n  tools: {\n    codeMode: { timeotMs: 5000 },\n  },\n}\n")
        .unwrap();
    for args in [
        &["config", "validate"][..],
        &["exec", "return 1"],
        &["tools"],
        &["wait", "cm_0f8fad5b-d9cb-469f-a165-70867728950e"],
    ] {
        let ran = cli.run(args);
        assert_eq!(ran.code, Some(2), "{args:?}");
        assert_eq!(ran.stdout, "", "{args:?}");
    }
    shows!(cli.run(&["config", "validate"]));
}

#[test]
fn a_broken_configuration_is_a_failed_result_in_json() {
    let cli = Cli::new();
    cli.env.write_config("{ tools: ").unwrap();
    let result = cli.run(&["exec", "--json", "return 1"]).json();
    assert_eq!(
        (&result["status"], &result["failure"]["kind"]),
        (&json!("failed"), &json!("invalid_config"))
    );
}

#[test]
fn validate_tells_what_is_ignored_and_clamped() {
    let cli = Cli::new();
    cli.env
        .write_config("{ channels: {}, tools: { codeMode: { timeoutMs: 1 } } }")
        .unwrap();
    shows!(cli.run(&["config", "validate"]));
}

#[test]
fn a_named_file_must_exist_and_the_default_one_need_not() {
    let cli = Cli::new();
    shows!(cli.run(&["config", "validate", "--config", "none.json"]));
    shows!(cli.run(&["config", "validate"]));
}

#[test]
fn the_variable_names_a_file() {
    let cli = Cli::with_files(&[("own.json", "{tools: {codeMode: {timeoutMs: 700}}}")]);
    let output = cli
        .command(&["config", "get", "tools.codeMode.timeoutMs"])
        .env("CODECELL_CONFIG_PATH", "own.json")
        .output()
        .unwrap();
    assert_eq!(String::from_utf8(output.stdout).unwrap(), "700\n");
}

#[test]
fn an_unknown_agent_is_refused() {
    let cli = Cli::new();
    cli.env
        .write_config("{agents: {list: [{id: 'research'}]}}")
        .unwrap();
    shows!(cli.run(&["tools", "--agent", "reserch"]));
}

#[test]
fn the_schema_is_json_schema() {
    let schema = Cli::new().run(&["config", "schema", "--json"]).json();
    assert!(
        schema["$schema"]
            .as_str()
            .unwrap()
            .contains("json-schema.org"),
        "{schema}"
    );
}

#[test]
fn a_configuration_that_cannot_be_written_says_so() {
    let cli = Cli::new();
    let args = ["config", "set", "tools.codeMode.timeoutMs", "500"];
    let mut command = cli.command(&args);
    command.env("CODECELL_STATE_DIR", "/proc/none");
    shows!(cli.finish(&args, command.output().unwrap()));
}

#[test]
fn a_key_that_does_not_exist_is_no_fault_of_a_file() {
    shows!(Cli::new().run(&["config", "get", "nosuch"]));
}
