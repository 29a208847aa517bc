//! Why a command ended without its result, as a person reads it: what happened, and what to do.
//!
//! Failures of a cell are results, not errors of this kind: they have a renderer of their own.

use std::io;
use std::path::PathBuf;

use codecell_protocol::{Failed, Failure, FailureKind, Phase, Telemetry};

/// How a command ended; the codes that scripts see.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[repr(u8)]
pub(crate) enum Exit {
    /// The command did what was asked.
    Done = 0,
    /// The cell or the tool failed, or something that was checked is broken.
    Failed = 1,
    /// Wrong usage or configuration.
    Usage = 2,
    /// A cell is suspended.
    Waiting = 3,
    /// Somebody pressed Ctrl-C, or a signal asked to end.
    Interrupted = 130,
}

/// Why a command ended without its result.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CliError {
    /// The arguments fit no command. The text is the parser's own, with the nearest spelling.
    #[error("{}", plain_usage(rendered))]
    Usage {
        /// The text as it is printed.
        rendered: String,
    },
    /// `exec` without a program.
    #[error("no code to run")]
    NoCode,
    /// A program that cannot be had.
    #[error(transparent)]
    Program(#[from] ProgramError),
    /// An argument has the right form and a wrong value.
    #[error("{message}")]
    Argument {
        /// What is wrong.
        message: String,
        /// What to write instead.
        hint: String,
    },
    /// The configuration is broken, so that nothing starts.
    #[error("{message}")]
    Config {
        /// Where and what, with the key's path.
        message: String,
        /// What to do.
        hint: String,
    },
    /// The workspace is no folder that can be used.
    #[error("cannot use the workspace {}: {reason}", path.display())]
    Workspace {
        /// The folder as it was given.
        path: PathBuf,
        /// Why.
        reason: String,
    },
    /// A part of the program could not start.
    #[error("{message}")]
    Unavailable {
        /// What is not there.
        message: String,
        /// What to do.
        hint: String,
    },
    /// A tool was called and failed.
    #[error("{message} ({code})")]
    Tool {
        /// Its own text.
        message: String,
        /// The word that programs compare.
        code: String,
        /// What to do, or what the call may have done.
        hint: String,
        /// Whether a signal ended it.
        interrupted: bool,
    },
    /// Ctrl-C, and the cell did not answer in time.
    #[error("stopped before the cell could say which calls had effects")]
    Interrupted,
    /// Ctrl-C before the cell began.
    #[error("stopped before the cell began; nothing was run")]
    StoppedEarly,
    /// Something that was looked up does not exist.
    #[error("{message}")]
    NotFound {
        /// What does not exist.
        message: String,
        /// What does.
        hint: String,
    },
    /// The reader of our output is gone: there is nobody to tell.
    #[error("the reader of the output is gone")]
    ReaderGone,
    /// The output cannot be written.
    #[error("cannot write the output: {0}")]
    Output(io::Error),
}

/// Why a program could not be had.
#[derive(Debug, thiserror::Error)]
pub(crate) enum ProgramError {
    /// A word that looks like the name of a script, and no such file.
    #[error("there is no file `{0}`")]
    NoSuchFile(String),
    /// The name of a folder.
    #[error("`{0}` is a folder, not a program")]
    Folder(String),
    /// A file that cannot be read.
    #[error("cannot read `{name}`: {source}")]
    Read {
        /// The file as it was named, or `stdin`.
        name: String,
        /// Why.
        source: io::Error,
    },
    /// Bytes that are no text.
    #[error("`{name}` is not UTF-8 text: byte {offset} begins no character")]
    NotText {
        /// The file.
        name: String,
        /// Where, from 0.
        offset: usize,
    },
    /// More text than a program may have.
    #[error("`{name}` is longer than the {limit_bytes} bytes that a program may have")]
    TooLong {
        /// The file.
        name: String,
        /// The limit.
        limit_bytes: usize,
    },
}

impl CliError {
    /// The code that the process ends with.
    pub(crate) fn exit(&self) -> Exit {
        match self {
            Self::Usage { .. }
            | Self::NoCode
            | Self::Program(_)
            | Self::Argument { .. }
            | Self::Config { .. }
            | Self::Workspace { .. } => Exit::Usage,
            Self::Tool {
                interrupted: true, ..
            }
            | Self::Interrupted
            | Self::StoppedEarly => Exit::Interrupted,
            Self::ReaderGone => Exit::Done,
            Self::Unavailable { .. }
            | Self::Tool { .. }
            | Self::NotFound { .. }
            | Self::Output(_) => Exit::Failed,
        }
    }

    /// What to do about it.
    pub(crate) fn hint(&self) -> Option<String> {
        let hint = match self {
            Self::Usage { .. } | Self::ReaderGone | Self::StoppedEarly => return None,
            Self::NoCode => "pass the program as an argument, codecell exec 'return 1 + 1', or a \
                file, codecell exec job.ts, or pipe it, echo 'return 1' | codecell exec -"
                .to_owned(),
            Self::Program(error) => return error.hint(),
            Self::Argument { hint, .. }
            | Self::Config { hint, .. }
            | Self::Unavailable { hint, .. }
            | Self::NotFound { hint, .. }
            | Self::Tool { hint, .. } => hint.clone(),
            Self::Workspace { .. } => "name an existing folder with --workspace DIR".to_owned(),
            Self::Interrupted => {
                "look at what the program may have changed before you run it again".to_owned()
            }
            Self::Output(_) => "free some space or write to another place".to_owned(),
        };
        (!hint.is_empty()).then_some(hint)
    }

    /// The word that programs compare, as in the failures of cells.
    pub(crate) fn kind(&self) -> FailureKind {
        match self {
            Self::Config { .. } => FailureKind::InvalidConfig,
            Self::Unavailable { .. } => FailureKind::EngineUnavailable,
            Self::Tool {
                interrupted: true, ..
            }
            | Self::Interrupted
            | Self::StoppedEarly => FailureKind::Aborted,
            Self::Tool { .. } => FailureKind::NestedToolFailed,
            Self::Output(_) | Self::ReaderGone => FailureKind::Internal,
            _ => FailureKind::InvalidArguments,
        }
    }

    /// The `failed` result that `--json` gives in the place of a result.
    pub(crate) fn to_failed(&self) -> Failed {
        let kind = self.kind();
        let error = match self.hint() {
            Some(hint) => format!("{self}\n{hint}"),
            None => self.to_string(),
        };
        Failed {
            error,
            code: kind.code(),
            failure: Failure::new(
                kind,
                if kind.code() == FailureKind::InvalidArguments.code() {
                    Phase::Input
                } else {
                    Phase::Host
                },
            ),
            output: Vec::new(),
            effects: None,
            warnings: Vec::new(),
            telemetry: Telemetry::default(),
        }
    }
}

impl ProgramError {
    fn hint(&self) -> Option<String> {
        match self {
            Self::NoSuchFile(name) => Some(format!(
                "check the name; if `{name}` is meant as code, write it as an expression: codecell exec 'return {name}'"
            )),
            Self::Folder(_) => Some("name a file in it, or pass the program itself".to_owned()),
            Self::Read { .. } => None,
            Self::NotText { .. } => Some("save the program as UTF-8".to_owned()),
            Self::TooLong { .. } => Some(
                "move data out of the program into a file, and read it with tools.read".to_owned(),
            ),
        }
    }
}

/// The parser's text without its heading word and styling.
fn plain_usage(rendered: &str) -> String {
    let plain = anstream::adapter::strip_str(rendered).to_string();
    let text = plain.trim();
    text.strip_prefix("error: ").unwrap_or(text).to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn every_error() -> Vec<CliError> {
        let text = |word: &str| word.to_owned();
        let refused = || io::Error::from(io::ErrorKind::PermissionDenied);
        let tool = |interrupted| CliError::Tool {
            message: text("`read` failed"),
            code: text("not_found"),
            hint: text("nothing was changed"),
            interrupted,
        };
        vec![
            CliError::Usage {
                rendered: text("error: unexpected argument"),
            },
            CliError::NoCode,
            ProgramError::NoSuchFile(text("job.js")).into(),
            ProgramError::Folder(text("src")).into(),
            ProgramError::Read {
                name: text("job.js"),
                source: refused(),
            }
            .into(),
            ProgramError::NotText {
                name: text("job.js"),
                offset: 3,
            }
            .into(),
            ProgramError::TooLong {
                name: text("job.js"),
                limit_bytes: 10,
            }
            .into(),
            CliError::Argument {
                message: text("wrong"),
                hint: text("right"),
            },
            CliError::Config {
                message: text("unknown key"),
                hint: text("correct it"),
            },
            CliError::Workspace {
                path: "none".into(),
                reason: text("it is gone"),
            },
            CliError::Unavailable {
                message: text("no engine"),
                hint: text("see doctor"),
            },
            tool(false),
            tool(true),
            CliError::Interrupted,
            CliError::StoppedEarly,
            CliError::NotFound {
                message: text("no such tool"),
                hint: text("look at the list"),
            },
            CliError::ReaderGone,
            CliError::Output(refused()),
        ]
    }

    #[test]
    fn every_error_has_its_code_kind_text_and_advice() {
        let lines = every_error().into_iter().map(|error| {
            let hint = error.hint().unwrap_or_else(|| "-".to_owned());
            format!(
                "{} {}\n    {error}\n    {hint}\n",
                error.exit() as u8,
                error.kind()
            )
        });
        insta::assert_snapshot!(lines.collect::<String>());
    }
}
