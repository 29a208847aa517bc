//! The transcripts of the user guide are true: every command in it is run, and must show what the
//! guide says. With `UPDATE_EXPECTED=1` the guide is written anew.

use std::path::{Path, PathBuf};

use crate::harness::{Cli, binary, without_first_use};

/// The workspace that the guide's commands run in.
const FILES: &[(&str, &str)] = &[
    ("README.md", "# Orchard\n\nCounts apples. TODO: say how.\n"),
    (
        "src/count.js",
        "// TODO: pears too\nexport const count = trees => trees.flatMap(t => t.apples).length;\n",
    ),
    (
        "src/tree.js",
        "export const tree = apples => ({ apples });\n",
    ),
    (
        "todo.ts",
        "interface Hit { path: string; line: number }\nconst { matches } = await tools.grep({ pattern: \"TODO\" });\nreturn matches.map((m: Hit) => `${m.path}:${m.line}`);\n",
    ),
];

fn guide() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/guide.md")
}

#[test]
fn the_transcripts_are_true() {
    let text = std::fs::read_to_string(guide()).unwrap();
    let cli = Cli::with_files(FILES);
    let mut commands = 0;
    let mut shown = String::new();
    let mut lines = text.lines();
    while let Some(line) = lines.next() {
        shown.push_str(line);
        shown.push('\n');
        if line == "```console" {
            let block: Vec<&str> = lines.by_ref().take_while(|line| *line != "```").collect();
            for command in commands_of(&block) {
                commands += 1;
                shown.push_str(&format!("$ {command}\n{}", run(&cli, &command)));
            }
            shown.push_str("```\n");
        }
    }
    assert!(commands >= 10, "the guide has transcripts");
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(guide(), &shown).unwrap();
        return;
    }
    assert_same(&text, &shown);
}

/// Fails with the first line that differs.
fn assert_same(committed: &str, shown: &str) {
    for (at, (left, right)) in committed.lines().zip(shown.lines()).enumerate() {
        assert_eq!(
            left,
            right,
            "docs/guide.md, line {}: the left is committed, the right is shown",
            at + 1
        );
    }
    assert_eq!(committed, shown);
}

/// The commands of a block: each starts with `$ ` and ends where its quotes are closed.
fn commands_of(block: &[&str]) -> Vec<String> {
    let mut commands: Vec<String> = Vec::new();
    let mut is_open = false;
    for line in block {
        if let Some(command) = line.strip_prefix("$ ").filter(|_| !is_open) {
            commands.push(command.to_owned());
        } else if let Some(command) = commands.last_mut().filter(|_| is_open) {
            command.push('\n');
            command.push_str(line);
        } else {
            continue;
        }
        is_open = commands
            .last()
            .is_some_and(|command| command.matches('\'').count() % 2 == 1);
    }
    commands
}

/// What a terminal would show: both streams, and the exit code unless it is zero.
fn run(cli: &Cli, command: &str) -> String {
    let folder = Path::new(binary()).parent().unwrap();
    let path = std::env::join_paths([folder.to_owned()].into_iter().chain(std::env::split_paths(
        &std::env::var_os("PATH").unwrap_or_default(),
    )));
    let mut shell = cli.env.command("sh");
    shell
        .args(["-c", &format!("{command} 2>&1")])
        .env("PATH", path.unwrap());
    let output = shell.output().unwrap();
    let mut text = cli.redactor().redact(&without_first_use(
        String::from_utf8(output.stdout).unwrap(),
    ));
    match output.status.code() {
        Some(0) => {}
        code => text.push_str(&format!("(exit code {})\n", code.unwrap_or(-1))),
    }
    text
}
