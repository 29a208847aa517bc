//! From the process's arguments to the command tree.

use std::ffi::OsString;

use clap::Parser;
use clap::error::ErrorKind;

use super::Cli;
use crate::error::CliError;

/// What the arguments ask for.
pub(crate) enum Parsed {
    /// A command to run.
    Run(Box<Cli>),
    /// A text that was asked for, such as help: it goes to stdout.
    Text(String),
}

/// Reads the arguments, the program's name first. `colour` says whether texts are styled.
///
/// # Errors
///
/// [`CliError::Usage`] when they fit no command; the text names the nearest spelling.
pub(crate) fn parse(args: &[OsString], colour: bool) -> Result<Parsed, CliError> {
    let asked_for_help = help_word(args);
    let args = asked_for_help.as_deref().unwrap_or(args);
    let error = match Cli::try_parse_from(args) {
        Ok(cli) => return Ok(Parsed::Run(Box::new(cli))),
        Err(error) => error,
    };
    let text = error.render();
    let text = if colour {
        text.ansi().to_string()
    } else {
        text.to_string()
    };
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => Ok(Parsed::Text(text)),
        _ => Err(CliError::Usage { rendered: text }),
    }
}

/// `help COMMAND` as `COMMAND --help`.
fn help_word(args: &[OsString]) -> Option<Vec<OsString>> {
    let [name, word, rest @ ..] = args else {
        return None;
    };
    (word == "help").then(|| {
        let first = std::iter::once(name.clone());
        let last = std::iter::once(OsString::from("--help"));
        first.chain(rest.iter().cloned()).chain(last).collect()
    })
}

/// Whether `--json` was asked for, judged before anything could be parsed.
pub(crate) fn wants_json(args: &[OsString]) -> bool {
    args.iter()
        .take_while(|arg| *arg != "--")
        .any(|arg| arg == "--json")
}
