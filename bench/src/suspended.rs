//! What suspended cells weigh: resident memory before and after, and what each is kept as.

use std::time::Duration;

use codecell_codemode::CodeModeOptions;

use crate::measure::{Report, resident_bytes};
use crate::world::{World, completed, waiting};

/// A trivial cell is stored in less than this.
const STORED_AT_MOST_BYTES: u64 = 4 << 10;

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
    for cell in cells {
        completed(&world.wait(cell).await)?;
    }
    let mut report = Report::new(format!("{count} suspended cells"));
    report.add_figure("resident memory before", "bytes", before);
    report.add_figure("resident memory after", "bytes", after);
    report.add_figure("growth", "bytes", after.saturating_sub(before));
    report.add_figure("held for each cell", "bytes", held / count.max(1) as u64);
    Ok(report)
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
