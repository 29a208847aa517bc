//! A client of HTTP that shows a token, and gets another one when the server does not take it.
//!
//! A request that a server refused with 401 was not carried out; it is sent once more with a token
//! that was refreshed meanwhile, and never a third time.

use std::collections::HashMap;
use std::error::Error;
use std::sync::Arc;

use futures::stream::BoxStream;
use http::{HeaderName, HeaderValue, StatusCode};
use reqwest::{Client, RequestBuilder, Response};
use rmcp::model::ClientJsonRpcMessage;
use rmcp::transport::auth::AuthError;
use rmcp::transport::streamable_http_client::{
    SseError, StreamableHttpClient, StreamableHttpError, StreamableHttpPostResponse,
};
use sse_stream::Sse;

use super::error::words;
use super::keeper::{Authorization, NoToken};

type HttpError = StreamableHttpError<reqwest::Error>;
type Headers = HashMap<HeaderName, HeaderValue>;

/// A client, and the authorization that its requests go with, if they do.
#[derive(Clone)]
pub(in crate::client) struct Bearer {
    client: Client,
    authorization: Option<Arc<Authorization>>,
}

/// Why a server did not let us, as a text; `None` for every other error.
pub(in crate::client) fn refusal(error: &(dyn Error + 'static)) -> Option<String> {
    let mut cause = Some(error);
    let causes = std::iter::from_fn(|| {
        let this = cause?;
        cause = this.source();
        Some(this)
    });
    causes
        .into_iter()
        .find_map(|cause| match cause.downcast_ref::<HttpError>()? {
            StreamableHttpError::Auth(AuthError::AuthorizationFailed(reason)) => {
                Some(reason.clone())
            }
            StreamableHttpError::AuthRequired(error) => Some(format!(
                "it asks for authorization: {}",
                words(&error.www_authenticate_header, &[])
            )),
            StreamableHttpError::InsufficientScope(error) => Some(format!(
                "it does not allow this: {}",
                words(&error.www_authenticate_header, &[])
            )),
            _ => None,
        })
}

impl Bearer {
    pub(in crate::client) fn new(
        client: Client,
        authorization: Option<Arc<Authorization>>,
    ) -> Self {
        Self {
            client,
            authorization,
        }
    }

    /// Sends a request that `build` makes. Only an answer of 401 that a fresh token could change has it
    /// sent twice.
    ///
    /// # Errors
    /// That there is no token, as an [`HttpError`] that [`refusal`] reads, and what the system says.
    pub(in crate::client) async fn send(
        &self,
        build: impl Fn(&Client) -> RequestBuilder + Send + Sync,
    ) -> Result<Response, HttpError> {
        let sent = self.with_token(|token| {
            let request = build(&self.client);
            let request = match token {
                Some(token) => request.bearer_auth(token),
                None => request,
            };
            async move {
                let response = request.send().await?;
                match response.status() {
                    StatusCode::UNAUTHORIZED => Err(unauthorized()),
                    _ => Ok(response),
                }
            }
        });
        sent.await
    }

    async fn with_token<T, Sending>(
        &self,
        send: impl Fn(Option<String>) -> Sending + Send + Sync,
    ) -> Result<T, HttpError>
    where
        Sending: Future<Output = Result<T, HttpError>> + Send,
    {
        let Some(authorization) = &self.authorization else {
            return send(None).await;
        };
        let no_token = |reason| {
            failed(match reason {
                NoToken::LoginNeeded => authorization.hint(),
                NoToken::Failed(reason) => reason,
            })
        };
        let token = authorization.token(None).await.map_err(no_token)?;
        let answer = send(Some(token.clone())).await;
        let answer = match answer {
            Err(error) if is_unauthorized(&error) => {
                let fresh = authorization.token(Some(&token)).await.map_err(no_token)?;
                send(Some(fresh)).await
            }
            answer => answer,
        };
        answer.map_err(|error| match error {
            error if is_unauthorized(&error) => failed(authorization.hint()),
            StreamableHttpError::InsufficientScope(error)
                if error.www_authenticate_header.contains("insufficient_scope") =>
            {
                failed(authorization.scope_hint(error.get_required_scope()))
            }
            error => error,
        })
    }
}

fn failed(reason: String) -> HttpError {
    AuthError::AuthorizationFailed(reason).into()
}

fn unauthorized() -> HttpError {
    let error = rmcp::transport::streamable_http_client::AuthRequiredError::new(
        "401, without a word on how".to_owned(),
    );
    StreamableHttpError::AuthRequired(error)
}

/// Whether a server said 401, with or without a challenge.
fn is_unauthorized(error: &HttpError) -> bool {
    match error {
        StreamableHttpError::AuthRequired(_) => true,
        StreamableHttpError::Client(error) => error.status() == Some(StatusCode::UNAUTHORIZED),
        // The SDK's only words for an answer to a message without a challenge.
        StreamableHttpError::UnexpectedServerResponse(text) => text.starts_with("HTTP 401 "),
        _ => false,
    }
}

impl StreamableHttpClient for Bearer {
    type Error = reqwest::Error;

    async fn post_message(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let send = |token| {
            let (uri, message) = (Arc::clone(&uri), message.clone());
            let (session, headers) = (session.clone(), headers.clone());
            self.client
                .post_message(uri, message, session, token, headers)
        };
        self.with_token(send).await
    }

    async fn post_message_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        message: ClientJsonRpcMessage,
        session: Option<Arc<str>>,
        _: Option<String>,
        headers: Headers,
        max_bytes: usize,
    ) -> Result<StreamableHttpPostResponse, HttpError> {
        let send = |token| {
            let (uri, message) = (Arc::clone(&uri), message.clone());
            let (session, headers) = (session.clone(), headers.clone());
            self.client.post_message_with_max_sse_event_size(
                uri, message, session, token, headers, max_bytes,
            )
        };
        self.with_token(send).await
    }

    async fn delete_session(
        &self,
        uri: Arc<str>,
        session: Arc<str>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<(), HttpError> {
        let send = |token| {
            let (uri, session) = (Arc::clone(&uri), Arc::clone(&session));
            self.client
                .delete_session(uri, session, token, headers.clone())
        };
        self.with_token(send).await
    }

    async fn get_stream(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _: Option<String>,
        headers: Headers,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpError> {
        let send = |token| {
            let (uri, session) = (Arc::clone(&uri), session.clone());
            let (last_event, headers) = (last_event.clone(), headers.clone());
            self.client
                .get_stream(uri, session, last_event, token, headers)
        };
        self.with_token(send).await
    }

    async fn get_stream_with_max_sse_event_size(
        &self,
        uri: Arc<str>,
        session: Option<Arc<str>>,
        last_event: Option<String>,
        _: Option<String>,
        headers: Headers,
        max_bytes: usize,
    ) -> Result<BoxStream<'static, Result<Sse, SseError>>, HttpError> {
        let send = |token| {
            let (uri, session) = (Arc::clone(&uri), session.clone());
            let (last_event, headers) = (last_event.clone(), headers.clone());
            self.client.get_stream_with_max_sse_event_size(
                uri, session, last_event, token, headers, max_bytes,
            )
        };
        self.with_token(send).await
    }
}
