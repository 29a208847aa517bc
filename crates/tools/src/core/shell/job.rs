//! One running command: its shell, its output, and the leash that kills all of it.

use std::collections::BTreeMap;
use std::hash::{BuildHasher as _, Hasher as _};
use std::os::fd::AsRawFd as _;
use std::path::PathBuf;
use std::process::{ExitStatus, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use rustix::process::Pid;
use tokio::io::{AsyncRead, AsyncReadExt as _};
use tokio::process::{Child, ChildStdin, Command};
use tokio_util::task::AbortOnDropHandle;

use super::env;
use super::hunt::Quarry;
use super::output::HeadTail;
use super::watch::Watcher;
use crate::core::error::CoreError;
use crate::core::options::{CoreLimits, CoreOptions};
use crate::core::workspace::Workspace;

/// How long output is waited for once everything that could write is dead.
const DRAIN: Duration = Duration::from_secs(2);
const READ_BYTES: usize = 16 * 1024;

/// What all commands share.
#[derive(Debug)]
pub(crate) struct Shell {
    workspace: Arc<Workspace>,
    path: PathBuf,
    env: Vec<(String, String)>,
    /// Marks of the jobs around this program.
    outer: String,
    mark: String,
    next: AtomicU64,
    pub(super) limits: CoreLimits,
    watcher: Mutex<Option<Watcher>>,
}

/// What a call wants to run.
#[derive(Debug)]
pub(super) struct Order<'a> {
    pub(super) command: &'a str,
    pub(super) cwd: &'a str,
    pub(super) env: &'a BTreeMap<String, String>,
    /// Whether something will be written to it.
    pub(super) interactive: bool,
}

pub(super) type SharedOutput = Arc<Mutex<HeadTail>>;

/// A running command. Dropping it kills all of it.
#[derive(Debug)]
pub(super) struct Job {
    /// Dropped before the shell is: the hunt starts from it.
    leash: Leash,
    child: Child,
    pub(super) stdout: SharedOutput,
    pub(super) stderr: SharedOutput,
    readers: Vec<AbortOnDropHandle<()>>,
}

/// Kills the job when dropped, unless that was done.
#[derive(Debug)]
struct Leash(Option<Quarry>);

impl Drop for Leash {
    fn drop(&mut self) {
        if let Some(quarry) = self.0.take() {
            quarry.kill();
        }
    }
}

impl Shell {
    pub(crate) fn new(workspace: Arc<Workspace>, options: &CoreOptions) -> Self {
        let (env, outer) = env::scrub(&options.child_env);
        let nonce = std::hash::RandomState::new().build_hasher().finish();
        Self {
            workspace,
            path: options.shell.clone(),
            env,
            outer,
            mark: format!("{}-{nonce:016x}", std::process::id()),
            next: AtomicU64::new(1),
            limits: options.limits.clone(),
            watcher: Mutex::new(None),
        }
    }

    /// Starts a command in a process group of its own.
    pub(super) fn spawn(&self, order: &Order<'_>) -> Result<Job, CoreError> {
        env::check(order.env)?;
        if order.command.contains('\0') {
            return Err(CoreError::Input(
                "command contains a NUL character".to_owned(),
            ));
        }
        self.watch()?;
        // The dot ends the number: job 1 is no prefix of job 12.
        let mark = format!(
            "{}-{}.",
            self.mark,
            self.next.fetch_add(1, Ordering::Relaxed)
        );
        let mut child = self.command(order, &mark)?;
        let id = child.id().and_then(|id| Pid::from_raw(id.cast_signed()));
        let group =
            id.ok_or_else(|| CoreError::Process("the shell ended before it began".to_owned()))?;
        let leash = Leash(Some(Quarry { group, mark }));
        let cap = self.limits.exec_output_bytes;
        let (stdout, stderr) = (output(cap), output(cap));
        let readers = [
            child
                .stdout
                .take()
                .map(|pipe| read_into(pipe, Arc::clone(&stdout))),
            child
                .stderr
                .take()
                .map(|pipe| read_into(pipe, Arc::clone(&stderr))),
        ];
        Ok(Job {
            leash,
            child,
            stdout,
            stderr,
            readers: readers.into_iter().flatten().collect(),
        })
    }

    fn command(&self, order: &Order<'_>, mark: &str) -> Result<Child, CoreError> {
        let (directory, below) = self.workspace.directory(order.cwd)?;
        let cwd = if cfg!(target_os = "linux") {
            PathBuf::from(format!("/proc/self/fd/{}", directory.as_raw_fd()))
        } else {
            self.workspace.root_path().join(below)
        };
        let mut command = Command::new(&self.path);
        command
            .arg("-c")
            .arg(order.command)
            .env_clear()
            .envs(self.env.iter().map(|(name, value)| (name, value)))
            .envs(order.env)
            .env(env::JOB_VARIABLE, format!("{}{mark}", self.outer))
            .current_dir(cwd)
            .stdin(if order.interactive {
                Stdio::piped()
            } else {
                Stdio::null()
            })
            .stdout(Stdio::piped())
            .stderr(Stdio::piped())
            .process_group(0)
            .kill_on_drop(true);
        command
            .spawn()
            .map_err(|error| CoreError::Process(format!("the shell cannot be started: {error}")))
    }

    fn watch(&self) -> Result<(), CoreError> {
        let mut watcher = self.watcher.lock().unwrap_or_else(PoisonError::into_inner);
        if watcher.is_none() {
            let started = Watcher::start(&self.path, &self.mark);
            *watcher = Some(started.map_err(|error| {
                CoreError::Process(format!("the shell cannot be started: {error}"))
            })?);
        }
        Ok(())
    }
}

fn output(cap_bytes: usize) -> SharedOutput {
    Arc::new(Mutex::new(HeadTail::new(cap_bytes)))
}

/// The output; a reader that panicked has at worst lost some of it.
pub(super) fn lock(output: &SharedOutput) -> MutexGuard<'_, HeadTail> {
    output.lock().unwrap_or_else(PoisonError::into_inner)
}

fn read_into(
    mut pipe: impl AsyncRead + Unpin + Send + 'static,
    output: SharedOutput,
) -> AbortOnDropHandle<()> {
    AbortOnDropHandle::new(tokio::spawn(async move {
        let mut block = vec![0; READ_BYTES];
        while let Ok(read @ 1..) = pipe.read(&mut block).await {
            lock(&output).push(&block[..read]);
        }
    }))
}

impl Job {
    pub(super) fn stdin(&mut self) -> Option<ChildStdin> {
        self.child.stdin.take()
    }

    /// Waits for the shell to end by itself.
    pub(super) async fn wait(&mut self) -> std::io::Result<ExitStatus> {
        self.child.wait().await
    }

    pub(super) fn quarry(&self) -> Option<Quarry> {
        self.leash.0.clone()
    }

    /// Kills what is left and waits until its output is complete.
    pub(super) async fn end(&mut self) {
        if let Some(quarry) = self.leash.0.clone() {
            let killed = tokio::task::spawn_blocking(move || quarry.kill()).await;
            // Only a hunt that ended takes the leash off.
            if killed.is_ok() {
                self.leash.0 = None;
            }
        }
        let _reaped = self.child.wait().await;
        let readers = std::mem::take(&mut self.readers);
        let _escaped_writer = tokio::time::timeout(DRAIN, futures::future::join_all(readers)).await;
    }
}

/// As a shell reports it: the status, or 128 and the signal.
pub(super) fn exit_code(status: ExitStatus) -> i32 {
    use std::os::unix::process::ExitStatusExt as _;
    status
        .code()
        .or_else(|| status.signal().map(|signal| 128 + signal))
        .unwrap_or(-1)
}
