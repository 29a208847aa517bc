//! Cells that another process goes on with: a world that is shut down, and one over the same store.

use codecell_codemode::CodeModeOptions;
use codecell_protocol::{CellResult, FailureKind};
use codecell_tools::{Policy, PolicyOptions, PolicyRules};
use serde_json::json;

use crate::world::{Places, Setup, World, id_of, value};

fn kind(result: &CellResult) -> FailureKind {
    match result.failure_kind() {
        Some(kind) => kind,
        None => panic!("no failure: {}", serde_json::to_string(result).unwrap()),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_that_yielded_goes_on_in_another_process() {
    let places = Places::new();
    let code = "const names = ALL_TOOLS.map(t => t.name); const m = new Map([['a', names]]); text('before'); \
        const saw = await yield_control('x'); const r = await tools.effect({token: 'one'}); text('after'); \
        return [saw, r, m.get('a'), Math.random() !== Math.random()]";
    let id = places.suspended(code).await;
    let world = places.world();
    let result = world.wait(&id, Some(1)).await;
    assert_eq!(
        value(&result),
        json!([{"status": "yielded", "reason": "x"}, "ok", ["effect", "look"], true])
    );
    let text = serde_json::to_string(&result).unwrap();
    assert!(text.contains("after") && !text.contains("before"), "{text}");
    assert_eq!(places.server.count("one"), 1);
    world.cells.shutdown().await;
    // The last result can be asked for again, by a process that never saw the cell run.
    let again = places.world().wait(&id, None).await;
    assert_eq!(value(&again), value(&result));
    let other = World::of(Setup {
        session: "other",
        ..places.setup()
    });
    assert_eq!(kind(&other.wait(&id, None).await), FailureKind::WrongScope);
    assert_eq!(
        kind(
            &other
                .wait("cm_00000000-0000-4000-8000-000000000000", None)
                .await
        ),
        FailureKind::UnknownRun
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_earlier_result_is_given_again_and_runs_nothing() {
    let places = Places::new();
    let id = places
        .suspended("text('first'); await yield_control(); await yield_control(); return 1")
        .await;
    let world = places.world();
    let second = world.wait(&id, Some(1)).await;
    world.cells.shutdown().await;
    let world = places.world();
    let again = world.wait(&id, Some(0)).await;
    assert!(serde_json::to_string(&again).unwrap().contains("first"));
    let same = world.wait(&id, Some(1)).await;
    assert_eq!(same.model_text().unwrap(), second.model_text().unwrap());
    assert_eq!(value(&world.wait(&id, Some(2)).await), json!(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn one_process_at_a_time_has_a_cell() {
    let places = Places::new();
    let first = places.world();
    let id = id_of(&first.exec("await yield_control(); return 1").await);
    let second = places.world();
    let refused = second.wait(&id, None).await;
    assert_eq!(kind(&refused), FailureKind::AlreadyResuming);
    assert!(
        refused
            .model_text()
            .unwrap()
            .contains("another process holds this cell")
    );
    first.cells.shutdown().await;
    assert_eq!(value(&second.wait(&id, None).await), json!(1));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_was_under_way_is_unknown_and_one_that_waited_is_made() {
    let places = Places::new();
    let code = "const go = async (token, delayMs) => { try { return await tools.effect({token, delayMs}) } catch (e) { return [e.code, e.effectStatus] } };\
        const slow = go('slow', 60000); const read = tools.look({delayMs: 300}); await yield_control(); return [await slow, await read, await go('late', 0)]";
    let world = World::of(Setup {
        options: CodeModeOptions {
            max_pending_tool_calls: 2,
            ..CodeModeOptions::default()
        },
        ..places.setup()
    });
    let result = world.exec(code).await;
    let id = id_of(&result);
    world.cells.shutdown().await;
    let result = places.world().wait(&id, None).await;
    let text = value(&result).to_string();
    assert!(text.contains("unknown"), "{text}");
    assert_eq!(value(&result)[1], json!("ok"));
    assert_eq!(value(&result)[2], json!("ok"));
    assert_eq!(
        (places.server.count("slow"), places.server.count("late")),
        (0, 1)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn tools_that_are_denied_or_changed_meanwhile_are_gone() {
    let places = Places::new();
    let code = "await yield_control(); try { return await tools.effect({token: 'gone'}) } catch (e) { return [e.code, e.effectStatus] }";
    for changed in [true, false] {
        let id = places.suspended(code).await;
        let mut setup = places.setup();
        if changed {
            setup.description = "Does something else now.";
        } else {
            let rules = PolicyRules {
                deny: vec!["effect".into()],
                ..PolicyRules::new("test")
            };
            let options = PolicyOptions {
                scopes: vec![rules],
                ..PolicyOptions::default()
            };
            setup.policy = Policy::build(&options).unwrap();
        }
        let result = World::of(setup).wait(&id, None).await;
        assert_eq!(value(&result), json!(["tool_unavailable", "notStarted"]));
    }
    assert_eq!(places.server.count("gone"), 0);
}

#[tokio::test(flavor = "multi_thread")]
async fn limits_that_were_tightened_meanwhile_apply() {
    let places = Places::new();
    let id = places
        .suspended("await yield_control(); return 'x'.repeat(5000)")
        .await;
    let mut setup = places.setup();
    setup.options.max_output_bytes = 2048;
    let result = World::of(setup).wait(&id, None).await;
    assert_eq!(kind(&result), FailureKind::OutputLimitExceeded);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_whose_time_is_over_says_what_it_did() {
    let places = Places::new();
    let mut setup = places.setup();
    setup.options.snapshot_ttl_seconds = 1;
    let world = World::of(setup);
    let result = world
        .exec("await tools.effect({token: 'done'}); await yield_control(); return 1")
        .await;
    let id = id_of(&result);
    world.cells.shutdown().await;
    tokio::time::sleep(std::time::Duration::from_millis(1100)).await;
    let result = places.world().wait(&id, None).await;
    assert_eq!(kind(&result), FailureKind::SnapshotExpired);
    let CellResult::Failed(failed) = result else {
        panic!()
    };
    assert_eq!(failed.effects.unwrap().committed, 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn timers_and_detached_calls_survive() {
    let places = Places::new();
    let code = "const log = []; setTimeout(() => log.push('timer'), 50); tools.look({}).then(() => log.push('look')); \
        await yield_control(); await new Promise(r => setTimeout(r, 100)); return log";
    let id = places.suspended(code).await;
    let result = places.world();
    let first = result.wait(&id, None).await;
    let result = result.wait_out(first).await;
    assert_eq!(value(&result).as_array().unwrap().len(), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_aborted_cell_is_over_for_everybody() {
    let places = Places::new();
    let world = places.world();
    let id = id_of(&world.exec("await yield_control(); return 1").await);
    assert!(world.cells.abort(&id.parse().unwrap(), &world.run.scope));
    world.cells.shutdown().await;
    assert_eq!(
        kind(&places.world().wait(&id, None).await),
        FailureKind::Aborted
    );
}
