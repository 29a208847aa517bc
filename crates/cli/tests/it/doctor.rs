//! `codecell doctor`: what it says on a machine in order, and with things that are broken.

use serde_json::Value;

use crate::harness::Cli;

fn findings<'a>(report: &'a Value, name: &str) -> Vec<&'a Value> {
    report["findings"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|finding| finding["name"] == name)
        .collect()
}

#[test]
fn a_machine_in_order_gets_a_zero() {
    let cli = Cli::new();
    let ran = cli.run(&["doctor", "--json"]);
    let report = ran.json();
    assert_eq!(
        (ran.code, &report["ok"]),
        (Some(0), &Value::Bool(true)),
        "{report}"
    );
    let guest = findings(&report, "guest")[0]["found"].as_str().unwrap();
    assert_eq!(guest.len(), "image ".len() + 64, "the whole hash: {guest}");
    for name in ["engine", "cache", "workspace", "memory", "kernel", "files"] {
        assert!(!findings(&report, name).is_empty(), "{name}");
    }
}

#[test]
fn a_person_gets_lines() {
    let ran = Cli::new().run(&["doctor"]);
    assert_eq!(ran.code, Some(0));
    assert!(ran.stdout.starts_with("ok"), "{}", ran.stdout);
    assert_eq!(ran.stderr, "everything needed is there\n");
}

#[test]
fn values_clamps_and_ignored_keys_are_told() {
    let cli = Cli::new();
    cli.env
        .write_config(
            "{channels: {}, tools: {codeMode: {timeoutMs: 99999, maxSnapshotBytes: 2048}}}",
        )
        .unwrap();
    let report = cli.run(&["doctor", "--json"]).json();
    let config: Vec<String> = findings(&report, "config")
        .iter()
        .map(|finding| finding.to_string())
        .collect();
    let config = config.join("\n");
    for expected in [
        "tools.codeMode.timeoutMs is 99999; used is 60000",
        "channels is ignored",
        "codecell.json:1:",
    ] {
        assert!(config.contains(expected), "{expected} in {config}");
    }
    assert!(
        findings(&report, "limits")[0]["advice"]
            .as_str()
            .unwrap()
            .contains("every suspension fails")
    );
}

#[test]
fn a_broken_configuration_is_a_finding() {
    let cli = Cli::new();
    cli.env.write_config("{tool: {}}").unwrap();
    let ran = cli.run(&["doctor", "--json"]);
    assert_eq!(ran.code, Some(1));
    let report = ran.json();
    let broken = findings(&report, "config")[0];
    assert_eq!(broken["status"], "broken");
    assert!(
        broken["found"].as_str().unwrap().contains("`tools`"),
        "{broken}"
    );
}

#[test]
fn keys_of_providers_are_named_and_never_shown() {
    let cli = Cli::new();
    let output = cli
        .command(&["doctor"])
        .env("OPENAI_API_KEY", "sk-very-secret")
        .output()
        .unwrap();
    let ran = cli.finish(&["doctor"], output);
    assert!(
        ran.stdout.contains("OPENAI_API_KEY") && !ran.stdout.contains("sk-very"),
        "{}",
        ran.stdout
    );
}

#[test]
fn too_little_address_space_is_named_with_its_cure() {
    let cli = Cli::new();
    let mut command = cli.env.command("sh");
    command.args([
        "-c",
        "ulimit -v 3000000; exec \"$0\" doctor",
        crate::harness::binary(),
    ]);
    let ran = cli.finish(&["doctor"], command.output().unwrap());
    assert_eq!(ran.code, Some(1));
    assert!(ran.stdout.contains("ulimit -v unlimited"), "{}", ran.show());
}

#[test]
fn a_denial_of_nothing_is_a_finding_and_every_line_has_its_own_name() {
    let cli = Cli::new();
    cli.env.write_config("{tools: {deny: ['exce']}}").unwrap();
    let report = cli.run(&["doctor", "--json"]).json();
    let warned = findings(&report, "config")
        .iter()
        .any(|finding| finding["status"] == "warning" && finding.to_string().contains("exec"));
    assert!(warned, "{report}");
    for name in ["cache", "memory", "kernel"] {
        assert_eq!(findings(&report, name).len(), 1, "{name}");
    }
    let ran = cli.run(&["doctor"]);
    assert!(ran.stderr.contains("1 warning"), "{}", ran.stderr);
}
