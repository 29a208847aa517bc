//! The guard of a server's process: a process between it and us that outlives neither.
//!
//! A server may start others, move them to groups of their own, or not notice that nobody talks to
//! it any more; and this program may be killed without a chance to clean up. The guard is told when
//! its parent ends, whatever the way, and adopts what the server's children leave behind, so that
//! nothing of a server is left when either is gone.

use std::ffi::OsString;
use std::io;
use std::process::ExitCode;
use std::time::Duration;

use rustix::process::{Pid, Signal, kill_process};
use tokio::process::Command;
use tokio::signal::unix::{SignalKind, signal};

/// The exit code of a guard that could not start the server. Source: what shells give for a command
/// that cannot be executed.
const CANNOT_EXECUTE: u8 = 126;

/// The exit code of a guard for a program that does not exist. Source: as above.
const NOT_FOUND: u8 = 127;

/// Rounds of killing what is left; each waits for the killed to go.
const MAX_ROUNDS: usize = 200;

/// Runs a server under guard until it or the parent ends, and gives the code to end with.
///
/// The words are the parent's process id, the command and its arguments. To be called first thing
/// in a process of its own, with the server's pipes as stdin, stdout and stderr.
pub fn run_guard(words: &[OsString]) -> ExitCode {
    let parsed = words.split_first().and_then(|(parent, command)| {
        let parent: i32 = parent.to_str()?.parse().ok()?;
        Some((Pid::from_raw(parent)?, command.split_first()?))
    });
    let Some((parent, (command, args))) = parsed else {
        return ExitCode::from(CANNOT_EXECUTE);
    };
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build();
    let Ok(runtime) = runtime else {
        return ExitCode::from(CANNOT_EXECUTE);
    };
    let watched = runtime.block_on(watch(parent, command, args));
    runtime.shutdown_background();
    let code = match watched {
        Ok(code) => code,
        Err(error) if error.kind() == io::ErrorKind::NotFound => NOT_FOUND,
        Err(_) => CANNOT_EXECUTE,
    };
    ExitCode::from(code)
}

async fn watch(parent: Pid, command: &OsString, args: &[OsString]) -> io::Result<u8> {
    adopt_orphans();
    // Whoever ends the group ends the server by it; the guard stays to clean up.
    let _terminate = signal(SignalKind::terminate())?;
    let _interrupt = signal(SignalKind::interrupt())?;
    let _hangup = signal(SignalKind::hangup())?;
    let mut child = Command::new(command).args(args).spawn()?;
    let code = tokio::select! {
        status = child.wait() => status?.code().and_then(|code| u8::try_from(code).ok()),
        () = ends(parent) => None,
    };
    end_all().await;
    Ok(code.unwrap_or(1))
}

/// Waits for the end of the parent.
#[cfg(target_os = "linux")]
async fn ends(parent: Pid) {
    use rustix::event::{PollFd, PollFlags, poll};
    use rustix::process::{PidfdFlags, getppid, pidfd_open};
    let Ok(pinned) = pidfd_open(parent, PidfdFlags::empty()) else {
        // It has ended, or the system does not have or does not allow such descriptors.
        return poll_parent(parent).await;
    };
    if getppid() != Some(parent) {
        return;
    }
    // Readable is what the descriptor of an ended process is. The thread ends with this process.
    let waiting = tokio::task::spawn_blocking(move || {
        let mut watched = [PollFd::new(&pinned, PollFlags::IN)];
        poll(&mut watched, None).is_ok()
    });
    if !waiting.await.unwrap_or(false) {
        poll_parent(parent).await;
    }
}

#[cfg(not(target_os = "linux"))]
async fn ends(parent: Pid) {
    poll_parent(parent).await;
}

/// Looks now and then, where the system does not tell.
async fn poll_parent(parent: Pid) {
    const PAUSE: Duration = Duration::from_millis(500);
    while rustix::process::getppid() == Some(parent) {
        tokio::time::sleep(PAUSE).await;
    }
}

#[cfg(target_os = "linux")]
fn adopt_orphans() {
    // Without it, what leaves the group escapes; the group is killed all the same.
    let _ = rustix::process::set_child_subreaper(Some(rustix::process::getpid()));
}

#[cfg(not(target_os = "linux"))]
fn adopt_orphans() {}

/// Kills every child until none is left: the children of the killed become ours.
async fn end_all() {
    const PAUSE: Duration = Duration::from_millis(1);
    for _ in 0..MAX_ROUNDS {
        let children = children();
        if children.is_empty() {
            return;
        }
        for child in children {
            // It is a child that nobody has reaped, so its id is its own.
            let _ = kill_process(child, Signal::KILL);
            let _ = rustix::process::waitpid(Some(child), rustix::process::WaitOptions::NOHANG);
        }
        tokio::time::sleep(PAUSE).await;
    }
}

/// Our children; none where there is no `/proc`.
fn children() -> Vec<Pid> {
    let us = std::process::id();
    let Ok(entries) = std::fs::read_dir("/proc") else {
        return Vec::new();
    };
    let ids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse::<i32>().ok());
    ids.filter(|id| parent_of(*id) == Some(us))
        .filter_map(Pid::from_raw)
        .collect()
}

fn parent_of(id: i32) -> Option<u32> {
    let stat = std::fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
    // The name is in parentheses and may hold anything; the fields follow the last one.
    let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
    fields.nth(1)?.parse().ok()
}
