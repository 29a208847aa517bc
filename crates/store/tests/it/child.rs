//! The process that is killed: this very test program, asked through its input to run cells.
//!
//! It can be told to die at a step of its store, before or after that step is on the disk. The trap is
//! in a wrapper around the store that exists here only.

use std::io::{Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use codecell_codemode::{
    Ownership, RowState, SnapshotStore, StoreError, StoredCell, StoredRow, StoredValue,
    ValueChange, Write, survey,
};
use codecell_protocol::{CellId, CellResult};
use codecell_sandbox::SnapshotKey;
use codecell_store::SqliteStore;
use serde_json::{Value, json};

use crate::world::{Person, Setup, World, open};

/// What the store does besides its work.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Trap {
    None,
    /// Dies at the `nth` write that holds a record of this kind.
    Record {
        kind: u8,
        nth: usize,
        after: bool,
    },
    /// Dies at the `nth` write.
    Write {
        nth: usize,
        after: bool,
    },
    /// The disk is full from the `nth` write on.
    Full {
        nth: usize,
    },
    /// The disk is full for saved results.
    FullOfValues,
}

impl Trap {
    fn to_json(self) -> Value {
        match self {
            Self::None | Self::FullOfValues => Value::Null,
            Self::Record { kind, nth, after } => json!({"kind": kind, "nth": nth, "after": after}),
            Self::Write { nth, after } => json!({"nth": nth, "after": after}),
            Self::Full { nth } => json!({"full": nth}),
        }
    }

    fn of_json(value: &Value) -> Self {
        let number = |key: &str| value[key].as_u64().map(|number| number as usize);
        let after = value["after"].as_bool().unwrap_or_default();
        match (number("kind"), number("nth"), number("full")) {
            (Some(kind), Some(nth), _) => Self::Record {
                kind: kind as u8,
                nth,
                after,
            },
            (None, Some(nth), _) => Self::Write { nth, after },
            (_, _, Some(nth)) => Self::Full { nth },
            _ => Self::None,
        }
    }
}

/// A store with a trap.
pub(crate) struct Trapped {
    inner: Arc<SqliteStore>,
    trap: Trap,
    seen: AtomicUsize,
}

impl Trapped {
    pub(crate) fn new(inner: Arc<SqliteStore>, trap: Trap) -> Arc<Self> {
        Arc::new(Self {
            inner,
            trap,
            seen: AtomicUsize::new(0),
        })
    }

    /// Whether this is the write that the trap waits for.
    fn springs(&self, write: &Write) -> bool {
        let (fits, nth) = match self.trap {
            Trap::None | Trap::FullOfValues => return false,
            Trap::Record { kind, nth, .. } => {
                (write.records.iter().any(|record| record.kind == kind), nth)
            }
            Trap::Write { nth, .. } => (true, nth),
            Trap::Full { nth } => return self.seen.fetch_add(1, Ordering::SeqCst) + 1 >= nth,
        };
        fits && self.seen.fetch_add(1, Ordering::SeqCst) + 1 == nth
    }
}

/// Ends the process as a crash does: nothing is flushed, nothing is dropped.
fn die() {
    std::process::abort();
}

impl SnapshotStore for Trapped {
    fn own(&self, id: &CellId) -> Result<Option<Box<dyn Ownership>>, StoreError> {
        self.inner.own(id)
    }

    fn write(&self, mut write: Write) {
        if self.springs(&write) {
            match self.trap {
                Trap::Full { .. } => return (write.done)(Err(StoreError::Full)),
                Trap::Record { after: false, .. } | Trap::Write { after: false, .. } => die(),
                _ => {
                    write.urgent = true;
                    write.done = Box::new(|_| die());
                }
            }
        }
        self.inner.write(write);
    }

    fn read(&self, id: &CellId) -> Result<Option<StoredCell>, StoreError> {
        self.inner.read(id)
    }

    fn rows(&self) -> Result<Vec<StoredRow>, StoreError> {
        self.inner.rows()
    }

    fn remove(&self, id: &CellId) -> Result<(), StoreError> {
        self.inner.remove(id)
    }

    fn values(&self, scope: &[u8; 32]) -> Result<Vec<StoredValue>, StoreError> {
        self.inner.values(scope)
    }

    fn change_value(
        &self,
        scope: &[u8; 32],
        change: ValueChange,
        expires_us: u64,
    ) -> Result<(), StoreError> {
        match self.trap {
            Trap::FullOfValues => Err(StoreError::Full),
            _ => self.inner.change_value(scope, change, expires_us),
        }
    }

    fn forget_values(&self, scope: &[u8; 32]) -> Result<(), StoreError> {
        self.inner.forget_values(scope)
    }

    fn sweep_values(&self, now_us: u64) -> Result<(), StoreError> {
        self.inner.sweep_values(now_us)
    }

    fn snapshot_key(&self) -> &SnapshotKey {
        self.inner.snapshot_key()
    }

    fn flush(&self) {
        self.inner.flush();
    }
}

/// What a child is asked for.
pub(crate) struct Job<'a> {
    pub(crate) folder: &'a Path,
    pub(crate) server: &'a str,
    pub(crate) trap: Trap,
    /// The program to start; without one, everything that is stored goes on.
    pub(crate) program: Option<&'a str>,
    /// Ends the process in order at the first suspension.
    pub(crate) parks: bool,
    /// Who is asked about calls.
    pub(crate) person: Option<Person>,
}

impl Job<'_> {
    /// Starts a process that does it.
    pub(crate) fn start(&self) -> Child {
        let job = json!({
            "folder": self.folder, "server": self.server, "trap": self.trap.to_json(),
            "program": self.program, "parks": self.parks,
            "person": self.person.map(|person| format!("{person:?}")),
        });
        let mut child = Command::new(std::env::current_exe().unwrap())
            .args([
                "child::run",
                "--exact",
                "--ignored",
                "--nocapture",
                "--test-threads=1",
            ])
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let mut input = child.stdin.take().unwrap();
        input.write_all(job.to_string().as_bytes()).unwrap();
        child
    }

    /// Does it in a process of its own, and gives what that reported before it ended or died.
    pub(crate) fn run(&self) -> Report {
        Report::of(self.start())
    }
}

/// What became of a child.
pub(crate) struct Report {
    pub(crate) died: bool,
    pub(crate) results: Vec<CellResult>,
}

impl Report {
    pub(crate) fn of(child: Child) -> Self {
        let output = child.wait_with_output().unwrap();
        let text = String::from_utf8_lossy(&output.stdout);
        let results = text.lines().filter_map(|line| {
            line.split_once("@@")
                .and_then(|(_, json)| CellResult::from_json(json).ok())
        });
        Self {
            died: !output.status.success(),
            results: results.collect(),
        }
    }
}

#[test]
#[ignore = "the process that other tests start and kill"]
fn run() {
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).unwrap();
    let job: Value = serde_json::from_str(&text).unwrap();
    let runtime = tokio::runtime::Builder::new_multi_thread()
        .worker_threads(2)
        .enable_all()
        .build()
        .unwrap();
    runtime.block_on(obey(&job));
}

async fn obey(job: &Value) {
    let folder = PathBuf::from(job["folder"].as_str().unwrap());
    let store: Arc<dyn SnapshotStore> = Trapped::new(open(&folder), Trap::of_json(&job["trap"]));
    let people = [Person::Agrees, Person::Refuses, Person::Ponders].into_iter();
    let named = |person: &Person| job["person"] == format!("{person:?}");
    let world = World::of(Setup {
        person: people.into_iter().find(named),
        ..Setup::new(job["server"].as_str().unwrap(), Some(Arc::clone(&store)))
    });
    let parks = job["parks"].as_bool().unwrap();
    match job["program"].as_str() {
        Some(program) => {
            let mut result = world.exec(program).await;
            if !parks {
                result = world.wait_out(result).await;
            }
            say(&result);
        }
        None => {
            for report in survey(&store).unwrap() {
                if report.state != RowState::Ended {
                    let result = world.wait(&report.id.to_string(), None).await;
                    say(&world.wait_out(result).await);
                }
            }
        }
    }
    world.cells.shutdown().await;
}

fn say(result: &CellResult) {
    let mut out = std::io::stdout().lock();
    writeln!(out, "@@{}", serde_json::to_string(result).unwrap()).unwrap();
    out.flush().unwrap();
}
