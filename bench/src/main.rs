//! Macro benchmarks: whole cells through the whole tool path, in process.
//!
//! `cargo run --profile dist -p codecell-bench -- cells` prints what a cell costs, `-- suspended` what
//! suspended cells weigh, `-- search` how good search is, `-- catalog` what ten thousand tools cost,
//! `-- prompt` what a prompt weighs, `-- durable` what a cell costs that outlives its process. With `--json` one JSON value is printed instead of a table. A figure is of
//! this machine and this moment: quote ratios of one run.

#![forbid(unsafe_code)]

mod catalog;
mod cells;
mod data;
mod durable;
mod load;
mod made_up;
mod measure;
mod prompt;
mod search;
mod suspended;
mod world;

use std::path::PathBuf;

use clap::{Parser, Subcommand};

#[derive(Parser)]
#[command(about = "Measures whole cells: time, processor time, memory")]
struct Arguments {
    #[command(subcommand)]
    what: What,
    /// Print one JSON value instead of a table.
    #[arg(long, global = true)]
    json: bool,
}

#[derive(Subcommand)]
enum What {
    /// A trivial cell, nested calls, a suspension and a resume: p50 and p99, wall and CPU.
    Cells {
        /// Repetitions of each.
        #[arg(long, default_value_t = 2000)]
        runs: usize,
        /// Measure only the rows whose name holds this.
        #[arg(long, default_value = "")]
        only: String,
    },
    /// Many cells at once, deadlines of cells that spin, and what those cost others.
    Load {
        /// Repetitions of each.
        #[arg(long, default_value_t = 500)]
        runs: usize,
    },
    /// A megabyte of rows, suspension of a megabyte, and the interpreter itself.
    Data {
        /// Repetitions of each.
        #[arg(long, default_value_t = 30)]
        runs: usize,
        /// Measure only the rows whose name holds this.
        #[arg(long, default_value = "")]
        only: String,
    },
    /// The interpreter alone: the rows that `bench/peers` sets beside the engine compiled natively.
    Interpreter {
        /// Repetitions of each.
        #[arg(long, default_value_t = 30)]
        runs: usize,
    },
    /// Growth of resident memory while cells are suspended.
    Suspended {
        /// How many cells.
        #[arg(long, default_value_t = 64)]
        count: usize,
    },
    /// Recall of search on public tool sets, beside references.
    Search {
        /// The folder that holds `retrieval/<set>/corpus.jsonl` and `queries.jsonl`.
        #[arg(long, default_value = "../shared/data")]
        data: PathBuf,
    },
    /// Bytes of the prompt for real MCP servers: every tool of its own, against code mode.
    Prompt {
        /// The folder that holds `mcp-tools/<server>.json`.
        #[arg(long, default_value = "../shared/data")]
        data: PathBuf,
    },
    /// A large catalog: to register, to start cells beside, to list and to search.
    Catalog {
        /// How many tools.
        #[arg(long, default_value_t = 10_000)]
        count: usize,
        /// Repetitions of each.
        #[arg(long, default_value_t = 200)]
        runs: usize,
    },
    /// Cells that outlive their process: a suspension, a resume, writing calls, each committed.
    Durable {
        /// Repetitions of each.
        #[arg(long, default_value_t = 300)]
        runs: usize,
        /// The folder in which the store's own folder is made: it says which disk is measured.
        #[arg(long, default_value = "target")]
        dir: PathBuf,
    },
}

fn main() -> anyhow::Result<()> {
    let arguments = Arguments::parse();
    codecell_sandbox::limit_arenas();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()?;
    let report = runtime.block_on(async {
        match arguments.what {
            What::Cells { runs, only } => cells::run(runs, &only).await,
            What::Load { runs } => load::run(runs).await,
            What::Data { runs, only } => data::run(runs, &only).await,
            What::Interpreter { runs } => data::interpreter(runs).await,
            What::Suspended { count } => suspended::run(count).await,
            What::Search { data } => search::run(&data),
            What::Prompt { data } => prompt::run(&data),
            What::Durable { runs, dir } => durable::run(runs, &dir).await,
            What::Catalog { count, runs } => catalog::run(count, runs).await,
        }
    })?;
    report.print(arguments.json)
}
