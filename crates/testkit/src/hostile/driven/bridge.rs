//! Ids that are another's, and memory that lies.

use std::time::Duration;

use codecell_codemode::CodeModeOptions;
use codecell_protocol::FailureKind;
use codecell_sandbox::{FrameLimits, decode_frames};

use super::super::house::{text_of, waiting_id};
use super::super::judge::shown;
use super::super::run::Scene;
use super::{check, driven};

driven! {
    "D/ids/foreign-cell": foreign_cell,
    "D/ids/guessed-cells": guessed_cells,
    "D/lies/frame-lengths": frame_lengths,
    "D/lies/frame-noise": frame_noise,
    "D/recursion/wait-on-itself": wait_on_itself,
}

/// Another session asks for a cell with its right id.
async fn foreign_cell(scene: &Scene) -> Result<(), String> {
    let owner = scene.house.visit(CodeModeOptions::default())?;
    let outcome = owner
        .exec("text('private'); await yield_control(); return 'mine'")
        .await;
    let cell = waiting_id(&outcome).ok_or_else(|| shown(&outcome))?;
    let thief = scene.house.visit(CodeModeOptions::default())?;
    for after in [None, Some(0), Some(1), Some(u64::MAX)] {
        let taken = thief.wait_after(&cell, after).await;
        let text = text_of(&taken);
        let refused = taken.result.failure_kind() == Some(FailureKind::WrongScope)
            && text.contains("code mode run belongs to a different session.")
            && !text.contains("private");
        check(refused, || shown(&taken))?;
    }
    let outcome = owner.wait(&cell).await;
    check(text_of(&outcome).contains("\"value\":\"mine\""), || {
        shown(&outcome)
    })?;
    owner.end();
    thief.end();
    Ok(())
}

/// Ids that nobody was given.
async fn guessed_cells(scene: &Scene) -> Result<(), String> {
    let visit = scene.house.visit(CodeModeOptions::default())?;
    let ids = [
        "",
        "cm_",
        "cm_00000000-0000-4000-8000-000000000000",
        "CM_00000000-0000-4000-8000-000000000000",
        "cm_00000000-0000-4000-8000-000000000000\n",
        " cm_00000000-0000-4000-8000-000000000000",
        "cm_{00000000-0000-4000-8000-000000000000}",
        "../../etc/passwd",
        "cm_\u{0}",
        "session 0",
    ];
    for id in ids {
        let outcome = visit.wait(id).await;
        let refused = matches!(
            outcome.result.failure_kind(),
            Some(FailureKind::UnknownRun | FailureKind::InvalidArguments)
        );
        check(refused, || format!("{id:?}: {}", shown(&outcome)))?;
    }
    let long = visit.wait(&"c".repeat(1 << 20)).await;
    check(text_of(&long).len() < 16 << 10, || {
        "a long id comes back whole".to_owned()
    })?;
    visit.end();
    Ok(())
}

/// A program cannot name its own cell, and the tool of that name is not the model's.
async fn wait_on_itself(scene: &Scene) -> Result<(), String> {
    let visit = scene.house.visit(CodeModeOptions::default())?;
    let outcome = visit
        .exec("await yield_control(); return await tools.exec({code: 'return 1'})")
        .await;
    let cell = waiting_id(&outcome).ok_or_else(|| shown(&outcome))?;
    let code = format!(
        "const seen = []; for (const id of ['wait', 'exec_wait', 'codecell:wait', '{cell}']) {{
           try {{ await tools.call(id, {{runId: '{cell}'}}); seen.push(id) }} catch (e) {{ seen.push(e.code) }} }}
         return [...new Set(seen)]"
    );
    let inner = visit.exec(&code).await;
    check(text_of(&inner).contains("[\"unknown_tool\"]"), || {
        shown(&inner)
    })?;
    let outcome = visit.wait(&cell).await;
    check(
        text_of(&outcome).contains("{\"code\":\"return 1\"}"),
        || shown(&outcome),
    )?;
    visit.end();
    Ok(())
}

/// Lengths that leave the buffer, overlap, wrap around or are none.
async fn frame_lengths(_: &Scene) -> Result<(), String> {
    for length in [
        0,
        1,
        3,
        4,
        7,
        8,
        0x7fff_ffff,
        0x8000_0000,
        u32::MAX - 7,
        u32::MAX,
    ] {
        for at in 0..6 {
            let mut bytes = vec![0_u8; 64];
            bytes[at * 4..at * 4 + 4].copy_from_slice(&u32::to_le_bytes(length));
            crate::oracles::frames(&bytes);
        }
    }
    Ok(())
}

/// Noise of every kind of frame: read within bounds, refused or kept whole.
async fn frame_noise(_: &Scene) -> Result<(), String> {
    let mut state = 0x9e37_79b9_7f4a_7c15_u64;
    for round in 0..20_000_usize {
        let bytes: Vec<u8> = (0..round % 96)
            .map(|_| {
                state ^= state << 13;
                state ^= state >> 7;
                state ^= state << 17;
                (state >> 32) as u8 & if round % 3 == 0 { 0x0f } else { 0xff }
            })
            .collect();
        let (frames, _) = decode_frames(&bytes, FrameLimits::default());
        check(frames.len() <= bytes.len(), || {
            "more frames than bytes".to_owned()
        })?;
        if round % 4096 == 0 {
            tokio::time::sleep(Duration::ZERO).await;
        }
    }
    Ok(())
}
