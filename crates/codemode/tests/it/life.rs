//! The life of suspended cells: numbers, repeated results, clocks, the end of runs, shutdown.

use std::sync::Arc;
use std::time::Duration;

use codecell_codemode::{CodeModeOptions, ProcessLimits, RunContext, Scope};
use codecell_protocol::{CellResult, FailureKind, PendingState, WaitingReason};
use codecell_sandbox::{Sandbox, SandboxOptions};
use serde_json::json;

use crate::support::{Setup, World, error, kind, renamed, run_id, text, tool_set, tools, value};

fn seq(outcome: &codecell_codemode::CellOutcome) -> u64 {
    match &outcome.result {
        CellResult::Waiting(waiting) => waiting.seq,
        other => panic!("not waiting: {}", other.model_text().unwrap()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_answer_can_be_asked_for_again() {
    let world = World::new();
    let first = world.exec("text('a'); await yield_control(); text('b'); await tools.echo_w({}); await yield_control(); return 'end'").await;
    let id = run_id(&first);
    assert_eq!(seq(&first), 1);
    let second = world.wait_after(&id, Some(1)).await;
    assert_eq!(seq(&second), 2);
    assert_eq!(text(&world.wait_after(&id, Some(1)).await), text(&second));
    let end = world.wait_after(&id, Some(2)).await;
    assert_eq!(value(&end), "end");
    for after in [Some(2), None] {
        assert_eq!(text(&world.wait_after(&id, after).await), text(&end));
    }
    assert_eq!(text(&world.wait_after(&id, Some(1)).await), text(&second));
    assert_eq!(
        kind(&world.wait_after(&id, Some(3)).await),
        FailureKind::InvalidArguments
    );
    assert_eq!(world.stage.log(), ["echo_w"], "nothing ran twice");
    world.clock.advance(Duration::from_secs(899));
    assert_eq!(value(&world.wait(&id).await), "end");
    world.clock.advance(Duration::from_secs(2));
    assert_eq!(kind(&world.wait(&id).await), FailureKind::UnknownRun);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_new_suspension_starts_a_fresh_time_to_live() {
    let options = CodeModeOptions {
        snapshot_ttl_seconds: 10,
        ..CodeModeOptions::default()
    };
    let world = World::new().with_options(options);
    let first = world
        .exec("for (let i = 0; i < 3; i++) await yield_control(); return 1")
        .await;
    let id = run_id(&first);
    for _ in 0..2 {
        world.clock.advance(Duration::from_secs(9));
        seq(&world.wait(&id).await);
    }
    world.clock.advance(Duration::from_secs(10));
    world.code_mode.sweep();
    assert_eq!(world.code_mode.suspended(), 0);
    assert_eq!(kind(&world.wait(&id).await), FailureKind::SnapshotExpired);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_lives_for_a_day_at_most() {
    let options = CodeModeOptions {
        snapshot_ttl_seconds: 86_400,
        ..CodeModeOptions::default()
    };
    let world = World::new().with_options(options);
    let id = run_id(&world.exec("for (;;) await yield_control()").await);
    world.clock.advance(Duration::from_secs(23 * 3600));
    assert_eq!(seq(&world.wait(&id).await), 2);
    world.clock.advance(Duration::from_secs(3601));
    assert_eq!(kind(&world.wait(&id).await), FailureKind::SnapshotExpired);
}

#[tokio::test(flavor = "multi_thread")]
async fn expiry_cancels_calls_and_says_what_is_unknown() {
    let world = World::new();
    let id = run_id(
        &world
            .exec("tools.hang_w({}); await yield_control(); return 1")
            .await,
    );
    world.stage.wait_for("hang_w").await;
    world.clock.advance(Duration::from_secs(901));
    let outcome = world.wait(&id).await;
    assert_eq!(kind(&outcome), FailureKind::SnapshotExpired);
    let CellResult::Failed(failed) = &outcome.result else {
        panic!("not failed")
    };
    let effects = failed.effects.as_ref().unwrap();
    assert_eq!(
        (effects.unknown, effects.calls[0].tool.as_str()),
        (1, "openclaw:core:hang_w")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_outstanding_at_the_deadline_make_a_cell_wait() {
    let options = CodeModeOptions {
        timeout_ms: 300,
        ..CodeModeOptions::default()
    };
    let world = World::new().with_options(options);
    let first = world.exec("const a = tools.hold({key: 'a'}); const b = tools.hold({key: 'b'}); return [await a, await b]").await;
    let CellResult::Waiting(waiting) = &first.result else {
        panic!("{}", text(&first))
    };
    assert_eq!(waiting.reason, WaitingReason::PendingTools);
    let pending: Vec<_> = waiting
        .pending_tool_calls
        .iter()
        .map(|call| (call.id.as_str(), call.state))
        .collect();
    assert_eq!(
        pending,
        [("c1", PendingState::Running), ("c2", PendingState::Running)]
    );
    let again = world.wait(&run_id(&first)).await;
    assert_eq!(seq(&again), 2, "nothing has settled");
    world.stage.release("b");
    world.stage.wait_for("hold b done").await;
    let third = world.wait(&run_id(&first)).await;
    let CellResult::Waiting(waiting) = &third.result else {
        panic!("{}", text(&third))
    };
    assert_eq!(waiting.pending_tool_calls.len(), 1);
    world.stage.release("a");
    world.stage.wait_for("hold a done").await;
    assert_eq!(
        value(&world.wait(&run_id(&first)).await),
        json!([{"key": "a"}, {"key": "b"}])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_that_waits_for_timers_lists_one() {
    let options = CodeModeOptions {
        timeout_ms: 200,
        ..CodeModeOptions::default()
    };
    let world = World::new().with_options(options);
    let first = world
        .exec("await new Promise(r => setTimeout(r, 3600000)); return 'rung'")
        .await;
    let CellResult::Waiting(waiting) = &first.result else {
        panic!("{}", text(&first))
    };
    let pending: Vec<_> = waiting
        .pending_tool_calls
        .iter()
        .map(|call| call.method.as_str())
        .collect();
    assert_eq!(pending, ["timer"]);
    world.clock.advance(Duration::from_secs(800));
    let second = world.wait(&run_id(&first)).await;
    assert_eq!(seq(&second), 2);
    for _ in 0..4 {
        world.clock.advance(Duration::from_secs(700));
        world.wait(&run_id(&first)).await;
    }
    assert_eq!(value(&world.wait(&run_id(&first)).await), "rung");
}

#[tokio::test(flavor = "multi_thread")]
async fn dropping_an_exec_aborts_and_dropping_a_wait_detaches() {
    let world = Arc::new(World::new());
    {
        let exec = world.exec("await tools.hold_w({key: 'a'}); await tools.echo_w({key: 'never'})");
        tokio::pin!(exec);
        tokio::select! {
            _ = &mut exec => panic!("it cannot end"),
            () = world.stage.wait_for("hold_w a") => {}
        }
    }
    let id = run_id(&world.exec("await yield_control(); await tools.hold({key: 'b'}); text('once'); await yield_control(); return 2").await);
    {
        let wait = world.wait(&id);
        tokio::pin!(wait);
        tokio::select! {
            _ = &mut wait => panic!("it cannot end"),
            () = world.stage.wait_for("hold b") => {}
        }
    }
    world.stage.release("b");
    // No `wait` is attached when the leg that it has left behind ends.
    let is_over = |outcome: codecell_codemode::CellOutcome| {
        error(&outcome).contains("the last one is number 2")
    };
    while !is_over(world.wait_after(&id, Some(9)).await) {
        tokio::task::yield_now().await;
    }
    let found = world.wait(&id).await;
    assert_eq!(seq(&found), 2, "the leg went on: {}", text(&found));
    assert!(text(&found).contains("once"));
    assert_eq!(value(&world.wait(&id).await), 2);
    assert!(!world.stage.log().iter().any(|line| line == "echo_w never"));
}

/// A cell that is suspended after a write, with a read in flight.
async fn suspended_writer(world: &World, run: &RunContext) -> String {
    let code = "await tools.echo_w({}); tools.hang({}); await yield_control(); return 1";
    let id = run_id(&world.exec_in(code, run).await);
    world.stage.wait_for("hang").await;
    id
}

fn committed(outcome: &codecell_codemode::CellOutcome) -> u64 {
    let CellResult::Failed(failed) = &outcome.result else {
        panic!("not failed: {}", text(outcome))
    };
    failed
        .effects
        .as_ref()
        .map_or(0, |effects| effects.committed.into())
}

async fn until_none_is_suspended(world: &World) {
    let ended = async {
        while world.code_mode.suspended() > 0 {
            tokio::task::yield_now().await;
        }
    };
    let ended = tokio::time::timeout(Duration::from_secs(60), ended).await;
    assert!(ended.is_ok(), "the cell stays suspended");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_abort_of_a_run_reaches_a_suspended_cell() {
    let world = World::new();
    let id = suspended_writer(&world, &world.run).await;
    world.run.abort.cancel();
    until_none_is_suspended(&world).await;
    let outcome = world.wait(&id).await;
    assert_eq!(kind(&outcome), FailureKind::Aborted);
    assert_eq!(committed(&outcome), 1, "{}", text(&outcome));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_deadline_of_a_run_reaches_a_suspended_cell() {
    for sweeps in [true, false] {
        let world = World::new();
        let deadline = std::time::Instant::now() + Duration::from_secs(600);
        let run = RunContext {
            deadline: Some(deadline),
            ..world.run.clone()
        };
        let id = suspended_writer(&world, &run).await;
        world.clock.advance(Duration::from_secs(601));
        if sweeps {
            world.code_mode.sweep();
            assert_eq!(world.code_mode.suspended(), 0);
        }
        let outcome = world.wait_in(&id, None, &run).await;
        assert_eq!(kind(&outcome), FailureKind::RunDeadline);
        assert_eq!(committed(&outcome), 1, "{}", text(&outcome));
        assert_eq!(world.code_mode.suspended(), 0);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abort_reaches_a_wait_that_has_no_memory_yet() {
    let world = Arc::new(World::of(Setup {
        limits: one_cell_at_a_time(),
        ..Setup::default()
    }));
    let id = suspended_writer(&world, &world.run).await;
    let other = RunContext {
        abort: tokio_util::sync::CancellationToken::new(),
        ..world.run.clone()
    };
    let running = {
        let (world, other) = (Arc::clone(&world), other.clone());
        tokio::spawn(async move {
            let code = "return (await tools.hold({key: 'a'})).key";
            world.exec_in(code, &other).await
        })
    };
    world.stage.wait_for("hold a").await;
    let (outcome, ()) = tokio::join!(world.wait(&id), async {
        tokio::task::yield_now().await;
        world.run.abort.cancel();
    });
    assert_eq!(kind(&outcome), FailureKind::Aborted);
    assert_eq!(committed(&outcome), 1, "{}", text(&outcome));
    world.stage.release("a");
    assert_eq!(value(&running.await.unwrap()), "a");
}

fn one_cell_at_a_time() -> ProcessLimits {
    ProcessLimits {
        max_guest_memory_bytes: 64 << 20,
        ..ProcessLimits::default()
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_that_has_no_memory_yet_keeps_its_cell_alive() {
    let world = Arc::new(World::of(Setup {
        limits: one_cell_at_a_time(),
        ..Setup::default()
    }));
    let id = run_id(&world.exec("await yield_control(); return 1").await);
    let running = {
        let world = Arc::clone(&world);
        tokio::spawn(async move {
            world
                .exec("return (await tools.hold({key: 'a'})).key")
                .await
        })
    };
    world.stage.wait_for("hold a").await;
    let wait = world.wait(&id);
    tokio::pin!(wait);
    // Polled once, it waits for memory.
    tokio::select! {
        biased;
        outcome = &mut wait => panic!("it cannot end: {}", text(&outcome)),
        () = std::future::ready(()) => {}
    }
    world.clock.advance(Duration::from_secs(1000));
    world.code_mode.sweep();
    world.stage.release("a");
    assert_eq!(value(&wait.await), 1);
    running.await.unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn timers_do_not_follow_the_clock_on_the_wall() {
    let options = CodeModeOptions {
        timeout_ms: 200,
        ..CodeModeOptions::default()
    };
    let world = World::new().with_options(options);
    let code = "await new Promise(r => setTimeout(r, 600000)); return 'rung'";
    let id = run_id(&world.exec(code).await);
    world.clock.advance_wall(Duration::from_secs(3600));
    assert_eq!(seq(&world.wait(&id).await), 2);
    world.clock.advance(Duration::from_secs(600));
    assert_eq!(value(&world.wait(&id).await), "rung");
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_run_ends_its_cells() {
    let world = World::new();
    let id = run_id(
        &world
            .exec("tools.hang({}); await yield_control(); return 1")
            .await,
    );
    world.exec("await results.save(1)").await;
    world.code_mode.end_run(&world.run.scope);
    assert_eq!(
        (
            world.code_mode.suspended(),
            world.code_mode.suspended_bytes()
        ),
        (0, 0)
    );
    assert_eq!(kind(&world.wait(&id).await), FailureKind::UnknownRun);
    let outcome = world.exec("return await results.load('r1')").await;
    assert_eq!(
        kind(&outcome),
        FailureKind::NestedToolFailed,
        "{}",
        text(&outcome)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_aborted_cell_says_what_it_did() {
    let world = World::new();
    let outcome = world
        .exec("await tools.echo_w({}); tools.hang_w({}); await yield_control(); return 1")
        .await;
    world.stage.wait_for("hang_w").await;
    let CellResult::Waiting(waiting) = &outcome.result else {
        panic!("{}", text(&outcome))
    };
    assert!(
        !world
            .code_mode
            .abort(&waiting.run_id, &Scope::new("x", "x", "x", "x"))
    );
    assert!(world.code_mode.abort(&waiting.run_id, &world.run.scope));
    assert!(!world.code_mode.abort(&waiting.run_id, &world.run.scope));
    let outcome = world.wait(&run_id(&outcome)).await;
    assert_eq!(kind(&outcome), FailureKind::Aborted);
    assert!(
        error(&outcome).contains("c1 openclaw:core:echo_w")
            && error(&outcome).contains("c2 openclaw:core:hang_w")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn shutdown_ends_everything() {
    let world = World::new();
    let id = run_id(
        &world
            .exec("tools.hang({}); await yield_control(); return 1")
            .await,
    );
    world.code_mode.shutdown().await;
    assert_eq!(kind(&world.wait(&id).await), FailureKind::UnknownRun);
    assert_eq!(kind(&world.exec("return 1").await), FailureKind::Aborted);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_resumed_cell_has_the_rights_of_start_and_of_now() {
    let world = World::new();
    let code = "await yield_control(); const seen = []; for (const t of ['echo', 'big', 'echo_w']) { try { await tools.call(t, {bytes: 1}); seen.push(t) } catch (e) { seen.push([e.code, e.effectStatus]) } } return seen";
    let id = run_id(&world.exec(code).await);
    let mut fewer = tools(&world.stage);
    fewer.retain(|tool| tool.definition().name() != "big");
    let run = RunContext {
        tools: tool_set(fewer),
        ..world.run.clone()
    };
    let outcome = world.wait_in(&id, None, &run).await;
    assert_eq!(
        value(&outcome),
        json!(["echo", ["tool_unavailable", "notStarted"], "echo_w"])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_id_that_now_means_another_tool_is_not_called() {
    let world = World::new();
    let code = "await yield_control(); try { return await tools.echo({}) } catch (e) { return [e.code, e.effectStatus] }";
    let id = run_id(&world.exec(code).await);
    let mut changed = tools(&world.stage);
    changed.retain(|tool| tool.definition().name() != "echo");
    changed.push(renamed(
        &world.stage,
        "echo",
        "Another tool of the same name.",
    ));
    let run = RunContext {
        tools: tool_set(changed),
        ..world.run.clone()
    };
    let outcome = world.wait_in(&id, None, &run).await;
    assert_eq!(value(&outcome), json!(["tool_unavailable", "notStarted"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_that_are_tighter_now_apply() {
    let world = World::new();
    let code = "await yield_control(); const kept = new Uint8Array(2 << 20).fill(1); await yield_control(); return kept.length";
    let id = run_id(&world.exec(code).await);
    let tight = CodeModeOptions {
        max_snapshot_bytes: 1 << 20,
        ..CodeModeOptions::default()
    };
    let run = world.run.clone().with_options(tight);
    let outcome = world.wait_in(&id, None, &run).await;
    assert_eq!(
        kind(&outcome),
        FailureKind::SnapshotLimitExceeded,
        "{}",
        text(&outcome)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn the_end_of_a_session_ends_its_runs() {
    let world = World::new();
    let id = run_id(&world.exec("await yield_control(); return 1").await);
    world.code_mode.end_session("owner", "main", "other");
    assert_eq!(world.code_mode.suspended(), 1);
    world.code_mode.end_session("owner", "main", "session");
    assert_eq!(world.code_mode.suspended(), 0);
    assert_eq!(kind(&world.wait(&id).await), FailureKind::UnknownRun);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_wait_that_gets_no_thread_leaves_the_cell_as_it_was() {
    let cache_dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("guest-cache");
    let options = SandboxOptions {
        cache_dir: Some(cache_dir),
        max_guests: 1,
        max_queued: 1,
        ..SandboxOptions::default()
    };
    let sandbox = Sandbox::new(&options).unwrap();
    let setup = Setup {
        sandbox: Some(sandbox.clone()),
        ..Setup::default()
    };
    let world = Arc::new(World::of(setup));
    let id = run_id(&world.exec("await yield_control(); return 1").await);
    let cell = |key: &'static str| {
        let world = Arc::clone(&world);
        tokio::spawn(async move {
            world
                .exec(&format!("return await tools.hold({{key: '{key}'}})"))
                .await
        })
    };
    let running = cell("a");
    world.stage.wait_for("hold a").await;
    let queued = cell("b");
    while sandbox.info().queued == 0 {
        tokio::task::yield_now().await;
    }
    let refused = world.wait(&id).await;
    assert_eq!(
        kind(&refused),
        FailureKind::EngineUnavailable,
        "{}",
        text(&refused)
    );
    world.stage.release("a");
    world.stage.release("b");
    assert_eq!(value(&running.await.unwrap())["key"], "a");
    assert_eq!(value(&queued.await.unwrap())["key"], "b");
    assert_eq!(value(&world.wait(&id).await), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn scopes_share_nothing() {
    let world = World::new();
    world.exec("await results.save('secret')").await;
    for scope in [
        Scope::new("other", "main", "session", "run"),
        Scope::new("owner", "other", "session", "run"),
        Scope::new("owner", "main", "other", "run"),
        Scope::new("owner", "main", "session", "other"),
    ] {
        let run = RunContext::new(scope, world.run.tools.clone());
        let outcome = world
            .exec_in(
                "try { return await results.load('r1') } catch (e) { return e.code }",
                &run,
            )
            .await;
        assert_eq!(value(&outcome), "unknown_result");
    }
    assert_eq!(
        world.value("return await results.load('r1')").await,
        "secret"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn many_cells_at_once() {
    let world = Arc::new(World::new());
    for count in [16_u32, 64] {
        let cells = (0..count).map(|n| {
            let world = Arc::clone(&world);
            tokio::spawn(async move {
                world
                    .value(&format!("return (await tools.echo({{n: {n}}})).n"))
                    .await
            })
        });
        for (n, cell) in cells.collect::<Vec<_>>().into_iter().enumerate() {
            assert_eq!(cell.await.unwrap(), n as u64);
        }
    }
}
