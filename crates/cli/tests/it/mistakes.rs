//! What people get wrong, and what they are told.

use serde_json::json;

use crate::harness::{Cli, shows};

#[test]
fn no_code() {
    shows!(Cli::new().run(&["exec"]));
}

#[test]
fn blank_stdin_is_no_code() {
    let ran = Cli::new().run_with_input(&["exec", "-"], " \n");
    assert_eq!(ran.code, Some(2));
}

#[test]
fn a_script_that_does_not_exist() {
    shows!(Cli::new().run(&["exec", "scripts/job.js"]));
}

#[test]
fn a_syntax_error_shows_the_line_and_a_caret() {
    shows!(Cli::new().run(&["exec", "const a = 1;\nconst b = ;\nreturn b"]));
}

#[test]
fn an_unknown_tool_shows_its_neighbours() {
    shows!(Cli::new().run(&["exec", "return await tools.raed({ path: 'a' })"]));
}

#[test]
fn wrong_arguments_show_what_is_expected() {
    shows!(Cli::new().run(&["exec", "return await tools.read({ file: 'a' })"]));
}

#[test]
fn an_exception_shows_where() {
    shows!(Cli::new().run(&["exec", "const list = undefined;\nreturn list.length"]));
}

#[test]
fn shell_is_refused_with_advice() {
    shows!(Cli::new().run(&["exec", "ls -la | head"]));
}

#[test]
fn modules_are_refused() {
    shows!(Cli::new().run(&[
        "exec",
        "const fs = require('fs');\nreturn fs.readdirSync('.')"
    ]));
}

#[test]
fn a_wrong_override_names_the_nearest_key() {
    let cli = Cli::new();
    shows!(cli.run(&["exec", "--set", "tools.codeMode.timeotMs=5", "return 1"]));
    let ran = cli.run(&[
        "exec",
        "--json",
        "--set",
        "tools.codeMode.timeoutMs=soon",
        "return 1",
    ]);
    assert_eq!(ran.code, Some(2));
    assert_eq!(ran.json()["failure"]["kind"], json!("invalid_config"));
}

#[test]
fn every_failure_is_one_json_value() {
    let cli = Cli::new();
    let cases: &[(&[&str], i32, &str)] = &[
        (&["exec", "--json"], 2, "invalid_arguments"),
        (&["exec", "--json", "return ]"], 1, "syntax_error"),
        (
            &["exec", "--json", "import x from 'y'"],
            1,
            "module_access_denied",
        ),
        (
            &["exec", "--json", "return await tools.nope()"],
            1,
            "nested_tool_failed",
        ),
        (
            &["exec", "--json", "throw new Error('x')"],
            1,
            "guest_error",
        ),
        (
            &["exec", "--json", "await new Promise(() => {})"],
            1,
            "deadlock",
        ),
        (
            &["exec", "--json", "return 'x'.repeat(100000)"],
            1,
            "output_limit_exceeded",
        ),
        (
            &["exec", "--json", "--agent", "nobody", "return 1"],
            2,
            "invalid_config",
        ),
        (
            &["exec", "--json", "--workspace", "none", "return 1"],
            2,
            "invalid_arguments",
        ),
    ];
    for (args, code, kind) in cases {
        let ran = cli.run(args);
        let result = ran.json();
        assert_eq!(
            (ran.code, &result["failure"]["kind"]),
            (Some(*code), &json!(kind)),
            "{args:?}: {result}"
        );
        assert_eq!(result["status"], "failed", "{args:?}");
    }
}
