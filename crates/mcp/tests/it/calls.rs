//! One call: what comes back, and what a lying server can and cannot do to it.

use std::time::{Duration, Instant};

use codecell_mcp::client::PoolOptions;
use codecell_tools::CallContext;
use serde_json::{Value, json};

use crate::support::{World, script, server, shown};

#[tokio::test]
async fn a_result_comes_back_as_it_is() {
    let world = World::of(
        "one",
        &script(&["echo", "fail", "refuse", "malformed"], json!({})),
    );
    let set = world.tools().await;
    let cases = [
        (
            "echo",
            r#"Committed: {"content":[{"type":"text","text":"echo {\"a\":[1,null]}"}],"details":{"name":"echo","arguments":{"a":[1,null]}}}"#,
        ),
        (
            "fail",
            r#"Unknown: {"content":[{"type":"text","text":"it broke"}],"isError":true}"#,
        ),
        (
            "refuse",
            "Unknown mcp_error: the MCP server `one` refused with error -32602: never like this",
        ),
        (
            "malformed",
            "Unknown mcp_malformed: the MCP server `one` gave an answer that is none: the result of a tool is an object",
        ),
    ];
    for (tool, expected) in cases {
        let id = format!("mcp:one:{tool}");
        let report = world.call(&set, &id, json!({"a": [1, null]})).await;
        assert_eq!(shown(&report), expected);
    }
}

#[tokio::test]
async fn noise_floods_double_and_foreign_answers_hurt_nothing() {
    let tools = ["noisy", "flood", "twice", "other_id", "echo"];
    let noise = json!({"noise": ["starting...", "{\"jsonrpc\":\"2.0\"}", "[1,2]"]});
    let patient = server("odd", &script(&tools, noise));
    let mut hasty = server("hasty", &script(&tools, json!({})));
    hasty.request_timeout = Duration::from_millis(500);
    let world = World::new(vec![patient, hasty]);
    let set = world.tools().await;
    assert_eq!(world.text(&set, "mcp:odd:noisy", json!({})).await, "quiet");
    assert_eq!(
        world.text(&set, "mcp:odd:flood", json!({})).await,
        "after the flood"
    );
    assert_eq!(world.text(&set, "mcp:odd:twice", json!({})).await, "first");
    assert_eq!(world.text(&set, "mcp:odd:echo", json!({})).await, "echo {}");
    let report = world.call(&set, "mcp:hasty:other_id", json!({})).await;
    assert_eq!(
        shown(&report),
        "Unknown mcp_timeout: the MCP server `hasty` did not answer within 500 ms and was told to stop"
    );
    assert_eq!(
        world.text(&set, "mcp:hasty:echo", json!({})).await,
        "echo {}"
    );
}

#[tokio::test]
async fn a_call_that_nobody_waits_for_is_withdrawn() {
    let mut options = server("slow", &script(&["stall", "heard"], json!({})));
    options.request_timeout = Duration::from_millis(300);
    let world = World::new(vec![options]);
    let set = world.tools().await;
    let heard = async || {
        let heard = world.details(&set, "mcp:slow:heard", json!({})).await;
        let heard = heard["heard"].as_array().unwrap().clone();
        let withdrawn = heard
            .iter()
            .filter(|message| message["method"] == "notifications/cancelled");
        withdrawn.count()
    };
    let report = world.call(&set, "mcp:slow:stall", json!({})).await;
    assert_eq!(report.failure().unwrap().code, "mcp_timeout");
    assert_eq!(heard().await, 1);

    let ctx = CallContext::new("main", "s", "r");
    let abort = ctx.abort.clone();
    let stalled = world.call_in(&set, "mcp:slow:stall", json!({}), ctx);
    let stop = async {
        tokio::time::sleep(Duration::from_millis(50)).await;
        abort.cancel();
    };
    let (report, ()) = tokio::join!(stalled, stop);
    assert_eq!(report.failure().unwrap().code, "aborted");
    // The withdrawal is sent by a task of its own, after the call that it is about.
    let begun = Instant::now();
    while heard().await < 2 {
        assert!(begun.elapsed() < crate::support::LONG, "never withdrawn");
    }
}

#[tokio::test]
async fn an_answer_that_is_too_long_fails_its_own_call_only() {
    let script = script(&["big", "echo"], json!({}));
    let mut options = PoolOptions::new(vec![server("big", &script)]);
    options.limits.max_message_bytes = 100_000;
    let world = World::with(options);
    let set = world.tools().await;
    let fitting = world
        .text(&set, "mcp:big:big", json!({"bytes": 90_000}))
        .await;
    assert_eq!(fitting.len(), 90_000);
    let report = world
        .call(&set, "mcp:big:big", json!({"bytes": 2_000_000}))
        .await;
    assert_eq!(
        shown(&report),
        "Unknown mcp_error: the MCP server `big` refused with error -32603: the answer has more than 100000 bytes, the most for one message"
    );
    assert_eq!(world.text(&set, "mcp:big:echo", json!({})).await, "echo {}");
}

#[tokio::test]
async fn progress_prolongs_a_call() {
    let mut options = server("slow", &script(&["slow_progress"], json!({})));
    options.request_timeout = Duration::from_millis(400);
    let world = World::new(vec![options]);
    let set = world.tools().await;
    assert_eq!(
        world.text(&set, "mcp:slow:slow_progress", json!({})).await,
        "done"
    );
}

#[tokio::test]
async fn a_process_sees_only_what_it_was_given() {
    let world = World::of("env", &script(&["environment"], json!({})));
    let set = world.tools().await;
    let details = world.details(&set, "mcp:env:environment", json!({})).await;
    let Value::Object(variables) = details else {
        panic!("an object");
    };
    assert!(variables.contains_key("PATH"));
    assert!(variables.contains_key(crate::fake::SCRIPT));
    assert!(!variables.contains_key("OPENAI_API_KEY"), "{variables:?}");
}

#[tokio::test]
async fn resources_and_prompts_give_the_results_of_the_protocol() {
    let capabilities = json!({
        "capabilities": {"resources": {}, "prompts": {}},
        "resources": [{"uri": "a:1", "name": "one"}, {"uri": "a:2", "name": "two"}, {"uri": "a:3"}],
        "prompts": [{"name": "greet"}],
        "pageSize": 2,
    });
    let world = World::of("docs", &script(&[], capabilities));
    let set = world.tools().await;
    let cases = [
        (
            "resources/list",
            json!({}),
            r#"{"resources":[{"uri":"a:1","name":"one"},{"uri":"a:2","name":"two"},{"uri":"a:3"}]}"#,
        ),
        (
            "resources/list",
            json!({"cursor": "2"}),
            r#"{"resources":[{"uri":"a:3"}]}"#,
        ),
        (
            "resources/read",
            json!({"uri": "a:1"}),
            r#"{"contents":[{"uri":"a:1","text":"content"}]}"#,
        ),
        (
            "prompts/list",
            json!({}),
            r#"{"prompts":[{"name":"greet"}]}"#,
        ),
    ];
    for (operation, args, expected) in cases {
        let id = format!("mcp:docs:{operation}");
        let details = world.details(&set, &id, args).await;
        assert_eq!(details.to_string(), expected);
    }
    let args = json!({"name": "greet", "arguments": {"who": "you"}});
    let prompt = world.details(&set, "mcp:docs:prompts/get", args).await;
    let text = prompt["messages"][0]["content"]["text"].as_str().unwrap();
    let asked: Value = serde_json::from_str(text).unwrap();
    assert_eq!(
        (&asked["name"], &asked["arguments"]),
        (&json!("greet"), &json!({"who": "you"}))
    );
    let report = world.call(&set, "mcp:docs:resources/read", json!({})).await;
    assert_eq!(report.failure().unwrap().code, "invalid_arguments");
}
