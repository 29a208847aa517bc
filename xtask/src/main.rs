//! Development tasks, run as `cargo xtask <task>`.
//!
//! - `counts [--write]`: instruction counts of the hot paths, against the committed ones.
//! - `guest`: builds the guest, makes the image and writes `crates/sandbox/guest.wasm` and its lock file.
//! - `guest --check`: builds it again elsewhere and compares it with what is committed.
//! - `guest --run <file>`: evaluates one program in the committed image without the sandbox, for work on the guest.
//! - `mutants [--new] [NAME..]`: switches off each defence in a copy and looks whether its test notices.
//! - `mutants --table`: writes down what was seen, as a page.
//! - `notices [--check]`: writes `NOTICES.md`, or compares it with what is linked.
//! - `tidy`: the gates that no lint holds.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a task runner talks to its terminal"
)]

mod build;
mod counts;
mod driver;
mod graph;
mod guest;
mod guest_counts;
mod image;
mod lock;
mod mutants;
mod notices;
mod smoke;
mod tidy;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask counts [--write]\n       cargo xtask guest [--check | --run <file>]\n       cargo xtask mutants [--new] [NAME..] | --table\n       cargo xtask notices [--check]\n       cargo xtask tidy";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["counts"] => guest::root().and_then(|root| counts::run(&root, false)),
        ["counts", "--write"] => guest::root().and_then(|root| counts::run(&root, true)),
        ["guest"] => guest::write(),
        ["guest", "--check"] => guest::check(),
        ["guest", "--run", file, rest @ ..] => smoke::run(file, rest),
        ["mutants", "--table"] => guest::root().and_then(|root| mutants::write_page(&root)),
        ["mutants", "--new", only @ ..] => {
            guest::root().and_then(|root| mutants::run(&root, only, true))
        }
        ["mutants", only @ ..] => guest::root().and_then(|root| mutants::run(&root, only, false)),
        ["notices"] => guest::root().and_then(|root| notices::run(&root, false)),
        ["notices", "--check"] => guest::root().and_then(|root| notices::run(&root, true)),
        ["tidy"] => guest::root().and_then(|root| tidy::check(&root)),
        _ => {
            eprintln!("{USAGE}");
            return ExitCode::from(2);
        }
    };
    match outcome {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("error: {error:#}");
            ExitCode::FAILURE
        }
    }
}
