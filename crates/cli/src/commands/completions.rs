//! `codecell completions`: a script for a shell, made from the command tree.

use clap::CommandFactory as _;
use clap_complete::{Shell, generate};

use crate::args::{Cli, CompletionShell, CompletionsArgs};
use crate::error::{CliError, Exit};
use crate::streams::Streams;

/// Prints the script.
pub(crate) fn run(args: &CompletionsArgs, streams: &Streams) -> Result<Exit, CliError> {
    let shell = match args.shell {
        CompletionShell::Bash => Shell::Bash,
        CompletionShell::Zsh => Shell::Zsh,
        CompletionShell::Fish => Shell::Fish,
    };
    let mut script = Vec::new();
    generate(shell, &mut Cli::command(), "codecell", &mut script);
    let script = String::from_utf8_lossy(&script);
    if streams.json() {
        streams.out_json(&script)?;
    } else {
        streams.out(&script)?;
    }
    Ok(Exit::Done)
}
