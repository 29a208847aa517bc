//! Many cells at once: how long sixteen take, how many a second, and what spinning cells cost others.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use codecell_codemode::CodeModeOptions;

use crate::measure::{Report, Samples, start};
use crate::world::{World, completed, failed};

const TRIVIAL: &str = "return 1 + 1";
const AT_ONCE: usize = 16;
const DEADLINE: Duration = Duration::from_millis(100);

/// Ways to use the processor without ever asking the engine's permission, and with it.
const SPINNERS: [(&str, &str); 6] = [
    ("a loop", "for (;;);"),
    (
        "a regular expression",
        "return /^(a+)+$/.test('a'.repeat(40) + 'b')",
    ),
    (
        "JSON.parse",
        "const t = '[' + '1,'.repeat(4e6) + '1]'; for (;;) JSON.parse(t)",
    ),
    ("BigInt", "return String((3n ** 2000000n) ** 20n)"),
    (
        "sort",
        "for (;;) Array.from({ length: 3e5 }, Math.random).sort(() => Math.random() - 0.5)",
    ),
    ("join", "return new Array(1e9).join('ab')"),
];

/// Measures with `runs` repetitions of what is quick.
pub(crate) async fn run(runs: usize) -> anyhow::Result<Report> {
    let world = Arc::new(World::start(CodeModeOptions::default())?);
    let mut report = Report::new(format!("many cells at once, {runs} runs each"));
    at_once(&world, runs, &mut report).await?;
    throughput(&world, runs * 10, &mut report).await?;
    deadlines(&mut report).await?;
    neighbour(&world, runs, &mut report).await?;
    Ok(report)
}

async fn at_once(world: &Arc<World>, runs: usize, report: &mut Report) -> anyhow::Result<()> {
    let mut samples = Samples::default();
    for _ in 0..runs {
        let begun = start();
        together(world, AT_ONCE).await?;
        samples.end(&begun);
    }
    report.add_samples("16 cells at once", samples);
    Ok(())
}

async fn together(world: &Arc<World>, count: usize) -> anyhow::Result<()> {
    let cells: Vec<_> = (0..count)
        .map(|_| {
            let world = Arc::clone(world);
            tokio::spawn(async move { completed(&world.exec(TRIVIAL).await) })
        })
        .collect();
    for cell in cells {
        cell.await??;
    }
    Ok(())
}

/// Cells a second with as many callers as processors, and by each second of processor time.
async fn throughput(world: &Arc<World>, cells: usize, report: &mut Report) -> anyhow::Result<()> {
    let callers = std::thread::available_parallelism().map_or(1, std::num::NonZero::get);
    let each = cells.div_ceil(callers);
    let begun = Instant::now();
    let cpu = start();
    let running: Vec<_> = (0..callers)
        .map(|_| {
            let world = Arc::clone(world);
            tokio::spawn(async move {
                for _ in 0..each {
                    completed(&world.exec(TRIVIAL).await)?;
                }
                anyhow::Ok(())
            })
        })
        .collect();
    for caller in running {
        caller.await??;
    }
    let total = (each * callers) as f64;
    let by_clock = total / begun.elapsed().as_secs_f64();
    let by_cpu = total / cpu.cpu_elapsed().as_secs_f64();
    report.add_figure("cells", "per second", by_clock.round());
    report.add_figure("cells", "per second of processor time", by_cpu.round());
    Ok(())
}

/// How late a cell with a deadline of 100 ms ends that never gives up the processor by itself.
async fn deadlines(report: &mut Report) -> anyhow::Result<()> {
    let world = World::start(short())?;
    for (name, code) in SPINNERS {
        let mut samples = Samples::default();
        for _ in 0..10 {
            let begun = start();
            let outcome = world.exec(code).await;
            samples.end(&begun);
            failed(&outcome)?;
        }
        report.add_samples(&format!("deadline 100 ms, spinning in {name}"), samples);
    }
    Ok(())
}

fn short() -> CodeModeOptions {
    CodeModeOptions {
        timeout_ms: DEADLINE.as_millis() as u64,
        ..CodeModeOptions::default()
    }
}

/// A small cell of another session beside sixteen that spin.
async fn neighbour(world: &Arc<World>, runs: usize, report: &mut Report) -> anyhow::Result<()> {
    let over = Arc::new(AtomicBool::new(false));
    let spinning: Vec<_> = (0..AT_ONCE)
        .map(|_| {
            let (world, over) = (Arc::clone(world), Arc::clone(&over));
            tokio::spawn(async move {
                let spinners = world.beside(
                    "spinners",
                    CodeModeOptions {
                        timeout_ms: 1000,
                        ..CodeModeOptions::default()
                    },
                );
                while !over.load(Ordering::Relaxed) {
                    world.exec_as(&spinners, "for (;;);").await;
                }
            })
        })
        .collect();
    tokio::time::sleep(Duration::from_millis(300)).await;
    let mut samples = Samples::default();
    for _ in 0..runs {
        let begun = start();
        let outcome = world.exec(TRIVIAL).await;
        samples.end(&begun);
        completed(&outcome)?;
    }
    over.store(true, Ordering::Relaxed);
    for spinner in spinning {
        spinner.await?;
    }
    report.add_samples("return 1 + 1 beside 16 spinning cells", samples);
    Ok(())
}
