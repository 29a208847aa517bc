//! What a client on pipes can do wrong, and what that does to the others: nothing.

use std::io::{BufRead as _, BufReader, Write as _};
use std::process::Stdio;

use serde_json::{Value, json};

use super::pipes::Pipes;
use crate::harness::Cli;

#[test]
fn lines_that_are_no_protocol_are_skipped_or_refused() {
    let cli = Cli::new();
    let mut client = Pipes::connected(&cli, &[]);
    let deep = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":77,\"method\":\"ping\",\"params\":{}{}}}",
        "[".repeat(50_000),
        "]".repeat(50_000)
    );
    let huge = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":78,\"method\":\"ping\",\"params\":{{\"x\":\"{}\"}}}}",
        "x".repeat(5 << 20)
    );
    for line in [
        "",
        "hello",
        "{",
        "null",
        "[]",
        "{\"jsonrpc\":\"2.0\"}",
        "\u{0}\u{7}",
        "{\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"tools/call\"}",
        "{\"jsonrpc\":\"2.0\",\"id\":79,\"result\":{}}",
        "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":\"none\"}}",
        &deep,
        &huge,
    ] {
        client.write(line);
    }
    assert_eq!(client.exec("return 1")["value"], 1);
    let unknown = client.request("tools/destroy", json!({}));
    assert_eq!(unknown["error"]["code"], -32601, "{unknown}");
    let wrong = client.request("tools/call", json!({"name": "exec", "arguments": "code"}));
    assert!(wrong.get("error").is_some(), "{wrong}");
    assert!(client.leave().success());
}

#[test]
fn a_flood_of_notifications_delays_nothing_for_long() {
    let cli = Cli::new();
    let mut client = Pipes::connected(&cli, &[]);
    for n in 0..20_000 {
        client.notify(
            "notifications/progress",
            json!({"progressToken": n, "progress": 1}),
        );
        client.notify(
            "notifications/cancelled",
            json!({"requestId": n + 1_000_000}),
        );
    }
    assert_eq!(client.exec("return 1")["value"], 1);
}

#[test]
fn a_client_that_does_not_read_is_read_no_further() {
    let cli = Cli::new();
    let mut child = cli
        .command(&["mcp"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::null())
        .spawn()
        .unwrap();
    let mut stdin = child.stdin.take().unwrap();
    const REQUESTS: usize = 5_000;
    let (sender, written) = std::sync::mpsc::channel();
    let writer = std::thread::spawn(move || {
        let hello = json!({
            "jsonrpc": "2.0", "id": 0, "method": "initialize",
            "params": {
                "protocolVersion": "2025-11-25", "capabilities": {},
                "clientInfo": {"name": "test", "version": "0"}
            }
        });
        writeln!(stdin, "{hello}").unwrap();
        for id in 1..=REQUESTS {
            let message = json!({"jsonrpc": "2.0", "id": id, "method": "tools/list"});
            writeln!(stdin, "{message}").unwrap();
            sender.send(id).unwrap();
        }
        stdin
    });
    // Each answer has kilobytes: long before the last request the front stops to read.
    let mut last = 0;
    while let Ok(id) = written.recv_timeout(std::time::Duration::from_secs(3)) {
        last = id;
    }
    assert!(last < REQUESTS, "the front read all {last} requests unread");
    let mut answers = 0;
    let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
    while answers <= REQUESTS {
        let line = lines.next().unwrap().unwrap();
        let message: Value = serde_json::from_str(&line).unwrap();
        assert!(message.get("result").is_some(), "{message}");
        answers += 1;
    }
    drop(writer.join().unwrap());
    assert!(child.wait().unwrap().success());
}
