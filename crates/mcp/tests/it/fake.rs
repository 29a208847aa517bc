//! A scripted MCP server on stdio, run by re-executing the test binary.
//!
//! It is a plain loop without any library of the protocol, so that it can lie in every way. What it
//! does with a call is in the name of the tool. A test starts it with [`arguments`] and [`SCRIPT`]
//! in its environment; the lines that the test harness prints around it are noise on stdout.

use std::io::{BufRead as _, Write as _};

use serde_json::{Value, json};

/// The variable that holds the script.
pub(crate) const SCRIPT: &str = "FAKE_MCP_SCRIPT";

/// Where a notification says which stream it is of.
const SUBSCRIPTION: &str = "io.modelcontextprotocol/subscriptionId";

/// The arguments with which the test binary becomes a server: the path of the test function that
/// calls [`serve_if_asked`].
pub(crate) fn arguments(test: &str) -> Vec<String> {
    ["--exact", test, "--nocapture", "--test-threads=1"]
        .map(str::to_owned)
        .to_vec()
}

/// Serves, if this process was started for it; never returns then.
pub(crate) fn serve_if_asked() {
    let Ok(script) = std::env::var(SCRIPT) else {
        return;
    };
    Fake::new(&script).serve();
    std::process::exit(0);
}

struct Fake {
    script: Value,
    /// Notifications so far, for the tool that tells them.
    heard: Vec<Value>,
    tools: Vec<Value>,
    /// The streams of news that were asked for; the last is open, unless it was hung up.
    streams: Vec<Value>,
    /// What the client said of itself.
    greeting: Value,
    /// Calls that wait for the answer to a question.
    asking: Vec<Value>,
    /// What came with each round of a call.
    rounds: Vec<Value>,
    /// Whether the tools were listed.
    has_listed: bool,
}

/// Closes the pipe from the client, whose writes break from now on.
fn hear_nothing() {
    let nothing = std::fs::File::open("/dev/null").unwrap();
    rustix::stdio::dup2_stdin(&nothing).unwrap();
}

impl Fake {
    fn new(script: &str) -> Self {
        let script: Value = serde_json::from_str(script).unwrap();
        let tools = script["tools"].as_array().cloned().unwrap_or_default();
        let tools = tools.into_iter().map(|tool| match tool {
            Value::String(name) => json!({
                "name": name, "description": format!("Does {name}."),
                "inputSchema": {"type": "object"},
            }),
            other => other,
        });
        Self {
            tools: tools.collect(),
            script,
            heard: Vec::new(),
            streams: Vec::new(),
            greeting: Value::Null,
            asking: Vec::new(),
            rounds: Vec::new(),
            has_listed: false,
        }
    }

    fn flag(&self, name: &str) -> bool {
        self.script[name] == json!(true)
    }

    fn serve(mut self) {
        for noise in self.script["noise"].as_array().into_iter().flatten() {
            write(noise.as_str().unwrap());
        }
        if let Some(text) = self.script["stderr"].as_str() {
            complain(text);
        }
        if self.flag("exit") {
            std::process::exit(3);
        }
        for line in std::io::stdin().lock().lines() {
            let Ok(line) = line else { return };
            let message: Value = serde_json::from_str(&line).unwrap();
            if self.flag("silent") {
                continue;
            }
            self.answer(&message);
        }
        if self.flag("stubborn") {
            loop {
                std::thread::park();
            }
        }
    }

    fn answer(&mut self, message: &Value) {
        let id = &message["id"];
        let params = &message["params"];
        match message["method"].as_str().unwrap_or_default() {
            "initialize" if self.flag("modern") => {
                error(id, -32601, "there is no initialize here");
            }
            "initialize" => {
                self.greeting = params.clone();
                let version = self.script["protocol"].as_str();
                let version = version.or(params["protocolVersion"].as_str()).unwrap();
                result(
                    id,
                    json!({
                        "protocolVersion": version,
                        "capabilities": self.capabilities(),
                        "serverInfo": {"name": "fake", "version": "1"},
                        "instructions": self.script["instructions"],
                    }),
                );
            }
            "server/discover" if self.flag("modern") => result(
                id,
                json!({
                    "resultType": "complete",
                    "supportedVersions": ["2026-07-28"],
                    "capabilities": self.capabilities(),
                    "serverInfo": {"name": "fake", "version": "1"},
                    "ttlMs": 0, "cacheScope": "private",
                }),
            ),
            "subscriptions/listen" if self.flag("modern") => {
                self.streams.push(id.clone());
                let params = json!({
                    "_meta": {SUBSCRIPTION: id}, "notifications": params["notifications"],
                });
                notify("notifications/subscriptions/acknowledged", params);
            }
            "tools/list" => {
                if self.flag("lists_once") && self.has_listed {
                    std::process::exit(7);
                }
                self.has_listed = true;
                self.list(id, params, "tools");
            }
            "resources/list" => self.list(id, params, "resources"),
            "prompts/list" => self.list(id, params, "prompts"),
            "resources/read" => result(
                id,
                json!({"contents": [
                    {"uri": params["uri"], "text": "content"}
                ]}),
            ),
            "prompts/get" => result(
                id,
                json!({"messages": [
                    {"role": "user", "content": {"type": "text", "text": params.to_string()}}
                ]}),
            ),
            "tools/call" => self.call(id, params),
            "" => self.hear_answer(message),
            _ if id.is_null() => self.heard.push(message.clone()),
            other => error(id, -32601, &format!("no {other}")),
        }
    }

    /// The answer to a question of ours ends the call that it was for.
    fn hear_answer(&mut self, answer: &Value) {
        if let Some(call) = self.asking.pop() {
            let told = json!({"result": answer["result"], "error": answer["error"]["code"]});
            result(&call, json!({"content": [], "structuredContent": told}));
        }
    }

    /// Answers with each of the rounds that the call describes, then with what came in them.
    fn round(&mut self, id: &Value, params: &Value) {
        if self.flag("deaf_after_a_round") {
            hear_nothing();
        }
        let at = self.rounds.len();
        self.rounds.push(json!({
            "id": id, "state": params["requestState"], "responses": params["inputResponses"],
        }));
        match params["arguments"]["rounds"].get(at) {
            Some(round) => result(id, round.clone()),
            None => result(
                id,
                json!({"content": [], "structuredContent": {"rounds": self.rounds}}),
            ),
        }
    }

    fn capabilities(&self) -> Value {
        match &self.script["capabilities"] {
            Value::Null => json!({"tools": {"listChanged": true}}),
            given => given.clone(),
        }
    }

    /// Pages of `pageSize` items; the cursor is the next item's place.
    fn list(&self, id: &Value, params: &Value, key: &str) {
        let items = match key {
            "tools" => self.tools.clone(),
            other => self.script[other].as_array().cloned().unwrap_or_default(),
        };
        if self.flag("endless") {
            return result(
                id,
                json!({key: items, "nextCursor": format!("{}x", params["cursor"])}),
            );
        }
        let size = self.script["pageSize"].as_u64().unwrap_or(1_000) as usize;
        let from: usize = params["cursor"]
            .as_str()
            .map_or(0, |text| text.parse().unwrap());
        let end = items.len().min(from + size);
        let mut page = json!({key: &items[from..end]});
        if end < items.len() {
            page["nextCursor"] = json!(end.to_string());
        }
        result(id, page);
    }

    fn call(&mut self, id: &Value, params: &Value) {
        let arguments = &params["arguments"];
        let text = |text: String| json!({"content": [{"type": "text", "text": text}]});
        match params["name"].as_str().unwrap_or_default() {
            "die" => {
                complain("dying as asked");
                if let Some(log) = arguments["log"].as_str() {
                    let mut log = std::fs::File::options().append(true).open(log).unwrap();
                    writeln!(log, "died").unwrap();
                }
                std::process::exit(7);
            }
            "deaf" => {
                hear_nothing();
                result(id, text("deaf from now on".to_owned()));
            }
            "stall" => {}
            "ask" => {
                self.asking.push(id.clone());
                let mut question = arguments["question"].clone();
                question["jsonrpc"] = json!("2.0");
                question["id"] = json!("q");
                write(&question.to_string());
            }
            "greeting" => result(
                id,
                json!({"content": [], "structuredContent": self.greeting}),
            ),
            "streams" => result(id, text(self.streams.len().to_string())),
            "hang_up" => {
                // What comes now is told to nobody.
                self.tools
                    .push(json!({"name": "unheard", "inputSchema": {"type": "object"}}));
                let stream = self.streams.last().unwrap();
                result(
                    stream,
                    json!({"resultType": "complete", "_meta": {SUBSCRIPTION: stream}}),
                );
                result(id, text("hung up".to_owned()));
            }
            "rounds" => self.round(id, params),
            "twice" => {
                result(id, text("first".to_owned()));
                result(id, text("second".to_owned()));
            }
            "other_id" => {
                result(&json!(987_654), text("not yours".to_owned()));
                result(&json!("str"), text("not yours".to_owned()));
            }
            "flood" => {
                for n in 0..20_000 {
                    notify("notifications/message", json!({"level": "info", "data": n}));
                }
                result(id, text("after the flood".to_owned()));
            }
            "big" => result(
                id,
                text("x".repeat(arguments["bytes"].as_u64().unwrap() as usize)),
            ),
            "noisy" => {
                write("{\"half\": ");
                write("plain words");
                write(&"n".repeat(100_000));
                result(id, text("quiet".to_owned()));
            }
            "environment" => {
                let all: serde_json::Map<_, _> = std::env::vars()
                    .map(|(name, value)| (name, Value::String(value)))
                    .collect();
                result(id, json!({"content": [], "structuredContent": all}));
            }
            "pid" => result(id, text(std::process::id().to_string())),
            "offspring" => {
                let child = std::process::Command::new("sleep").arg("1000").spawn();
                let child = child.unwrap();
                result(id, text(child.id().to_string()));
                // Whoever ends this process ends the child: that is what the test looks at.
                std::mem::forget(child);
            }
            "heard" => result(
                id,
                json!({"content": [], "structuredContent": {"heard": self.heard}}),
            ),
            "refuse" => error(id, -32602, "never like this"),
            "fail" => result(
                id,
                json!({"content": [{"type": "text", "text": "it broke"}], "isError": true}),
            ),
            "malformed" => result(id, json!("a text")),
            "grow" => {
                self.tools
                    .push(json!({"name": "grown", "inputSchema": {"type": "object"}}));
                let params = match self.streams.last() {
                    Some(stream) => json!({"_meta": {SUBSCRIPTION: stream}}),
                    None => json!({}),
                };
                notify("notifications/tools/list_changed", params);
                result(id, text("grown".to_owned()));
            }
            "twist" => {
                for tool in &mut self.tools {
                    if tool["name"] == "echo" {
                        tool["description"] = json!("Now does something else.");
                    }
                }
                notify("notifications/tools/list_changed", json!({}));
                result(id, text("twisted".to_owned()));
            }
            "slow_progress" => {
                for n in 0..5 {
                    let token = &params["_meta"]["progressToken"];
                    notify(
                        "notifications/progress",
                        json!({"progressToken": token, "progress": n}),
                    );
                    std::thread::sleep(std::time::Duration::from_millis(150));
                }
                result(id, text("done".to_owned()));
            }
            name => result(
                id,
                json!({
                    "content": [{"type": "text", "text": format!("{name} {arguments}")}],
                    "structuredContent": {"name": name, "arguments": arguments},
                }),
            ),
        }
    }
}

fn result(id: &Value, result: Value) {
    write(&json!({"jsonrpc": "2.0", "id": id, "result": result}).to_string());
}

fn error(id: &Value, code: i32, message: &str) {
    let error = json!({"code": code, "message": message});
    write(&json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string());
}

fn notify(method: &str, params: Value) {
    write(&json!({"jsonrpc": "2.0", "method": method, "params": params}).to_string());
}

fn write(line: &str) {
    let mut out = std::io::stdout().lock();
    // A reader that has gone is the end of this process.
    if writeln!(out, "{line}").and_then(|()| out.flush()).is_err() {
        std::process::exit(0);
    }
}

fn complain(text: &str) {
    let mut err = std::io::stderr().lock();
    err.write_all(text.as_bytes()).unwrap();
    err.write_all(b"\n").unwrap();
}
