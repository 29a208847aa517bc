//! The codecell command: composition root, rendering, exit codes.
//!
//! This is the only crate that prints, and the only one that touches the environment, the home
//! folder, signals and the terminal: every library gets values. Data goes to stdout, everything
//! else to stderr; with `--json` stdout holds exactly one JSON value.

#![forbid(unsafe_code)]

mod activity;
mod approve;
mod args;
mod commands;
mod compose;
mod error;
mod escape;
mod fill;
mod interrupt;
mod machine;
mod program;
mod record;
#[cfg(test)]
mod reference;
mod render;
mod streams;
mod surroundings;

use std::ffi::OsString;
use std::io::{IsTerminal as _, Write as _};
use std::process::ExitCode;
use std::sync::Arc;

use args::{Cli, Command, Parsed};
use error::{CliError, Exit};
use streams::{StreamOptions, Streams, Volume, style};
use surroundings::Surroundings;

/// Runs the command that the process was started with, and gives the code to end with.
#[must_use]
pub fn main() -> ExitCode {
    std::panic::set_hook(Box::new(own_up));
    let args: Vec<OsString> = std::env::args_os().collect();
    if let [_, word, rest @ ..] = args.as_slice()
        && word == compose::servers::GUARD
    {
        return codecell_mcp::client::run_guard(rest);
    }
    codecell_sandbox::limit_arenas();
    ExitCode::from(run(&args) as u8)
}

fn run(args: &[OsString]) -> Exit {
    let no_color = surroundings::no_color();
    let mut options = StreamOptions {
        volume: Volume::Normal,
        json: args::wants_json(args),
        no_color,
    };
    let help_in_colour = !no_color && std::io::stdout().is_terminal();
    let parsed = match args::parse(args, help_in_colour) {
        Ok(parsed) => parsed,
        Err(error) => return report(&Streams::new(options), &error),
    };
    match parsed {
        Parsed::Text(text) => {
            let streams = Streams::new(StreamOptions {
                json: false,
                ..options
            });
            streams
                .out(&text)
                .map_or_else(|error| report(&streams, &error), |()| Exit::Done)
        }
        Parsed::Run(cli) => {
            options.json = cli.global.json;
            options.volume = volume(&cli.global);
            let streams = Arc::new(Streams::new(options));
            let ended = dispatch(*cli, &streams);
            streams.end_progress();
            ended.unwrap_or_else(|error| report(&streams, &error))
        }
    }
}

fn volume(global: &args::GlobalArgs) -> Volume {
    match (global.quiet, global.verbose) {
        (true, _) => Volume::Quiet,
        (false, 0) => Volume::Normal,
        (false, _) => Volume::Verbose,
    }
}

fn dispatch(cli: Cli, streams: &Arc<Streams>) -> Result<Exit, CliError> {
    if let Command::Completions(args) = &cli.command {
        return commands::completions::run(args, streams);
    }
    let surroundings = Surroundings::of_process()?;
    compose::logs::start(cli.global.verbose, &surroundings);
    let base = compose::Base {
        global: cli.global,
        surroundings,
        streams: Arc::clone(streams),
    };
    match cli.command {
        Command::Exec(args) => commands::exec::run(&base, args),
        Command::Wait(args) => commands::wait::run(&base, args),
        Command::Replay(args) => commands::replay::run(&base, args),
        Command::Tools(args) => commands::tools::run(&base, args),
        Command::Api(args) => commands::api::run(&base, &args),
        Command::Mcp(args) => commands::mcp::run(&base, args),
        Command::Config(args) => commands::config::run(&base, &args),
        Command::Doctor(_) => commands::doctor::run(&base),
        Command::Completions(args) => commands::completions::run(&args, streams),
    }
}

/// Tells what went wrong: on stderr for a person, with `--json` also on stdout.
fn report(streams: &Streams, error: &CliError) -> Exit {
    if matches!(error, CliError::ReaderGone) {
        return error.exit();
    }
    if streams.json() && !matches!(error, CliError::Output(_)) {
        let result = codecell_protocol::CellResult::Failed(error.to_failed());
        // When stdout is gone too, stderr is all that is left.
        let _ = streams.out_json(&result);
    }
    if let CliError::Usage { rendered } = error {
        streams.failure(rendered.trim_end());
        return error.exit();
    }
    let heading = streams.styled_err(style::ERROR, "error:");
    let mut text = format!(
        "{heading} {}",
        escape::foreign(&plain_system_words(&error.to_string()))
    );
    if let Some(hint) = error.hint() {
        text.push('\n');
        render::cell::hint_line(streams, &hint, &mut text);
    }
    streams.failure(text.trim_end());
    error.exit()
}

/// What is said when this program breaks its own rules: whose fault it is, and where.
fn own_up(panic: &std::panic::PanicHookInfo<'_>) {
    let what = panic.payload_as_str().unwrap_or("no reason given");
    let place = panic
        .location()
        .map_or_else(String::new, |place| format!(" ({place})"));
    let text = format!(
        "error: this is a defect of codecell, not of your program: {what}{place}\n\
         hint: please report it, with the command that you ran"
    );
    let _ = writeln!(std::io::stderr(), "{}", escape::visible(&text));
}

/// The system's errors without their numbers, which mean nothing to a reader.
fn plain_system_words(text: &str) -> String {
    let mut parts = text.split(" (os error ");
    let mut plain = parts.next().unwrap_or_default().to_owned();
    for part in parts {
        plain.push_str(
            part.trim_start_matches(|c: char| c.is_ascii_digit())
                .trim_start_matches(')'),
        );
    }
    plain
}

#[cfg(test)]
mod tests {
    use super::plain_system_words;

    #[test]
    fn error_numbers_are_left_out() {
        let text = "cannot read x: No such file or directory (os error 2): gone (os error 13)";
        assert_eq!(
            plain_system_words(text),
            "cannot read x: No such file or directory: gone"
        );
        assert_eq!(plain_system_words("plain"), "plain");
    }
}
