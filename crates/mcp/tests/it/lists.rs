//! What a server says that it has.

use codecell_mcp::client::{PoolOptions, ToolFilter};
use codecell_tools::EffectKind;
use serde_json::json;

use crate::support::{World, names, script, server};

#[tokio::test]
async fn pages_are_read_to_their_end() {
    let world = World::of(
        "many",
        &script(&["a", "b", "c", "d", "e"], json!({"pageSize": 2})),
    );
    let set = world.tools().await;
    assert_eq!(
        names(&set),
        [
            "mcp:many:a",
            "mcp:many:b",
            "mcp:many:c",
            "mcp:many:d",
            "mcp:many:e"
        ]
    );
}

#[tokio::test]
async fn a_list_without_end_ends_at_a_bound() {
    let script = script(&["a"], json!({"endless": true}));
    let mut options = PoolOptions::new(vec![server("endless", &script)]);
    options.limits.max_pages = 20;
    let world = World::with(options);
    assert_eq!(names(&world.tools().await), ["mcp:endless:a"]);
    let (_, state) = world.pool.states().remove(0);
    let listing = state.listing.unwrap();
    assert_eq!(listing.left_out.len(), 19);
    assert_eq!(listing.left_out[0].reason, "it is listed twice");
    assert_eq!(
        listing.notes,
        ["its list of tools is not whole: it has more than 20 pages"]
    );
}

#[tokio::test]
async fn a_list_that_is_cut_says_so() {
    let resources: Vec<_> = (0..9).map(|n| json!({"uri": format!("a:{n}")})).collect();
    let more = json!({"pageSize": 2, "capabilities": {"tools": {}, "resources": {}}, "resources": resources});
    let mut options = PoolOptions::new(vec![server(
        "long",
        &script(&["a", "b", "c", "d", "e"], more),
    )]);
    options.limits.max_list_bytes = 60;
    let world = World::with(options);
    let set = world.tools().await;
    let (_, state) = world.pool.states().remove(0);
    assert_eq!(
        state.listing.unwrap().notes,
        ["its list of tools is not whole: it has more than 60 bytes"]
    );
    // What a program lists can be read on from there.
    let listed = world
        .details(&set, "mcp:long:resources/list", json!({}))
        .await;
    assert_eq!(listed["nextCursor"], "6");
    let rest = json!({"cursor": "6"});
    let listed = world.details(&set, "mcp:long:resources/list", rest).await;
    assert_eq!(listed["resources"][0]["uri"], "a:6");
}

#[tokio::test]
async fn tools_that_make_no_sense_are_left_out_alone() {
    let tools = json!([
        {"name": "good", "title": "Good", "description": "d", "inputSchema": {"type": "object"},
         "outputSchema": {"type": "object"}, "annotations": {"readOnlyHint": true}},
        {"name": "bare"},
        {"name": ""},
        {"description": "no name"},
        {"name": "new\nline", "inputSchema": {}},
        {"name": "list schema", "inputSchema": []},
        {"name": "resources/read", "inputSchema": {}},
        {"name": "good", "inputSchema": {}},
        {"name": "huge", "description": "x".repeat(20_000), "inputSchema": {}},
        "text",
    ]);
    let script = json!({"tools": tools});
    let mut options = PoolOptions::new(vec![server("mixed", &script)]);
    options.limits.max_tool_bytes = 10_000;
    let world = World::with(options);
    let set = world.tools().await;
    // The fake makes a tool of a text.
    assert_eq!(
        names(&set),
        ["mcp:mixed:good", "mcp:mixed:bare", "mcp:mixed:text"]
    );
    let good = &set.catalog().entries()[0];
    assert_eq!(good.label.as_deref(), Some("Good"));
    assert_eq!(
        good.effect,
        EffectKind::Write,
        "a hint of a stranger is not believed"
    );
    assert!(!good.trusted && good.output_schema.is_some());
    let (_, state) = world.pool.states().remove(0);
    let left_out = &state.listing.unwrap().left_out;
    let left_out: Vec<_> = left_out
        .iter()
        .map(|left| format!("{:?}: {}", left.tool, left.reason))
        .collect();
    insta::assert_snapshot!(left_out.join("\n"), @r#"
    "": the name of a tool id must not be empty
    "": it has no name
    "new\nline": the name of a tool id must not contain '\n'
    "list schema": its inputSchema is no object
    "resources/read": its name is that of an operation of the protocol
    "good": it is listed twice
    "huge": its definition has 20049 bytes, and 10000 is the most
    "#);
}

#[tokio::test]
async fn a_filter_removes_tools() {
    let mut options = server(
        "files",
        &script(&["read_file", "write_file", "stat"], json!({})),
    );
    options.filter = ToolFilter {
        include: vec!["*_file".to_owned()],
        exclude: vec!["write*".to_owned()],
    };
    let world = World::new(vec![options]);
    assert_eq!(names(&world.tools().await), ["mcp:files:read_file"]);
}

#[tokio::test]
async fn every_life_cycle_is_spoken() {
    for protocol in ["2024-11-05", "2025-03-26", "2025-06-18", "2025-11-25"] {
        let world = World::of("old", &script(&["echo"], json!({"protocol": protocol})));
        let set = world.tools().await;
        assert_eq!(world.text(&set, "echo", json!({})).await, "echo {}");
        let (_, state) = world.pool.states().remove(0);
        assert_eq!(state.listing.unwrap().protocol, protocol);
    }
    let world = World::of("new", &script(&["echo"], json!({"modern": true})));
    let set = world.tools().await;
    assert_eq!(world.text(&set, "echo", json!({})).await, "echo {}");
    let (_, state) = world.pool.states().remove(0);
    assert_eq!(state.listing.unwrap().protocol, "2026-07-28");
}

#[tokio::test]
async fn a_server_may_have_everything_but_tools() {
    let more = json!({"capabilities": {"prompts": {}}, "instructions": "Ask nicely."});
    let world = World::of("prompts", &script(&[], more));
    let set = world.tools().await;
    assert_eq!(
        names(&set),
        ["mcp:prompts:prompts/list", "mcp:prompts:prompts/get"]
    );
    let space = &set.catalog().servers()[0];
    assert_eq!(space.server.description.as_deref(), Some("Ask nicely."));
    assert_eq!(space.server.unavailable, None);
}
