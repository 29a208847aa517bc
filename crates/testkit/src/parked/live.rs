//! A guest that is kept.

#![expect(clippy::panic, reason = "a guest that breaks the rules fails the test")]

use std::time::{Duration, Instant};

use codecell_sandbox::{
    Binding, Entry, EvalFlags, Guest, GuestThread, Limits, Program, Sandbox, StopHandle,
};

use super::{Life, Pause, Reply, Step};

/// The owner and number that every snapshot of a test carries.
pub(super) const BINDING: Binding = Binding {
    owner: [9; 32],
    sequence: 1,
};

/// How long one entry may take; only programs that never end take this long.
const MAX_ENTRY: Duration = Duration::from_secs(5);

/// A guest in this process.
pub struct Live<'a> {
    sandbox: &'a Sandbox,
    thread: &'a GuestThread,
    guest: Option<Guest>,
}

impl std::fmt::Debug for Live<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("Live")
            .field("guest", &self.guest)
            .finish_non_exhaustive()
    }
}

impl<'a> Live<'a> {
    /// No guest yet.
    #[must_use]
    pub const fn new(sandbox: &'a Sandbox, thread: &'a GuestThread) -> Self {
        Self {
            sandbox,
            thread,
            guest: None,
        }
    }

    /// The bytes of the guest's snapshot; the guest is dropped.
    pub(super) fn park(&mut self) -> Result<Vec<u8>, String> {
        let mut guest = self.guest.take().ok_or("there is no guest to park")?;
        let snapshot = guest
            .snapshot(&BINDING)
            .map_err(|error| error.to_string())?;
        let stored = self
            .sandbox
            .compress(&snapshot)
            .map_err(|error| error.to_string())?;
        Ok(stored.encode(None))
    }

    /// The guest of these bytes.
    pub(super) fn unpark(&mut self, bytes: &[u8]) -> Result<(), String> {
        let expected = codecell_sandbox::Expected {
            image: self.sandbox.image(),
            binding: BINDING,
            key: None,
            max_raw_bytes: 64 << 20,
        };
        let stored = codecell_sandbox::StoredSnapshot::decode(bytes, &expected)
            .map_err(|error| error.to_string())?;
        let snapshot = self
            .sandbox
            .expand(&stored)
            .map_err(|error| error.to_string())?;
        self.guest = Some(
            self.sandbox
                .restore(&snapshot, None)
                .map_err(|error| error.to_string())?,
        );
        Ok(())
    }
}

impl Life for Live<'_> {
    fn start(&mut self, source: &str, now_us: u64) -> Step {
        let program = Program {
            source,
            injection: "",
            catalog: None,
            limits: Limits::default(),
            first_line: 0,
            flags: EvalFlags::default(),
        };
        let mut guest = self
            .sandbox
            .start(&program)
            .unwrap_or_else(|error| panic!("start: {error}"));
        let slice = guest.eval(
            self.thread,
            &entry(now_us, Some([5; 32])),
            &StopHandle::default(),
        );
        self.guest = Some(guest);
        Step::from(slice.unwrap_or_else(|error| panic!("eval: {error}")))
    }

    fn go_on(&mut self, replies: &[Reply], now_us: u64) -> Step {
        let Some(guest) = &mut self.guest else {
            return Step {
                pause: Pause::Over,
                frames: Vec::new(),
            };
        };
        let batch: Vec<_> = replies.iter().map(Reply::settlement).collect();
        let slice = guest.resume(
            self.thread,
            &batch,
            &entry(now_us, None),
            &StopHandle::default(),
        );
        Step::from(slice.unwrap_or_else(|error| panic!("resume: {error}")))
    }
}

fn entry(now_us: u64, seed: Option<[u8; 32]>) -> Entry {
    Entry {
        now_us,
        seed,
        deadline: Instant::now() + MAX_ENTRY,
        guest_budget: MAX_ENTRY,
    }
}
