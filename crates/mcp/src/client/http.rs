//! Servers at an address: streamable HTTP.

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;

use http::{HeaderName, HeaderValue};
use reqwest::Client;
use rmcp::RoleClient;
use rmcp::service::ClientInitializeError;
use rmcp::transport::streamable_http_client::StreamableHttpClientTransportConfig;
use rmcp::transport::{StreamableHttpClientTransport, Transport};

use super::error::StartError;
use super::options::{HttpEndpoint, PoolOptions};

/// A transport to an address.
///
/// # Errors
/// [`StartError::Options`] for headers that are none, and when TLS is not available.
pub(super) fn transport(
    endpoint: &HttpEndpoint,
    pool: &PoolOptions,
) -> Result<impl Transport<RoleClient> + 'static, StartError> {
    let mut config = StreamableHttpClientTransportConfig::with_uri(endpoint.url.as_str());
    config.custom_headers = headers(endpoint)?;
    config.max_sse_event_size = pool.limits.max_message_bytes;
    config.max_concurrent_requests = pool.limits.max_calls;
    Ok(StreamableHttpClientTransport::with_client(
        client()?,
        config,
    ))
}

fn headers(endpoint: &HttpEndpoint) -> Result<HashMap<HeaderName, HeaderValue>, StartError> {
    let one = |(name, value): (&String, &String)| {
        let bad = |what: &str| StartError::Options(format!("the header `{name}` has {what}"));
        let parsed = HeaderName::try_from(name).map_err(|_| bad("no usable name"))?;
        let value = HeaderValue::try_from(value).map_err(|_| bad("no usable value"))?;
        Ok((parsed, value))
    };
    endpoint.headers.iter().map(one).collect()
}

fn client() -> Result<Client, StartError> {
    let no_tls = |error: &dyn Error| StartError::Options(format!("TLS is not available: {error}"));
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let roots = rustls::RootCertStore {
        roots: webpki_roots::TLS_SERVER_ROOTS.to_vec(),
    };
    let tls = rustls::ClientConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .map_err(|error| no_tls(&error))?
        .with_root_certificates(roots)
        .with_no_client_auth();
    Client::builder()
        .tls_backend_preconfigured(tls)
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("codecell/", env!("CARGO_PKG_VERSION")))
        .build()
        .map_err(|error| no_tls(&error))
}

/// What an error of a transport comes down to: its innermost cause.
pub(super) fn explain(error: &(dyn Error + 'static)) -> String {
    let mut cause = error;
    while let Some(inner) = cause.source() {
        cause = inner;
    }
    cause.to_string()
}

/// What a server wants to know before it answers, if that is why it did not.
pub(super) fn authorization_wanted(error: &ClientInitializeError) -> Option<String> {
    if !error.is_authorization_required() && error.auth_challenge().is_none() {
        return None;
    }
    Some(
        error
            .auth_challenge()
            .unwrap_or("no challenge given")
            .to_owned(),
    )
}
