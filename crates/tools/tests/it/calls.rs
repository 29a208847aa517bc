//! Calls from their name to their report.

use std::sync::Arc;
use std::time::Duration;

use codecell_catalog::Scope;
use codecell_tools::{
    ApprovalMode, ApprovalOptions, CallProgress, CallState, CallStep, ContentBlock, EffectKind,
    ExecutorOptions, ToolError, ToolOutput,
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::support::{Act, Setup, definition, id, reading, text_block, verdict, writing};

/// Everything that needs an approval has it.
pub(crate) fn approved(mut setup: Setup) -> Setup {
    setup.approvals = ApprovalOptions {
        mode: ApprovalMode::Always,
        ..ApprovalOptions::default()
    };
    setup
}

#[tokio::test]
async fn outcomes_and_their_states() {
    let clean = |definition: codecell_tools::ToolDefinition| codecell_tools::ToolDefinition {
        failure_means_no_effect: true,
        ..definition
    };
    let failing = || Act::Fail(ToolError::new("broken", "It broke."));
    let is_error = || {
        Act::Answer(ToolOutput {
            content: vec![text_block("no such issue")],
            details: None,
            is_error: true,
        })
    };
    let cases = [
        (reading("read"), Act::Echo, "committed {\"a\":1}"),
        (writing("write"), Act::Echo, "committed {\"a\":1}"),
        (writing("write"), failing(), "unknown broken"),
        (clean(writing("write")), failing(), "failed broken"),
        (reading("read"), failing(), "failed broken"),
        (
            writing("write"),
            Act::Fail(ToolError::no_effect("absent", "No.")),
            "failed absent",
        ),
        (writing("write"), is_error(), "unknown tool_error"),
        (clean(writing("write")), is_error(), "failed tool_error"),
        (writing("write"), Act::Panic, "unknown tool_crashed"),
        (reading("read"), Act::Panic, "unknown tool_crashed"),
        // A server's word about its own failures or effects settles nothing.
        (
            definition("mcp:files:get").read_only(),
            failing(),
            "unknown broken",
        ),
        (
            definition("client:ide:get").read_only(),
            is_error(),
            "unknown tool_error",
        ),
    ];
    for (definition, act, expected) in cases {
        let name = definition.id.clone();
        let world = approved(Setup::of([(definition, act)])).build();
        let report = world.call("1", name.as_str(), json!({"a": 1})).await;
        assert_eq!(verdict(&report), expected, "{name}");
        assert_eq!(report.tool, Some(name));
    }
}

#[tokio::test]
async fn the_value_is_the_details_else_the_only_text_else_the_blocks() {
    let image = || ContentBlock::Image {
        mime_type: "image/png".to_owned(),
        data: vec![1, 2, 3].into(),
    };
    let output = |content, details: Option<Value>| ToolOutput {
        content,
        details,
        is_error: false,
    };
    let cases = [
        (
            output(vec![text_block("shown")], Some(json!({"a": 1}))),
            false,
            json!({"a": 1}),
        ),
        (output(vec![], Some(Value::Null)), false, json!(null)),
        (
            output(vec![text_block("{\"a\":1}")], None),
            false,
            json!("{\"a\":1}"),
        ),
        (
            output(vec![text_block("{\"a\":1}")], None),
            true,
            json!({"a": 1}),
        ),
        (
            output(vec![text_block("{\"a\":")], None),
            true,
            json!("{\"a\":"),
        ),
        (
            output(vec![text_block("a"), image()], None),
            true,
            json!([{"type": "text", "text": "a"}, {"type": "image", "mimeType": "image/png", "bytes": 3}]),
        ),
        (output(vec![], None), false, json!([])),
    ];
    for (output, returns_json, expected) in cases {
        let mut definition = reading("read");
        definition.returns_json = returns_json;
        let world = Setup::of([(definition, Act::Answer(output.clone()))]).build();
        let report = world.call("1", "read", Value::Null).await;
        assert_eq!(report.value().as_deref(), Some(&expected));
        assert_eq!(report.outcome.unwrap(), output);
    }
    let raw = output(vec![text_block("a")], Some(json!(1))).raw();
    assert_eq!(
        raw,
        json!({"content": [{"type": "text", "text": "a"}], "details": 1})
    );
}

#[tokio::test]
async fn steps_and_events_come_in_order_and_nothing_stands_for_no_arguments() {
    let world = Setup::of([(reading("read"), Act::Echo)]).build();
    let report = world.call("1", "read", Value::Null).await;
    assert_eq!(verdict(&report), "committed {}");
    assert_eq!(
        world.log.lines(),
        ["1 HandedOver", "read called {}", "read done"]
    );
    assert_eq!(
        world.events.0.lines(),
        [
            "1 openclaw:core:read started {}",
            "1 openclaw:core:read completed"
        ]
    );
}

#[tokio::test]
async fn events_carry_no_secrets_and_tools_get_the_truth() {
    let world = Setup::of([(reading("read"), Act::Echo)]).build();
    let args = json!({"password": "x", "note": "it is hunter2-hunter2!"});
    let report = world.call("1", "read", args.clone()).await;
    assert_eq!(report.value().as_deref(), Some(&args));
    assert_eq!(
        world.events.0.lines()[0],
        "1 openclaw:core:read started {\"password\":\"[redacted]\",\"note\":\"it is [redacted]!\"}"
    );
}

#[tokio::test]
async fn arguments_and_results_are_bounded() {
    let setup = |act| Setup {
        options: ExecutorOptions {
            max_input_bytes: 20,
            max_output_bytes: 20,
            ..ExecutorOptions::default()
        },
        ..approved(Setup::of([(writing("write"), act)]))
    };
    let sized = |bytes: usize| json!("x".repeat(bytes - 2));
    let world = setup(Act::Echo).build();
    let fits = world.call("1", "write", json!({"a": "xxxxxxxxxxxx"})).await;
    assert_eq!(verdict(&fits), "committed {\"a\":\"xxxxxxxxxxxx\"}");
    let refused = world
        .call("2", "write", json!({"a": "xxxxxxxxxxxxx"}))
        .await;
    assert_eq!(verdict(&refused), "notStarted invalid_arguments");
    for (bytes, expected) in [(20, "committed"), (21, "committed result_too_large")] {
        let world = setup(Act::Answer(ToolOutput::details(sized(bytes)))).build();
        let report = world.call("1", "write", Value::Null).await;
        assert!(
            verdict(&report).starts_with(expected),
            "{bytes}: {report:?}"
        );
    }
    let pieces = ToolOutput {
        content: vec![
            text_block("0123456789"),
            ContentBlock::Image {
                mime_type: "image/png".to_owned(),
                data: vec![0; 11].into(),
            },
        ],
        ..ToolOutput::default()
    };
    let report = setup(Act::Answer(pieces))
        .build()
        .call("1", "write", Value::Null)
        .await;
    assert_eq!(verdict(&report), "committed result_too_large");

    // The cut would fall into a character of two bytes.
    let long = format!("x{}", "\u{e9}".repeat(32_768));
    let cut = format!("{} [cut: the message has 65537 bytes]", &long[..65_535]);
    for (message, expected) in [("x".repeat(65_536), "x".repeat(65_536)), (long, cut)] {
        let failing = Act::Fail(ToolError::new("long", message));
        let world = approved(Setup::of([(writing("write"), failing)])).build();
        let report = world.call("1", "write", Value::Null).await;
        assert!(report.failure().unwrap().message == expected);
    }

    let nested = |levels: usize| (1..levels).fold(json!({}), |inner, _| json!({"a": inner}));
    let world = Setup::of([(reading("read"), Act::Echo)]).build();
    let deep = world.call("1", "read", nested(512)).await;
    assert_eq!(deep.state, CallState::Committed);
    let deeper = world.call("2", "read", nested(513)).await;
    assert_eq!(verdict(&deeper), "notStarted invalid_arguments");
}

#[tokio::test]
async fn an_abort_before_the_call_starts_nothing() {
    let world = approved(Setup::of([(writing("write"), Act::Echo)])).build();
    world.ctx.abort.cancel();
    let report = world.call("1", "write", Value::Null).await;
    assert_eq!(verdict(&report), "notStarted aborted");
    assert_eq!(world.log.lines(), Vec::<String>::new());
    assert_eq!(
        world.events.0.lines(),
        ["1 openclaw:core:write blocked aborted"]
    );
}

/// Books that were closed before the call got as far as its tool.
struct ClosedBooks;

impl CallProgress for ClosedBooks {
    fn step(&self, _call_id: &str, _step: CallStep) {}

    fn hand_over(&self, _call_id: &str) -> bool {
        false
    }
}

#[tokio::test]
async fn a_call_whose_books_are_closed_never_reaches_its_tool() {
    let world = approved(Setup::of([(writing("write"), Act::Echo)])).build();
    let request = world.request("1", "write", Value::Null);
    let report = world
        .executor
        .call(&world.set, request, Arc::new(ClosedBooks))
        .await;
    assert_eq!(verdict(&report), "notStarted aborted");
    assert_eq!(world.log.lines(), Vec::<String>::new());
    assert_eq!(
        world.events.0.lines(),
        ["1 openclaw:core:write blocked aborted"]
    );
}

#[tokio::test]
async fn an_abort_in_the_middle_is_told_as_what_it_was() {
    let cases = [
        (Act::Hang, "unknown aborted"),
        (
            Act::StopWith(Ok(ToolOutput::text("just made it"))),
            "committed \"just made it\"",
        ),
        (
            Act::StopWith(Err(ToolError::new("stopped", "Stopped."))),
            "unknown stopped",
        ),
        (
            Act::StopWith(Err(ToolError::no_effect("stopped", "Stopped."))),
            "failed stopped",
        ),
    ];
    for (act, expected) in cases {
        let world = approved(Setup::of([(writing("write"), act)])).build();
        let running = world.spawn(world.request("1", "write", Value::Null));
        world.log.wait_for("write called {}").await;
        world.ctx.abort.cancel();
        assert_eq!(verdict(&running.await.unwrap()), expected);
    }
}

#[tokio::test]
async fn a_dropped_call_leaves_its_step_and_an_event() {
    let world = approved(Setup::of([(writing("write"), Act::Hang)])).build();
    let running = world.spawn(world.request("1", "write", Value::Null));
    world.log.wait_for("write called {}").await;
    running.abort();
    assert!(running.await.unwrap_err().is_cancelled());
    assert_eq!(world.log.lines(), ["1 HandedOver", "write called {}"]);
    assert_eq!(
        world.events.0.lines(),
        [
            "1 openclaw:core:write started {}",
            "1 openclaw:core:write error aborted"
        ]
    );
}

#[tokio::test]
async fn an_abort_while_a_turn_is_awaited_starts_nothing() {
    let permits = Arc::new(Semaphore::new(0));
    let world = approved(Setup::of([
        (reading("slow"), Act::Wait(Arc::clone(&permits))),
        (writing("alone").sequential(), Act::Echo),
    ]))
    .build();
    let slow = world.spawn(world.request("1", "slow", Value::Null));
    world.log.wait_for("slow called {}").await;
    let mut request = world.request("2", "alone", Value::Null);
    request.ctx.abort = tokio_util::sync::CancellationToken::new();
    let abort = request.ctx.abort.clone();
    let alone = world.spawn(request);
    tokio::task::yield_now().await;
    abort.cancel();
    assert_eq!(verdict(&alone.await.unwrap()), "notStarted aborted");
    permits.add_permits(1);
    assert_eq!(slow.await.unwrap().state, CallState::Committed);
}

#[tokio::test]
async fn a_tool_with_an_unusable_schema_is_unavailable() {
    let mut broken = reading("read");
    broken.parameters = Arc::new(json!({"$ref": "https://example.org/x"}));
    let world = Setup::of([(broken, Act::Echo)]).build();
    for call in ["1", "2"] {
        let report = world.call(call, "read", json!({})).await;
        assert_eq!(verdict(&report), "notStarted tool_unavailable");
    }
    assert_eq!(world.log.lines(), Vec::<String>::new());
}

#[tokio::test]
async fn a_resumed_cell_has_what_was_there_then_and_is_there_now() {
    let tools = |description: &str| {
        let mut changed = reading("changed");
        changed.description = description.to_owned();
        vec![(reading("same"), Act::Echo), (changed, Act::Echo)]
    };
    let mut before = tools("Old.");
    before.push((reading("removed"), Act::Echo));
    let start = Setup::of(before).build().set.starting_tools();
    let mut after = tools("New.");
    after.push((reading("added"), Act::Echo));
    let mut world = Setup::of(after).build();
    world.set = world.set.resumed(&start);
    let cases = [
        ("same", "committed {}"),
        ("changed", "notStarted tool_gone"),
        ("openclaw:core:changed", "notStarted tool_gone"),
        ("removed", "notStarted tool_gone"),
        ("added", "notStarted unknown_tool"),
        ("never", "notStarted unknown_tool"),
    ];
    for (tool, expected) in cases {
        assert_eq!(
            verdict(&world.call("1", tool, Value::Null).await),
            expected,
            "{tool}"
        );
    }
    assert_eq!(world.set.catalog().len(), 1);
    assert!(world.set.get(&id("openclaw:core:added")).is_none());
}

#[tokio::test]
async fn scope_decides_what_a_name_may_mean() {
    let mut server_tool = definition("mcp:github:get_issue");
    server_tool.trusted = false;
    let world = approved(Setup::of([(server_tool, Act::Echo)])).build();
    let mut request = world.request("1", "mcp:github:get_issue", Value::Null);
    request.scope = Scope::NonMcp;
    let report = world.send(request).await;
    assert_eq!(verdict(&report), "notStarted mcp_tool");
    assert_eq!(
        report.failure().unwrap().message,
        "`mcp:github:get_issue` is a tool of an MCP server; call it as MCP.github.getIssue({...})"
    );
    let report = world.call("2", "mcp:github:get_issue", Value::Null).await;
    assert_eq!(verdict(&report), "committed {}");
    assert_eq!(report.effect, EffectKind::Write);
}

#[tokio::test]
async fn other_calls_go_on_while_one_hangs() {
    let world = approved(Setup::of([
        (writing("hangs"), Act::Hang),
        (writing("works"), Act::Echo),
    ]))
    .build();
    let hanging = world.spawn(world.request("1", "hangs", Value::Null));
    world.log.wait_for("hangs called {}").await;
    let report = tokio::time::timeout(
        Duration::from_secs(30),
        world.call("2", "works", Value::Null),
    );
    assert_eq!(verdict(&report.await.unwrap()), "committed {}");
    world.ctx.abort.cancel();
    assert_eq!(verdict(&hanging.await.unwrap()), "unknown aborted");
}
