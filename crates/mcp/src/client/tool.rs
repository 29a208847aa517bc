//! A tool of a server, as the executor calls it.

use async_trait::async_trait;
use codecell_catalog::Operation;
use codecell_tools::{CallContext, Tool, ToolDefinition, ToolError, ToolInput, ToolOutput};
use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest};
use serde_json::Value;

use super::error::RequestError;
use super::listing::is_same;
use super::operations;
use super::output;
use super::server::{Handle, Ready};

/// The tool.
pub(super) struct RemoteTool {
    definition: ToolDefinition,
    server: Handle,
}

impl RemoteTool {
    pub(super) fn new(definition: ToolDefinition, server: Handle) -> Self {
        Self { definition, server }
    }

    /// The tool must be what it was when the catalog was made: what was approved and checked
    /// against its schema is what is called.
    fn compare(&self, ready: &Ready) -> Result<(), RequestError> {
        let name = self.definition.name();
        let now = ready.listing.tools.iter().find(|tool| tool.name() == name);
        let what = match now {
            None => "was removed",
            Some(now) if is_same(now, &self.definition) => return Ok(()),
            Some(_) => "has changed",
        };
        Err(RequestError::Changed {
            server: self.server.name.to_string(),
            tool: name.to_owned(),
            what,
        })
    }

    async fn run(&self, input: &ToolInput) -> Result<ToolOutput, RequestError> {
        let ready = self.server.ready().await?;
        self.compare(&ready)?;
        let _turn = ready.link.turn().await;
        match self.definition.operation {
            Operation::Tool => self.call_tool(&ready, input).await,
            operation => {
                let result =
                    operations::run(&ready.link, operation, input.value(), &self.server.limits);
                Ok(ToolOutput::details(result.await?))
            }
        }
    }

    async fn call_tool(
        &self,
        ready: &Ready,
        input: &ToolInput,
    ) -> Result<ToolOutput, RequestError> {
        let mut params = CallToolRequestParams::new(self.definition.name().to_owned());
        if let Value::Object(arguments) = input.value() {
            params = params.with_arguments(arguments.clone());
        }
        let request = ClientRequest::CallToolRequest(CallToolRequest::new(params));
        let result = ready.link.request(request).await?;
        output::of_call(result).map_err(|reason| ready.link.malformed(reason))
    }
}

#[async_trait]
impl Tool for RemoteTool {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: ToolInput, ctx: &CallContext) -> Result<ToolOutput, ToolError> {
        tokio::select! {
            biased;
            () = ctx.abort.cancelled() => Err(RequestError::Aborted {
                server: self.server.name.to_string(),
            }.into()),
            answer = self.run(&input) => answer.map_err(ToolError::from),
        }
    }
}
