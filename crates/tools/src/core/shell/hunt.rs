//! Killing a job with everything that it started.
//!
//! A process is of the job if it is in the job's process group, carries the job's mark in its environment, or
//! descends from such a process. The mark finds what moved to a session of its own and what was
//! orphaned. What escapes: a process that both dropped its environment and was orphaned
//! before the hunt began, and one that changed its user, whose environment cannot be read.
//!
//! Process ids are reused, so every process is pinned by a descriptor and looked at again before it is killed.

use std::collections::{HashMap, HashSet};
use std::fs;
use std::time::Duration;

use rustix::process::{Pid, Signal};

/// Rounds of looking and killing; a job that forks faster than this is bounded by the system's limits.
const MAX_ROUNDS: usize = 200;
/// Between rounds, for the killed to go.
const PAUSE: Duration = Duration::from_millis(1);

/// What is known of a job.
#[derive(Debug, Clone)]
pub(super) struct Quarry {
    /// The process group, named after the shell.
    pub(super) group: Pid,
    /// The mark in the environment; unique to the job.
    pub(super) mark: String,
}

impl Quarry {
    /// Kills the job; on return nothing of it runs, the exceptions above aside.
    ///
    /// Blocks for milliseconds. To be called while the shell is not reaped or right after, so that its id is not reused.
    pub(super) fn kill(&self) {
        for round in 0..MAX_ROUNDS {
            let found = self.find();
            if round == 0 {
                let _empty = rustix::process::kill_process_group(self.group, Signal::KILL);
            }
            if found.is_empty() {
                return;
            }
            found.iter().for_each(|process| process.kill());
            std::thread::sleep(PAUSE);
        }
    }

    fn find(&self) -> Vec<Process> {
        let all = processes();
        let mut ours: HashSet<i32> = all
            .iter()
            .filter(|p| p.group == self.group.as_raw_nonzero().get() || p.is_marked(&self.mark))
            .map(|p| p.id)
            .collect();
        let parents: HashMap<i32, i32> = all.iter().map(|p| (p.id, p.parent)).collect();
        for process in &all {
            if descends(process.id, &parents, &ours) {
                ours.insert(process.id);
            }
        }
        all.into_iter().filter(|p| ours.contains(&p.id)).collect()
    }
}

fn descends(id: i32, parents: &HashMap<i32, i32>, ours: &HashSet<i32>) -> bool {
    let mut at = id;
    for _ in 0..parents.len() {
        match parents.get(&at) {
            _ if ours.contains(&at) => return true,
            Some(parent) => at = *parent,
            None => return false,
        }
    }
    false
}

struct Process {
    id: i32,
    parent: i32,
    group: i32,
    started: u64,
}

/// Everything that runs; nothing where there is no `/proc`.
fn processes() -> Vec<Process> {
    let Ok(entries) = fs::read_dir("/proc") else {
        return Vec::new();
    };
    let ids = entries.filter_map(|entry| entry.ok()?.file_name().to_str()?.parse().ok());
    ids.filter_map(Process::look).collect()
}

impl Process {
    /// `None` for what is dead already.
    fn look(id: i32) -> Option<Self> {
        let stat = fs::read_to_string(format!("/proc/{id}/stat")).ok()?;
        // The name is in parentheses and may hold anything; the fields follow the last one.
        let mut fields = stat.rsplit_once(')')?.1.split_ascii_whitespace();
        let state = fields.next()?;
        if matches!(state, "Z" | "X" | "x") {
            return None;
        }
        let parent = fields.next()?.parse().ok()?;
        let group = fields.next()?.parse().ok()?;
        let started = fields.nth(16)?.parse().ok()?;
        Some(Self {
            id,
            parent,
            group,
            started,
        })
    }

    fn is_marked(&self, mark: &str) -> bool {
        let environ = fs::read(format!("/proc/{}/environ", self.id)).unwrap_or_default();
        let prefix = format!("{}=", super::env::JOB_VARIABLE);
        let own = environ
            .split(|b| *b == 0)
            .find_map(|entry| entry.strip_prefix(prefix.as_bytes()));
        own.is_some_and(|value| String::from_utf8_lossy(value).contains(mark))
    }

    /// Kills the process if it still is the one that was looked at.
    #[cfg(target_os = "linux")]
    fn kill(&self) {
        use rustix::process::{PidfdFlags, pidfd_open, pidfd_send_signal};
        let Some(pid) = Pid::from_raw(self.id) else {
            return;
        };
        let Ok(pinned) = pidfd_open(pid, PidfdFlags::empty()) else {
            return;
        };
        if Self::look(self.id).is_some_and(|now| now.started == self.started) {
            let _gone = pidfd_send_signal(&pinned, Signal::KILL);
        }
    }

    #[cfg(not(target_os = "linux"))]
    fn kill(&self) {}
}
