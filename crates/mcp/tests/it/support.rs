//! A pool of scripted servers, and the executor before it.

use std::sync::{Arc, Mutex};
use std::time::Duration;

use async_trait::async_trait;
use codecell_catalog::Scope;
use codecell_mcp::client::{
    Endpoint, Pool, PoolOptions, SAFE_VARIABLES, ServerOptions, StdioEndpoint,
};
use codecell_tools::approval::{FormAnswer, FormRequest};
use codecell_tools::{
    ApprovalDesk, ApprovalMode, ApprovalOptions, ApprovalRequest, Approver, CallContext,
    CallReport, CallRequest, Decision, Executor, ExecutorOptions, ExecutorParts, NoProgress,
    Policy, Redactor, ToolSet, ToolSource,
};
use serde_json::{Value, json};

use crate::fake;

/// How long anything may take before a test gives up.
pub(crate) const LONG: Duration = Duration::from_secs(60);

/// Options of a scripted server.
pub(crate) fn server(name: &str, script: &Value) -> ServerOptions {
    let exe = std::env::current_exe().unwrap();
    let endpoint = StdioEndpoint {
        command: exe.display().to_string(),
        args: fake::arguments("become_a_server"),
        env: [(fake::SCRIPT.to_owned(), script.to_string())].into(),
        cwd: None,
    };
    ServerOptions {
        connect_timeout: LONG,
        ..ServerOptions::new(name, Endpoint::Stdio(endpoint))
    }
}

/// A pool, a way to call its tools, and what policy lets through.
pub(crate) struct World {
    pub(crate) pool: Arc<Pool>,
    pub(crate) person: Arc<Person>,
    executor: Executor,
    policy: Policy,
}

/// Fills in forms from a list, after a while; then there is nobody.
#[derive(Default)]
pub(crate) struct Person {
    pub(crate) asked: Mutex<Vec<FormRequest>>,
    pub(crate) answers: Mutex<Vec<FormAnswer>>,
    pub(crate) takes: Mutex<Duration>,
}

#[async_trait]
impl Approver for Person {
    async fn ask(&self, _request: &ApprovalRequest) -> Decision {
        Decision::Unavailable
    }

    async fn fill(&self, request: &FormRequest) -> FormAnswer {
        self.asked.lock().unwrap().push(request.clone());
        let takes = *self.takes.lock().unwrap();
        tokio::time::sleep(takes).await;
        let mut answers = self.answers.lock().unwrap();
        match answers.is_empty() {
            true => FormAnswer::Unavailable,
            false => answers.remove(0),
        }
    }
}

impl World {
    pub(crate) fn new(servers: Vec<ServerOptions>) -> Self {
        Self::with(PoolOptions::new(servers))
    }

    pub(crate) fn of(name: &str, script: &Value) -> Self {
        Self::new(vec![server(name, script)])
    }

    /// One server, which is told that a person can be asked.
    pub(crate) fn asking(server: ServerOptions) -> Self {
        let mut options = PoolOptions::new(vec![server]);
        options.can_ask = true;
        Self::with(options)
    }

    pub(crate) fn with(mut options: PoolOptions) -> Self {
        let safe = SAFE_VARIABLES.iter();
        options.environment = safe
            .filter_map(|name| Some(((*name).to_owned(), std::env::var(name).ok()?)))
            .chain([("OPENAI_API_KEY".to_owned(), "secret".to_owned())])
            .collect();
        let approvals = ApprovalOptions {
            mode: ApprovalMode::Always,
            ..ApprovalOptions::default()
        };
        let person = Arc::new(Person::default());
        let executor = Executor::new(ExecutorParts {
            options: ExecutorOptions::default(),
            approvals: ApprovalDesk::new(approvals, Some(Arc::clone(&person) as _)),
            hooks: Vec::new(),
            events: Arc::new(codecell_tools::NoEvents),
            redactor: Redactor::default(),
        });
        Self {
            pool: Arc::new(Pool::new(options).unwrap()),
            person,
            executor,
            policy: Policy::default(),
        }
    }

    /// The tools of now, after bringing up what is needed for them.
    pub(crate) async fn tools(&self) -> ToolSet {
        tokio::time::timeout(LONG, self.pool.refresh())
            .await
            .unwrap();
        let sources = [Arc::clone(&self.pool) as Arc<dyn ToolSource>];
        ToolSet::build(&sources, &self.policy).unwrap()
    }

    pub(crate) async fn call(&self, set: &ToolSet, tool: &str, args: Value) -> CallReport {
        self.call_in(set, tool, args, CallContext::new("main", "s", "r"))
            .await
    }

    pub(crate) async fn call_in(
        &self,
        set: &ToolSet,
        tool: &str,
        args: Value,
        ctx: CallContext,
    ) -> CallReport {
        let request = CallRequest {
            call_id: "call-1".into(),
            tool: tool.into(),
            scope: Scope::All,
            args,
            ctx,
        };
        let call = self.executor.call(set, request, Arc::new(NoProgress));
        tokio::time::timeout(LONG, call).await.unwrap()
    }

    /// The first text of a call that succeeds.
    pub(crate) async fn text(&self, set: &ToolSet, tool: &str, args: Value) -> String {
        let report = self.call(set, tool, args).await;
        let output = report.outcome.unwrap();
        output.content[0].to_json()["text"]
            .as_str()
            .unwrap()
            .to_owned()
    }

    /// The structured content of a call that succeeds.
    pub(crate) async fn details(&self, set: &ToolSet, tool: &str, args: Value) -> Value {
        let report = self.call(set, tool, args).await;
        report.outcome.unwrap().details.unwrap()
    }
}

/// A report in a line: state, then the value or the failure.
pub(crate) fn shown(report: &CallReport) -> String {
    let state = format!("{:?}", report.state);
    match &report.outcome {
        Ok(output) => format!("{state}: {}", output.raw()),
        Err(failure) => format!("{state} {}: {}", failure.code, failure.message),
    }
}

/// The names of all tools.
pub(crate) fn names(set: &ToolSet) -> Vec<String> {
    let entries = set.catalog().entries().iter();
    entries.map(|entry| entry.id.to_string()).collect()
}

/// Whether a process runs, other than as a zombie.
pub(crate) fn is_running(pid: &str) -> bool {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
    let state = stat
        .rsplit_once(')')
        .and_then(|(_, rest)| rest.trim().chars().next());
    state.is_some_and(|state| state != 'Z')
}

/// Waits until something holds.
pub(crate) async fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let waiting = async {
        while !holds() {
            tokio::time::sleep(Duration::from_millis(5)).await;
        }
    };
    let waited = tokio::time::timeout(LONG, waiting).await;
    assert!(waited.is_ok(), "never: {what}");
}

/// The script of a server with these tools and these other fields.
pub(crate) fn script(tools: &[&str], more: Value) -> Value {
    let mut script = json!({"tools": tools});
    let fields = script.as_object_mut().unwrap();
    fields.extend(more.as_object().unwrap().clone());
    script
}
