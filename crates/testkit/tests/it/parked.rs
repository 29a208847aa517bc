//! A program that is parked at every await, and goes on in another process each time, shows byte for
//! byte what it shows when it is never parked.

#![expect(
    clippy::expect_used,
    reason = "a test that panics is a test that fails"
)]

use std::path::Path;

use codecell_script::{PrepareOptions, prepare};
use codecell_testkit::data::data_or_skip;
use codecell_testkit::parked::{Answer, Call, Ferry, Live, drive};
use codecell_testkit::places::workspace_root;
use serde_json::{Value, json};

use crate::support::on_guest_thread;

/// A program, and what its calls come to, in their order; calls beyond that echo.
struct Case {
    name: String,
    source: String,
    answers: Vec<Answer>,
}

fn case(name: &str, code: &str, answers: Vec<Answer>) -> Option<Case> {
    let prepared = prepare(code, &PrepareOptions::default()).ok()?;
    Some(Case {
        name: name.to_owned(),
        source: prepared.compile_unit(),
        answers,
    })
}

/// Labels from 100 on reject; everything else resolves with its label or its arguments.
fn echo(call: &Call) -> Answer {
    match call.arguments["k"].as_u64() {
        Some(label) if label >= 100 => Answer::Error(format!("no {label}")),
        Some(label) => Answer::Value(json!(label)),
        None => Answer::Value(call.arguments.clone()),
    }
}

/// Compares the two lives of each case; returns how often guests changed process.
fn compare(cases: Vec<Case>) -> usize {
    let worker = Path::new(env!("CARGO_BIN_EXE_codecell-restore-worker"));
    on_guest_thread(move |sandbox, thread| {
        let mut ferry = Ferry::new(sandbox, thread, worker).expect("workers start");
        for case in cases {
            let run = |life: &mut dyn codecell_testkit::parked::Life| {
                let mut answers = case.answers.iter();
                drive(life, &case.source, &mut |call| {
                    answers.next().cloned().unwrap_or_else(|| echo(call))
                })
            };
            let whole = run(&mut Live::new(sandbox, thread));
            let parked = run(&mut ferry);
            if was_stopped(&whole) {
                // How far an endless program gets is chance; that it is stopped is not.
                assert!(was_stopped(&parked), "{}", case.name);
                continue;
            }
            assert_eq!(parked, whole, "{}", case.name);
            assert_ne!(whole.last(), Some(&json!("endless")), "{}", case.name);
        }
        ferry.crossings()
    })
}

fn was_stopped(written: &[Value]) -> bool {
    written
        .last()
        .and_then(|last| last["end"].as_str())
        .is_some_and(|end| end.starts_with("Killed"))
}

/// The programs of the corpus, by name.
fn corpus() -> Vec<Case> {
    let folder = workspace_root().join("crates/testkit/corpus");
    let files = std::fs::read_dir(folder).expect("the corpus").flatten();
    let mut cases: Vec<_> = files
        .map(|file| {
            let path = file.path();
            let name = path.file_stem().and_then(|stem| stem.to_str());
            let code = std::fs::read_to_string(&path).expect("a program");
            case(name.expect("a name"), &code, Vec::new()).expect("the corpus parses")
        })
        .collect();
    cases.sort_by(|a, b| a.name.cmp(&b.name));
    cases
}

#[test]
fn the_corpus_survives_being_parked_at_every_await() {
    let cases = corpus();
    let count = cases.len();
    let crossings = compare(cases);
    println!("{count} programs, {crossings} crossings");
    assert!(crossings > 2 * count, "the corpus must await");
}

#[test]
fn the_corpus_does_what_it_says() {
    let values = on_guest_thread(move |sandbox, thread| {
        let run = |case: Case| {
            let written = drive(&mut Live::new(sandbox, thread), &case.source, &mut echo);
            let kept = written
                .into_iter()
                .filter(|frame| frame.get("call").is_none() && frame.get("turn").is_none());
            (case.name, Value::from(kept.collect::<Vec<_>>()))
        };
        corpus()
            .into_iter()
            .map(run)
            .collect::<serde_json::Map<_, _>>()
    });
    insta::assert_json_snapshot!("corpus", values);
}

#[test]
fn programs_of_others_survive_being_parked() {
    let name = "programs_of_others_survive_being_parked";
    let Some(file) = data_or_skip(name, "programs/test_authored.jsonl") else {
        return;
    };
    let lines = lines(&file);
    let cases = lines.iter().filter_map(|line| {
        let place = format!("{}:{}", line["file"].as_str()?, line["line"]);
        case(&place, line["code"].as_str()?, Vec::new())
    });
    let cases: Vec<_> = cases.collect();
    println!("{} programs, {} crossings", cases.len(), compare(cases));
}

#[test]
fn recorded_turns_survive_being_parked() {
    let name = "recorded_turns_survive_being_parked";
    let Some(file) = data_or_skip(name, "tasks/bfcl_replay.jsonl") else {
        return;
    };
    let step = if std::env::var_os("CODECELL_LONG_TESTS").is_some() {
        1
    } else {
        4
    };
    let lines = lines(&file);
    let cases = lines.iter().step_by(step).filter_map(|line| {
        let answers = line["calls"].as_array()?.iter().map(recorded).collect();
        case(
            line["id"].as_str()?,
            line["js_tools_call"].as_str()?,
            answers,
        )
    });
    let cases: Vec<_> = cases.collect();
    println!("{} turns, {} crossings", cases.len(), compare(cases));
}

fn recorded(call: &Value) -> Answer {
    match call["error"].as_str() {
        Some(message) => Answer::Error(message.to_owned()),
        None => Answer::Value(call["result"].clone()),
    }
}

fn lines(file: &Path) -> Vec<Value> {
    let text = std::fs::read_to_string(file).expect("the data");
    text.lines()
        .map(|line| serde_json::from_str(line).expect("JSON lines"))
        .collect()
}
