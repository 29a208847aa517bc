//! Help, versions and what gets typed wrong before a command begins.

use crate::harness::{Cli, shows};

#[test]
fn without_arguments_the_help_is_shown_and_the_code_says_wrong_usage() {
    let ran = Cli::new().run(&[]);
    assert_eq!(ran.code, Some(2));
    assert_eq!(ran.stdout, "");
    insta::assert_snapshot!(ran.stderr);
}

#[test]
fn help_that_was_asked_for_goes_to_stdout() {
    let ran = Cli::new().run(&["exec", "--help"]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    assert!(ran.stdout.starts_with("Examples:\n"), "{}", ran.stdout);
}

#[test]
fn the_version_is_one_line() {
    let ran = Cli::new().run(&["--version"]);
    assert_eq!(
        ran.stdout,
        format!("codecell {}\n", env!("CARGO_PKG_VERSION"))
    );
}

#[test]
fn an_unknown_command_names_the_nearest() {
    shows!(Cli::new().run(&["exce", "1"]));
}

#[test]
fn an_unknown_flag_names_the_nearest() {
    shows!(Cli::new().run(&["exec", "--aprove", "always", "return 1"]));
}

#[test]
fn a_wrong_value_names_the_right_ones() {
    shows!(Cli::new().run(&["exec", "--approve", "sometimes", "return 1"]));
}

#[test]
fn wrong_usage_is_one_json_value_too() {
    let ran = Cli::new().run(&["exec", "--json", "--aprove"]);
    assert_eq!(ran.code, Some(2));
    let result = ran.json();
    assert_eq!(result["status"], "failed");
    assert_eq!(result["failure"]["kind"], "invalid_arguments");
    assert!(
        result["error"].as_str().unwrap().contains("--approve"),
        "{result}"
    );
}

#[test]
fn no_colours_where_there_is_no_terminal() {
    for args in [&["--help"][..], &["exce"], &["tools"], &["exec"]] {
        let ran = Cli::new().run(args);
        assert!(
            !ran.stdout.contains('\u{1b}') && !ran.stderr.contains('\u{1b}'),
            "{args:?}"
        );
    }
}

#[test]
fn a_reader_that_goes_away_ends_the_command_quietly() {
    let cli = Cli::new();
    let mut command = cli.command(&["config", "schema"]);
    let (reader, writer) = std::io::pipe().unwrap();
    drop(reader);
    let ran = cli.finish(
        &[],
        command
            .stdout(writer)
            .stderr(std::process::Stdio::piped())
            .spawn()
            .unwrap()
            .wait_with_output()
            .unwrap(),
    );
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
}

#[test]
fn a_full_disk_behind_stdout_is_named() {
    let cli = Cli::new();
    let full = std::fs::File::options()
        .write(true)
        .open("/dev/full")
        .unwrap();
    let ran = cli.finish(
        &["config", "schema"],
        cli.command(&["config", "schema"])
            .stdout(full)
            .output()
            .unwrap(),
    );
    shows!(ran);
}

#[test]
fn the_word_help_works_too() {
    let cli = Cli::new();
    for (word, flag) in [
        (&["help"][..], &["--help"][..]),
        (&["help", "exec"], &["exec", "--help"]),
        (&["help", "tools", "call"], &["tools", "call", "--help"]),
    ] {
        let (word, flag) = (cli.run(word), cli.run(flag));
        assert_eq!((word.code, &word.stdout), (Some(0), &flag.stdout));
    }
    assert_eq!(cli.run(&["help", "nosuch"]).code, Some(2));
}
