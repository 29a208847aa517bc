//! One server and the actor that owns its connection.
//!
//! The actor is the only one that starts, stops and restarts. Everybody else says that the server
//! is needed, and waits for the answer; those who ask while it starts share one start. A server
//! that keeps failing is left alone for a while, and whoever asks meanwhile hears why at once.

use std::future::pending;
use std::sync::{Arc, OnceLock, PoisonError, RwLock};
use std::time::Duration;

use codecell_tools::{Tool, ToolDefinition};
use futures::FutureExt as _;
use futures::future::BoxFuture;
use tokio::sync::{mpsc, oneshot, watch};
use tokio::time::Instant;

use super::error::{RequestError, StartError};
use super::filter::Filter;
use super::limits::ClientLimits;
use super::link::Link;
use super::listing::Listing;
use super::options::{Endpoint, PoolOptions, ServerOptions};
use super::process::Tail;
use super::tool::RemoteTool;

/// Requests to the actor that wait.
const INBOX: usize = 256;

/// A pause that is waited for; a longer one is told to whoever asks.
const WORTH_WAITING: Duration = Duration::from_secs(2);

/// What the world knows of a server, now.
#[derive(Clone, Default)]
pub struct ServerState {
    /// What it has, as last read. Stays while the server is down.
    pub listing: Option<Arc<Listing>>,
    /// Its tools. The same objects as long as the listing says the same of them.
    pub(super) tools: Arc<[Arc<dyn Tool>]>,
    /// Why it cannot be used, if so.
    pub unavailable: Option<String>,
}

/// A server that is up.
#[derive(Clone, Debug)]
pub(super) struct Ready {
    pub(super) link: Arc<Link>,
    pub(super) listing: Arc<Listing>,
}

type Answer = Result<Ready, String>;

/// A way to the actor of a server. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Handle {
    pub(super) name: Arc<str>,
    pub(super) limits: ClientLimits,
    inbox: mpsc::Sender<Event>,
}

/// Our side of one server.
pub(super) struct Server {
    pub(super) handle: Handle,
    state: Arc<RwLock<ServerState>>,
    /// When somebody first waited for it.
    first_look: OnceLock<Instant>,
}

/// Everything that can happen to a server.
#[derive(Debug)]
enum Event {
    /// Somebody wants to call it.
    Needed(oneshot::Sender<Answer>),
    /// Somebody wants to know what it has.
    Asked(oneshot::Sender<Answer>),
    /// A start, or the reading of changed lists, came to its end.
    Worked(Result<Ready, StartError>),
    /// The connection ended by itself.
    Ended,
    /// Its lists are other than they were.
    Changed,
    /// Nobody has called it for a while.
    Idle,
    /// The pool is being closed, or nobody is left who could need it.
    Closing,
}

/// What the connection is doing.
enum State {
    Down,
    Working {
        /// What is up meanwhile.
        link: Option<Arc<Link>>,
        work: BoxFuture<'static, Result<Ready, StartError>>,
        waiting: Vec<oneshot::Sender<Answer>>,
    },
    Up(Ready),
}

impl Server {
    /// A server, and the actor to be run for it.
    pub(super) fn new(
        options: ServerOptions,
        safe_name: String,
        pool: Arc<PoolOptions>,
        changes: watch::Sender<u64>,
    ) -> (Self, impl Future<Output = ()> + Send + 'static) {
        let (inbox, events) = mpsc::channel(INBOX);
        let state = Arc::new(RwLock::new(ServerState::default()));
        let name: Arc<str> = options.name.as_str().into();
        let handle = Handle {
            name,
            limits: pool.limits,
            inbox,
        };
        let actor = Actor {
            handle: handle.clone(),
            safe_name: safe_name.into(),
            tail: Tail::new(pool.limits.max_noise_bytes),
            options: Arc::new(options),
            pool,
            events,
            shared: Arc::clone(&state),
            changes,
            state: State::Down,
            failures: 0,
            paused_until: None,
            up_since: Instant::now(),
            used: Instant::now(),
        };
        let server = Self {
            handle,
            state,
            first_look: OnceLock::new(),
        };
        (server, actor.run())
    }

    /// How long to wait for it now. It is waited for once until it is up; one that does not come up
    /// is not waited for again, and holds up nobody.
    pub(super) fn patience(&self, first: Duration, patience: Duration) -> Duration {
        let begun = self.first_look.get_or_init(Instant::now);
        let state = self.state();
        match state.listing.is_some() && state.unavailable.is_none() {
            true => patience,
            false => first.saturating_sub(begun.elapsed()),
        }
    }

    /// What is known now, without waiting.
    pub(super) fn state(&self) -> ServerState {
        let state = self.state.read().unwrap_or_else(PoisonError::into_inner);
        state.clone()
    }
}

impl Handle {
    /// The server, brought up if need be, with lists that are not stale.
    ///
    /// # Errors
    /// [`RequestError::Unavailable`].
    pub(super) async fn ready(&self) -> Result<Ready, RequestError> {
        self.ask(Event::Needed).await
    }

    /// Brings the server up unless it is known what it has; one that sleeps is left asleep.
    pub(super) async fn look(&self) {
        // What went wrong is in the state.
        let _ = self.ask(Event::Asked).await;
    }

    async fn ask(
        &self,
        event: impl FnOnce(oneshot::Sender<Answer>) -> Event,
    ) -> Result<Ready, RequestError> {
        let unavailable = |reason: String| RequestError::Unavailable {
            server: self.name.to_string(),
            reason,
        };
        let (asked, answer) = oneshot::channel();
        let closing = || unavailable(StartError::Closing.to_string());
        let sent = self.inbox.send(event(asked)).await;
        sent.map_err(|_| closing())?;
        answer.await.map_err(|_| closing())?.map_err(unavailable)
    }

    /// Asks the actor to end.
    pub(super) async fn close(&self) {
        // An actor that has ended needs no asking.
        let _ = self.inbox.send(Event::Closing).await;
    }
}

struct Actor {
    handle: Handle,
    safe_name: Arc<str>,
    options: Arc<ServerOptions>,
    pool: Arc<PoolOptions>,
    events: mpsc::Receiver<Event>,
    shared: Arc<RwLock<ServerState>>,
    changes: watch::Sender<u64>,
    state: State,
    tail: Tail,
    /// Starts that failed, and lives that were short, since the last that was not.
    failures: u32,
    paused_until: Option<Instant>,
    up_since: Instant,
    used: Instant,
}

impl Actor {
    async fn run(mut self) {
        loop {
            let event = self.next().await;
            if matches!(event, Event::Closing) {
                break;
            }
            self.handle(event);
        }
        self.shut().await;
    }

    async fn next(&mut self) -> Event {
        let idle_at = self.used.checked_add(self.pool.idle_ttl);
        let (work, link) = match &mut self.state {
            State::Down => (None, None),
            State::Working { work, link, .. } => (Some(work), link.clone()),
            State::Up(ready) => (None, Some(Arc::clone(&ready.link))),
        };
        let is_working = work.is_some();
        let worked = async {
            match work {
                Some(work) => Event::Worked(work.await),
                None => pending().await,
            }
        };
        let ended = async {
            match &link {
                Some(link) if !is_working => link.ended().cancelled().await,
                _ => pending().await,
            }
        };
        let changed = async {
            match &link {
                Some(link) if !is_working => link.staleness().changed().await,
                _ => pending().await,
            }
        };
        let idle = async {
            match (idle_at, &link) {
                (Some(at), Some(_)) if !is_working && !self.pool.idle_ttl.is_zero() => {
                    tokio::time::sleep_until(at).await;
                }
                _ => pending().await,
            }
        };
        tokio::select! {
            biased;
            event = self.events.recv() => event.unwrap_or(Event::Closing),
            worked = worked => worked,
            () = ended => Event::Ended,
            () = changed => Event::Changed,
            () = idle => Event::Idle,
        }
    }

    fn handle(&mut self, event: Event) {
        match event {
            Event::Needed(asked) => {
                self.used = Instant::now();
                self.needed(asked);
            }
            Event::Asked(asked) => self.asked(asked),
            Event::Worked(result) => self.worked(result),
            Event::Ended => self.ended(),
            Event::Changed => self.announce(),
            Event::Idle => self.idle(),
            Event::Closing => {}
        }
    }

    fn asked(&mut self, asked: oneshot::Sender<Answer>) {
        let is_known = {
            let state = self.shared.read().unwrap_or_else(PoisonError::into_inner);
            state.listing.is_some() && state.unavailable.is_none()
        };
        match &self.state {
            State::Down if is_known => drop(asked.send(Err("it sleeps".to_owned()))),
            _ => self.needed(asked),
        }
    }

    fn needed(&mut self, asked: oneshot::Sender<Answer>) {
        match &mut self.state {
            State::Working { waiting, .. } => waiting.push(asked),
            State::Up(ready) if ready.link.ended().is_cancelled() => {
                self.ended();
                self.needed(asked);
            }
            State::Up(ready) if ready.link.staleness().take() => {
                let link = Arc::clone(&ready.link);
                self.work(Some(link), asked);
            }
            // Whoever asked may have gone.
            State::Up(ready) => drop(asked.send(Ok(ready.clone()))),
            State::Down => match self.pause() {
                Some(reason) => drop(asked.send(Err(reason))),
                None => self.work(None, asked),
            },
        }
    }

    /// Why the server is left alone for longer than anybody should wait.
    fn pause(&self) -> Option<String> {
        let left = self.pause_left();
        if left <= WORTH_WAITING {
            return None;
        }
        let state = self.shared.read().unwrap_or_else(PoisonError::into_inner);
        let why = state.unavailable.as_deref().unwrap_or("it keeps ending");
        Some(format!("{why} (left alone for {} s)", left.as_secs() + 1))
    }

    fn pause_left(&self) -> Duration {
        let until = self.paused_until.unwrap_or_else(Instant::now);
        until.saturating_duration_since(Instant::now())
    }

    fn work(&mut self, link: Option<Arc<Link>>, asked: oneshot::Sender<Answer>) {
        let options = Arc::clone(&self.options);
        let pool = Arc::clone(&self.pool);
        let tail = self.tail.clone();
        let up = link.clone();
        let pause = self.pause_left();
        let safe_name = Arc::clone(&self.safe_name);
        let work = async move {
            tokio::time::sleep(pause).await;
            bring_up(options, &safe_name, pool, tail, up).await
        };
        self.state = State::Working {
            link,
            work: work.boxed(),
            waiting: vec![asked],
        };
    }

    fn worked(&mut self, result: Result<Ready, StartError>) {
        let was = std::mem::replace(&mut self.state, State::Down);
        let State::Working { waiting, link, .. } = was else {
            return;
        };
        self.used = Instant::now();
        if result.is_err()
            && link
                .as_ref()
                .is_some_and(|link| link.ended().is_cancelled())
        {
            // It ended while its changed lists were read: those who wait get another.
            self.ended();
            return waiting.into_iter().for_each(|asked| self.needed(asked));
        }
        if link.is_none() {
            self.up_since = self.used;
        }
        let answer = match result {
            Ok(ready) => {
                self.paused_until = None;
                self.publish(&ready.listing);
                self.state = State::Up(ready.clone());
                Ok(ready)
            }
            Err(error) => {
                let reason = error.to_string();
                tracing::warn!(
                    server = self.options.name,
                    reason,
                    "an MCP server is unavailable"
                );
                self.change(|state| state.unavailable = Some(reason.clone()));
                self.announce();
                self.back_off(self.failures);
                Err(reason)
            }
        };
        for asked in waiting {
            // Whoever asked may have gone.
            let _ = asked.send(answer.clone());
        }
    }

    /// A server that ends by itself is started again when it is needed: at once the first time,
    /// after ever longer pauses when it keeps ending.
    fn ended(&mut self) {
        self.state = State::Down;
        if self.up_since.elapsed() > self.pool.limits.max_pause {
            self.failures = 0;
        }
        match self.failures {
            0 => self.failures = 1,
            times => self.back_off(times - 1),
        }
        tracing::info!(server = self.options.name, "an MCP server ended");
    }

    fn back_off(&mut self, doublings: u32) {
        let limits = &self.pool.limits;
        let pause = limits
            .first_pause
            .saturating_mul(2_u32.saturating_pow(doublings));
        self.paused_until = Instant::now().checked_add(pause.min(limits.max_pause));
        self.failures = self.failures.saturating_add(1);
    }

    fn announce(&self) {
        self.changes.send_modify(|count| *count += 1);
    }

    fn idle(&mut self) {
        let State::Up(ready) = &self.state else {
            return;
        };
        self.used = Instant::now();
        if ready.link.is_busy() {
            return;
        }
        ready.link.close();
        self.state = State::Down;
    }

    fn publish(&self, listing: &Arc<Listing>) {
        let tools = |tools: &[ToolDefinition]| {
            let tools = tools.iter().map(|definition| {
                let tool = RemoteTool::new(definition.clone(), self.handle.clone());
                Arc::new(tool) as Arc<dyn Tool>
            });
            tools.collect::<Arc<[_]>>()
        };
        let mut is_news = false;
        self.change(|state| {
            let is_same = state
                .listing
                .as_ref()
                .is_some_and(|old| old.offers_the_same(listing));
            is_news = !is_same || state.unavailable.is_some();
            if !is_same {
                state.tools = tools(&listing.tools);
            }
            state.listing = Some(Arc::clone(listing));
            state.unavailable = None;
        });
        if is_news {
            self.announce();
        }
    }

    fn change(&self, change: impl FnOnce(&mut ServerState)) {
        let mut state = self.shared.write().unwrap_or_else(PoisonError::into_inner);
        change(&mut state);
    }

    async fn shut(&mut self) {
        self.events.close();
        self.end_link().await;
        if let Endpoint::Http(endpoint) = &self.options.endpoint
            && let Some(authorization) = &endpoint.authorization
        {
            authorization.settle().await;
        }
    }

    async fn end_link(&mut self) {
        let link = match std::mem::replace(&mut self.state, State::Down) {
            State::Down => return,
            State::Working { link, .. } => link,
            State::Up(ready) => Some(ready.link),
        };
        if let Some(link) = link {
            link.close();
            link.ended().cancelled().await;
        }
    }
}

/// Starts the server if it is not up, and reads what it has, all in the configured time.
async fn bring_up(
    options: Arc<ServerOptions>,
    safe_name: &str,
    pool: Arc<PoolOptions>,
    tail: Tail,
    up: Option<Arc<Link>>,
) -> Result<Ready, StartError> {
    let working = async {
        let filter = Filter::new(&options.filter)?;
        let link = match up {
            Some(link) => link,
            None => Arc::new(Link::open(&options, &pool, &tail).await?),
        };
        let listing = Listing::read(&link, &options.name, safe_name, &filter, &pool.limits).await;
        let listing = listing.map_err(|error| StartError::Greeting {
            reason: error.to_string(),
            stderr: String::new(),
        })?;
        Ok(Ready {
            link,
            listing: Arc::new(listing),
        })
    };
    let after: Duration = options.connect_timeout;
    tokio::time::timeout(after, working)
        .await
        .unwrap_or_else(|_| {
            Err(StartError::Timeout {
                after,
                stderr: tail.text(),
            })
        })
}
