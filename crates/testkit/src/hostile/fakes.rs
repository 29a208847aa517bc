//! The tools of a hostile program's run, and books of their own about every call.
//!
//! The books are kept by the tools themselves, not by anything that is under test: what the ledger
//! says is compared with them. A tool whose name ends in `_w` changes something.

#![expect(clippy::panic, reason = "a tool that panics is one of the cases")]

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use async_trait::async_trait;
use codecell_catalog::McpServer;
use codecell_tools::{
    CallContext, ContentBlock, Policy, PolicyOptions, PolicyRules, Tool, ToolDefinition, ToolError,
    ToolId, ToolInput, ToolOutput, ToolSet, ToolSource,
};
use serde_json::{Value, json};
use tokio::sync::Notify;

use crate::servers::{self, Servers};

/// A tool that every run has and that policy takes out of it.
pub const DENIED: &str = "forbidden";

/// What the tools of one run know.
#[derive(Debug, Default)]
pub struct Books {
    state: Mutex<State>,
    changed: Notify,
}

/// Calls as their tools saw them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls that reached a tool.
    pub begun: u32,
    /// Those that a tool answered with success.
    pub succeeded: u32,
    /// Calls that reached a tool that changes something.
    pub begun_writes: u32,
    /// Those that it answered with success.
    pub succeeded_writes: u32,
    /// Calls of a tool that policy had removed: there must be none.
    pub denied: u32,
}

#[derive(Debug, Default)]
struct State {
    counts: Counts,
    heard: String,
    open: HashSet<String>,
}

impl Books {
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// The calls so far.
    #[must_use]
    pub fn counts(&self) -> Counts {
        self.lock().counts
    }

    /// The arguments of all calls so far, as the tools got them; long ones are cut.
    #[must_use]
    pub fn heard(&self) -> String {
        self.lock().heard.clone()
    }

    /// Opens a gate: calls of `gate` with this key end.
    pub fn open(&self, key: &str) {
        self.lock().open.insert(key.to_owned());
        self.changed.notify_waiters();
    }

    /// Waits until so many calls have begun.
    pub async fn begun(&self, count: u32) {
        self.until(|state| state.counts.begun >= count).await;
    }

    async fn until(&self, is_so: impl Fn(&State) -> bool + Send) {
        loop {
            let changed = self.changed.notified();
            tokio::pin!(changed);
            changed.as_mut().enable();
            if is_so(&self.lock()) {
                return;
            }
            changed.await;
        }
    }

    fn begin(&self, definition: &ToolDefinition, input: &ToolInput) {
        const HEARD_CHARS: usize = 4096;
        let mut state = self.lock();
        state.counts.begun += 1;
        state.counts.begun_writes += u32::from(writes(definition));
        state.counts.denied += u32::from(definition.name() == DENIED);
        let text = input.text().chars().take(HEARD_CHARS);
        state.heard.extend(text);
        state.heard.push('\n');
        drop(state);
        self.changed.notify_waiters();
    }

    fn succeed(&self, definition: &ToolDefinition) {
        let mut state = self.lock();
        state.counts.succeeded += 1;
        state.counts.succeeded_writes += u32::from(writes(definition));
    }
}

fn writes(definition: &ToolDefinition) -> bool {
    definition.effect() == codecell_tools::EffectKind::Write
}

/// What a fake tool does.
#[derive(Clone, Copy, Debug)]
enum Act {
    /// Gives back its input.
    Echo,
    /// Fails and says nothing about effects.
    Fail,
    /// Fails and says that nothing changed.
    FailCleanly,
    /// Never answers.
    Hang,
    /// Answers when its key has been opened.
    Gate,
    /// Opens a key.
    Open,
    /// A string of so many `bytes`.
    Big,
    /// Arrays in each other, so many `levels`.
    Deep,
    /// An object of so many `keys`.
    Many,
    /// Keys and texts that a careless host trips over.
    Odd,
    /// A picture.
    Image,
    /// Breaks.
    Panic,
}

struct Fake {
    definition: ToolDefinition,
    act: Act,
    books: Arc<Books>,
}

#[async_trait]
impl Tool for Fake {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: ToolInput, _: &CallContext) -> Result<ToolOutput, ToolError> {
        self.books.begin(&self.definition, &input);
        let output = self.act(&input).await?;
        self.books.succeed(&self.definition);
        Ok(output)
    }
}

impl Fake {
    async fn act(&self, input: &ToolInput) -> Result<ToolOutput, ToolError> {
        let number = |name: &str| input.value()[name].as_u64().unwrap_or(0) as usize;
        let key = input.value()["key"].as_str().unwrap_or_default().to_owned();
        let details = match self.act {
            Act::Echo => input.value().clone(),
            Act::Fail => return Err(ToolError::new("broken", "the tool is broken")),
            Act::FailCleanly => return Err(ToolError::no_effect("refused", "nothing was changed")),
            Act::Hang => std::future::pending().await,
            Act::Gate => {
                self.books.until(|state| state.open.contains(&key)).await;
                json!({ "key": key })
            }
            Act::Open => {
                self.books.open(&key);
                json!({ "opened": key })
            }
            Act::Big => Value::from("x".repeat(number("bytes"))),
            Act::Deep => (0..number("levels")).fold(json!(1), |inner, _| json!([inner])),
            Act::Many => (0..number("keys"))
                .map(|key| (format!("k{key}"), json!(key)))
                .collect(),
            Act::Odd => odd(),
            Act::Image => return Ok(image()),
            Act::Panic => panic!("a fake tool panics"),
        };
        Ok(ToolOutput::details(details))
    }
}

/// A value whose keys and texts mean something elsewhere.
#[must_use]
pub fn odd() -> Value {
    json!({
        "__proto__": {"polluted": true},
        "constructor": {"prototype": {"polluted": true}},
        "then": "not a function",
        "toJSON": "not a function",
        "length": 9_007_199_254_740_991_u64,
        "": "empty",
        "\u{0}": "nul",
        "escape": "\u{1b}[31m\u{202e}\u{2028}",
        "number": 1e308,
        "negativeZero": -0.0
    })
}

fn image() -> ToolOutput {
    ToolOutput {
        content: vec![
            ContentBlock::Text("a picture".into()),
            ContentBlock::Image {
                mime_type: "image/png".into(),
                data: vec![1, 2, 3].into(),
            },
        ],
        ..ToolOutput::default()
    }
}

/// Name, deed, and whether it only reads.
const TOOLS: &[(&str, Act, bool)] = &[
    ("echo", Act::Echo, true),
    ("fail", Act::Fail, true),
    ("hang", Act::Hang, true),
    ("gate", Act::Gate, true),
    ("open", Act::Open, true),
    ("big", Act::Big, true),
    ("deep", Act::Deep, true),
    ("many", Act::Many, true),
    ("odd", Act::Odd, true),
    ("image", Act::Image, true),
    ("note_w", Act::Echo, false),
    ("fail_w", Act::Fail, false),
    ("clean_w", Act::FailCleanly, false),
    ("hang_w", Act::Hang, false),
    ("gate_w", Act::Gate, false),
    ("panic_w", Act::Panic, false),
    // The shell tool is called like this: the catalog has it, and it is not the model's `exec`.
    ("exec", Act::Echo, false),
    (DENIED, Act::Echo, false),
];

/// The tools of one run after policy.
///
/// # Errors
/// In words, when the tools above are wrong.
pub fn tool_set(books: &Arc<Books>) -> Result<ToolSet, String> {
    tool_set_of(books, &[], ExtraServers::None)
}

/// MCP servers that a run has besides its tools.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum ExtraServers {
    /// None.
    #[default]
    None,
    /// Those whose names and descriptions break out of whatever they can.
    Nasty,
    /// Those whose schemas explode.
    Exploding,
}

/// A source of tools with servers behind it.
struct Offered(Vec<Arc<dyn Tool>>, Vec<McpServer>);

impl ToolSource for Offered {
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.0.clone()
    }

    fn servers(&self) -> Vec<McpServer> {
        self.1.clone()
    }
}

/// As [`tool_set`], with these servers as well.
///
/// # Errors
/// As [`tool_set`].
pub fn tool_set_with(books: &Arc<Books>, servers: ExtraServers) -> Result<ToolSet, String> {
    tool_set_of(books, &[], servers)
}

/// As [`tool_set`], without these as well.
///
/// # Errors
/// As [`tool_set`].
pub fn tool_set_without(books: &Arc<Books>, gone: &[&str]) -> Result<ToolSet, String> {
    tool_set_of(books, gone, ExtraServers::None)
}

fn tool_set_of(books: &Arc<Books>, gone: &[&str], extra: ExtraServers) -> Result<ToolSet, String> {
    let extra = match extra {
        ExtraServers::None => Servers::default(),
        ExtraServers::Nasty => servers::nasty()?,
        ExtraServers::Exploding => servers::exploding()?,
    };
    let mut tools: Vec<Arc<dyn Tool>> = Vec::new();
    for (name, act, reads) in TOOLS {
        let words = format!("The fake tool {name}.");
        let definition = ToolDefinition::core(name, words, json!({"type": "object"}));
        let definition = definition.map_err(|error| error.to_string())?;
        tools.push(Arc::new(Fake {
            definition: if *reads {
                definition.read_only()
            } else {
                definition
            },
            act: *act,
            books: Arc::clone(books),
        }));
    }
    let id = ToolId::parse("mcp:git-hub:list_issues").map_err(|error| error.to_string())?;
    tools.push(Arc::new(Fake {
        definition: ToolDefinition::new(id, "Lists issues.", json!({"type": "object"})),
        act: Act::Echo,
        books: Arc::clone(books),
    }));
    let mut rules = PolicyRules::new("tools");
    rules.deny = gone
        .iter()
        .chain([&DENIED])
        .map(|&name| name.to_owned())
        .collect();
    let options = PolicyOptions {
        scopes: vec![rules],
        ..PolicyOptions::default()
    };
    let policy = Policy::build(&options).map_err(|error| error.to_string())?;
    for entry in extra.entries {
        let mut definition = ToolDefinition::new(entry.id, entry.description, Value::Null);
        definition.parameters = entry.parameters;
        tools.push(Arc::new(Fake {
            definition,
            act: Act::Echo,
            books: Arc::clone(books),
        }));
    }
    let source: Arc<dyn ToolSource> = Arc::new(Offered(tools, extra.servers));
    ToolSet::build(&[source], &policy).map_err(|error| error.to_string())
}
