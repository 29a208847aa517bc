//! A client over HTTP that writes its requests by hand, so that it can write wrong ones.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpStream};
use std::process::{Child, Stdio};

use serde_json::{Value, json};

use super::DEADLINE;
use crate::harness::Cli;

/// A running front.
pub(super) struct Door {
    pub(super) child: Child,
    pub(super) address: SocketAddr,
    pub(super) token: String,
    /// What it said on stderr until it served.
    pub(super) opening: Vec<String>,
}

/// What came back.
#[derive(Debug)]
pub(super) struct Answer {
    pub(super) status: u16,
    pub(super) head: String,
    pub(super) body: String,
}

impl Door {
    /// Starts `codecell mcp --http` on a free port.
    pub(super) fn open(cli: &Cli, args: &[&str]) -> Self {
        let args = [&["mcp", "--http", "127.0.0.1:0"], args].concat();
        let mut child = cli
            .command(&args)
            .stdin(Stdio::null())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .spawn()
            .unwrap();
        let mut stderr = BufReader::new(child.stderr.take().unwrap());
        let mut opening = Vec::new();
        let address = loop {
            let mut line = String::new();
            assert_ne!(stderr.read_line(&mut line).unwrap(), 0, "{opening:?}");
            let line = line.trim_end().to_owned();
            opening.push(line.clone());
            if let Some(rest) = line.strip_prefix("serving http://") {
                break rest.strip_suffix("/mcp").unwrap().parse().unwrap();
            }
        };
        // What it says later must not fill the pipe.
        std::thread::spawn(move || std::io::copy(&mut stderr, &mut std::io::sink()));
        let token = std::fs::read_to_string(cli.env.state().join("mcp.token"));
        Self {
            child,
            address,
            token: token.unwrap_or_default().trim_end().to_owned(),
            opening,
        }
    }

    pub(super) fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.address).unwrap();
        stream.set_read_timeout(Some(DEADLINE)).unwrap();
        stream.set_write_timeout(Some(DEADLINE)).unwrap();
        stream
    }

    /// Sends these bytes and reads to the end.
    pub(super) fn raw(&self, request: &[u8]) -> Answer {
        let mut stream = self.connect();
        // A refused request may be answered before it is read to its end.
        let _ = stream.write_all(request);
        let mut bytes = Vec::new();
        let _ = stream.read_to_end(&mut bytes);
        Answer::parse(&bytes)
    }

    /// A request with these headers beside those that every client sends.
    pub(super) fn request(&self, method: &str, headers: &[(&str, &str)], body: &str) -> Answer {
        self.raw(self.written(method, headers, body).as_bytes())
    }

    pub(super) fn written(&self, method: &str, headers: &[(&str, &str)], body: &str) -> String {
        let mut head = format!("{method} /mcp HTTP/1.1\r\n");
        let usual = [
            ("Host", self.address.to_string()),
            ("Accept", "application/json, text/event-stream".to_owned()),
            ("Content-Type", "application/json".to_owned()),
            ("Connection", "close".to_owned()),
            ("Content-Length", body.len().to_string()),
        ];
        for (name, value) in &usual {
            if !headers
                .iter()
                .any(|(given, _)| given.eq_ignore_ascii_case(name))
            {
                head.push_str(&format!("{name}: {value}\r\n"));
            }
        }
        for (name, value) in headers {
            head.push_str(&format!("{name}: {value}\r\n"));
        }
        format!("{head}\r\n{body}")
    }

    pub(super) fn bearer(&self) -> String {
        format!("Bearer {}", self.token)
    }

    /// Posts a message with the token.
    pub(super) fn post(&self, headers: &[(&str, &str)], message: &Value) -> Answer {
        let bearer = self.bearer();
        let headers = [&[("Authorization", bearer.as_str())], headers].concat();
        self.request("POST", &headers, &message.to_string())
    }

    /// Begins a session and gives its id.
    pub(super) fn session(&self) -> String {
        let answer = self.post(&[], &initialize());
        assert_eq!(answer.status, 200, "{answer:?}");
        let id = answer.header("mcp-session-id").unwrap().to_owned();
        let ready = json!({"jsonrpc": "2.0", "method": "notifications/initialized"});
        let answer = self.post(&[("Mcp-Session-Id", &id)], &ready);
        assert_eq!(answer.status, 202, "{answer:?}");
        id
    }

    /// Calls a tool in a session.
    pub(super) fn call(&self, session: &str, name: &str, arguments: Value) -> Value {
        let headers = [("Mcp-Session-Id", session)];
        self.post(&headers, &call(name, arguments, None)).message(7)
    }
}

impl Drop for Door {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

pub(super) fn initialize() -> Value {
    json!({
        "jsonrpc": "2.0",
        "id": 1,
        "method": "initialize",
        "params": {
            "protocolVersion": "2025-11-25",
            "capabilities": {},
            "clientInfo": {"name": "test", "version": "0"}
        }
    })
}

/// A call with the id 7.
pub(super) fn call(name: &str, arguments: Value, meta: Option<Value>) -> Value {
    let mut params = json!({"name": name, "arguments": arguments});
    if let Some(meta) = meta {
        params["_meta"] = meta;
    }
    json!({"jsonrpc": "2.0", "id": 7, "method": "tools/call", "params": params})
}

impl Answer {
    fn parse(bytes: &[u8]) -> Self {
        let text = String::from_utf8_lossy(bytes);
        let (head, body) = text.split_once("\r\n\r\n").unwrap_or((&text, ""));
        let status = head.split(' ').nth(1).and_then(|code| code.parse().ok());
        let is_chunked = head
            .to_ascii_lowercase()
            .contains("transfer-encoding: chunked");
        Self {
            status: status.unwrap_or(0),
            head: head.to_owned(),
            body: if is_chunked {
                dechunked(body)
            } else {
                body.to_owned()
            },
        }
    }

    pub(super) fn header(&self, name: &str) -> Option<&str> {
        self.head.lines().find_map(|line| {
            let (given, value) = line.split_once(": ")?;
            given.eq_ignore_ascii_case(name).then_some(value)
        })
    }

    /// The JSON messages of the body, whichever form it has.
    pub(super) fn messages(&self) -> Vec<Value> {
        if let Ok(whole) = serde_json::from_str(&self.body) {
            return vec![whole];
        }
        let data = self
            .body
            .lines()
            .filter_map(|line| line.strip_prefix("data:"));
        data.filter_map(|json| serde_json::from_str(json.trim()).ok())
            .collect()
    }

    /// The answer to the request of this id.
    pub(super) fn message(&self, id: u64) -> Value {
        let mut messages = self.messages().into_iter();
        messages
            .find(|message| message["id"] == id && message.get("method").is_none())
            .unwrap_or_else(|| panic!("no answer to {id}: {self:?}"))
    }
}

fn dechunked(mut body: &str) -> String {
    let mut whole = String::new();
    while let Some((size, rest)) = body.split_once("\r\n") {
        let size = usize::from_str_radix(size.trim(), 16).unwrap_or(0);
        if size == 0 || rest.len() < size {
            break;
        }
        whole.push_str(&rest[..size]);
        body = rest[size..].strip_prefix("\r\n").unwrap_or("");
    }
    whole
}
