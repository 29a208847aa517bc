//! Runs one class of hostile programs in a process of its own: `codecell-hostile CLASS [PART OF AN ID]`.
//!
//! `CLASS` is a letter of the suite, or `escapes` for the collection among the data. What came of it is
//! printed as one JSON value, or with `--text` as lines. It judges each case, not what is expected to
//! fail: that is the test's.

#![forbid(unsafe_code)]

use std::io::Write as _;
use std::process::ExitCode;

use codecell_testkit::data::data_or_skip;
use codecell_testkit::hostile::escapes;
use codecell_testkit::hostile::report::Report;
use codecell_testkit::hostile::run::Scene;

fn main() -> ExitCode {
    let mut words: Vec<String> = std::env::args().skip(1).collect();
    let as_text = words.iter().any(|word| word == "--text");
    words.retain(|word| word != "--text");
    let (Some(class), only) = (words.first(), words.get(1)) else {
        return fail("name a class: A to L, P, or escapes");
    };
    match run(class, only.map_or("", String::as_str)) {
        Ok(report) => print(&report, as_text),
        Err(reason) => fail(&reason),
    }
}

fn fail(reason: &str) -> ExitCode {
    // There is nobody left to tell if this fails.
    let _ = writeln!(std::io::stderr(), "{reason}");
    ExitCode::FAILURE
}

fn run(class: &str, only: &str) -> Result<Report, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    runtime.block_on(async {
        let scene = Scene::new(codecell_testkit::engine::sandbox())?;
        let report = match class {
            "escapes" => all_escapes(&scene, only).await?,
            class => {
                scene
                    .class(class.chars().next().unwrap_or(' '), only)
                    .await?
            }
        };
        scene.house.code_mode.shutdown().await;
        Ok(report)
    })
}

async fn all_escapes(scene: &Scene, only: &str) -> Result<Report, String> {
    let file = data_or_skip("escapes", "escapes/programs.jsonl").ok_or("there is no data")?;
    let all = escapes::load(&file)?;
    scene
        .report("escapes".to_owned(), async |verdicts| {
            for (index, escape) in all.iter().enumerate() {
                if escape.id(index).contains(only) {
                    verdicts.push(escapes::verdict(scene, index, escape).await);
                }
            }
        })
        .await
}

fn print(report: &Report, as_text: bool) -> ExitCode {
    let mut text = String::new();
    if as_text {
        for verdict in &report.verdicts {
            text += &format!(
                "{} {} {:.0} ms {}\n",
                verdict.id,
                verdict.end,
                verdict.wall_ms,
                verdict.faults.join("; ")
            );
        }
        let counts = report.against(&std::collections::BTreeMap::new());
        text += &format!("{}\n", report.faults.join("\n"));
        text += &counts.line;
    } else {
        match serde_json::to_string(report) {
            Ok(json) => text = json,
            Err(error) => return fail(&error.to_string()),
        }
    }
    match writeln!(std::io::stdout(), "{text}") {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => fail(&error.to_string()),
    }
}
