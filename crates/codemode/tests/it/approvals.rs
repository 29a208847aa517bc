//! Approvals: whose clocks stand still, what the answer says, what becomes of a call.

use std::time::Duration;

use codecell_codemode::CodeModeOptions;
use codecell_protocol::{CellResult, FailureKind, PendingState};

use crate::support::{Setup, World, kind, run_id, text, value};

fn asking(options: CodeModeOptions) -> World {
    World::of(Setup {
        asks: true,
        ..Setup::default()
    })
    .with_options(options)
}

const CALL: &str =
    "try { return await tools.echo_w({v: 1}) } catch (e) { return [e.code, e.effectStatus] }";

#[tokio::test(flavor = "multi_thread")]
async fn a_yes_in_time_is_part_of_the_same_answer() {
    let world = asking(CodeModeOptions {
        timeout_ms: 300,
        approval_hold_ms: None,
        ..CodeModeOptions::default()
    });
    let (outcome, ()) = tokio::join!(world.exec(CALL), async {
        world.stage.wait_for("asked echo_w").await;
        // Longer than the leg: its clock stands still for a person at a terminal.
        tokio::time::sleep(Duration::from_millis(600)).await;
        world.stage.release("approve");
    });
    assert_eq!(value(&outcome)["v"], 1, "{}", text(&outcome));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_answer_comes_after_the_hold_and_names_the_approval() {
    let world = asking(CodeModeOptions {
        timeout_ms: 100,
        approval_hold_ms: Some(100),
        ..CodeModeOptions::default()
    });
    let first = world.exec(CALL).await;
    let CellResult::Waiting(waiting) = &first.result else {
        panic!("{}", text(&first))
    };
    assert_eq!(waiting.pending_tool_calls[0].state, PendingState::Approval);
    assert!(waiting.effects.is_none());
    // Idle time does not run while a person is asked.
    world.clock.advance(Duration::from_secs(3600));
    world.code_mode.sweep();
    world.stage.release("approve");
    world.stage.wait_for("echo_w").await;
    let mut outcome = world.wait(&run_id(&first)).await;
    while matches!(outcome.result, CellResult::Waiting(_)) {
        outcome = world.wait(&run_id(&first)).await;
    }
    assert_eq!(value(&outcome)["v"], 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_no_is_a_call_that_never_started() {
    let world = asking(CodeModeOptions::default());
    let (outcome, ()) = tokio::join!(world.exec(CALL), async {
        world.stage.wait_for("asked echo_w").await;
        world.stage.release("deny");
    });
    assert_eq!(value(&outcome)[1], "notStarted", "{}", text(&outcome));
    let CellResult::Completed(completed) = &outcome.result else {
        panic!("not completed")
    };
    assert_eq!(
        completed
            .effects
            .as_ref()
            .map(|effects| effects.not_started),
        Some(1)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_approval_expires_by_itself() {
    let options = CodeModeOptions {
        timeout_ms: 100,
        approval_hold_ms: Some(0),
        approval_ttl_seconds: 60,
        ..CodeModeOptions::default()
    };
    let world = asking(options);
    let first = world.exec(CALL).await;
    world.clock.advance(Duration::from_secs(61));
    world.code_mode.sweep();
    let outcome = world.wait(&run_id(&first)).await;
    assert_eq!(
        value(&outcome),
        serde_json::json!(["approval_expired", "notStarted"])
    );
    world.stage.release("approve");
    assert!(!world.stage.log().contains(&"echo_w".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_guest_that_spins_meanwhile_is_stopped_at_its_deadline() {
    let world = asking(CodeModeOptions {
        timeout_ms: 200,
        approval_hold_ms: None,
        ..CodeModeOptions::default()
    });
    let outcome = world
        .exec("tools.echo_w({}); await tools.echo({}); while (true) {}")
        .await;
    assert_eq!(kind(&outcome), FailureKind::GuestDeadline);
    let CellResult::Failed(failed) = &outcome.result else {
        panic!("not failed")
    };
    assert_eq!(
        failed
            .effects
            .as_ref()
            .map(|effects| (effects.not_started, effects.unknown)),
        Some((1, 0))
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lasting_answer_ends_with_its_session() {
    let world = asking(CodeModeOptions::default());
    let asked = || {
        let log = world.stage.log();
        log.iter().filter(|line| *line == "asked echo_w").count()
    };
    for count in [1, 1, 2] {
        if count == 2 {
            world.code_mode.end_session("owner", "main", "session");
        }
        if asked() < count {
            world.stage.release("approve tool");
        }
        assert_eq!(value(&world.exec(CALL).await)["v"], 1);
        assert_eq!(asked(), count);
    }
}
