//! Records that are run again: to the same end, without a tool; and forks.

use std::sync::{Arc, Mutex};

use codecell_codemode::{RecordFault, RecordSink, ReplayOptions, record_entry, record_head};
use serde_json::json;

use crate::server::EffectServer;
use crate::world::{Setup, World, value};

/// Collects a record in memory.
#[derive(Debug)]
pub(crate) struct Collected(Mutex<Vec<u8>>);

impl Collected {
    pub(crate) fn new() -> Arc<Self> {
        Arc::new(Self(Mutex::new(record_head().to_vec())))
    }

    pub(crate) fn bytes(&self) -> Vec<u8> {
        self.0.lock().unwrap().clone()
    }
}

impl RecordSink for Collected {
    fn append(&self, kind: u8, bytes: &[u8]) {
        self.0.lock().unwrap().extend(record_entry(kind, bytes));
    }
}

async fn recorded(
    server: &EffectServer,
    code: &str,
) -> (World, Vec<u8>, codecell_protocol::CellResult) {
    let record = Collected::new();
    let mut setup = Setup::new(&server.address(), None);
    setup.record = Some(Arc::clone(&record) as Arc<dyn RecordSink>);
    let world = World::of(setup);
    let first = world.exec(code).await;
    let result = world.wait_out(first).await;
    (world, record.bytes(), result)
}

const CODE: &str = "const r = [Math.random(), Date.now()]; for (let i = 0; i < 4; i++) r.push(await tools.effect({token: 'TOKEN-' + i})); \
    await yield_control(); const found = await tools.search('look'); r.push(found[0].name, Math.random()); text('x'); return r";

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_comes_to_the_same_end_without_calling_anything() {
    let server = EffectServer::start();
    let (world, record, result) = recorded(&server, &CODE.replace("TOKEN", "re")).await;
    let replayed = world
        .cells
        .replay(&record, ReplayOptions::default(), &world.run)
        .await
        .unwrap();
    assert_eq!(
        replayed.is_same,
        Some(true),
        "{:?}",
        replayed.outcome.result
    );
    assert_eq!(value(&replayed.outcome.result), value(&result));
    assert_eq!(server.tokens("re").len(), 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_replay_can_stop_and_a_fork_goes_on_with_real_calls() {
    let server = EffectServer::start();
    let (world, record, result) = recorded(&server, &CODE.replace("TOKEN", "fork")).await;
    let stopped = ReplayOptions {
        until: Some(2),
        fork: false,
    };
    let replayed = world
        .cells
        .replay(&record, stopped, &world.run)
        .await
        .unwrap();
    assert!(replayed.is_open, "{:?}", replayed.outcome.result);
    assert_eq!((replayed.is_same, server.tokens("fork").len()), (None, 4));
    let fork = ReplayOptions {
        fork: true,
        ..stopped
    };
    let forked = world.cells.replay(&record, fork, &world.run).await.unwrap();
    let forked = world.wait_out(forked.outcome.result).await;
    assert_eq!(value(&forked)[0], value(&result)[0]);
    assert_eq!(value(&forked)[5], json!("ok"));
    assert_eq!(
        server.tokens("fork").len(),
        6,
        "the last two were really made"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_changed_record_is_found_out() {
    let server = EffectServer::start();
    let (world, record, _) =
        recorded(&server, "return await tools.effect({token: 'changed'})").await;
    let text = String::from_utf8_lossy(&record).into_owned();
    assert!(text.contains("\"arrivalUs\""), "{text}");
    for at in (20..record.len()).step_by(7) {
        let mut changed = record.clone();
        changed[at] ^= 1;
        // Whatever was changed: an error, another result, or the same one; never a call.
        let _ = world
            .cells
            .replay(&changed, ReplayOptions::default(), &world.run)
            .await;
    }
    assert_eq!(server.count("changed"), 1);
    let refused = world
        .cells
        .replay(b"nothing", ReplayOptions::default(), &world.run)
        .await;
    assert_eq!(refused.unwrap_err(), RecordFault::NotARecord);
}
