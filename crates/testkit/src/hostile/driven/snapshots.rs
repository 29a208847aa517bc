//! Snapshots that somebody changed, took, or kept for too long.
//!
//! A transport stands between suspension and resumption and does to the bytes what a case says.

use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use codecell_codemode::{Clock, CodeModeOptions, Park, Randomness, SnapshotTransport, SystemClock};
use codecell_protocol::FailureKind;

use super::super::fakes::tool_set_without;
use super::super::house::{House, Plan, Visit, text_of, waiting_id};
use super::super::judge::{ledger, shown};
use super::super::run::Scene;
use super::{check, driven};

driven! {
    "J/flipped/bytes-all-over": flipped,
    "J/flipped/bits-of-the-header": flipped_header,
    "J/length/truncated": truncated,
    "J/length/extended": extended,
    "J/headers/fields-that-lie": lying_fields,
    "J/headers/of-another-image": another_image,
    "J/foreign/another-sessions": another_sessions,
    "J/foreign/expired": expired,
    "J/foreign/used": used,
    "J/meaning/tool-gone": tool_gone,
    "J/meaning/denied-while-suspended": denied_while_suspended,
    "J/limits/output": tighter_output,
    "J/limits/guest-time": tighter_guest_time,
    "J/limits/snapshot": snapshot_limit,
    "J/random/fresh-in-each-leg": fresh_random,
    "J/random/two-restores": two_restores,
    "J/bombs/claims-to-be-large": bomb,
    "J/bombs/grows-in-every-leg": grows,
    "J/lost/never-comes-back": lost,
    "J/lost/empty": empty,
}

type Bend = Box<dyn Fn(Vec<u8>) -> Result<Vec<u8>, String> + Send + Sync>;

/// Does something to every snapshot that passes.
struct Bent {
    bend: Bend,
    passed: AtomicUsize,
}

impl SnapshotTransport for Bent {
    fn ship(&self, bytes: Vec<u8>) -> Result<Vec<u8>, String> {
        self.passed.fetch_add(1, Ordering::Relaxed);
        (self.bend)(bytes)
    }
}

fn bent_house(
    scene: &Scene,
    bend: impl Fn(Vec<u8>) -> Result<Vec<u8>, String> + Send + Sync + 'static,
) -> Result<(House, Arc<Bent>), String> {
    let transport = Arc::new(Bent {
        bend: Box::new(bend),
        passed: AtomicUsize::new(0),
    });
    let plan = Plan {
        transport: Some(Arc::clone(&transport) as Arc<dyn SnapshotTransport>),
        ..Plan::default()
    };
    Ok((
        House::new(scene.house.sandbox.clone(), &scene.log, plan)?,
        transport,
    ))
}

fn parked() -> CodeModeOptions {
    CodeModeOptions {
        park: Park::EveryAwait,
        ..CodeModeOptions::default()
    }
}

const PROGRAM: &str = "const m = new Map([[1, 'a']]); await tools.note_w({}); const r = await tools.echo({a: 1}); return [r, m.get(1)]";

/// Every bent snapshot is refused, the cell says so and what it did, and nothing else happens.
async fn refused(
    scene: &Scene,
    rounds: usize,
    bend: impl Fn(usize, Vec<u8>) -> Vec<u8> + Send + Sync + 'static,
) -> Result<(), String> {
    let round = Arc::new(AtomicUsize::new(0));
    let now = Arc::clone(&round);
    let (house, transport) = bent_house(scene, move |bytes| {
        Ok(bend(now.load(Ordering::Relaxed), bytes))
    })?;
    for number in 0..rounds {
        round.store(number, Ordering::Relaxed);
        let visit = house.visit(parked())?;
        let outcome = visit.exec(PROGRAM).await;
        let kind = outcome.result.failure_kind();
        check(kind == Some(FailureKind::SnapshotRestoreFailed), || {
            format!("round {number}: {}", shown(&outcome))
        })?;
        ledger(&outcome, visit.books.counts())?;
        visit.end();
    }
    check(transport.passed.load(Ordering::Relaxed) >= rounds, || {
        "nothing passed".to_owned()
    })?;
    house.code_mode.shutdown().await;
    Ok(())
}

async fn flipped(scene: &Scene) -> Result<(), String> {
    const ROUNDS: usize = 120;
    refused(scene, ROUNDS, |round, mut bytes| {
        let at = bytes.len() * round / ROUNDS;
        bytes[at] ^= 1 << (round % 8);
        bytes
    })
    .await
}

async fn flipped_header(scene: &Scene) -> Result<(), String> {
    const HEADER: usize = 200;
    refused(scene, HEADER, |round, mut bytes| {
        bytes[round] ^= 0x80 >> (round % 8);
        bytes
    })
    .await
}

async fn truncated(scene: &Scene) -> Result<(), String> {
    const ROUNDS: usize = 48;
    refused(scene, ROUNDS, |round, mut bytes| {
        let length = if round < 24 {
            round * 9
        } else {
            bytes.len() - 1 - (round - 24) * 17
        };
        bytes.truncate(length);
        bytes
    })
    .await
}

async fn extended(scene: &Scene) -> Result<(), String> {
    refused(scene, 12, |round, mut bytes| {
        let more = bytes.len().min(1 << round);
        bytes.extend_from_within(..more);
        bytes
    })
    .await
}

/// Whole words of the header replaced by numbers that somebody would choose.
async fn lying_fields(scene: &Scene) -> Result<(), String> {
    const NUMBERS: [u32; 4] = [0, 1, 0x8000_0000, u32::MAX];
    refused(scene, 160, |round, mut bytes| {
        let at = round / NUMBERS.len() * 4;
        let number = NUMBERS[round % NUMBERS.len()].to_le_bytes();
        let field = &mut bytes[at..at + 4];
        if field == number.as_slice() {
            field[0] ^= 0xff;
        } else {
            field.copy_from_slice(&number);
        }
        bytes
    })
    .await
}

async fn another_image(scene: &Scene) -> Result<(), String> {
    let image = scene.house.sandbox.image().to_hex();
    refused(scene, 1, move |_, mut bytes| {
        let hash: Vec<u8> = (0..32)
            .filter_map(|i| u8::from_str_radix(image.get(2 * i..2 * i + 2)?, 16).ok())
            .collect();
        let at = bytes.windows(32).position(|window| window == hash);
        let at = at.unwrap_or(0);
        bytes[at..at + 32].fill(0x11);
        bytes
    })
    .await
}

/// The snapshot of one session is handed to another.
async fn another_sessions(scene: &Scene) -> Result<(), String> {
    let kept: Arc<Mutex<Option<Vec<u8>>>> = Arc::default();
    let slot = Arc::clone(&kept);
    let (house, _) = bent_house(scene, move |bytes| {
        let mut slot = slot.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(slot.get_or_insert(bytes).clone())
    })?;
    let owner = house.visit(parked())?;
    let outcome = owner
        .exec("const mine = 'private'; await tools.echo({}); return mine")
        .await;
    check(text_of(&outcome).contains("\"value\":\"private\""), || {
        shown(&outcome)
    })?;
    let thief = house.visit(parked())?;
    let outcome = thief.exec("await tools.echo({}); return 'own'").await;
    let kind = outcome.result.failure_kind();
    check(kind == Some(FailureKind::SnapshotRestoreFailed), || {
        shown(&outcome)
    })?;
    check(!text_of(&outcome).contains("private"), || shown(&outcome))?;
    house.code_mode.shutdown().await;
    Ok(())
}

/// An old snapshot of the cell itself is given back: a call would be made twice.
async fn used(scene: &Scene) -> Result<(), String> {
    let kept: Arc<Mutex<Option<Vec<u8>>>> = Arc::default();
    let (house, _) = bent_house(scene, move |bytes| {
        let mut slot = kept.lock().unwrap_or_else(PoisonError::into_inner);
        Ok(slot.get_or_insert(bytes).clone())
    })?;
    let visit = house.visit(parked())?;
    let code = "await tools.note_w({n: 1}); await tools.note_w({n: 2}); await tools.note_w({n: 3}); return 1";
    let outcome = visit.exec(code).await;
    let counts = visit.books.counts();
    let kind = outcome.result.failure_kind();
    check(kind == Some(FailureKind::SnapshotRestoreFailed), || {
        shown(&outcome)
    })?;
    check(counts.begun == 2, || format!("{counts:?}"))?;
    ledger(&outcome, counts)?;
    house.code_mode.shutdown().await;
    Ok(())
}

#[derive(Default)]
struct Moved(AtomicU64);

impl Clock for Moved {
    fn unix_us(&self) -> u64 {
        SystemClock.unix_us() + self.0.load(Ordering::Relaxed) * 1_000_000
    }

    fn now(&self) -> Instant {
        Instant::now() + Duration::from_secs(self.0.load(Ordering::Relaxed))
    }
}

async fn expired(scene: &Scene) -> Result<(), String> {
    let clock = Arc::new(Moved::default());
    let plan = Plan {
        clock: Some(Arc::clone(&clock) as Arc<dyn Clock>),
        ..Plan::default()
    };
    let house = House::new(scene.house.sandbox.clone(), &scene.log, plan)?;
    let visit = house.visit(CodeModeOptions::default())?;
    let cell = suspended(
        &visit,
        "await tools.note_w({}); await yield_control(); await tools.note_w({})",
    )
    .await?;
    clock.0.store(901, Ordering::Relaxed);
    house.code_mode.sweep();
    for _ in 0..2 {
        let outcome = visit.wait(&cell).await;
        let said = text_of(&outcome).contains("code mode run is unavailable or expired.");
        check(said, || shown(&outcome))?;
    }
    check(visit.books.counts().begun == 1, || {
        "a call after expiry".to_owned()
    })?;
    house.code_mode.shutdown().await;
    Ok(())
}

async fn suspended(visit: &Visit, code: &str) -> Result<String, String> {
    let outcome = visit.exec(code).await;
    waiting_id(&outcome).ok_or_else(|| shown(&outcome))
}

async fn tool_gone(scene: &Scene) -> Result<(), String> {
    changed_tools(scene, &["note_w"]).await
}

async fn denied_while_suspended(scene: &Scene) -> Result<(), String> {
    changed_tools(scene, &["group:*", "note_w", "exec"]).await
}

/// Policy takes a tool away while the cell is suspended: by no name can it be called.
async fn changed_tools(scene: &Scene, gone: &[&str]) -> Result<(), String> {
    let mut visit = scene.house.visit(CodeModeOptions::default())?;
    let code = "const before = tools.note_w; await yield_control();
        const seen = []; for (const call of [() => before({}), () => tools.note_w({}), () => tools.call('note_w', {}),
          () => tools.call('openclaw:core:note_w', {}), () => tools.callRaw('openclaw:core:note_w', {})]) {
          try { await call(); seen.push('called') } catch (e) { seen.push(e.effectStatus) } }
        return [...new Set(seen)]";
    let cell = suspended(&visit, code).await?;
    visit.run.tools = tool_set_without(&visit.books, gone)?;
    let outcome = visit.wait(&cell).await;
    check(
        text_of(&outcome).contains("\"value\":[\"notStarted\"]"),
        || shown(&outcome),
    )?;
    check(visit.books.counts().begun == 0, || {
        "it was called".to_owned()
    })?;
    visit.end();
    Ok(())
}

async fn tighter(scene: &Scene, code: &str, now: CodeModeOptions) -> Result<FailureKind, String> {
    let mut visit = scene.house.visit(CodeModeOptions::default())?;
    let cell = suspended(&visit, code).await?;
    visit.run = visit.run.clone().with_options(now);
    let outcome = visit.wait(&cell).await;
    visit.end();
    outcome.result.failure_kind().ok_or_else(|| shown(&outcome))
}

async fn tighter_output(scene: &Scene) -> Result<(), String> {
    let now = CodeModeOptions {
        max_output_bytes: 1024,
        ..CodeModeOptions::default()
    };
    let kind = tighter(scene, "await yield_control(); return 'x'.repeat(4000)", now).await?;
    check(kind == FailureKind::OutputLimitExceeded, || {
        kind.to_string()
    })
}

async fn tighter_guest_time(scene: &Scene) -> Result<(), String> {
    let now = CodeModeOptions {
        max_guest_ms: 100,
        ..CodeModeOptions::default()
    };
    let kind = tighter(scene, "await yield_control(); for (;;) {}", now).await?;
    check(kind == FailureKind::GuestDeadline, || kind.to_string())
}

async fn snapshot_limit(scene: &Scene) -> Result<(), String> {
    let now = CodeModeOptions {
        max_snapshot_bytes: 200 << 10,
        ..CodeModeOptions::default()
    };
    let code = "await yield_control(); const a = []; for (let i = 0; i < 50000; i++) a.push({i}); await yield_control(); return a.length";
    let kind = tighter(scene, code, now).await?;
    check(kind == FailureKind::SnapshotLimitExceeded, || {
        kind.to_string()
    })
}

/// Random numbers of two legs differ, though the same image was suspended between them.
async fn fresh_random(scene: &Scene) -> Result<(), String> {
    let visit = scene.house.visit(CodeModeOptions::default())?;
    let code = "const draw = () => [Math.random(), crypto.randomUUID()]; const a = draw(); await yield_control(); const b = draw(); await yield_control(); const c = draw(); return new Set([...a, ...b, ...c]).size";
    let cell = suspended(&visit, code).await?;
    let _ = visit.wait(&cell).await;
    let outcome = visit.wait(&cell).await;
    check(text_of(&outcome).contains("\"value\":6,"), || {
        shown(&outcome)
    })?;
    visit.end();
    Ok(())
}

/// One snapshot brought back to life twice, with the seeds of two legs: what is drawn differs.
async fn two_restores(scene: &Scene) -> Result<(), String> {
    #[derive(Default)]
    struct Numbered(AtomicU64);
    impl Randomness for Numbered {
        fn bits(&self) -> u128 {
            u128::from(self.0.fetch_add(1, Ordering::Relaxed))
        }

        fn seed(&self) -> [u8; 32] {
            let mut seed = [0; 32];
            seed[..8].copy_from_slice(&self.0.fetch_add(1, Ordering::Relaxed).to_le_bytes());
            seed
        }
    }
    let mut drawn = Vec::new();
    for start in [0, 1_000_000] {
        let plan = Plan {
            randomness: Some(Arc::new(Numbered(AtomicU64::new(start)))),
            ..Plan::default()
        };
        let house = House::new(scene.house.sandbox.clone(), &scene.log, plan)?;
        let visit = house.visit(CodeModeOptions::default())?;
        let cell = suspended(&visit, "await yield_control(); return crypto.randomUUID()").await?;
        let text = text_of(&visit.wait(&cell).await);
        drawn.push(
            text.split("\"telemetry\"")
                .next()
                .unwrap_or_default()
                .to_owned(),
        );
        house.code_mode.shutdown().await;
    }
    check(drawn[0] != drawn[1], || format!("{drawn:?}"))
}

/// A body that says that it becomes very large.
async fn bomb(scene: &Scene) -> Result<(), String> {
    let before = super::super::run::resident_bytes();
    refused(scene, 8, |round, mut bytes| {
        let tail = bytes.len().saturating_sub(4096 / (round + 1));
        bytes[tail..].fill(0xff);
        bytes.extend(std::iter::repeat_n(0, 1 << (10 + round)));
        bytes
    })
    .await?;
    let grown = super::super::run::resident_bytes().saturating_sub(before);
    check(grown < 128 << 20, || format!("{} MiB more", grown >> 20))
}

/// A cell that grows in every leg reaches the limit of a snapshot, not the end of memory.
async fn grows(scene: &Scene) -> Result<(), String> {
    let visit = scene.house.visit(CodeModeOptions {
        max_snapshot_bytes: 2 << 20,
        ..CodeModeOptions::default()
    })?;
    let code = "const kept = []; for (;;) { kept.push(Array.from({length: 20000}, (_, i) => i * 1.5)); await yield_control() }";
    let mut outcome = visit.exec(code).await;
    for _ in 0..64 {
        let Some(cell) = waiting_id(&outcome) else {
            break;
        };
        outcome = visit.wait(&cell).await;
    }
    let kind = outcome.result.failure_kind();
    check(kind == Some(FailureKind::SnapshotLimitExceeded), || {
        shown(&outcome)
    })?;
    visit.end();
    Ok(())
}

/// A journey that ends in nothing: the cell fails, and says what it did.
async fn lost(scene: &Scene) -> Result<(), String> {
    let (house, _) = bent_house(scene, |_| {
        Err("the disk is full: /var/lib/secret-place".to_owned())
    })?;
    let visit = house.visit(parked())?;
    let outcome = visit.exec(PROGRAM).await;
    check(outcome.result.is_error(), || shown(&outcome))?;
    check(!text_of(&outcome).contains("secret-place"), || {
        shown(&outcome)
    })?;
    ledger(&outcome, visit.books.counts())?;
    house.code_mode.shutdown().await;
    Ok(())
}

async fn empty(scene: &Scene) -> Result<(), String> {
    refused(scene, 1, |_, _| Vec::new()).await
}
