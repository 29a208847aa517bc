//! A denied tool cannot be reached by any spelling, and nothing tells that it exists.

use codecell_catalog::Scope;
use codecell_tools::{Policy, PolicyOptions, PolicyRules};
use serde_json::{Value, json};

use crate::calls::approved;
use crate::support::{Act, Setup, World, definition, reading, verdict, writing};

fn world(with_denied: bool) -> World {
    let mut rules = PolicyRules::new("tools");
    rules.deny = vec!["exec".to_owned(), "mcp:github:delete_repo".to_owned()];
    let mut tools = vec![
        (reading("read"), Act::Echo),
        (reading("process"), Act::Echo),
        (definition("mcp:github:get_issue"), Act::Echo),
    ];
    if with_denied {
        tools.push((writing("exec"), Act::Echo));
        tools.push((definition("mcp:github:delete_repo"), Act::Echo));
    }
    let policy = Policy::build(&PolicyOptions {
        scopes: vec![rules],
        ..PolicyOptions::default()
    });
    approved(Setup {
        policy: policy.unwrap(),
        ..Setup::of(tools)
    })
    .build()
}

#[tokio::test]
async fn every_spelling_fails_and_says_what_it_would_say_of_a_tool_that_never_was() {
    let denied = world(true);
    let absent = world(false);
    let spellings = [
        "exec",
        "EXEC",
        "Exec",
        " exec",
        "exec ",
        "exe",
        "exec2",
        "bash",
        "sh",
        "openclaw:core:exec",
        "OPENCLAW:CORE:EXEC",
        "openclaw:core:Exec",
        "openclaw:core:exec ",
        "openclaw:core:exec:",
        "openclaw::exec",
        ":exec",
        "core:exec",
        "openclaw:exec",
        "openclaw:core:core:exec",
        "openclaw:core:*",
        "*",
        "exec*",
        "group:runtime",
        // Look-alikes: Cyrillic е, full width, zero width, combining, a soft hyphen, small caps.
        "\u{435}xec",
        "ｅｘｅｃ",
        "ex\u{200b}ec",
        "e\u{301}xec",
        "ex\u{ad}ec",
        "ᴇxec",
        "exec\0",
        "openclaw:core:\u{435}xec",
        "openclaw\u{ff1a}core\u{ff1a}exec",
        "openclaw%3Acore%3Aexec",
        "../core:exec",
        "__proto__",
        "constructor",
        "toString",
        "",
        "delete_repo",
        "github__delete_repo",
        "mcp:github:delete_repo",
        "MCP.github.deleteRepo",
        "deleteRepo",
        "mcp:GitHub:delete_repo",
        "client:github:delete_repo",
    ];
    for spelling in spellings {
        for scope in [Scope::All, Scope::NonMcp, Scope::Mcp] {
            let mut messages = Vec::new();
            for world in [&denied, &absent] {
                let mut request = world.request("1", spelling, json!({"command": "id"}));
                request.scope = scope;
                let report = world.send(request).await;
                assert_eq!(
                    verdict(&report),
                    "notStarted unknown_tool",
                    "{spelling:?} {scope:?}"
                );
                messages.push(report.failure().unwrap().message);
            }
            assert_eq!(messages[0], messages[1], "{spelling:?} {scope:?}");
        }
    }
    assert_eq!(denied.log.lines(), Vec::<String>::new());
}

#[tokio::test]
async fn a_denied_tool_is_in_no_catalog_text() {
    let catalog = std::sync::Arc::clone(world(true).set.catalog());
    let everything = format!(
        "{} {:?} {:?}",
        catalog.all_tools_json(),
        catalog.entries(),
        catalog.index_text(&codecell_catalog::IndexOptions::default())
    );
    assert!(everything.contains("process"));
    assert!(
        !everything.contains("exec") && !everything.contains("delete_repo"),
        "{everything}"
    );
}

#[tokio::test]
async fn names_that_two_tools_share_are_refused_with_the_ids() {
    let world = approved(Setup::of([
        (reading("read"), Act::Echo),
        (definition("openclaw:notes:read"), Act::Echo),
    ]))
    .build();
    let report = world.call("1", "read", Value::Null).await;
    assert_eq!(verdict(&report), "notStarted ambiguous_tool");
    assert_eq!(
        report.failure().unwrap().message,
        "`read` names several tools. Use one of these ids: openclaw:core:read, openclaw:notes:read"
    );
    let report = world.call("2", "openclaw:notes:read", Value::Null).await;
    assert_eq!(verdict(&report), "committed {}");
}
