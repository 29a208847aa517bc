//! A guest that is dropped at every pause and restored in another process.

#![expect(clippy::panic, reason = "a guest that breaks the rules fails the test")]

use std::io::{BufRead, BufReader, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};

use codecell_sandbox::{GuestThread, Sandbox};
use serde::{Deserialize, Serialize};

use super::{Life, Live, Pause, Reply, Step};

/// What a broken conversation with a worker panics with.
pub const WORKER_IS_GONE: &str = "the worker is gone";

/// One crossing: what to restore, and what to deliver to it.
#[derive(Debug, Serialize, Deserialize)]
struct Crossing {
    snapshot: Vec<u8>,
    replies: Vec<Reply>,
    now_us: u64,
}

/// What came of it.
#[derive(Debug, Serialize, Deserialize)]
struct Landing {
    step: Step,
    snapshot: Option<Vec<u8>>,
}

/// A life that crosses a process boundary at every pause.
pub struct Ferry<'a> {
    shore: Live<'a>,
    workers: [Worker; 2],
    crossings: usize,
    snapshot: Vec<u8>,
}

impl std::fmt::Debug for Ferry<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Ferry")
            .field("crossings", &self.crossings)
            .finish_non_exhaustive()
    }
}

impl<'a> Ferry<'a> {
    /// Starts two workers; they take turns, so that no process restores its own snapshot.
    ///
    /// # Errors
    ///
    /// When a worker does not start.
    pub fn new(
        sandbox: &'a Sandbox,
        thread: &'a GuestThread,
        worker: &Path,
    ) -> std::io::Result<Self> {
        let workers = [Worker::start(worker)?, Worker::start(worker)?];
        Ok(Self {
            shore: Live::new(sandbox, thread),
            workers,
            crossings: 0,
            snapshot: Vec::new(),
        })
    }

    /// How often the guest was dropped and restored.
    #[must_use]
    pub const fn crossings(&self) -> usize {
        self.crossings
    }
}

impl Life for Ferry<'_> {
    fn start(&mut self, source: &str, now_us: u64) -> Step {
        let step = self.shore.start(source, now_us);
        if step.pause != Pause::Over {
            self.snapshot = self
                .shore
                .park()
                .unwrap_or_else(|error| panic!("park: {error}"));
        }
        step
    }

    fn go_on(&mut self, replies: &[Reply], now_us: u64) -> Step {
        let snapshot = std::mem::take(&mut self.snapshot);
        let crossing = Crossing {
            snapshot,
            replies: replies.to_vec(),
            now_us,
        };
        let landing = self.workers[self.crossings % 2].cross(&crossing);
        self.crossings += 1;
        self.snapshot = landing.snapshot.unwrap_or_default();
        landing.step
    }
}

struct Worker {
    child: Child,
    input: ChildStdin,
    output: BufReader<ChildStdout>,
}

impl Worker {
    fn start(program: &Path) -> std::io::Result<Self> {
        let mut child = Command::new(program)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let input = child.stdin.take().ok_or(std::io::ErrorKind::BrokenPipe)?;
        let output = child.stdout.take().ok_or(std::io::ErrorKind::BrokenPipe)?;
        Ok(Self {
            child,
            input,
            output: BufReader::new(output),
        })
    }

    fn cross(&mut self, crossing: &Crossing) -> Landing {
        let mut line = serde_json::to_string(crossing).unwrap_or_default();
        line.push('\n');
        self.input
            .write_all(line.as_bytes())
            .unwrap_or_else(|error| panic!("{WORKER_IS_GONE}: {error}"));
        let mut answer = String::new();
        self.output
            .read_line(&mut answer)
            .unwrap_or_else(|error| panic!("{WORKER_IS_GONE}: {error}"));
        serde_json::from_str(&answer)
            .unwrap_or_else(|error| panic!("{WORKER_IS_GONE}: {error} in {answer:?}"))
    }
}

impl Drop for Worker {
    fn drop(&mut self) {
        // It holds nothing: every crossing is complete with its answer.
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

/// Serves crossings until the input ends: the body of the worker program.
///
/// # Errors
///
/// When the streams fail or a crossing is malformed.
pub fn serve(sandbox: &Sandbox, thread: &GuestThread) -> Result<(), String> {
    let mut output = std::io::stdout();
    for line in std::io::stdin().lines() {
        let line = line.map_err(|error| error.to_string())?;
        let crossing: Crossing = serde_json::from_str(&line).map_err(|error| error.to_string())?;
        let mut life = Live::new(sandbox, thread);
        life.unpark(&crossing.snapshot)?;
        let step = life.go_on(&crossing.replies, crossing.now_us);
        let snapshot = if step.pause == Pause::Over {
            None
        } else {
            Some(life.park()?)
        };
        let answer = serde_json::to_string(&Landing { step, snapshot })
            .map_err(|error| error.to_string())?;
        writeln!(output, "{answer}")
            .and_then(|()| output.flush())
            .map_err(|error| error.to_string())?;
    }
    Ok(())
}
