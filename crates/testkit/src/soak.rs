//! Very many cells with suspensions, one after the other and some at once, and what memory does.
//!
//! Each cell calls a tool, suspends with some data in its memory, and is resumed a while later, so that
//! some are always suspended; runs come and go. Nothing of an ended cell may stay: resident memory is
//! flat after the first tenth.

use std::collections::VecDeque;
use std::time::Instant;

use codecell_codemode::CodeModeOptions;
use codecell_sandbox::Sandbox;

use crate::hostile::canary::Log;
use crate::hostile::house::{House, Plan, Visit, text_of, waiting_id};
use crate::hostile::run::resident_bytes;

/// Cells that are suspended at any time.
const SUSPENDED: usize = 32;

/// Cells of one run.
const CELLS_PER_RUN: u64 = 500;

/// Resident memory at one moment.
#[derive(Clone, Copy, Debug)]
pub struct Sample {
    /// Cells that have ended.
    pub cells: u64,
    /// Resident memory of the process, in bytes.
    pub resident_bytes: u64,
    /// Since the start, in seconds.
    pub seconds: f64,
}

/// What every cell does; the numbers differ, so that no two are alike.
fn program(number: u64) -> String {
    format!(
        "const kept = Array.from({{length: 50 + {number} % 300}}, (_, i) => ({{i, text: 'cell {number} ' + i}}));
         const got = await tools.echo({{n: {number}}}); await tools.note_w({{n: {number}}});
         await yield_control(); text(kept.length); return got.n + kept[7].i"
    )
}

struct Waiting {
    visit: Visit,
    cell: String,
    number: u64,
}

/// Runs so many cells and samples memory after every `every` of them.
///
/// # Errors
/// In words, when a cell gives anything but its result.
pub async fn soak(
    sandbox: Sandbox,
    cells: u64,
    every: u64,
    mut sampled: impl FnMut(Sample),
) -> Result<Vec<Sample>, String> {
    let log = Log::default();
    let house = House::new(sandbox, &log, Plan::default())?;
    let started = Instant::now();
    let mut samples = Vec::new();
    let mut waiting: VecDeque<Waiting> = VecDeque::new();
    let mut visit = house.visit(CodeModeOptions::default())?;
    let mut ended = 0;
    for number in 0..cells + SUSPENDED as u64 {
        if number < cells {
            if number > 0 && number % CELLS_PER_RUN == 0 {
                visit = house.visit(CodeModeOptions::default())?;
            }
            let outcome = visit.exec(&program(number)).await;
            let cell = waiting_id(&outcome).ok_or_else(|| text_of(&outcome))?;
            waiting.push_back(Waiting {
                visit: visit.clone(),
                cell,
                number,
            });
        }
        if waiting.len() <= SUSPENDED && number < cells {
            continue;
        }
        let Some(oldest) = waiting.pop_front() else {
            break;
        };
        finish(&oldest).await?;
        ended += 1;
        if oldest.number % CELLS_PER_RUN == CELLS_PER_RUN - 1 {
            oldest.visit.end();
        }
        // What was recorded is not what is measured.
        drop(log.take());
        if ended % every == 0 {
            let sample = Sample {
                cells: ended,
                resident_bytes: resident_bytes(),
                seconds: started.elapsed().as_secs_f64(),
            };
            sampled(sample);
            samples.push(sample);
        }
    }
    house.code_mode.shutdown().await;
    Ok(samples)
}

async fn finish(waiting: &Waiting) -> Result<(), String> {
    let outcome = waiting.visit.wait(&waiting.cell).await;
    let text = text_of(&outcome);
    let expected = format!("\"status\":\"completed\",\"value\":{},", waiting.number + 7);
    if text.contains(&expected) {
        Ok(())
    } else {
        Err(text)
    }
}

/// How much resident memory grew after the first tenth, in bytes.
#[must_use]
pub fn growth_bytes(samples: &[Sample]) -> u64 {
    let settled = samples.len().div_ceil(10);
    let (first, rest) = samples.split_at(settled.min(samples.len()));
    let before = first.last().map_or(0, |sample| sample.resident_bytes);
    let most = rest.iter().map(|sample| sample.resident_bytes).max();
    most.unwrap_or(before).saturating_sub(before)
}
