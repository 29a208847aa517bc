//! The `codecell` command.

#![forbid(unsafe_code)]

use std::process::ExitCode;

fn main() -> ExitCode {
    codecell_cli::main()
}
