//! A tool of a server, as the executor calls it.

use async_trait::async_trait;
use codecell_catalog::Operation;
use codecell_tools::{CallContext, Tool, ToolDefinition, ToolError, ToolInput, ToolOutput};
use rmcp::model::{CallToolRequest, CallToolRequestParams, ClientRequest};

use super::error::RequestError;
use super::listing::is_same;
use super::operations;
use super::output;
use super::rounds::{self, Round};
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

    async fn run(&self, input: &ToolInput, ctx: &CallContext) -> Result<ToolOutput, RequestError> {
        match self.attempt(input, ctx).await {
            // Nothing of it was sent, so another process may have it.
            Err(RequestError::Gone { .. }) => self.attempt(input, ctx).await,
            answer => answer,
        }
    }

    async fn attempt(
        &self,
        input: &ToolInput,
        ctx: &CallContext,
    ) -> Result<ToolOutput, RequestError> {
        let ready = self.server.ready().await?;
        self.compare(&ready)?;
        let _turn = ready.link.turn().await;
        let _calling = ready.link.signs().calling(ctx);
        match self.definition.operation {
            Operation::Tool => self.call_tool(&ready, input, ctx).await,
            operation => {
                let limits = &self.server.limits;
                let link = &ready.link;
                let result =
                    operations::run(link, operation, input.value(), &ctx.approvals, limits);
                Ok(ToolOutput::details(result.await?))
            }
        }
    }

    async fn call_tool(
        &self,
        ready: &Ready,
        input: &ToolInput,
        ctx: &CallContext,
    ) -> Result<ToolOutput, RequestError> {
        let request = |round: Round| {
            let mut params = CallToolRequestParams::new(self.definition.name().to_owned());
            params.arguments = input.value().as_object().cloned();
            params.input_responses = round.responses;
            params.request_state = round.state;
            ClientRequest::CallToolRequest(CallToolRequest::new(params))
        };
        let limits = &self.server.limits;
        let result = rounds::run(&ready.link, &ctx.approvals, limits, request).await?;
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
            answer = self.run(&input, ctx) => answer.map_err(ToolError::from),
        }
    }
}
