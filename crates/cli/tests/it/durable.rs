//! Cells that outlive their command, and records that are run again.

use std::os::unix::fs::PermissionsExt as _;

use serde_json::json;

use crate::harness::Cli;

const STORE: &str = "{tools: {codeMode: {snapshotStore: {kind: 'sqlite'}}}}";

/// The id of the cell that a command leaves suspended, as it is: shown output hides ids.
fn suspended(cli: &Cli, code: &str) -> String {
    let output = cli.command(&["exec", "--json", code]).output().unwrap();
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    assert_eq!(
        (output.status.code(), &result["reason"]),
        (Some(3), &json!("yield"))
    );
    result["runId"].as_str().unwrap().to_owned()
}

fn stored() -> Cli {
    let cli = Cli::with_files(&[("a.txt", "hello\n")]);
    cli.env.write_config(STORE).unwrap();
    cli
}

#[test]
fn a_cell_that_yields_is_resumed_by_another_command() {
    let cli = stored();
    let code = "const before = (await tools.read({path: 'a.txt'})).text; text('first'); await yield_control('x'); \
        return [before, (await tools.ls()).entries.length]";
    let id = &suspended(&cli, code);
    let second = cli.run(&["wait", id, "--json"]);
    assert_eq!(second.code, Some(0), "{}", second.show());
    assert_eq!(second.json()["value"], json!(["hello\n", 1]));
    let again = cli.run(&["wait", id, "--json"]);
    assert_eq!(again.json()["value"], second.json()["value"]);
    let other = cli.run(&["wait", id, "--json", "--agent", "main", "--workspace", ".."]);
    assert_eq!(other.json()["failure"]["kind"], json!("wrong_scope"));
}

#[test]
fn a_denied_tool_is_gone_when_the_cell_goes_on() {
    let cli = stored();
    let code = "await yield_control(); try { return await tools.ls() } catch (e) { return e.effectStatus }";
    let id = suspended(&cli, code);
    let ran = cli.run(&["wait", &id, "--json", "--deny", "ls"]);
    assert_eq!(ran.json()["value"], json!("notStarted"));
}

#[test]
fn a_store_that_others_could_open_is_refused() {
    let cli = stored();
    assert_eq!(cli.run(&["exec", "return 1"]).code, Some(0));
    let key = cli.env.state().join("store.key");
    std::fs::set_permissions(&key, std::fs::Permissions::from_mode(0o644)).unwrap();
    let ran = cli.run(&["exec", "return 1"]);
    assert_eq!(ran.code, Some(1), "{}", ran.show());
    assert!(ran.show().contains("chmod 600"), "{}", ran.show());
    let doctor = cli.run(&["doctor", "--json"]);
    assert_eq!(doctor.code, Some(1), "{}", doctor.show());
}

#[test]
fn the_files_of_the_store_are_out_of_reach() {
    let cli = stored();
    let inside =
        "{tools: {codeMode: {snapshotStore: {kind: 'sqlite', path: '../workspace/cells.db'}}}}";
    cli.env.write_config(inside).unwrap();
    let code =
        "try { await tools.read({path: 'cells.db'}); return 'read' } catch (e) { return e.code }";
    let ran = cli.run(&["exec", "--json", code]);
    assert_ne!(ran.json()["value"], json!("read"), "{}", ran.show());
}

#[test]
fn a_record_is_replayed_and_forked() {
    let cli = Cli::with_files(&[("a.txt", "one\n")]);
    let code = "const r = [Math.random()]; for (let i = 0; i < 3; i++) r.push((await tools.read({path: 'a.txt'})).text); return r";
    let first = cli.run(&["exec", "--json", "--record", "cell.record", code]);
    assert_eq!(first.code, Some(0), "{}", first.show());
    let record = cli.env.workspace().join("cell.record");
    let mode = std::fs::metadata(&record).unwrap().permissions().mode() & 0o777;
    assert_eq!(mode, 0o600);
    cli.env.write("a.txt", "two\n").unwrap();
    let again = cli.run(&["replay", "cell.record", "--json"]);
    assert_eq!(
        again.json()["value"],
        first.json()["value"],
        "{}",
        again.show()
    );
    let fork = cli
        .run(&["replay", "cell.record", "--until", "2", "--fork", "--json"])
        .json();
    assert_eq!(fork["value"][0], first.json()["value"][0]);
    assert_eq!(
        (&fork["value"][2], &fork["value"][3]),
        (&json!("one\n"), &json!("two\n"))
    );
    let stopped = cli.run(&["replay", "cell.record", "--until", "1", "--json"]);
    assert_eq!(stopped.code, Some(1), "{}", stopped.show());
    let taken = cli.run(&["exec", "--record", "cell.record", "return 1"]);
    assert_eq!(
        taken.code,
        Some(2),
        "a record is never written over: {}",
        taken.show()
    );
}

#[test]
fn the_doctor_tells_of_stored_cells() {
    let cli = stored();
    suspended(&cli, "await yield_control(); return 1");
    let doctor = cli.run(&["doctor", "--json"]);
    let text = doctor.json().to_string();
    assert!(
        text.contains("1 suspended") && text.contains("goes on with it"),
        "{text}"
    );
}

#[test]
fn records_without_a_store_are_refused() {
    let cli = Cli::new();
    cli.env
        .write_config("{tools: {codeMode: {records: true}}}")
        .unwrap();
    let ran = cli.run(&["exec", "return 1"]);
    assert_eq!(ran.code, Some(2), "{}", ran.show());
}

/// A store, and two servers in `mcp.json` whose tools echo and stall.
fn stored_with_servers() -> Cli {
    let tools = json!({"tools": ["echo", "stall"]});
    let cli = crate::servers::with_servers(&[("one", tools.clone()), ("two", tools)]);
    cli.env.write_config(STORE).unwrap();
    cli
}

fn suspended_with_servers(cli: &Cli, code: &str) -> String {
    let rights = ["--mcp-config", "mcp.json", "--approve", "always"];
    let args = [&["exec", "--json", code][..], &rights].concat();
    let output = cli.command(&args).output().unwrap();
    let result: serde_json::Value = serde_json::from_slice(&output.stdout).unwrap();
    result["runId"].as_str().unwrap().to_owned()
}

#[test]
fn a_server_that_left_the_configuration_is_gone_and_the_other_goes_on() {
    let cli = stored_with_servers();
    let code = "const {echo} = MCP.one; await echo({n: 1}); await yield_control(); \
        const gone = await echo({n: 2}).catch((e) => [e.code, e.effectStatus]); \
        return [gone, (await MCP.two.echo({n: 3})).structuredContent.arguments.n]";
    let id = suspended_with_servers(&cli, code);
    let file = std::fs::read_to_string(cli.env.workspace().join("mcp.json")).unwrap();
    let mut file: serde_json::Value = serde_json::from_str(&file).unwrap();
    file["mcpServers"].as_object_mut().unwrap().remove("one");
    cli.env.write("mcp.json", file.to_string()).unwrap();
    let rights = ["--mcp-config", "mcp.json", "--approve", "always"];
    let ran = cli.run(&[&["wait", &id, "--json"][..], &rights].concat());
    assert_eq!(
        ran.json()["value"],
        json!([["tool_unavailable", "notStarted"], 3]),
        "{}",
        ran.show()
    );
}

#[test]
fn a_call_of_a_server_whose_command_was_killed_is_unknown() {
    let cli = stored_with_servers();
    let code = "await yield_control(); \
        const stalled = MCP.one.stall().catch((e) => [e.code, e.effectStatus, e.tool]); \
        await tools.write({path: 'called', content: ''}).catch(() => 0); \
        return [await stalled, (await MCP.one.echo({n: 1})).structuredContent.arguments.n]";
    let id = suspended_with_servers(&cli, code);
    let rights = ["--mcp-config", "mcp.json", "--approve", "always"];
    let args = [&["wait", &id, "--json"][..], &rights].concat();
    let mut killed = cli.command(&args).spawn().unwrap();
    let called = cli.env.workspace().join("called");
    let deadline = std::time::Instant::now() + std::time::Duration::from_secs(60);
    while !called.exists() {
        assert!(std::time::Instant::now() < deadline, "it never got there");
        std::thread::sleep(std::time::Duration::from_millis(5));
    }
    killed.kill().unwrap();
    killed.wait().unwrap();
    let ran = cli.run(&args);
    assert_eq!(
        ran.json()["value"],
        json!([["lost", "unknown", "mcp:one:stall"], 1]),
        "{}",
        ran.show()
    );
    assert!(ran.json()["effects"]["unknown"].as_u64() >= Some(1));
}
