//! Certificates of an authority that only this machine knows.

use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::net::{SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;

use codecell_mcp::client::{Endpoint, HttpEndpoint, ServerOptions};
use rustls::pki_types::pem::PemObject as _;
use rustls::pki_types::{CertificateDer, PrivateKeyDer};
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use serde_json::{Value, json};

use crate::support::{LONG, World, names};

/// Good until 2126; its key was thrown away.
const AUTHORITY: &[u8] = include_bytes!("tls/authority.pem");
const CERTIFICATE: &[u8] = include_bytes!("tls/server.pem");
const KEY: &[u8] = include_bytes!("tls/server.key.pem");

/// Serves until the process ends, one request a connection.
fn serve() -> SocketAddr {
    let chain = CertificateDer::pem_slice_iter(CERTIFICATE);
    let chain = chain.collect::<Result<Vec<_>, _>>().unwrap();
    let key = PrivateKeyDer::from_pem_slice(KEY).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(chain, key)
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming() {
            let connection = ServerConnection::new(Arc::clone(&config)).unwrap();
            // A client that does not trust us leaves in the middle.
            let _ = answer(StreamOwned::new(connection, stream.unwrap()));
        }
    });
    address
}

fn answer(stream: StreamOwned<ServerConnection, TcpStream>) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    let mut length = 0;
    loop {
        let mut line = String::new();
        if reader.read_line(&mut line)? <= 2 {
            break;
        }
        if let Some(value) = line.to_lowercase().strip_prefix("content-length:") {
            length = value.trim().parse().unwrap();
        }
    }
    let mut body = vec![0; length];
    reader.read_exact(&mut body)?;
    let message: Value = serde_json::from_slice(&body).unwrap_or_default();
    let result = match message["method"].as_str() {
        Some("initialize") => json!({
            "protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
            "serverInfo": {"name": "web", "version": "1"},
        }),
        Some("tools/list") => {
            json!({"tools": [{"name": "echo", "inputSchema": {"type": "object"}}]})
        }
        _ => Value::Null,
    };
    let (status, body) = match result {
        Value::Null if message["id"].is_null() => ("202 Accepted", String::new()),
        Value::Null => ("404 Not Found", String::new()),
        result => {
            let answer = json!({"jsonrpc": "2.0", "id": message["id"], "result": result});
            ("200 OK", answer.to_string())
        }
    };
    let head = format!(
        "HTTP/1.1 {status}\r\ncontent-type: application/json\r\ncontent-length: {}\r\nconnection: close\r\n\r\n",
        body.len()
    );
    let stream = reader.get_mut();
    stream.write_all(head.as_bytes())?;
    stream.write_all(body.as_bytes())?;
    stream.conn.send_close_notify();
    stream.flush()
}

fn world(address: SocketAddr, authorities: &[u8]) -> World {
    let mut endpoint = HttpEndpoint::new(format!("https://{address}/mcp"));
    endpoint.authorities = authorities.to_vec();
    World::new(vec![ServerOptions {
        connect_timeout: LONG,
        ..ServerOptions::new("web", Endpoint::Http(endpoint))
    }])
}

#[tokio::test]
async fn an_authority_of_ones_own_is_trusted_if_it_is_named() {
    let address = serve();
    let many = [
        b"-----BEGIN CERTIFICATE-----\nAAAA\n-----END CERTIFICATE-----\n",
        AUTHORITY,
    ]
    .concat();
    let known = world(address, &many);
    assert_eq!(names(&known.tools().await), ["mcp:web:echo"]);
    let unknown = world(address, &[]);
    assert_eq!(names(&unknown.tools().await), Vec::<String>::new());
    let (_, state) = unknown.pool.states().remove(0);
    let reason = state.unavailable.unwrap();
    assert!(reason.contains("certificate"), "{reason}");
}
