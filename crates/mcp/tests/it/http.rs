//! Servers at an address: both transports, headers, refusals, and where they must not lead.

use std::net::SocketAddr;
use std::path::Path;
use std::sync::{Arc, Mutex};

use axum::Router;
use axum::body::{Body, Bytes};
use axum::extract::State;
use axum::http::{HeaderMap, HeaderValue, StatusCode};
use axum::middleware::map_response;
use axum::response::{IntoResponse as _, Response};
use axum::routing::{get, post};
use codecell_mcp::client::oauth::{Authorization, OAuthOptions};
use codecell_mcp::client::{Endpoint, HttpEndpoint, HttpTransport, ServerOptions};
use codecell_tools::Redactor;
use futures::channel::mpsc;
use serde_json::{Value, json};
use tokio_util::task::AbortOnDropHandle;

use crate::support::{LONG, World, names, shown};

/// A server of both transports, which knows one tool.
struct Served {
    address: SocketAddr,
    _task: AbortOnDropHandle<()>,
}

type EventSender = mpsc::UnboundedSender<Result<Bytes, std::io::Error>>;

#[derive(Clone, Default)]
struct Shared {
    /// Where answers of the older transport go.
    events: Arc<Mutex<Option<EventSender>>>,
    /// What the older transport names as its endpoint.
    endpoint: String,
}

impl Served {
    async fn new(endpoint: &str) -> Self {
        let shared = Shared {
            endpoint: endpoint.to_owned(),
            ..Shared::default()
        };
        let router = Router::new()
            .route("/mcp", post(streamable))
            .route("/away", post(away))
            .route("/sse", get(open_events))
            .route("/post", post(take_message))
            .layer(map_response(async |mut response: Response| {
                // Every request opens a connection of its own.
                let close = HeaderValue::from_static("close");
                response.headers_mut().insert("connection", close);
                response
            }))
            .with_state(shared);
        let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
        let address = listener.local_addr().unwrap();
        let serving = async move { axum::serve(listener, router).await.unwrap() };
        Self {
            address,
            _task: AbortOnDropHandle::new(tokio::spawn(serving)),
        }
    }

    /// As [`Served::world`], with the token from a login that was made before.
    fn logged_in(&self, folder: &Path, path: &str, transport: HttpTransport) -> World {
        let url = format!("http://{}{path}", self.address);
        let tokens = json!({
            "version": 1, "url": url, "resource": url, "issuer": "http://127.0.0.1:1",
            "authorizationEndpoint": "http://127.0.0.1:1/a", "tokenEndpoint": "http://127.0.0.1:1/t",
            "authMethods": [], "clientId": "c", "accessToken": "right", "scopes": [],
        });
        let name = blake3::hash(url.as_bytes()).to_hex();
        codecell_keep::make(
            &folder.join(format!("{name}.json")),
            tokens.to_string().as_bytes(),
        )
        .unwrap();
        let options = OAuthOptions {
            client: None,
            scope: None,
            callback_port: None,
            folder: folder.to_owned(),
            redactor: Redactor::default(),
        };
        let mut endpoint = HttpEndpoint::new(url);
        endpoint.transport = transport;
        let authorization = Authorization::new("web", &endpoint, options).unwrap();
        endpoint.authorization = Some(Arc::new(authorization));
        World::new(vec![ServerOptions {
            connect_timeout: LONG,
            ..ServerOptions::new("web", Endpoint::Http(endpoint))
        }])
    }

    fn world(&self, path: &str, transport: HttpTransport, token: &str) -> World {
        let url = format!("http://{}{path}", self.address);
        let mut endpoint = HttpEndpoint::new(url);
        endpoint.transport = transport;
        endpoint.headers = [("Authorization".to_owned(), format!("Bearer {token}"))].into();
        World::new(vec![ServerOptions {
            connect_timeout: LONG,
            ..ServerOptions::new("web", Endpoint::Http(endpoint))
        }])
    }
}

fn is_known(headers: &HeaderMap) -> bool {
    headers
        .get("authorization")
        .is_some_and(|value| value == "Bearer right")
}

fn answer(message: &Value) -> Option<Value> {
    let id = message.get("id")?;
    let result = match message["method"].as_str()? {
        "initialize" => json!({
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "web", "version": "1"},
        }),
        "tools/list" => json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]}),
        "tools/call" => json!({
            "content": [{"type": "text", "text": message["params"]["arguments"].to_string()}],
        }),
        _ => {
            return Some(
                json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32601, "message": "no"}}),
            );
        }
    };
    Some(json!({"jsonrpc": "2.0", "id": id, "result": result}))
}

async fn streamable(headers: HeaderMap, body: Bytes) -> Response {
    if !is_known(&headers) {
        let challenge = [("www-authenticate", "Bearer realm=\"web\"")];
        return (StatusCode::UNAUTHORIZED, challenge).into_response();
    }
    let message: Value = serde_json::from_slice(&body).unwrap();
    match answer(&message) {
        Some(answer) => {
            ([("content-type", "application/json")], answer.to_string()).into_response()
        }
        None => StatusCode::ACCEPTED.into_response(),
    }
}

/// Sends whoever follows to another place.
async fn away() -> Response {
    let location = [("location", "/mcp")];
    (StatusCode::TEMPORARY_REDIRECT, location).into_response()
}

async fn open_events(State(shared): State<Shared>, headers: HeaderMap) -> Response {
    if !is_known(&headers) {
        return StatusCode::UNAUTHORIZED.into_response();
    }
    let (sender, receiver) = mpsc::unbounded();
    let first = format!("event: endpoint\ndata: {}\n\n", shared.endpoint);
    sender.unbounded_send(Ok(first.into())).unwrap();
    *shared.events.lock().unwrap() = Some(sender);
    (
        [("content-type", "text/event-stream")],
        Body::from_stream(receiver),
    )
        .into_response()
}

async fn take_message(State(shared): State<Shared>, headers: HeaderMap, body: Bytes) -> StatusCode {
    if !is_known(&headers) {
        return StatusCode::UNAUTHORIZED;
    }
    let message: Value = serde_json::from_slice(&body).unwrap();
    if let Some(answer) = answer(&message)
        && let Some(events) = shared.events.lock().unwrap().as_ref()
    {
        let event = format!("event: message\r\ndata: {answer}\r\n\r\n");
        events.unbounded_send(Ok(event.into())).unwrap();
    }
    StatusCode::ACCEPTED
}

fn unavailable(world: &World) -> String {
    let (_, state) = world.pool.states().remove(0);
    state.unavailable.unwrap_or_default()
}

#[tokio::test]
async fn both_transports_call_tools_with_our_headers() {
    let served = Served::new("/post?session=1").await;
    let folder = tempfile::tempdir().unwrap();
    for (path, transport) in [
        ("/mcp", HttpTransport::Streamable),
        ("/sse", HttpTransport::Sse),
    ] {
        let configured = served.world(path, transport, "right");
        let logged_in = served.logged_in(folder.path(), path, transport);
        for world in [configured, logged_in] {
            let set = world.tools().await;
            assert_eq!(names(&set), ["mcp:web:echo"], "{}", unavailable(&world));
            assert_eq!(world.text(&set, "echo", json!({"a": 1})).await, "{\"a\":1}");
            tokio::time::timeout(LONG, world.pool.close())
                .await
                .unwrap();
        }
    }
}

#[tokio::test]
async fn a_server_that_wants_to_know_who_asks_says_so() {
    let served = Served::new("/post").await;
    for (path, transport) in [
        ("/mcp", HttpTransport::Streamable),
        ("/sse", HttpTransport::Sse),
    ] {
        let world = served.world(path, transport, "wrong");
        assert!(names(&world.tools().await).is_empty());
        let reason = unavailable(&world);
        assert!(reason.starts_with("it asks for authorization"), "{reason}");
    }
}

#[tokio::test]
async fn nothing_is_sent_to_another_place() {
    let served = Served::new("/post").await;
    let world = served.world("/away", HttpTransport::Streamable, "right");
    assert!(names(&world.tools().await).is_empty());
    for endpoint in [
        "http://169.254.169.254/latest",
        "//other.example/post",
        "file:///etc/passwd",
    ] {
        let served = Served::new(endpoint).await;
        let world = served.world("/sse", HttpTransport::Sse, "right");
        assert!(names(&world.tools().await).is_empty());
        assert_eq!(
            unavailable(&world),
            "its endpoint is at another origin, which is refused",
            "{endpoint}"
        );
    }
}

#[tokio::test]
async fn a_call_that_found_nobody_changed_nothing() {
    let served = Served::new("/post").await;
    let world = served.world("/mcp", HttpTransport::Streamable, "right");
    let set = world.tools().await;
    assert_eq!(world.text(&set, "echo", json!({})).await, "{}");
    drop(served);
    let text = shown(&world.call(&set, "echo", json!({})).await);
    assert!(
        text.starts_with("Failed mcp_unreachable: the MCP server `web` cannot be reached:"),
        "{text}"
    );
}

#[tokio::test]
async fn an_address_where_nobody_listens_is_told() {
    let listener = tokio::net::TcpListener::bind("127.0.0.1:0").await.unwrap();
    let address = listener.local_addr().unwrap();
    drop(listener);
    for transport in [HttpTransport::Streamable, HttpTransport::Sse] {
        let mut endpoint = HttpEndpoint::new(format!("http://{address}/mcp"));
        endpoint.transport = transport;
        let world = World::new(vec![ServerOptions::new("web", Endpoint::Http(endpoint))]);
        assert!(names(&world.tools().await).is_empty());
        assert!(
            unavailable(&world).contains("refused"),
            "{}",
            unavailable(&world)
        );
    }
}
