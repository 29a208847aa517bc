//! Processor time of the calling thread, and its priority.
//!
//! Guest time is charged in processor time where the system can tell, so that a busy machine does
//! not use up a cell's budget; elsewhere wall time stands in, which only ever charges more.

use std::time::{Duration, Instant};

/// How much a thread that ran long steps back: to a third of a normal thread's share. Guests make room
/// for each other by themselves; with a smaller share, other programs on a busy machine would use up
/// a guest's deadline.
#[cfg(target_os = "linux")]
const LOWERED_NICENESS: i32 = 5;

/// Up to this, wall time stands for processor time.
const MOMENT: Duration = Duration::from_micros(50);

/// Measures from a start on one thread.
#[derive(Debug, Clone, Copy)]
pub(crate) struct ThreadClock {
    wall: Instant,
    cpu: Option<Duration>,
}

impl ThreadClock {
    pub(crate) fn start() -> Self {
        Self {
            wall: Instant::now(),
            cpu: thread_cpu(),
        }
    }

    pub(crate) fn wall_start(&self) -> Instant {
        self.wall
    }

    /// Time since the start. Only meaningful on the thread that started the clock. A moment is told
    /// by the wall, which costs no system call.
    pub(crate) fn spent(&self) -> Duration {
        let wall = self.wall.elapsed();
        if wall <= MOMENT {
            return wall;
        }
        match (self.cpu, thread_cpu()) {
            (Some(start), Some(now)) => now.saturating_sub(start),
            _ => wall,
        }
    }
}

#[cfg(unix)]
fn thread_cpu() -> Option<Duration> {
    let mut time = libc::timespec {
        tv_sec: 0,
        tv_nsec: 0,
    };
    // SAFETY: the pointer is to a live, writable `timespec` on this stack frame; the call writes
    // nothing else and keeps no reference.
    let code = unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    let seconds = u64::try_from(time.tv_sec).ok()?;
    let nanos = u32::try_from(time.tv_nsec).ok()?;
    (code == 0).then(|| Duration::new(seconds, nanos))
}

#[cfg(not(unix))]
fn thread_cpu() -> Option<Duration> {
    None
}

/// Lowers the calling thread's priority, where the system has one per thread. The thread stays
/// lowered: raising it again takes a privilege, so the pool retires such threads.
pub(crate) fn lower_priority() -> bool {
    #[cfg(target_os = "linux")]
    {
        let thread = rustix::thread::gettid();
        rustix::process::setpriority_process(Some(thread), LOWERED_NICENESS).is_ok()
    }
    #[cfg(not(target_os = "linux"))]
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sleep_is_not_charged_and_work_is() {
        let clock = ThreadClock::start();
        while clock.wall.elapsed() < Duration::from_millis(2) {}
        let spent = clock.spent();
        assert!(spent > Duration::ZERO);
        assert!(spent <= clock.wall.elapsed());
    }
}
