//! What suspended cells weigh: resident memory before and after, what each is kept as, and whether to
//! find one or to look for expired ones takes longer among many.

use std::time::Duration;

use codecell_codemode::CodeModeOptions;

use crate::measure::{Report, Samples, resident_bytes, start};
use crate::world::{World, completed, waiting};

/// A trivial cell is stored in less than this.
const STORED_AT_MOST_BYTES: u64 = 4 << 10;

/// Cells of which the resume is timed, at the most.
const SAMPLED: usize = 200;

/// Suspends `count` cells, measures, and resumes every one of them.
pub(crate) async fn run(count: usize) -> anyhow::Result<Report> {
    let options = CodeModeOptions {
        max_suspended_runs: count as u64 + 32,
        ..CodeModeOptions::default()
    };
    let world = World::start(options)?;
    warm_up(&world).await?;
    let before = resident_bytes()?;
    let mut cells = Vec::with_capacity(count);
    for index in 0..count {
        cells.push(waiting(
            &world
                .exec(&format!("await yield_control(); return {index}"))
                .await,
        )?);
    }
    all_stored(&world, count).await?;
    let after = resident_bytes()?;
    let held = world.code_mode.suspended_bytes();
    let mut looking = Samples::default();
    for _ in 0..SAMPLED {
        let begun = start();
        world.code_mode.sweep();
        looking.end(&begun);
    }
    let last = cells.split_off(count.saturating_sub(SAMPLED));
    let (among_many, alone) = cells.split_at(SAMPLED.min(cells.len()));
    let among_many = resumed(&world, among_many).await?;
    for cell in alone {
        completed(&world.wait(cell.clone()).await)?;
    }
    let among_few = resumed(&world, &last).await?;
    let mut report = Report::new(format!("{count} suspended cells"));
    report.add_samples("a look for expired cells", looking);
    report.add_samples("wait to completed, among all of them", among_many);
    report.add_samples("wait to completed, among the last", among_few);
    report.add_figure("resident memory before", "bytes", before);
    report.add_figure("resident memory after", "bytes", after);
    report.add_figure("growth", "bytes", after.saturating_sub(before));
    report.add_figure("held for each cell", "bytes", held / count.max(1) as u64);
    Ok(report)
}

async fn resumed(world: &World, cells: &[String]) -> anyhow::Result<Samples> {
    let mut samples = Samples::default();
    for cell in cells {
        let begun = start();
        let outcome = world.wait(cell.clone()).await;
        samples.end(&begun);
        completed(&outcome)?;
    }
    Ok(samples)
}

/// The first suspensions pay for threads, slots and the dictionary; they are not a cell's weight.
async fn warm_up(world: &World) -> anyhow::Result<()> {
    let mut cells = Vec::new();
    for _ in 0..32 {
        cells.push(waiting(
            &world.exec("await yield_control(); return 0").await,
        )?);
    }
    all_stored(world, cells.len()).await?;
    for cell in cells {
        completed(&world.wait(cell).await)?;
    }
    Ok(())
}

/// Waits until the snapshots are compressed, which happens a moment after their suspension.
async fn all_stored(world: &World, count: usize) -> anyhow::Result<()> {
    for _ in 0..1000 {
        if world.code_mode.suspended_bytes() < STORED_AT_MOST_BYTES * count as u64 {
            return Ok(());
        }
        tokio::time::sleep(Duration::from_millis(5)).await;
    }
    anyhow::bail!("the snapshots were not compressed within 5 s")
}
