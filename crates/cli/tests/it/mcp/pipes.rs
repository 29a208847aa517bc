//! A client on pipes that says what it is told to say, right or wrong.

use std::collections::VecDeque;
use std::io::{BufRead as _, BufReader, Write as _};
use std::process::{Child, ChildStdin, ExitStatus, Stdio};
use std::sync::mpsc::{Receiver, channel};
use std::time::Instant;

use serde_json::{Value, json};

use super::DEADLINE;
use crate::harness::Cli;

/// A running front, and what it has said.
pub(super) struct Pipes {
    pub(super) child: Child,
    stdin: Option<ChildStdin>,
    said: Receiver<String>,
    /// Messages that were read while another one was awaited.
    aside: VecDeque<Value>,
    next_id: u64,
}

impl Pipes {
    /// Starts `codecell mcp` with these arguments.
    pub(super) fn start(cli: &Cli, args: &[&str]) -> Self {
        let args = [&["mcp"], args].concat();
        let mut child = cli
            .command(&args)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let stdout = BufReader::new(child.stdout.take().unwrap());
        let (sender, said) = channel();
        std::thread::spawn(move || {
            for line in stdout.lines() {
                if line.is_err() || sender.send(line.unwrap()).is_err() {
                    return;
                }
            }
        });
        Self {
            stdin: child.stdin.take(),
            child,
            said,
            aside: VecDeque::new(),
            next_id: 0,
        }
    }

    /// Starts it and shakes hands.
    pub(super) fn connected(cli: &Cli, args: &[&str]) -> Self {
        Self::with_capabilities(cli, args, json!({}))
    }

    /// Starts it and shakes hands as a client that can do this.
    pub(super) fn with_capabilities(cli: &Cli, args: &[&str], capabilities: Value) -> Self {
        let mut pipes = Self::start(cli, args);
        let answer = pipes.request(
            "initialize",
            json!({
                "protocolVersion": "2025-11-25",
                "capabilities": capabilities,
                "clientInfo": {"name": "test", "version": "0"}
            }),
        );
        assert_eq!(
            answer["result"]["protocolVersion"], "2025-11-25",
            "{answer}"
        );
        pipes.notify("notifications/initialized", json!({}));
        pipes
    }

    /// Writes a line as it is.
    pub(super) fn write(&mut self, line: &str) {
        let stdin = self.stdin.as_mut().unwrap();
        stdin.write_all(line.as_bytes()).unwrap();
        stdin.write_all(b"\n").unwrap();
    }

    /// Sends a notification.
    pub(super) fn notify(&mut self, method: &str, params: Value) {
        let message = json!({"jsonrpc": "2.0", "method": method, "params": params});
        self.write(&message.to_string());
    }

    /// Sends a request and gives its id.
    pub(super) fn send(&mut self, method: &str, params: Value) -> u64 {
        self.next_id += 1;
        let id = self.next_id;
        let message = json!({"jsonrpc": "2.0", "id": id, "method": method, "params": params});
        self.write(&message.to_string());
        id
    }

    /// Sends a request and waits for its answer.
    pub(super) fn request(&mut self, method: &str, params: Value) -> Value {
        let id = self.send(method, params);
        self.answer(id)
    }

    /// Waits for the answer to a request.
    pub(super) fn answer(&mut self, id: u64) -> Value {
        self.wait_for(&format!("an answer to {id}"), |message| {
            message["id"] == id && message.get("method").is_none()
        })
    }

    /// Waits for a message of this method.
    pub(super) fn wait_for_method(&mut self, method: &str) -> Value {
        self.wait_for(method, |message| message["method"] == method)
    }

    /// Waits for the first message that fits; the others stay for later.
    pub(super) fn wait_for(&mut self, what: &str, fits: impl Fn(&Value) -> bool) -> Value {
        if let Some(at) = self.aside.iter().position(&fits) {
            return self.aside.remove(at).unwrap();
        }
        let end = Instant::now() + DEADLINE;
        loop {
            let left = end.saturating_duration_since(Instant::now());
            let line = self
                .said
                .recv_timeout(left)
                .unwrap_or_else(|_| panic!("never came: {what}; aside: {:?}", self.aside));
            let message: Value = serde_json::from_str(&line)
                .unwrap_or_else(|_| panic!("not protocol on stdout: {line}"));
            assert_eq!(message["jsonrpc"], "2.0", "{line}");
            if fits(&message) {
                return message;
            }
            self.aside.push_back(message);
        }
    }

    /// Calls `exec` and gives the structured result.
    pub(super) fn exec(&mut self, code: &str) -> Value {
        let id = self.send_exec(code);
        structured(&self.answer(id))
    }

    /// Calls `exec` and gives the request's id.
    pub(super) fn send_exec(&mut self, code: &str) -> u64 {
        self.send(
            "tools/call",
            json!({"name": "exec", "arguments": {"code": code}}),
        )
    }

    /// Calls `wait` and gives the structured result.
    pub(super) fn wait(&mut self, run_id: &Value) -> Value {
        let arguments = json!({"runId": run_id});
        structured(&self.request(
            "tools/call",
            json!({"name": "wait", "arguments": arguments}),
        ))
    }

    /// Closes stdin and waits for the end.
    pub(super) fn leave(mut self) -> ExitStatus {
        drop(self.stdin.take());
        self.ended()
    }

    /// Waits for the end of the process.
    pub(super) fn ended(&mut self) -> ExitStatus {
        let end = Instant::now() + DEADLINE;
        loop {
            if let Some(status) = self.child.try_wait().unwrap() {
                return status;
            }
            assert!(Instant::now() < end, "the front did not end");
            std::thread::yield_now();
        }
    }
}

impl Drop for Pipes {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// The structured result of a tool's answer, whose text says the same but for the timings.
pub(super) fn structured(answer: &Value) -> Value {
    let result = &answer["result"];
    let text = result["content"][0]["text"]
        .as_str()
        .unwrap_or_else(|| panic!("no text: {answer}"));
    let said: Value = serde_json::from_str(text).unwrap();
    let mut details = result["structuredContent"].clone();
    let telemetry = details["telemetry"].as_object_mut().unwrap();
    for timing in ["guestMs", "hostMs", "suspendMs", "resumeMs"] {
        telemetry.remove(timing);
    }
    assert_eq!(said, details, "{answer}");
    assert_eq!(
        result["isError"].as_bool().unwrap_or(false),
        said["status"] == "failed",
        "{answer}"
    );
    said
}
