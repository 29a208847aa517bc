//! The real guest under this host: order, limits, stops, suspension.

use std::time::{Duration, Instant};

use codecell_sandbox::{
    CatalogImage, Expected, Frame, Guest, Kill, Limits, Method, Program, Settlement,
    SettlementKind, Slice, SliceEnd, StopHandle, StoredSnapshot, abi::fault,
};

use crate::harness::{
    GUESTS, START_US, binding, body, catalog, entry, eval, eval_with, on_thread, program, resume,
};

pub(crate) fn run(source: &str) -> Slice {
    eval(&GUESTS, &program(&body(source))).1
}

pub(crate) fn start(source: &str) -> (Guest, Slice) {
    eval(&GUESTS, &program(&body(source)))
}

/// The program's value, of a slice in which it ended well.
pub(crate) fn value(slice: &Slice) -> &str {
    match (
        &slice.end,
        slice
            .frames
            .iter()
            .find(|frame| matches!(frame, Frame::Value(_))),
    ) {
        (SliceEnd::Done, Some(Frame::Value(value))) => value,
        _ => panic!("{slice:?}"),
    }
}

pub(crate) fn error(slice: &Slice) -> &str {
    let found = slice.frames.iter().find_map(|frame| {
        if let Frame::Error { json, .. } = frame {
            Some(json)
        } else {
            None
        }
    });
    found.unwrap_or_else(|| panic!("{slice:?}"))
}

/// The ids of the calls that a slice made, in order.
pub(crate) fn calls(slice: &Slice) -> Vec<u32> {
    let id = |frame: &Frame| {
        if let Frame::Call { id, .. } = frame {
            Some(*id)
        } else {
            None
        }
    };
    slice.frames.iter().filter_map(id).collect()
}

pub(crate) fn resolve(call: u32, payload: &'static str) -> Settlement<'static> {
    Settlement {
        call,
        kind: SettlementKind::ResolveJson,
        arrival_us: START_US,
        payload,
    }
}

/// Through a snapshot, its stored form and back.
fn park(mut guest: Guest) -> Guest {
    let snapshot = guest.snapshot(&binding(1)).unwrap();
    drop(guest);
    let stored = GUESTS.compress(&snapshot).unwrap();
    let expanded = GUESTS.expand(&stored).unwrap();
    assert_eq!(expanded, snapshot);
    GUESTS.restore(&expanded, None).unwrap()
}

#[test]
fn a_value_comes_out() {
    assert_eq!(value(&run("return 1+1")), "2");
}

#[test]
fn output_and_console_keep_their_order() {
    let slice = run("text('a'); console.warn('b'); json({c: 1}); return 'd'");
    let shown: Vec<String> = slice
        .frames
        .iter()
        .filter_map(|frame| match frame {
            Frame::Output { json, text } => Some(format!("output {json} {text}")),
            Frame::Console { level, text } => Some(format!("{level:?} {text}")),
            Frame::Value(value) => Some(format!("value {value}")),
            _ => None,
        })
        .collect();
    assert_eq!(
        shown,
        [
            "output false a",
            "Warn b",
            "output true {\"c\":1}",
            "value \"d\""
        ]
    );
}

#[test]
fn a_call_goes_out_and_its_reply_in() {
    let (guest, slice) =
        start("const a = await tools.call('core:read', {path: 'x'}); return a.n + 1");
    assert!(matches!(
        slice.end,
        SliceEnd::Pending {
            next_timer_us: None
        }
    ));
    let made: Vec<&Frame> = slice
        .frames
        .iter()
        .filter(|frame| matches!(frame, Frame::Call { .. }))
        .collect();
    let [
        Frame::Call {
            id,
            method,
            target,
            arguments,
        },
    ] = made[..]
    else {
        panic!("{made:?}")
    };
    assert_eq!(
        (*method, &**target, &**arguments),
        (Method::Call, "core:read", "{\"path\":\"x\"}")
    );
    assert_eq!(slice.pending_calls, 1);
    let (_, slice) = resume(&GUESTS, guest, vec![resolve(*id, "{\"n\":41}")]);
    assert_eq!(value(&slice), "42");
}

#[test]
fn settlements_arrive_in_the_order_of_the_batch() {
    let source = "const seen = []; const go = async n => seen.push(await tools.call('t', {n}));
        await Promise.all([go(1), go(2), go(3)]); return seen";
    let (guest, slice) = start(source);
    let ids = calls(&slice);
    let batch = vec![
        resolve(ids[2], "3"),
        resolve(ids[0], "1"),
        resolve(ids[1], "2"),
    ];
    let (_, slice) = resume(&GUESTS, guest, batch);
    assert_eq!(value(&slice), "[3,1,2]");
}

#[test]
fn a_rejection_is_an_error_with_its_fields() {
    let source = "try { await tools.call('t', {}) } catch (e) { return [e instanceof Error, e.message, e.code, e.tool] }";
    let (guest, slice) = start(source);
    let reject = Settlement {
        call: calls(&slice)[0],
        kind: SettlementKind::Reject,
        arrival_us: START_US,
        payload: "{\"message\":\"no such file\",\"code\":\"not_found\",\"tool\":\"t\"}",
    };
    let (_, slice) = resume(&GUESTS, guest, vec![reject]);
    assert_eq!(value(&slice), "[true,\"no such file\",\"not_found\",\"t\"]");
}

#[test]
fn timers_fire_when_the_host_says_it_is_time() {
    let (mut guest, slice) = start("await new Promise(r => setTimeout(r, 50)); return 'late'");
    let SliceEnd::Pending {
        next_timer_us: Some(due),
    } = slice.end
    else {
        panic!("{slice:?}")
    };
    assert!(
        (START_US + 50_000..START_US + 51_000).contains(&due),
        "{due}"
    );
    let slice = on_thread(&GUESTS, move |thread| {
        let mut early = entry(10_000);
        early.now_us = due - 1;
        let before = guest
            .resume(thread, &[], &early, &StopHandle::new())
            .unwrap();
        assert!(matches!(before.end, SliceEnd::Pending { .. }));
        early.now_us = due;
        guest
            .resume(thread, &[], &early, &StopHandle::new())
            .unwrap()
    });
    assert_eq!(value(&slice), "\"late\"");
}

#[test]
fn a_yield_suspends_and_goes_on() {
    let (guest, slice) = start("const r = await yield_control('soon'); return r");
    assert!(matches!(slice.end, SliceEnd::Yielded { .. }));
    assert!(slice.frames.contains(&Frame::Yield {
        reason: "\"soon\"".into()
    }));
    let release = Settlement {
        call: 0,
        kind: SettlementKind::Yield,
        arrival_us: START_US,
        payload: "",
    };
    let (_, slice) = resume(&GUESTS, park(guest), vec![release]);
    assert_eq!(
        value(&slice),
        "{\"status\":\"yielded\",\"reason\":\"soon\"}"
    );
}

#[test]
fn what_nothing_can_settle_is_a_deadlock() {
    assert_eq!(run("await new Promise(() => {})").end, SliceEnd::Deadlock);
}

#[test]
fn errors_come_with_their_text() {
    assert!(error(&run("throw new TypeError('bad thing')")).contains("bad thing"));
    assert!(error(&run("return }{")).contains("SyntaxError"));
}

/// Loops that never ask the engine whether to stop, and some that do.
#[test]
fn every_loop_ends_at_the_deadline() {
    let loops = [
        "for (;;) {}",
        "for (;;) await null",
        "const s = '[' + '1,'.repeat(2e6) + '1]'; for (;;) JSON.parse(s)",
        "let b = 3n ** 200000n; for (;;) b = b * b % (10n ** 120000n)",
        "const b = 7n ** 300000n; for (;;) String(b)",
        "/^(a+)+$/.test('a'.repeat(40) + 'b')",
        "const a = Array.from({length: 1e6}, (_, i) => -i); for (;;) { a.sort(); a.reverse() }",
        "for (;;) new Array(5e6).join('x')",
        "const t = new Float64Array(4e6); for (;;) t.fill(1)",
        "const s = 'ab'.repeat(2e6); for (;;) s.split('b')",
        "const s = 'a'.repeat(5e6); for (;;) s.indexOf('ab')",
        "Array.prototype.indexOf.call({length: 2 ** 53 - 1}, 1)",
        "try { for (;;) {} } finally { for (;;) {} }",
        "while (true) { try { await tools.call(1) } catch {} }",
        "for (;;) [1,2,3].map(x => x + 1)",
    ];
    for source in loops {
        let begin = Instant::now();
        let (_, slice) = eval_with(
            &GUESTS,
            &program(&body(source)),
            entry(100),
            StopHandle::new(),
        );
        let took = begin.elapsed();
        let by_memory = slice.faults & fault::OUT_OF_MEMORY != 0;
        assert!(
            matches!(slice.end, SliceEnd::Killed(Kill::Deadline)) || by_memory,
            "{source}: {slice:?}"
        );
        assert!(took < Duration::from_secs(3), "{source}: {took:?}");
        println!(
            "{:>7.1} ms over  {source}",
            took.as_secs_f64() * 1e3 - 100.0
        );
    }
}

#[test]
fn output_before_the_deadline_is_kept_and_calls_are_only_shown() {
    let source = "text('before'); tools.call('t', {}); await null; for (;;) {}";
    let (_, slice) = eval_with(
        &GUESTS,
        &program(&body(source)),
        entry(60),
        StopHandle::new(),
    );
    assert_eq!(slice.end, SliceEnd::Killed(Kill::Deadline));
    assert!(slice.frames.contains(&Frame::Output {
        json: false,
        text: "before".into()
    }));
    assert_eq!(calls(&slice).len(), 1);
}

/// The host's own limit, which holds buffers too, would let the second one through.
#[test]
fn a_program_has_no_more_memory_than_its_limit() {
    let limits = Limits {
        memory_bytes: 16 << 20,
        ..Limits::default()
    };
    let of = |mebibytes: u32| {
        let source = body(&format!("return new Uint8Array({mebibytes} << 20).length"));
        let with = Program {
            limits,
            ..program(&source)
        };
        eval(&GUESTS, &with).1
    };
    assert_eq!(value(&of(8)), "8388608");
    let slice = of(24);
    assert_ne!(slice.faults & fault::OUT_OF_MEMORY, 0, "{slice:?}");
}

#[test]
fn memory_bombs_stay_within_the_limit_and_harm_nobody() {
    let bombs = [
        "const a = []; for (;;) a.push(new Uint8Array(1e6))",
        "let s = 'x'; for (;;) s += s",
        "const a = []; for (;;) a.push({a, b: [a.length]})",
        "return new Uint8Array(2 ** 31)",
        "const b = new ArrayBuffer(0, {maxByteLength: 2 ** 30}); b.resize(2 ** 30); return 1",
        "const a = []; for (;;) { try { a.push('y'.repeat(1e6) + a.length) } catch { break } } return a.length > 1e9",
    ];
    let limits = Limits {
        memory_bytes: 16 << 20,
        ..Limits::default()
    };
    for source in bombs {
        let (_, slice) = eval(
            &GUESTS,
            &Program {
                limits,
                ..program(&body(source))
            },
        );
        let ended = matches!(slice.end, SliceEnd::Done | SliceEnd::Killed(Kill::Memory));
        assert!(ended, "{source}: {slice:?}");
        assert!(
            slice.heap.linear_bytes < 96 << 20,
            "{source}: {}",
            slice.heap.linear_bytes
        );
    }
    assert_eq!(value(&run("return 'alive'")), "\"alive\"");
}

#[test]
fn recursion_ends_within_the_guest() {
    let deep = [
        "const f = n => f(n + 1) + 1; f(0)",
        "const a = []; a[0] = a; const f = x => [x].map(f); f(1)",
        "let s = '['.repeat(1e6); JSON.parse(s)",
        "JSON.parse('[[[1]]]', function r(k, v) { return JSON.parse('[[1]]', r) })",
        "const p = new Proxy({}, {get: (t, k, r) => r[k]}); p.x",
        "const o = {toString() { return '' + o }}; '' + o",
        "[3,2,1].sort(function c(a, b) { return [3,2,1].sort(c)[0] })",
        "new RegExp('('.repeat(1e5) + ')'.repeat(1e5)).test('x')",
    ];
    for source in deep {
        let slice = run(source);
        let ended = matches!(slice.end, SliceEnd::Done | SliceEnd::Killed(Kill::Stack));
        assert!(ended, "{source}: {:?}", slice.end);
    }
    assert_eq!(
        value(&run(
            "try { (function f() { f() })() } catch (e) { return e instanceof RangeError }"
        )),
        "true"
    );
}

#[test]
fn an_abort_at_any_instant_kills_only_its_own_guest() {
    for at in 0..200u64 {
        let stop = StopHandle::new();
        let aborter = std::thread::spawn({
            let stop = stop.clone();
            move || {
                let instant = Instant::now() + Duration::from_micros(at * 41 % 4000);
                while Instant::now() < instant {
                    std::hint::spin_loop();
                }
                stop.abort();
            }
        });
        let source = match at % 3 {
            0 => "for (;;) JSON.parse('[' + '1,'.repeat(1e4) + '1]')",
            1 => "for (;;) await null",
            _ => "const a = []; for (;;) { a.push({}); if (a.length > 1e4) a.length = 0 }",
        };
        let (_, slice) = eval_with(&GUESTS, &program(&body(source)), entry(20_000), stop);
        assert_eq!(slice.end, SliceEnd::Killed(Kill::Aborted), "{at}");
        aborter.join().unwrap();
    }
    assert_eq!(value(&run("return 1")), "1");
}

#[test]
fn language_features_survive_suspension() {
    let source = "
        class A { #x = 1; get x() { return this.#x } }
        function* gen() { let n = 0; for (;;) yield n++ }
        const g = gen(); g.next(); const a = new A(); const sym = Symbol('s');
        const map = new Map([[sym, new Set([1, 2])], ['re', /a(b)c/g]]);
        const weak = new WeakMap([[a, 'weak']]); const big = 2n ** 100n;
        const bytes = new Uint8Array([1, 2, 3]); const date = new Date(5);
        const proxy = new Proxy({}, {get: (t, k) => k + '!'});
        const got = await tools.call('t', {});
        return [got, a.x, g.next().value, [...map.get(sym)], map.get('re').exec('xabc')[1], weak.get(a), String(big),
            bytes.join(), date.getTime(), proxy.hi, await (async () => 7)()]";
    let (guest, slice) = start(source);
    let (_, slice) = resume(
        &GUESTS,
        park(guest),
        vec![resolve(calls(&slice)[0], "\"in\"")],
    );
    let expected = "[\"in\",1,1,[1,2],\"b\",\"weak\",\"1267650600228229401496703205376\",\"1,2,3\",5,\"hi!\",7]";
    assert_eq!(value(&slice), expected);
}

#[test]
fn suspension_at_each_of_many_calls_changes_nothing() {
    let source = "let sum = 0; const log = []; for (let i = 0; i < 40; i++) {
        sum += await tools.call('t', {i}); log.push('x'.repeat(i * 500)) } return [sum, log.join('').length]";
    let (mut guest, mut slice) = start(source);
    while !matches!(slice.end, SliceEnd::Done) {
        let batch = vec![resolve(calls(&slice)[0], "2")];
        (guest, slice) = resume(&GUESTS, park(guest), batch);
    }
    assert_eq!(value(&slice), "[80,390000]");
}

#[test]
fn a_megabyte_of_data_survives_growth_and_suspension() {
    let source = "const rows = Array.from({length: 30000}, (_, i) => ({id: i, name: 'row ' + i}));
        await tools.call('t', {}); return [rows.length, rows[29999].name, rows.reduce((a, r) => a + r.id, 0)]";
    let (guest, slice) = start(source);
    let (_, slice) = resume(&GUESTS, park(guest), vec![resolve(calls(&slice)[0], "0")]);
    assert_eq!(value(&slice), "[30000,\"row 29999\",449985000]");
}

#[test]
fn fresh_seeds_give_fresh_numbers_and_equal_seeds_equal_ones() {
    let source = "await tools.call('t', {}); return [Math.random(), Math.random()]";
    let (mut guest, slice) = start(source);
    let snapshot = guest.snapshot(&binding(1)).unwrap();
    let id = calls(&slice)[0];
    let with_seed = |seed: Option<[u8; 32]>| {
        let mut guest = GUESTS.restore(&snapshot, None).unwrap();
        let slice = on_thread(&GUESTS, move |thread| {
            let entry = codecell_sandbox::Entry {
                seed,
                ..entry(10_000)
            };
            guest
                .resume(thread, &[resolve(id, "0")], &entry, &StopHandle::new())
                .unwrap()
        });
        value(&slice).to_owned()
    };
    assert_ne!(with_seed(Some([1; 32])), with_seed(Some([2; 32])));
    assert_eq!(with_seed(Some([3; 32])), with_seed(Some([3; 32])));
}

#[test]
fn suspended_cells_are_small() {
    let (mut guest, _) = start("await tools.call('t', {}); return 1");
    let snapshot = guest.snapshot(&binding(1)).unwrap();
    let stored = GUESTS.compress(&snapshot).unwrap();
    println!(
        "raw {} bytes in {} pages, stored {}",
        snapshot.raw_bytes(),
        snapshot.page_count(),
        stored.stored_bytes()
    );
    assert!(snapshot.raw_bytes() < 400 << 10, "{}", snapshot.raw_bytes());
    assert!(
        stored.stored_bytes() < 16 << 10,
        "{}",
        stored.stored_bytes()
    );
}

#[test]
fn sessions_share_guest_threads_fairly() {
    let stop = StopHandle::new();
    let mut tickets = Vec::new();
    for _ in 0..8 {
        let mut guest = GUESTS.start(&program(&body("for (;;) {}"))).unwrap();
        let stop = stop.clone();
        let work = move |thread: &codecell_sandbox::GuestThread| {
            let _ = guest.eval(thread, &entry(30_000), &stop);
        };
        tickets.push(GUESTS.spawn("spinning", work).unwrap());
    }
    for _ in 0..20 {
        assert_eq!(value(&run("return 1")), "1");
    }
    stop.abort();
}

/// A program that may read all of a catalog.
fn all_of<'a>(catalog: &'a CatalogImage, source: &'a str) -> Program<'a> {
    Program {
        catalog: Some(catalog),
        injection: "{\"allTools\":true}",
        ..program(source)
    }
}

const COUNT_TOOLS: &str = "await tools.call('t', {}); const last = ALL_TOOLS[ALL_TOOLS.length - 1];
    return [ALL_TOOLS.length, last.name]";

#[test]
fn a_catalog_is_there_before_and_after_suspension() {
    let catalog = catalog(3000);
    let source = body(&format!("const n = ALL_TOOLS.length; {COUNT_TOOLS}"));
    let (mut guest, slice) = eval(&GUESTS, &all_of(&catalog, &source));
    let snapshot = guest.snapshot(&binding(1)).unwrap();
    drop(guest);
    let restored = GUESTS.restore(&snapshot, Some(&catalog)).unwrap();
    let (_, slice) = resume(&GUESTS, restored, vec![resolve(calls(&slice)[0], "0")]);
    assert_eq!(value(&slice), "[3000,\"tool2999\"]");
}

#[test]
fn every_entry_of_the_catalog_is_its_json_frozen() {
    let entries = [
        r#"{"id":"plain","name":"a","description":"x, y: {z}"}"#,
        r#"{"id":"","name":"é€😀","description":"says \"hi\"\n\\ \ud83d\ude00\u0000"}"#,
        r#"{"id":"nested","list":[1,{"a":"b"}]}"#,
        r#"{"a\"b":"escaped key","__proto__":"own"}"#,
        r#"{ "id" : "spaced" }"#,
        "{}",
    ];
    let catalog = CatalogImage::new(entries).unwrap();
    let source = body(
        "const deep = (x) => typeof x !== 'object' || (Object.isFrozen(x) && Object.values(x).every(deep));
         return [ALL_TOOLS.every(deep), ALL_TOOLS.map((x) => JSON.stringify(x))]",
    );
    let (_, slice) = eval(&GUESTS, &all_of(&catalog, &source));
    let got: (bool, Vec<String>) = serde_json::from_str(value(&slice)).unwrap();
    let parsed = |text: &str| serde_json::from_str::<serde_json::Value>(text).unwrap();
    assert!(got.0);
    let got: Vec<_> = got.1.iter().map(|text| parsed(text)).collect();
    assert_eq!(got, entries.map(parsed));
}

/// Looks at the catalog when few of its entries were read, when all were, and when it was asked whether it is frozen; the
/// cell is suspended in between.
const STAGES: &str = "
    const fifth = ALL_TOOLS[5];
    const refused = (change) => { try { change(); return false } catch (error) { return error instanceof TypeError } };
    const look = () => {
        'use strict';
        return JSON.stringify([
            refused(() => { ALL_TOOLS[0] = 1 }), refused(() => { delete ALL_TOOLS[0] }), refused(() => ALL_TOOLS.push(1)),
            refused(() => { ALL_TOOLS.length = 0 }), refused(() => { ALL_TOOLS[5].name = 'x' }),
            refused(() => Object.setPrototypeOf(ALL_TOOLS, null)),
            refused(() => Object.defineProperty(ALL_TOOLS, 'x', { value: 1 })),
            ALL_TOOLS.length, ALL_TOOLS[5].name, ALL_TOOLS[5] === fifth, ALL_TOOLS.indexOf(fifth), 5 in ALL_TOOLS,
            200 in ALL_TOOLS, ALL_TOOLS[200] === undefined, ALL_TOOLS.at(-1).id, Array.isArray(ALL_TOOLS)]);
    };
    const few = look();
    const names = ALL_TOOLS.map((tool) => tool.name);
    const all = look();
    await tools.call('t', {});
    const later = look();
    const frozen = Object.isFrozen(ALL_TOOLS);
    const slot = Object.getOwnPropertyDescriptor(ALL_TOOLS, 5);
    return [JSON.parse(few), few === all, all === later, later === look(), names[199], frozen, Object.keys(ALL_TOOLS).length,
        slot.value === fifth, slot.writable, slot.configurable, slot.enumerable]";

#[test]
fn the_catalog_is_the_same_at_each_of_its_stages() {
    let catalog = catalog(200);
    let source = body(STAGES);
    let (mut guest, slice) = eval(&GUESTS, &all_of(&catalog, &source));
    let snapshot = guest.snapshot(&binding(1)).unwrap();
    drop(guest);
    let restored = GUESTS.restore(&snapshot, Some(&catalog)).unwrap();
    let (_, slice) = resume(&GUESTS, restored, vec![resolve(calls(&slice)[0], "0")]);
    assert_eq!(
        value(&slice),
        "[[true,true,true,true,true,true,true,200,\"tool5\",true,5,true,false,true,\"tool199\",true],\
         true,true,true,\"tool199\",true,200,true,false,false,true]"
    );
}

#[test]
fn an_untouched_catalog_is_not_in_the_snapshot() {
    let catalog = catalog(10_000);
    let source = body(COUNT_TOOLS);
    let (mut guest, _) = eval(&GUESTS, &all_of(&catalog, &source));
    let snapshot = guest.snapshot(&binding(1)).unwrap();
    assert!(catalog.bytes().len() > 300_000);
    assert!(snapshot.raw_bytes() < 200 << 10, "{}", snapshot.raw_bytes());
    assert_eq!(snapshot.catalog_hash(), Some(catalog.hash()));
}

#[test]
fn a_catalog_larger_than_the_memory_limit_fits() {
    let catalog = catalog(100_000);
    let limits = Limits {
        memory_bytes: 1 << 20,
        ..Limits::default()
    };
    let source = body("return ALL_TOOLS.length");
    let with = Program {
        limits,
        ..all_of(&catalog, &source)
    };
    let (_, slice) = eval(&GUESTS, &with);
    assert!(!matches!(slice.end, SliceEnd::Killed(_)), "{slice:?}");
}

#[test]
fn sixty_four_suspended_cells_take_little() {
    let stored: Vec<_> = (0..64)
        .map(|at| {
            let (mut guest, _) = start(&format!(
                "const n = {at}; await tools.call('t', {{n}}); return n"
            ));
            GUESTS
                .compress(&guest.snapshot(&binding(at)).unwrap())
                .unwrap()
        })
        .collect();
    let bytes: u64 = stored
        .iter()
        .map(codecell_sandbox::StoredSnapshot::stored_bytes)
        .sum();
    assert!(bytes < 64 * (8 << 10), "{bytes}");
    assert!(GUESTS.info().guests <= 100);
}

/// Where [`resumes_elsewhere`] finds what to resume.
const HAND_OVER: &str = "CODECELL_TEST_SNAPSHOT";

#[test]
fn a_snapshot_goes_on_in_another_process() {
    let (mut guest, slice) =
        start("const a = [1, 2]; const r = await tools.call('t', {}); return [...a, r]");
    assert_eq!(calls(&slice), [1]);
    let stored = GUESTS
        .compress(&guest.snapshot(&binding(1)).unwrap())
        .unwrap();
    let folder = tempfile::tempdir().unwrap();
    let file = folder.path().join("cell.snap");
    std::fs::write(&file, stored.encode(None)).unwrap();
    let child = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "guest::resumes_elsewhere",
            "--ignored",
            "--test-threads=1",
        ])
        .env(HAND_OVER, &file)
        .output()
        .unwrap();
    assert!(
        child.status.success(),
        "{}",
        String::from_utf8_lossy(&child.stdout)
    );
}

#[test]
#[ignore = "run by a_snapshot_goes_on_in_another_process"]
fn resumes_elsewhere() {
    let bytes = std::fs::read(std::env::var_os(HAND_OVER).unwrap()).unwrap();
    let expected = Expected {
        image: GUESTS.image(),
        binding: binding(1),
        key: None,
        max_raw_bytes: 10 << 20,
    };
    let stored = StoredSnapshot::decode(&bytes, &expected).unwrap();
    let guest = GUESTS
        .restore(&GUESTS.expand(&stored).unwrap(), None)
        .unwrap();
    let (_, slice) = resume(&GUESTS, guest, vec![resolve(1, "3")]);
    assert_eq!(value(&slice), "[1,2,3]");
}
