//! Saved results that another process of the same run loads.

use std::path::Path;
use std::sync::Arc;

use codecell_codemode::{RecordSink, ReplayOptions, SnapshotStore};
use codecell_protocol::CellResult;
use serde_json::{Value, json};

use crate::child::{Trap, Trapped};
use crate::replay::Collected;
use crate::world::{Setup, World, folder, id_of, open, value};

/// Nothing here calls a tool that asks a server.
const NO_SERVER: &str = "127.0.0.1:9";

const LARGE: &str = "return 'x'.repeat(1000000)";

fn setup(path: &Path) -> Setup {
    let store: Arc<dyn SnapshotStore> = open(path);
    Setup::new(NO_SERVER, Some(store))
}

/// What a program gives in a process of its own.
async fn ask(setup: Setup, code: &str) -> Value {
    let world = World::of(setup);
    let result = world.exec(code).await;
    world.cells.shutdown().await;
    value(&result)
}

/// The code and the message of what a call rejects with.
async fn refusal(setup: Setup, call: &str) -> (String, String) {
    let code =
        format!("try {{ await {call}; return [] }} catch (e) {{ return [e.code, e.message] }}");
    let caught = ask(setup, &code).await;
    let text = |at: usize| caught[at].as_str().unwrap_or_default().to_owned();
    (text(0), text(1))
}

#[tokio::test(flavor = "multi_thread")]
async fn what_one_process_saved_another_one_loads() {
    let (_keep, path) = folder();
    let save = "await results.save('gone'); const s = await results.save({a: [1, 2]}); await results.delete('r1'); return s.id";
    assert_eq!(ask(setup(&path), save).await, json!("r2"));
    let load = "const missing = await results.load('r1').catch(e => e.message); return [await results.load('r2'), missing, (await results.save(3)).id]";
    let expected = json!([{"a": [1, 2]}, "no saved result `r1`: this run has r2", "r3"]);
    assert_eq!(ask(setup(&path), load).await, expected);
    let delete = "return [await results.delete('r2'), await results.delete('r2')]";
    assert_eq!(ask(setup(&path), delete).await, json!([true, false]));
    let (code, _) = refusal(setup(&path), "results.load('r2')").await;
    assert_eq!(code, "unknown_result");
    assert_eq!(
        ask(setup(&path), "return results.load('r3')").await,
        json!(3)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_that_goes_on_elsewhere_finds_what_it_saved() {
    let (_keep, path) = folder();
    let world = World::of(setup(&path));
    let code = "const s = await results.save('kept'); await yield_control(); return [s.id, await results.load(s.id)]";
    let id = id_of(&world.exec(code).await);
    world.cells.shutdown().await;
    let result = World::of(setup(&path)).wait(&id, None).await;
    assert_eq!(value(&result), json!(["r1", "kept"]));
}

#[tokio::test(flavor = "multi_thread")]
async fn another_scope_sees_nothing_and_a_run_that_ended_keeps_nothing() {
    let (_keep, path) = folder();
    ask(setup(&path), "return results.save('mine')").await;
    let mut other = setup(&path);
    other.session = "other";
    let (code, message) = refusal(other.clone(), "results.load('r1')").await;
    assert_eq!(code, "unknown_result");
    assert!(
        message.ends_with("this run has no saved results"),
        "{message}"
    );
    ask(other, "return results.save('theirs')").await;
    assert_eq!(
        ask(setup(&path), "return results.load('r1')").await,
        json!("mine")
    );
    let world = World::of(setup(&path));
    assert_eq!(
        value(&world.exec("return results.load('r1')").await),
        json!("mine")
    );
    world.cells.end_run(&world.run.scope);
    world.cells.shutdown().await;
    let (code, _) = refusal(setup(&path), "results.load('r1')").await;
    assert_eq!(code, "unknown_result");
}

#[tokio::test(flavor = "multi_thread")]
async fn two_processes_save_at_once_and_see_each_other() {
    let (_keep, path) = folder();
    let (one, two) = (World::of(setup(&path)), World::of(setup(&path)));
    let save = |text: &str| format!("return (await results.save('{text}')).id");
    // Both have read that nothing is there.
    for world in [&one, &two] {
        world.exec("return results.delete('r1')").await;
    }
    assert_eq!(value(&one.exec(&save("one")).await), json!("r1"));
    assert_eq!(value(&two.exec(&save("two")).await), json!("r2"));
    assert_eq!(
        value(&one.exec("return results.load('r2')").await),
        json!("two")
    );
    assert_eq!(
        value(&two.exec("return results.load('r1')").await),
        json!("one")
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_row_is_refused_until_it_is_removed() {
    for damage in [
        "UPDATE saved SET sealed = zeroblob(40) WHERE number = 1",
        "UPDATE saved SET by_host = 1 WHERE number = 1",
        "UPDATE saved SET sealed = (SELECT sealed FROM saved WHERE number = 2) WHERE number = 1",
    ] {
        let (_keep, path) = folder();
        ask(
            setup(&path),
            "await results.save('one'); return results.save('two')",
        )
        .await;
        let connection = rusqlite::Connection::open(path.join("cells.db")).unwrap();
        connection.execute_batch(damage).unwrap();
        drop(connection);
        for call in [
            "results.load('r1')",
            "results.load('r2')",
            "results.save(1)",
        ] {
            let (code, message) = refusal(setup(&path), call).await;
            assert_eq!(code, "saved_results_damaged", "{damage}: {call}");
            assert!(message.contains("results.delete(id)"), "{message}");
        }
        assert_eq!(
            ask(setup(&path), "return results.delete('r1')").await,
            json!(true)
        );
        assert_eq!(
            ask(setup(&path), "return results.load('r2')").await,
            json!("two")
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn what_the_store_refuses_is_not_saved() {
    let (_keep, path) = folder();
    let store: Arc<dyn SnapshotStore> = Trapped::new(open(&path), Trap::FullOfValues);
    let full = || Setup::new(NO_SERVER, Some(Arc::clone(&store)));
    let (code, message) = refusal(full(), "results.save(1)").await;
    assert_eq!(code, "store_unavailable");
    assert!(
        message.contains("the disk that holds the store is full"),
        "{message}"
    );
    let code =
        "await results.save(1).catch(() => 0); return results.load('r1').catch(e => e.message)";
    let expected = json!("no saved result `r1`: this run has no saved results");
    assert_eq!(ask(full(), code).await, expected);
}

#[tokio::test(flavor = "multi_thread")]
async fn an_output_that_was_too_large_is_there_in_another_process_and_a_replay_stores_nothing() {
    let (_keep, path) = folder();
    ask(setup(&path), "return results.save('first')").await;
    let record = Collected::new();
    let mut recording = setup(&path);
    recording.record = Some(Arc::clone(&record) as Arc<dyn RecordSink>);
    let world = World::of(recording);
    let CellResult::Failed(failed) = world.exec(LARGE).await else {
        panic!("the output fits");
    };
    assert_eq!(failed.failure.saved.unwrap().id, "r2");
    let (bytes, options) = (record.bytes(), ReplayOptions::default());
    let replayed = world.cells.replay(&bytes, options, &world.run).await;
    assert_eq!(replayed.unwrap().is_same, Some(true));
    world.cells.shutdown().await;
    let lengths =
        "return [(await results.load('r2')).length, (await results.load('r3').catch(e => e.code))]";
    assert_eq!(
        ask(setup(&path), lengths).await,
        json!([1_000_000, "unknown_result"])
    );
}
