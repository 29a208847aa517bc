//! A tool, what it declares about itself, and where tools come from.
//!
//! A [`Tool`] is called by the executor only, with arguments that its schema has accepted. It does
//! not judge policy and asks nobody; what it wants to have asked it declares in
//! [`Tool::approvals`].

use std::sync::{Arc, OnceLock};

use async_trait::async_trait;
use codecell_catalog::{Entry, IdError, McpServer, Operation, Tier, ToolId};
use codecell_protocol::EffectKind;
use serde::de::DeserializeOwned;
use serde_json::Value;

use crate::approval::ApprovalNeed;
use crate::context::CallContext;
use crate::error::ToolError;
use crate::output::ToolOutput;

/// Whether calls may overlap.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash)]
pub enum Execution {
    /// Calls of any parallel tools may overlap.
    #[default]
    Parallel,
    /// A call runs while no other call of its session does; calls of sequential tools run in the
    /// order in which they were made, approvals included.
    Sequential,
    /// The tool makes calls of its own, each of which takes its turn; the call itself takes none.
    Nesting,
}

/// What a tool declares about itself.
#[derive(Debug, Clone)]
pub struct ToolDefinition {
    /// The catalog's id. Its last part is the name that the owner gave the tool.
    pub id: ToolId,
    /// Whose tool it is.
    pub tier: Tier,
    /// What of an MCP server it stands for.
    pub operation: Operation,
    /// Another name under which policy knows the tool, unique in its run: the owner's and the
    /// tool's names in letters that rules can write.
    pub policy_name: Option<String>,
    /// A title for people.
    pub label: Option<String>,
    /// What it does, for the model.
    pub description: String,
    /// JSON Schema of the arguments.
    pub parameters: Arc<Value>,
    /// JSON Schema of the value, if declared.
    pub output_schema: Option<Arc<Value>>,
    /// What a call can change. Believed of trusted owners only; see [`ToolDefinition::effect`].
    pub declared_effect: EffectKind,
    /// Whether calls may overlap.
    pub execution: Execution,
    /// The only text of a result is JSON.
    pub returns_json: bool,
    /// A reported failure always means that nothing changed. Believed of trusted owners only.
    pub failure_means_no_effect: bool,
    /// Whether the owner's words about effects are believed, and its text may enter a prompt.
    pub trusted: bool,
}

impl ToolDefinition {
    /// A definition with the cautious defaults: it writes, runs in parallel, declares no output,
    /// and is trusted only if it is ours (core and plugins).
    pub fn new(id: ToolId, description: impl Into<String>, parameters: Value) -> Self {
        let entry = Entry::new(id, description, parameters);
        Self {
            id: entry.id,
            tier: entry.tier,
            operation: entry.operation,
            policy_name: None,
            label: None,
            description: entry.description,
            parameters: entry.parameters,
            output_schema: None,
            declared_effect: EffectKind::Write,
            execution: Execution::Parallel,
            returns_json: false,
            failure_means_no_effect: false,
            trusted: entry.trusted,
        }
    }

    /// The definition of a core tool, `openclaw:core:<name>`.
    ///
    /// # Errors
    /// If the name cannot be part of an id.
    pub fn core(
        name: &str,
        description: impl Into<String>,
        parameters: Value,
    ) -> Result<Self, IdError> {
        Ok(Self::new(ToolId::core(name)?, description, parameters))
    }

    /// The same tool, declared to change nothing: its failures change nothing either.
    #[must_use]
    pub fn read_only(mut self) -> Self {
        self.declared_effect = EffectKind::Read;
        self.failure_means_no_effect = true;
        self
    }

    /// The same tool with a declared output.
    #[must_use]
    pub fn with_output(mut self, schema: Value) -> Self {
        self.output_schema = Some(Arc::new(schema));
        self
    }

    /// The same tool with a title for people.
    #[must_use]
    pub fn with_label(mut self, label: impl Into<String>) -> Self {
        self.label = Some(label.into());
        self
    }

    /// The same tool, called alone and in order.
    #[must_use]
    pub fn sequential(mut self) -> Self {
        self.execution = Execution::Sequential;
        self
    }

    /// The name that the owner gave the tool.
    #[must_use]
    pub fn name(&self) -> &str {
        self.id.name()
    }

    /// What a call counts as: an owner that is not trusted can change anything, whatever it says.
    #[must_use]
    pub fn effect(&self) -> EffectKind {
        if self.trusted {
            self.declared_effect
        } else {
            EffectKind::Write
        }
    }

    /// Whether a failure that the tool reports settles that nothing changed.
    #[must_use]
    pub fn failure_is_clean(&self) -> bool {
        self.trusted && self.failure_means_no_effect
    }

    /// The tool as the catalog holds it.
    #[must_use]
    pub fn entry(&self) -> Entry {
        let mut entry = Entry::new(self.id.clone(), self.description.as_str(), Value::Null);
        entry.tier = self.tier;
        entry.operation = self.operation;
        entry.label.clone_from(&self.label);
        entry.parameters = Arc::clone(&self.parameters);
        entry.output_schema.clone_from(&self.output_schema);
        entry.effect = self.effect();
        entry.trusted = self.trusted;
        entry
    }
}

/// Arguments that the tool's schema has accepted, and their one canonical text.
///
/// Approval, events and dispatch share this object: what was approved is what is dispatched.
#[derive(Debug, Clone)]
pub struct ToolInput(Arc<Input>);

#[derive(Debug)]
struct Input {
    value: Value,
    /// Made when somebody asks for it: most calls are never shown to anybody.
    text: OnceLock<Box<str>>,
}

impl ToolInput {
    /// Takes arguments as they are; `null` becomes the empty object.
    #[must_use]
    pub fn new(value: Value) -> Self {
        let value = match value {
            Value::Null => Value::Object(serde_json::Map::new()),
            other => other,
        };
        Self(Arc::new(Input {
            value,
            text: OnceLock::new(),
        }))
    }

    /// The arguments.
    #[must_use]
    pub fn value(&self) -> &Value {
        &self.0.value
    }

    /// The arguments as compact JSON.
    #[must_use]
    pub fn text(&self) -> &str {
        self.0.text.get_or_init(|| self.0.value.to_string().into())
    }

    /// The arguments as the tool's own type.
    ///
    /// # Errors
    /// `invalid_arguments` without effect if they do not fit.
    pub fn parse<T: DeserializeOwned>(&self) -> Result<T, ToolError> {
        T::deserialize(&self.0.value)
            .map_err(|error| ToolError::invalid_arguments(error.to_string()))
    }
}

/// One tool.
#[async_trait]
pub trait Tool: Send + Sync {
    /// What the tool declares about itself; the same for the life of the object.
    fn definition(&self) -> &ToolDefinition;

    /// Runs the tool. The future may be dropped at any await, and must then leave nothing running.
    ///
    /// # Errors
    /// The tool's own failure.
    async fn call(&self, input: ToolInput, ctx: &CallContext) -> Result<ToolOutput, ToolError>;

    /// What has to be asked before this very call: nothing for tools that only read, else one
    /// question with the standing key of the tool.
    ///
    /// Pure, and quick: it looks at the arguments, not at the world.
    ///
    /// # Errors
    /// A failure without effect, if the arguments cannot be judged.
    fn approvals(
        &self,
        input: &ToolInput,
        ctx: &CallContext,
    ) -> Result<Vec<ApprovalNeed>, ToolError> {
        let _ = (input, ctx);
        Ok(match self.definition().effect() {
            EffectKind::Read => Vec::new(),
            EffectKind::Write => vec![ApprovalNeed::of_tool(self.definition())],
        })
    }
}

/// Where tools come from: the core, a plugin, an MCP server, a client.
pub trait ToolSource: Send + Sync {
    /// The tools of now, in a stable order.
    fn tools(&self) -> Vec<Arc<dyn Tool>>;

    /// The MCP servers behind the source, those included that have no tools or cannot be reached
    /// now, in a stable order.
    fn servers(&self) -> Vec<McpServer> {
        Vec::new()
    }
}

impl ToolSource for Vec<Arc<dyn Tool>> {
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.clone()
    }
}
