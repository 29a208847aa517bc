//! `web_fetch` against a server on loopback.

use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use base64::Engine as _;
use codecell_tools::approval::AskMidCall;
use codecell_tools::core::{CoreOptions, HostResolver};
use codecell_tools::{ApprovalNeed, MidCallApprovals, ToolError, ToolInput};
use serde_json::json;
use tokio::io::{AsyncBufReadExt as _, AsyncWriteExt as _, BufReader};
use tokio::net::TcpListener;
use tokio_util::task::AbortOnDropHandle;

use super::{Bench, context};

/// 1 MiB of zeros.
const GZIP_MIB: &str = include_str!("zeros.gz.b64");

/// Answers by path; counts what it is asked.
struct Server {
    at: SocketAddr,
    asked: Arc<Mutex<Vec<String>>>,
    _task: AbortOnDropHandle<()>,
}

impl Server {
    async fn start(answer: impl Fn(&str) -> Vec<u8> + Send + Sync + 'static) -> Self {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let at = listener.local_addr().unwrap();
        let asked = Arc::new(Mutex::new(Vec::new()));
        let log = Arc::clone(&asked);
        let task = tokio::spawn(async move {
            while let Ok((stream, _)) = listener.accept().await {
                let mut stream = BufReader::new(stream);
                let mut request = String::new();
                while stream.read_line(&mut request).await.is_ok_and(|n| n > 2) {}
                let path = request.split(' ').nth(1).unwrap_or("").to_owned();
                let reply = answer(&path);
                log.lock().unwrap().push(request);
                if !reply.is_empty() {
                    let _closed_early = stream.write_all(&reply).await;
                }
                if path == "/hang" {
                    std::future::pending::<()>().await;
                }
            }
        });
        Self {
            at,
            asked,
            _task: AbortOnDropHandle::new(task),
        }
    }

    fn url(&self, path: &str) -> String {
        format!("http://{}{path}", self.at)
    }

    fn asked(&self) -> usize {
        self.asked.lock().unwrap().len()
    }
}

fn reply(status: &str, headers: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    let body = body.as_ref();
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-length: {}\r\nconnection: close\r\n{headers}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

fn page(content_type: &str, body: impl AsRef<[u8]>) -> Vec<u8> {
    reply("200 OK", &format!("content-type: {content_type}"), body)
}

/// Gives the same addresses for every name.
#[derive(Debug)]
struct Names(Vec<IpAddr>, Mutex<usize>);

#[async_trait]
impl HostResolver for Names {
    async fn resolve(&self, _: &str, _: u16) -> io::Result<Vec<IpAddr>> {
        *self.1.lock().unwrap() += 1;
        Ok(self.0.clone())
    }
}

fn names(addresses: &[&str]) -> Arc<Names> {
    Arc::new(Names(
        addresses.iter().map(|text| text.parse().unwrap()).collect(),
        Mutex::new(0),
    ))
}

fn private(change: impl FnOnce(&mut CoreOptions)) -> Bench {
    Bench::with(|o, _| {
        o.web.allow_private = true;
        change(o);
    })
}

#[tokio::test]
async fn pages_come_as_readable_text() {
    let server = Server::start(|path| match path {
        "/html" => page("text/html; charset=utf-8", "<html><head><title>T</title><script>bad()</script></head><body><h1>Head</h1><p>One <b>two</b></p><ul><li>x</li></ul></body></html>"),
        "/json" => page("application/json", "{\"a\": 1}"),
        "/latin" => page("text/plain; charset=ISO-8859-1", b"caf\xe9"),
        "/bare" => reply("200 OK", "x: y", "plain"),
        _ => reply("404 Not Found", "content-type: text/plain", "nothing here"),
    })
    .await;
    let bench = private(|_| {});
    let html = bench
        .ok("web_fetch", json!({"url": server.url("/html")}))
        .await;
    let text = html["text"].as_str().unwrap();
    assert!(
        text.contains("# Head")
            && text.contains("One")
            && text.contains("* x")
            && !text.contains("bad()"),
        "{text}"
    );
    let json_page = bench
        .ok("web_fetch", json!({"url": server.url("/json#part")}))
        .await;
    assert_eq!(
        (
            &json_page["text"],
            &json_page["status"],
            &json_page["contentType"]
        ),
        (
            &json!("{\"a\": 1}"),
            &json!(200),
            &json!("application/json")
        )
    );
    assert_eq!(
        bench
            .ok("web_fetch", json!({"url": server.url("/latin")}))
            .await["text"],
        "café"
    );
    assert_eq!(
        bench
            .ok("web_fetch", json!({"url": server.url("/bare")}))
            .await["text"],
        "plain"
    );
    let missing = bench
        .ok("web_fetch", json!({"url": server.url("/no")}))
        .await;
    assert_eq!(
        (&missing["status"], &missing["text"]),
        (&json!(404), &json!("nothing here"))
    );
    let asked = server.asked.lock().unwrap()[0].to_ascii_lowercase();
    assert!(
        !asked.contains("cookie")
            && !asked.contains("referer")
            && asked.contains("user-agent: codecell/"),
        "{asked}"
    );
}

#[tokio::test]
async fn text_and_bodies_are_bounded() {
    let zeros = base64::engine::general_purpose::STANDARD
        .decode(GZIP_MIB.trim())
        .unwrap();
    let server = Server::start(move |path| match path {
        "/bomb" => reply(
            "200 OK",
            "content-type: text/plain\r\ncontent-encoding: gzip",
            &zeros,
        ),
        _ => page("text/plain", "é".repeat(100)),
    })
    .await;
    let bench = private(|o| o.limits.fetch_bytes = 1000);
    let exact = bench
        .ok(
            "web_fetch",
            json!({"url": server.url("/"), "maxChars": 100}),
        )
        .await;
    assert_eq!(
        (
            exact["text"].as_str().unwrap().chars().count(),
            &exact["truncated"]
        ),
        (100, &json!(false))
    );
    let cut = bench
        .ok("web_fetch", json!({"url": server.url("/"), "maxChars": 99}))
        .await;
    assert_eq!(
        (
            cut["text"].as_str().unwrap().chars().count(),
            &cut["truncated"]
        ),
        (99, &json!(true))
    );
    let bomb = bench
        .ok("web_fetch", json!({"url": server.url("/bomb")}))
        .await;
    assert_eq!(
        (bomb["text"].as_str().unwrap().len(), &bomb["truncated"]),
        (1000, &json!(true))
    );
}

#[tokio::test]
async fn binary_content_is_refused_with_its_type_and_size() {
    let server = Server::start(|path| match path {
        "/png" => page("image/png", [0u8; 70]),
        _ => reply("200 OK", "x: y", [1, 0, 2]),
    })
    .await;
    let bench = private(|_| {});
    let error = bench
        .call("web_fetch", json!({"url": server.url("/png")}))
        .await
        .unwrap_err();
    assert_eq!(
        error.message(),
        format!(
            "{} is not text but image/png, 70 bytes; web_fetch gives text only",
            server.url("/png")
        )
    );
    assert_eq!(
        bench
            .code("web_fetch", json!({"url": server.url("/raw")}))
            .await,
        "refused"
    );
}

#[tokio::test]
async fn private_addresses_are_refused_in_every_spelling() {
    let server = Server::start(|_| page("text/plain", "secret")).await;
    let port = server.at.port();
    let bench = Bench::new();
    for host in [
        "127.0.0.1",
        "127.1",
        "2130706433",
        "0x7f000001",
        "0177.0.0.1",
        "localhost",
        "[::1]",
        "[::ffff:127.0.0.1]",
        "0.0.0.0",
        "169.254.169.254",
        "[fd00:ec2::254]",
        "[64:ff9b::7f00:1]",
    ] {
        assert_eq!(
            bench
                .code(
                    "web_fetch",
                    json!({"url": format!("http://{host}:{port}/")})
                )
                .await,
            "refused",
            "{host}"
        );
    }
    assert_eq!(server.asked(), 0);
    for url in [
        "file:///etc/passwd",
        "http://user:pw@example.org/",
        "https://",
        "example.org",
    ] {
        assert_eq!(
            bench.code("web_fetch", json!({"url": url})).await,
            "invalid_arguments",
            "{url}"
        );
    }
}

#[tokio::test]
async fn a_name_with_one_private_address_is_refused() {
    let resolver = names(&["93.184.216.34", "10.0.0.1"]);
    let given: Arc<dyn HostResolver> = Arc::clone(&resolver) as _;
    let bench = Bench::with(|o, _| o.web.resolver = given);
    assert_eq!(
        bench
            .code("web_fetch", json!({"url": "http://rebind.example/"}))
            .await,
        "refused"
    );
    assert_eq!(*resolver.1.lock().unwrap(), 1);
}

#[tokio::test]
async fn the_connection_goes_to_the_checked_address() {
    let server = Server::start(|_| page("text/plain", "named")).await;
    let resolver = names(&["127.0.0.1"]);
    let given: Arc<dyn HostResolver> = Arc::clone(&resolver) as _;
    let port = server.at.port();
    let bench = Bench::with(|o, _| {
        o.web.resolver = given;
        o.web.allow_hosts = vec![format!("http://name.invalid:{port}")];
    });
    let result = bench
        .ok(
            "web_fetch",
            json!({"url": format!("http://name.invalid:{port}/x")}),
        )
        .await;
    assert_eq!(result["text"], "named");
    assert_eq!(*resolver.1.lock().unwrap(), 1, "resolved once");
    assert_eq!(
        bench
            .code(
                "web_fetch",
                json!({"url": format!("http://other.invalid:{port}/x")})
            )
            .await,
        "refused"
    );
}

/// Answers every question the same way and keeps them.
struct Answers(bool, Mutex<Vec<ApprovalNeed>>);

#[async_trait]
impl AskMidCall for Answers {
    async fn ask(&self, need: ApprovalNeed) -> Result<(), ToolError> {
        self.1.lock().unwrap().push(need);
        if self.0 {
            Ok(())
        } else {
            Err(ToolError::new("approval_denied", "no"))
        }
    }
}

#[tokio::test]
async fn a_redirect_to_another_origin_is_asked_about_and_checked() {
    let target = Server::start(|_| page("text/plain", "arrived")).await;
    let to = target.url("/end");
    let server = Server::start(move |path| match path {
        "/away" => reply("302 Found", &format!("location: {to}"), ""),
        "/near" => reply("301 Moved", "location: away?x", ""),
        "/inside" => reply(
            "307 Redirect",
            "location: http://169.254.169.254/latest/meta-data",
            "",
        ),
        "/file" => reply("302 Found", "location: file:///etc/passwd", ""),
        "/loop" => reply("302 Found", "location: /loop", ""),
        _ => reply("302 Found", "location: /away", ""),
    })
    .await;
    let bench = Bench::with(|o, _| o.web.allow_hosts = vec![server.at.to_string()]);
    for answer in [false, true] {
        let mut ctx = context();
        let asked = Arc::new(Answers(answer, Mutex::default()));
        ctx.approvals = MidCallApprovals::new(Arc::clone(&asked) as _);
        let result = bench
            .raw("web_fetch", json!({"url": server.url("/start")}), &ctx)
            .await;
        let keys: Vec<String> = asked
            .1
            .lock()
            .unwrap()
            .iter()
            .map(|need| need.key.clone())
            .collect();
        assert_eq!(keys, [format!("origin http://{}", target.at)]);
        // A yes to the origin is no leave to reach this machine.
        assert_eq!(
            result.unwrap_err().code(),
            if answer { "refused" } else { "approval_denied" }
        );
        let inside = bench
            .raw("web_fetch", json!({"url": server.url("/inside")}), &ctx)
            .await;
        assert_eq!(
            inside.unwrap_err().code(),
            if answer { "refused" } else { "approval_denied" }
        );
    }
    assert_eq!(target.asked(), 0);
    assert_eq!(
        bench
            .code("web_fetch", json!({"url": server.url("/away")}))
            .await,
        "approval_unavailable"
    );
    assert_eq!(
        bench
            .code("web_fetch", json!({"url": server.url("/file")}))
            .await,
        "invalid_arguments"
    );
    let before = server.asked();
    assert_eq!(
        bench
            .code("web_fetch", json!({"url": server.url("/loop")}))
            .await,
        "transfer"
    );
    assert_eq!(server.asked() - before, 6, "the page and five redirects");
    let both =
        Bench::with(|o, _| o.web.allow_hosts = vec![server.at.to_string(), target.at.to_string()]);
    let arrived = both
        .ok("web_fetch", json!({"url": server.url("/start")}))
        .await;
    assert_eq!(
        (&arrived["text"], &arrived["url"]),
        (&json!("arrived"), &json!(target.url("/end")))
    );
}

#[test]
fn one_question_for_each_origin() {
    let bench = Bench::with(|o, _| o.web.allow_hosts = vec!["*.rust-lang.org".to_owned()]);
    let keys = |url: &str| -> Vec<(String, bool)> {
        let needs = bench
            .tool("web_fetch")
            .approvals(&ToolInput::new(json!({"url": url})), &context())
            .unwrap();
        needs
            .into_iter()
            .map(|need| (need.key, need.asked_once))
            .collect()
    };
    assert_eq!(
        keys("https://example.org/a?b"),
        [("origin https://example.org".to_owned(), true)]
    );
    assert_eq!(
        keys("https://example.org:443/c"),
        [("origin https://example.org".to_owned(), true)]
    );
    assert_eq!(
        keys("http://EXAMPLE.org:8080/"),
        [("origin http://example.org:8080".to_owned(), true)]
    );
    assert_eq!(keys("https://doc.rust-lang.org/std"), []);
}

#[tokio::test]
async fn a_server_that_hangs_is_given_up_and_an_abort_is_heard() {
    let server = Server::start(|_| Vec::new()).await;
    let bench = private(|o| o.limits.fetch_timeout_ms = 200);
    let error = bench
        .call("web_fetch", json!({"url": server.url("/hang")}))
        .await
        .unwrap_err();
    assert_eq!(error.message(), "the server did not answer in time");
    let bench = private(|_| {});
    let ctx = context();
    let abort = ctx.abort.clone();
    let call = bench.raw("web_fetch", json!({"url": server.url("/hang")}), &ctx);
    let (result, ()) = tokio::join!(call, async { abort.cancel() });
    assert_eq!(result.unwrap_err().code(), "aborted");
}

#[tokio::test]
async fn deep_and_broken_markup_does_no_harm() {
    let server = Server::start(|path| {
        let tag = &path[1..];
        page("text/html", format!("<{tag}>").repeat(60_000) + "end")
    })
    .await;
    let bench = private(|_| {});
    for tag in [
        "div",
        "b",
        "table><tr><td",
        "ul><li",
        "p",
        "li",
        "a href=x",
        "blockquote",
        "svg",
        "table><tr><td colspan=1000000000000000000000",
        "td",
        "div></x",
        "dd",
    ] {
        let fetched = bench.call(
            "web_fetch",
            json!({"url": server.url(&format!("/{}", tag.replace(' ', "%20")))}),
        );
        let result = tokio::time::timeout(Duration::from_secs(60), fetched).await;
        assert!(result.is_ok_and(|result| result.is_ok()), "{tag}");
    }
}
