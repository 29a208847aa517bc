//! How good and how fast search is, on public tool sets: recall at 1, 5 and 8 beside the references
//! measured on the same files, time per query, time to index.

use std::collections::HashMap;
use std::path::Path;

use anyhow::Context as _;
use codecell_catalog::{Catalog, Entry, Scope, SearchRequest, Source, ToolId};
use serde_json::Value;

use crate::measure::{Report, start};

/// A public tool set and the recall at 8 of others on the same files.
struct Set {
    name: &'static str,
    /// The best of the references: ranked by words, alone or mixed with vectors.
    best: f64,
    /// OpenClaw 2026.9: BM25 with parameters.
    openclaw: f64,
    /// Plain BM25.
    plain: f64,
}

const SETS: [Set; 5] = [
    Set::new("bfcl", 0.921, 0.877, 0.733),
    Set::new("sealtools", 0.908, 0.908, 0.720),
    Set::new("metatool_multi", 0.805, 0.727, 0.315),
    Set::new("stabletoolbench", 0.756, 0.742, 0.532),
    Set::new("livemcp_step", 0.789, 0.758, 0.697),
];

const DEPTHS: [usize; 3] = [1, 5, 8];

impl Set {
    const fn new(name: &'static str, best: f64, openclaw: f64, plain: f64) -> Self {
        Self {
            name,
            best,
            openclaw,
            plain,
        }
    }
}

/// Measures every set below `data`; a set that is not there is named as skipped.
pub(crate) fn run(data: &Path) -> anyhow::Result<Report> {
    let mut report = Report::new("search: recall on public tool sets");
    let mut sum = 0.0;
    let mut measured = 0;
    for set in &SETS {
        let folder = data.join("retrieval").join(set.name);
        if !folder.join("corpus.jsonl").is_file() {
            report.add_figure(set.name, "skipped", "no data");
            continue;
        }
        sum += measure(set, &folder, &mut report)?;
        measured += 1;
    }
    if measured > 0 {
        report.add_figure("mean", "R@8", rounded(sum / f64::from(measured), 3));
    }
    Ok(report)
}

fn measure(set: &Set, folder: &Path, report: &mut Report) -> anyhow::Result<f64> {
    let tools = lines(&folder.join("corpus.jsonl"))?;
    let queries = lines(&folder.join("queries.jsonl"))?;
    let (entries, original) = entries_of(&tools)?;
    let begun = start();
    let catalog = Catalog::build(entries)?;
    catalog.search(&request("warm"));
    let build_ms = begun.cpu_elapsed().as_secs_f64() * 1e3;
    let begun = start();
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
    let count = queries.len().max(1) as f64;
    let query_us = begun.cpu_elapsed().as_secs_f64() * 1e6 / count;
    let [r1, r5, r8] = sums.map(|sum| rounded(sum / count, 3));
    report.add_row(
        set.name,
        [
            ("tools", Value::from(tools.len())),
            ("queries", queries.len().into()),
            ("R@1", r1.into()),
            ("R@5", r5.into()),
            ("R@8", r8.into()),
            ("best reference", set.best.into()),
            ("OpenClaw 2026.9", set.openclaw.into()),
            ("BM25", set.plain.into()),
            ("index CPU ms", rounded(build_ms, 1).into()),
            ("query CPU us", rounded(query_us, 1).into()),
        ],
    );
    Ok(sums[2] / count)
}

pub(crate) fn rounded(figure: f64, digits: i32) -> f64 {
    let scale = 10_f64.powi(digits);
    (figure * scale).round() / scale
}

pub(crate) fn request(query: &str) -> SearchRequest {
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

/// The entries and the set's own id of each; sets name tools twice, so names get a number.
fn entries_of(tools: &[Value]) -> anyhow::Result<(Vec<Entry>, Originals<'_>)> {
    let mut entries = Vec::new();
    let mut original = HashMap::new();
    for tool in tools {
        let owner = string(tool, "server").replace(':', " ");
        let name = string(tool, "name");
        let mut id = ToolId::new(Source::Mcp, &owner, name)?;
        if original.contains_key(id.as_str()) {
            id = ToolId::new(Source::Mcp, &owner, &format!("{name} {}", original.len()))?;
        }
        original.insert(id.to_string(), string(tool, "id"));
        let mut entry = Entry::new(id, string(tool, "description"), tool["inputSchema"].clone());
        entry.output_schema = tool.get("outputSchema").cloned().map(Into::into);
        entry.trusted = true;
        entries.push(entry);
    }
    Ok((entries, original))
}

fn string<'a>(value: &'a Value, key: &str) -> &'a str {
    value[key].as_str().unwrap_or_default()
}

fn lines(path: &Path) -> anyhow::Result<Vec<Value>> {
    let text =
        std::fs::read_to_string(path).with_context(|| format!("reading {}", path.display()))?;
    let values: Result<Vec<Value>, _> = text.lines().map(serde_json::from_str).collect();
    values.with_context(|| format!("parsing {}", path.display()))
}
