//! Measures search on public tool sets: recall at 1, 5 and 8 for each, and the time of a query.
//!
//! `cargo run --release -p codecell-catalog --example recall [DATA_DIR]`, where the folder holds
//! `retrieval/<set>/corpus.jsonl` and `queries.jsonl`. Without the argument `CODECELL_DATA` names
//! it, else `../shared/data` beside the workspace. Sets that are not there are skipped and named.

#![expect(clippy::print_stdout, reason = "a program for people, not a library")]

use std::collections::HashMap;
use std::error::Error;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Instant;

use codecell_catalog::{Catalog, Entry, Scope, SearchRequest, Source, ToolId};
use serde_json::Value;

const SETS: [&str; 5] = [
    "bfcl",
    "sealtools",
    "metatool_multi",
    "stabletoolbench",
    "livemcp_step",
];
const DEPTHS: [usize; 3] = [1, 5, 8];

fn main() -> Result<(), Box<dyn Error>> {
    let data = data_dir();
    println!("set               tools queries    R@1    R@5    R@8  build ms  us/query");
    let mut mean = [0.0; 3];
    let mut measured = 0;
    for set in SETS {
        let folder = data.join("retrieval").join(set);
        if !folder.join("corpus.jsonl").is_file() {
            println!("{set:<16} skipped: no data");
            continue;
        }
        let recalls = measure(set, &folder)?;
        measured += 1;
        mean.iter_mut()
            .zip(recalls)
            .for_each(|(sum, recall)| *sum += recall);
    }
    if measured > 0 {
        let [r1, r5, r8] = mean.map(|sum| sum / f64::from(measured));
        println!(
            "{:<16} {:>6} {:>7} {r1:>6.3} {r5:>6.3} {r8:>6.3}",
            "mean", "", ""
        );
    }
    ten_thousand(&data)
}

/// The best times of several runs over ten thousand tools, made of all sets.
fn ten_thousand(data: &Path) -> Result<(), Box<dyn Error>> {
    let mut tools = Vec::new();
    for set in SETS {
        let corpus = data.join("retrieval").join(set).join("corpus.jsonl");
        tools.extend(if corpus.is_file() {
            lines(&corpus)?
        } else {
            Vec::new()
        });
    }
    if tools.is_empty() {
        return Ok(());
    }
    let tools: Vec<Value> = tools.iter().cycle().take(10_000).cloned().collect();
    let mut best = [f64::MAX; 3];
    for _ in 0..7 {
        let entries = entries_of(&tools)?.0;
        let started = Instant::now();
        let catalog = Catalog::build(entries)?;
        let built = started.elapsed();
        catalog.search(&request("warm"));
        let indexed = started.elapsed() - built;
        let started = Instant::now();
        catalog.search(&request("weather forecast for a city on a given date"));
        let times = [built, indexed, started.elapsed()].map(|time| time.as_secs_f64() * 1e3);
        best.iter_mut()
            .zip(times)
            .for_each(|(best, time)| *best = best.min(time));
    }
    let [build, index, search] = best;
    println!(
        "10,000 tools, best of 7: build {build:.1} ms, index {index:.1} ms, search {search:.2} ms"
    );
    Ok(())
}

fn data_dir() -> PathBuf {
    let given = std::env::args()
        .nth(1)
        .or_else(|| std::env::var("CODECELL_DATA").ok());
    let beside = concat!(env!("CARGO_MANIFEST_DIR"), "/../../../shared/data");
    PathBuf::from(given.unwrap_or_else(|| beside.to_owned()))
}

fn measure(set: &str, folder: &Path) -> Result<[f64; 3], Box<dyn Error>> {
    let tools = lines(&folder.join("corpus.jsonl"))?;
    let queries = lines(&folder.join("queries.jsonl"))?;
    let started = Instant::now();
    let (catalog, original) = catalog_of(&tools)?;
    catalog.search(&request("warm"));
    let build_ms = started.elapsed().as_secs_f64() * 1e3;
    let started = Instant::now();
    let mut sums = [0.0; 3];
    for query in &queries {
        let hits = catalog.search(&request(string(query, "query")));
        let found: Vec<&str> = hits
            .iter()
            .map(|hit| original[hit.entry.id.as_str()])
            .collect();
        let relevant = query["relevant"].as_array().map_or(&[][..], Vec::as_slice);
        for (sum, depth) in sums.iter_mut().zip(DEPTHS) {
            *sum += recall(relevant, &found[..found.len().min(depth)]);
        }
    }
    let count = queries.len() as f64;
    let query_us = started.elapsed().as_secs_f64() * 1e6 / count;
    let recalls = sums.map(|sum| sum / count);
    println!(
        "{set:<16} {:>6} {:>7} {:>6.3} {:>6.3} {:>6.3} {build_ms:>9.1} {query_us:>9.1}",
        tools.len(),
        queries.len(),
        recalls[0],
        recalls[1],
        recalls[2],
    );
    Ok(recalls)
}

fn request(query: &str) -> SearchRequest {
    SearchRequest {
        queries: vec![query.to_owned()],
        limit: 8,
        scope: Scope::All,
    }
}

fn recall(relevant: &[Value], found: &[&str]) -> f64 {
    let hits = relevant
        .iter()
        .filter(|id| id.as_str().is_some_and(|id| found.contains(&id)));
    hits.count() as f64 / relevant.len().max(1) as f64
}

/// The set's own id of each entry.
type Originals<'a> = HashMap<String, &'a str>;

/// The catalog, and the set's own id of each entry; sets name tools twice, so names get a number.
fn catalog_of(tools: &[Value]) -> Result<(Catalog, Originals<'_>), Box<dyn Error>> {
    let (entries, original) = entries_of(tools)?;
    Ok((Catalog::build(entries)?, original))
}

fn entries_of(tools: &[Value]) -> Result<(Vec<Entry>, Originals<'_>), Box<dyn Error>> {
    let mut entries = Vec::new();
    let mut original = HashMap::new();
    for tool in tools {
        let (owner, name) = (
            string(tool, "server").replace(':', " "),
            string(tool, "name"),
        );
        let mut id = ToolId::new(Source::Mcp, &owner, name)?;
        if original.contains_key(id.as_str()) {
            id = ToolId::new(Source::Mcp, &owner, &format!("{name} {}", original.len()))?;
        }
        original.insert(id.to_string(), string(tool, "id"));
        let mut entry = Entry::new(id, string(tool, "description"), tool["inputSchema"].clone());
        entry.trusted = true;
        entries.push(entry);
    }
    Ok((entries, original))
}

fn string<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn lines(path: &Path) -> Result<Vec<Value>, Box<dyn Error>> {
    let text = fs::read_to_string(path)?;
    let values: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
    Ok(values?)
}
