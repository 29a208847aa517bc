//! Data on its way: rows into a program and out of it, a program with a megabyte suspended and
//! resumed, and the interpreter itself.

use codecell_codemode::CodeModeOptions;
use codecell_protocol::CellResult;

use crate::measure::{Report, Samples, start};
use crate::world::{World, completed, waiting};

/// The same megabyte, given by a tool and parsed.
const FROM_TOOL: &str = "const back = await tools.rows(); return back.rows.length";

/// A megabyte of rows through a tool: sent as arguments, read by the tool, parsed from its result.
const ROWS: &str = "const rows = Array.from({ length: 9000 }, (_, i) => ({ id: i, name: 'customer ' + i, \
    email: 'c' + i + '@example.com', total: i * 1.5, open: i % 3 === 0, tags: ['a', 'b'] })); \
    const back = await tools.echo({ rows }); return back.rows.length";

const NUMBERS: &str = "const data = new Float64Array(131072).map((_, i) => i * 1.1); await yield_control(); return data[131071]";
const TEXTS: &str = "const data = Array.from({ length: 16384 }, (_, i) => 'a text of some sixty bytes, number ' + i + ' of many of them'); \
    await yield_control(); return data.length";

/// The interpreter itself; `bench/peers` runs the same files natively.
const INTERPRETER: [(&str, &str); 2] = [
    ("fib(27)", include_str!("fib.js")),
    ("sort of 100,000 numbers", include_str!("sort.js")),
];

/// Measures the rows whose name holds `only` with `runs` repetitions each.
pub(crate) async fn run(runs: usize, only: &str) -> anyhow::Result<Report> {
    let world = World::start(CodeModeOptions {
        max_output_bytes: 10 << 20,
        max_snapshot_bytes: 64 << 20,
        ..CodeModeOptions::default()
    })?;
    let mut report = Report::new(format!("data, {runs} runs each"));
    let rows = [
        ("1 MB of rows from a tool", FROM_TOOL),
        ("1 MB of rows to a tool and back", ROWS),
    ];
    let rows = rows.into_iter().chain(INTERPRETER);
    for (name, code) in rows.filter(|row| row.0.contains(only)) {
        cell(&world, name, code, runs, &mut report).await?;
    }
    let suspended = [("1 MiB of numbers", NUMBERS), ("1 MiB of texts", TEXTS)];
    for (name, code) in suspended.into_iter().filter(|row| row.0.contains(only)) {
        suspension(&world, name, code, runs, &mut report).await?;
    }
    Ok(report)
}

/// Measures the interpreter alone, with `runs` repetitions each.
pub(crate) async fn interpreter(runs: usize) -> anyhow::Result<Report> {
    let world = World::start(CodeModeOptions::default())?;
    let mut report = Report::new(format!("the interpreter, {runs} runs each"));
    for (name, code) in INTERPRETER {
        cell(&world, name, code, runs, &mut report).await?;
    }
    Ok(report)
}

async fn cell(
    world: &World,
    name: &str,
    code: &str,
    runs: usize,
    report: &mut Report,
) -> anyhow::Result<()> {
    let mut samples = Samples::default();
    for round in 0..=runs + runs / 10 {
        let begun = start();
        let outcome = world.exec(code).await;
        if round > runs / 10 {
            samples.end(&begun);
        }
        completed(&outcome)?;
    }
    report.add_samples(name, samples);
    Ok(())
}

async fn suspension(
    world: &World,
    name: &str,
    code: &str,
    runs: usize,
    report: &mut Report,
) -> anyhow::Result<()> {
    let (mut suspend, mut resume) = (Samples::default(), Samples::default());
    let mut held = 0;
    for _ in 0..runs {
        let outcome = world.exec(code).await;
        if let CellResult::Waiting(waiting) = &outcome.result {
            let telemetry = &waiting.telemetry;
            held = telemetry.snapshot_bytes.unwrap_or(0);
            suspend.add_wall_ms(telemetry.timings.as_ref().and_then(|t| t.suspend_ms));
        }
        let run_id = waiting(&outcome)?;
        let begun = start();
        let outcome = world.wait(run_id).await;
        resume.end(&begun);
        completed(&outcome)?;
    }
    report.add_samples(&format!("suspend with {name}"), suspend);
    report.add_samples(&format!("resume with {name}"), resume);
    report.add_figure(&format!("snapshot with {name}"), "raw bytes", held);
    Ok(())
}
