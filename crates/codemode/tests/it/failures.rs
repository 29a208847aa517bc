//! Every line of the failure table, reached through the public interface.

use std::collections::BTreeSet;
use std::sync::Arc;
use std::time::{Duration, Instant};

use codecell_codemode::{CodeModeOptions, Park, RunContext, Scope, SnapshotTransport};
use codecell_protocol::{CellResult, FailureKind, Language, Phase};
use codecell_sandbox::{Sandbox, SandboxOptions};

use crate::support::{Setup, World, error, kind, run_id, text, value};

/// A defect, which no program, client or clock can bring about. Its text and code are held by a
/// unit test, its causes by the tests of the sandbox against guests that lie.
const NOT_TO_BE_HAD: [FailureKind; 1] = [FailureKind::Internal];

#[tokio::test(flavor = "multi_thread")]
async fn programs_reach_the_kinds_of_the_table() {
    use FailureKind as K;
    let world = World::new().with_options(CodeModeOptions {
        timeout_ms: 4000,
        ..CodeModeOptions::default()
    });
    let cases: &[(&str, K, Phase)] = &[
        ("const x = ;", K::SyntaxError, Phase::Input),
        ("import fs from 'fs'", K::ModuleAccessDenied, Phase::Input),
        ("return require('fs')", K::ModuleAccessDenied, Phase::Input),
        ("ls -la", K::NotJavascript, Phase::Input),
        (
            "import os\nprint(os.getcwd())",
            K::NotJavascript,
            Phase::Input,
        ),
        ("while (true) {}", K::GuestDeadline, Phase::Guest),
        ("throw new Error('mine')", K::GuestError, Phase::Guest),
        (
            "Promise.reject(new Error('left'))",
            K::GuestError,
            Phase::Guest,
        ),
        ("await tools.fail({})", K::NestedToolFailed, Phase::Bridge),
        (
            "const a = []; while (true) a.push(new Array(100000).fill(1.5))",
            K::MemoryLimitExceeded,
            Phase::Guest,
        ),
        (
            "const f = () => f() + 1; return f()",
            K::StackOverflow,
            Phase::Guest,
        ),
        ("await new Promise(() => {})", K::Deadlock, Phase::Guest),
        (
            "return 'x'.repeat(70000)",
            K::OutputLimitExceeded,
            Phase::Bridge,
        ),
    ];
    for (code, expected, phase) in cases {
        let outcome = world.exec(code).await;
        assert_eq!(kind(&outcome), *expected, "{code}: {}", text(&outcome));
        let CellResult::Failed(failed) = &outcome.result else {
            panic!("not failed")
        };
        assert_eq!(
            (failed.failure.phase, failed.code),
            (*phase, expected.code()),
            "{code}"
        );
        assert!(outcome.result.is_error());
    }
    assert_eq!(
        value(&world.exec("return 1").await),
        1,
        "others notice nothing"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn one_turn_with_too_many_calls() {
    // Thousands of calls in an unoptimised build take their time.
    let options = CodeModeOptions {
        timeout_ms: 60_000,
        ..CodeModeOptions::default()
    };
    let world = World::new().with_options(options);
    let many = "const all = []; for (let i = 0; i < 17000; i++) all.push(tools.hold({})); await Promise.all(all)";
    let outcome = world.exec(many).await;
    assert_eq!(
        kind(&outcome),
        FailureKind::TooManyPendingToolCalls,
        "{}",
        text(&outcome)
    );
    assert!(world.stage.log().is_empty(), "none was dispatched");
}

#[tokio::test(flavor = "multi_thread")]
async fn what_is_wrong_before_anything_runs() {
    let world = World::new();
    let blank = world.exec("  ").await;
    assert_eq!(kind(&blank), FailureKind::InvalidArguments);
    let large = world
        .exec(&format!("return 1 // {}", "x".repeat(256 * 1024)))
        .await;
    assert_eq!(kind(&large), FailureKind::InvalidArguments);
    let mut run = world.run.clone();
    run.invalid_override = Some("tools.codeMode.timeoutMs: a number".into());
    let outcome = world.exec_in("return 1", &run).await;
    assert_eq!(kind(&outcome), FailureKind::InvalidConfig);
    assert_eq!(
        error(&outcome),
        "the options given with this run are not valid: tools.codeMode.timeoutMs: a number"
    );
    let only_js = CodeModeOptions {
        languages: vec![Language::JavaScript],
        ..CodeModeOptions::default()
    };
    let world = World::new().with_options(only_js);
    let input = codecell_protocol::ExecInput {
        code: "return 1".into(),
        language: Some(Language::TypeScript),
    };
    let outcome = world.code_mode.exec(input, &world.run, "call".into()).await;
    assert_eq!(kind(&outcome), FailureKind::UnsupportedLanguage);
}

#[tokio::test(flavor = "multi_thread")]
async fn typescript_that_cannot_be_transformed() {
    let world = World::new();
    let input = codecell_protocol::ExecInput {
        code: "@deco class A {}\nreturn 1".into(),
        language: Some(Language::TypeScript),
    };
    let outcome = world.code_mode.exec(input, &world.run, "call".into()).await;
    assert_eq!(
        kind(&outcome),
        FailureKind::TypescriptTransformFailed,
        "{}",
        text(&outcome)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_syntax_error_shows_its_place_and_dispatches_nothing() {
    let world = World::new();
    let outcome = world.exec("await tools.echo_w({})\nconst x = ;").await;
    let CellResult::Failed(failed) = &outcome.result else {
        panic!("not failed")
    };
    assert_eq!(failed.failure.line, Some(2));
    assert!(
        failed
            .failure
            .frame
            .as_deref()
            .is_some_and(|frame| frame.contains("const x = ;") && frame.contains('^'))
    );
    assert!(world.stage.log().is_empty());
    assert!(failed.effects.is_none());
}

#[tokio::test(flavor = "multi_thread")]
async fn the_run_has_a_deadline_of_its_own() {
    let world = World::new();
    let mut run = world.run.clone();
    run.deadline = Some(Instant::now() + Duration::from_millis(300));
    assert_eq!(
        kind(&world.exec_in("await tools.hang({})", &run).await),
        FailureKind::RunDeadline
    );
    run.deadline = Some(Instant::now() + Duration::from_millis(300));
    assert_eq!(
        kind(&world.exec_in("while (true) {}", &run).await),
        FailureKind::RunDeadline
    );
    run.deadline = Some(Instant::now());
    assert_eq!(
        kind(&world.exec_in("return 1", &run).await),
        FailureKind::RunDeadline
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn an_abort_stops_guests_and_tools() {
    let world = World::new();
    for code in ["while (true) {}", "await tools.hang({})"] {
        let run = RunContext {
            abort: tokio_util::sync::CancellationToken::new(),
            ..world.run.clone()
        };
        let abort = run.abort.clone();
        let stage = Arc::clone(&world.stage);
        let stopper = tokio::spawn(async move {
            if code.contains("hang") {
                stage.wait_for("hang").await;
            } else {
                tokio::task::yield_now().await;
            }
            abort.cancel();
        });
        let outcome = world.exec_in(code, &run).await;
        stopper.await.unwrap();
        assert_eq!(kind(&outcome), FailureKind::Aborted, "{}", text(&outcome));
        assert_eq!(
            kind(&world.exec_in("return 1", &run).await),
            FailureKind::Aborted
        );
    }
    assert_eq!(value(&world.exec("return 1").await), 1);
}

#[tokio::test(flavor = "multi_thread")]
async fn cells_that_cannot_be_waited_for() {
    let world = World::new();
    let unavailable = "code mode run is unavailable or expired.";
    let unknown = world.wait("cm_00000000-0000-4000-8000-000000000000").await;
    assert_eq!(
        (kind(&unknown), error(&unknown)),
        (FailureKind::UnknownRun, unavailable)
    );
    let odd = world.wait("proc_17").await;
    assert_eq!(kind(&odd), FailureKind::UnknownRun);
    assert!(
        error(&odd).starts_with(unavailable) && error(&odd).contains("`runId`"),
        "{}",
        error(&odd)
    );

    let id = run_id(&world.exec("await yield_control(); return 1").await);
    let other = RunContext::new(
        Scope::new("owner", "main", "other", "run"),
        world.run.tools.clone(),
    );
    let foreign = world.wait_in(&id, None, &other).await;
    assert_eq!(
        (kind(&foreign), error(&foreign)),
        (
            FailureKind::WrongScope,
            "code mode run belongs to a different session."
        )
    );
    world.clock.advance(Duration::from_secs(901));
    let expired = world.wait(&id).await;
    assert_eq!(
        (kind(&expired), error(&expired)),
        (FailureKind::SnapshotExpired, unavailable)
    );
    assert_eq!(
        kind(&world.wait_in(&id, None, &other).await),
        FailureKind::WrongScope
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn two_waits_at_once() {
    let world = Arc::new(World::new());
    let id = run_id(
        &world
            .exec("const p = tools.hold({key: 'a'}); await yield_control(); return await p")
            .await,
    );
    world.stage.wait_for("hold a").await;
    let (first, second) = tokio::join!(world.wait(&id), async {
        // The first one has the cell; it ends when the door opens.
        let second = world.wait(&id).await;
        world.stage.release("a");
        second
    });
    assert_eq!(kind(&second), FailureKind::AlreadyResuming);
    assert_eq!(value(&first)["key"], "a");
}

#[tokio::test(flavor = "multi_thread")]
async fn too_many_suspended_cells() {
    let world = World::new().with_options(CodeModeOptions {
        max_suspended_runs: 1,
        ..CodeModeOptions::default()
    });
    let first = world.exec("await yield_control(); return 1").await;
    let second = world
        .exec("await tools.echo_w({}); await yield_control(); return 2")
        .await;
    assert_eq!(
        (kind(&second), error(&second).split(" These").next()),
        (
            FailureKind::TooManySuspendedRuns,
            Some("too many suspended code mode runs.")
        )
    );
    assert_eq!(value(&world.wait(&run_id(&first)).await), 1);
    assert_eq!(
        run_id(&world.exec("await yield_control(); return 3").await).len(),
        39
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_snapshot_that_is_too_large() {
    let options = CodeModeOptions {
        max_snapshot_bytes: 2 << 20,
        ..CodeModeOptions::default()
    };
    let world = World::new().with_options(options);
    let code = |kb: u32| {
        format!(
            "const a = new Uint8Array({kb} * 1024).fill(1); await yield_control(); return a.length"
        )
    };
    let large = world.exec(&code(4096)).await;
    assert_eq!(
        kind(&large),
        FailureKind::SnapshotLimitExceeded,
        "{}",
        text(&large)
    );
    let fits = world.exec(&code(1024)).await;
    assert_eq!(value(&world.wait(&run_id(&fits)).await), 1024 * 1024);
    let tiny = World::new().with_options(CodeModeOptions {
        max_snapshot_bytes: 1024,
        ..CodeModeOptions::default()
    });
    assert_eq!(
        kind(&tiny.exec("await yield_control()").await),
        FailureKind::SnapshotLimitExceeded
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_sandbox_that_cannot_serve() {
    let options = SandboxOptions {
        max_memory_bytes: 16 << 20,
        max_guests: 2,
        ..SandboxOptions::default()
    };
    let cache_dir = std::path::Path::new(env!("CARGO_TARGET_TMPDIR")).join("guest-cache");
    let sandbox = Sandbox::new(&SandboxOptions {
        cache_dir: Some(cache_dir),
        ..options
    })
    .unwrap();
    let world = World::of(Setup {
        sandbox: Some(sandbox),
        ..Setup::default()
    });
    let outcome = world.exec("return 1").await;
    assert_eq!(
        kind(&outcome),
        FailureKind::EngineUnavailable,
        "{}",
        text(&outcome)
    );
}

/// Loses a byte on the way.
struct Damage;

impl SnapshotTransport for Damage {
    fn ship(&self, mut bytes: Vec<u8>) -> Result<Vec<u8>, String> {
        let middle = bytes.len() / 2;
        bytes[middle] ^= 1;
        Ok(bytes)
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_damaged_snapshot_is_refused() {
    let transport: Arc<dyn SnapshotTransport> = Arc::new(Damage);
    let world = World::of(Setup {
        transport: Some(transport),
        ..Setup::default()
    });
    let world = world.with_options(CodeModeOptions {
        park: Park::EveryAwait,
        ..CodeModeOptions::default()
    });
    let outcome = world.exec("await tools.echo_w({}); return 1").await;
    assert_eq!(
        kind(&outcome),
        FailureKind::SnapshotRestoreFailed,
        "{}",
        text(&outcome)
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_lost_thread_loses_its_cell_and_nothing_else() {
    let world = World::new();
    world.random.break_next_seed();
    let outcome = world.exec("return 1").await;
    assert_eq!(
        kind(&outcome),
        FailureKind::WorkerCrashed,
        "{}",
        text(&outcome)
    );
    assert_eq!(world.value("return 1").await, 1);
    let id = run_id(&world.exec("await yield_control(); return 1").await);
    world.random.break_next_seed();
    assert_eq!(kind(&world.wait(&id).await), FailureKind::WorkerCrashed);
    assert_eq!(
        kind(&world.wait(&id).await),
        FailureKind::WorkerCrashed,
        "it is not run again"
    );
    assert_eq!(world.code_mode.suspended(), 0);
}

#[test]
fn every_kind_is_reached_by_a_test_of_this_file_or_cannot_be_had() {
    let source = include_str!("failures.rs");
    let missing: BTreeSet<&str> = FailureKind::ALL
        .iter()
        .filter(|kind| !NOT_TO_BE_HAD.contains(kind))
        .filter(|kind| {
            let name = format!("{kind:?}");
            !source.contains(&format!("K::{name},"))
                && !source.contains(&format!("FailureKind::{name}"))
        })
        .map(|kind| kind.as_str())
        .collect();
    assert!(missing.is_empty(), "{missing:?}");
}
