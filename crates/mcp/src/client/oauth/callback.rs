//! Where the browser comes back to: an address of this machine that takes one answer.
//!
//! Whoever can reach this machine can make requests here, any web page among them. An answer counts
//! only with the state that was sent along, which nobody else knows; everything else is turned away
//! and waited through. Nothing of a request is ever put into the page that it gets.

use std::sync::{Arc, Mutex, PoisonError};

use axum::Router;
use axum::extract::{RawQuery, State};
use axum::http::{HeaderName, StatusCode, header};
use axum::response::{IntoResponse as _, Response};
use axum::routing::get;
use subtle::ConstantTimeEq as _;
use tokio::net::TcpListener;
use tokio::sync::oneshot;
use tokio_util::task::AbortOnDropHandle;

use super::error::LoginError;

/// The path that the browser is sent to.
const PATH: &str = "/callback";

/// What the authorization server sends the browser back with.
#[derive(Clone, Default)]
pub(super) struct Answer {
    pub(super) code: Option<String>,
    pub(super) error: Option<String>,
    pub(super) description: Option<String>,
    pub(super) issuer: Option<String>,
}

/// A port that is listened at, nobody being answered yet.
pub(super) struct Callback {
    listener: TcpListener,
    /// The address to send the browser to.
    pub(super) address: String,
}

struct Shared {
    state: String,
    asked: Mutex<Option<oneshot::Sender<Answer>>>,
}

impl Callback {
    /// Listens at this port of this machine.
    ///
    /// # Errors
    /// [`LoginError::Listen`].
    pub(super) async fn listen(port: u16) -> Result<Self, LoginError> {
        let refused = |error: std::io::Error| {
            LoginError::Listen(format!("port {port} of 127.0.0.1: {error}"))
        };
        let listener = TcpListener::bind(("127.0.0.1", port)).await;
        let listener = listener.map_err(refused)?;
        let address = listener.local_addr().map_err(refused)?;
        Ok(Self {
            listener,
            address: format!("http://{address}{PATH}"),
        })
    }

    /// Waits for the answer that carries this state. The listener is gone when this future is.
    pub(super) async fn answer(self, state: String) -> Result<Answer, LoginError> {
        let (sender, receiver) = oneshot::channel();
        let shared = Shared {
            state,
            asked: Mutex::new(Some(sender)),
        };
        let router = Router::new()
            .route(PATH, get(take))
            .with_state(Arc::new(shared));
        let (stop, stopped) = oneshot::channel::<()>();
        let serving = axum::serve(self.listener, router).with_graceful_shutdown(async {
            // Dropped or sent, it is the end.
            let _ = stopped.await;
        });
        let mut serving = AbortOnDropHandle::new(tokio::spawn(serving.into_future()));
        let answer = receiver.await;
        drop(stop);
        // The browser gets its page, if it takes it soon.
        let _ = tokio::time::timeout(std::time::Duration::from_secs(1), &mut serving).await;
        answer.map_err(|_| LoginError::Listen("the listener ended".to_owned()))
    }
}

async fn take(State(shared): State<Arc<Shared>>, RawQuery(query): RawQuery) -> Response {
    let mut answer = Answer::default();
    let mut state = None;
    for (name, value) in url::form_urlencoded::parse(query.unwrap_or_default().as_bytes()) {
        let field = match &*name {
            "state" => &mut state,
            "code" => &mut answer.code,
            "error" => &mut answer.error,
            "error_description" => &mut answer.description,
            "iss" => &mut answer.issuer,
            _ => continue,
        };
        // Twice is an attempt to be understood in two ways.
        if field.replace(value.into_owned()).is_some() {
            return page(StatusCode::BAD_REQUEST, "This is no answer to a login.");
        }
    }
    let state = state.unwrap_or_default();
    if !bool::from(state.as_bytes().ct_eq(shared.state.as_bytes())) {
        return page(
            StatusCode::BAD_REQUEST,
            "This answer belongs to no login that is waited for.",
        );
    }
    let is_refusal = answer.code.is_none();
    let asked = {
        let mut asked = shared.asked.lock().unwrap_or_else(PoisonError::into_inner);
        asked.take()
    };
    let Some(asked) = asked else {
        return page(StatusCode::BAD_REQUEST, "This login was answered already.");
    };
    // Whoever waited may have gone.
    let _ = asked.send(answer);
    match is_refusal {
        true => page(
            StatusCode::OK,
            "The login was refused. You can close this page.",
        ),
        false => page(
            StatusCode::OK,
            "codecell goes on with the login. You can close this page and look at the terminal.",
        ),
    }
}

fn page(status: StatusCode, text: &'static str) -> Response {
    let headers: [(HeaderName, &str); 4] = [
        (header::CONTENT_TYPE, "text/plain; charset=utf-8"),
        (header::CACHE_CONTROL, "no-store"),
        (header::REFERRER_POLICY, "no-referrer"),
        (header::CONTENT_SECURITY_POLICY, "default-src 'none'"),
    ];
    (status, headers, text).into_response()
}
