//! The corpus: programs in `tests/cells`, each with the conversation that it leads to. Every
//! conversation is held twice: as it is, and parked at every await.
//!
//! A file ends with a comment between `/*---` and `---*/`: one step a line. `exec -> JSON` and
//! `wait -> JSON` are turns of the model, `release KEY` opens the door of a tool, `called LINE` waits
//! until the stage has seen it. With `UPDATE_EXPECTED=1` the JSON is written anew.

use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};

use codecell_codemode::{
    CodeModeOptions, Park, RecordSink, ReplayOptions, SnapshotTransport, record_entry, record_head,
};
use codecell_protocol::{CellResult, Language};

use crate::support::{Setup, World, run_id, stable};

fn files() -> Vec<PathBuf> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/cells");
    let mut files: Vec<PathBuf> = std::fs::read_dir(folder)
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    files.retain(|path| path.extension().is_some_and(|extension| extension == "js"));
    files.sort();
    assert!(files.len() > 30, "the corpus is gone");
    files
}

struct Cell {
    program: String,
    steps: Vec<String>,
}

fn read(path: &Path) -> Cell {
    let text = std::fs::read_to_string(path).unwrap();
    let (program, rest) = text
        .split_once("/*---\n")
        .unwrap_or_else(|| panic!("{} has no steps", path.display()));
    let steps = rest.trim_end().strip_suffix("---*/").unwrap();
    Cell {
        program: program.to_owned(),
        steps: steps.lines().map(str::to_owned).collect(),
    }
}

/// Holds the conversation and gives its steps as they came about.
async fn hold(cell: &Cell, park: Park) -> Vec<String> {
    hold_in(cell, park, World::new()).await
}

async fn hold_in(cell: &Cell, park: Park, world: World) -> Vec<String> {
    let world = world.with_options(CodeModeOptions {
        park,
        timeout_ms: 5000,
        ..CodeModeOptions::default()
    });
    let mut id = String::new();
    let mut held = Vec::new();
    for step in &cell.steps {
        let (verb, rest) = step.split_once(' ').unwrap_or((step, ""));
        let outcome = match verb {
            "exec" => world.exec(&cell.program).await,
            "wait" => world.wait(&id).await,
            "release" => {
                world.stage.release(rest);
                held.push(step.clone());
                continue;
            }
            "called" => {
                world.stage.wait_for(rest).await;
                held.push(step.clone());
                continue;
            }
            other => panic!("unknown step {other}"),
        };
        let json = stable(&outcome);
        if json["status"] == "waiting" {
            id = run_id(&outcome);
        }
        held.push(format!("{verb} -> {json}"));
    }
    held
}

fn bless(path: &Path, cell: &Cell, held: &[String]) {
    let text = format!("{}/*---\n{}\n---*/\n", cell.program, held.join("\n"));
    std::fs::write(path, text).unwrap();
}

/// On one thread: what a tool said and what its cell was told then happen in one step, so the order
/// of settlements is the order of the file.
#[tokio::test]
async fn every_conversation_is_as_expected_parked_or_not() {
    let mut wrong = Vec::new();
    for path in files() {
        let cell = read(&path);
        let name = path.file_name().unwrap().to_string_lossy().into_owned();
        let held = hold(&cell, Park::AsNeeded).await;
        if std::env::var_os("UPDATE_EXPECTED").is_some() {
            bless(&path, &cell, &held);
        } else if held != cell.steps {
            wrong.push(format!(
                "{name}:\n{}\nexpected:\n{}",
                held.join("\n"),
                cell.steps.join("\n")
            ));
        }
        let parked = hold(&cell, Park::EveryAwait).await;
        if parked != held {
            wrong.push(format!(
                "{name} parked:\n{}\nnot parked:\n{}",
                parked.join("\n"),
                held.join("\n")
            ));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
}

/// A cell's record in memory.
#[derive(Debug)]
struct Tape(Mutex<Vec<u8>>);

impl RecordSink for Tape {
    fn append(&self, kind: u8, bytes: &[u8]) {
        self.0.lock().unwrap().extend(record_entry(kind, bytes));
    }
}

/// A replay compares what the guest wrote at every entry, bit for bit; the end is compared here. A
/// program that is refused before it starts has no record.
#[tokio::test]
async fn every_conversation_is_replayed_to_the_same_end_without_a_tool() {
    let (mut wrong, mut replayed) = (Vec::new(), 0);
    for path in files() {
        let tape = Arc::new(Tape(Mutex::new(record_head().to_vec())));
        let mut world = World::new();
        world.run.record = Some(Arc::clone(&tape) as Arc<dyn RecordSink>);
        hold_in(&read(&path), Park::AsNeeded, world).await;
        let record = tape.0.lock().unwrap().clone();
        if record.len() == record_head().len() {
            continue;
        }
        let world = World::new();
        let all = ReplayOptions::default();
        let again = world.code_mode.replay(&record, all, &world.run).await;
        let again = again.unwrap();
        replayed += 1;
        if again.is_same != Some(true) || !world.stage.log().is_empty() {
            let log = world.stage.log();
            wrong.push(format!("{}: {again:?}\ncalled: {log:?}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(replayed > 30, "only {replayed} conversations have a record");
}

/// The programs that the test kit parks at every await, with their one tool made of one that is here.
#[tokio::test(flavor = "multi_thread")]
async fn the_programs_of_the_test_kit_are_replayed_to_the_same_end() {
    const STEP: &str = "const step = async a => { const { k } = await tools.echo(a); \
        if (k >= 100) throw new Error('no ' + k); return k ?? a };\n";
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("../testkit/corpus");
    let (mut wrong, mut legs, mut replayed) = (Vec::new(), 0, 0);
    for file in std::fs::read_dir(folder).unwrap() {
        let path = file.unwrap().path();
        let program = std::fs::read_to_string(&path).unwrap();
        let program = STEP.to_owned() + &program.replace("tools.step(", "step(");
        let tape = Arc::new(Tape(Mutex::new(record_head().to_vec())));
        let mut world = World::new();
        world.run.record = Some(Arc::clone(&tape) as Arc<dyn RecordSink>);
        let mut outcome = world.exec(&program).await;
        while matches!(outcome.result, CellResult::Waiting(_)) {
            outcome = world.wait(&run_id(&outcome)).await;
            legs += 1;
        }
        let record = tape.0.lock().unwrap().clone();
        let world = World::new();
        let all = ReplayOptions::default();
        let again = world.code_mode.replay(&record, all, &world.run).await;
        let again = again.unwrap();
        replayed += 1;
        if again.is_same != Some(true) || !world.stage.log().is_empty() {
            wrong.push(format!("{}: {again:?}", path.display()));
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n\n"));
    assert!(
        replayed > 20 && legs > 0,
        "{replayed} programs, {legs} legs"
    );
}

#[tokio::test(flavor = "multi_thread")]
async fn typescript_runs_and_says_so_when_it_was_inferred() {
    let world = World::new();
    let outcome = world.exec("const x: number = 1; return x").await;
    assert_eq!(crate::support::value(&outcome), 1);
    assert_eq!(
        outcome.result.telemetry().inferred_language,
        Some(Language::TypeScript)
    );
}

/// Sends every parked cell through a process of its own.
struct ThroughAChild;

impl SnapshotTransport for ThroughAChild {
    fn ship(&self, bytes: Vec<u8>) -> Result<Vec<u8>, String> {
        use std::io::{Read as _, Write as _};
        use std::process::{Command, Stdio};
        let child = Command::new("cat")
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn();
        let mut child = child.map_err(|error| error.to_string())?;
        let mut stdin = child.stdin.take().ok_or("no stdin")?;
        let mut stdout = child.stdout.take().ok_or("no stdout")?;
        let writer = std::thread::spawn(move || stdin.write_all(&bytes));
        let mut back = Vec::new();
        stdout
            .read_to_end(&mut back)
            .map_err(|error| error.to_string())?;
        child.wait().map_err(|error| error.to_string())?;
        writer
            .join()
            .map_err(|_| "the writer is gone")?
            .map_err(|error| error.to_string())?;
        Ok(back)
    }
}

#[cfg(unix)]
#[tokio::test]
async fn parked_cells_come_back_from_another_process() {
    for name in [
        "closures_and_classes",
        "generators",
        "data_types",
        "timers",
        "control_flow",
    ] {
        let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(format!("tests/cells/{name}.js"));
        let cell = read(&path);
        let setup = Setup {
            transport: Some(std::sync::Arc::new(ThroughAChild)),
            ..Setup::default()
        };
        let held = hold_in(&cell, Park::EveryAwait, World::of(setup)).await;
        assert_eq!(held, cell.steps, "{name}");
    }
}
