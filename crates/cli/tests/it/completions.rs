//! Completion scripts: the shells themselves judge them, where they are installed.

use std::process::Command;

use crate::harness::Cli;

fn script(shell: &str) -> String {
    let ran = Cli::new().run(&["completions", shell]);
    assert_eq!((ran.code, ran.stderr.as_str()), (Some(0), ""));
    ran.stdout
}

/// Whether the shell accepts the script; `None` if it is not installed.
fn accepts(shell: &str, script: &str) -> Option<bool> {
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("script");
    std::fs::write(&file, script).unwrap();
    let status = Command::new(shell).arg("-n").arg(&file).status().ok()?;
    Some(status.success())
}

#[test]
fn every_shell_knows_every_command() {
    for shell in ["bash", "zsh", "fish"] {
        let script = script(shell);
        for word in [
            "exec", "wait", "tools", "describe", "config", "validate", "doctor", "no-wait",
        ] {
            assert!(script.contains(word), "{shell}: {word}");
        }
        match accepts(shell, &script) {
            Some(accepted) => assert!(accepted, "{shell} refuses its script"),
            None => eprintln!("skipped: {shell} is not installed"),
        }
    }
}

#[test]
fn another_shell_is_refused_with_the_known_ones() {
    let ran = Cli::new().run(&["completions", "tcsh"]);
    assert_eq!(ran.code, Some(2));
    assert!(ran.stderr.contains("bash, zsh, fish"), "{}", ran.stderr);
}
