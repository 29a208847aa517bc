//! The command line reference, `docs/cli.md`, made from the command tree.
//!
//! A test compares the committed file with the tree; with `UPDATE_EXPECTED=1` it writes it.

use std::fmt::Write as _;
use std::path::Path;

use clap::CommandFactory as _;

use crate::args::Cli;

const OPENING: &str = "# The command line\n\n\
This page is made from the help texts of the program; a test keeps it current\n\
(`UPDATE_EXPECTED=1 cargo test -p codecell-cli reference` writes it).\n\n\
Data goes to stdout, everything else to stderr. `--json` puts exactly one JSON value on stdout; when a\n\
command fails, that value is a `failed` result. Exit codes: 0 done, 1 the cell or tool failed, 2 wrong usage\n\
or configuration, 3 waiting, 130 interrupted. A reader that goes away ends a command quietly.\n";

/// The whole page.
fn render() -> String {
    let mut page = OPENING.to_owned();
    let mut root = Cli::command().term_width(100);
    root.build();
    section(&root, "codecell", &mut page);
    page
}

fn section(command: &clap::Command, path: &str, page: &mut String) {
    let help = command
        .clone()
        .term_width(100)
        .render_long_help()
        .to_string();
    let help: Vec<&str> = help.lines().map(str::trim_end).collect();
    let _ = write!(
        page,
        "\n## `{path}`\n\n```text\n{}\n```\n",
        help.join("\n").trim()
    );
    for inner in command.get_subcommands() {
        section(inner, &format!("{path} {}", inner.get_name()), page);
    }
}

/// Every command with its help, for the tests of the tree.
fn every_command(command: &clap::Command, path: &str, found: &mut Vec<(String, String)>) {
    found.push((
        path.to_owned(),
        command.clone().render_long_help().to_string(),
    ));
    for inner in command.get_subcommands() {
        every_command(inner, &format!("{path} {}", inner.get_name()), found);
    }
}

#[test]
fn the_reference_is_current() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/cli.md");
    let page = render();
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(&file, &page).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == page,
        "docs/cli.md is not current: run UPDATE_EXPECTED=1 cargo test -p codecell-cli reference"
    );
}

#[test]
fn every_help_starts_with_two_examples_that_parse() {
    let mut root = Cli::command();
    root.build();
    let mut found = Vec::new();
    every_command(&root, "codecell", &mut found);
    assert!(found.len() > 12, "the tree was walked");
    for (path, help) in found {
        let mut lines = help.lines();
        assert_eq!(lines.next(), Some("Examples:"), "{path}");
        let examples: Vec<&str> = lines.take_while(|line| line.starts_with("  ")).collect();
        assert_eq!(examples.len(), 2, "{path}");
        for example in examples {
            let words = shell_words(example);
            let parsed = Cli::command().try_get_matches_from(&words);
            assert!(parsed.is_ok(), "{example}: {}", parsed.unwrap_err());
        }
    }
}

#[test]
fn the_tree_is_consistent() {
    Cli::command().debug_assert();
}

/// The words of a simple shell command, up to a redirection.
fn shell_words(line: &str) -> Vec<String> {
    let mut words = Vec::new();
    let mut word = String::new();
    let mut quote = None;
    for c in line.trim().chars() {
        match (quote, c) {
            (None, '\'' | '"') => quote = Some(c),
            (Some(open), c) if c == open => quote = None,
            (None, ' ') => words.push(std::mem::take(&mut word)),
            (_, c) => word.push(c),
        }
    }
    words.push(word);
    words.into_iter().take_while(|word| word != ">").collect()
}
