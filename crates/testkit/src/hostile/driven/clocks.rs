//! Clocks that an attacker would like to reset or to stop.

use std::time::Instant;

use codecell_codemode::CodeModeOptions;
use codecell_protocol::FailureKind;

use super::super::house::{House, Plan, text_of, waiting_id};
use super::super::judge::shown;
use super::super::run::Scene;
use super::{check, driven};

driven! {
    "E/approval/spin-while-asked": spin_while_asked,
    "E/approval/microtasks-while-asked": microtasks_while_asked,
    "E/suspensions/guest-time-adds-up": guest_time_adds_up,
    "E/suspensions/spin-in-every-leg": spin_in_every_leg,
}

async fn asked(scene: &Scene, spin: &str) -> Result<(), String> {
    let plan = Plan {
        asks: true,
        ..Plan::default()
    };
    let house = House::new(scene.house.sandbox.clone(), &scene.log, plan)?;
    let options = CodeModeOptions {
        timeout_ms: 200,
        approval_hold_ms: Some(600_000),
        ..CodeModeOptions::default()
    };
    let visit = house.visit(options)?;
    let started = Instant::now();
    let outcome = visit.exec(&format!("tools.note_w({{}}); {spin}")).await;
    let counts = visit.books.counts();
    let stopped = outcome.result.failure_kind() == Some(FailureKind::GuestDeadline)
        && counts.begun == 0
        && started.elapsed().as_secs() < 10;
    check(stopped, || format!("{} {counts:?}", shown(&outcome)))?;
    visit.end();
    house.code_mode.shutdown().await;
    Ok(())
}

async fn spin_while_asked(scene: &Scene) -> Result<(), String> {
    asked(
        scene,
        "await new Promise(r => setTimeout(r, 1)); for (;;) {}",
    )
    .await
}

async fn microtasks_while_asked(scene: &Scene) -> Result<(), String> {
    asked(scene, "for (;;) await null").await
}

/// Waits until the cell fails, and gives how often it was waited for.
async fn wait_out(scene: &Scene, code: &str, options: CodeModeOptions) -> Result<u32, String> {
    let visit = scene.house.visit(options)?;
    let mut outcome = visit.exec(code).await;
    let mut waits = 0;
    while let Some(cell) = waiting_id(&outcome) {
        waits += 1;
        check(waits < 5000, || "it goes on for ever".to_owned())?;
        outcome = visit.wait(&cell).await;
    }
    let stopped = outcome.result.failure_kind() == Some(FailureKind::GuestDeadline);
    check(
        stopped && text_of(&outcome).contains("processor time"),
        || shown(&outcome),
    )?;
    visit.end();
    Ok(waits)
}

/// Each leg is short; together they use up the cell's processor time.
async fn guest_time_adds_up(scene: &Scene) -> Result<(), String> {
    let options = CodeModeOptions {
        timeout_ms: 5000,
        max_guest_ms: 100,
        ..CodeModeOptions::default()
    };
    let code = "for (;;) { for (let i = 0; i < 2e5; i++) Math.sqrt(i); await yield_control() }";
    let waits = wait_out(scene, code, options).await?;
    check(waits > 1, || "the first leg was the last".to_owned())
}

/// A stop that the program tries to outlive by suspending in a finally block.
async fn spin_in_every_leg(scene: &Scene) -> Result<(), String> {
    let options = CodeModeOptions {
        timeout_ms: 5000,
        max_guest_ms: 100,
        ..CodeModeOptions::default()
    };
    let code = "for (;;) { try { const end = performance.now() + 20;
                while (performance.now() < end) { [].concat(new Array(500)) } }
                finally { await yield_control() } }";
    wait_out(scene, code, options).await.map(|_| ())
}
