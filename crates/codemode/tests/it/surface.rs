//! The two tools as a model calls them.

use std::sync::Arc;

use async_trait::async_trait;
use codecell_codemode::{CodeModeSurface, ExecEvent, ExecHook, RunContext};
use codecell_tools::{CallContext, ModelSurface, SurfaceContext, SurfaceResult};
use serde_json::{Value, json};

use crate::support::{Setup, World};

fn context() -> SurfaceContext {
    SurfaceContext {
        call_id: "call_1".into(),
        call: CallContext::new("main", "session", "run"),
    }
}

async fn call(world: &World, name: &str, arguments: Value) -> SurfaceResult {
    let surface = CodeModeSurface::new(world.code_mode.clone(), world.run.clone());
    surface.call(name, arguments, context()).await
}

#[tokio::test(flavor = "multi_thread")]
async fn exactly_two_tools_are_shown() {
    let world = World::new();
    let surface = CodeModeSurface::new(world.code_mode.clone(), world.run.clone());
    let tools = surface.tools();
    let names: Vec<&str> = tools.iter().map(|tool| &*tool.name).collect();
    assert_eq!(names, ["exec", "wait"]);
    assert!(
        tools[0].description.contains("- echo"),
        "{}",
        tools[0].description
    );
    assert!(tools[0].description.contains("gitHub"));
    assert!(
        !tools[0].description.contains("Lists issues"),
        "a server's own words never enter the prompt"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn exec_and_wait_take_what_models_send() {
    let world = World::new();
    let first = call(
        &world,
        "exec",
        json!({"command": "await yield_control(); return 1"}),
    )
    .await;
    assert!(!first.is_error);
    let end = call(&world, "wait", json!({"run_id": first.details["runId"]})).await;
    assert_eq!(
        (
            end.details["status"].as_str(),
            end.details["value"].as_i64()
        ),
        (Some("completed"), Some(1))
    );
    for (name, arguments) in [
        ("exec", json!({})),
        ("exec", json!({"code": "1", "command": "2"})),
        ("exec", json!({"code": "1", "cwd": "/"})),
        ("wait", json!({"sessionId": "proc_1"})),
        ("wait", json!({"runId": "cm_x", "after": "y"})),
    ] {
        let refused = call(&world, name, arguments).await;
        assert!(refused.is_error);
        assert_eq!(refused.details["failure"]["kind"], "invalid_arguments");
    }
    let python = call(&world, "exec", json!({"code": "x", "language": "python"})).await;
    assert_eq!(python.details["failure"]["kind"], "unsupported_language");
}

#[tokio::test(flavor = "multi_thread")]
async fn another_name_is_answered_with_the_cell_to_write() {
    let world = World::new();
    let result = call(&world, "echo_w", json!({"a": 1})).await;
    assert!(result.is_error);
    assert_eq!(
        result.details["error"],
        "only exec and wait can be called directly, so nothing was done. Call exec with this code: return await tools.echo_w({\"a\":1})"
    );
    let result = call(&world, "ecko", json!({})).await;
    assert!(
        result.details["error"]
            .as_str()
            .is_some_and(|error| error.contains("echo"))
    );
    assert!(world.stage.log().is_empty());
}

struct Replace;

#[async_trait]
impl ExecHook for Replace {
    async fn before_exec(&self, event: &mut ExecEvent, _ctx: &RunContext) -> Result<(), String> {
        assert_eq!(
            (event.tool_kind, event.tool_input_kind),
            ("code_mode_exec", "javascript")
        );
        match event.command.as_str() {
            "return 1" => event.command = "return 2".into(),
            "blank" => event.code.clear(),
            "refuse" => return Err("the hook says no".into()),
            _ => {}
        }
        Ok(())
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn hooks_see_and_change_every_exec() {
    let hooks: Vec<Arc<dyn ExecHook>> = vec![Arc::new(Replace)];
    let world = World::of(Setup {
        hooks,
        ..Setup::default()
    });
    assert_eq!(
        call(&world, "exec", json!({"code": "return 1"}))
            .await
            .details["value"],
        2
    );
    assert_eq!(
        call(&world, "exec", json!({"code": "blank"})).await.details["failure"]["kind"],
        "invalid_arguments"
    );
    assert_eq!(
        call(&world, "exec", json!({"code": "refuse"}))
            .await
            .details["error"],
        "the hook says no"
    );
}
