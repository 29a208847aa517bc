//! The requests of one client, each to its place.
#![expect(
    deprecated,
    reason = "logging is deprecated in the newest revision and part of those that clients speak"
)]

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, PoisonError};

use rmcp::ErrorData;
use rmcp::ServerHandler;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, ErrorCode, GetPromptRequestParams, GetPromptResponse,
    Implementation, InputRequest, InputRequiredResult, ListPromptsResult, ListResourcesResult,
    ListToolsResult, PaginatedRequestParams, ReadResourceRequestParams, ReadResourceResponse,
    ReadResourceResult, ResourceContents, ServerCapabilities, ServerConfig, SetLevelRequestParams,
    SubscriptionFilter,
};
use rmcp::service::{NotificationContext, RequestContext, RoleServer, SubscriptionContext};
use serde_json::{Value, json};
use tokio::sync::watch;
use tokio_util::task::AbortOnDropHandle;

use super::ask::ElicitingApprover;
use super::backend::Backend;
use super::blocks;
use super::call::{Call, CallParts, Served};
use super::client::{Client, is_stateless};
use super::hub::EventHub;
use super::session::{Principals, Session, WeakSession};

/// The error code for a server that is busy. Source: the range that JSON-RPC leaves to servers.
const BUSY: ErrorCode = ErrorCode(-32000);

/// The name of a question in an answer that demands another request.
const QUESTION: &str = "approval";

const INSTRUCTIONS: &str = "Two tools: `exec` runs a small JavaScript or TypeScript program that calls \
    all the other tools, `wait` goes on with one that has not finished. The description of `exec` says how.";

/// What a front is made of.
pub struct FrontParts {
    /// What stands behind it.
    pub backend: Arc<dyn Backend>,
    /// Where the executor's events go.
    pub hub: Arc<EventHub>,
    /// Where the executor's questions go.
    pub approver: Arc<ElicitingApprover>,
    /// The version of this program.
    pub version: String,
}

impl std::fmt::Debug for FrontParts {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("FrontParts").finish_non_exhaustive()
    }
}

/// What all connections of a front share.
pub(crate) struct Front {
    pub(crate) parts: FrontParts,
    principals: Principals,
}

impl Front {
    pub(crate) fn new(parts: FrontParts) -> Arc<Self> {
        let principals = Principals::new(&parts.backend);
        Arc::new(Self { parts, principals })
    }
}

/// How a connection came here.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Door {
    /// By pipes, from the one who started this process: the connection is the session.
    Stdio,
    /// By HTTP: a session is what `initialize` began, or belongs to whoever is authenticated.
    Http,
}

/// Somebody who showed a token, as the door's guard found out.
#[derive(Debug, Clone)]
pub(crate) struct Principal(pub(crate) Arc<str>);

/// The front as one connection sees it.
pub(crate) struct Handler {
    front: Arc<Front>,
    door: Door,
    session: Arc<Session>,
    /// Tells the client of changes, as long as the connection is there.
    announcing: Mutex<Option<AbortOnDropHandle<()>>>,
}

impl Handler {
    pub(crate) fn new(front: &Arc<Front>, door: Door) -> Self {
        Self {
            session: Session::unguessable(&front.parts.backend, true),
            front: Arc::clone(front),
            door,
            announcing: Mutex::default(),
        }
    }

    /// Whose request it is.
    fn session(&self, context: &RequestContext<RoleServer>) -> Arc<Session> {
        if self.door == Door::Stdio || !is_stateless(context) {
            return Arc::clone(&self.session);
        }
        let backend = &self.front.parts.backend;
        let request = context.extensions.get::<http::request::Parts>();
        match request.and_then(|request| request.extensions.get::<Principal>()) {
            Some(Principal(name)) => self.front.principals.session(backend, name),
            None => Session::unguessable(backend, false),
        }
    }

    async fn call(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let session = self.session(&context);
        let Ok(_permit) = session.calls.try_acquire() else {
            return Err(busy("this session has as many calls under way as it may"));
        };
        session.parked.sweep();
        let call = match &request.request_state {
            Some(state) => self.resumed(&session, state, request.input_responses.as_ref())?,
            None => self.started(&session, request).await?,
        };
        let client = Client::of(&context, &session);
        match call.serve(&client, &self.front.parts.approver).await {
            Served::Done(result) => Ok(blocks::result(result).into()),
            Served::Asks(call, question) => {
                let Some(asked) = question.request() else {
                    return Err(ErrorData::internal_error(
                        "a question made no request",
                        None,
                    ));
                };
                let state = format!("{:032x}", session.backend.random_bits());
                let expiry = expire(Arc::downgrade(&session));
                session.parked.put(state.clone(), call, question, expiry);
                let asked = InputRequest::Elicitation(asked);
                let requests = BTreeMap::from([(QUESTION.to_owned(), asked)]);
                Ok(InputRequiredResult::new(Some(requests), Some(state)).into())
            }
            // The protocol drops the answer of a request that was cancelled.
            Served::Left => Err(ErrorData::internal_error("the request was cancelled", None)),
        }
    }

    async fn started(
        &self,
        session: &Arc<Session>,
        request: CallToolRequestParams,
    ) -> Result<Call, ErrorData> {
        let arguments = request.arguments.map_or(Value::Null, Value::Object);
        let words = ["code", "command"].map(|key| arguments.get(key).and_then(Value::as_str));
        let words = words.into_iter().flatten().next().unwrap_or_default();
        let surface = session.backend.surface(&session.scope, words).await;
        let parts = CallParts {
            surface: surface.map_err(unavailable)?,
            session,
            hub: &self.front.parts.hub,
        };
        Ok(Call::start(&request.name, arguments, parts))
    }

    /// The call that was answered with a question, with the answer given. Without one it is asked
    /// again.
    fn resumed(
        &self,
        session: &Session,
        state: &str,
        responses: Option<&BTreeMap<String, Value>>,
    ) -> Result<Call, ErrorData> {
        let Some((call, question)) = session.parked.take(state) else {
            return Err(ErrorData::invalid_params(
                "this requestState is unknown, was used, or has expired; call again without it",
                None,
            ));
        };
        match responses.and_then(|responses| responses.get(QUESTION)) {
            Some(response) => {
                let action = response.get("action").and_then(Value::as_str);
                question.answer(action.unwrap_or_default(), response.get("content"));
            }
            None => self.front.parts.approver.put_back(question),
        }
        Ok(call)
    }

    async fn tools(&self, session: &Session) -> Result<ListToolsResult, ErrorData> {
        let surface = session.backend.surface(&session.scope, "").await;
        let tools = surface.map_err(unavailable)?.tools();
        Ok(ListToolsResult::with_all_items(
            tools.iter().map(blocks::tool).collect(),
        ))
    }
}

/// Looks after a parked call when its time is over. Ends with the call that it is for.
fn expire(session: WeakSession) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async move {
        tokio::time::sleep(super::parked::PATIENCE).await;
        if let Some(session) = session.upgrade() {
            session.parked.sweep();
        }
    }))
}

fn unavailable(error: super::backend::BackendError) -> ErrorData {
    ErrorData::internal_error(error.to_string(), None)
}

fn busy(why: &'static str) -> ErrorData {
    ErrorData::new(BUSY, why, None)
}

impl ServerHandler for Handler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_tool_list_changed()
            .enable_resources()
            // None at present; clients that ask all the same get a list.
            .enable_prompts()
            .enable_logging()
            .build();
        ServerConfig::new(capabilities)
            .with_server_info(
                Implementation::new("codecell", self.front.parts.version.as_str())
                    .with_title("codecell"),
            )
            .with_instructions(INSTRUCTIONS)
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        self.tools(&self.session(&context)).await
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        self.call(request, context).await
    }

    async fn list_resources(
        &self,
        _request: Option<PaginatedRequestParams>,
        context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let session = self.session(&context);
        let saved = session.backend.saved(&session.scope);
        let resources = saved
            .iter()
            .map(|value| blocks::saved_resource(&value.id, value.bytes));
        Ok(ListResourcesResult::with_all_items(resources.collect()))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let session = self.session(&context);
        let kept = blocks::saved_id(&request.uri)
            .and_then(|id| session.backend.read_saved(&session.scope, id));
        let Some(json) = kept else {
            return Err(ErrorData::resource_not_found(
                "this session has kept nothing under this address",
                Some(json!({"uri": request.uri})),
            ));
        };
        let contents = ResourceContents::text(json, request.uri).with_mime_type("application/json");
        Ok(ReadResourceResult::new(vec![contents]).into())
    }

    async fn set_level(
        &self,
        request: SetLevelRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<(), ErrorData> {
        self.session(&context).set_level(request.level);
        Ok(())
    }

    async fn list_prompts(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListPromptsResult, ErrorData> {
        Ok(ListPromptsResult::default())
    }

    async fn get_prompt(
        &self,
        _request: GetPromptRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<GetPromptResponse, ErrorData> {
        Err(ErrorData::invalid_params(
            "this server has no prompts; those of its servers are MCP.<server>.prompts in a program of exec",
            None,
        ))
    }

    fn accepted_subscription_filter(
        &self,
        requested: &SubscriptionFilter,
    ) -> Option<SubscriptionFilter> {
        let mut accepted = SubscriptionFilter::new();
        accepted.tools_list_changed = requested.tools_list_changed;
        Some(accepted)
    }

    async fn listen(&self, context: SubscriptionContext) -> Result<(), ErrorData> {
        let session = self.session(context.request_context());
        let mut known = Known::now(&session).await;
        loop {
            tokio::select! {
                () = context.cancelled() => return Ok(()),
                is_other = known.outdated() => {
                    if !is_other {
                        return Ok(());
                    }
                    // Whoever did not ask for this hears nothing.
                    let _ = context.sink().notify_tool_list_changed().await;
                }
            }
        }
    }

    async fn on_initialized(&self, context: NotificationContext<RoleServer>) {
        let announcing = announce(context, &self.session);
        let mut last = self
            .announcing
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        *last = Some(announcing);
    }
}

/// The catalog as a client knows it, and when that is out of date.
struct Known {
    session: WeakSession,
    changes: watch::Receiver<u64>,
    mark: Option<u64>,
}

impl Known {
    async fn now(session: &Arc<Session>) -> Self {
        Self {
            session: Arc::downgrade(session),
            // Before the look, so that no change falls in between.
            changes: session.backend.changes(),
            mark: session.backend.catalog_mark().await,
        }
    }

    /// Waits until the catalog is another one; `false` when nobody needs to know any more.
    async fn outdated(&mut self) -> bool {
        while self.changes.changed().await.is_ok() {
            let Some(session) = self.session.upgrade() else {
                return false;
            };
            let mark = session.backend.catalog_mark().await;
            if mark != self.mark {
                self.mark = mark;
                return true;
            }
        }
        false
    }
}

/// Tells the client of a connection whenever the catalog is another one: what its model was told of
/// the tools may be out of date, even where the two tools read the same.
fn announce(
    context: NotificationContext<RoleServer>,
    session: &Arc<Session>,
) -> AbortOnDropHandle<()> {
    let session = Arc::downgrade(session);
    let peer = context.peer;
    AbortOnDropHandle::new(tokio::spawn(async move {
        let Some(mut known) = known(&session).await else {
            return;
        };
        while known.outdated().await && !peer.is_transport_closed() {
            if peer.notify_tool_list_changed().await.is_err() {
                return;
            }
        }
    }))
}

async fn known(session: &WeakSession) -> Option<Known> {
    Some(Known::now(&session.upgrade()?).await)
}
