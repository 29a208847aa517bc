//! Servers at an address: which transport, headers, no redirects.

use std::collections::HashMap;
use std::error::Error;

use http::{HeaderName, HeaderValue};
use reqwest::{Client, ClientBuilder};
use rmcp::RoleClient;
use rmcp::transport::streamable_http_client::{
    StreamableHttpClientTransportConfig, StreamableHttpError,
};
use rmcp::transport::{StreamableHttpClientTransport, Transport};

use super::error::StartError;
use super::oauth::Bearer;
use super::options::{HttpEndpoint, PoolOptions};
use super::sse::Sse;
use super::tls;

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
        client(endpoint)?,
        config,
    ))
}

/// The older transport to an address.
///
/// # Errors
/// [`StartError`], the time not counted.
pub(super) async fn sse(endpoint: &HttpEndpoint, pool: &PoolOptions) -> Result<Sse, StartError> {
    let headers = headers(endpoint)?.into_iter().collect();
    let max_bytes = pool.limits.max_message_bytes;
    Sse::open(client(endpoint)?, &endpoint.url, headers, max_bytes).await
}

/// The configured headers.
///
/// # Errors
/// [`StartError::Options`] for those that are none.
pub(super) fn headers(
    endpoint: &HttpEndpoint,
) -> Result<HashMap<HeaderName, HeaderValue>, StartError> {
    let one = |(name, value): (&String, &String)| {
        let bad = |what: &str| StartError::Options(format!("the header `{name}` has {what}"));
        let parsed = HeaderName::try_from(name).map_err(|_| bad("no usable name"))?;
        let value = HeaderValue::try_from(value).map_err(|_| bad("no usable value"))?;
        Ok((parsed, value))
    };
    endpoint.headers.iter().map(one).collect()
}

/// A client with the TLS settings of an endpoint, and without redirects.
///
/// # Errors
/// As [`transport`].
pub(super) fn builder(endpoint: &HttpEndpoint) -> Result<ClientBuilder, StartError> {
    Ok(Client::builder()
        .tls_backend_preconfigured(tls::config(endpoint)?)
        // A redirect could lead our headers to anybody, and a public server inside our network.
        .redirect(reqwest::redirect::Policy::none())
        .user_agent(concat!("codecell/", env!("CARGO_PKG_VERSION"))))
}

fn client(endpoint: &HttpEndpoint) -> Result<Bearer, StartError> {
    let client = builder(endpoint)?.build();
    let client = client.map_err(|error| StartError::Options(explain(&error)))?;
    Ok(Bearer::new(client, endpoint.authorization.clone()))
}

/// What an error of a transport comes down to: its innermost cause.
pub(super) fn explain(error: &(dyn Error + 'static)) -> String {
    causes(error).last().unwrap_or(error).to_string()
}

/// Whether no connection came about, so that nothing of a request was sent.
pub(super) fn is_unconnected(error: &(dyn Error + 'static)) -> bool {
    let mut requests = causes(error).filter_map(|cause| cause.downcast_ref());
    requests.any(reqwest::Error::is_connect)
}

/// An error and its causes, the outermost first.
fn causes<'e>(error: &'e (dyn Error + 'static)) -> impl Iterator<Item = &'e (dyn Error + 'static)> {
    std::iter::successors(Some(error), |cause| {
        let cause: &'e (dyn Error + 'static) = *cause;
        match cause.downcast_ref() {
            // The SDK's errors do not all name their cause as one.
            Some(StreamableHttpError::<reqwest::Error>::Client(inner)) => Some(inner as _),
            _ => cause.source(),
        }
    })
}
