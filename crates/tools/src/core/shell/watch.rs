//! What kills the jobs when this program is itself killed and cannot.
//!
//! One small shell waits at the end of a pipe whose other end only this program holds. However the program ends, the pipe
//! closes, and the watcher kills every process that carries the program's mark. A parent-death signal
//! would need code between fork and exec, would follow the *thread* that spawned, and would reach the shell alone.
//! The watcher is in a group of its own, so that Ctrl-C does not reach it. Without `/proc` or `grep` it does nothing.

use std::io;
use std::os::unix::process::CommandExt as _;
use std::path::Path;
use std::process::{Child, Command, Stdio};

/// `$0` is the mark. Killed processes are looked for again because they may have forked meanwhile.
const SCRIPT: &str = r#"
read -r _
rounds=0
while [ "$rounds" -lt 100 ]; do
  rounds=$((rounds + 1))
  found=$(grep -Fls -e "$0" /proc/[0-9]*/environ 2>/dev/null)
  [ -n "$found" ] || exit 0
  for file in $found; do
    id=${file#/proc/}
    kill -KILL "${id%/environ}" 2>/dev/null
  done
done
"#;

/// The waiting shell; ended without a hunt when dropped.
#[derive(Debug)]
pub(super) struct Watcher(Child);

impl Watcher {
    /// Starts a watcher for everything whose environment holds `mark`.
    pub(super) fn start(shell: &Path, mark: &str) -> io::Result<Self> {
        let child = Command::new(shell)
            .args(["-c", SCRIPT, mark])
            .env_clear()
            .env("PATH", "/usr/local/bin:/usr/bin:/bin")
            .current_dir("/")
            .stdin(Stdio::piped())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .process_group(0)
            .spawn()?;
        Ok(Self(child))
    }
}

impl Drop for Watcher {
    fn drop(&mut self) {
        let _gone = self.0.kill();
        let _reaped = self.0.wait();
    }
}
