//! The ledger as results show it.

use codecell_codemode::CodeModeOptions;
use codecell_protocol::{CallState, CellResult, Effects};

use crate::support::{World, error, text};

fn effects(outcome: &codecell_codemode::CellOutcome) -> Option<&Effects> {
    match &outcome.result {
        CellResult::Completed(completed) => completed.effects.as_ref(),
        CellResult::Waiting(waiting) => waiting.effects.as_ref(),
        CellResult::Failed(failed) => failed.effects.as_ref(),
    }
}

async fn states(code: &str) -> Vec<(String, CallState)> {
    let world = World::new().with_options(CodeModeOptions {
        timeout_ms: 500,
        ..CodeModeOptions::default()
    });
    let outcome = world.exec(code).await;
    let effects = effects(&outcome).unwrap_or_else(|| panic!("no effects: {}", text(&outcome)));
    effects
        .calls
        .iter()
        .map(|call| (call.tool.clone(), call.state))
        .collect()
}

fn core(name: &str) -> String {
    format!("openclaw:core:{name}")
}

#[tokio::test(flavor = "multi_thread")]
async fn every_state_of_a_call() {
    use CallState::{Committed, Failed, NotStarted, Unknown};
    let caught = "await tools.echo_w({}); for (const t of ['fail_w', 'fail_clean_w', 'nope']) { try { await tools.call(t, {}) } catch {} } try { await tools.call('echo_w', [1]) } catch {}";
    assert_eq!(
        states(caught).await,
        [
            (core("fail_w"), Unknown),
            (core("echo_w"), Committed),
            (core("fail_clean_w"), Failed),
            ("nope".to_owned(), NotStarted),
            (core("echo_w"), NotStarted),
        ]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn calls_of_a_stopped_slice_never_start() {
    assert_eq!(
        states("tools.echo_w({}); while (true) {}").await,
        [(core("echo_w"), CallState::NotStarted)]
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_failed_cell_says_what_must_not_be_repeated() {
    let world = World::new();
    let outcome = world
        .exec("await tools.echo_w({}); throw new Error('later')")
        .await;
    assert_eq!(
        error(&outcome),
        "Error: later (line 1, column 35). These calls took effect: c1 openclaw:core:echo_w. Do not make them again."
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn reads_leave_no_effects() {
    let world = World::new();
    let outcome = world
        .exec("await tools.echo({}); try { await tools.fail({}) } catch {}; return 1")
        .await;
    assert!(effects(&outcome).is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn in_flight_never_passes_the_cap_and_the_rest_queue_in_order() {
    let options = CodeModeOptions {
        max_pending_tool_calls: 2,
        timeout_ms: 300,
        ..CodeModeOptions::default()
    };
    let world = World::new().with_options(options);
    let outcome = world
        .exec("await Promise.all([0, 1, 2, 3].map(k => tools.hold({key: String(k)})))")
        .await;
    assert_eq!(world.stage.log().len(), 2);
    let CellResult::Waiting(waiting) = &outcome.result else {
        panic!("{}", text(&outcome))
    };
    assert_eq!(waiting.pending_tool_calls.len(), 4);
    // While the cell is suspended its queue goes on.
    world.stage.release("1");
    world.stage.wait_for("hold 2").await;
    assert!(!world.stage.log().contains(&"hold 3".to_owned()));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_turn_with_too_many_calls_is_refused_as_a_whole() {
    let world = World::new();
    let code = "const all = []; for (let i = 0; i < 16500; i++) all.push(tools.echo_w({}).catch(e => e.code));
        const codes = new Set(await Promise.all(all)); return [...codes]";
    let outcome = world.exec(code).await;
    assert_eq!(
        crate::support::value(&outcome),
        serde_json::json!(["too_many_pending_tool_calls"])
    );
    assert!(world.stage.log().is_empty(), "none was dispatched");
}
