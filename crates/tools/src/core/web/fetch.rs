//! One request to one checked address.
//!
//! A name is resolved once, every address that came back is checked, and the client is given those addresses and
//! no other way to find one: what was checked is what is connected to. There is no proxy, no cookie, no
//! connection kept for another request, and redirects are the caller's business.

use std::fmt::Debug;
use std::io;
use std::net::{IpAddr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::{Client, Response};
use rustls::{ClientConfig, RootCertStore};
use url::Url;

use super::address::is_public;
use super::origin::{Origin, literal};
use crate::core::error::CoreError;

const USER_AGENT: &str = concat!("codecell/", env!("CARGO_PKG_VERSION"));

/// Where names become addresses.
#[async_trait]
pub trait HostResolver: Debug + Send + Sync {
    /// All addresses of `host`.
    ///
    /// # Errors
    /// Those of the system's resolver.
    async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<IpAddr>>;
}

/// The system's own resolver.
#[derive(Debug, Clone, Copy, Default)]
pub struct SystemResolver;

#[async_trait]
impl HostResolver for SystemResolver {
    async fn resolve(&self, host: &str, port: u16) -> io::Result<Vec<IpAddr>> {
        Ok(tokio::net::lookup_host((host, port))
            .await?
            .map(|address| address.ip())
            .collect())
    }
}

/// TLS with the roots of Mozilla, so that a fetch does not depend on the machine.
pub(super) fn tls() -> Result<ClientConfig, CoreError> {
    let roots = RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let builder =
        ClientConfig::builder_with_provider(provider).with_safe_default_protocol_versions();
    let builder =
        builder.map_err(|error| CoreError::Transfer(format!("TLS is not available: {error}")))?;
    Ok(builder.with_root_certificates(roots).with_no_client_auth())
}

/// The addresses of `url`, if it may be connected to.
///
/// One address that is not public spoils them all: a name that has both kinds is an attempt.
pub(super) async fn addresses(
    url: &Url,
    origin: &Origin,
    resolver: &dyn HostResolver,
    private: bool,
) -> Result<Vec<SocketAddr>, CoreError> {
    let found = match literal(url) {
        Some(address) => vec![address],
        None => resolver
            .resolve(&origin.host, origin.port)
            .await
            .map_err(|error| {
                CoreError::Transfer(format!("{} has no address: {error}", origin.host))
            })?,
    };
    if found.is_empty() {
        return Err(CoreError::Transfer(format!(
            "{} has no address",
            origin.host
        )));
    }
    if !private && found.iter().any(|address| !is_public(*address)) {
        return Err(CoreError::Refused(format!(
            "{} is refused: its address is private, local or reserved. To reach it, the user has to name it in tools.webFetch.allowHosts",
            origin.shown()
        )));
    }
    Ok(found
        .into_iter()
        .map(|address| SocketAddr::new(address, origin.port))
        .collect())
}

/// Sends the request; the answer's body is still to be read.
pub(super) async fn request(
    url: &Url,
    addresses: Vec<SocketAddr>,
    tls: ClientConfig,
    time: Duration,
) -> Result<Response, CoreError> {
    let client = Client::builder()
        .tls_backend_preconfigured(tls)
        .dns_resolver(Arc::new(Checked(addresses)))
        .redirect(reqwest::redirect::Policy::none())
        .no_proxy()
        .pool_max_idle_per_host(0)
        .referer(false)
        .timeout(time)
        .user_agent(USER_AGENT)
        .build()
        .map_err(|error| failed(&error))?;
    client
        .get(url.clone())
        .header("accept", "text/html, text/*, application/json, */*;q=0.5")
        .send()
        .await
        .map_err(|error| failed(&error))
}

/// An error of the client without the address, which may be long, and with its innermost cause.
pub(super) fn failed(error: &reqwest::Error) -> CoreError {
    if error.is_timeout() {
        return CoreError::Transfer("the server did not answer in time".to_owned());
    }
    let mut cause: &dyn std::error::Error = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    let what = if error.is_connect() {
        "no connection"
    } else {
        "the transfer failed"
    };
    CoreError::Transfer(format!("{what}: {cause}"))
}

/// Answers every name with the addresses that were checked.
struct Checked(Vec<SocketAddr>);

impl Resolve for Checked {
    fn resolve(&self, _: Name) -> Resolving {
        let addresses: Addrs = Box::new(self.0.clone().into_iter());
        Box::pin(std::future::ready(Ok(addresses)))
    }
}

/// The body up to `limit_bytes` after decompression, and whether there was more.
pub(super) async fn body(
    mut response: Response,
    limit_bytes: usize,
) -> Result<(Vec<u8>, bool), CoreError> {
    let mut body = Vec::new();
    while let Some(chunk) = response.chunk().await.map_err(|error| failed(&error))? {
        let room = limit_bytes - body.len();
        body.extend_from_slice(&chunk[..chunk.len().min(room)]);
        if chunk.len() > room {
            return Ok((body, true));
        }
    }
    Ok((body, false))
}
