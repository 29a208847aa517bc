//! A guest's life in numbers: `cargo bench -p codecell-sandbox`.
//!
//! Wall time of each step on one guest thread, over many repetitions: median and 99th percentile.
#![expect(
    clippy::unwrap_used,
    clippy::print_stdout,
    reason = "a benchmark prints and may fail loudly"
)]

use std::path::PathBuf;
use std::time::{Duration, Instant};

use codecell_sandbox::abi::{PROGRAM_CLOSE, PROGRAM_OPEN};
use codecell_sandbox::{
    Binding, Entry, EvalFlags, Frame, GuestThread, Limits, Program, Sandbox, SandboxOptions,
    Settlement, SettlementKind, Slice, SliceEnd, StopHandle,
};

const RUNS: usize = 5000;
const BINDING: Binding = Binding {
    owner: [1; 32],
    sequence: 1,
};

fn main() {
    let cache = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("codecell-cache");
    let options = SandboxOptions {
        cache_dir: Some(cache.clone()),
        ..SandboxOptions::default()
    };
    let sandbox = Sandbox::new(&options).unwrap();
    println!("{:<44} {:>10} {:>10}", "", "p50 us", "p99 us");
    one_shot(cache);
    let inner = sandbox.clone();
    sandbox
        .run("bench", move |thread| steps(&inner, thread))
        .unwrap();
    suspended_memory(&sandbox);
    overrun(&sandbox, "deadline of 100 ms overrun, alone");
    let stop = spin(&sandbox, 16);
    overrun(&sandbox, "the same beside 16 spinning guests");
    neighbour(&sandbox);
    stop.abort();
}

fn report(name: &str, mut times: Vec<Duration>) {
    times.sort_unstable();
    let at = |share: usize| times[(times.len() - 1) * share / 100].as_secs_f64() * 1e6;
    println!("{name:<44} {:>10.1} {:>10.1}", at(50), at(99));
}

/// Repeats an operation; what `prepare` does, and dropping what comes out, is not counted.
fn measure<T, R>(
    name: &str,
    runs: usize,
    mut prepare: impl FnMut() -> T,
    mut operation: impl FnMut(T) -> R,
) {
    let mut times = Vec::with_capacity(runs);
    for round in 0..runs + runs / 10 {
        let prepared = prepare();
        let start = Instant::now();
        let made = operation(prepared);
        if round >= runs / 10 {
            times.push(start.elapsed());
        }
        drop(made);
    }
    report(name, times);
}

fn one_shot(cache: PathBuf) {
    let options = SandboxOptions {
        cache_dir: Some(cache),
        one_shot: true,
        ..SandboxOptions::default()
    };
    measure(
        "one-shot sandbox from a warm cache",
        50,
        || (),
        |()| drop(Sandbox::new(&options).unwrap()),
    );
    let first = || {
        let sandbox = Sandbox::new(&options).unwrap();
        let inner = sandbox.clone();
        sandbox
            .run("bench", move |thread| {
                run(&inner, thread, &source("return 1+1"))
            })
            .unwrap();
    };
    measure(
        "the same with a thread and `return 1+1`",
        50,
        || (),
        |()| first(),
    );
}

fn source(body: &str) -> String {
    format!("{PROGRAM_OPEN}\n{body}\n{PROGRAM_CLOSE}")
}

fn program(source: &str) -> Program<'_> {
    Program {
        source,
        injection: "",
        catalog: None,
        limits: Limits::default(),
        first_line: 0,
        flags: EvalFlags::default(),
    }
}

fn entry() -> Entry {
    Entry {
        now_us: 1_700_000_000_000_000,
        seed: Some([7; 32]),
        deadline: Instant::now() + Duration::from_secs(10),
        guest_budget: Duration::from_secs(10),
    }
}

fn run(sandbox: &Sandbox, thread: &GuestThread, source: &str) {
    let mut guest = sandbox.start(&program(source)).unwrap();
    let slice = guest.eval(thread, &entry(), &StopHandle::new()).unwrap();
    assert_eq!(slice.end, SliceEnd::Done);
}

fn call_of(slice: &Slice) -> u32 {
    let id = |frame: &Frame| {
        if let Frame::Call { id, .. } = frame {
            Some(*id)
        } else {
            None
        }
    };
    slice.frames.iter().find_map(id).unwrap()
}

fn steps(sandbox: &Sandbox, thread: &GuestThread) {
    let trivial = source("return 1+1");
    measure(
        "fresh guest, `return 1+1`, teardown",
        RUNS,
        || (),
        |()| run(sandbox, thread, &trivial),
    );
    let start = Instant::now();
    (0..RUNS).for_each(|_| run(sandbox, thread, &trivial));
    println!(
        "{:<44} {:>10.0}",
        "cells a second on one thread",
        RUNS as f64 / start.elapsed().as_secs_f64()
    );
    measure(
        "instance alone",
        RUNS,
        || (),
        |()| drop(sandbox.start(&program(&trivial)).unwrap()),
    );
    suspension(
        sandbox,
        thread,
        "trivial",
        "const r = await tools.call('t', {}); return r",
        RUNS,
    );
    let rows = "const rows = Array.from({length: 9000}, (_, i) => ({id: i, name: 'row ' + i}));
        const r = await tools.call('t', {}); return rows.length + r";
    suspension(sandbox, thread, "1 MB of rows", rows, 200);
    let calls = source(
        "let n = 0; for (let i = 0; i < 100; i++) n += await tools.call('t', {i}); return n",
    );
    measure(
        "100 calls one after another, live",
        500,
        || (),
        |()| {
            let mut guest = sandbox.start(&program(&calls)).unwrap();
            let mut slice = guest.eval(thread, &entry(), &StopHandle::new()).unwrap();
            while slice.end != SliceEnd::Done {
                slice = guest
                    .resume(
                        thread,
                        &[reply(call_of(&slice))],
                        &entry(),
                        &StopHandle::new(),
                    )
                    .unwrap();
            }
        },
    );
}

fn reply(call: u32) -> Settlement<'static> {
    Settlement {
        call,
        kind: SettlementKind::ResolveJson,
        arrival_us: 0,
        payload: "1",
    }
}

fn suspension(sandbox: &Sandbox, thread: &GuestThread, name: &str, body: &str, runs: usize) {
    let source = source(body);
    let suspended = || {
        let mut guest = sandbox.start(&program(&source)).unwrap();
        let slice = guest.eval(thread, &entry(), &StopHandle::new()).unwrap();
        (guest, call_of(&slice))
    };
    let named = |step: &str| format!("{name}: {step}");
    measure(
        &named("start to snapshot"),
        runs,
        || (),
        |()| drop(suspended().0.snapshot(&BINDING).unwrap()),
    );
    measure(
        &named("snapshot alone"),
        runs,
        suspended,
        |(mut guest, _)| {
            let snapshot = guest.snapshot(&BINDING).unwrap();
            (guest, snapshot)
        },
    );
    let (mut guest, call) = suspended();
    let snapshot = guest.snapshot(&BINDING).unwrap();
    drop(guest);
    let resume = |snapshot: &codecell_sandbox::Snapshot| {
        let mut guest = sandbox.restore(snapshot, None).unwrap();
        let slice = guest
            .resume(thread, &[reply(call)], &entry(), &StopHandle::new())
            .unwrap();
        assert_eq!(slice.end, SliceEnd::Done);
    };
    measure(
        &named("restore alone"),
        runs,
        || (),
        |()| drop(sandbox.restore(&snapshot, None).unwrap()),
    );
    measure(
        &named("restore, resume, teardown"),
        runs,
        || (),
        |()| resume(&snapshot),
    );
    let stored = sandbox.compress(&snapshot).unwrap();
    let few = runs / 10;
    measure(
        &named("compress"),
        few,
        || (),
        |()| drop(sandbox.compress(&snapshot).unwrap()),
    );
    measure(
        &named("expand"),
        few,
        || (),
        |()| drop(sandbox.expand(&stored).unwrap()),
    );
    println!(
        "{:<44} {:>10} {:>10}",
        named("bytes raw, stored"),
        snapshot.raw_bytes(),
        stored.stored_bytes()
    );
}

const SPINNING: &str = "for (;;) JSON.parse('[' + '1,'.repeat(1e5) + '1]')";

/// Starts guests that never end by themselves.
fn spin(sandbox: &Sandbox, count: usize) -> StopHandle {
    let stop = StopHandle::new();
    for _ in 0..count {
        let mut guest = sandbox.start(&program(&source(SPINNING))).unwrap();
        let stop = stop.clone();
        let forever = Entry {
            deadline: Instant::now() + Duration::from_secs(600),
            ..entry()
        };
        let forever = Entry {
            guest_budget: Duration::from_secs(600),
            ..forever
        };
        let work = move |thread: &GuestThread| drop(guest.eval(thread, &forever, &stop));
        drop(sandbox.spawn("spinning", work).unwrap());
    }
    std::thread::sleep(Duration::from_millis(300));
    stop
}

fn overrun(sandbox: &Sandbox, name: &str) {
    let once = || {
        let mut guest = sandbox.start(&program(&source(SPINNING))).unwrap();
        let timed = move |thread: &GuestThread| {
            let deadline = Instant::now() + Duration::from_millis(100);
            let slice = guest
                .eval(
                    thread,
                    &Entry {
                        deadline,
                        ..entry()
                    },
                    &StopHandle::new(),
                )
                .unwrap();
            assert!(matches!(slice.end, SliceEnd::Killed(_)));
            deadline.elapsed()
        };
        sandbox.run("bench", timed).unwrap().unwrap()
    };
    report(name, (0..40).map(|_| once()).collect());
}

/// Another session's small cell while the others spin: from asking for a thread to the value.
fn neighbour(sandbox: &Sandbox) {
    let trivial = source("return 1+1");
    let once = || {
        let start = Instant::now();
        let (inner, trivial) = (sandbox.clone(), trivial.clone());
        sandbox
            .run("neighbour", move |thread| run(&inner, thread, &trivial))
            .unwrap();
        start.elapsed()
    };
    report(
        "`return 1+1` beside 16 spinning guests",
        (0..300).map(|_| once()).collect(),
    );
}

fn resident_bytes() -> u64 {
    let statm = std::fs::read_to_string("/proc/self/statm").unwrap_or_default();
    let pages: Option<u64> = statm.split(' ').nth(1).and_then(|pages| pages.parse().ok());
    pages.unwrap_or(0) * 4096
}

fn suspended_memory(sandbox: &Sandbox) {
    let source = source("await tools.call('t', {}); return 1");
    let inner = sandbox.clone();
    let store = move |thread: &GuestThread| {
        let mut guest = inner.start(&program(&source)).unwrap();
        guest.eval(thread, &entry(), &StopHandle::new()).unwrap();
        inner.compress(&guest.snapshot(&BINDING).unwrap()).unwrap()
    };
    let many = move |thread: &GuestThread| {
        drop(store(thread));
        let before = resident_bytes();
        let kept: Vec<_> = (0..64).map(|_| store(thread)).collect();
        (resident_bytes().saturating_sub(before), kept.len())
    };
    let (bytes, count) = sandbox.run("bench", many).unwrap().unwrap();
    println!(
        "{:<44} {bytes:>10}",
        format!("resident bytes for {count} suspended")
    );
}
