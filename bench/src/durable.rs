//! What a cell costs that outlives its process: the same cells as elsewhere, over a store on a disk.
//!
//! A figure is mostly the disk's: how long it takes to confirm a write. The title names the folder,
//! and the row of one confirmed write of the same folder is there to compare with.

use std::fs::File;
use std::io::Write as _;
use std::path::Path;
use std::sync::Arc;

use anyhow::Context as _;
use codecell_catalog::{Entry, ToolId};
use codecell_codemode::{CodeModeOptions, OsRandomness, SnapshotStore};
use codecell_store::{SqliteStore, StorePlaces};
use serde_json::json;

use crate::measure::{Report, Samples, start};
use crate::world::{World, completed, waiting};

const WRITING: &str =
    "let n = 0; for (let i = 0; i < 10; i++) n += (await tools.put({ i })).i; return n";

/// Measures cells over a store in a new folder within `dir`.
pub(crate) async fn run(runs: usize, dir: &Path) -> anyhow::Result<Report> {
    let folder = tempfile::tempdir_in(dir).with_context(|| dir.display().to_string())?;
    let places = StorePlaces {
        database: folder.path().join("cells.db"),
        key: folder.path().join("store.key"),
    };
    let randomness = Arc::new(OsRandomness::new().map_err(anyhow::Error::msg)?);
    let store: Arc<dyn SnapshotStore> = Arc::new(SqliteStore::open(&places, randomness)?);
    let put = Entry::new(
        ToolId::parse("openclaw:core:put")?,
        "Changes something.",
        json!({ "type": "object" }),
    );
    let world = World::with_store(CodeModeOptions::default(), vec![put], Some(store))?;
    let mut report = Report::new(format!(
        "a cell that outlives its process, {runs} runs each, store on {}",
        file_system(folder.path())?
    ));
    confirmed_write(folder.path(), runs, &mut report)?;
    for (name, code) in [
        ("exec of return 1 + 1, durable", "return 1 + 1"),
        ("10 nested writing calls, durable", WRITING),
    ] {
        let mut samples = Samples::default();
        for _ in 0..runs {
            let begun = start();
            let outcome = world.exec(code).await;
            samples.end(&begun);
            completed(&outcome)?;
        }
        report.add_samples(name, samples);
    }
    suspension(&world, runs, &mut report).await?;
    world.code_mode.shutdown().await;
    Ok(report)
}

async fn suspension(world: &World, runs: usize, report: &mut Report) -> anyhow::Result<()> {
    let (mut suspend, mut resume) = (Samples::default(), Samples::default());
    for _ in 0..runs {
        let begun = start();
        let outcome = world.exec("await yield_control(); return 1").await;
        suspend.end(&begun);
        let run_id = waiting(&outcome)?;
        let begun = start();
        let outcome = world.wait(run_id).await;
        resume.end(&begun);
        completed(&outcome)?;
    }
    report.add_samples("exec to waiting, committed", suspend);
    report.add_samples("wait to completed from memory", resume);
    Ok(())
}

/// What the disk alone takes: one page appended to a file and confirmed.
fn confirmed_write(folder: &Path, runs: usize, report: &mut Report) -> anyhow::Result<()> {
    let mut file = File::create(folder.join("probe"))?;
    let mut samples = Samples::default();
    for _ in 0..runs {
        let begun = start();
        file.write_all(&[1; 4096])?;
        file.sync_data()?;
        samples.end(&begun);
    }
    report.add_samples("one page written and confirmed", samples);
    Ok(())
}

/// The file system that holds the folder, as the system's list of mounts names it.
fn file_system(folder: &Path) -> anyhow::Result<String> {
    let folder = folder.canonicalize()?;
    let mounts = std::fs::read_to_string("/proc/self/mounts")?;
    let holding = mounts.lines().filter_map(|line| {
        let mut fields = line.split(' ').skip(1);
        let (point, kind) = (fields.next()?, fields.next()?);
        folder.starts_with(point).then_some((point.len(), kind))
    });
    // Of two mounts on the same point the later one is seen.
    let nearest = holding.max_by_key(|(length, _)| *length);
    Ok(nearest
        .map_or("an unknown file system", |(_, kind)| kind)
        .to_owned())
}
