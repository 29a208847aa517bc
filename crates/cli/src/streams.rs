//! The only place that writes to stdout and stderr.
//!
//! Data goes to stdout, everything else to stderr. Colours and progress appear on terminals only,
//! and `NO_COLOR` is respected. A reader that went away ends the command quietly.

use std::fmt::Display;
use std::io::{self, IsTerminal as _, Write as _};
use std::sync::{Arc, Mutex};
use std::time::Duration;

use anstyle::{AnsiColor, Style};
use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use crate::error::CliError;
use crate::escape;
use crate::render::json;

/// Styles of our own words; the text of others is never styled.
pub(crate) mod style {
    use super::{AnsiColor, Style};

    /// A failure's heading.
    pub(crate) const ERROR: Style = AnsiColor::Red.on_default().bold();
    /// A warning's heading.
    pub(crate) const WARNING: Style = AnsiColor::Yellow.on_default().bold();
    /// Advice, and what is well.
    pub(crate) const HINT: Style = AnsiColor::Cyan.on_default();
    /// Good news.
    pub(crate) const GOOD: Style = AnsiColor::Green.on_default();
    /// What can be skipped.
    pub(crate) const DIM: Style = Style::new().dimmed();
    /// A heading.
    pub(crate) const HEADING: Style = Style::new().bold();
}

/// How much is said on stderr.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Volume {
    /// Failures only.
    Quiet,
    /// Warnings, notes and progress.
    Normal,
    /// Also what was chosen and why.
    Verbose,
}

/// What is known about the streams before anything is written.
#[derive(Clone, Copy, Debug)]
pub(crate) struct StreamOptions {
    /// How much is said on stderr.
    pub(crate) volume: Volume,
    /// stdout holds exactly one JSON value.
    pub(crate) json: bool,
    /// The environment asks for no colours.
    pub(crate) no_color: bool,
}

/// The progress line, and who wants it away.
#[derive(Default)]
struct Progress {
    bar: Option<ProgressBar>,
    /// Questions that the terminal belongs to; no line is drawn while there are any.
    holds: usize,
}

/// Keeps the progress line away until it is dropped.
pub(crate) struct ProgressHold(Arc<Streams>);

impl Drop for ProgressHold {
    fn drop(&mut self) {
        lock(&self.0.progress).holds -= 1;
    }
}

/// stdout and stderr of this process.
pub(crate) struct Streams {
    options: StreamOptions,
    out_is_terminal: bool,
    err_is_terminal: bool,
    progress: Mutex<Progress>,
}

impl Streams {
    /// The streams of this process.
    pub(crate) fn new(options: StreamOptions) -> Self {
        Self {
            options,
            out_is_terminal: io::stdout().is_terminal(),
            err_is_terminal: io::stderr().is_terminal(),
            progress: Mutex::default(),
        }
    }

    /// Whether stdout holds exactly one JSON value.
    pub(crate) fn json(&self) -> bool {
        self.options.json
    }

    /// Whether choices are explained.
    pub(crate) fn verbose(&self) -> bool {
        self.options.volume == Volume::Verbose
    }

    /// Whether a person can be asked: somebody must be looking at one of our streams.
    pub(crate) fn can_ask(&self) -> bool {
        self.err_is_terminal || io::stdin().is_terminal()
    }

    /// Columns of the terminal behind stdout; `None` if there is none.
    pub(crate) fn width(&self) -> Option<u16> {
        if !self.out_is_terminal {
            return None;
        }
        let size = rustix::termios::tcgetwinsize(io::stdout()).ok()?;
        (size.ws_col >= 40).then_some(size.ws_col)
    }

    /// `text` in a style, if stdout shows colours.
    pub(crate) fn styled(&self, style: Style, text: impl Display) -> String {
        paint(self.out_is_terminal && !self.options.no_color, style, text)
    }

    /// `text` in a style, if stderr shows colours.
    pub(crate) fn styled_err(&self, style: Style, text: impl Display) -> String {
        paint(self.err_is_terminal && !self.options.no_color, style, text)
    }

    /// Puts our own text on stdout as it is.
    ///
    /// # Errors
    ///
    /// [`CliError::ReaderGone`] when nobody reads, [`CliError::Output`] for every other reason.
    pub(crate) fn out(&self, text: &str) -> Result<(), CliError> {
        self.suspend(|| {
            let mut out = io::stdout().lock();
            out.write_all(text.as_bytes()).and_then(|()| out.flush())
        })
        .map_err(output_error)
    }

    /// Puts the text of others on stdout and ends the line: byte for byte into a file or pipe, with
    /// everything that could steer a terminal written out on one.
    ///
    /// # Errors
    ///
    /// As [`Streams::out`].
    pub(crate) fn out_foreign(&self, text: &str) -> Result<(), CliError> {
        let end = if text.ends_with('\n') { "" } else { "\n" };
        if self.out_is_terminal {
            self.out(&format!("{}{end}", escape::visible(text)))
        } else {
            self.out(&format!("{text}{end}"))
        }
    }

    /// Puts one JSON value on stdout: indented for a person at a terminal, on one line otherwise.
    ///
    /// # Errors
    ///
    /// As [`Streams::out`].
    pub(crate) fn out_json<T: serde::Serialize>(&self, value: &T) -> Result<(), CliError> {
        let text = serde_json::to_string(value).map_err(|error| CliError::Output(error.into()))?;
        if self.out_is_terminal {
            return self.out_foreign(&json::indent(&text));
        }
        self.out_foreign(&text)
    }

    /// A failure's text on stderr, our own words. Nothing can be done when stderr is gone.
    pub(crate) fn failure(&self, text: &str) {
        self.err(text);
    }

    /// A warning, unless quiet.
    pub(crate) fn warn(&self, text: &str) {
        if self.options.volume >= Volume::Normal {
            let heading = self.styled_err(style::WARNING, "warning:");
            self.err(&format!("{heading} {text}"));
        }
    }

    /// A note on what is going on, unless quiet.
    pub(crate) fn note(&self, text: &str) {
        if self.options.volume >= Volume::Normal {
            self.err(text);
        }
    }

    /// What a person has to read for the command to go on, on stderr.
    pub(crate) fn needed(&self, text: &str) {
        self.err(text);
    }

    /// What was chosen and why, with `-v`.
    pub(crate) fn explain(&self, text: &str) {
        if self.verbose() {
            self.err(&self.styled_err(style::DIM, text));
        }
    }

    fn err(&self, text: &str) {
        self.suspend(|| {
            let mut err = io::stderr().lock();
            let _ = writeln!(err, "{text}");
        });
    }

    /// Whether a progress line would be seen.
    pub(crate) fn shows_progress(&self) -> bool {
        self.err_is_terminal && self.options.volume >= Volume::Normal
    }

    /// Shows what is being waited for; on a terminal only, and not when quiet.
    pub(crate) fn progress(&self, message: &str) {
        if !self.shows_progress() {
            return;
        }
        let mut progress = lock(&self.progress);
        if progress.holds > 0 {
            return;
        }
        let bar = progress.bar.get_or_insert_with(|| {
            let bar = ProgressBar::with_draw_target(None, ProgressDrawTarget::stderr());
            if let Ok(style) = ProgressStyle::with_template("{spinner} {msg} ({elapsed})") {
                bar.set_style(style);
            }
            bar.enable_steady_tick(Duration::from_millis(120));
            bar
        });
        bar.set_message(escape::one_line(message, 70));
    }

    /// Takes the progress line away.
    pub(crate) fn end_progress(&self) {
        if let Some(bar) = lock(&self.progress).bar.take() {
            bar.finish_and_clear();
        }
    }

    /// Takes the progress line away and keeps it away: the terminal belongs to a question.
    pub(crate) fn hold_progress(self: &Arc<Self>) -> ProgressHold {
        lock(&self.progress).holds += 1;
        self.end_progress();
        ProgressHold(Arc::clone(self))
    }

    /// Runs `write` while no progress line is in the way.
    fn suspend<T>(&self, write: impl FnOnce() -> T) -> T {
        let bar = lock(&self.progress).bar.clone();
        match bar {
            Some(bar) => bar.suspend(write),
            None => write(),
        }
    }
}

/// The value behind a lock; a panic elsewhere cannot make a progress line wrong.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex
        .lock()
        .unwrap_or_else(std::sync::PoisonError::into_inner)
}

fn paint(colour: bool, style: Style, text: impl Display) -> String {
    if colour {
        format!("{}{text}{}", style.render(), style.render_reset())
    } else {
        text.to_string()
    }
}

fn output_error(error: io::Error) -> CliError {
    if error.kind() == io::ErrorKind::BrokenPipe {
        CliError::ReaderGone
    } else {
        CliError::Output(error)
    }
}
