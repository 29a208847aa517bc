//! Processes that are killed: at each named step of the store, before and after it is on the disk, and
//! at random instants.
//!
//! The oracle is the log of a server that knows nothing of cells: nothing in it twice, and nothing
//! lost, which means that whatever it has is told as committed or unknown by what is left.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use codecell_codemode::{RowState, SnapshotStore, survey};
use codecell_protocol::{CellResult, Effects};
use serde_json::Value;

use crate::child::{Job, Report, Trap};
use crate::server::EffectServer;
use crate::world::{folder, open};

/// Kinds of records, by the step that they stand for.
const STEPS: [(u8, &str); 8] = [
    (1, "start"),
    (2, "entry"),
    (3, "left"),
    (4, "turn"),
    (5, "reply"),
    (6, "admitted"),
    (7, "suspended"),
    (8, "ended"),
];

/// A program whose value tells what became of each of its calls, by token.
fn program(run: &str) -> String {
    format!(
        "const said = {{}}; const go = async (name, delayMs) => {{ const token = '{run}-' + name; \
         try {{ said[token] = await tools.effect({{token, delayMs}}) }} catch (e) {{ said[token] = e.effectStatus }} }}; \
         const ask = async (name) => {{ const token = '{run}-' + name; \
         try {{ said[token] = (await MCP.outer.effect({{token}})).structuredContent }} catch (e) {{ said[token] = e.effectStatus }} }}; \
         await go('a', 0); await tools.look({{}}); \
         const slow = go('slow', 30); await yield_control('one'); \
         await Promise.all([go('b', 5), ask('c'), tools.look({{}}), go('d', 10)]); await slow; \
         await results.save({{some: 'value'}}); await yield_control('two'); \
         setTimeout(() => said.timer = true, 1); await go('e', 0); await new Promise(done => setTimeout(done, 5)); \
         return said"
    )
}

/// What a whole round of kills has left, compared with the server's log.
struct Verdict<'a> {
    run: &'a str,
    server: &'a EffectServer,
    folder: &'a Path,
    results: Vec<CellResult>,
}

impl Verdict<'_> {
    /// Everything is in order, or the test fails with what is not.
    fn check(&self, what: &str) {
        let tokens = self.server.tokens(self.run);
        for token in &tokens {
            assert_eq!(self.server.count(token), 1, "{what}: {token} twice");
        }
        let store: Arc<dyn SnapshotStore> = open(self.folder);
        let cells = survey(&store).unwrap();
        assert!(cells.len() <= 1, "{what}: {} cells", cells.len());
        let ended = self
            .results
            .iter()
            .rev()
            .find(|result| !matches!(result, CellResult::Waiting(_)));
        let Some(cell) = cells.first() else {
            if ended.is_none() {
                assert!(tokens.is_empty(), "{what}: {tokens:?} without a trace");
            }
            return;
        };
        assert_eq!(cell.damage, None, "{what}");
        assert_eq!(cell.state, RowState::Ended, "{what}");
        let effects = cell.effects.as_ref();
        self.compare(what, &tokens, effects);
        if let Some(CellResult::Completed(completed)) = ended {
            self.compare_value(
                what,
                &tokens,
                &serde_json::from_str(completed.value.get()).unwrap(),
            );
            self.compare(what, &tokens, completed.effects.as_ref());
        }
    }

    fn compare(&self, what: &str, tokens: &[String], effects: Option<&Effects>) {
        let (committed, unknown) =
            effects.map_or((0, 0), |effects| (effects.committed, effects.unknown));
        let looks = 2;
        assert!(
            tokens.len() as u32 <= committed + unknown,
            "{what}: the server knows {tokens:?}, the ledger {committed} and {unknown}"
        );
        assert!(
            committed <= tokens.len() as u32 + looks,
            "{what}: the ledger says {committed}, the server knows {tokens:?} and {looks} calls only read"
        );
    }

    fn compare_value(&self, what: &str, tokens: &[String], value: &Value) {
        for (token, said) in value.as_object().unwrap() {
            let happened = tokens.contains(token);
            match said.as_str() {
                Some("ok") => assert!(happened, "{what}: {token} was reported and never happened"),
                Some("notStarted" | "failed") => {
                    assert!(!happened, "{what}: {token} happened and was denied");
                }
                _ => {}
            }
        }
        let told = |token: &String| value.get(token).is_some();
        assert!(
            tokens.iter().all(told),
            "{what}: {tokens:?} is not all in {value}"
        );
    }
}

/// Starts a cell, kills its process as `first` says, goes on with what is left in processes that are
/// killed as `later` says, and at last in one that is not.
fn round(run: &str, what: &str, server: &EffectServer, first: Killing, later: &[Killing]) -> usize {
    let (_keep, path) = folder();
    let program = program(run);
    let mut kills = 0;
    let mut results = Vec::new();
    let mut go = |program: Option<&str>, killing: Killing| {
        let report = killing.run(&path, &server.address(), program);
        kills += usize::from(report.died);
        results.extend(report.results);
    };
    go(Some(&program), first);
    for killing in later {
        go(None, *killing);
    }
    go(None, Killing::Never);
    let verdict = Verdict {
        run,
        server,
        folder: &path,
        results,
    };
    verdict.check(what);
    kills
}

/// How a process ends.
#[derive(Clone, Copy, Debug)]
enum Killing {
    Never,
    /// In order, at the first suspension.
    Parked,
    At(Trap),
    /// After so many microseconds.
    After(u64),
}

impl Killing {
    fn run(self, folder: &Path, server: &str, program: Option<&str>) -> Report {
        let job = Job {
            folder,
            server,
            trap: match self {
                Self::At(trap) => trap,
                _ => Trap::None,
            },
            program,
            parks: matches!(self, Self::Parked),
            person: None,
        };
        let Self::After(microseconds) = self else {
            return job.run();
        };
        let mut child = job.start();
        std::thread::sleep(Duration::from_micros(microseconds));
        let _ = child.kill();
        Report::of(child)
    }
}

/// Runs jobs on a few threads; the sum of what they give.
fn in_parallel(jobs: Vec<Box<dyn FnOnce() -> usize + Send>>) -> usize {
    let sum = AtomicUsize::new(0);
    let jobs = std::sync::Mutex::new(jobs);
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                loop {
                    let Some(job) = jobs.lock().unwrap().pop() else {
                        return;
                    };
                    sum.fetch_add(job(), Ordering::SeqCst);
                }
            });
        }
    });
    sum.into_inner()
}

/// How many times as much is done when there is time for it.
fn scale() -> usize {
    match std::env::var_os("CODECELL_LONG") {
        Some(_) => 10,
        None => 1,
    }
}

#[test]
fn killed_at_each_named_step() {
    let server = Arc::new(EffectServer::start());
    let mut jobs: Vec<Box<dyn FnOnce() -> usize + Send>> = Vec::new();
    for (kind, step) in STEPS {
        for nth in 1..=3 {
            for after in [false, true] {
                let server = Arc::clone(&server);
                jobs.push(Box::new(move || {
                    let trap = |nth| Killing::At(Trap::Record { kind, nth, after });
                    let what = format!("{step} {nth} {after}");
                    let run = format!("step-{step}-{nth}-{after}");
                    round(&run, &what, &server, trap(nth), &[trap(1), trap(2)])
                }));
            }
        }
    }
    let kills = in_parallel(jobs);
    assert!(kills >= 70, "only {kills} processes were killed");
}

#[test]
fn killed_at_any_write() {
    let server = Arc::new(EffectServer::start());
    let mut jobs: Vec<Box<dyn FnOnce() -> usize + Send>> = Vec::new();
    for nth in 1..=28 {
        for after in [false, true] {
            let server = Arc::clone(&server);
            jobs.push(Box::new(move || {
                let trap = |nth| Killing::At(Trap::Write { nth, after });
                let run = format!("write-{nth}-{after}");
                round(
                    &run,
                    &run.clone(),
                    &server,
                    trap(nth),
                    &[trap(1 + nth % 5), trap(1 + nth % 3)],
                )
            }));
        }
    }
    let kills = in_parallel(jobs);
    assert!(kills >= 130, "only {kills} processes were killed");
}

/// Rounds go on until enough processes were killed: how many end before their time depends on the
/// machine.
#[test]
fn killed_at_random_instants() {
    let server = EffectServer::start();
    let enough = 120 * scale();
    let (kills, rounds) = (AtomicUsize::new(0), AtomicUsize::new(0));
    std::thread::scope(|scope| {
        for _ in 0..3 {
            scope.spawn(|| {
                while kills.load(Ordering::SeqCst) < enough {
                    let number = rounds.fetch_add(1, Ordering::SeqCst);
                    assert!(number < 10 * enough, "only {kills:?} processes were killed");
                    kills.fetch_add(random_round(number, &server), Ordering::SeqCst);
                }
            });
        }
    });
}

fn random_round(number: usize, server: &EffectServer) -> usize {
    let mut state =
        0x9e37_79b9_7f4a_7c15_u64 ^ (number as u64 + 1).wrapping_mul(0x2545_f491_4f6c_dd1d);
    let mut after = |below: u64| {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        Killing::After(10_000 + state % below)
    };
    let first = match number % 4 {
        0 => Killing::Parked,
        _ => after(250_000),
    };
    let later = [after(120_000), after(120_000)];
    let run = format!("random-{number}");
    let what = format!("{run} {first:?} {later:?}");
    round(&run, &what, server, first, &later)
}
