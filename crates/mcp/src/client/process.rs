//! The process of a server: started with a short environment, in a group of its own, and ended
//! with everything that it started.
//!
//! Invariant: when a [`Process`] is gone, so is its group. Its environment holds what the options
//! name and what is needed to find programs and files, nothing else of ours.

use std::collections::VecDeque;
use std::ffi::OsString;
use std::process::Stdio;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process_group};
use tokio::io::AsyncReadExt as _;
use tokio::process::{Child, ChildStderr, ChildStdin, ChildStdout, Command};
use tokio_util::task::AbortOnDropHandle;

use super::error::StartError;
use super::options::{PoolOptions, SAFE_VARIABLES, StdioEndpoint};

/// The last of what a process wrote beside the protocol, for errors. Cheap to clone.
#[derive(Clone, Debug)]
pub(super) struct Tail {
    stderr: Arc<Mutex<VecDeque<u8>>>,
    /// What it wrote to stdout that was no message.
    noise: Arc<Mutex<VecDeque<u8>>>,
    max_bytes: usize,
}

impl Tail {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            stderr: Arc::default(),
            noise: Arc::default(),
            max_bytes,
        }
    }

    /// The last lines of stderr, else those of stdout, without what a terminal would act on.
    pub(super) fn text(&self) -> String {
        let stderr = last_words(&self.stderr);
        match stderr.is_empty() {
            true => last_words(&self.noise),
            false => stderr,
        }
    }
}

fn push(kept: &Mutex<VecDeque<u8>>, new: &[u8], max_bytes: usize) {
    let mut kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
    let from = new.len().saturating_sub(max_bytes);
    kept.extend(&new[from..]);
    let excess = kept.len().saturating_sub(max_bytes);
    kept.drain(..excess);
}

fn last_words(kept: &Mutex<VecDeque<u8>>) -> String {
    let bytes: Vec<u8> = {
        let kept = kept.lock().unwrap_or_else(PoisonError::into_inner);
        kept.iter().copied().collect()
    };
    let text = String::from_utf8_lossy(&bytes);
    let is_fine = |c: &char| !c.is_control() || *c == '\n' || *c == '\t';
    let text: String = text.chars().filter(is_fine).collect();
    last_chars(text.trim(), MAX_SHOWN_CHARS).to_owned()
}

/// The most that an error repeats of what a process wrote, in characters.
const MAX_SHOWN_CHARS: usize = 1_000;

fn last_chars(text: &str, max_chars: usize) -> &str {
    let start = text.char_indices().rev().nth(max_chars.saturating_sub(1));
    start.map_or(text, |(at, _)| &text[at..])
}

/// A running server.
#[derive(Debug)]
pub(super) struct Process {
    child: Child,
    group: Option<Pid>,
    tail: Tail,
}

/// A running server and its pipes.
pub(super) struct Spawned {
    pub(super) process: Process,
    pub(super) stdin: ChildStdin,
    pub(super) stdout: ChildStdout,
    /// Ends when everybody has closed the process's stderr.
    pub(super) stderr: AbortOnDropHandle<()>,
}

impl Process {
    /// Starts a server.
    ///
    /// # Errors
    /// [`StartError::Spawn`] when the system does not start it.
    pub(super) fn spawn(
        endpoint: &StdioEndpoint,
        pool: &PoolOptions,
        tail: Tail,
    ) -> Result<Spawned, StartError> {
        let failed = |error: std::io::Error| StartError::Spawn {
            command: endpoint.command.clone(),
            reason: reason(endpoint, &error),
        };
        let environment = environment(endpoint, pool);
        if !is_there(&endpoint.command, &environment) {
            return Err(failed(std::io::ErrorKind::NotFound.into()));
        }
        let mut child = command(endpoint, pool, environment)
            .spawn()
            .map_err(failed)?;
        let group = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let pipes = (child.stdin.take(), child.stdout.take(), child.stderr.take());
        let (Some(stdin), Some(stdout), Some(stderr)) = pipes else {
            return Err(failed(std::io::Error::other("it has no pipes")));
        };
        let stderr = AbortOnDropHandle::new(tokio::spawn(keep(stderr, tail.clone())));
        Ok(Spawned {
            process: Self { child, group, tail },
            stdin,
            stdout,
            stderr,
        })
    }

    /// Takes note of a line that was no message.
    pub(super) fn noise(&self, line: &[u8]) {
        let Tail {
            noise, max_bytes, ..
        } = &self.tail;
        push(noise, line, *max_bytes);
        push(noise, b"\n", *max_bytes);
    }

    /// Ends the process, whose stdin is closed: by itself if it does so in time, then by `SIGTERM`,
    /// then by `SIGKILL`, the last of which its whole group gets in any case.
    pub(super) async fn stop(mut self, patience: Duration) {
        if tokio::time::timeout(patience, self.child.wait())
            .await
            .is_ok()
        {
            return;
        }
        self.signal(Signal::TERM);
        // Dropping what is left kills it.
        let _ = tokio::time::timeout(patience, self.child.wait()).await;
    }

    fn signal(&self, signal: Signal) {
        if let Some(group) = self.group {
            // A group that is empty is what was wanted.
            let _ = kill_process_group(group, signal);
        }
    }
}

impl Drop for Process {
    fn drop(&mut self) {
        // The group may outlive its leader, and its id is not given away while it has members.
        self.signal(Signal::KILL);
    }
}

/// Whether there is such a program, looked for as the server's own process will; a guard cannot say
/// so.
fn is_there(command: &str, environment: &[(OsString, OsString)]) -> bool {
    if command.contains('/') {
        return true;
    }
    let path = environment.iter().rev().find(|(name, _)| name == "PATH");
    let folders = path.map(|(_, path)| path.as_os_str()).unwrap_or_default();
    std::env::split_paths(folders).any(|folder| folder.join(command).is_file())
}

fn command(
    endpoint: &StdioEndpoint,
    pool: &PoolOptions,
    environment: Vec<(OsString, OsString)>,
) -> Command {
    let mut command = match pool.guard.as_deref() {
        Some([guard, words @ ..]) => {
            let mut command = Command::new(guard);
            command.args(words).arg(std::process::id().to_string());
            command.arg(&endpoint.command);
            command
        }
        _ => Command::new(&endpoint.command),
    };
    command
        .args(&endpoint.args)
        .current_dir(endpoint.cwd.as_ref().unwrap_or(&pool.folder))
        .env_clear()
        .envs(environment)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .process_group(0)
        .kill_on_drop(true);
    command
}

fn environment(endpoint: &StdioEndpoint, pool: &PoolOptions) -> Vec<(OsString, OsString)> {
    let ours = pool.environment.iter();
    let safe = ours.filter(|(name, _)| SAFE_VARIABLES.contains(&name.as_str()));
    // Exported shell functions can hide in any variable.
    let safe = safe.filter(|(_, value)| !value.starts_with("()"));
    let safe = safe.map(|(name, value)| (name.into(), value.into()));
    let named = endpoint.env.iter();
    safe.chain(named.map(|(name, value)| (name.into(), value.into())))
        .collect()
}

fn reason(endpoint: &StdioEndpoint, error: &std::io::Error) -> String {
    if error.kind() != std::io::ErrorKind::NotFound {
        return error.to_string();
    }
    match &endpoint.cwd {
        Some(cwd) if !cwd.is_dir() => format!("its folder {} does not exist", cwd.display()),
        _ => "there is no such program; install it, or write its full path".to_owned(),
    }
}

/// Keeps the end of what a process writes, until it closes the pipe.
async fn keep(mut stderr: ChildStderr, tail: Tail) {
    let mut buffer = [0; 4096];
    while let Ok(bytes) = stderr.read(&mut buffer).await {
        if bytes == 0 {
            return;
        }
        push(&tail.stderr, &buffer[..bytes], tail.max_bytes);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_noise_the_end_is_kept_and_no_terminal_codes() {
        let tail = Tail::new(10);
        push(&tail.noise, b"noise", 10);
        assert_eq!(tail.text(), "noise");
        push(&tail.stderr, b"0123456789abc", 10);
        push(&tail.stderr, b"\x1b[31m\n", 10);
        assert_eq!(tail.text(), "9abc[31m");
    }

    #[test]
    fn only_safe_and_named_variables_reach_a_server() {
        let pairs = [
            ("PATH", "/bin"),
            ("OPENAI_API_KEY", "secret"),
            ("LANG", "() { :; }; bad"),
            ("HOME", "/h"),
        ];
        let mut pool = PoolOptions::new(Vec::new());
        pool.environment = pairs.map(|(n, v)| (n.to_owned(), v.to_owned())).to_vec();
        let endpoint = StdioEndpoint {
            env: [
                ("TOKEN".to_owned(), "t".to_owned()),
                ("HOME".to_owned(), "/x".to_owned()),
            ]
            .into(),
            ..StdioEndpoint::default()
        };
        let names: Vec<_> = environment(&endpoint, &pool)
            .into_iter()
            .map(|(name, value)| format!("{}={}", name.display(), value.display()))
            .collect();
        assert_eq!(names, ["PATH=/bin", "HOME=/h", "HOME=/x", "TOKEN=t"]);
    }
}
