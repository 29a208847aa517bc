//! What a model is shown, and what happens when it calls it.
//!
//! Direct tools, code mode and the search modes are surfaces; the composition root chooses one and
//! hands it to whoever talks to the model.

use std::sync::Arc;

use async_trait::async_trait;
use serde_json::Value;

use crate::context::CallContext;
use crate::output::ContentBlock;

/// One tool as a model sees it.
#[derive(Debug, Clone, PartialEq)]
pub struct SurfaceTool {
    /// The name.
    pub name: Arc<str>,
    /// The description, byte-stable for the same catalog.
    pub description: Arc<str>,
    /// JSON Schema of the arguments.
    pub input_schema: Arc<Value>,
    /// JSON Schema of the result, if declared.
    pub output_schema: Option<Arc<Value>>,
    /// Hints in MCP's terms, such as `readOnlyHint`.
    pub annotations: Option<Arc<Value>>,
}

/// One call of a surface.
#[derive(Debug, Clone)]
pub struct SurfaceContext {
    /// The model's own id for the call; nested calls keep it as their parent.
    pub call_id: Arc<str>,
    /// Who calls.
    pub call: CallContext,
}

/// The result of one call of a surface.
#[derive(Debug, Clone, PartialEq)]
pub struct SurfaceResult {
    /// The text for the model.
    pub text: String,
    /// The structured result.
    pub details: Value,
    /// Further blocks: images and other content that is not text.
    pub content: Vec<ContentBlock>,
    /// The result is an error.
    pub is_error: bool,
}

/// The tools of one run as its model sees them.
#[async_trait]
pub trait ModelSurface: Send + Sync {
    /// What the model is shown.
    fn tools(&self) -> Vec<SurfaceTool>;

    /// Calls one of them; every failure, an unknown name included, is a result marked as error.
    async fn call(&self, name: &str, arguments: Value, ctx: SurfaceContext) -> SurfaceResult;
}
