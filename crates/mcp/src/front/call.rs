//! One call of `exec` or `wait`, from its request to its answer.
//!
//! One loop: the result comes, a nested call has something to tell, a question is to be asked or was
//! answered, the client cancels. Whatever is told to the client is told here, on the request's own
//! task, so that it travels with the request.

use std::future::Future;
use std::pin::Pin;
use std::sync::Arc;

use codecell_tools::{CallContext, ModelSurface, SurfaceContext, SurfaceResult};
use rmcp::model::{ClientResult, ServerRequest};
use rmcp::service::{PeerRequestOptions, RequestHandle, RoleServer};
use serde_json::Value;
use tokio::sync::mpsc;
use tokio_util::sync::CancellationToken;

use super::ask::{ElicitingApprover, Question};
use super::client::{Asking, Client};
use super::hub::{Concern, EventHub, Heard};
use super::session::Session;

/// Which of the two tools.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Kind {
    Exec,
    Wait,
    /// No tool of ours: answered at once with advice.
    Other,
}

/// What a call needs besides its arguments.
pub(crate) struct CallParts<'a> {
    pub(crate) surface: Arc<dyn ModelSurface>,
    pub(crate) session: &'a Arc<Session>,
    pub(crate) hub: &'a EventHub,
}

/// A call under way. Dropping it aborts the cell of an `exec` and detaches a `wait`.
pub(crate) struct Call {
    result: Pin<Box<dyn Future<Output = SurfaceResult> + Send>>,
    kind: Kind,
    concern: Concern,
    session: Arc<str>,
    heard: mpsc::Receiver<Heard>,
    abort: CancellationToken,
}

/// How serving a call ended.
pub(crate) enum Served {
    /// With its result.
    Done(SurfaceResult),
    /// With a question that the client's next request answers.
    Asks(Call, Question),
    /// The client does not wait any more.
    Left,
}

/// A question that the client is being asked.
struct Asked {
    question: Question,
    handle: RequestHandle<RoleServer>,
}

enum Event {
    Result(SurfaceResult),
    Heard(Heard),
    Question(Question),
    Answer(Option<ClientResult>),
    Moot,
    Cancelled,
}

impl Call {
    /// Starts a call.
    pub(crate) fn start(name: &str, arguments: Value, parts: CallParts<'_>) -> Self {
        let CallParts {
            surface,
            session,
            hub,
        } = parts;
        let call_id: Arc<str> = format!("mcp-{:032x}", session.backend.random_bits()).into();
        let kind = match name {
            "exec" => Kind::Exec,
            "wait" => Kind::Wait,
            _ => Kind::Other,
        };
        let concern = match kind {
            Kind::Wait => Concern::Cell(cell_id(&arguments).into()),
            _ => Concern::Call(Arc::clone(&call_id)),
        };
        let session = Arc::clone(&session.scope.key);
        let heard = hub.listen(&session, concern.clone());
        let abort = CancellationToken::new();
        let mut context = CallContext::new("", &session, &session);
        context.abort = abort.clone();
        let name = name.to_owned();
        let result = Box::pin(async move {
            let context = SurfaceContext {
                call_id,
                call: context,
            };
            surface.call(&name, arguments, context).await
        });
        Self {
            result,
            kind,
            concern,
            session,
            heard,
            abort,
        }
    }

    /// Serves the call until it has a result, or its client has to act or has left.
    pub(crate) async fn serve(mut self, client: &Client, approver: &ElicitingApprover) -> Served {
        let mut asked: Option<Asked> = None;
        let served = loop {
            match self.event(&mut asked, client, approver).await {
                Event::Result(result) => break Served::Done(result),
                Event::Heard(heard) => client.tell(&heard).await,
                Event::Question(question) => match client.asking {
                    Asking::Nobody => question.nobody(),
                    Asking::NextRequest => return Served::Asks(self, question),
                    Asking::Now => asked = ask(client, question).await,
                },
                Event::Answer(answer) => {
                    if let Some(asked) = asked.take() {
                        settle(asked.question, answer);
                    }
                }
                Event::Moot => {
                    if let Some(asked) = asked.take() {
                        withdraw(asked, approver).await;
                    }
                }
                Event::Cancelled if self.kind == Kind::Exec => self.abort.cancel(),
                Event::Cancelled => break Served::Left,
            }
        };
        if let Some(asked) = asked {
            withdraw(asked, approver).await;
        }
        if let Served::Done(_) = served {
            while let Ok(heard) = self.heard.try_recv() {
                client.tell(&heard).await;
            }
        }
        served
    }

    async fn event(
        &mut self,
        asked: &mut Option<Asked>,
        client: &Client,
        approver: &ElicitingApprover,
    ) -> Event {
        let is_asking = asked.is_some();
        let is_aborted = self.abort.is_cancelled();
        tokio::select! {
            biased;
            () = client.cancelled.cancelled(), if !is_aborted => Event::Cancelled,
            Some(heard) = self.heard.recv() => Event::Heard(heard),
            result = &mut self.result => Event::Result(result),
            event = answer(asked) => event,
            question = approver.next(&self.session, &self.concern), if !is_asking && !is_aborted => {
                Event::Question(question)
            }
        }
    }
}

/// The cell that a `wait` names; the surface judges the rest.
fn cell_id(arguments: &Value) -> &str {
    let named = arguments.get("runId").or_else(|| arguments.get("run_id"));
    named.and_then(Value::as_str).unwrap_or_default()
}

async fn ask(client: &Client, question: Question) -> Option<Asked> {
    let Some(request) = question.request() else {
        question.nobody();
        return None;
    };
    let request = ServerRequest::ElicitRequest(request);
    let options = PeerRequestOptions::no_options();
    match client.peer.send_request_with_option(request, options).await {
        Ok(handle) => Some(Asked { question, handle }),
        Err(error) => {
            tracing::debug!(%error, "a client could not be asked");
            question.nobody();
            None
        }
    }
}

async fn answer(asked: &mut Option<Asked>) -> Event {
    let Some(asked) = asked else {
        return std::future::pending().await;
    };
    tokio::select! {
        biased;
        answer = &mut asked.handle.rx => Event::Answer(answer.ok().and_then(Result::ok)),
        () = asked.question.moot() => Event::Moot,
    }
}

/// An error of the client, or an answer of another kind, is a no: it has been asked.
fn settle(question: Question, answer: Option<ClientResult>) {
    match answer {
        Some(ClientResult::ElicitResult(result)) => {
            let action = serde_json::to_value(&result.action).unwrap_or_default();
            question.answer(action.as_str().unwrap_or_default(), result.content.as_ref());
        }
        _ => question.answer("cancel", None),
    }
}

async fn withdraw(asked: Asked, approver: &ElicitingApprover) {
    let reason = Some("the call no longer waits for this answer".to_owned());
    let _ = asked.handle.cancel(reason).await;
    approver.put_back(asked.question);
}
