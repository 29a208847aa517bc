//! What a suspended cell is besides its snapshot, as it is stored.
//!
//! Instants are left out: a clock that never jumps is a process's own. What was measured on one
//! starts anew when the cell comes back.

use std::sync::Arc;
use std::time::Duration;

use codecell_protocol::{CellResult, Language, Warning};
use serde::{Deserialize, Serialize};

use crate::calls::CallsState;
use crate::catalog_facts::CatalogFacts;
use crate::cell::Shared;
use crate::clock::micros;
use crate::leg::Body;
use crate::options::CodeModeOptions;
use crate::outcome::CellOutcome;
use crate::output::Output;

/// The part of a suspension that is no snapshot.
#[derive(Debug, Serialize, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(crate) struct State {
    options: CodeModeOptions,
    warnings: Vec<Warning>,
    hint: Option<String>,
    inferred: Option<Language>,
    output: Output,
    guest_us: u64,
    answer_us: u64,
    peak_bytes: u64,
    snapshot_bytes: Option<u64>,
    faults: u32,
    turn_refused: bool,
    yielded: bool,
    next_timer_us: Option<u64>,
    items: u64,
    output_bytes: u64,
    pub(crate) calls: CallsState,
    /// Searches, descriptions and calls of the run so far.
    pub(crate) counts: (u32, u32, u32),
    /// Earlier results, each with the suspension that it followed.
    results: Vec<(u64, String)>,
}

impl State {
    /// Everything of a suspended cell, with the result that is about to be given.
    pub(crate) fn of(
        body: &Body,
        shared: &Shared,
        outcome: &CellOutcome,
        counts: (u32, u32, u32),
    ) -> Self {
        let mut results: Vec<(u64, String)> = shared
            .history
            .kept()
            .map(|(seq, outcome)| (seq, to_json(&outcome.result)))
            .collect();
        results.push((shared.history.last_seq(), to_json(&outcome.result)));
        Self {
            options: body.options.clone(),
            warnings: body.warnings.clone(),
            hint: body.hint.clone(),
            inferred: body.inferred,
            output: body.output.clone(),
            guest_us: micros(body.guest_time),
            answer_us: micros(body.answer_time),
            peak_bytes: body.peak_bytes,
            snapshot_bytes: body.snapshot_bytes,
            faults: body.faults,
            turn_refused: body.turn_refused,
            yielded: body.yielded,
            next_timer_us: body.next_timer_us,
            items: body.items,
            output_bytes: body.output_bytes,
            calls: shared.calls.state(),
            counts,
            results,
        }
    }

    /// A body that goes on from here.
    pub(crate) fn body(&mut self, source: Arc<str>, facts: Arc<CatalogFacts>) -> Box<Body> {
        let mut body = Body::new(source, self.options.clone(), facts);
        body.warnings = std::mem::take(&mut self.warnings);
        body.hint = self.hint.take();
        body.inferred = self.inferred;
        body.output = std::mem::take(&mut self.output);
        body.guest_time = Duration::from_micros(self.guest_us);
        body.answer_time = Duration::from_micros(self.answer_us);
        body.peak_bytes = self.peak_bytes;
        body.snapshot_bytes = self.snapshot_bytes;
        body.faults = self.faults;
        body.turn_refused = self.turn_refused;
        body.yielded = self.yielded;
        body.next_timer_us = self.next_timer_us;
        body.items = self.items;
        body.output_bytes = self.output_bytes;
        Box::new(body)
    }

    pub(crate) fn options(&self) -> &CodeModeOptions {
        &self.options
    }

    /// The earlier results; `None` when one of them is none.
    pub(crate) fn results(&self) -> Option<Vec<(u64, Arc<CellOutcome>)>> {
        let read = |(seq, json): &(u64, String)| {
            let result = CellResult::from_json(json).ok()?;
            Some((*seq, Arc::new(CellOutcome::plain(result))))
        };
        self.results.iter().map(read).collect()
    }
}

/// A result as it is stored: with its timings, so that it is given again as it was.
pub(crate) fn to_json(result: &CellResult) -> String {
    // What a result holds is JSON already.
    serde_json::to_string(result).unwrap_or_default()
}
