//! Runs the binary in a hermetic environment and shows what came out, with what differs taken out.

use std::io::Write as _;
use std::process::{Command, Output, Stdio};

use codecell_testkit::hermetic::Hermetic;
use codecell_testkit::redact::Redactor;
use serde_json::Value;

/// A home, a state folder and a workspace, and the binary in them.
pub(crate) struct Cli {
    pub(crate) env: Hermetic,
}

/// What a command left behind.
pub(crate) struct Ran {
    pub(crate) typed: String,
    pub(crate) code: Option<i32>,
    pub(crate) stdout: String,
    pub(crate) stderr: String,
}

impl Cli {
    pub(crate) fn new() -> Self {
        Self {
            env: Hermetic::new().unwrap(),
        }
    }

    /// A workspace with these files.
    pub(crate) fn with_files(files: &[(&str, &str)]) -> Self {
        let cli = Self::new();
        for (path, text) in files {
            cli.env.write(path, text).unwrap();
        }
        cli
    }

    /// A command of the binary.
    pub(crate) fn command(&self, args: &[&str]) -> Command {
        let mut command = self.env.command(binary());
        command.args(args);
        command
    }

    /// Runs the binary without input.
    pub(crate) fn run(&self, args: &[&str]) -> Ran {
        self.finish(args, self.command(args).output().unwrap())
    }

    /// Runs the binary with this input.
    pub(crate) fn run_with_input(&self, args: &[&str], input: &str) -> Ran {
        let mut command = self.command(args);
        command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::piped());
        let mut child = command.spawn().unwrap();
        child
            .stdin
            .take()
            .unwrap()
            .write_all(input.as_bytes())
            .unwrap();
        self.finish(args, child.wait_with_output().unwrap())
    }

    /// What a command left behind, redacted.
    pub(crate) fn finish(&self, args: &[&str], output: Output) -> Ran {
        let redactor = self.redactor();
        Ran {
            typed: redactor.redact(&typed(args)),
            code: output.status.code(),
            stdout: redactor.redact(&String::from_utf8(output.stdout).unwrap()),
            stderr: redactor.redact(&without_first_use(
                String::from_utf8(output.stderr).unwrap(),
            )),
        }
    }

    pub(crate) fn redactor(&self) -> Redactor {
        Redactor::default()
            .folder(&self.env.workspace(), "[WORKSPACE]")
            .folder(&self.env.state(), "[STATE]")
            .folder(&self.env.home(), "[HOME]")
            .folder(self.env.root(), "[ROOT]")
            .folder(&codecell_testkit::places::cache_home(), "[CACHE]")
    }
}

/// Without the line that the first commands after a build say.
pub(crate) fn without_first_use(stderr: String) -> String {
    stderr.replace("preparing the sandbox engine, once for this machine\n", "")
}

/// A command line as a person would type it.
fn typed(args: &[&str]) -> String {
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_./:=".contains(c);
    let quoted = args
        .iter()
        .map(|arg| match arg.chars().all(plain) && !arg.is_empty() {
            true => (*arg).to_owned(),
            false => format!("'{}'", arg.replace('\'', "'\\''")),
        });
    std::iter::once("codecell".to_owned())
        .chain(quoted)
        .collect::<Vec<_>>()
        .join(" ")
}

/// Path of the binary under test.
pub(crate) fn binary() -> &'static str {
    env!("CARGO_BIN_EXE_codecell")
}

impl Ran {
    /// The one JSON value that stdout holds; anything beside it fails the test.
    pub(crate) fn json(&self) -> Value {
        let mut values = serde_json::Deserializer::from_str(&self.stdout).into_iter::<Value>();
        let value = values
            .next()
            .expect("stdout holds a value")
            .expect("it is JSON");
        assert!(
            values.next().is_none(),
            "stdout holds one value only: {}",
            self.stdout
        );
        value
    }

    /// Code, stdout and stderr, for snapshots.
    pub(crate) fn show(&self) -> String {
        let code = self
            .code
            .map_or_else(|| "by signal".to_owned(), |code| code.to_string());
        let mut text = format!("$ {}\nexit: {code}\n", self.typed);
        for (name, stream) in [("stdout", &self.stdout), ("stderr", &self.stderr)] {
            if !stream.is_empty() {
                text.push_str(&format!("--- {name}\n{}\n", stream.trim_end()));
            }
        }
        text
    }
}

/// Compares with a snapshot: the command as typed, its code and its streams.
macro_rules! shows {
    ($ran:expr) => {
        insta::assert_snapshot!($ran.show())
    };
}
pub(crate) use shows;
