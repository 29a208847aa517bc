//! The requests of OAuth: to addresses that may be followed, without redirects, bounded.

use std::sync::{Mutex, PoisonError};
use std::time::Duration;

use ::http::{HeaderMap, Response};
use reqwest::Client;
use rmcp::transport::auth::{
    OAuthHttpClient, OAuthHttpClientError, OAuthHttpClientFuture, OAuthHttpRequest,
};

use super::trust::Trust;
use crate::client::http;
use crate::client::options::HttpEndpoint;

/// How long one request may take.
const REQUEST_TIME: Duration = Duration::from_secs(30);

/// The longest answer: metadata of real servers has some 10 KB.
const MAX_ANSWER_BYTES: usize = 256 * 1024;

/// Two clients: the server's own, with its TLS settings, and one for everybody else.
pub(super) struct Net {
    pub(super) trust: Trust,
    /// What is sent to the server itself with every request.
    pub(super) headers: HeaderMap,
    own: Client,
    others: Client,
    /// Why the last request failed; the SDK does not always say.
    failure: Mutex<Option<String>>,
}

impl Net {
    /// The requests for the login with this server.
    ///
    /// # Errors
    /// Why there can be none.
    pub(super) fn new(endpoint: &HttpEndpoint) -> Result<Self, String> {
        let url = url::Url::parse(&endpoint.url).map_err(|_| "its url is no address".to_owned())?;
        let trust = Trust::new(url)?;
        let headers = http::headers(endpoint).map_err(|error| error.to_string())?;
        let stranger = HttpEndpoint::new("");
        let own = http::builder(endpoint).map_err(|error| error.to_string())?;
        let others = http::builder(&stranger).map_err(|error| error.to_string())?;
        let others = others.dns_resolver(trust.clone());
        let build = |builder: reqwest::ClientBuilder| {
            let client = builder.timeout(REQUEST_TIME).build();
            client.map_err(|error| http::explain(&error))
        };
        Ok(Self {
            own: build(own)?,
            others: build(others)?,
            headers: headers.into_iter().collect(),
            trust,
            failure: Mutex::default(),
        })
    }

    /// The client of the server itself.
    pub(super) fn own(&self) -> &Client {
        &self.own
    }

    /// Why the last request failed, once.
    pub(super) fn failure(&self) -> Option<String> {
        let mut failure = self.failure.lock().unwrap_or_else(PoisonError::into_inner);
        failure.take()
    }

    async fn send(
        &self,
        request: ::http::Request<Vec<u8>>,
    ) -> Result<Response<Vec<u8>>, OAuthHttpClientError> {
        let request = reqwest::Request::try_from(request)?;
        self.trust.check(request.url())?;
        let is_own = request.url().origin() == self.trust.server().origin();
        let client = if is_own { &self.own } else { &self.others };
        let mut answer = client.execute(request).await?;
        let mut body = Vec::new();
        while let Some(chunk) = answer.chunk().await? {
            if body.len() + chunk.len() > MAX_ANSWER_BYTES {
                return Err(format!("the answer is longer than {MAX_ANSWER_BYTES} bytes").into());
            }
            body.extend_from_slice(&chunk);
        }
        let mut response = Response::new(body);
        *response.status_mut() = answer.status();
        *response.headers_mut() = std::mem::take(answer.headers_mut());
        Ok(response)
    }
}

impl OAuthHttpClient for Net {
    /// Redirects are never followed here, whatever the request allows: the SDK follows those of
    /// metadata itself, within one origin, and nothing else has reason to lead elsewhere.
    fn execute(&self, request: OAuthHttpRequest) -> OAuthHttpClientFuture<'_> {
        Box::pin(async move {
            let sent = self.send(request.request).await;
            let failure = sent.as_ref().err();
            let failure = failure.map(|error| http::explain(error.as_ref()));
            *self.failure.lock().unwrap_or_else(PoisonError::into_inner) = failure;
            sent
        })
    }
}
