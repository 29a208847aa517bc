//! The life of servers: side by side, dying, changing, idle, ending.

use std::time::{Duration, Instant};

use codecell_mcp::client::{Endpoint, PoolOptions, ServerOptions, StdioEndpoint};
use serde_json::json;
use tokio::sync::watch;

use crate::support::{LONG, World, is_running, names, script, server, shown, until};

/// Waits until the pool says that something changed.
async fn told(changes: &mut watch::Receiver<u64>) {
    let changed = tokio::time::timeout(LONG, changes.changed()).await;
    changed.unwrap().unwrap();
}

#[tokio::test]
async fn a_broken_server_costs_the_others_nothing() {
    let mut silent = server(
        "silent",
        &script(&[], json!({"silent": true, "stderr": "warming up"})),
    );
    silent.connect_timeout = Duration::from_millis(800);
    let missing = StdioEndpoint {
        command: "/nonexistent/server".to_owned(),
        ..StdioEndpoint::default()
    };
    let world = World::new(vec![
        silent,
        ServerOptions::new("missing", Endpoint::Stdio(missing)),
        server(
            "exits",
            &script(&[], json!({"exit": true, "stderr": "no license found"})),
        ),
        server("good", &script(&["echo"], json!({}))),
    ]);
    let set = world.tools().await;
    assert_eq!(names(&set), ["mcp:good:echo"]);
    assert_eq!(world.text(&set, "echo", json!({})).await, "echo {}");
    let servers = set.catalog().servers().iter();
    let reasons: Vec<_> = servers
        .map(|space| {
            let reason = space.server.unavailable.as_deref().unwrap_or("fine");
            format!("{}: {reason}", space.server.name)
        })
        .collect();
    insta::assert_snapshot!(reasons.join("\n"), @r"
    silent: it did not answer within 800 ms; it wrote: warming up
    missing: cannot start `/nonexistent/server`: there is no such program; install it, or write its full path
    exits: it ended before it answered; it wrote: no license found
    good: fine
    ");
}

#[tokio::test]
async fn a_server_that_does_not_come_up_is_waited_for_once() {
    let silent = server("silent", &script(&[], json!({"silent": true})));
    let good = server("good", &script(&["echo"], json!({})));
    let world = World::new(vec![silent, good]);
    let begun = Instant::now();
    let first = Duration::from_secs(2);
    // Waiting each time would take a minute.
    for _ in 0..30 {
        world.pool.refresh_within(first, first, |_| false).await;
    }
    assert!(begun.elapsed() < Duration::from_secs(30));
    let states = world.pool.states();
    assert!(states[0].1.listing.is_none() && states[1].1.listing.is_some());
}

#[tokio::test]
async fn a_server_that_dies_leaves_an_unknown_effect_and_comes_back() {
    let world = World::of("frail", &script(&["die", "pid"], json!({})));
    let set = world.tools().await;
    let first = world.text(&set, "pid", json!({})).await;
    let log = tempfile::NamedTempFile::new().unwrap();
    let report = world.call(&set, "die", json!({"log": log.path()})).await;
    // What was sent once is never sent again.
    assert_eq!(std::fs::read_to_string(log.path()).unwrap(), "died\n");
    let text = shown(&report);
    assert!(
        text.starts_with(
            "Unknown mcp_server_died: the MCP server `frail` ended before it answered; it wrote:"
        ) && text.contains("dying as asked"),
        "{text}"
    );
    let second = world.text(&set, "pid", json!({})).await;
    assert_ne!(first, second);
    assert!(!is_running(&first));
}

#[tokio::test]
async fn a_call_that_no_longer_reaches_a_process_is_made_by_the_next() {
    let tools = ["deaf", "echo", "pid"];
    let mut options = PoolOptions::new(vec![server(
        "frail",
        &script(&tools, json!({"stubborn": true})),
    )]);
    options.limits.stop_patience = Duration::from_millis(300);
    let world = World::with(options);
    let set = world.tools().await;
    let first = world.text(&set, "pid", json!({})).await;
    assert_eq!(
        world.text(&set, "deaf", json!({})).await,
        "deaf from now on"
    );
    // The process still runs, and nobody has noticed anything yet.
    assert!(is_running(&first));
    let calls = ["a", "b", "c"].map(|text| world.text(&set, "echo", json!({"text": text})));
    assert_eq!(
        futures::future::join_all(calls).await,
        [
            r#"echo {"text":"a"}"#,
            r#"echo {"text":"b"}"#,
            r#"echo {"text":"c"}"#
        ]
    );
    assert!(!is_running(&first));
}

#[tokio::test]
async fn a_server_that_ends_over_its_changed_list_is_started_again() {
    let script = script(&["grow", "echo"], json!({"lists_once": true}));
    let world = World::of("frail", &script);
    let set = world.tools().await;
    let mut changes = world.pool.changes();
    assert_eq!(world.text(&set, "grow", json!({})).await, "grown");
    told(&mut changes).await;
    assert_eq!(world.text(&set, "echo", json!({})).await, "echo {}");
}

#[tokio::test]
async fn a_server_that_keeps_dying_is_left_alone_for_longer_and_longer() {
    let script = script(&["die", "echo"], json!({}));
    let mut options = PoolOptions::new(vec![server("frail", &script)]);
    options.limits.first_pause = Duration::from_millis(3_000);
    let world = World::with(options);
    let set = world.tools().await;
    for _ in 0..2 {
        let report = world.call(&set, "die", json!({})).await;
        assert_eq!(report.failure().unwrap().code, "mcp_server_died");
    }
    let report = world.call(&set, "echo", json!({})).await;
    assert_eq!(
        shown(&report),
        "Failed mcp_unavailable: the MCP server `frail` is unavailable: it keeps ending (left alone for 3 s)"
    );
}

#[tokio::test]
async fn a_changed_list_is_read_again_and_changed_tools_are_not_called() {
    let world = World::of("alive", &script(&["echo", "grow", "twist"], json!({})));
    let before = world.tools().await;
    let mut changes = world.pool.changes();
    assert_eq!(world.text(&before, "grow", json!({})).await, "grown");
    told(&mut changes).await;
    let after = world.tools().await;
    assert!(names(&after).contains(&"mcp:alive:grown".to_owned()));
    assert_eq!(world.text(&after, "grown", json!({})).await, "grown {}");

    assert_eq!(world.text(&after, "twist", json!({})).await, "twisted");
    told(&mut changes).await;
    let report = world.call(&after, "echo", json!({})).await;
    assert_eq!(
        shown(&report),
        "Failed tool_gone: `echo` of the MCP server `alive` has changed since the catalog was made, so it was not called; start a new cell to work with the tools of now"
    );
    let now = world.tools().await;
    assert_eq!(world.text(&now, "echo", json!({})).await, "echo {}");
}

#[tokio::test]
async fn news_of_the_newest_revision_are_asked_for_and_asked_for_again() {
    let tools = ["streams", "grow", "hang_up"];
    let world = World::of("alive", &script(&tools, json!({"modern": true})));
    let set = world.tools().await;
    let streams = |at_least: u32| {
        let (world, set) = (&world, &set);
        async move {
            let begun = Instant::now();
            loop {
                let text = world.text(set, "streams", json!({})).await;
                if text.parse::<u32>().unwrap() >= at_least {
                    return;
                }
                assert!(begun.elapsed() < LONG, "no stream");
            }
        }
    };
    let mut changes = world.pool.changes();
    let mut changed = async || {
        told(&mut changes).await;
        names(&world.tools().await)
    };
    streams(1).await;
    assert_eq!(world.text(&set, "grow", json!({})).await, "grown");
    assert!(changed().await.contains(&"mcp:alive:grown".to_owned()));
    assert_eq!(world.text(&set, "hang_up", json!({})).await, "hung up");
    // The next stream counts as a change: something was missed between the two.
    streams(2).await;
    until_has(&mut changed, "mcp:alive:unheard").await;
}

/// Waits until a tool is there, change by change.
async fn until_has(changed: &mut impl AsyncFnMut() -> Vec<String>, tool: &str) {
    while !changed().await.contains(&tool.to_owned()) {}
}

#[tokio::test]
async fn a_server_that_nobody_calls_is_stopped_and_started_again() {
    let script = script(&["pid"], json!({}));
    let mut options = PoolOptions::new(vec![server("lazy", &script)]);
    options.idle_ttl = Duration::from_millis(100);
    let world = World::with(options);
    let set = world.tools().await;
    let first = world.text(&set, "pid", json!({})).await;
    until("the idle server ends", || !is_running(&first)).await;
    let second = world.text(&set, "pid", json!({})).await;
    assert_ne!(first, second);
}

#[tokio::test]
async fn closing_the_pool_ends_processes_and_what_they_started() {
    let script = script(&["pid", "offspring"], json!({"stubborn": true}));
    let world = World::of("tree", &script);
    let set = world.tools().await;
    let server = world.text(&set, "pid", json!({})).await;
    let child = world.text(&set, "offspring", json!({})).await;
    assert!(is_running(&server) && is_running(&child));
    let begun = Instant::now();
    world.pool.close().await;
    until("both are gone", || {
        !is_running(&server) && !is_running(&child)
    })
    .await;
    assert!(begun.elapsed() < Duration::from_secs(20));
    let report = world.call(&set, "pid", json!({})).await;
    assert_eq!(
        shown(&report),
        "Failed mcp_unavailable: the MCP server `tree` is unavailable: the servers are being stopped"
    );
}

#[tokio::test]
async fn calls_of_a_server_that_takes_one_at_a_time_take_turns() {
    let mut options = server("single", &script(&["slow_progress", "echo"], json!({})));
    options.is_parallel = false;
    let world = World::new(vec![options]);
    let set = world.tools().await;
    let calls = (0..3).map(|n| world.text(&set, "echo", json!({"n": n})));
    let texts = futures::future::join_all(calls).await;
    assert_eq!(
        texts,
        ["echo {\"n\":0}", "echo {\"n\":1}", "echo {\"n\":2}"]
    );
}
