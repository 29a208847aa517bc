//! Those who knock over HTTP: strangers, the impatient, the slow, and those who have a key.

use std::io::{Read as _, Write as _};
use std::os::unix::fs::MetadataExt as _;

use rustix::process::{Pid, Signal, kill_process};
use serde_json::{Value, json};

use super::door::{Door, call, initialize};
use super::pipes::structured;
use crate::harness::Cli;

/// The front is alive and its cells run.
fn assert_serves(door: &Door) {
    let session = door.session();
    let answer = door.call(&session, "exec", json!({"code": "return 6 * 7"}));
    assert_eq!(structured(&answer)["value"], 42, "{answer}");
}

#[test]
fn the_token_is_made_once_for_its_owner_and_its_place_is_said() {
    let cli = Cli::new();
    let door = Door::open(&cli, &[]);
    let file = cli.env.state().join("mcp.token");
    assert!(
        door.opening
            .iter()
            .any(|line| *line == format!("the token is in {}", file.display())),
        "{:?}",
        door.opening
    );
    assert_eq!(door.token.len(), 64);
    assert!(!door.opening.iter().any(|line| line.contains(&door.token)));
    let about = std::fs::metadata(&file).unwrap();
    assert_eq!(about.mode() & 0o777, 0o600);
    assert_serves(&door);
    let again = Door::open(&cli, &[]);
    assert_eq!(again.token, door.token);
}

#[test]
fn without_the_token_nobody_comes_in() {
    let cli = Cli::new();
    let door = Door::open(&cli, &[]);
    let message = initialize().to_string();
    let half = format!("Bearer {}", &door.token[..32]);
    let longer = format!("Bearer {}0", door.token);
    let basic = format!("Basic {}", door.token);
    for shown in [
        None,
        Some("Bearer "),
        Some("Bearer x"),
        Some(&half),
        Some(&longer),
        Some(&basic),
    ] {
        for method in ["POST", "GET", "DELETE", "PUT"] {
            let headers: Vec<_> = shown
                .iter()
                .map(|shown| ("Authorization", *shown))
                .collect();
            let answer = door.request(method, &headers, &message);
            assert_eq!(answer.status, 401, "{method} {shown:?}: {answer:?}");
            assert_eq!(
                answer.header("www-authenticate"),
                Some("Bearer realm=\"codecell\"")
            );
            assert!(!answer.body.contains(&door.token));
        }
    }
    assert_serves(&door);
}

#[test]
fn a_page_of_elsewhere_is_turned_away_by_host_and_origin() {
    let cli = Cli::new();
    let door = Door::open(&cli, &[]);
    for host in [
        "evil.example",
        "127.0.0.1.evil.example",
        "localhost.evil.example",
        "0.0.0.0",
        "[::2]",
        "",
    ] {
        let answer = door.post(&[("Host", host)], &initialize());
        assert!([400, 403].contains(&answer.status), "{host}: {answer:?}");
    }
    for origin in [
        "http://evil.example",
        "https://localhost.evil.example",
        "http://127.0.0.1.evil.example:80",
        "null",
        "file://",
        "nonsense",
    ] {
        let answer = door.post(&[("Origin", origin)], &initialize());
        assert_eq!(answer.status, 403, "{origin}: {answer:?}");
    }
    for origin in ["http://localhost:6274", "http://127.0.0.1:1"] {
        let answer = door.post(&[("Origin", origin)], &initialize());
        assert_eq!(answer.status, 200, "{origin}: {answer:?}");
    }
}

#[test]
fn names_that_were_allowed_come_in() {
    let cli = Cli::new();
    let allowed = [
        "--allow-host",
        "cells.example",
        "--allow-origin",
        "https://app.example",
    ];
    let door = Door::open(&cli, &allowed);
    let with = |host: &str, origin: &str| {
        door.post(&[("Host", host), ("Origin", origin)], &initialize())
            .status
    };
    assert_eq!(with("cells.example", "https://app.example"), 200);
    assert_eq!(with("other.example", "https://app.example"), 403);
    assert_eq!(with("cells.example", "https://other.example"), 403);
}

#[test]
fn sessions_cannot_be_guessed_and_do_not_see_each_other() {
    let cli = Cli::new();
    let door = Door::open(&cli, &[]);
    let (mine, yours) = (door.session(), door.session());
    assert_ne!(mine, yours);
    assert!(mine.len() >= 32, "{mine}");
    for guessed in [
        "1",
        "00000000-0000-0000-0000-000000000000",
        "' or 1=1",
        &"x".repeat(4000),
    ] {
        let answer = door.post(
            &[("Mcp-Session-Id", guessed)],
            &call("exec", json!({"code": "1"}), None),
        );
        assert_eq!(answer.status, 404, "{guessed}: {answer:?}");
    }
    let waiting = door.call(
        &mine,
        "exec",
        json!({"code": "await yield_control(); return 1"}),
    );
    let run_id = &structured(&waiting)["runId"];
    let stolen = structured(&door.call(&yours, "wait", json!({"runId": run_id})));
    assert_eq!(
        stolen["error"],
        "code mode run belongs to a different session."
    );
    assert_eq!(stolen["failure"]["kind"], "wrong_scope");
    door.call(
        &mine,
        "exec",
        json!({"code": "return await results.save('secret')"}),
    );
    let read = json!({
        "jsonrpc": "2.0", "id": 7, "method": "resources/read",
        "params": {"uri": "codecell://saved/r1"}
    });
    let foreign = door.post(&[("Mcp-Session-Id", &yours)], &read).message(7);
    assert!(foreign.get("error").is_some(), "{foreign}");
    let own = door.post(&[("Mcp-Session-Id", &mine)], &read).message(7);
    assert_eq!(own["result"]["contents"][0]["text"], "\"secret\"", "{own}");
    assert_eq!(
        structured(&door.call(&mine, "wait", json!({"runId": run_id})))["value"],
        1
    );
}

#[test]
fn a_session_that_ends_takes_its_cells_with_it() {
    let cli = Cli::new();
    let door = Door::open(&cli, &["--approve", "always"]);
    let session = door.session();
    let code = "tools.exec({ command: 'echo $$ > pid; exec sleep 1000' }); await yield_control()";
    let waiting = door.call(&session, "exec", json!({"code": code}));
    assert_eq!(structured(&waiting)["status"], "waiting", "{waiting}");
    let pid = super::stopping::until_runs(&cli);
    let bearer = door.bearer();
    let headers = [
        ("Authorization", bearer.as_str()),
        ("Mcp-Session-Id", session.as_str()),
    ];
    let ended = door.request("DELETE", &headers, "");
    assert!([200, 202, 204].contains(&ended.status), "{ended:?}");
    super::stopping::until_gone(&pid);
    let after = door.post(
        &[("Mcp-Session-Id", &session)],
        &call("exec", json!({"code": "1"}), None),
    );
    assert_eq!(after.status, 404, "{after:?}");
    assert_serves(&door);
}

/// What a request of the revision without sessions carries.
fn meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientInfo": {"name": "test", "version": "0"},
        "io.modelcontextprotocol/clientCapabilities": {}
    })
}

fn alone(door: &Door, name: &str, arguments: Value) -> Value {
    let headers = [
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", name),
    ];
    let answer = door.post(&headers, &call(name, arguments, Some(meta())));
    assert_eq!(answer.status, 200, "{answer:?}");
    structured(&answer.message(7))
}

#[test]
fn without_sessions_the_holder_of_the_token_comes_back_to_the_cell() {
    let cli = Cli::new();
    let door = Door::open(&cli, &[]);
    let first = alone(
        &door,
        "exec",
        json!({"code": "await yield_control(); return 3"}),
    );
    assert_eq!(first["status"], "waiting", "{first}");
    // A session is somebody else, whoever holds the token.
    let session = door.session();
    let foreign = structured(&door.call(&session, "wait", json!({"runId": first["runId"]})));
    assert_eq!(foreign["failure"]["kind"], "wrong_scope", "{foreign}");
    let second = alone(&door, "wait", json!({"runId": first["runId"]}));
    assert_eq!(second["value"], 3, "{second}");
    // Another instance of the server is another scope.
    let other = Door::open(&cli, &[]);
    let gone = alone(&other, "wait", json!({"runId": first["runId"]}));
    assert_eq!(gone["failure"]["kind"], "unknown_run", "{gone}");
}

#[test]
fn without_sessions_whoever_hangs_up_has_cancelled() {
    let cli = Cli::new();
    let door = Door::open(&cli, &["--approve", "always"]);
    let code = "return await tools.exec({ command: 'echo $$ > pid; exec sleep 1000' })";
    let message = call("exec", json!({"code": code}), Some(meta())).to_string();
    let bearer = door.bearer();
    let headers = [
        ("Authorization", bearer.as_str()),
        ("MCP-Protocol-Version", "2026-07-28"),
        ("Mcp-Method", "tools/call"),
        ("Mcp-Name", "exec"),
    ];
    let mut stream = door.connect();
    stream
        .write_all(door.written("POST", &headers, &message).as_bytes())
        .unwrap();
    let pid = super::stopping::until_runs(&cli);
    drop(stream);
    super::stopping::until_gone(&pid);
}

#[test]
fn without_sessions_and_without_a_token_nothing_is_suspended() {
    let cli = Cli::new();
    let door = Door::open(&cli, &["--no-token"]);
    let result = alone(
        &door,
        "exec",
        json!({"code": "await yield_control(); return 3"}),
    );
    assert_eq!(
        result["failure"]["kind"], "too_many_suspended_runs",
        "{result}"
    );
    assert_eq!(
        alone(&door, "exec", json!({"code": "return 3"}))["value"],
        3
    );
    // Saved results of one request are no other's.
    alone(
        &door,
        "exec",
        json!({"code": "return await results.save(1)"}),
    );
    let lost = alone(
        &door,
        "exec",
        json!({"code": "return await results.load('r1')"}),
    );
    assert_eq!(lost["status"], "failed", "{lost}");
}

#[test]
fn no_token_is_for_this_machine_only() {
    let ran = Cli::new().run(&["mcp", "--http", "0.0.0.0:0", "--no-token"]);
    assert_eq!(ran.code, Some(2), "{}", ran.stderr);
    assert!(
        ran.stderr.contains("would serve other machines"),
        "{}",
        ran.stderr
    );
}

#[test]
fn large_deep_and_broken_messages_are_refused_and_harm_nobody() {
    let cli = Cli::new();
    let door = Door::open(&cli, &[]);
    let bearer = door.bearer();
    let headers = [("Authorization", bearer.as_str())];
    let huge = call("exec", json!({"code": "x".repeat(5 << 20)}), None).to_string();
    let answer = door.request("POST", &headers, &huge);
    assert_eq!(answer.status, 413, "{answer:?}");
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"ping\",\"params\":{}{}}}",
        "[".repeat(100_000),
        "]".repeat(100_000)
    );
    let lies = [
        deep.as_str(),
        "",
        "{",
        "null",
        "[]",
        "{\"jsonrpc\":\"2.0\"}",
        "{\"jsonrpc\":\"1.0\",\"id\":1,\"method\":\"ping\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"ping\"}",
        "\u{0}\u{1}",
    ];
    for body in lies {
        let answer = door.request("POST", &headers, body);
        assert!(
            (400..500).contains(&answer.status),
            "{}: {answer:?}",
            &body[..body.len().min(60)]
        );
    }
    for head in [
        "GET / HTTP/9\r\n\r\n",
        "\r\n\r\n",
        "POST /mcp HTTP/1.1\r\nContent-Length: -1\r\n\r\n",
    ] {
        let answer = door.raw(head.as_bytes());
        assert!(
            [0, 400, 401, 505].contains(&answer.status),
            "{head}: {answer:?}"
        );
    }
    let long_head = format!("GET /mcp HTTP/1.1\r\nX: {}\r\n\r\n", "y".repeat(200 << 10));
    let answer = door.raw(long_head.as_bytes());
    assert!([0, 400, 431].contains(&answer.status), "{answer:?}");
    assert_serves(&door);
}

#[test]
fn those_who_stop_in_the_middle_hold_up_nobody() {
    let cli = Cli::new();
    let door = Door::open(&cli, &[]);
    let whole = door.written(
        "POST",
        &[("Authorization", &door.bearer())],
        &initialize().to_string(),
    );
    let (head, _) = whole.split_once("\r\n\r\n").unwrap();
    let beginnings = ["POST /mcp HT", head, &whole[..whole.len() - 10], ""];
    let slow: Vec<_> = beginnings
        .iter()
        .cycle()
        .take(200)
        .map(|part| {
            let mut stream = door.connect();
            stream.write_all(part.as_bytes()).unwrap();
            stream
        })
        .collect();
    assert_serves(&door);
    drop(slow);
    assert_serves(&door);
}

#[test]
fn a_slow_body_ends_by_the_clock() {
    let cli = Cli::new();
    let door = Door::open(&cli, &[]);
    let whole = door.written(
        "POST",
        &[("Authorization", &door.bearer())],
        &initialize().to_string(),
    );
    let mut stream = door.connect();
    stream
        .write_all(&whole.as_bytes()[..whole.len() - 5])
        .unwrap();
    let mut answer = String::new();
    // Ends by itself, long before this test gives up.
    stream.read_to_string(&mut answer).unwrap();
    assert!(!answer.contains("200 OK"), "{answer}");
}

#[test]
fn a_flood_of_notifications_and_sessions_is_bounded() {
    let cli = Cli::new();
    let door = Door::open(&cli, &[]);
    let session = door.session();
    let noise = json!({"jsonrpc": "2.0", "method": "notifications/progress",
        "params": {"progressToken": "none", "progress": 1}});
    for _ in 0..300 {
        let answer = door.post(&[("Mcp-Session-Id", &session)], &noise);
        assert_eq!(answer.status, 202, "{answer:?}");
    }
    let mut refused = 0;
    for _ in 0..600 {
        match door.post(&[], &initialize()).status {
            200 => {}
            503 => refused += 1,
            other => panic!("{other}"),
        }
    }
    assert!(refused > 50, "{refused}");
    // Those who were there before go on.
    let answer = door.call(&session, "exec", json!({"code": "return 1"}));
    assert_eq!(structured(&answer)["value"], 1);
}

#[test]
fn a_signal_ends_sessions_and_the_process() {
    let cli = Cli::new();
    let mut door = Door::open(&cli, &["--approve", "always"]);
    let session = door.session();
    let code = "tools.exec({ command: 'echo $$ > pid; exec sleep 1000' }); await yield_control()";
    door.call(&session, "exec", json!({"code": code}));
    let pid = super::stopping::until_runs(&cli);
    kill_process(Pid::from_child(&door.child), Signal::INT).unwrap();
    assert_eq!(door.child.wait().unwrap().code(), Some(130));
    super::stopping::until_gone(&pid);
}
