//! Hooks: what they can change, what they cannot, and that they see everything.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use codecell_tools::{
    BeforeCall, CallContext, CallReport, Decision, Hook, Policy, PolicyOptions, PolicyRules,
    ToolDefinition,
};
use serde_json::{Value, json};

use crate::support::{Act, Setup, need, reading, verdict};

type Wish = Result<BeforeCall, String>;

/// A hook that wants one thing, and remembers what it saw.
struct Fixed {
    id: &'static str,
    wish: Option<Wish>,
    seen: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl Hook for Fixed {
    fn id(&self) -> &str {
        self.id
    }

    async fn before(
        &self,
        _tool: &ToolDefinition,
        arguments: &Value,
        _ctx: &CallContext,
    ) -> Result<BeforeCall, String> {
        self.seen
            .lock()
            .unwrap()
            .push(format!("{} before {arguments}", self.id));
        match &self.wish {
            Some(wish) => wish.clone(),
            None => panic!("a fake hook panics"),
        }
    }

    async fn after(&self, tool: Option<&ToolDefinition>, report: &CallReport, _ctx: &CallContext) {
        let tool = tool.map_or("none", |tool| tool.name());
        self.seen
            .lock()
            .unwrap()
            .push(format!("{} after {tool} {}", self.id, verdict(report)));
    }
}

fn change(n: u8) -> Wish {
    Ok(BeforeCall {
        arguments: Some(json!({ "n": n })),
        ..BeforeCall::default()
    })
}

fn block(reason: &str) -> Wish {
    Ok(BeforeCall {
        block: Some(reason.to_owned()),
        ..BeforeCall::default()
    })
}

fn demand(key: &str, arguments: Option<Value>) -> Wish {
    Ok(BeforeCall {
        require_approval: Some(need(key)),
        arguments,
        block: None,
    })
}

async fn run(
    wishes: Vec<Option<Wish>>,
    answers: Vec<Decision>,
) -> (String, Vec<String>, Vec<String>) {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let ids = ["a", "b", "c"];
    let hooks = wishes.into_iter().zip(ids).map(|(wish, id)| {
        Arc::new(Fixed {
            id,
            wish,
            seen: Arc::clone(&seen),
        }) as Arc<dyn Hook>
    });
    let world = Setup {
        hooks: hooks.collect(),
        ..Setup::of([(reading("read"), Act::Echo)]).answering(answers)
    }
    .build();
    let report = world.call("1", "read", json!({"n": 0})).await;
    let seen = seen.lock().unwrap().clone();
    (verdict(&report), seen, world.log.lines())
}

#[tokio::test]
async fn the_last_change_wins() {
    let (verdict, seen, _) = run(
        vec![
            Some(change(1)),
            Some(Ok(BeforeCall::default())),
            Some(change(2)),
        ],
        vec![],
    )
    .await;
    assert_eq!(verdict, "committed {\"n\":2}");
    assert_eq!(
        seen,
        [
            "a before {\"n\":0}",
            "b before {\"n\":1}",
            "c before {\"n\":1}",
            "a after read committed {\"n\":2}",
            "b after read committed {\"n\":2}",
            "c after read committed {\"n\":2}",
        ]
    );
}

#[tokio::test]
async fn the_first_block_ends_the_call() {
    let (verdict, seen, log) = run(
        vec![Some(block("Not on Sundays.")), Some(change(1))],
        vec![],
    )
    .await;
    assert_eq!(verdict, "notStarted blocked");
    assert_eq!(
        seen,
        [
            "a before {\"n\":0}",
            "a after read notStarted blocked",
            "b after read notStarted blocked"
        ]
    );
    assert_eq!(log, Vec::<String>::new());
}

#[tokio::test]
async fn a_failing_hook_blocks() {
    for wish in [Some(Err("token hunter2-hunter2".to_owned())), None] {
        let (verdict, _, log) = run(vec![wish], vec![]).await;
        assert_eq!(verdict, "notStarted blocked");
        assert_eq!(log, Vec::<String>::new());
    }
}

#[tokio::test]
async fn only_the_hook_that_demands_an_approval_may_change_what_is_approved() {
    let wishes = vec![
        Some(change(1)),
        Some(demand("first", Some(json!({"n": 2})))),
        Some(demand("second", Some(json!({"n": 3})))),
    ];
    let (verdict, _, log) = run(wishes, vec![Decision::Once]).await;
    assert_eq!(verdict, "committed {\"n\":2}");
    assert_eq!(
        log,
        [
            "1 ApprovalPending",
            "1 asked first {\"n\":2}",
            "1 ApprovalSettled",
            "1 HandedOver",
            "read called {\"n\":2}",
            "read done",
        ]
    );
}

#[tokio::test]
async fn changed_arguments_are_checked_like_any_others() {
    let mut strict = reading("read");
    strict.parameters = Arc::new(json!({"properties": {"n": {"maximum": 1}}}));
    let seen = Arc::new(Mutex::new(Vec::new()));
    let world = Setup {
        hooks: vec![Arc::new(Fixed {
            id: "a",
            wish: Some(change(2)),
            seen,
        })],
        ..Setup::of([(strict, Act::Echo)])
    }
    .build();
    let report = world.call("1", "read", json!({"n": 0})).await;
    assert_eq!(verdict(&report), "notStarted invalid_arguments");
}

#[tokio::test]
async fn a_hook_sees_denied_calls_and_cannot_allow_them() {
    let seen = Arc::new(Mutex::new(Vec::new()));
    let mut rules = PolicyRules::new("tools");
    rules.deny.push("write".to_owned());
    let world = Setup {
        hooks: vec![Arc::new(Fixed {
            id: "a",
            wish: Some(change(1)),
            seen: Arc::clone(&seen),
        })],
        policy: Policy::build(&PolicyOptions {
            scopes: vec![rules],
            ..PolicyOptions::default()
        })
        .unwrap(),
        ..Setup::of([(reading("read"), Act::Echo), (reading("write"), Act::Echo)])
    }
    .build();
    let report = world.call("1", "write", Value::Null).await;
    assert_eq!(verdict(&report), "notStarted unknown_tool");
    assert_eq!(
        *seen.lock().unwrap(),
        ["a after none notStarted unknown_tool"]
    );
}
