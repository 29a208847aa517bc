//! Runs one hot path a number of times and prints nothing: `codecell-counts PATH TIMES`.
//!
//! `cargo xtask counts` runs this under callgrind, once and many times, and takes the difference: what is
//! prepared beforehand and the process itself fall out. Inputs are fixed, so that the counts are too. Paths
//! that need the WebAssembly runtime are not here: building that optimised would take longer than all tests.

#![forbid(unsafe_code)]

#[path = "../made_up.rs"]
mod made_up;

use std::hint::black_box;
use std::io::Write as _;

use anyhow::{Context as _, bail};
use codecell_catalog::{Catalog, Scope, SearchRequest, input_signature};
use codecell_protocol::{CellResult, ExecInput};
use codecell_script::PrepareOptions;
use serde_json::Value;

/// How many tools a catalog has here.
const TOOLS: usize = 1000;

/// Runs a path so many times.
type Run = fn(usize) -> anyhow::Result<()>;

/// What is measured, by name.
const PATHS: &[(&str, Run)] = &[
    ("prepare return 1 + 1", |times| {
        prepare("return 1 + 1", times)
    }),
    ("prepare 50 lines of JavaScript", |times| {
        prepare(include_str!("../fifty_lines.js"), times)
    }),
    ("prepare 50 lines of TypeScript", |times| {
        prepare(include_str!("../fifty_lines.ts"), times)
    }),
    ("build a catalog of 1,000 tools", build),
    ("build and index a catalog of 1,000 tools", index),
    ("one search among 1,000 tools", search),
    ("signatures of 1,000 tools", signatures),
    ("arguments of exec", arguments),
    ("text of a completed result", |times| {
        result(COMPLETED, times)
    }),
    ("text of a failed result", |times| result(FAILED, times)),
];

const COMPLETED: &str = r#"{"status":"completed","value":{"rows":[{"id":1,"name":"first"},{"id":2,"name":"second"}],"total":2},
    "output":[{"type":"text","text":"two rows were found"},{"type":"json","value":[1,2,3]}],
    "telemetry":{"catalogSize":29,"sources":{"openclaw":8,"mcp":20,"client":1},"searchCount":1,"describeCount":1,"callCount":2,
    "visibleTools":["exec","wait"],"calledTools":[{"id":"openclaw:core:read","count":2}],"peakMemoryBytes":300000,
    "guestMs":0.5,"hostMs":0.1}}"#;

const FAILED: &str = r#"{"status":"failed","error":"TypeError: cannot read property 'a' of undefined (line 1, column 8)",
    "code":"internal_error","failure":{"kind":"guest_error","phase":"guest","line":1,"column":8},
    "telemetry":{"catalogSize":29,"sources":{"openclaw":8,"mcp":20,"client":1},"searchCount":0,"describeCount":0,"callCount":0,
    "visibleTools":["exec","wait"],"calledTools":[],"peakMemoryBytes":300000,"guestMs":0.5,"hostMs":0.1}}"#;

fn main() -> anyhow::Result<()> {
    let words: Vec<String> = std::env::args().skip(1).collect();
    match words.as_slice() {
        [list] if list == "--list" => {
            for (name, _) in PATHS {
                writeln!(std::io::stdout(), "{name}")?;
            }
            Ok(())
        }
        [path, times] => {
            let (_, run) = PATHS
                .iter()
                .find(|(name, _)| name == path)
                .with_context(|| format!("no path is called {path}; see --list"))?;
            run(times.parse().context("how often is no number")?)
        }
        _ => bail!("usage: codecell-counts --list | PATH TIMES"),
    }
}

fn prepare(text: &str, times: usize) -> anyhow::Result<()> {
    // As on a guest's thread, where nothing needs a thread of its own.
    let options = PrepareOptions {
        free_stack_bytes: 8 << 20,
        ..PrepareOptions::default()
    };
    for _ in 0..times {
        black_box(codecell_script::prepare(black_box(text), &options)?);
    }
    Ok(())
}

fn build(times: usize) -> anyhow::Result<()> {
    let entries = made_up::entries(TOOLS)?;
    for _ in 0..times {
        black_box(Catalog::build(black_box(entries.clone()))?);
    }
    Ok(())
}

fn index(times: usize) -> anyhow::Result<()> {
    let entries = made_up::entries(TOOLS)?;
    for _ in 0..times {
        let catalog = Catalog::build(entries.clone())?;
        black_box(catalog.search(&request()));
    }
    Ok(())
}

fn search(times: usize) -> anyhow::Result<()> {
    let catalog = Catalog::build(made_up::entries(TOOLS)?)?;
    catalog.search(&request());
    for _ in 0..times {
        black_box(catalog.search(black_box(&request())));
    }
    Ok(())
}

fn request() -> SearchRequest {
    SearchRequest {
        queries: vec!["weather forecast for a city on a given date".to_owned()],
        limit: 8,
        scope: Scope::All,
    }
}

fn signatures(times: usize) -> anyhow::Result<()> {
    let entries = made_up::entries(TOOLS)?;
    for _ in 0..times {
        for entry in &entries {
            black_box(input_signature(black_box(&entry.parameters)));
        }
    }
    Ok(())
}

fn arguments(times: usize) -> anyhow::Result<()> {
    let given: Value = serde_json::from_str(r#"{"code":"return 1 + 1","language":"typescript"}"#)?;
    for _ in 0..times {
        black_box(ExecInput::from_arguments(black_box(&given))?);
    }
    Ok(())
}

fn result(json: &str, times: usize) -> anyhow::Result<()> {
    let result = CellResult::from_json(json)?;
    for _ in 0..times {
        black_box(black_box(&result).model_text()?);
    }
    Ok(())
}
