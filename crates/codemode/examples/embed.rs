//! A whole host in one file: a tool of your own, the sandbox, and a program that calls the tool.
//!
//! `cargo run --example embed`

use std::sync::Arc;

use async_trait::async_trait;
use codecell_codemode::{
    CodeMode, CodeModeParts, OsRandomness, ProcessLimits, RunContext, Scope, SystemClock,
};
use codecell_protocol::ExecInput;
use codecell_sandbox::{Sandbox, SandboxOptions};
use codecell_tools::{
    ApprovalDesk, ApprovalOptions, CallContext, Executor, ExecutorOptions, ExecutorParts, NoEvents,
    Policy, Redactor, Tool, ToolDefinition, ToolError, ToolInput, ToolOutput, ToolSet, ToolSource,
};
use serde_json::json;

/// A tool that knows two cities.
struct Population(ToolDefinition);

impl Population {
    fn new() -> Result<Self, codecell_catalog::IdError> {
        let input = json!({ "type": "object", "properties": { "city": { "type": "string" } }, "required": ["city"] });
        let output = json!({ "type": "object", "properties": { "people": { "type": "integer" } } });
        let definition =
            ToolDefinition::core("population", "How many people live in a city.", input)?;
        Ok(Self(definition.read_only().with_output(output)))
    }
}

#[async_trait]
impl Tool for Population {
    fn definition(&self) -> &ToolDefinition {
        &self.0
    }

    async fn call(&self, input: ToolInput, _: &CallContext) -> Result<ToolOutput, ToolError> {
        match input.value()["city"].as_str() {
            Some("Vienna") => Ok(ToolOutput::details(json!({ "people": 2_028_000 }))),
            Some("Graz") => Ok(ToolOutput::details(json!({ "people": 305_000 }))),
            _ => Err(ToolError::no_effect(
                "unknown_city",
                "only Vienna and Graz are known",
            )),
        }
    }
}

const PROGRAM: &str = r#"
const cities = ["Vienna", "Graz"];
const counts = await Promise.all(cities.map((city) => tools.population({ city })));
return counts.reduce((sum, { people }) => sum + people, 0);
"#;

#[tokio::main]
async fn main() -> Result<(), Box<dyn std::error::Error>> {
    let executor = Executor::new(ExecutorParts {
        options: ExecutorOptions::default(),
        // Nobody is there to ask: tools that change something would be refused.
        approvals: ApprovalDesk::new(ApprovalOptions::default(), None),
        hooks: Vec::new(),
        events: Arc::new(NoEvents),
        redactor: Redactor::default(),
    });
    let code_mode = CodeMode::new(CodeModeParts {
        sandbox: Sandbox::new(&SandboxOptions::default())?,
        executor: Arc::new(executor),
        clock: Arc::new(SystemClock),
        randomness: Arc::new(OsRandomness::new()?),
        runtime: tokio::runtime::Handle::current(),
        limits: ProcessLimits::default(),
        hooks: Vec::new(),
        transport: None,
        store: None,
        keep_records: false,
    });
    let tools: Vec<Arc<dyn Tool>> = vec![Arc::new(Population::new()?)];
    let source: Arc<dyn ToolSource> = Arc::new(tools);
    let run = RunContext::new(
        Scope::new("me", "main", "example", "run-1"),
        ToolSet::build(&[source], &Policy::default())?,
    );
    let input = ExecInput {
        code: PROGRAM.to_owned(),
        language: None,
    };
    let outcome = code_mode.exec(input, &run, "call-1".into()).await;
    let text = outcome.result.model_text()? + "\n";
    std::io::Write::write_all(&mut std::io::stdout(), text.as_bytes())?;
    code_mode.shutdown().await;
    Ok(())
}
