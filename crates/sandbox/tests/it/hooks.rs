//! What a program cannot reach: the plumbing while it works, the positions that it reports, the books.

use codecell_sandbox::{Frame, Guest, Kill, Settlement, SettlementKind, Slice, SliceEnd};

use crate::guest::{calls, error, resolve, run, start, value};
use crate::harness::{GUESTS, START_US, body, entry, eval_with, on_thread, program, resume};

/// Every hook of other engines, each of which would be heard in the value or the output.
const HOOKS: &str = "const heard = [];
    const hook = name => (...args) => { heard.push(name); try { yield_control(name) } catch {} return 'cell.js:99:99' };
    Error.prepareStackTrace = hook('prepare');
    Error.captureStackTrace = hook('capture');
    Error.stackTraceLimit = {valueOf: hook('limit'), [Symbol.toPrimitive]: hook('limit')};";

const GETTERS: &str = "for (const key of ['prepareStackTrace', 'captureStackTrace', 'stackTraceLimit', 'stack'])
    for (const at of [Error, Error.prototype, Object.prototype, Function.prototype])
        Object.defineProperty(at, key, {get: hook('get ' + key), set: hook('set ' + key), configurable: true});";

fn position(slice: &Slice) -> (u64, u64) {
    let error = error(slice);
    let number = |key: &str| {
        let (_, rest) = error.split_once(key).unwrap_or_else(|| panic!("{error}"));
        rest.split([',', '}']).next().unwrap().parse().unwrap()
    };
    (number("\"line\":"), number("\"column\":"))
}

#[test]
fn no_hook_runs_when_the_plumbing_makes_an_error() {
    for hooks in [HOOKS.to_owned(), format!("{HOOKS}{GETTERS}")] {
        let source = format!(
            "{hooks}
            const failed = [];
            const attempt = async f => {{ try {{ await f() }} catch (e) {{ failed.push(e.name) }} }};
            await attempt(() => {{ const c = {{}}; c.c = c; return tools.call('t', c) }});
            await attempt(() => setTimeout('code'));
            await attempt(() => new Function('return 1'));
            await attempt(() => null.x);
            await attempt(() => {{ throw new Error('own') }});
            await attempt(() => {{ for (;;) yield_control() }});
            await attempt(() => tools.call('t', {{}}));
            return {{heard, failed: failed.length}}"
        );
        let (guest, slice) = start(&source);
        let ids = calls(&slice);
        assert_eq!(ids.len(), 1, "{slice:?}");
        let reject = Settlement {
            call: ids[0],
            kind: SettlementKind::Reject,
            arrival_us: START_US,
            payload: "{\"message\":\"no\"}",
        };
        let (_, slice) = resume(&GUESTS, guest, vec![reject]);
        assert_eq!(value(&slice), "{\"heard\":[],\"failed\":7}");
    }
}

#[test]
fn hooks_move_no_position() {
    let honest = position(&run("\nconst f = () => { throw new Error('x') };\nf()"));
    assert_eq!(honest.0, 2, "the body starts at line 1");
    let lies = [
        "Error.prepareStackTrace = () => 'at x (cell.js:99:99)'".to_owned(),
        "Error.stackTraceLimit = 0".to_owned(),
        HOOKS.replace('\n', " "),
        format!("{HOOKS}{GETTERS}").replace('\n', " "),
        "Error.prototype.stack = 'at x (cell.js:99:99)'".to_owned(),
    ];
    for lie in lies {
        let source =
            format!("try {{ {lie} }} catch {{}}\nconst f = () => {{ throw new Error('x') }};\nf()");
        assert_eq!(position(&run(&source)), honest, "{lie}");
    }
    let named = "const g = {f: () => { throw new Error('x') }}.f;
        Object.defineProperty(g, 'name', {value: 'cell.js:99:99 (cell.js:98:98)'}); g()";
    assert_ne!(position(&run(named)).0, 99);
    assert_ne!(position(&run(named)).0, 98);
}

#[test]
fn code_written_for_other_engines_still_captures_stacks() {
    let source = "class Failure extends Error {
            constructor(m) { super(m); Error.captureStackTrace(this, Failure); this.name = 'Failure' } }
        const before = Error.stackTraceLimit; Error.stackTraceLimit = 50; Error.stackTraceLimit = before;
        const e = new Failure('m'); return [typeof e.stack, String(e)]";
    assert_eq!(value(&run(source)), "[\"string\",\"Failure: m\"]");
}

#[test]
fn yields_beyond_the_cap_throw_and_the_rest_waits() {
    let source = "let n = 0; try { for (; n < 20000; n++) yield_control(n) } catch (e) { return [n, e.name] }";
    let slice = run(source);
    assert_eq!(value(&slice), "[16384,\"RangeError\"]");
}

fn yielded() -> Settlement<'static> {
    Settlement {
        call: 0,
        kind: SettlementKind::Yield,
        arrival_us: START_US,
        payload: "",
    }
}

fn release(guest: Guest) -> (Guest, Slice) {
    resume(&GUESTS, guest, vec![yielded()])
}

#[test]
fn twenty_thousand_yields_in_turn_leave_nothing_behind() {
    let source = "let n = 0; for (; n < 20000; n++) await yield_control(n); return n";
    let (mut guest, first) = start(source);
    let ended = on_thread(&GUESTS, move |thread| {
        let stop = codecell_sandbox::StopHandle::new();
        let long = entry(120_000);
        loop {
            let slice = guest.resume(thread, &[yielded()], &long, &stop).unwrap();
            if !matches!(slice.end, SliceEnd::Yielded { .. }) {
                return slice;
            }
        }
    });
    assert_eq!(value(&ended), "20000");
    let grown = ended.heap.bytes.saturating_sub(first.heap.bytes);
    assert!(grown < 1 << 20, "{grown} bytes");
}

#[test]
fn calls_made_while_a_reason_is_read_belong_to_a_turn() {
    let source = "let made = 0;
        const trap = () => { if (!made++) tools.call('t', {}).catch(() => {}); return [] };
        await yield_control(new Proxy({}, {ownKeys: trap})); return made > 0";
    let (guest, slice) = start(source);
    assert!(matches!(slice.end, SliceEnd::Yielded { .. }), "{slice:?}");
    let ids = calls(&slice);
    assert_eq!(ids.len(), 1);
    let last = slice.frames.last();
    assert!(
        matches!(last, Some(Frame::Turn { refused: false, .. })),
        "{last:?}"
    );
    let (guest, _) = release(guest);
    let (_, slice) = resume(&GUESTS, guest, vec![resolve(ids[0], "1")]);
    assert_eq!(value(&slice), "true");
}

#[test]
fn a_refused_turn_tells_how_many_calls_it_kept() {
    let source = "const all = []; for (let i = 0; i < 17000; i++) all.push(tools.call('core:x', {}).catch(e => e));
        const last = await all.at(-1); return [last.code, last.tool, last.effectStatus]";
    let (_, slice) = start(source);
    let turns: Vec<(bool, u32)> = slice
        .frames
        .iter()
        .filter_map(|frame| match frame {
            Frame::Turn { refused, unsent } => Some((*refused, *unsent)),
            _ => None,
        })
        .collect();
    let sent = calls(&slice).len();
    assert!(sent > 0 && sent < 17_000, "{sent}");
    assert_eq!(turns, [(true, u32::try_from(17_000 - sent).unwrap())]);
    // The program has ended but for the calls that the host now rejects.
    let shown = "const e = await Promise.all(Array.from({length: 17000}, () => tools.call('core:x', {}).catch(e => e)).slice(-1));
        text([e[0].code, e[0].tool, e[0].effectStatus].join())";
    let output = Frame::Output {
        json: false,
        text: "too_many_pending_tool_calls,core:x,notStarted".into(),
    };
    assert!(run(shown).frames.contains(&output));
}

#[test]
fn a_native_stack_used_up_is_told_as_such() {
    let deep = [
        "let it = [1].values(); for (let i = 0; i < 100000; i++) it = it.map(x => x); it.next()",
        "let it = [1].values(); for (let i = 0; i < 100000; i++) it = it.filter(() => true); it.next()",
        "let it = [1].values(); for (let i = 0; i < 100000; i++) it = it.take(5); it.next()",
        "let it = [1].values(); for (let i = 0; i < 100000; i++) it = it.drop(0); it.return()",
        "let it = [1].values(); for (let i = 0; i < 100000; i++) it = it.flatMap(x => [x]); [...it]",
    ];
    for source in deep {
        let slice = run(source);
        match &slice.end {
            SliceEnd::Done => assert!(
                slice.faults & codecell_sandbox::abi::fault::ENDED_BY_STACK != 0,
                "{source}: {slice:?}"
            ),
            end => {
                assert_eq!(end, &SliceEnd::Killed(Kill::Stack), "{source}");
                assert!(
                    slice.heap.peak_bytes > 1 << 20,
                    "{source}: {:?}",
                    slice.heap
                );
            }
        }
        println!("{:?} {source}", slice.end);
    }
}

#[test]
fn a_guest_that_never_left_its_slice_still_has_a_peak() {
    let source = "globalThis.kept = new Uint8Array(16e6); Array.prototype.indexOf.call({length: 2 ** 53 - 1}, 1)";
    let (_, slice) = eval_with(
        &GUESTS,
        &program(&body(source)),
        entry(400),
        codecell_sandbox::StopHandle::new(),
    );
    assert_eq!(slice.end, SliceEnd::Killed(Kill::Deadline));
    assert!(slice.heap.peak_bytes >= 16_000_000, "{:?}", slice.heap);
    assert!(
        slice.heap.peak_bytes <= slice.heap.linear_bytes,
        "{:?}",
        slice.heap
    );
}
