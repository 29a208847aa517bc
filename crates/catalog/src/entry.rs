//! One tool as the catalog holds it, and the two forms in which it is handed out.
//!
//! An [`Entry`] says what a tool is, never how to run it. [`CompactEntry`] carries no schema;
//! [`Description`] does, because a schema is handed out only when it is asked for.

use std::sync::Arc;

use codecell_protocol::EffectKind;
use serde::Serialize;
use serde_json::Value;

use crate::id::{CORE_OWNER, Source, ToolId};
use crate::mcp::Operation;

/// The place of a tool in the catalog's order; the variants are in that order.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tier {
    /// Built into the program.
    Core,
    /// A plugin that is shipped with the program.
    BundledPlugin,
    /// A plugin that the user installed.
    ExternalPlugin,
    /// An MCP server.
    Mcp,
    /// The client of this run.
    Client,
}

impl Tier {
    /// The source whose ids this tier uses.
    pub fn source(self) -> Source {
        match self {
            Self::Core | Self::BundledPlugin | Self::ExternalPlugin => Source::OpenClaw,
            Self::Mcp => Source::Mcp,
            Self::Client => Source::Client,
        }
    }
}

/// One tool of the catalog.
#[derive(Clone, Debug)]
pub struct Entry {
    /// The id; its source agrees with `tier`.
    pub id: ToolId,
    /// Where the tool stands in the catalog's order.
    pub tier: Tier,
    /// What of an MCP server it stands for.
    pub operation: Operation,
    /// A title for people.
    pub label: Option<String>,
    /// What the tool does, in the words of its author.
    pub description: String,
    /// The plugin, server or client that the tool belongs to; `None` for core tools.
    pub source_name: Option<String>,
    /// The JSON Schema of the input.
    pub parameters: Arc<Value>,
    /// The JSON Schema of the value, when the tool declares one.
    pub output_schema: Option<Arc<Value>>,
    /// The declared effect. [`crate::Catalog::build`] turns it to `Write` where `trusted` is false.
    pub effect: EffectKind,
    /// Whether the text of the parameters may be searched and put into the prompt's index.
    pub trusted: bool,
}

impl Entry {
    /// An entry with the cautious defaults: it writes, declares no output, and is trusted only if
    /// its source is ours (core and plugins).
    ///
    /// The tier follows from the id; a plugin's is [`Tier::ExternalPlugin`] unless set otherwise.
    pub fn new(id: ToolId, description: impl Into<String>, parameters: Value) -> Self {
        let (tier, source_name) = match (id.source(), id.owner()) {
            (Source::OpenClaw, CORE_OWNER) => (Tier::Core, None),
            (Source::OpenClaw, owner) => (Tier::ExternalPlugin, Some(owner.to_owned())),
            (Source::Mcp, owner) => (Tier::Mcp, Some(owner.to_owned())),
            (Source::Client, owner) => (Tier::Client, Some(owner.to_owned())),
        };
        Self {
            trusted: id.source() == Source::OpenClaw,
            id,
            tier,
            operation: Operation::Tool,
            label: None,
            description: description.into(),
            source_name,
            parameters: Arc::new(parameters),
            output_schema: None,
            effect: EffectKind::Write,
        }
    }

    /// The tool's own name, the last part of its id.
    pub fn name(&self) -> &str {
        self.id.name()
    }

    /// Who the tool comes from.
    pub fn source(&self) -> Source {
        self.tier.source()
    }

    /// The form without schemas.
    pub fn compact(&self) -> CompactEntry<'_> {
        CompactEntry {
            id: self.id.as_str(),
            name: self.name(),
            label: self.label.as_deref(),
            description: &self.description,
            source: self.source(),
            source_name: self.source_name.as_deref(),
        }
    }

    /// The compact form with the schemas.
    pub fn describe(&self) -> Description<'_> {
        Description {
            compact: self.compact(),
            parameters: &self.parameters,
            output_schema: self.output_schema.as_deref(),
        }
    }
}

/// What `ALL_TOOLS` and search results say of a tool.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct CompactEntry<'a> {
    /// The id.
    pub id: &'a str,
    /// The tool's own name.
    pub name: &'a str,
    /// A title for people.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub label: Option<&'a str>,
    /// What the tool does.
    pub description: &'a str,
    /// Who it comes from.
    pub source: Source,
    /// The plugin, server or client.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub source_name: Option<&'a str>,
}

/// What `tools.describe` says of a tool.
#[derive(Clone, Copy, Debug, Serialize)]
#[serde(rename_all = "camelCase")]
pub struct Description<'a> {
    /// The compact form; its fields stand beside the schemas.
    #[serde(flatten)]
    pub compact: CompactEntry<'a>,
    /// The JSON Schema of the input.
    pub parameters: &'a Value,
    /// The JSON Schema of the value, when declared.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub output_schema: Option<&'a Value>,
}
