//! What the file tools have in common: arguments, then work on a blocking thread.

use std::marker::PhantomData;
use std::sync::Arc;

use async_trait::async_trait;
use codecell_protocol::EffectKind;
use serde::de::DeserializeOwned;

use super::adapt::{Files, blocking, write_needs};
use super::error::CoreError;
use super::stop::Stop;
use crate::{ApprovalNeed, CallContext, Tool, ToolDefinition, ToolError, ToolInput, ToolOutput};

/// The arguments of a file tool, and what they ask for.
pub(crate) trait FileWork: DeserializeOwned + Send + Sync + 'static {
    /// Does it, on a thread that may block.
    ///
    /// # Errors
    /// Why it was not done.
    fn run(&self, files: &Files, stop: &Stop) -> Result<ToolOutput, CoreError>;

    /// What has to be asked before: nothing for tools that only read, else whether to change files.
    ///
    /// # Errors
    /// When the arguments cannot be judged.
    fn needs(&self, definition: &ToolDefinition) -> Result<Vec<ApprovalNeed>, ToolError> {
        Ok(match definition.effect() {
            EffectKind::Read => Vec::new(),
            EffectKind::Write => write_needs(definition, std::iter::empty()),
        })
    }
}

/// A tool that works on files.
pub(crate) struct FileTool<W> {
    definition: ToolDefinition,
    files: Arc<Files>,
    work: PhantomData<fn() -> W>,
}

impl<W: FileWork> FileTool<W> {
    /// The tool of this definition.
    pub(crate) fn shared(definition: ToolDefinition, files: Arc<Files>) -> Arc<dyn Tool> {
        Arc::new(Self {
            definition,
            files,
            work: PhantomData,
        })
    }
}

#[async_trait]
impl<W: FileWork> Tool for FileTool<W> {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: ToolInput, ctx: &CallContext) -> Result<ToolOutput, ToolError> {
        let work: W = input.parse()?;
        let files = Arc::clone(&self.files);
        Ok(blocking(ctx, move |stop| work.run(&files, stop)).await?)
    }

    fn approvals(
        &self,
        input: &ToolInput,
        _: &CallContext,
    ) -> Result<Vec<ApprovalNeed>, ToolError> {
        input.parse::<W>()?.needs(&self.definition)
    }
}
