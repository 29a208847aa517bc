//! What a cell costs: trivial, with nested calls, suspended and resumed.

use codecell_codemode::CodeModeOptions;

use crate::measure::{Report, Samples, start};
use crate::world::{World, completed, waiting};

const PROGRAMS: &[(&str, &str)] = &[
    ("return 1 + 1", "return 1 + 1"),
    ("50 lines of TypeScript", TYPESCRIPT),
    ("the same 50 lines as JavaScript", JAVASCRIPT),
    ("1 nested call", "return tools.echo({ i: 1 })"),
    (
        "10 nested calls in turn",
        "let n = 0; for (let i = 0; i < 10; i++) n += (await tools.echo({ i })).i; return n",
    ),
    (
        "100 nested calls in turn",
        "let n = 0; for (let i = 0; i < 100; i++) n += (await tools.echo({ i })).i; return n",
    ),
    (
        "16 calls in parallel",
        "return (await Promise.all(Array.from({ length: 16 }, (_, i) => tools.echo({ i })))).length",
    ),
    (
        "64 calls in parallel",
        "return (await Promise.all(Array.from({ length: 64 }, (_, i) => tools.echo({ i })))).length",
    ),
];

const SUSPENSION: &str = "exec to waiting (yield)";

const TYPESCRIPT: &str = include_str!("fifty_lines.ts");

const JAVASCRIPT: &str = include_str!("fifty_lines.js");

/// Measures every program whose name holds `only`, and the two halves of a suspension.
pub(crate) async fn run(runs: usize, only: &str) -> anyhow::Result<Report> {
    let world = World::start(CodeModeOptions::default())?;
    let mut report = Report::new(format!(
        "a cell through the whole tool path, {runs} runs each"
    ));
    for (name, code) in PROGRAMS.iter().filter(|row| row.0.contains(only)) {
        let mut samples = Samples::default();
        for round in 0..runs + runs / 10 {
            let begun = start();
            let outcome = world.exec(code).await;
            if round >= runs / 10 {
                samples.end(&begun);
            }
            completed(&outcome)?;
        }
        report.add_samples(name, samples);
    }
    if SUSPENSION.contains(only) {
        suspension(&world, runs, &mut report).await?;
    }
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
    report.add_samples(SUSPENSION, suspend);
    report.add_samples("wait to completed", resume);
    Ok(())
}
