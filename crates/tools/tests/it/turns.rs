//! Sequential tools: alone, and in order.

use std::sync::Arc;

use codecell_tools::{CallState, Decision};
use serde_json::{Value, json};
use tokio::sync::Semaphore;

use crate::calls::approved;
use crate::support::{Act, Setup, reading, verdict, writing};

#[tokio::test]
async fn sequential_calls_never_overlap_and_keep_their_order() {
    let permits = Arc::new(Semaphore::new(0));
    let world = approved(Setup::of([
        (reading("shared"), Act::Wait(Arc::clone(&permits))),
        (
            writing("alone").sequential(),
            Act::Wait(Arc::clone(&permits)),
        ),
    ]))
    .build();
    let mut running = Vec::new();
    for call in 0..20 {
        let tool = if call % 3 == 0 { "alone" } else { "shared" };
        let request = world.request(&call.to_string(), tool, json!({"call": call}));
        running.push(world.spawn(request));
        // On this runtime of one thread the call reaches its place in line before the next one.
        tokio::task::yield_now().await;
    }
    permits.add_permits(20);
    for call in running {
        assert_eq!(verdict(&call.await.unwrap()), "committed \"waited\"");
    }
    let mut inside = 0_usize;
    let mut alone = Vec::new();
    for line in world.log.lines() {
        if let Some(args) = line.strip_prefix("alone called ") {
            assert_eq!(inside, 0, "{line}: {:?}", world.log.lines());
            alone.push(args.to_owned());
        }
        match line.split(' ').nth(1).unwrap() {
            "called" => inside += 1,
            "done" => inside -= 1,
            _ => {}
        }
    }
    let expected: Vec<_> = (0..20)
        .step_by(3)
        .map(|call| json!({"call": call}).to_string())
        .collect();
    assert_eq!(alone, expected);
}

#[tokio::test]
async fn an_approval_keeps_the_place_in_line_and_holds_up_nobody_else() {
    let gate = Arc::new(Semaphore::new(0));
    let world = Setup {
        gate: Some(Arc::clone(&gate)),
        ..Setup::of([
            (writing("first").sequential(), Act::Echo),
            (reading("second").sequential(), Act::Echo),
            (reading("shared"), Act::Echo),
        ])
    }
    .answering([Decision::Once])
    .build();
    let first = world.spawn(world.request("1", "first", Value::Null));
    world.log.wait_for("1 asked call {}").await;
    let second = world.spawn(world.request("2", "second", Value::Null));
    let shared = world.call("3", "shared", Value::Null).await;
    assert_eq!(shared.state, CallState::Committed);
    gate.add_permits(1);
    assert_eq!(verdict(&first.await.unwrap()), "committed {}");
    assert_eq!(verdict(&second.await.unwrap()), "committed {}");
    let called: Vec<_> = world
        .log
        .lines()
        .into_iter()
        .filter(|line| line.contains("called"))
        .collect();
    assert_eq!(
        called,
        ["shared called {}", "first called {}", "second called {}"]
    );
}

#[tokio::test]
async fn sessions_do_not_wait_for_each_other() {
    let permits = Arc::new(Semaphore::new(0));
    let world = approved(Setup::of([
        (
            writing("alone").sequential(),
            Act::Wait(Arc::clone(&permits)),
        ),
        (writing("other").sequential(), Act::Echo),
    ]))
    .build();
    let held = world.spawn(world.request("1", "alone", Value::Null));
    world.log.wait_for("alone called {}").await;
    let mut request = world.request("2", "other", Value::Null);
    request.ctx.session_key = "another".into();
    assert_eq!(verdict(&world.send(request).await), "committed {}");
    permits.add_permits(1);
    assert_eq!(held.await.unwrap().state, CallState::Committed);
}
