//! Approvals: who is asked, what an answer covers, and what holds when nobody answers.

use std::sync::Arc;
use std::time::Duration;

use codecell_tools::{
    ApprovalMode, ApprovalNeed, ApprovalOptions, AskFallback, CallState, Decision, ToolError,
};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::support::{Act, Setup, World, definition, need, reading, verdict, writing};

fn asked(world: &World) -> Vec<String> {
    let lines = world.log.lines();
    lines
        .into_iter()
        .filter(|line| line.contains(" asked "))
        .collect()
}

fn deny() -> Decision {
    Decision::Deny { reason: None }
}

#[tokio::test]
async fn reading_is_not_asked_and_everything_else_is() {
    let mut trusted_server = definition("mcp:docs:get").read_only();
    trusted_server.trusted = true;
    let cases = [
        (reading("read"), 0),
        (writing("write"), 1),
        (definition("mcp:files:get").read_only(), 1),
        (trusted_server, 0),
        (definition("client:ide:open"), 1),
    ];
    for (definition, questions) in cases {
        let name = definition.id.clone();
        let world = Setup::of([(definition, Act::Echo)])
            .answering([Decision::Once])
            .build();
        let report = world.call("1", name.as_str(), Value::Null).await;
        assert_eq!(report.state, CallState::Committed, "{name}");
        assert_eq!(asked(&world).len(), questions, "{name}");
    }
}

#[tokio::test]
async fn an_answer_covers_what_it_says() {
    // Each row: the answers in order, then calls as (cell, session, tool) with whether each was
    // asked and how it ended.
    type Row<'a> = (&'a str, &'a str, &'a str, bool, &'a str);
    let ok = "committed {}";
    let no = "notStarted approval_denied";
    let cases: Vec<(Vec<Decision>, Vec<Row<'_>>)> = vec![
        (
            vec![Decision::Once, Decision::Once],
            vec![("a", "s", "write", true, ok), ("a", "s", "write", true, ok)],
        ),
        (
            vec![Decision::ThisCell, deny(), deny(), Decision::Once],
            vec![
                ("a", "s", "write", true, ok),
                ("a", "s", "write", false, ok),
                ("a", "s", "edit", true, no),
                ("b", "s", "write", true, no),
                ("a", "t", "write", true, ok),
            ],
        ),
        (
            vec![Decision::ThisTool, deny(), deny()],
            vec![
                ("a", "s", "write", true, ok),
                ("b", "s", "write", false, ok),
                ("b", "s", "edit", true, no),
                ("b", "t", "write", true, no),
            ],
        ),
        (
            // A denial is not remembered: the next call is a new question.
            vec![deny(), Decision::Once],
            vec![("a", "s", "write", true, no), ("a", "s", "write", true, ok)],
        ),
    ];
    for (answers, rows) in cases {
        let world = Setup::of([(writing("write"), Act::Echo), (writing("edit"), Act::Echo)])
            .answering(answers)
            .build();
        let mut questions = 0;
        for (cell, session, tool, is_asked, expected) in rows {
            let mut request = world.request("1", tool, Value::Null);
            request.ctx.cell_id = Some(cell.into());
            request.ctx.session_key = session.into();
            let report = world.send(request).await;
            questions += usize::from(is_asked);
            assert_eq!(
                (verdict(&report).as_str(), asked(&world).len()),
                (expected, questions),
                "{cell} {session} {tool}"
            );
        }
    }
}

#[tokio::test]
async fn answers_are_forgotten_with_what_they_were_for() {
    let world = Setup::of([(writing("write"), Act::Echo)])
        .answering([Decision::ThisCell, Decision::ThisTool, Decision::Once])
        .build();
    let call = async |count: usize| {
        let report = world.call("1", "write", Value::Null).await;
        assert_eq!(report.state, CallState::Committed);
        assert_eq!(asked(&world).len(), count);
    };
    call(1).await;
    call(1).await;
    // Outside of a cell the run stands for it.
    world.executor.approvals().forget_cell("run");
    call(2).await;
    world.executor.approvals().forget_cell("run");
    call(2).await;
    let approvals = world.executor.approvals();
    approvals.forget_session("", "main", "other");
    approvals.forget_session("somebody", "main", "session");
    call(2).await;
    approvals.forget_session("", "main", "session");
    call(3).await;
}

#[tokio::test]
async fn an_answer_holds_for_its_owner_only() {
    let world = Setup::of([(writing("write"), Act::Echo)])
        .answering([Decision::ThisTool, deny()])
        .build();
    let call = async |owner: &str| {
        let mut request = world.request("1", "write", Value::Null);
        request.ctx.owner = owner.into();
        verdict(&world.send(request).await)
    };
    assert_eq!(call("one").await, "committed {}");
    assert_eq!(call("one").await, "committed {}");
    assert_eq!(call("another").await, "notStarted approval_denied");
}

#[tokio::test]
async fn an_answer_does_not_outlive_the_definition() {
    let mut world = Setup::of([(writing("write"), Act::Echo)])
        .answering([Decision::ThisTool, deny()])
        .build();
    assert_eq!(
        world.call("1", "write", Value::Null).await.state,
        CallState::Committed
    );
    let mut other = writing("write");
    other.description = "Now it deletes.".to_owned();
    world.set = Setup::of([(other, Act::Echo)]).build().set;
    let report = world.call("2", "write", Value::Null).await;
    assert_eq!(verdict(&report), "notStarted approval_denied");
}

#[tokio::test]
async fn what_is_shown_is_what_is_dispatched() {
    let world = Setup::of([(writing("write"), Act::Echo)])
        .answering([Decision::Once])
        .build();
    let args = json!({"path": "a\u{202e}b", "content": "\u{1b}[2Jx\n"});
    let report = world.call("1", "write", args.clone()).await;
    assert_eq!(report.value().as_deref(), Some(&args));
    assert_eq!(
        world.log.lines(),
        [
            "1 ApprovalPending",
            "1 asked call {\"path\":\"a\\u202eb\",\"content\":\"\\u001b[2Jx\\n\"}",
            "1 ApprovalSettled",
            "1 HandedOver",
            "write called {\"path\":\"a\u{202e}b\",\"content\":\"\\u001b[2Jx\\n\"}",
            "write done",
        ]
    );
}

#[tokio::test]
async fn modes_and_fallbacks() {
    let cases = [
        (ApprovalMode::Ask, AskFallback::Deny, false, "committed {}"),
        (
            ApprovalMode::Ask,
            AskFallback::Deny,
            true,
            "notStarted approval_unavailable",
        ),
        (ApprovalMode::Ask, AskFallback::Allow, true, "committed {}"),
        (
            ApprovalMode::Never,
            AskFallback::Allow,
            false,
            "notStarted approval_unavailable",
        ),
        (
            ApprovalMode::Never,
            AskFallback::Allow,
            true,
            "notStarted approval_unavailable",
        ),
        (
            ApprovalMode::Always,
            AskFallback::Deny,
            false,
            "committed {}",
        ),
        (
            ApprovalMode::Always,
            AskFallback::Deny,
            true,
            "committed {}",
        ),
    ];
    for (mode, fallback, nobody, expected) in cases {
        let world = Setup {
            nobody,
            approvals: ApprovalOptions {
                mode,
                fallback,
                ..ApprovalOptions::default()
            },
            ..Setup::of([(writing("write"), Act::Echo)]).answering([Decision::Once])
        }
        .build();
        let report = world.call("1", "write", Value::Null).await;
        assert_eq!(verdict(&report), expected, "{mode:?} {fallback:?} {nobody}");
        let questions = usize::from(mode == ApprovalMode::Ask && !nobody);
        assert_eq!(asked(&world).len(), questions);
    }
    // Somebody who turns out not to be there is nobody.
    let world = Setup::of([(writing("write"), Act::Echo)]).build();
    let report = world.call("1", "write", Value::Null).await;
    assert_eq!(verdict(&report), "notStarted approval_unavailable");
}

#[tokio::test]
async fn one_question_is_open_at_a_time() {
    let gate = Arc::new(Semaphore::new(0));
    let world = Setup {
        gate: Some(Arc::clone(&gate)),
        ..Setup::of([(writing("write"), Act::Echo)])
    }
    .answering([Decision::Once, deny(), Decision::ThisTool])
    .build();
    let mut running = Vec::new();
    for call in ["1", "2", "3", "4"] {
        running.push(world.spawn(world.request(call, "write", Value::Null)));
        world.log.wait_for(&format!("{call} ApprovalPending")).await;
    }
    assert_eq!(asked(&world), ["1 asked call {}"]);
    gate.add_permits(1);
    world.log.wait_for("2 asked call {}").await;
    assert_eq!(asked(&world).len(), 2);
    gate.add_permits(2);
    let mut verdicts = Vec::new();
    for call in running {
        verdicts.push(verdict(&call.await.unwrap()));
    }
    let expected = [
        "committed {}",
        "notStarted approval_denied",
        "committed {}",
        "committed {}",
    ];
    assert_eq!(verdicts, expected);
    // The fourth was covered by the answer to the third.
    assert_eq!(asked(&world).len(), 3);
}

#[tokio::test]
async fn a_question_ends_with_an_abort_and_with_time() {
    let setup = |ttl| Setup {
        gate: Some(Arc::new(Semaphore::new(0))),
        approvals: ApprovalOptions {
            ttl,
            ..ApprovalOptions::default()
        },
        ..Setup::of([(writing("write"), Act::Echo)])
    };
    let world = setup(Duration::from_secs(3_600)).build();
    let running = world.spawn(world.request("1", "write", Value::Null));
    world.log.wait_for("1 asked call {}").await;
    world.ctx.abort.cancel();
    assert_eq!(verdict(&running.await.unwrap()), "notStarted aborted");
    assert_eq!(world.log.lines().last().unwrap(), "1 ApprovalSettled");

    let world = setup(Duration::from_millis(1)).build();
    let report = world.call("1", "write", Value::Null).await;
    assert_eq!(verdict(&report), "notStarted approval_expired");
    assert_eq!(world.log.lines().last().unwrap(), "1 ApprovalSettled");
    let events = world.events.0.lines();
    assert_eq!(
        events[0],
        "1 openclaw:core:write pendingApproval can change things outside the sandbox {}"
    );
    assert_eq!(events[1], "1 openclaw:core:write blocked approval_expired");
}

#[tokio::test]
async fn a_dropped_question_no_longer_counts_as_waiting_and_frees_the_desk() {
    let gate = Arc::new(Semaphore::new(0));
    let world = Setup {
        gate: Some(Arc::clone(&gate)),
        ..Setup::of([(writing("write"), Act::Echo)])
    }
    .answering([Decision::Once])
    .build();
    let dropped = world.spawn(world.request("1", "write", Value::Null));
    world.log.wait_for("1 asked call {}").await;
    dropped.abort();
    assert!(dropped.await.unwrap_err().is_cancelled());
    world.log.wait_for("1 ApprovalSettled").await;
    gate.add_permits(1);
    assert_eq!(
        verdict(&world.call("2", "write", Value::Null).await),
        "committed {}"
    );
}

#[tokio::test]
async fn a_tool_can_need_several_answers_and_each_has_its_own_key() {
    let world = Setup {
        needs: Some(Ok(vec![need("call"), need("git")])),
        ..Setup::of([(writing("write"), Act::Echo)])
    }
    .answering([Decision::ThisTool, Decision::Once, deny()])
    .build();
    assert_eq!(
        verdict(&world.call("1", "write", Value::Null).await),
        "committed {}"
    );
    assert_eq!(asked(&world), ["1 asked call {}", "1 asked git {}"]);
    // The lasting answer was about `call` only.
    let report = world.call("2", "write", Value::Null).await;
    assert_eq!(verdict(&report), "notStarted approval_denied");
    assert_eq!(asked(&world)[2..], ["2 asked git {}"]);
}

#[tokio::test]
async fn some_questions_are_asked_once_in_a_session() {
    let host = ApprovalNeed {
        asked_once: true,
        ..need("https://example.org:443")
    };
    let world = Setup {
        needs: Some(Ok(vec![host])),
        ..Setup::of([(writing("web_fetch"), Act::Echo)])
    }
    .answering([Decision::Once, deny()])
    .build();
    for call in ["1", "2"] {
        let report = world.call(call, "web_fetch", Value::Null).await;
        assert_eq!(report.state, CallState::Committed);
    }
    assert_eq!(asked(&world).len(), 1);
    let mut elsewhere = world.request("3", "web_fetch", Value::Null);
    elsewhere.ctx.session_key = "another".into();
    assert_eq!(
        verdict(&world.send(elsewhere).await),
        "notStarted approval_denied"
    );
}

#[tokio::test]
async fn a_running_tool_can_ask_for_more() {
    let act = || Act::Ask(vec![need("call"), need("redirect"), need("redirect")]);
    let world = Setup::of([(writing("fetch"), act())])
        .answering([Decision::Once, Decision::Once])
        .build();
    assert_eq!(
        verdict(&world.call("1", "fetch", Value::Null).await),
        "committed \"asked\""
    );
    // `call` had been allowed before the call began, and `redirect` is asked once for this call.
    assert_eq!(
        world.log.lines(),
        [
            "1 ApprovalPending",
            "1 asked call {}",
            "1 ApprovalSettled",
            "1 HandedOver",
            "fetch called {}",
            "1 ApprovalPending",
            "1 asked redirect {}",
            "1 ApprovalSettled",
            "fetch done",
        ]
    );
    let world = Setup::of([(writing("fetch"), act())])
        .answering([Decision::Once, deny()])
        .build();
    let report = world.call("1", "fetch", Value::Null).await;
    // The executor cannot know what the tool did before it asked.
    assert_eq!(verdict(&report), "unknown approval_denied");
}

#[tokio::test]
async fn arguments_that_cannot_be_judged_are_not_dispatched() {
    let error = ToolError::invalid_arguments("`url` is not a URL.");
    let world = Setup {
        needs: Some(Err(error)),
        ..Setup::of([(writing("fetch"), Act::Echo)])
    }
    .build();
    let report = world.call("1", "fetch", Value::Null).await;
    assert_eq!(verdict(&report), "notStarted invalid_arguments");
    assert_eq!(report.failure().unwrap().message, "`url` is not a URL.");
    assert_eq!(world.log.lines(), Vec::<String>::new());
}
