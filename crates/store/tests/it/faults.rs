//! Disks that are full and files that were torn: an error that says so, never a false `waiting`, and
//! never an effect that nobody tells of.

use std::io::Write as _;
use std::process::{Command, Stdio};
use std::sync::Arc;

use codecell_codemode::{RowState, SnapshotStore, survey};
use codecell_protocol::CellResult;

use crate::child::{Job, Trap, Trapped};
use crate::server::EffectServer;
use crate::world::{Setup, World, folder, id_of, open, places, value};

const CODE: &str = "const go = async token => { try { return await tools.effect({token}) } catch (e) { return e.effectStatus } }; \
    const a = await go('RUN-a'); await yield_control(); const b = await go('RUN-b'); return [a, b]";

#[tokio::test(flavor = "multi_thread")]
async fn a_full_disk_stops_a_cell_before_it_does_anything_unknown() {
    let server = EffectServer::start();
    let mut failed = 0;
    for nth in 1..=14 {
        let (_keep, path) = folder();
        let run = format!("full-{nth}");
        let store: Arc<dyn SnapshotStore> = Trapped::new(open(&path), Trap::Full { nth });
        let world = World::of(Setup::new(&server.address(), Some(Arc::clone(&store))));
        let first = world.exec(&CODE.replace("RUN", &run)).await;
        if matches!(first, CellResult::Waiting(_)) {
            // What says `waiting` is on the disk.
            assert!(
                store
                    .rows()
                    .unwrap()
                    .iter()
                    .any(|row| row.state == RowState::Suspended)
            );
        }
        let result = world.wait_out(first).await;
        let tokens = server.tokens(&run);
        let effects = match &result {
            CellResult::Failed(result) => {
                failed += 1;
                assert!(result.error.contains("disk"), "{nth}: {}", result.error);
                result.effects.clone()
            }
            CellResult::Completed(completed) => completed.effects.clone(),
            CellResult::Waiting(_) => unreachable!("waited out"),
        };
        let told = effects.map_or(0, |effects| effects.committed + effects.unknown);
        assert!(
            tokens.len() as u32 <= told,
            "{nth}: {tokens:?}, {told} told"
        );
        world.cells.shutdown().await;
        // Whatever is stored goes on from there, and repeats nothing.
        let store: Arc<dyn SnapshotStore> = open(&path);
        let world = World::of(Setup::new(&server.address(), Some(Arc::clone(&store))));
        for cell in survey(&store).unwrap() {
            let result = world.wait(&cell.id.to_string(), None).await;
            world.wait_out(result).await;
        }
        for token in server.tokens(&run) {
            assert_eq!(server.count(&token), 1, "{nth}: {token}");
        }
    }
    assert!(failed >= 5, "only {failed} cells met the full disk");
}

/// A disk of its own with this much room, where the test may mount one.
struct SmallDisk(tempfile::TempDir);

impl SmallDisk {
    fn new(size: &str) -> Option<Self> {
        let folder = tempfile::tempdir().unwrap();
        let size = format!("size={size},mode=700");
        let mut mount = Command::new("mount");
        let mount = mount.args(["-t", "tmpfs", "-o", &size, "none"]);
        let status = mount.arg(folder.path()).stderr(Stdio::null()).status();
        let is_mounted = status.is_ok_and(|status| status.success());
        is_mounted.then_some(Self(folder))
    }

    /// Leaves no room.
    fn fill(&self) -> std::path::PathBuf {
        let path = self.0.path().join("filler");
        let mut file = std::fs::File::create(&path).unwrap();
        while file.write_all(&[7; 1024]).is_ok() {}
        path
    }
}

impl Drop for SmallDisk {
    fn drop(&mut self) {
        let _left = Command::new("umount").arg("-l").arg(self.0.path()).status();
    }
}

#[expect(clippy::print_stdout, reason = "a test that skips says so")]
fn small_disk() -> Option<SmallDisk> {
    let disk = SmallDisk::new("2m");
    if disk.is_none() {
        println!("skipped: this user cannot mount a small file system");
    }
    disk
}

/// No trap: the system itself refuses to write.
#[tokio::test(flavor = "multi_thread")]
async fn a_disk_that_is_really_full_stops_cells_and_loses_none() {
    let Some(disk) = small_disk() else { return };
    let server = EffectServer::start();
    let setup = || Setup::new(&server.address(), Some(open(disk.0.path())));
    let world = World::of(setup());
    let code = "await tools.effect({token: 'before'}); await yield_control(); \
        return await tools.effect({token: 'after'})";
    let id = id_of(&world.exec(code).await);
    let filler = disk.fill();
    let refused = |result: &CellResult| match result {
        CellResult::Failed(failed) => assert!(failed.error.contains("disk"), "{}", failed.error),
        other => panic!("{}", other.model_text().unwrap()),
    };
    // What is larger than the free rest of a page of the log cannot be started.
    let text = "x".repeat(100_000);
    let started = world
        .exec(&format!(
            "await tools.effect({{token: 'full'}}); return '{text}'.length"
        ))
        .await;
    refused(&started);
    assert_eq!(
        server.count("full"),
        0,
        "nothing was done that is not written down"
    );
    world.cells.shutdown().await;
    drop(world);
    // A later process finds the cell as it was, once there is room again.
    std::fs::remove_file(filler).unwrap();
    let world = World::of(setup());
    let result = world.wait(&id, None).await;
    assert_eq!(
        value(&world.wait_out(result).await),
        serde_json::json!("ok")
    );
    assert_eq!((server.count("before"), server.count("after")), (1, 1));
}

#[test]
fn a_store_is_not_made_on_a_full_disk() {
    let Some(disk) = small_disk() else { return };
    disk.fill();
    let random = Arc::new(codecell_codemode::OsRandomness::new().unwrap());
    let refused = codecell_store::SqliteStore::open(&places(disk.0.path()), random);
    let refused = refused.err().map(|error| error.to_string());
    assert!(refused.is_some(), "it was made");
}

#[test]
fn a_torn_end_of_the_log_is_left_out() {
    let server = EffectServer::start();
    for (number, nth) in (3..=12).enumerate() {
        let (_keep, path) = folder();
        let address = server.address();
        let run = format!("torn-{nth}");
        let program = CODE.replace("RUN", &run);
        let job = Job {
            folder: &path,
            server: &address,
            trap: Trap::Write { nth, after: true },
            program: Some(&program),
            parks: false,
            person: None,
        };
        job.run();
        tear(&path.join("cells.db-wal"), number);
        let rest = Job {
            program: None,
            trap: Trap::None,
            ..job
        };
        assert!(!rest.run().died, "torn at write {nth}");
        let tokens = server.tokens(&run);
        assert!(
            tokens.iter().all(|token| server.count(token) == 1),
            "{nth}: {tokens:?}"
        );
        let store: Arc<dyn SnapshotStore> = open(&path);
        let told: u32 = survey(&store)
            .unwrap()
            .iter()
            .map(|cell| {
                assert_eq!(cell.damage, None, "{nth}");
                cell.effects
                    .as_ref()
                    .map_or(0, |effects| effects.committed + effects.unknown)
            })
            .sum();
        assert!(
            tokens.len() as u32 <= told,
            "{nth}: {tokens:?}, {told} told"
        );
    }
}

/// Adds what a write leaves that was under way: a frame that is not whole, or does not add up.
fn tear(log: &std::path::Path, number: usize) {
    let Ok(bytes) = std::fs::read(log) else {
        return;
    };
    if bytes.len() < 32 + 24 + 4096 {
        return;
    }
    let mut torn = bytes[32..32 + 24 + 4096].to_vec();
    torn[100] ^= 1;
    torn.truncate(match number % 3 {
        0 => 24 + 4096,
        1 => 24 + 1000,
        _ => 7,
    });
    let mut file = std::fs::OpenOptions::new().append(true).open(log).unwrap();
    file.write_all(&torn).unwrap();
}

#[tokio::test(flavor = "multi_thread")]
async fn a_garbled_cell_does_not_come_back_and_says_so() {
    let server = EffectServer::start();
    let (_keep, path) = folder();
    let world = World::of(Setup::new(&server.address(), Some(open(&path))));
    let id = id_of(&world.exec("await yield_control(); return 1").await);
    let healthy = id_of(&world.exec("await yield_control(); return 2").await);
    world.cells.shutdown().await;
    drop(world);
    let connection = rusqlite::Connection::open(path.join("cells.db")).unwrap();
    let cell: codecell_protocol::CellId = id.parse().unwrap();
    let change = "UPDATE records SET sealed = CAST(substr(sealed, 1, 60) || x'0011' || substr(sealed, 63) AS BLOB) WHERE cell = ?1";
    connection
        .execute(change, [cell.uuid().as_bytes()])
        .unwrap();
    drop(connection);
    let world = World::of(Setup::new(&server.address(), Some(open(&path))));
    let result = world.wait(&id, None).await;
    let kind = result.failure_kind().unwrap();
    assert_eq!(kind, codecell_protocol::FailureKind::SnapshotRestoreFailed);
    assert_eq!(
        value(&world.wait(&healthy, None).await),
        serde_json::json!(2)
    );
}
