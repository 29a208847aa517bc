//! Sandboxes shared by the tests of this binary, and short ways to run things in them.

use std::path::PathBuf;
use std::sync::LazyLock;
use std::time::{Duration, Instant};

use codecell_sandbox::abi::{PROGRAM_CLOSE, PROGRAM_OPEN};
use codecell_sandbox::{
    Binding, CatalogImage, Entry, EvalFlags, Guest, GuestThread, Limits, Program, Sandbox,
    SandboxOptions, Settlement, Slice, StopHandle,
};

pub(crate) const LIAR: &[u8] = include_bytes!("../liar/liar.wasm");

/// Compiled guests of all test runs.
pub(crate) fn cache_dir() -> PathBuf {
    PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("codecell-cache")
}

pub(crate) fn options() -> SandboxOptions<'static> {
    SandboxOptions {
        cache_dir: Some(cache_dir()),
        max_guests: 100,
        ..SandboxOptions::default()
    }
}

/// The sandbox of the lying guest.
pub(crate) static LIARS: LazyLock<Sandbox> =
    LazyLock::new(|| Sandbox::with_image(&options(), LIAR).unwrap());

/// The sandbox of the real guest.
pub(crate) static GUESTS: LazyLock<Sandbox> = LazyLock::new(|| Sandbox::new(&options()).unwrap());

/// A program's source with this body.
pub(crate) fn body(text: &str) -> String {
    format!("{PROGRAM_OPEN}\n{text}\n{PROGRAM_CLOSE}")
}

pub(crate) const START_US: u64 = 1_700_000_000_000_000;

pub(crate) fn entry(deadline_ms: u64) -> Entry {
    Entry {
        now_us: START_US,
        seed: Some([7; 32]),
        deadline: Instant::now() + Duration::from_millis(deadline_ms),
        guest_budget: Duration::from_secs(60),
    }
}

pub(crate) fn program(source: &str) -> Program<'_> {
    Program {
        source,
        injection: "",
        catalog: None,
        limits: Limits::default(),
        first_line: 0,
        flags: EvalFlags::default(),
    }
}

pub(crate) fn binding(sequence: u64) -> Binding {
    Binding {
        owner: [9; 32],
        sequence,
    }
}

/// Runs on a guest thread and gives the value.
pub(crate) fn on_thread<T: Send + 'static>(
    sandbox: &Sandbox,
    job: impl FnOnce(&GuestThread) -> T + Send + 'static,
) -> T {
    sandbox.run("test", job).unwrap().expect("the job panicked")
}

/// Evaluates a fresh guest with generous time.
pub(crate) fn eval(sandbox: &Sandbox, program: &Program<'_>) -> (Guest, Slice) {
    eval_with(sandbox, program, entry(20_000), StopHandle::new())
}

pub(crate) fn eval_with(
    sandbox: &Sandbox,
    program: &Program<'_>,
    entry: Entry,
    stop: StopHandle,
) -> (Guest, Slice) {
    let mut guest = sandbox.start(program).unwrap();
    on_thread(sandbox, move |thread| {
        let slice = guest.eval(thread, &entry, &stop).unwrap();
        (guest, slice)
    })
}

/// Delivers settlements with generous time.
pub(crate) fn resume(
    sandbox: &Sandbox,
    mut guest: Guest,
    batch: Vec<Settlement<'static>>,
) -> (Guest, Slice) {
    on_thread(sandbox, move |thread| {
        let slice = guest
            .resume(thread, &batch, &entry(20_000), &StopHandle::new())
            .unwrap();
        (guest, slice)
    })
}

pub(crate) fn catalog(entries: usize) -> CatalogImage {
    let texts: Vec<String> = (0..entries)
        .map(|at| format!("{{\"id\":\"tool{at}\",\"name\":\"tool{at}\"}}"))
        .collect();
    CatalogImage::new(texts.iter().map(String::as_str)).unwrap()
}
