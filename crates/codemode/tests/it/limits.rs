//! Limits of the options: one value that reaches each, one just inside.

use codecell_codemode::{CodeModeOptions, ProcessLimits};
use codecell_protocol::FailureKind;
use serde_json::json;

use crate::support::{Setup, World, kind, run_id, text, value};

#[tokio::test(flavor = "multi_thread")]
async fn the_smallest_and_the_largest_memory_work_end_to_end() {
    for memory in [1_u64 << 20, 1 << 30] {
        let options = CodeModeOptions {
            memory_limit_bytes: memory,
            ..CodeModeOptions::default()
        };
        let world = World::new().with_options(options);
        let outcome = world
            .exec("const r = await tools.echo({a: 1}); await yield_control(); return r")
            .await;
        assert_eq!(
            value(&world.wait(&run_id(&outcome)).await),
            json!({"a": 1}),
            "{memory}"
        );
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn memory_just_inside_and_beyond() {
    let options = CodeModeOptions {
        memory_limit_bytes: 8 << 20,
        ..CodeModeOptions::default()
    };
    let world = World::new().with_options(options);
    let code = |mb: u32| format!("const a = new Uint8Array({mb} * 1048576); return a.length");
    assert_eq!(world.value(&code(6)).await, 6 << 20);
    assert_eq!(
        kind(&world.exec(&code(9)).await),
        FailureKind::MemoryLimitExceeded
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn replies_are_bounded_and_the_call_stays_committed() {
    let options = CodeModeOptions {
        memory_limit_bytes: 4 << 20,
        ..CodeModeOptions::default()
    };
    let world = World::new().with_options(options);
    let code = "const ok = (await tools.big({bytes: 100000})).length; try { await tools.big({bytes: 5000000}) } catch (e) { return [ok, e.code, e.effectStatus] }";
    assert_eq!(
        world.value(code).await,
        json!([100_000, "reply_too_large", "committed"])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn timers_have_a_cap_of_their_own() {
    let world = World::new();
    let code = |n: u32| {
        format!(
            "let made = 0; const all = []; try {{ for (let i = 0; i < {n}; i++) {{ all.push(setTimeout(() => {{}}, 1e6)); made++ }} }} catch (e) {{ made = [made, e.name] }} all.forEach(clearTimeout); return made"
        )
    };
    assert_eq!(world.value(&code(1024)).await, 1024);
    assert_eq!(world.value(&code(1025)).await[0], 1024);
}

#[tokio::test(flavor = "multi_thread")]
async fn output_items_are_bounded() {
    let world = World::new().with_options(CodeModeOptions {
        max_output_bytes: 1 << 20,
        ..CodeModeOptions::default()
    });
    let code = |n: u32| {
        format!(
            "let e = 0; try {{ for (let i = 0; i < {n}; i++) text('') }} catch (error) {{ e = error.name }} return e"
        )
    };
    assert_eq!(world.value(&code(10_000)).await, 0);
    assert_eq!(world.value(&code(10_001)).await, "RangeError");
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_give_no_more_than_the_limit() {
    let options = CodeModeOptions {
        search_default_limit: 2,
        max_search_limit: 4,
        ..CodeModeOptions::default()
    };
    let world = World::new().with_options(options);
    let code = "return [(await tools.search('fake tool')).length, (await tools.search('fake tool', {limit: 3})).length, (await tools.search('fake tool', {limit: 50})).length]";
    assert_eq!(world.value(code).await, json!([2, 3, 4]));
}

#[tokio::test(flavor = "multi_thread")]
async fn the_process_has_bounds_of_its_own() {
    let limits = ProcessLimits {
        max_guest_memory_bytes: 32 << 20,
        max_suspended_bytes: 1,
    };
    let world = World::of(Setup {
        limits,
        ..Setup::default()
    });
    let small = CodeModeOptions {
        memory_limit_bytes: 32 << 20,
        ..CodeModeOptions::default()
    };
    let large = CodeModeOptions {
        memory_limit_bytes: 33 << 20,
        ..CodeModeOptions::default()
    };
    let world = world.with_options(large);
    assert_eq!(
        kind(&world.exec("return 1").await),
        FailureKind::EngineUnavailable
    );
    let world = world.with_options(small);
    let first = world.exec("await yield_control(); return 1").await;
    let refused = world.exec("return 1").await;
    assert_eq!(
        kind(&refused),
        FailureKind::EngineUnavailable,
        "{}",
        text(&refused)
    );
    assert_eq!(value(&world.wait(&run_id(&first)).await), 1);
    assert_eq!(world.value("return 2").await, 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn telemetry_is_complete() {
    let world = World::new();
    let outcome = world.exec("await tools.search('x'); await tools.describe('echo'); await tools.echo({}); await tools.echo({}); await yield_control(); return 1").await;
    let end = world.wait(&run_id(&outcome)).await;
    let telemetry = end.result.telemetry();
    assert_eq!(
        (
            telemetry.search_count,
            telemetry.describe_count,
            telemetry.call_count
        ),
        (1, 1, 2)
    );
    assert_eq!(
        (
            telemetry.catalog_size,
            telemetry.sources.openclaw,
            telemetry.sources.mcp
        ),
        (17, 16, 1)
    );
    assert_eq!(telemetry.visible_tools, ["exec", "wait"]);
    assert_eq!(
        (
            telemetry.called_tools[0].id.as_str(),
            telemetry.called_tools[0].count
        ),
        ("openclaw:core:echo", 2)
    );
    assert!(telemetry.snapshot_bytes.is_some_and(|bytes| bytes > 4096));
    assert!(telemetry.peak_memory_bytes > 0);
    let timings = telemetry.timings.unwrap();
    assert!(timings.guest_ms > 0.0 && timings.suspend_ms.is_some() && timings.resume_ms.is_some());
    assert!(
        !text(&end).contains("guestMs"),
        "timings are not for the model"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn json_is_512_levels_deep_at_most() {
    let world = World::new();
    let nest = |levels: u32| format!("let v = 1; for (let i = 0; i < {levels}; i++) v = [v];");
    let depth = "let d = 0; for (let x = r.v; Array.isArray(x); x = x[0]) d++;";
    // One level is the object around it.
    let code = format!(
        "{} const r = await tools.echo({{v}}); {depth} return d",
        nest(511)
    );
    assert_eq!(world.value(&code).await, 511);
    let code = format!(
        "{} try {{ await tools.echo({{v}}) }} catch (e) {{ return e.effectStatus }}",
        nest(512)
    );
    assert_eq!(world.value(&code).await, "notStarted");
    let outcome = world.exec(&format!("{} return v", nest(513))).await;
    assert_eq!(
        kind(&outcome),
        FailureKind::GuestError,
        "{}",
        text(&outcome)
    );
    assert!(
        !world
            .exec(&format!("{} return v", nest(512)))
            .await
            .result
            .is_error()
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn many_loads_at_once_are_answered_as_their_replies_are_taken() {
    let options = CodeModeOptions {
        memory_limit_bytes: 32 << 20,
        ..CodeModeOptions::default()
    };
    let world = World::new().with_options(options);
    let code = "const {id} = await results.save('x'.repeat(1e6)); const all = []; for (let i = 0; i < 60; i++) all.push(results.load(id).then(text => text.length)); const lengths = await Promise.all(all); return [lengths.length, lengths.every(l => l === 1e6)]";
    assert_eq!(world.value(code).await, json!([60, true]));
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_stand_under_the_clock_of_the_leg() {
    let options = CodeModeOptions {
        // Ample for making the calls on a busy machine, too little for answering them on an idle one.
        timeout_ms: 2500,
        // How many answers fit into the leg depends on the machine; they must fit into the snapshot.
        max_snapshot_bytes: 256 << 20,
        ..CodeModeOptions::default()
    };
    let world = World::new().with_options(options);
    let code = "const q = Array(16).fill('which fake tool reads a file? '.repeat(14)); const all = []; for (let i = 0; i < 2000; i++) all.push(tools.search(q)); return (await Promise.all(all)).length";
    let outcome = world.exec(code).await;
    let codecell_protocol::CellResult::Waiting(waiting) = &outcome.result else {
        panic!("not waiting: {}", text(&outcome))
    };
    assert_eq!(waiting.pending_tool_calls[0].method, "tools.search");
    assert_eq!(waiting.pending_tool_calls.len(), 32);
    assert!(waiting.more_pending_tool_calls > 0);
    assert!(text(&outcome).contains("\"morePendingToolCalls\":"));
}

#[tokio::test(flavor = "multi_thread")]
async fn searches_do_not_hold_up_what_the_program_does_with_the_first() {
    let world = World::new();
    let code =
        "const order = []; const search = i => tools.search('fake').then(() => order.push(i));
        const all = Array.from({length: 300}, (_, i) => search(i));
        all.push(all[0].then(() => tools.echo({})).then(() => order.push('echo')));
        await Promise.all(all); return order.indexOf('echo')";
    let at = world.value(code).await;
    assert!(at.as_u64().is_some_and(|at| at < 299), "{at}");
}

#[tokio::test(flavor = "multi_thread")]
async fn a_value_saved_in_passing_is_kept() {
    let world = World::new();
    assert_eq!(
        world
            .value("results.save([1]); results.load('r1'); return 1")
            .await,
        1
    );
    assert_eq!(
        world.value("return await results.load('r1')").await,
        json!([1])
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn a_queue_full_of_unreadable_arguments_is_no_deeper_than_one() {
    let world = World::new().with_options(CodeModeOptions {
        timeout_ms: 60_000,
        ..CodeModeOptions::default()
    });
    let code = "let v = 1; for (let i = 0; i < 512; i++) v = [v]; const all = []; for (let i = 0; i < 10000; i++) all.push(tools.echo({v}).catch(e => e.code)); return [...new Set(await Promise.all(all))]";
    assert_eq!(world.value(code).await, json!(["invalid_arguments"]));
}
