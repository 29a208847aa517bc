//! What ten thousand tools cost: to register, to search, to change one of, to start a cell beside, to list.
//!
//! The tools are [made up](crate::made_up).

use codecell_catalog::Catalog;
use codecell_codemode::CodeModeOptions;

use crate::made_up::entries;
use crate::measure::{Report, Samples, start};
use crate::search::request;
use crate::world::{World, completed, waiting};

const QUERY: &str = "weather forecast for a city on a given date";

/// Measures with `count` tools beside a world with two.
pub(crate) async fn run(count: usize, runs: usize) -> anyhow::Result<Report> {
    let mut report = Report::new(format!("{count} tools, {runs} runs each"));
    registration(count, runs, &mut report)?;
    cells(count, runs, &mut report).await?;
    Ok(report)
}

fn registration(count: usize, runs: usize, report: &mut Report) -> anyhow::Result<()> {
    let [mut build, mut first, mut changed, mut search] = [(); 4].map(|()| Samples::default());
    for _ in 0..runs.clamp(3, 30) {
        let tools = entries(count)?;
        let begun = start();
        let catalog = Catalog::build(tools)?;
        build.end(&begun);
        let begun = start();
        catalog.search(&request("warm"));
        first.end(&begun);
        let mut tools = catalog.entries().to_vec();
        if let Some(tool) = tools.get_mut(count / 2) {
            tool.description.push_str(" Changed since.");
        }
        let next = catalog.succeeded_by(tools, Vec::new())?;
        let begun = start();
        next.search(&request("warm"));
        changed.end(&begun);
        for _ in 0..20 {
            let begun = start();
            catalog.search(&request(QUERY));
            search.end(&begun);
        }
    }
    report.add_samples("register", build);
    report.add_samples("first search, which makes the index", first);
    report.add_samples("first search after one tool changed", changed);
    report.add_samples("one search", search);
    Ok(())
}

async fn cells(count: usize, runs: usize, report: &mut Report) -> anyhow::Result<()> {
    let few = World::with_tools(CodeModeOptions::default(), entries(1)?)?;
    let many = World::with_tools(CodeModeOptions::default(), entries(count)?)?;
    let (mut beside_few, mut beside_many) = (Samples::default(), Samples::default());
    for round in 0..runs + runs / 10 {
        for (world, samples) in [(&few, &mut beside_few), (&many, &mut beside_many)] {
            let begun = start();
            let outcome = world.exec("return 1 + 1").await;
            if round >= runs / 10 {
                samples.end(&begun);
            }
            completed(&outcome)?;
        }
    }
    report.add_samples("return 1 + 1 beside 2 tools", beside_few);
    report.add_samples("return 1 + 1 beside all", beside_many);
    for (name, code) in [
        (
            "a cell that reads all of ALL_TOOLS",
            "let n = 0; for (const tool of ALL_TOOLS) n += tool.name.length; return n",
        ),
        (
            "a cell with one search",
            "return (await tools.search('weather forecast for a city')).length",
        ),
    ] {
        let mut samples = Samples::default();
        for _ in 0..runs.clamp(3, 100) {
            let begun = start();
            let outcome = many.exec(code).await;
            samples.end(&begun);
            completed(&outcome)?;
        }
        report.add_samples(name, samples);
    }
    for (name, world) in [("beside 2 tools", &few), ("beside all", &many)] {
        let run_id = waiting(&world.exec("await yield_control(); return 1").await)?;
        let held = world.settled_suspended_bytes().await?;
        report.add_figure(&format!("held for a suspended cell {name}"), "bytes", held);
        completed(&world.wait(run_id).await)?;
    }
    Ok(())
}
