//! Development tasks, run as `cargo xtask <task>`.
//!
//! - `guest`: builds the guest, makes the image and writes `crates/sandbox/guest.wasm` and its lock file.
//! - `guest --check`: builds it again elsewhere and compares it with what is committed.
//! - `guest --run <file>`: evaluates one program in the committed image without the sandbox, for work on the guest.
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a task runner talks to its terminal"
)]

mod build;
mod guest;
mod image;
mod lock;
mod smoke;

use std::process::ExitCode;

const USAGE: &str = "usage: cargo xtask guest [--check | --run <file>]";

fn main() -> ExitCode {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = arguments.iter().map(String::as_str).collect();
    let outcome = match words.as_slice() {
        ["guest"] => guest::write(),
        ["guest", "--check"] => guest::check(),
        ["guest", "--run", file, rest @ ..] => smoke::run(file, rest),
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
