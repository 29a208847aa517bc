//! Runs very many cells with suspensions and prints resident memory: `codecell-soak CELLS [EVERY]`.
//!
//! Ends with an error when memory grew by more than 16 MiB after the first tenth.

#![forbid(unsafe_code)]

use std::io::Write as _;
use std::process::ExitCode;

use codecell_testkit::soak::{Sample, growth_bytes, soak};

const MAX_GROWTH_BYTES: u64 = 16 << 20;

fn main() -> ExitCode {
    codecell_sandbox::limit_arenas();
    let mut numbers = std::env::args()
        .skip(1)
        .filter_map(|word| word.parse().ok());
    let cells: u64 = numbers.next().unwrap_or(10_000);
    let every: u64 = numbers.next().unwrap_or(10_000).min(cells).max(1);
    match run(cells, every) {
        Ok(samples) => {
            let growth = growth_bytes(&samples);
            say(&format!(
                "grew by {} KiB after the first tenth",
                growth >> 10
            ));
            if growth > MAX_GROWTH_BYTES {
                ExitCode::FAILURE
            } else {
                ExitCode::SUCCESS
            }
        }
        Err(reason) => {
            say(&reason);
            ExitCode::FAILURE
        }
    }
}

fn run(cells: u64, every: u64) -> Result<Vec<Sample>, String> {
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(1)
        .enable_all()
        .build()
        .map_err(|error| error.to_string())?;
    let sandbox = codecell_testkit::engine::sandbox();
    runtime.block_on(soak(sandbox, cells, every, |sample| {
        say(&format!(
            "{:>9} cells {:>7.1} s {:>7} KiB resident",
            sample.cells,
            sample.seconds,
            sample.resident_bytes >> 10
        ));
    }))
}

fn say(line: &str) {
    // There is nobody left to tell if this fails.
    let _ = writeln!(std::io::stdout(), "{line}");
}
