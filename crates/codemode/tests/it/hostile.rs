//! Guests that mean harm: the host lives, the documented kind is given, others notice nothing.

use std::time::Instant;

use codecell_codemode::CodeModeOptions;
use codecell_protocol::FailureKind;
use serde_json::json;

use crate::support::{World, kind, text, value};

#[tokio::test(flavor = "multi_thread")]
async fn nothing_escapes_time_memory_or_stack() {
    use FailureKind as K;
    let patient = World::new().with_options(CodeModeOptions {
        timeout_ms: 10_000,
        ..CodeModeOptions::default()
    });
    let world = World::new().with_options(CodeModeOptions {
        timeout_ms: 300,
        ..CodeModeOptions::default()
    });
    let brackets = "return JSON.parse('['.repeat(1000000))";
    let big_json = "const s = '[' + '1,'.repeat(25000000) + '1]'; return JSON.parse(s).length";
    let cases: &[(&str, &[K])] = &[
        ("while (true) {}", &[K::GuestDeadline]),
        ("for (;;) await null", &[K::GuestDeadline]),
        (
            "const a = []; for (;;) a.push('x'.repeat(1e6) + a.length)",
            &[K::MemoryLimitExceeded],
        ),
        (brackets, &[K::StackOverflow, K::GuestError]),
        (big_json, &[K::MemoryLimitExceeded, K::GuestDeadline]),
        ("return eval('1')", &[K::GuestError]),
        (
            "return (async () => {}).constructor('return 1')()",
            &[K::GuestError],
        ),
        (
            "return /(a+)+$/.test('a'.repeat(40) + 'b')",
            &[K::GuestDeadline],
        ),
        (
            "try { while (true) {} } finally { while (true) {} }",
            &[K::GuestDeadline],
        ),
    ];
    for (code, kinds) in cases {
        let started = Instant::now();
        let spins = kinds == &[K::GuestDeadline];
        let outcome = if spins {
            world.exec(code).await
        } else {
            patient.exec(code).await
        };
        assert!(
            kinds.contains(&kind(&outcome)),
            "{code}: {}",
            text(&outcome)
        );
        assert!(started.elapsed().as_secs() < 60, "{code}");
        assert_eq!(world.value("return 1").await, 1);
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn source_bombs_are_refused() {
    let world = World::new();
    let outcome = world.exec(&"[".repeat(200_000)).await;
    assert_eq!(kind(&outcome), FailureKind::SyntaxError);
    let outcome = world.exec(&"[".repeat(1_000_000)).await;
    assert_eq!(kind(&outcome), FailureKind::InvalidArguments);
    let outcome = world.exec("}); while (true) {} (async function () {").await;
    assert_eq!(kind(&outcome), FailureKind::SyntaxError);
}

#[tokio::test(flavor = "multi_thread")]
async fn poisoned_prototypes_forge_nothing() {
    let world = World::new();
    let code = "
        const evil = () => 'forged';
        for (const p of [Object.prototype, Array.prototype, Function.prototype, String.prototype]) {
          for (const k of ['toJSON', 'then', 'map', 'message', 'id', 'tool', 'value', 'effectStatus']) {
            try { Object.defineProperty(p, k, {get: evil, set() {}, configurable: true}) } catch {}
          }
        }
        Array.prototype[Symbol.iterator] = evil; Promise.prototype.then = evil; Promise.resolve = evil;
        JSON.stringify = evil; JSON.parse = evil; Object.keys = evil;
        text('real');
        return {real: await tools.echo({a: [1, 2]})}";
    let outcome = world.exec(code).await;
    assert_eq!(
        value(&outcome),
        json!({"real": {"a": [1, 2]}}),
        "{}",
        text(&outcome)
    );
    assert!(!text(&outcome).contains("forged"));
    assert_eq!(
        outcome.result.telemetry().called_tools[0].id,
        "openclaw:core:echo"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn control_tools_are_out_of_reach() {
    let world = World::new();
    let code = "const seen = []; for (const id of ['wait', 'openclaw:core:wait', 'tool_call', 'EXEC', 'openclaw:CORE:exec', ' exec', 'ex\u{0435}c']) { try { await tools.call(id, {code: 'return 1'}); seen.push(id) } catch (e) { seen.push(e.code) } } return [...new Set(seen)]";
    assert_eq!(world.value(code).await, json!(["unknown_tool"]));
    let shell = world
        .value("return await tools.exec({code: 'return 1'})")
        .await;
    assert_eq!(
        shell,
        json!({"code": "return 1"}),
        "the shell tool of that name, not this one"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn many_suspensions_do_not_reset_the_guest_time() {
    let options = CodeModeOptions {
        timeout_ms: 1000,
        max_guest_ms: 100,
        ..CodeModeOptions::default()
    };
    let world = World::new().with_options(options);
    let spin = "for (;;) { const until = Date.now() + 1e9; for (let i = 0; i < 2e5; i++) { Math.sqrt(i) } await yield_control() }";
    let mut outcome = world.exec(spin).await;
    for _ in 0..1000 {
        if outcome.result.is_error() {
            break;
        }
        outcome = world.wait(&crate::support::run_id(&outcome)).await;
    }
    assert_eq!(kind(&outcome), FailureKind::GuestDeadline);
    assert!(crate::support::error(&outcome).contains("100 ms of processor time"));
}

#[tokio::test(flavor = "multi_thread")]
async fn errors_that_pose_as_the_hosts_are_the_programs() {
    let world = World::new();
    let poses = [
        "throw Object.assign(new Error('out of memory'), {code: 'memory_limit_exceeded'})",
        "throw Object.assign(new Error('x'), {code: 'too_many_pending_tool_calls', tool: 'openclaw:core:echo', effectStatus: 'committed', call: 1})",
        "throw new InternalError('interrupted')",
    ];
    for code in poses {
        assert_eq!(
            kind(&world.exec(code).await),
            FailureKind::GuestError,
            "{code}"
        );
    }
}
