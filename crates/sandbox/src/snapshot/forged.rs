//! Snapshots whose pages were changed after the fact, as by someone who has the key: whatever the
//! guest then does, it does inside its own sandbox, and its neighbours go on.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use proptest::prelude::Rng;
use proptest::test_runner::{RngAlgorithm, TestRng};

use super::{Binding, PAGE, Snapshot};
use crate::abi::{PROGRAM_CLOSE, PROGRAM_OPEN};
use crate::frames::Frame;
use crate::guest::{Guest, Slice};
use crate::input::{Entry, EvalFlags, Program, Settlement, SettlementKind};
use crate::limits::Limits;
use crate::sandbox::{Sandbox, SandboxOptions};
use crate::stop::StopHandle;
use crate::threads::GuestThread;

const ROUNDS: usize = 400;

fn entry(milliseconds: u64) -> Entry {
    let deadline = Instant::now() + Duration::from_millis(milliseconds);
    Entry {
        now_us: 1,
        seed: None,
        deadline,
        guest_budget: Duration::from_secs(20),
    }
}

fn start(sandbox: &Sandbox, thread: &GuestThread) -> (Guest, u32) {
    let body =
        "const m = new Map([[1, [2]]]); const r = await tools.call('t', {}); return [r, ...m]";
    let source = format!("{PROGRAM_OPEN}\n{body}\n{PROGRAM_CLOSE}");
    let program = Program {
        source: &source,
        injection: "",
        catalog: None,
        limits: Limits::default(),
        first_line: 0,
        flags: EvalFlags::default(),
    };
    let mut guest = sandbox.start(&program).unwrap();
    let slice = guest
        .eval(thread, &entry(20_000), &StopHandle::new())
        .unwrap();
    let call = slice.frames.iter().find_map(|frame| match frame {
        Frame::Call { id, .. } => Some(*id),
        _ => None,
    });
    (guest, call.unwrap())
}

fn finish(
    sandbox: &Sandbox,
    thread: &GuestThread,
    snapshot: &Snapshot,
    call: u32,
    milliseconds: u64,
) -> Slice {
    let mut guest = sandbox.restore(snapshot, None).unwrap();
    let reply = Settlement {
        call,
        kind: SettlementKind::ResolveJson,
        arrival_us: 1,
        payload: "[5]",
    };
    guest
        .resume(thread, &[reply], &entry(milliseconds), &StopHandle::new())
        .unwrap()
}

/// Changes some bytes: single bits, words, or a whole page.
fn damage(snapshot: &mut Snapshot, random: &mut TestRng) {
    let size = snapshot.pages.len();
    for _ in 0..=random.next_u32() % 8 {
        let at = random.next_u32() as usize % size;
        match random.next_u32() % 4 {
            0 => snapshot.pages[at] ^= 1 << (random.next_u32() % 8),
            1 => snapshot.pages[at] = random.next_u32() as u8,
            2 => {
                let word = at / 4 * 4;
                snapshot.pages[word..word + 4].copy_from_slice(&random.next_u32().to_le_bytes());
            }
            _ => {
                let page = at / PAGE * PAGE;
                random.fill_bytes(&mut snapshot.pages[page..page + PAGE]);
            }
        }
    }
}

/// The folder of compiled guests in the build folder, which the integration tests use too.
fn cache_dir() -> Option<PathBuf> {
    let test = std::env::current_exe().ok()?;
    let build = test
        .ancestors()
        .find(|folder| folder.join("CACHEDIR.TAG").is_file())?;
    Some(build.join("tmp/codecell-cache"))
}

#[test]
fn damaged_pages_stay_inside_their_sandbox() {
    let options = SandboxOptions {
        cache_dir: cache_dir(),
        ..SandboxOptions::default()
    };
    let sandbox = Sandbox::new(&options).unwrap();
    let inner = sandbox.clone();
    let rounds = move |thread: &GuestThread| {
        let (mut guest, call) = start(&inner, thread);
        let whole = guest
            .snapshot(&Binding {
                owner: [0; 32],
                sequence: 1,
            })
            .unwrap();
        let healthy = finish(&inner, thread, &whole, call, 20_000);
        let mut random = TestRng::from_seed(RngAlgorithm::ChaCha, &[5; 32]);
        let mut changed = 0;
        for _ in 0..ROUNDS {
            let mut damaged = whole.clone();
            damage(&mut damaged, &mut random);
            let slice = finish(&inner, thread, &damaged, call, 40);
            changed += usize::from(slice.end != healthy.end || slice.frames != healthy.frames);
        }
        let after = finish(&inner, thread, &whole, call, 20_000);
        assert_eq!((after.end, after.frames), (healthy.end, healthy.frames));
        changed
    };
    let changed = sandbox.run("test", rounds).unwrap();
    assert!(
        changed.is_some_and(|changed| changed > ROUNDS / 20),
        "{changed:?}"
    );
}
