//! An authorization server and the MCP server that it gives tokens for, on one port of this machine.
//!
//! It keeps books of what it gave and checks what it gets as such servers do: PKCE, redirect
//! addresses, resources, rotation. What it says of itself can be twisted, so that it can lie. Plain
//! sockets, one request a connection, no library of the protocol.

use std::collections::{HashMap, HashSet};
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::{Arc, Mutex, MutexGuard};
use std::time::Duration;

use base64::Engine as _;
use base64::engine::general_purpose::URL_SAFE_NO_PAD;
use serde_json::{Value, json};
use sha2::{Digest as _, Sha256};

/// What a server is told to do otherwise than an honest one.
#[derive(Clone, Debug, Default)]
pub(super) struct Twist {
    /// Fields of the metadata of the resource; `null` takes one away.
    pub(super) resource: Value,
    /// Fields of the metadata of the authorization server.
    pub(super) authority: Value,
    /// Where metadata of the resource is sent to instead.
    pub(super) redirect: Option<String>,
    /// Bytes of blanks before the metadata.
    pub(super) padding: usize,
    /// What `iss` says; the issuer by default.
    pub(super) iss: Option<String>,
    /// What comes back instead of a code.
    pub(super) denial: Option<String>,
}

/// What the servers know; tests look at it and change it.
#[derive(Default)]
pub(super) struct Books {
    codes: HashMap<String, HashMap<String, String>>,
    /// Access tokens that hold, with their scopes.
    pub(super) access: HashMap<String, String>,
    /// Refresh tokens that hold, with their scopes.
    pub(super) refresh: HashMap<String, String>,
    /// Everything secret that was ever given or taken.
    pub(super) secrets: HashSet<String>,
    /// `METHOD path` of each request, and what the token endpoint was asked for.
    pub(super) seen: Vec<String>,
    /// Tokens that the MCP server was shown.
    pub(super) shown: HashSet<String>,
    /// Calls of tools that were carried out.
    pub(super) calls: usize,
    /// What `expires_in` says.
    pub(super) expires_in_secs: u64,
    /// Whether the next call finds its token revoked.
    pub(super) revokes_at_next_call: bool,
    /// Whether a client with a secret is registered.
    pub(super) gives_secret: bool,
    counter: u64,
}

impl Books {
    fn fresh(&mut self, kind: &str) -> String {
        self.counter += 1;
        let token = format!("{kind}-{:04}-of-this-test", self.counter);
        self.secrets.insert(token.clone());
        token
    }

    /// As if the code had been used by somebody else.
    pub(super) fn forget_code(&mut self, code: &str) {
        self.codes.remove(code);
    }

    fn tokens(&mut self, scope: &str) -> Value {
        let (access, refresh) = (self.fresh("access"), self.fresh("refresh"));
        self.access.insert(access.clone(), scope.to_owned());
        self.refresh.insert(refresh.clone(), scope.to_owned());
        json!({
            "access_token": access, "refresh_token": refresh, "token_type": "Bearer",
            "expires_in": self.expires_in_secs, "scope": scope,
        })
    }
}

/// The servers. The listener lives as long as the test's process.
pub(super) struct World {
    pub(super) address: SocketAddr,
    books: Arc<Mutex<Books>>,
}

struct Request {
    method: String,
    path: String,
    query: HashMap<String, String>,
    token: Option<String>,
    body: String,
}

struct Answer {
    status: u16,
    headers: Vec<(&'static str, String)>,
    body: String,
}

fn answer(status: u16, body: impl ToString) -> Answer {
    Answer {
        status,
        headers: Vec::new(),
        body: body.to_string(),
    }
}

impl World {
    pub(super) fn new(twist: Twist) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        let books = Arc::new(Mutex::new(Books {
            expires_in_secs: 3_600,
            ..Books::default()
        }));
        let site = Site {
            base: format!("http://{address}"),
            twist,
            books: Arc::clone(&books),
        };
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                site.serve(stream);
            }
        });
        Self { address, books }
    }

    pub(super) fn books(&self) -> MutexGuard<'_, Books> {
        self.books.lock().unwrap()
    }

    /// The address of the MCP server.
    pub(super) fn url(&self) -> String {
        format!("http://{}/mcp", self.address)
    }
}

struct Site {
    base: String,
    twist: Twist,
    books: Arc<Mutex<Books>>,
}

impl Site {
    fn serve(&self, mut stream: TcpStream) {
        stream
            .set_read_timeout(Some(Duration::from_secs(60)))
            .unwrap();
        let Some(request) = read(&mut stream) else {
            return;
        };
        let seen = format!("{} {}", request.method, request.path);
        self.books.lock().unwrap().seen.push(seen);
        let answer = self.answer(&request);
        // Whoever asked may have gone.
        let _ = write(&mut stream, &answer);
    }

    fn answer(&self, request: &Request) -> Answer {
        match (request.method.as_str(), request.path.as_str()) {
            ("POST", "/mcp") => self.mcp(request),
            ("GET", "/.well-known/oauth-protected-resource/mcp") => self.resource(),
            ("GET", "/.well-known/oauth-authorization-server/as") => {
                let told = self.authority();
                answer(200, format!("{}{told}", " ".repeat(self.twist.padding)))
            }
            ("POST", "/as/register") => self.register(&request.body),
            ("GET", "/as/authorize") => self.authorize(&request.query),
            ("POST", "/as/token") => self.token(&request.body),
            ("GET", "/mcp") => answer(405, ""),
            _ => answer(404, ""),
        }
    }

    fn resource(&self) -> Answer {
        if let Some(location) = &self.twist.redirect {
            let mut moved = answer(302, "");
            moved.headers.push(("location", location.clone()));
            return moved;
        }
        let told = json!({
            "resource": format!("{}/mcp", self.base),
            "authorization_servers": [format!("{}/as", self.base)],
            "scopes_supported": ["read"],
        });
        answer(200, twisted(told, &self.twist.resource))
    }

    fn authority(&self) -> Value {
        let at = |path: &str| format!("{}/as{path}", self.base);
        let told = json!({
            "issuer": at(""),
            "authorization_endpoint": at("/authorize"),
            "token_endpoint": at("/token"),
            "registration_endpoint": at("/register"),
            "response_types_supported": ["code"],
            "code_challenge_methods_supported": ["S256"],
            "authorization_response_iss_parameter_supported": true,
            "token_endpoint_auth_methods_supported": ["none", "client_secret_post"],
        });
        twisted(told, &self.twist.authority)
    }

    fn register(&self, body: &str) -> Answer {
        let mut asked: Value = serde_json::from_str(body).unwrap();
        asked["client_id"] = json!("the-client");
        let mut books = self.books.lock().unwrap();
        if books.gives_secret {
            asked["client_secret"] = json!(books.fresh("secret"));
        }
        answer(201, asked)
    }

    fn authorize(&self, query: &HashMap<String, String>) -> Answer {
        let get = |name: &str| query.get(name).map_or("", String::as_str);
        assert_eq!(get("response_type"), "code");
        assert_eq!(get("code_challenge_method"), "S256");
        assert_eq!(get("resource"), format!("{}/mcp", self.base));
        assert!(get("redirect_uri").starts_with("http://127.0.0.1:"));
        let mut books = self.books.lock().unwrap();
        let code = books.fresh("code");
        books.codes.insert(code.clone(), query.clone());
        books.secrets.insert(get("state").to_owned());
        let iss = self.twist.iss.clone();
        let iss = iss.unwrap_or_else(|| format!("{}/as", self.base));
        let result = match &self.twist.denial {
            Some(denial) => denial.clone(),
            None => format!("code={code}"),
        };
        let mut back = answer(302, "");
        let back_to = format!(
            "{}?{result}&state={}&iss={}",
            get("redirect_uri"),
            get("state"),
            iss.replace(':', "%3A")
        );
        back.headers.push(("location", back_to));
        back
    }

    fn token(&self, body: &str) -> Answer {
        let form = pairs(body);
        let get = |name: &str| form.get(name).map_or("", String::as_str);
        let mut books = self.books.lock().unwrap();
        books.seen.push(format!("token {}", get("grant_type")));
        let refused = |why: &str| {
            // The words repeat what was shown, as some servers do.
            let echo = format!("{why} {}{}", get("code"), get("refresh_token"));
            answer(
                400,
                json!({"error": "invalid_grant", "error_description": echo}),
            )
        };
        let is_ours = get("resource") == format!("{}/mcp", self.base);
        if !is_ours || (books.gives_secret && !books.secrets.contains(get("client_secret"))) {
            return refused("who are you");
        }
        match get("grant_type") {
            "authorization_code" => {
                let Some(asked) = books.codes.remove(get("code")) else {
                    return refused("no such code");
                };
                books.secrets.insert(get("code_verifier").to_owned());
                let digest = Sha256::digest(get("code_verifier"));
                let is_right = URL_SAFE_NO_PAD.encode(digest) == asked["code_challenge"]
                    && asked["redirect_uri"] == get("redirect_uri")
                    && asked["client_id"] == get("client_id");
                if !is_right {
                    return refused("wrong verifier");
                }
                let scope = asked.get("scope").cloned().unwrap_or_default();
                answer(200, books.tokens(&scope))
            }
            "refresh_token" => match books.refresh.remove(get("refresh_token")) {
                // A refresh token serves once: the second use shows a thief.
                None => refused("stale token"),
                Some(scope) => answer(200, books.tokens(&scope)),
            },
            _ => refused("what is this"),
        }
    }

    fn mcp(&self, request: &Request) -> Answer {
        let mut books = self.books.lock().unwrap();
        let token = request.token.clone().unwrap_or_default();
        books.shown.insert(token.clone());
        let message: Value = serde_json::from_str(&request.body).unwrap();
        let is_call = message["method"] == "tools/call";
        if is_call && std::mem::take(&mut books.revokes_at_next_call) {
            books.access.remove(&token);
        }
        let Some(scope) = books.access.get(&token).cloned() else {
            return challenge(
                401,
                format!(
                    "Bearer error=\"invalid_token\", resource_metadata=\"{}/.well-known/oauth-protected-resource/mcp\"",
                    self.base
                ),
            );
        };
        let id = &message["id"];
        if id.is_null() {
            return answer(202, "");
        }
        let result = match message["method"].as_str().unwrap() {
            "initialize" => json!({
                "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                "serverInfo": {"name": "guarded", "version": "1"},
            }),
            "tools/list" => json!({"tools": [
                {"name": "echo", "inputSchema": {"type": "object"}},
                {"name": "write", "inputSchema": {"type": "object"}},
            ]}),
            "tools/call" => {
                let is_allowed = scope.split(' ').any(|word| word == "write");
                if message["params"]["name"] == "write" && !is_allowed {
                    return challenge(
                        403,
                        "Bearer error=\"insufficient_scope\", scope=\"write\"".to_owned(),
                    );
                }
                books.calls += 1;
                json!({"content": [{"type": "text", "text": "done"}]})
            }
            _ => {
                let error = json!({"code": -32601, "message": "no"});
                return told(&json!({"jsonrpc": "2.0", "id": id, "error": error}));
            }
        };
        told(&json!({"jsonrpc": "2.0", "id": id, "result": result}))
    }
}

fn challenge(status: u16, text: String) -> Answer {
    let mut refused = answer(status, "");
    refused.headers.push(("www-authenticate", text));
    refused
}

fn told(message: &Value) -> Answer {
    let mut told = answer(200, message);
    told.headers
        .push(("content-type", "application/json".to_owned()));
    told
}

fn twisted(mut told: Value, twist: &Value) -> Value {
    for (name, value) in twist.as_object().into_iter().flatten() {
        match value {
            Value::Null => drop(told.as_object_mut().unwrap().shift_remove(name)),
            value => told[name] = value.clone(),
        }
    }
    told
}

/// A form, or a query, as a map.
pub(super) fn pairs(text: &str) -> HashMap<String, String> {
    let pairs = text.split('&').filter_map(|pair| pair.split_once('='));
    pairs
        .map(|(name, value)| (decoded(name), decoded(value)))
        .collect()
}

fn decoded(text: &str) -> String {
    let mut bytes = Vec::new();
    let mut rest = text.bytes();
    while let Some(byte) = rest.next() {
        bytes.push(match byte {
            b'+' => b' ',
            b'%' => {
                let digits = [rest.next().unwrap(), rest.next().unwrap()];
                u8::from_str_radix(std::str::from_utf8(&digits).unwrap(), 16).unwrap()
            }
            byte => byte,
        });
    }
    String::from_utf8(bytes).unwrap()
}

fn read(stream: &mut TcpStream) -> Option<Request> {
    let mut reader = BufReader::new(stream);
    let mut line = || {
        let mut line = String::new();
        reader.read_line(&mut line).ok()?;
        Some(line.trim_end().to_owned())
    };
    let first = line()?;
    let mut words = first.split(' ');
    let (method, target) = (words.next()?.to_owned(), words.next()?.to_owned());
    let mut length = 0;
    let mut token = None;
    loop {
        let header = line()?;
        let Some((name, value)) = header.split_once(':') else {
            break;
        };
        match name.to_ascii_lowercase().as_str() {
            "content-length" => length = value.trim().parse().ok()?,
            "authorization" => token = value.trim().strip_prefix("Bearer ").map(str::to_owned),
            _ => {}
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body).ok()?;
    let (path, query) = target.split_once('?').unwrap_or((&target, ""));
    Some(Request {
        method,
        path: path.to_owned(),
        query: pairs(query),
        token,
        body: String::from_utf8(body).ok()?,
    })
}

fn write(stream: &mut TcpStream, answer: &Answer) -> std::io::Result<()> {
    let mut head = format!(
        "HTTP/1.1 {} x\r\nconnection: close\r\ncontent-length: {}\r\n",
        answer.status,
        answer.body.len()
    );
    for (name, value) in &answer.headers {
        head.push_str(&format!("{name}: {value}\r\n"));
    }
    stream.write_all(format!("{head}\r\n{}", answer.body).as_bytes())
}

/// What a browser gets at this address: the status, where it is sent on, the page.
pub(super) fn visit(address: &str) -> (u16, Option<String>, String) {
    let rest = address.strip_prefix("http://").unwrap();
    let (host, path) = rest.split_once('/').unwrap();
    let mut stream = TcpStream::connect(host).unwrap();
    let request = format!("GET /{path} HTTP/1.1\r\nhost: {host}\r\nconnection: close\r\n\r\n");
    stream.write_all(request.as_bytes()).unwrap();
    let mut answer = String::new();
    stream.read_to_string(&mut answer).unwrap();
    let (head, page) = answer.split_once("\r\n\r\n").unwrap();
    let status = head.split(' ').nth(1).unwrap().parse().unwrap();
    let location = head
        .lines()
        .find_map(|line| line.strip_prefix("location: "));
    (status, location.map(str::to_owned), page.to_owned())
}
