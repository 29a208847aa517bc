//! Who may come in: a token, and a bound on sessions.

use std::sync::Arc;
use std::time::Duration;

use axum::body::Body;
use axum::extract::{Request, State};
use axum::http::header::{AUTHORIZATION, WWW_AUTHENTICATE};
use axum::http::{HeaderMap, Method, StatusCode};
use axum::middleware::Next;
use axum::response::{IntoResponse as _, Response};
use futures::StreamExt as _;
use rmcp::transport::streamable_http_server::session::local::LocalSessionManager;
use subtle::ConstantTimeEq as _;

use crate::front::handler::Principal;

/// The header that names a session.
const SESSION_HEADER: &str = "mcp-session-id";

/// How long a client may take to send one part of a body.
const BODY_PATIENCE: Duration = Duration::from_secs(15);

/// The only principal there is: whoever holds the token.
const HOLDER: &str = "token";

/// The token that clients show.
pub(super) struct Secret(Box<[u8]>);

impl Secret {
    pub(super) fn new(token: &str) -> Self {
        Self(token.as_bytes().into())
    }

    /// Compares in a time that tells nothing but the length.
    fn is(&self, shown: &[u8]) -> bool {
        self.0.ct_eq(shown).into()
    }
}

/// What every request passes first.
pub(super) struct Guard {
    pub(super) secret: Option<Secret>,
    pub(super) sessions: Arc<LocalSessionManager>,
    pub(super) max_sessions: usize,
}

/// Lets a request pass, marked with whose it is, or answers it.
pub(super) async fn check(
    State(guard): State<Arc<Guard>>,
    request: Request,
    next: Next,
) -> Response {
    let mut request = request;
    if let Some(secret) = &guard.secret {
        if !bearer(request.headers()).is_some_and(|shown| secret.is(shown)) {
            return unauthorized();
        }
        request.extensions_mut().insert(Principal(HOLDER.into()));
    }
    let may_begin =
        request.method() == Method::POST && !request.headers().contains_key(SESSION_HEADER);
    if may_begin && guard.sessions.sessions.read().await.len() >= guard.max_sessions {
        let text = "this server has as many sessions as it may; end one, or come back later\n";
        return (StatusCode::SERVICE_UNAVAILABLE, text).into_response();
    }
    next.run(request.map(hurried)).await
}

/// The body, which ends in an error if the client stops in the middle.
fn hurried(body: Body) -> Body {
    let parts = body.into_data_stream();
    Body::from_stream(futures::stream::unfold(Some(parts), |parts| async {
        let mut parts = parts?;
        match tokio::time::timeout(BODY_PATIENCE, parts.next()).await {
            Ok(Some(Ok(part))) => Some((Ok(part), Some(parts))),
            Ok(Some(Err(error))) => Some((Err(error), None)),
            Ok(None) => None,
            Err(late) => Some((Err(axum::Error::new(late)), None)),
        }
    }))
}

/// What is shown, if exactly one header shows it.
fn bearer(headers: &HeaderMap) -> Option<&[u8]> {
    let mut shown = headers.get_all(AUTHORIZATION).iter();
    let (Some(only), None) = (shown.next(), shown.next()) else {
        return None;
    };
    let (scheme, token) = only.as_bytes().split_at_checked("Bearer ".len())?;
    scheme.eq_ignore_ascii_case(b"Bearer ").then_some(token)
}

fn unauthorized() -> Response {
    let challenge = [(WWW_AUTHENTICATE, "Bearer realm=\"codecell\"")];
    let text = "show the token of this server as `Authorization: Bearer TOKEN`; it said at its start where that lies\n";
    (StatusCode::UNAUTHORIZED, challenge, text).into_response()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn headers(values: &[&str]) -> HeaderMap {
        let mut headers = HeaderMap::new();
        for value in values {
            headers.append(AUTHORIZATION, value.parse().expect("a header"));
        }
        headers
    }

    #[test]
    fn one_header_with_the_very_token_is_enough_and_nothing_less_is() {
        let secret = Secret::new("abc");
        let passes =
            |values: &[&str]| bearer(&headers(values)).is_some_and(|shown| secret.is(shown));
        assert!(passes(&["Bearer abc"]));
        assert!(passes(&["bearer abc"]));
        for wrong in [
            &[][..],
            &["Bearer abcd"],
            &["Bearer ab"],
            &["Bearer "],
            &["Bearer"],
            &["abc"],
            &["Basic abc"],
            &["Bearer  abc"],
            &["Bearer abc", "Bearer abc"],
            &["Bearer ABC"],
        ] {
            assert!(!passes(wrong), "{wrong:?}");
        }
    }
}
