//! Code mode as a [`ModelSurface`]: the two tools, and an answer to every other name.

use std::sync::Arc;

use async_trait::async_trait;
use codecell_protocol::{ExecInput, WaitInput};
use codecell_tools::{ModelSurface, SurfaceContext, SurfaceResult, SurfaceTool};
use serde_json::Value;

use crate::code_mode::CodeMode;
use crate::describe;
use crate::failure::CellError;
use crate::outcome::CellOutcome;
use crate::results;
use crate::scope::RunContext;

/// Code mode for one run.
#[derive(Debug, Clone)]
pub struct CodeModeSurface {
    code_mode: CodeMode,
    run: RunContext,
}

impl CodeModeSurface {
    /// The surface of this run.
    #[must_use]
    pub fn new(code_mode: CodeMode, run: RunContext) -> Self {
        Self { code_mode, run }
    }

    async fn exec(&self, arguments: &Value, call_id: Arc<str>, run: &RunContext) -> CellOutcome {
        match ExecInput::from_arguments(arguments) {
            Ok(input) => self.code_mode.exec(input, run, call_id).await,
            Err(error) => self.refuse(error.into()),
        }
    }

    async fn wait(&self, arguments: &Value, run: &RunContext) -> CellOutcome {
        match WaitInput::from_arguments(arguments) {
            Ok(input) => self.code_mode.wait(input, run).await,
            Err(error) => self.refuse(error.into()),
        }
    }

    fn refuse(&self, error: CellError) -> CellOutcome {
        let run = self.code_mode.known_run(&self.run.scope);
        results::refused(&error, None, results::bare_telemetry(run.as_ref()))
    }

    /// How a call of a name that is not shown has to be written.
    fn other_name(&self, name: &str, arguments: &Value) -> CellError {
        let name: String = name.chars().filter(|c| !c.is_control()).take(120).collect();
        let arguments = match arguments {
            Value::Null => "{}".to_owned(),
            given => given.to_string(),
        };
        let arguments = if arguments.len() > 400 {
            "{...}".to_owned()
        } else {
            arguments
        };
        let catalog = self.run.tools.catalog();
        let advice = match catalog.resolve(&name) {
            Ok(entry) => match catalog.safe_name(entry) {
                Some(safe) => format!("return await tools.{safe}({arguments})"),
                None => format!(
                    "return await tools.call({}, {arguments})",
                    Value::from(entry.id.as_str())
                ),
            },
            Err(error) => {
                return CellError::Arguments(format!(
                    "only exec and wait can be called directly, so nothing was done; and {error}"
                ));
            }
        };
        CellError::Arguments(format!(
            "only exec and wait can be called directly, so nothing was done. Call exec with this code: {advice}"
        ))
    }
}

#[async_trait]
impl ModelSurface for CodeModeSurface {
    fn tools(&self) -> Vec<SurfaceTool> {
        describe::surface_tools(self.run.tools.catalog(), &self.run.options)
    }

    async fn call(&self, name: &str, arguments: Value, ctx: SurfaceContext) -> SurfaceResult {
        let run = RunContext {
            abort: ctx.call.abort.clone(),
            ..self.run.clone()
        };
        let outcome = match name {
            "exec" => self.exec(&arguments, ctx.call_id, &run).await,
            "wait" => self.wait(&arguments, &run).await,
            other => self.refuse(self.other_name(other, &arguments)),
        };
        to_surface(outcome)
    }
}

fn to_surface(outcome: CellOutcome) -> SurfaceResult {
    let result = &outcome.result;
    // Results are made of strings, numbers and checked JSON: the serialiser has nothing to refuse.
    SurfaceResult {
        text: result.model_text().unwrap_or_default(),
        details: serde_json::to_value(result).unwrap_or(Value::Null),
        is_error: result.is_error(),
        content: outcome.content,
    }
}
