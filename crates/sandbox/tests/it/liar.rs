//! The host against a guest that lies (../liar/liar.rs says how each mode does).

use std::time::{Duration, Instant};

use codecell_sandbox::{
    Frame, InputError, Kill, Limits, Method, Program, RestoreError, Sandbox, SandboxError,
    SandboxOptions, Settlement, SettlementKind, Slice, SliceEnd, SnapshotError, StopHandle,
};

use crate::harness::{
    LIARS, binding, catalog, entry, eval, eval_with, on_thread, options, program, resume,
};

fn run(source: &str) -> Slice {
    eval(&LIARS, &program(source)).1
}

fn killed(source: &str) -> Kill {
    match run(source).end {
        SliceEnd::Killed(kill) => kill,
        other => panic!("{source}: {other:?}"),
    }
}

fn text(text: &str) -> Frame {
    Frame::Output {
        json: false,
        text: text.into(),
    }
}

fn call() -> Frame {
    Frame::Call {
        id: 7,
        method: Method::Call,
        target: "a".into(),
        arguments: "{}".into(),
    }
}

#[test]
fn a_value_comes_out() {
    let slice = run("d");
    assert_eq!(
        (slice.end, slice.frames),
        (SliceEnd::Done, vec![Frame::Value("1".into())])
    );
}

#[test]
fn statuses_that_make_no_sense_are_protocol_errors() {
    for source in ["i", "j", "u"] {
        assert!(matches!(killed(source), Kill::Protocol(_)), "{source}");
    }
}

#[test]
fn frames_outside_the_memory_are_protocol_errors() {
    let slice = run("o");
    assert!(matches!(slice.end, SliceEnd::Killed(Kill::Protocol(_))));
    assert_eq!(slice.frames, []);
}

#[test]
fn frames_before_a_bad_one_are_kept() {
    let slice = run("f");
    assert!(matches!(slice.end, SliceEnd::Killed(Kill::Protocol(_))));
    assert_eq!(slice.frames, [text("good")]);
}

#[test]
fn a_loop_that_never_polls_is_trapped_in_time() {
    let start = Instant::now();
    let (_, slice) = eval_with(&LIARS, &program("l"), entry(100), StopHandle::new());
    assert_eq!(slice.end, SliceEnd::Killed(Kill::Deadline));
    assert_eq!(slice.frames, [text("before"), call()]);
    assert!(start.elapsed() >= Duration::from_millis(100));
    assert!(start.elapsed() < Duration::from_secs(5));
}

#[test]
fn a_loop_that_polls_keeps_its_last_words() {
    let (_, slice) = eval_with(&LIARS, &program("p"), entry(50), StopHandle::new());
    assert_eq!(slice.end, SliceEnd::Killed(Kill::Deadline));
    assert_eq!(slice.frames, [text("polled")]);
}

#[test]
fn success_after_the_stop_does_not_count() {
    let (_, slice) = eval_with(&LIARS, &program("g"), entry(50), StopHandle::new());
    assert_eq!(slice.end, SliceEnd::Killed(Kill::Deadline));
}

#[test]
fn guest_time_is_bounded_apart_from_the_deadline() {
    let mut limited = entry(20_000);
    limited.guest_budget = Duration::from_millis(20);
    let (_, slice) = eval_with(&LIARS, &program("l"), limited, StopHandle::new());
    assert_eq!(slice.end, SliceEnd::Killed(Kill::GuestBudget));
    assert!(slice.guest_time >= Duration::from_millis(20));
}

#[test]
fn a_passed_deadline_runs_nothing() {
    let (mut guest, slice) = eval_with(&LIARS, &program("d"), entry(0), StopHandle::new());
    assert_eq!(
        (slice.end, slice.frames.len()),
        (SliceEnd::Killed(Kill::Deadline), 0)
    );
    let again = on_thread(&LIARS, move |thread| {
        guest
            .resume(thread, &[], &entry(1000), &StopHandle::new())
            .err()
    });
    assert_eq!(again, Some(InputError::WrongStage("it was stopped")));
}

#[test]
fn an_abort_before_the_start_runs_nothing() {
    let stop = StopHandle::new();
    stop.abort();
    let (_, slice) = eval_with(&LIARS, &program("d"), entry(1000), stop);
    assert_eq!(
        (slice.end, slice.frames.len()),
        (SliceEnd::Killed(Kill::Aborted), 0)
    );
}

#[test]
fn recursion_ends_as_a_stack_overflow() {
    assert_eq!(killed("s"), Kill::Stack);
}

#[test]
fn refused_growth_is_the_memory_limit_only_when_it_ends_the_guest() {
    assert_eq!(killed("m"), Kill::Memory);
    let slice = run("M");
    assert_eq!(slice.end, SliceEnd::Done);
    assert!(
        slice.heap.linear_bytes < 256 << 20,
        "{}",
        slice.heap.linear_bytes
    );
}

#[test]
fn memory_grows_no_further_than_the_limit() {
    let small = Limits {
        memory_bytes: 1 << 20,
        ..Limits::default()
    };
    let (_, slice) = eval(
        &LIARS,
        &Program {
            limits: small,
            ..program("M")
        },
    );
    assert!(
        slice.heap.linear_bytes < 24 << 20,
        "{}",
        slice.heap.linear_bytes
    );
}

#[test]
fn committed_frames_survive_a_trap() {
    let slice = run("t");
    assert_eq!(slice.end, SliceEnd::Killed(Kill::Trap("unreachable code")));
    assert_eq!(slice.frames, [text("before"), call()]);
    assert_eq!(run("T").frames, [text("before")]);
}

#[test]
fn input_buffers_that_lie_are_refused() {
    let source = |length: usize| "d".repeat(length - 64);
    assert_eq!(killed(&source(1064)), Kill::Memory);
    assert!(matches!(killed(&source(1065)), Kill::Protocol(_)));
    let long = source(1066);
    let (_, slice) = eval_with(&LIARS, &program(&long), entry(30), StopHandle::new());
    assert_eq!(slice.end, SliceEnd::Killed(Kill::Deadline));
}

#[test]
fn catalog_regions_that_lie_are_refused() {
    let with = |entries: usize| {
        let catalog = catalog(entries);
        let size = catalog.bytes().len();
        let (_, slice) = eval(
            &LIARS,
            &Program {
                catalog: Some(&catalog),
                ..program("c")
            },
        );
        (size, slice.end)
    };
    assert_eq!(
        with(10),
        (
            4096,
            SliceEnd::Pending {
                next_timer_us: None
            }
        )
    );
    assert!(matches!(
        with(150),
        (8192, SliceEnd::Killed(Kill::Protocol(_)))
    ));
    assert!(matches!(
        with(250),
        (12288, SliceEnd::Killed(Kill::Protocol(_)))
    ));
    assert_eq!(with(350), (16384, SliceEnd::Killed(Kill::Memory)));
}

#[test]
fn an_ended_guest_is_not_entered_again() {
    let (mut guest, _) = eval(&LIARS, &program("d"));
    assert_eq!(
        guest.snapshot(&binding(1)).unwrap_err(),
        SnapshotError::WrongStage("it has ended")
    );
    let errors = on_thread(&LIARS, move |thread| {
        let stop = StopHandle::new();
        (
            guest.eval(thread, &entry(1000), &stop).err(),
            guest.resume(thread, &[], &entry(1000), &stop).err(),
        )
    });
    let (eval, resume) = errors;
    assert!(matches!(eval, Some(InputError::WrongStage(_))));
    assert!(matches!(resume, Some(InputError::WrongStage(_))));
}

#[test]
fn a_refused_entry_leaves_the_guest_unharmed() {
    let limits = Limits {
        message_bytes: 10,
        ..Limits::default()
    };
    let (mut guest, _) = eval(
        &LIARS,
        &Program {
            limits,
            ..program("w")
        },
    );
    let slice = on_thread(&LIARS, move |thread| {
        let stop = StopHandle::new();
        let large = Settlement {
            call: 1,
            kind: SettlementKind::ResolveText,
            arrival_us: 1,
            payload: "more than ten",
        };
        let refused = [
            guest.eval(thread, &entry(1000), &stop),
            guest.resume(thread, &[large], &entry(1000), &stop),
        ];
        assert!(refused.iter().all(Result::is_err));
        guest.resume(thread, &[], &entry(10_000), &stop).unwrap()
    });
    assert_eq!(
        slice.end,
        SliceEnd::Pending {
            next_timer_us: None
        }
    );
}

#[test]
fn counters_survive_snapshots_at_each_step() {
    let (mut guest, mut slice) = eval(&LIARS, &program("w"));
    for step in 0..3 {
        assert_eq!(
            slice.end,
            SliceEnd::Pending {
                next_timer_us: None
            },
            "{step}"
        );
        let snapshot = guest.snapshot(&binding(step)).unwrap();
        let restored = LIARS.restore(&snapshot, None).unwrap();
        drop(guest);
        (guest, slice) = resume(&LIARS, restored, Vec::new());
    }
    assert_eq!(
        (slice.end, slice.frames),
        (SliceEnd::Done, vec![Frame::Value("3".into())])
    );
}

#[test]
fn a_catalog_is_left_out_of_a_snapshot_and_put_back() {
    let catalog = catalog(10);
    let (mut guest, _) = eval(
        &LIARS,
        &Program {
            catalog: Some(&catalog),
            ..program("c")
        },
    );
    let snapshot = guest.snapshot(&binding(1)).unwrap();
    assert_eq!(snapshot.catalog_hash(), Some(catalog.hash()));
    let first = catalog.bytes()[0];
    let stored = LIARS.compress(&snapshot).unwrap();
    let expanded = LIARS.expand(&stored).unwrap();
    let restored = LIARS.restore(&expanded, Some(&catalog)).unwrap();
    let (_, slice) = resume(&LIARS, restored, Vec::new());
    assert_eq!(
        slice.frames,
        [Frame::Value((first % 10).to_string().into())]
    );
    let other = self::catalog(11);
    assert!(matches!(
        LIARS.restore(&snapshot, None),
        Err(RestoreError::Catalog)
    ));
    assert!(matches!(
        LIARS.restore(&snapshot, Some(&other)),
        Err(RestoreError::Catalog)
    ));
}

#[test]
fn memory_of_one_guest_is_never_seen_by_another() {
    let options = SandboxOptions {
        max_guests: 1,
        ..options()
    };
    let sandbox = Sandbox::with_image(&options, crate::harness::LIAR).unwrap();
    for _ in 0..20 {
        let (_, slice) = eval(&sandbox, &program("W"));
        assert_eq!(
            slice.end,
            SliceEnd::Pending {
                next_timer_us: None
            }
        );
        assert_eq!(
            eval(&sandbox, &program("r")).1.frames,
            [Frame::Value("false".into())]
        );
    }
}

#[test]
fn a_grown_memory_comes_back_whole() {
    let (mut guest, _) = eval(&LIARS, &program("W"));
    let snapshot = guest.snapshot(&binding(1)).unwrap();
    assert!(snapshot.raw_bytes() > 4 << 20);
    let (_, slice) = resume(&LIARS, LIARS.restore(&snapshot, None).unwrap(), Vec::new());
    assert_eq!(slice.frames, [Frame::Value("true".into())]);
}

#[test]
fn a_snapshot_over_its_limit_is_refused_and_the_guest_goes_on() {
    let limits = Limits {
        snapshot_bytes: 1 << 20,
        ..Limits::default()
    };
    let (mut guest, _) = eval(
        &LIARS,
        &Program {
            limits,
            ..program("W")
        },
    );
    let error = guest.snapshot(&binding(1)).unwrap_err();
    assert!(
        matches!(error, SnapshotError::LimitExceeded { bytes, max_bytes: 1_048_576 } if bytes > 4 << 20)
    );
    assert_eq!(resume(&LIARS, guest, Vec::new()).1.end, SliceEnd::Done);
}

#[test]
fn slots_are_bounded_and_given_back() {
    let options = SandboxOptions {
        max_guests: 2,
        ..options()
    };
    let sandbox = Sandbox::with_image(&options, crate::harness::LIAR).unwrap();
    let first = sandbox.start(&program("d")).unwrap();
    let second = sandbox.start(&program("d")).unwrap();
    assert!(matches!(
        sandbox.start(&program("d")),
        Err(SandboxError::NoSlot { max_guests: 2 })
    ));
    drop(first);
    let third = sandbox.start(&program("d")).unwrap();
    assert_eq!(sandbox.info().guests, 2);
    drop((second, third));
    assert_eq!(sandbox.info().guests, 0);
}

#[test]
fn limits_above_the_slots_are_refused() {
    let limits = Limits {
        memory_bytes: (1 << 30) + 1,
        ..Limits::default()
    };
    let refused = LIARS.start(&Program {
        limits,
        ..program("d")
    });
    assert!(matches!(refused, Err(SandboxError::MemoryLimit { .. })));
}

#[test]
fn an_abort_at_any_instant_stops_one_guest_and_no_other() {
    let runs = 300;
    for at in 0..runs {
        let stop = StopHandle::new();
        let other = std::thread::spawn({
            let stop = stop.clone();
            move || {
                let pause = Instant::now() + Duration::from_micros(at * 17 % 3000);
                while Instant::now() < pause {
                    std::hint::spin_loop();
                }
                stop.abort();
            }
        });
        let source = if at % 2 == 0 { "l" } else { "p" };
        let (_, slice) = eval_with(&LIARS, &program(source), entry(20_000), stop);
        assert_eq!(slice.end, SliceEnd::Killed(Kill::Aborted), "{at}");
        other.join().unwrap();
    }
    assert_eq!(run("d").end, SliceEnd::Done);
}

#[test]
fn images_that_break_the_rules_are_refused() {
    let empty = b"\0asm\x01\0\0\0";
    assert!(matches!(
        Sandbox::with_image(&options(), empty),
        Err(SandboxError::Image(_))
    ));
    assert!(matches!(
        Sandbox::with_image(&options(), b"nonsense"),
        Err(SandboxError::Compile(_))
    ));
}
