//! The reference engine: Node.js, driven over its standard streams.

use std::io::{BufRead, BufReader, Write};
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use super::{Case, Outcome};

const HOST: &str = include_str!("reference.mjs");

/// Why the reference gave no outcome.
#[derive(Debug, thiserror::Error)]
pub enum ReferenceError {
    /// There is no `node` on this machine, or it does not start.
    #[error("node does not start: {0}")]
    Missing(std::io::Error),
    /// The process ended or closed its streams.
    #[error("node went away: {0}")]
    Gone(std::io::Error),
    /// The answer is no outcome.
    #[error("node answered no outcome: {0}")]
    Answer(serde_json::Error),
}

/// A running reference engine; it ends with this value.
#[derive(Debug)]
pub struct Reference {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Reference {
    /// Starts the engine.
    ///
    /// # Errors
    ///
    /// [`ReferenceError::Missing`] where there is none: a test that needs it says that it was skipped.
    pub fn start() -> Result<Self, ReferenceError> {
        let mut child = Command::new("node")
            .args(["--input-type=module", "--eval", HOST])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .map_err(ReferenceError::Missing)?;
        let streams = (child.stdin.take(), child.stdout.take());
        let (Some(input), Some(output)) = streams else {
            return Err(ReferenceError::Missing(
                std::io::ErrorKind::BrokenPipe.into(),
            ));
        };
        Ok(Self {
            child,
            input,
            output: BufReader::new(output),
        })
    }

    /// Runs a case.
    ///
    /// # Errors
    ///
    /// [`ReferenceError::Gone`] and [`ReferenceError::Answer`] when the engine fails.
    pub fn run(&mut self, case: &Case) -> Result<Outcome, ReferenceError> {
        let mut line = serde_json::to_string(case).map_err(ReferenceError::Answer)?;
        line.push('\n');
        self.input
            .write_all(line.as_bytes())
            .map_err(ReferenceError::Gone)?;
        self.input.flush().map_err(ReferenceError::Gone)?;
        let mut answer = String::new();
        self.output
            .read_line(&mut answer)
            .map_err(ReferenceError::Gone)?;
        serde_json::from_str(&answer).map_err(ReferenceError::Answer)
    }
}

impl Drop for Reference {
    fn drop(&mut self) {
        // It has nothing to save: cases are complete with their answers.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
