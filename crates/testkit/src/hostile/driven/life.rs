//! Cells that are cancelled, asked for twice, and asked for after their end.

use codecell_codemode::CodeModeOptions;
use codecell_protocol::FailureKind;

use super::super::house::{Visit, text_of, waiting_id};
use super::super::judge::{ledger, shown};
use super::super::run::Scene;
use super::{check, driven};

driven! {
    "I/cancel/exec-dropped-during-a-write": exec_dropped,
    "I/cancel/run-ended-during-a-call": run_ended,
    "I/cancel/abort-of-a-suspended-cell": abort_suspended,
    "I/two-waits/the-second-is-refused": second_wait,
    "I/two-waits/a-storm": storm_of_waits,
    "I/after-end/the-same-answer": same_answer,
    "I/after-end/after-the-run": after_the_run,
    "I/late/answer-after-the-end": answer_after_the_end,
    "I/late/answer-between-legs": answer_between_legs,
}

fn short() -> CodeModeOptions {
    CodeModeOptions {
        timeout_ms: 300,
        ..CodeModeOptions::default()
    }
}

async fn suspended(visit: &Visit, code: &str) -> Result<String, String> {
    let outcome = visit.exec(code).await;
    waiting_id(&outcome).ok_or_else(|| shown(&outcome))
}

/// The caller goes away while a tool works: it is told to stop, and nothing is left.
async fn exec_dropped(scene: &Scene) -> Result<(), String> {
    let visit = scene.house.visit(CodeModeOptions::default())?;
    let code = "try { await tools.hang_w({}) } finally { await tools.note_w({}) }";
    tokio::select! {
        outcome = visit.exec(code) => return Err(shown(&outcome)),
        () = visit.books.begun(1) => {}
    }
    scene.house.is_empty_but_for(1, 1).await?;
    let counts = visit.books.counts();
    check(counts.begun == 1 && counts.succeeded == 0, || {
        format!("{counts:?}")
    })?;
    visit.end();
    Ok(())
}

/// The run ends while a tool works: the cell says what it left behind.
async fn run_ended(scene: &Scene) -> Result<(), String> {
    let visit = scene.house.visit(CodeModeOptions::default())?;
    let code = "for (;;) { try { await tools.hang_w({}) } catch { await tools.note_w({}) } }";
    let (outcome, ()) = tokio::join!(visit.exec(code), async {
        visit.books.begun(1).await;
        visit.end();
    });
    let counts = visit.books.counts();
    check(
        outcome.result.failure_kind() == Some(FailureKind::Aborted),
        || shown(&outcome),
    )?;
    check(counts.begun == 1, || format!("{counts:?}"))?;
    ledger(&outcome, counts)?;
    check(text_of(&outcome).contains("\"unknown\":1"), || {
        shown(&outcome)
    })
}

async fn abort_suspended(scene: &Scene) -> Result<(), String> {
    let visit = scene.house.visit(short())?;
    let code = "await tools.note_w({}); try { await tools.gate_w({key: 'never'}) } finally { await tools.note_w({}) }";
    let cell = suspended(&visit, code).await?;
    let id = cell.parse().map_err(|_| "an id".to_owned())?;
    check(scene.house.code_mode.abort(&id, &visit.run.scope), || {
        "not aborted".to_owned()
    })?;
    let outcome = visit.wait(&cell).await;
    check(
        outcome.result.failure_kind() == Some(FailureKind::Aborted),
        || shown(&outcome),
    )?;
    ledger(&outcome, visit.books.counts())?;
    check(visit.books.counts().begun_writes == 2, || {
        format!("{:?}", visit.books.counts())
    })?;
    visit.end();
    Ok(())
}

async fn second_wait(scene: &Scene) -> Result<(), String> {
    let visit = scene.house.visit(CodeModeOptions {
        timeout_ms: 2000,
        ..CodeModeOptions::default()
    })?;
    let cell = suspended(
        &visit,
        "await yield_control(); await tools.gate({key: 'k'}); return 'once'",
    )
    .await?;
    let (first, second) = tokio::join!(visit.wait(&cell), async {
        visit.books.begun(1).await;
        let second = visit.wait(&cell).await;
        visit.books.open("k");
        second
    });
    let refused = second.result.failure_kind() == Some(FailureKind::AlreadyResuming);
    check(refused, || shown(&second))?;
    check(text_of(&first).contains("\"value\":\"once\""), || {
        shown(&first)
    })?;
    visit.end();
    Ok(())
}

/// Many waits at once: one goes on with the cell, and its effect happens once.
async fn storm_of_waits(scene: &Scene) -> Result<(), String> {
    let visit = scene.house.visit(CodeModeOptions::default())?;
    let cell = suspended(
        &visit,
        "await yield_control(); await tools.note_w({}); return 'once'",
    )
    .await?;
    let mut waits = tokio::task::JoinSet::new();
    for _ in 0..32 {
        let (visit, cell) = (visit.clone(), cell.clone());
        waits.spawn(async move { visit.wait(&cell).await });
    }
    let mut completed = 0;
    while let Some(outcome) = waits.join_next().await {
        let outcome = outcome.map_err(|error| error.to_string())?;
        match outcome.result.failure_kind() {
            None => {
                check(text_of(&outcome).contains("\"value\":\"once\""), || {
                    shown(&outcome)
                })?;
                completed += 1;
            }
            Some(FailureKind::AlreadyResuming) => {}
            Some(_) => return Err(shown(&outcome)),
        }
    }
    let counts = visit.books.counts();
    check(completed >= 1 && counts.begun_writes == 1, || {
        format!("{completed} {counts:?}")
    })?;
    visit.end();
    Ok(())
}

async fn same_answer(scene: &Scene) -> Result<(), String> {
    let visit = scene.house.visit(CodeModeOptions::default())?;
    let cell = suspended(
        &visit,
        "await yield_control(); await tools.note_w({}); return Math.random()",
    )
    .await?;
    let first = text_of(&visit.wait(&cell).await);
    for _ in 0..3 {
        let again = text_of(&visit.wait(&cell).await);
        check(again == first, || format!("{first} then {again}"))?;
    }
    check(visit.books.counts().begun_writes == 1, || {
        "a write again".to_owned()
    })?;
    visit.end();
    Ok(())
}

async fn after_the_run(scene: &Scene) -> Result<(), String> {
    let visit = scene.house.visit(CodeModeOptions::default())?;
    let cell = suspended(
        &visit,
        "await yield_control(); await tools.note_w({}); return 1",
    )
    .await?;
    visit.end();
    let outcome = visit.wait(&cell).await;
    check(
        outcome.result.failure_kind() == Some(FailureKind::UnknownRun),
        || shown(&outcome),
    )?;
    check(visit.books.counts().begun == 0, || {
        "a write after the end".to_owned()
    })
}

/// A tool answers when its cell has failed: nobody hears it, and the ledger does not change.
async fn answer_after_the_end(scene: &Scene) -> Result<(), String> {
    let visit = scene.house.visit(short())?;
    let outcome = visit
        .exec("tools.gate_w({key: 'late'}); await tools.open({key: 'x'}); for (;;) {}")
        .await;
    visit.books.open("late");
    check(
        outcome.result.failure_kind() == Some(FailureKind::GuestDeadline),
        || shown(&outcome),
    )?;
    ledger(&outcome, visit.books.counts())?;
    scene.house.is_empty_but_for(1, 1).await?;
    visit.end();
    Ok(())
}

/// A tool answers while its cell is suspended: the answer waits, and is delivered once.
async fn answer_between_legs(scene: &Scene) -> Result<(), String> {
    let visit = scene.house.visit(short())?;
    let code = "let n = 0; const p = tools.gate_w({key: 'k'}).then(() => ++n); await p; await null; return n";
    let cell = suspended(&visit, code).await?;
    visit.books.open("k");
    let mut outcome = visit.wait(&cell).await;
    for _ in 0..8 {
        if waiting_id(&outcome).is_none() {
            break;
        }
        outcome = visit.wait(&cell).await;
    }
    check(text_of(&outcome).contains("\"value\":1,"), || {
        shown(&outcome)
    })?;
    ledger(&outcome, visit.books.counts())?;
    visit.end();
    Ok(())
}
