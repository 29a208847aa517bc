//! Logins to MCP servers: the real binary, a real authorization server, the test as the browser.

mod world;

use std::io::{BufRead as _, BufReader, Read as _};
use std::os::unix::fs::MetadataExt as _;
use std::path::PathBuf;
use std::process::{Child, Output, Stdio};

use serde_json::{Value, json};

use crate::harness::{Cli, Ran};
use world::{Twist, World, visit};

/// A home whose configuration has these servers.
fn with_servers(servers: &[(&str, &World)]) -> Cli {
    let cli = Cli::new();
    configure(&cli, servers);
    cli
}

fn configure(cli: &Cli, servers: &[(&str, &World)]) {
    let server = |world: &World| json!({"url": world.url(), "auth": "oauth"});
    let servers = servers
        .iter()
        .map(|(name, world)| ((*name).to_owned(), server(world)));
    let servers: serde_json::Map<_, _> = servers.collect();
    let config = json!({"mcp": {"servers": servers}});
    cli.env.write_config(&config.to_string()).unwrap();
}

/// A login that waits for its browser.
struct Waiting {
    child: Child,
    /// Where the browser is to go.
    address: Option<String>,
    stderr: BufReader<std::process::ChildStderr>,
    said: String,
}

impl Waiting {
    fn begin(cli: &Cli, args: &[&str]) -> Self {
        let mut command = cli.command(&[&["mcp", "login"], args].concat());
        command.stdout(Stdio::piped()).stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut waiting = Self {
            stderr: BufReader::new(child.stderr.take().unwrap()),
            child,
            address: None,
            said: String::new(),
        };
        waiting.read_on();
        waiting
    }

    fn read_on(&mut self) {
        let mut line = String::new();
        while self.stderr.read_line(&mut line).unwrap() > 0 {
            self.said.push_str(&line);
            if line.starts_with("  http") {
                self.address = Some(line.trim().to_owned());
                return;
            }
            line.clear();
        }
    }

    /// The answer that the authorization server sends the browser back with.
    fn answer(&self) -> String {
        let (status, back, _) = visit(self.address.as_deref().expect(&self.said));
        assert_eq!(status, 302);
        back.unwrap()
    }

    fn end(mut self, cli: &Cli) -> Ran {
        let mut stderr = self
            .said
            .replace(self.address.as_deref().unwrap_or("\0"), "[ADDRESS]");
        self.stderr.read_to_string(&mut stderr).unwrap();
        let mut stdout = Vec::new();
        self.child
            .stdout
            .take()
            .unwrap()
            .read_to_end(&mut stdout)
            .unwrap();
        let status = self.child.wait().unwrap();
        let stderr = stderr.into_bytes();
        cli.finish(
            &["mcp", "login"],
            Output {
                status,
                stdout,
                stderr,
            },
        )
    }
}

/// Logs in as an obedient browser would.
fn log_in(cli: &Cli, args: &[&str]) -> Ran {
    let waiting = Waiting::begin(cli, args);
    if waiting.address.is_some() {
        assert_eq!(visit(&waiting.answer()).0, 200);
    }
    waiting.end(cli)
}

fn logged_in(cli: &Cli, args: &[&str]) {
    let ran = log_in(cli, args);
    assert_eq!(ran.code, Some(0), "{}", ran.show());
}

fn call(cli: &Cli, tool: &str) -> Ran {
    cli.run(&["tools", "call", tool, "--approve", "always"])
}

fn called(cli: &Cli, tool: &str) {
    let ran = call(cli, tool);
    assert_eq!(ran.code, Some(0), "{}", ran.show());
}

fn token_files(cli: &Cli) -> Vec<PathBuf> {
    let folder = cli.env.state().join("mcp-oauth");
    let Ok(entries) = std::fs::read_dir(folder) else {
        return Vec::new();
    };
    entries.map(|entry| entry.unwrap().path()).collect()
}

fn login_of(cli: &Cli, server: &str) -> Value {
    let listed = cli.run(&["mcp", "list", "--json"]).json();
    let mut listed = listed.as_array().unwrap().iter();
    let found = listed.find(|one| one["name"] == server);
    found.unwrap()["login"].clone()
}

/// Without what differs from run to run.
fn plain(text: &str, world: &World) -> String {
    text.replace(&world.address.to_string(), "[SERVER]")
}

#[test]
fn a_login_lets_commands_call_and_a_logout_takes_it_back() {
    let world = World::new(Twist::default());
    let cli = with_servers(&[("guarded", &world)]);
    let mut all = call(&cli, "mcp:guarded:echo").show();
    all.push_str(&cli.run(&["mcp", "list"]).show());
    all.push_str(&cli.run(&["mcp", "test", "--json"]).json()[0]["unavailable"].to_string());
    let ran = log_in(&cli, &["guarded", "--json"]);
    all.push_str(&format!("\n{}", ran.show()));
    assert_eq!(login_of(&cli, "guarded"), "done");
    called(&cli, "mcp:guarded:echo");
    assert_eq!(world.books().calls, 1);

    let files = token_files(&cli);
    assert_eq!(files.len(), 1);
    let mode = |path: &PathBuf| std::fs::metadata(path).unwrap().mode() & 0o777;
    assert_eq!(mode(&files[0]), 0o600);
    assert_eq!(mode(&cli.env.state().join("mcp-oauth")), 0o700);

    for _ in 0..2 {
        all.push_str(&cli.run(&["mcp", "logout", "guarded"]).show());
    }
    assert!(token_files(&cli).is_empty());
    assert_eq!(login_of(&cli, "guarded"), "needed");
    let refused = call(&cli, "mcp:guarded:echo");
    assert_eq!(refused.code, Some(1), "{}", refused.show());
    insta::assert_snapshot!(plain(&all, &world));
}

#[test]
fn what_servers_must_not_do_ends_the_login() {
    let other = World::new(Twist::default());
    let elsewhere = format!("http://{}/as", other.address);
    let long = "x".repeat(20_000);
    let cases: [(&str, Twist); 15] = [
        (
            "no S256",
            Twist {
                authority: json!({"code_challenge_methods_supported": ["plain"]}),
                ..Twist::default()
            },
        ),
        (
            "nothing about PKCE",
            Twist {
                authority: json!({"code_challenge_methods_supported": null}),
                ..Twist::default()
            },
        ),
        (
            "another issuer",
            Twist {
                authority: json!({"issuer": elsewhere}),
                ..Twist::default()
            },
        ),
        (
            "no issuer",
            Twist {
                authority: json!({"issuer": null}),
                ..Twist::default()
            },
        ),
        (
            "a token endpoint without TLS",
            Twist {
                authority: json!({"token_endpoint": "http://auth.example/token"}),
                ..Twist::default()
            },
        ),
        (
            "a registration endpoint without TLS",
            Twist {
                authority: json!({"registration_endpoint": "http://auth.example/r"}),
                ..Twist::default()
            },
        ),
        (
            "an authorization endpoint that is a program",
            Twist {
                authority: json!({"authorization_endpoint": "javascript:alert(1)"}),
                ..Twist::default()
            },
        ),
        (
            "no registration",
            Twist {
                authority: json!({"registration_endpoint": null}),
                ..Twist::default()
            },
        ),
        (
            "another resource",
            Twist {
                resource: json!({"resource": "https://bank.example/mcp"}),
                ..Twist::default()
            },
        ),
        (
            "an authority without TLS",
            Twist {
                resource: json!({"authorization_servers": ["http://auth.example"]}),
                ..Twist::default()
            },
        ),
        (
            "a redirect to another host",
            Twist {
                redirect: Some(format!("{elsewhere}/resource")),
                ..Twist::default()
            },
        ),
        (
            "huge metadata",
            Twist {
                padding: 300_000,
                ..Twist::default()
            },
        ),
        (
            "another sender",
            Twist {
                iss: Some(elsewhere.clone()),
                ..Twist::default()
            },
        ),
        (
            "a refusal",
            Twist {
                denial: Some("error=access_denied&error_description=not%1B[31m+you".to_owned()),
                ..Twist::default()
            },
        ),
        (
            "a long refusal",
            Twist {
                denial: Some(format!("error={long}")),
                ..Twist::default()
            },
        ),
    ];
    let mut all = String::new();
    for (what, twist) in cases {
        let world = World::new(twist);
        let cli = with_servers(&[("guarded", &world)]);
        let ran = log_in(&cli, &["guarded"]);
        assert_eq!(ran.code, Some(1), "{what}: {}", ran.show());
        assert!(token_files(&cli).is_empty(), "{what}");
        let asked = world
            .books()
            .seen
            .iter()
            .any(|seen| seen.starts_with("token"));
        assert!(!asked, "{what}: nothing is exchanged");
        all.push_str(&format!("# {what}\n{}\n", plain(&ran.stderr, &world)));
    }
    assert!(other.books().seen.is_empty(), "nobody was led there");
    insta::assert_snapshot!(all.replace(&other.address.to_string(), "[OTHER]"));
}

#[test]
fn an_answer_that_nobody_asked_for_is_waited_through() {
    let world = World::new(Twist::default());
    let cli = with_servers(&[("guarded", &world)]);
    let waiting = Waiting::begin(&cli, &["guarded"]);
    let right = waiting.answer();
    let (callback, query) = right.split_once('?').unwrap();
    let mut state = world::pairs(query).remove("state").unwrap();
    let last = state.pop().unwrap();
    state.push(if last == 'A' { 'B' } else { 'A' });
    for (wrong, status) in [
        (callback.to_owned(), 400),
        (format!("{callback}?code=stolen"), 400),
        (format!("{callback}?code=stolen&state={state}"), 400),
        (format!("{callback}?error=stop&state="), 400),
        (format!("{right}&code=stolen"), 400),
        (callback.replace("callback", "favicon.ico"), 404),
    ] {
        assert_eq!(visit(&wrong).0, status, "{wrong}");
    }
    let (status, _, page) = visit(&right);
    assert_eq!(status, 200);
    assert!(!page.contains("code-"), "{page}");
    let ran = waiting.end(&cli);
    assert_eq!(ran.code, Some(0), "{}", ran.show());
}

#[test]
fn tokens_that_end_are_refreshed_and_rotation_is_followed() {
    let world = World::new(Twist::default());
    world.books().expires_in_secs = 1;
    let cli = with_servers(&[("guarded", &world)]);
    logged_in(&cli, &["guarded"]);
    for _ in 0..2 {
        called(&cli, "mcp:guarded:echo");
    }
    assert_eq!(world.books().calls, 2);
    // Many at once: each refresh token serves once, so a lost one would end this.
    let many: Vec<_> = (0..6)
        .map(|_| {
            let args = ["tools", "call", "mcp:guarded:echo", "--approve", "always"];
            let mut command = cli.command(&args);
            command.stdout(Stdio::null()).stderr(Stdio::piped());
            command.spawn().unwrap()
        })
        .collect();
    for child in many {
        let ended = child.wait_with_output().unwrap();
        let said = String::from_utf8_lossy(&ended.stderr);
        assert!(ended.status.success(), "{said}");
    }
    assert_eq!(world.books().calls, 8);
    assert_eq!(world.books().refresh.len(), 1);
}

#[test]
fn a_call_whose_token_was_revoked_is_made_once_with_another() {
    let world = World::new(Twist::default());
    let cli = with_servers(&[("guarded", &world)]);
    logged_in(&cli, &["guarded"]);
    world.books().revokes_at_next_call = true;
    called(&cli, "mcp:guarded:echo");
    assert_eq!(world.books().calls, 1);
    let seen = world.books().seen.clone();
    let refreshes = seen.iter().filter(|seen| *seen == "token refresh_token");
    assert_eq!(refreshes.count(), 1);

    // Nothing holds any more: the one thing left to say is that it takes a login.
    world.books().access.clear();
    world.books().refresh.clear();
    let refused = call(&cli, "mcp:guarded:echo");
    assert!(
        refused.stderr.contains("codecell mcp login guarded"),
        "{}",
        refused.show()
    );
    assert_eq!(login_of(&cli, "guarded"), "needed");
    logged_in(&cli, &["guarded"]);
    called(&cli, "mcp:guarded:echo");
}

#[test]
fn a_scope_that_is_missing_is_named_and_can_be_asked_for() {
    let world = World::new(Twist::default());
    let cli = with_servers(&[("guarded", &world)]);
    logged_in(&cli, &["guarded"]);
    let refused = call(&cli, "mcp:guarded:write");
    assert_eq!(refused.code, Some(1));
    insta::assert_snapshot!(plain(&refused.show(), &world));
    logged_in(&cli, &["guarded", "--scope", "write"]);
    called(&cli, "mcp:guarded:write");
    let scopes: Vec<String> = world.books().refresh.values().cloned().collect();
    assert!(scopes.contains(&"read write".to_owned()), "{scopes:?}");
}

#[test]
fn tokens_go_to_the_server_that_they_are_for() {
    let (one, two) = (World::new(Twist::default()), World::new(Twist::default()));
    let cli = with_servers(&[("one", &one), ("two", &two)]);
    for name in ["one", "two"] {
        logged_in(&cli, &[name]);
        called(&cli, &format!("mcp:{name}:echo"));
    }
    // The name now stands for another address, where nobody has logged in.
    let third = World::new(Twist::default());
    configure(&cli, &[("one", &third), ("two", &two)]);
    assert_eq!(login_of(&cli, "one"), "needed");
    assert_eq!(call(&cli, "mcp:one:echo").code, Some(1));
    called(&cli, "mcp:two:echo");
    assert!(third.books().shown.iter().all(String::is_empty));
    // The books of both begin alike, so a token of the other would be taken: what counts is who saw it.
    let of = |world: &World| world.books().seen.clone();
    assert!(of(&third).is_empty(), "{:?}", of(&third));
}

#[test]
fn a_file_that_others_could_read_or_that_is_not_ours_is_not_used() {
    use std::os::unix::fs::PermissionsExt as _;
    let world = World::new(Twist::default());
    let cli = with_servers(&[("guarded", &world)]);
    logged_in(&cli, &["guarded"]);
    let file = token_files(&cli).remove(0);
    let text = std::fs::read_to_string(&file).unwrap();
    let unusable = |what: &str| {
        let ran = call(&cli, "mcp:guarded:echo");
        assert_eq!(ran.code, Some(1), "{what}");
        let file = file.display().to_string();
        plain(&ran.stderr.replace(&file, "[FILE]"), &world)
    };
    let mut all = String::new();
    for mode in [0o644, 0o600] {
        std::fs::set_permissions(&file, std::fs::Permissions::from_mode(mode)).unwrap();
        if mode == 0o644 {
            all.push_str(&unusable("open to all"));
        }
    }
    let other = text.replace("/mcp\"", "/other\"");
    for wrong in [
        "",
        "{}",
        &text.replace("\"version\":1", "\"version\":2"),
        &other,
    ] {
        std::fs::write(&file, wrong).unwrap();
        unusable("what was written");
    }
    std::fs::remove_file(&file).unwrap();
    let elsewhere = cli.env.workspace().join("tokens.json");
    std::fs::write(&elsewhere, &text).unwrap();
    std::fs::set_permissions(&elsewhere, std::fs::Permissions::from_mode(0o600)).unwrap();
    std::os::unix::fs::symlink(&elsewhere, &file).unwrap();
    unusable("a link");
    assert_eq!(world.books().calls, 0);
    // A login replaces whatever is there, the link and not what it leads to.
    logged_in(&cli, &["guarded"]);
    assert_eq!(std::fs::read_to_string(&elsewhere).unwrap(), text);
    called(&cli, "mcp:guarded:echo");
}

#[test]
fn no_secret_is_in_anything_that_is_said() {
    let world = World::new(Twist::default());
    world.books().gives_secret = true;
    let cli = with_servers(&[("guarded", &world)]);
    let mut said = String::new();
    let logs = ["-vvv"];
    said.push_str(&log_in(&cli, &["guarded", "-vvv"]).show());
    let args = ["tools", "call", "mcp:guarded:echo", "--approve", "always"];
    said.push_str(&cli.run(&[&args[..], &logs].concat()).show());
    world.books().access.clear();
    said.push_str(&cli.run(&[&args[..], &logs].concat()).show());
    assert_eq!(world.books().calls, 2, "{said}");
    // Now every refresh fails, and the server repeats the token in its words.
    world.books().access.clear();
    world.books().refresh.clear();
    said.push_str(&cli.run(&[&args[..], &logs].concat()).show());
    // The code is not taken either.
    let waiting = Waiting::begin(&cli, &["guarded", "-vvv"]);
    let stolen = waiting.answer();
    let code = world::pairs(stolen.split_once('?').unwrap().1)
        .remove("code")
        .unwrap();
    world.books().forget_code(&code);
    visit(&stolen);
    let ran = waiting.end(&cli);
    assert_eq!(ran.code, Some(1), "{}", ran.show());
    said.push_str(&ran.show());
    assert!(said.contains("DEBUG"), "logs were on");
    let secrets = world.books().secrets.clone();
    for secret in secrets.iter().filter(|secret| !secret.is_empty()) {
        let around = said.find(secret.as_str());
        let around = around.map(|at| &said[at.saturating_sub(300)..at]);
        assert!(around.is_none(), "{secret} after {around:?}");
    }
}

#[test]
fn a_login_that_is_stopped_or_too_late_leaves_nothing() {
    let world = World::new(Twist::default());
    let cli = with_servers(&[("guarded", &world)]);
    let mut waiting = Waiting::begin(&cli, &["guarded"]);
    let pid = rustix::process::Pid::from_child(&waiting.child);
    rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
    assert_eq!(waiting.child.wait().unwrap().code(), Some(130));
    let late = Waiting::begin(&cli, &["guarded", "--timeout-ms", "1"]).end(&cli);
    assert_eq!(late.code, Some(1), "{}", late.show());
    assert!(token_files(&cli).is_empty());
}

#[test]
fn a_login_that_cannot_be_is_explained() {
    let cli = Cli::new();
    let servers = json!({"mcp": {"servers": {
        "program": {"command": "x"},
        "open": {"url": "https://x.example/mcp"},
        "plain": {"url": "http://x.example/mcp", "auth": "oauth"},
        "both": {"url": "https://x.example/mcp", "auth": "oauth", "headers": {"authorization": "x"}},
        "half": {"url": "https://x.example/mcp", "oauth": {"clientSecret": "x"}},
    }}});
    cli.env.write_config(&servers.to_string()).unwrap();
    let names = ["program", "open", "plain", "both", "half", "none"];
    let shown = names.map(|name| cli.run(&["mcp", "login", name]).show());
    insta::assert_snapshot!(shown.concat());
}
