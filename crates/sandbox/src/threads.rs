//! Guest threads: elastic, with stacks large enough for guest code, fair between sessions.
//!
//! A thread is made for a waiting job while there are fewer than the maximum, and ends after a
//! while without work. Beyond the maximum jobs queue, and sessions take turns however many jobs
//! each has queued. A thread that stepped back in priority is retired rather than reused.

use std::cell::Cell;
use std::collections::{HashMap, VecDeque};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError, Weak};
use std::time::Duration;

use crate::crowd::{Crowd, Member};
use crate::engine::THREAD_STACK_BYTES;

/// How long a thread without work stays.
const IDLE: Duration = Duration::from_secs(10);

/// Proof of being on a guest thread, whose stack guest code may use. It cannot leave its thread.
#[derive(Debug)]
pub struct GuestThread {
    retire: Cell<bool>,
    not_send: PhantomData<*const ()>,
}

impl GuestThread {
    /// Lets the thread end after its present job.
    pub(crate) fn retire(&self) {
        self.retire.set(true);
    }
}

type Work = Box<dyn FnOnce(&GuestThread) + Send>;

/// The queue is full: the caller may try again later.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("{queued} cells are waiting already, at most {max_queued} may; try again later")]
pub struct QueueFull {
    /// How many wait.
    pub queued: u32,
    /// How many may.
    pub max_queued: u32,
}

/// A job's place in the queue. Dropping it changes nothing.
#[derive(Debug)]
pub struct Ticket {
    shared: Weak<Shared>,
    session: Arc<str>,
    id: u64,
}

impl Ticket {
    /// Takes the job out of the queue. `false` when it has begun, or ended, already.
    #[must_use]
    pub fn cancel(&self) -> bool {
        let Some(shared) = self.shared.upgrade() else {
            return false;
        };
        let removed = shared.lock().remove(&self.session, self.id);
        // The job is dropped outside the lock: what it captured may take its time.
        removed.is_some()
    }

    /// Whether the job is still in the queue.
    #[must_use]
    pub fn is_queued(&self) -> bool {
        self.shared
            .upgrade()
            .is_some_and(|shared| shared.lock().contains(&self.session, self.id))
    }
}

struct Job {
    id: u64,
    work: Work,
    /// Makes long guests step aside while a thread wakes up for this job.
    arrival: Option<Member>,
}

#[derive(Default)]
struct State {
    jobs: HashMap<Arc<str>, VecDeque<Job>>,
    /// Sessions with waiting jobs, the next one first.
    turns: VecDeque<Arc<str>>,
    queued: u32,
    threads: u32,
    idle: u32,
    next_id: u64,
    closed: bool,
}

impl State {
    fn push(&mut self, session: &str, work: Work, arrival: Option<Member>) -> (Arc<str>, u64) {
        let key = match self.jobs.get_key_value(session) {
            Some((key, _)) => Arc::clone(key),
            None => {
                let key: Arc<str> = session.into();
                self.turns.push_back(Arc::clone(&key));
                key
            }
        };
        let id = self.next_id;
        self.next_id += 1;
        self.queued += 1;
        self.jobs
            .entry(Arc::clone(&key))
            .or_default()
            .push_back(Job { id, work, arrival });
        (key, id)
    }

    /// The next job: one of the session whose turn it is, which then goes to the back.
    fn pop(&mut self) -> Option<Job> {
        let session = self.turns.pop_front()?;
        let queue = self.jobs.get_mut(&session)?;
        let job = queue.pop_front();
        if queue.is_empty() {
            self.jobs.remove(&session);
        } else {
            self.turns.push_back(session);
        }
        self.queued -= u32::from(job.is_some());
        job
    }

    fn remove(&mut self, session: &str, id: u64) -> Option<Job> {
        let queue = self.jobs.get_mut(session)?;
        let at = queue.iter().position(|job| job.id == id)?;
        let job = queue.remove(at)?;
        if queue.is_empty() {
            self.jobs.remove(session);
            self.turns.retain(|turn| &**turn != session);
        }
        self.queued -= 1;
        Some(job)
    }

    fn contains(&self, session: &str, id: u64) -> bool {
        self.jobs
            .get(session)
            .is_some_and(|queue| queue.iter().any(|job| job.id == id))
    }
}

struct Shared {
    state: Mutex<State>,
    wake: Condvar,
    max_threads: u32,
    max_queued: u32,
}

impl std::fmt::Debug for Shared {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Shared")
            .field("max_threads", &self.max_threads)
            .finish_non_exhaustive()
    }
}

impl Shared {
    /// No job runs under the lock, so a poisoned one still guards a whole state.
    fn lock(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// The guest threads of one sandbox.
#[derive(Debug)]
pub(crate) struct Threads {
    shared: Arc<Shared>,
    crowd: Arc<Crowd>,
}

impl Threads {
    pub(crate) fn new(max_threads: u32, max_queued: u32, crowd: Arc<Crowd>) -> Self {
        let shared = Shared {
            state: Mutex::default(),
            wake: Condvar::new(),
            max_threads,
            max_queued,
        };
        Self {
            shared: Arc::new(shared),
            crowd,
        }
    }

    pub(crate) fn spawn(&self, session: &str, work: Work) -> Result<Ticket, QueueFull> {
        let mut state = self.shared.lock();
        if state.queued >= self.shared.max_queued {
            return Err(QueueFull {
                queued: state.queued,
                max_queued: self.shared.max_queued,
            });
        }
        let starts_now = state.queued < state.idle || state.threads < self.shared.max_threads;
        let arrival = starts_now.then(|| self.crowd.enter());
        let (session, id) = state.push(session, work, arrival);
        let ticket = Ticket {
            shared: Arc::downgrade(&self.shared),
            session,
            id,
        };
        if state.queued <= state.idle {
            drop(state);
            self.shared.wake.notify_one();
        } else if state.threads < self.shared.max_threads {
            self.add_thread(&mut state, &ticket)?;
        }
        Ok(ticket)
    }

    /// Starts a thread. Without one the job may wait for those that exist; with none it would wait
    /// forever, so it is refused.
    fn add_thread(&self, state: &mut State, ticket: &Ticket) -> Result<(), QueueFull> {
        let shared = Arc::clone(&self.shared);
        let builder = std::thread::Builder::new()
            .name("codecell-guest".to_owned())
            .stack_size(THREAD_STACK_BYTES);
        match builder.spawn(move || run(&shared)) {
            Ok(_) => state.threads += 1,
            Err(error) => {
                tracing::warn!(%error, "no further guest thread can be started");
                if state.threads == 0 {
                    drop(state.remove(&ticket.session, ticket.id));
                    return Err(QueueFull {
                        queued: state.queued,
                        max_queued: 0,
                    });
                }
            }
        }
        Ok(())
    }

    pub(crate) fn counts(&self) -> (u32, u32) {
        let state = self.shared.lock();
        (state.threads, state.queued)
    }
}

impl Drop for Threads {
    /// Waiting jobs are still run; threads end when there are none left.
    fn drop(&mut self) {
        self.shared.lock().closed = true;
        self.shared.wake.notify_all();
    }
}

fn run(shared: &Arc<Shared>) {
    let thread = GuestThread {
        retire: Cell::new(false),
        not_send: PhantomData,
    };
    while let Some(Job { work, arrival, .. }) = next_job(shared, &thread) {
        drop(arrival);
        if catch_unwind(AssertUnwindSafe(|| work(&thread))).is_err() {
            tracing::error!("a guest thread's job panicked");
        }
    }
}

/// The next job, or `None` when this thread is to end; it is then no longer counted.
fn next_job(shared: &Arc<Shared>, thread: &GuestThread) -> Option<Job> {
    let mut state = shared.lock();
    if thread.retire.get() {
        replace(shared, &mut state);
        return None;
    }
    loop {
        if let Some(job) = state.pop() {
            return Some(job);
        }
        if state.closed {
            state.threads -= 1;
            return None;
        }
        state.idle += 1;
        let (guard, timeout) = shared
            .wake
            .wait_timeout(state, IDLE)
            .unwrap_or_else(PoisonError::into_inner);
        state = guard;
        state.idle -= 1;
        if timeout.timed_out() && state.queued == 0 {
            state.threads -= 1;
            return None;
        }
    }
}

/// Puts a fresh thread in the place of one that ends while jobs wait.
fn replace(shared: &Arc<Shared>, state: &mut State) {
    let successor = Arc::clone(shared);
    let builder = std::thread::Builder::new()
        .name("codecell-guest".to_owned())
        .stack_size(THREAD_STACK_BYTES);
    let needed = state.queued > state.idle;
    if !needed || builder.spawn(move || run(&successor)).is_err() {
        state.threads -= 1;
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::{Receiver, Sender, channel};

    use super::*;

    fn threads(max_threads: u32, max_queued: u32) -> Threads {
        Threads::new(max_threads, max_queued, Arc::new(Crowd::new(2)))
    }

    const PATIENCE: Duration = Duration::from_secs(30);

    fn collect<T>(receive: &Receiver<T>, count: usize) -> Vec<T> {
        (0..count)
            .map(|_| receive.recv_timeout(PATIENCE).unwrap())
            .collect()
    }

    /// Occupies a thread until the sender is dropped.
    fn block(threads: &Threads, session: &str) -> Sender<()> {
        let (release, wait) = channel::<()>();
        let (started, has_started) = channel();
        let work = move |_: &GuestThread| {
            started.send(()).unwrap();
            let _ = wait.recv();
        };
        let _ticket = threads.spawn(session, Box::new(work)).unwrap();
        has_started.recv_timeout(PATIENCE).unwrap();
        release
    }

    #[test]
    fn sessions_take_turns() {
        let threads = threads(1, 100);
        let release = block(&threads, "first");
        let (done, receive) = channel();
        for name in ["a1", "a2", "a3", "b1", "c1", "b2"] {
            let done = done.clone();
            let work = move |_: &GuestThread| done.send(name).unwrap();
            let _ticket = threads.spawn(&name[..1], Box::new(work)).unwrap();
        }
        drop(release);
        assert_eq!(collect(&receive, 6), ["a1", "b1", "c1", "a2", "b2", "a3"]);
    }

    #[test]
    fn threads_grow_to_the_maximum_and_no_further() {
        let threads = threads(3, 100);
        let releases: Vec<_> = (0..3).map(|_| block(&threads, "a")).collect();
        let (done, receive) = channel();
        let _ticket = threads
            .spawn("a", Box::new(move |_| done.send(()).unwrap()))
            .unwrap();
        assert_eq!(threads.counts(), (3, 1));
        drop(releases);
        collect(&receive, 1);
        assert_eq!(threads.counts().0, 3);
    }

    #[test]
    fn a_full_queue_refuses_and_a_cancelled_job_never_runs() {
        let threads = threads(1, 2);
        let release = block(&threads, "a");
        let (done, receive) = channel();
        let spawn = |name: &'static str| {
            let done = done.clone();
            threads.spawn(
                "a",
                Box::new(move |_: &GuestThread| done.send(name).unwrap()),
            )
        };
        let first = spawn("first").unwrap();
        let second = spawn("second").unwrap();
        assert_eq!(
            spawn("third").unwrap_err(),
            QueueFull {
                queued: 2,
                max_queued: 2
            }
        );
        assert!(first.is_queued());
        assert!(first.cancel());
        assert!(!first.cancel());
        let _fourth = spawn("fourth").unwrap();
        drop(release);
        assert_eq!(collect(&receive, 2), ["second", "fourth"]);
        assert!(!second.cancel());
    }

    #[test]
    fn a_panicking_job_harms_nobody() {
        let threads = threads(1, 10);
        let (done, receive) = channel();
        let _first = threads
            .spawn("a", Box::new(|_| std::panic::panic_any("on purpose")))
            .unwrap();
        let _second = threads
            .spawn("a", Box::new(move |_| done.send(7).unwrap()))
            .unwrap();
        assert_eq!(collect(&receive, 1), [7]);
    }

    #[test]
    fn a_retired_thread_is_replaced() {
        let threads = threads(1, 10);
        let release = block(&threads, "a");
        let (done, receive) = channel();
        for retire in [true, false, false] {
            let done = done.clone();
            let work = move |thread: &GuestThread| {
                if retire {
                    thread.retire();
                }
                done.send(std::thread::current().id()).unwrap();
            };
            let _ticket = threads.spawn("a", Box::new(work)).unwrap();
        }
        drop(release);
        let ids = collect(&receive, 3);
        assert_ne!(ids[0], ids[1]);
        assert_eq!(ids[1], ids[2]);
        assert_eq!(threads.counts().0, 1);
    }

    #[test]
    fn waiting_jobs_run_after_the_owner_is_gone() {
        let threads = threads(1, 10);
        let release = block(&threads, "a");
        let (done, receive) = channel();
        let ticket = threads
            .spawn("a", Box::new(move |_| done.send(()).unwrap()))
            .unwrap();
        drop(threads);
        drop(release);
        collect(&receive, 1);
        assert!(!ticket.cancel());
    }
}
