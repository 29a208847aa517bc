//! Every text that the executor itself can give, with its code and state.

use std::fmt::Write as _;
use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use codecell_tools::{
    ApprovalMode, ApprovalOptions, BeforeCall, CallContext, CallReport, Decision, ExecutorOptions,
    Hook, ToolDefinition, ToolOutput,
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::calls::approved;
use crate::support::{Act, Setup, World, definition, need, reading, writing};

struct Blocks(Result<&'static str, ()>);

#[async_trait]
impl Hook for Blocks {
    fn id(&self) -> &str {
        "blocks"
    }

    async fn before(
        &self,
        _tool: &ToolDefinition,
        _arguments: &Value,
        _ctx: &CallContext,
    ) -> Result<BeforeCall, String> {
        match self.0 {
            Ok(reason) => Ok(BeforeCall {
                block: Some(reason.to_owned()),
                ..BeforeCall::default()
            }),
            Err(()) => Err("/opt/plugins/plugin.js:3 is broken".to_owned()),
        }
    }
}

fn line(name: &str, report: &CallReport) -> String {
    let failure = report.failure().unwrap();
    format!(
        "[{name}] {} {} {}\n{}\n\n",
        failure.effect_status.as_str(),
        failure.code,
        failure.tool,
        failure.message
    )
}

async fn first(setup: Setup, tool: &str, args: Value) -> CallReport {
    setup.build().call("1", tool, args).await
}

fn strict() -> ToolDefinition {
    let mut strict = reading("grep");
    strict.parameters = Arc::new(json!({
        "type": "object",
        "properties": {"pattern": {"type": "string"}, "limit": {"type": "integer", "maximum": 100}},
        "required": ["pattern"],
        "additionalProperties": false
    }));
    strict
}

fn write(act: Act) -> Setup {
    Setup::of([(writing("write"), act)])
}

fn with_mode(mode: ApprovalMode) -> Setup {
    Setup {
        approvals: ApprovalOptions {
            mode,
            ..ApprovalOptions::default()
        },
        ..write(Act::Echo)
    }
}

fn hooked(outcome: Result<&'static str, ()>) -> Setup {
    Setup {
        hooks: vec![Arc::new(Blocks(outcome))],
        ..write(Act::Echo)
    }
}

async fn aborted_midway() -> CallReport {
    let world: World = approved(write(Act::Hang)).build();
    let running = world.spawn(world.request("1", "write", Value::Null));
    world.log.wait_for("write called {}").await;
    world.ctx.abort.cancel();
    running.await.unwrap()
}

async fn aborted_before(gate: Option<Arc<Semaphore>>) -> CallReport {
    let asks = gate.is_some();
    let world = Setup {
        gate,
        ..write(Act::Echo)
    }
    .build();
    if !asks {
        world.ctx.abort.cancel();
        return world.call("1", "write", Value::Null).await;
    }
    let running = world.spawn(world.request("1", "write", Value::Null));
    world.log.wait_for("1 asked call {}").await;
    world.ctx.abort.cancel();
    running.await.unwrap()
}

#[tokio::test]
async fn every_text() {
    let deny = |reason: Option<&str>| Decision::Deny {
        reason: reason.map(str::to_owned),
    };
    let small = ExecutorOptions {
        max_input_bytes: 8,
        max_output_bytes: 8,
        ..ExecutorOptions::default()
    };
    let expiring = Setup {
        gate: Some(Arc::new(Semaphore::new(0))),
        approvals: ApprovalOptions {
            ttl: Duration::from_millis(1),
            ..ApprovalOptions::default()
        },
        ..write(Act::Echo)
    };
    let mut broken = reading("lookup");
    broken.parameters = Arc::new(json!({"$ref": "#/nowhere"}));
    let deep = (0..600).fold(json!({}), |inner, _| json!({"a": inner}));
    let grep = || Setup::of([(strict(), Act::Echo), (reading("glob"), Act::Echo)]);
    let mut server = definition("mcp:github:get_issue");
    server.trusted = false;
    let failed = ToolOutput {
        is_error: true,
        ..ToolOutput::default()
    };
    let long = json!({"pattern": "too long for this"});
    let cases = [
        ("unknown", first(grep(), "grpe", json!({})).await),
        (
            "unknown, nothing near",
            first(grep(), "teleport", json!({})).await,
        ),
        (
            "bad arguments",
            first(grep(), "grep", json!({"patern": "x", "limit": 1000})).await,
        ),
        (
            "arguments of no kind",
            first(grep(), "grep", json!("TODO")).await,
        ),
        (
            "too large",
            first(
                Setup {
                    options: small,
                    ..grep()
                },
                "grep",
                long,
            )
            .await,
        ),
        ("too deep", first(grep(), "glob", deep).await),
        (
            "unusable schema",
            first(Setup::of([(broken, Act::Echo)]), "lookup", json!({})).await,
        ),
        (
            "blocked",
            first(hooked(Ok("Not on Sundays.")), "write", json!({})).await,
        ),
        (
            "hook failed",
            first(hooked(Err(())), "write", json!({})).await,
        ),
        (
            "denied",
            first(write(Act::Echo).answering([deny(None)]), "write", json!({})).await,
        ),
        (
            "denied with words",
            first(
                write(Act::Echo).answering([deny(Some("Use a branch."))]),
                "write",
                json!({}),
            )
            .await,
        ),
        ("nobody", first(write(Act::Echo), "write", json!({})).await),
        (
            "switched off",
            first(with_mode(ApprovalMode::Never), "write", json!({})).await,
        ),
        ("expired", first(expiring, "write", json!({})).await),
        ("aborted before", aborted_before(None).await),
        (
            "aborted while asked",
            aborted_before(Some(Arc::new(Semaphore::new(0)))).await,
        ),
        ("aborted midway", aborted_midway().await),
        (
            "crashed",
            first(approved(write(Act::Panic)), "write", json!({})).await,
        ),
        (
            "result too large",
            first(
                Setup {
                    options: small,
                    ..approved(write(Act::Answer(ToolOutput::text("123456789"))))
                },
                "write",
                json!({}),
            )
            .await,
        ),
        (
            "an error without words",
            first(
                approved(Setup::of([(server, Act::Answer(failed))])),
                "get_issue",
                json!({}),
            )
            .await,
        ),
        (
            "denied midway",
            first(
                write(Act::Ask(vec![need("redirect")])).answering([Decision::Once, deny(None)]),
                "write",
                json!({}),
            )
            .await,
        ),
    ];
    let mut text = String::new();
    for (name, report) in &cases {
        write!(text, "{}", line(name, report)).unwrap();
    }
    insta::assert_snapshot!(text);
}
