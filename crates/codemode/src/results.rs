//! From the end of a leg to the result that a client reads: sizes, effects, telemetry.
//!
//! The one place where results are made. Every result is within `maxOutputBytes`; what does not fit
//! is saved and named, never lost without a word.

use std::sync::Arc;
use std::time::{Duration, Instant};

use codecell_protocol::{
    CellResult, Completed, Effects, Failed, Failure, FailureKind, OutputItem, PendingCall,
    PendingState, SavedResult, Telemetry, Timings, Waiting, WaitingReason, Warning,
};
use codecell_tools::ContentBlock;
use serde_json::Value;
use serde_json::value::RawValue;

use crate::cell::Cell;
use crate::clock::millis;
use crate::cut;
use crate::deep_json;
use crate::failure::CellError;
use crate::leg::{Body, Leg, ProgramValue};
use crate::limits::{JSON_DEPTH_LEVELS, kept_bytes, message_bytes};
use crate::options::OutputOverflow;
use crate::outcome::CellOutcome;
use crate::run_state::RunState;
use crate::saved::Owner;

/// The tools that the model sees.
pub(crate) const VISIBLE_TOOLS: [&str; 2] = ["exec", "wait"];

/// The result of a program that has ended.
pub(crate) fn completed(leg: &mut Leg<'_>, effects: Option<Effects>) -> CellOutcome {
    let value = match leg.body.value.take() {
        Some(ProgramValue::Json(json)) => json,
        Some(ProgramValue::TooLarge) => return value_too_large(leg, effects),
        None => "null".into(),
    };
    let max_bytes = leg.body.options.max_output_bytes;
    let fits = value.len() as u64 <= max_bytes && {
        let room = max_bytes - value.len() as u64;
        leg.body.output.bytes() <= room
    };
    if !fits {
        return overflow(leg, &value, effects);
    }
    let Ok(value) = RawValue::from_string(value.into()) else {
        return failed(
            leg,
            CellError::Internal("the engine gave a value that is not JSON"),
            effects,
        );
    };
    let room = max_bytes - value.get().len() as u64;
    let output = leg.body.output.take_all(room).unwrap_or_default();
    finish(leg, value, output, None, effects)
}

fn finish(
    leg: &mut Leg<'_>,
    value: Box<RawValue>,
    output: Vec<OutputItem>,
    saved: Option<SavedResult>,
    effects: Option<Effects>,
) -> CellOutcome {
    let content = content(&leg.cell.run, Some(&value), &output);
    let hint = leg.body.hint.take().filter(|_| value.get() == "null");
    let result = CellResult::Completed(Completed {
        value,
        output,
        effects,
        hint,
        warnings: std::mem::take(&mut leg.body.warnings),
        saved,
        telemetry: telemetry_of(leg),
    });
    CellOutcome { result, content }
}

/// A program that ended with more than may be returned.
fn overflow(leg: &mut Leg<'_>, value: &str, effects: Option<Effects>) -> CellOutcome {
    let max_bytes = leg.body.options.max_output_bytes;
    let total = value.len() as u64 + leg.body.output.bytes();
    let has_items = leg.body.output.has_items();
    let saved = if has_items {
        let both = format!(
            "{{\"value\":{value},\"output\":{}}}",
            leg.body.output.to_json()
        );
        save(leg, &both)
    } else {
        save(leg, value)
    };
    if leg.body.options.output_overflow == OutputOverflow::Truncate {
        return truncated(leg, value, saved, effects);
    }
    let content = if has_items {
        "{value, output}"
    } else {
        "the value"
    };
    let kept = match &saved {
        Ok(saved) => format!(
            "It is saved: results.load(\"{}\") gives {content} in another cell of this run; return the part that you need",
            saved.id
        ),
        Err(why) => format!("It could not be saved ({why}); its beginning is lost with it"),
    };
    let text = format!(
        "the output has {total} bytes, at most {max_bytes} can be returned. The program ran to its end and must not be repeated. {kept}"
    );
    failed(
        leg,
        CellError::OutputTooLarge {
            text,
            saved: saved.ok(),
        },
        effects,
    )
}

fn value_too_large(leg: &mut Leg<'_>, effects: Option<Effects>) -> CellOutcome {
    let text = format!(
        "the value is larger than the {} bytes that can be kept, so it could not be saved. The program ran to its end and must not be repeated; what it read can be read again, in smaller parts",
        kept_bytes(&leg.body.options)
    );
    failed(
        leg,
        CellError::OutputTooLarge { text, saved: None },
        effects,
    )
}

/// `completed`, with a cut that says what it is.
fn truncated(
    leg: &mut Leg<'_>,
    value: &str,
    saved: Result<SavedResult, String>,
    effects: Option<Effects>,
) -> CellOutcome {
    let max_bytes = leg.body.options.max_output_bytes;
    let for_output = leg.body.output.bytes().min(max_bytes / 2);
    let for_value = (value.len() as u64).min(max_bytes - for_output);
    let mut output = leg.body.output.take_what_fits(max_bytes - for_value);
    if leg.body.output.has_items() {
        leg.body.output.clear();
        output.push(OutputItem::Text {
            text: "[output cut]".to_owned(),
        });
    }
    let cut = match deep_json::parse(value, JSON_DEPTH_LEVELS as usize) {
        Ok(parsed) if value.len() as u64 > for_value => {
            cut::cut(&parsed, for_value as usize).to_string()
        }
        Ok(_) => value.to_owned(),
        Err(_) => cut::cut(&Value::from(value), for_value as usize).to_string(),
    };
    if let Err(why) = &saved {
        leg.body.warnings.push(warning(
            "output_not_saved",
            format!("the output was cut and could not be saved: {why}"),
        ));
    }
    match RawValue::from_string(cut) {
        Ok(value) => finish(leg, value, output, saved.ok(), effects),
        Err(_) => failed(leg, CellError::Internal("a cut value is not JSON"), effects),
    }
}

fn warning(kind: &str, message: String) -> Warning {
    Warning {
        kind: kind.to_owned(),
        message,
        line: None,
        column: None,
    }
}

fn save(leg: &Leg<'_>, json: &str) -> Result<SavedResult, String> {
    let max_bytes = kept_bytes(&leg.body.options);
    let max_load_bytes = message_bytes(&leg.body.options);
    if json.len() as u64 > max_load_bytes {
        return Err(format!(
            "{} bytes are more than the {max_load_bytes} that results.load can deliver",
            json.len()
        ));
    }
    let saved = leg.cell.run.saved.save(json, Owner::Host, max_bytes);
    saved.map_err(|error| error.to_string())
}

/// The result of a cell that is suspended.
pub(crate) fn waiting(leg: &mut Leg<'_>, reason: WaitingReason) -> CellOutcome {
    let max_bytes = leg.body.options.max_output_bytes;
    let now = leg.cell.services.now();
    let shared = leg.cell.lock();
    let (mut pending, more) = shared.calls.pending(now, max_bytes / 2);
    let (seq, effects) = (shared.history.next_seq(), shared.calls.ledger().effects());
    drop(shared);
    if let (true, Some(since)) = (pending.is_empty() && more == 0, leg.body.timer_since()) {
        pending.push(timer(since, now));
    }
    let used = serde_json::to_string(&pending).map_or(0, |json| json.len() as u64);
    let output = leg
        .body
        .output
        .take_what_fits(max_bytes.saturating_sub(used));
    let content = content(&leg.cell.run, None, &output);
    let result = CellResult::Waiting(Waiting {
        run_id: leg.cell.id,
        seq,
        reason,
        pending_tool_calls: pending,
        more_pending_tool_calls: more,
        output,
        effects,
        warnings: std::mem::take(&mut leg.body.warnings),
        telemetry: telemetry_of(leg),
    });
    CellOutcome { result, content }
}

fn timer(since: Instant, now: Instant) -> PendingCall {
    PendingCall {
        id: "timer".to_owned(),
        method: "timer".to_owned(),
        tool: None,
        elapsed_ms: millis(now.saturating_duration_since(since)),
        state: PendingState::Running,
    }
}

/// The result of a cell that failed while it had a leg.
pub(crate) fn failed(leg: &mut Leg<'_>, error: CellError, effects: Option<Effects>) -> CellOutcome {
    let advice = leg.cell.lock().calls.ledger().retry_advice();
    let max_bytes = leg.body.options.max_output_bytes;
    let mut failure = error.to_failure();
    // What the program says is cut first: what must not be repeated has to stay.
    let advice = cut_text(advice, max_bytes / 2);
    let own = (max_bytes / 2)
        .saturating_sub(advice.len() as u64)
        .max(max_bytes / 8);
    let error = with_advice(cut_text(error.to_string(), own), &advice);
    bound_failure(&mut failure, max_bytes / 8);
    let used = error.len() as u64 + failure.frame.as_ref().map_or(0, |frame| frame.len() as u64);
    let mut output = leg
        .body
        .output
        .take_what_fits(max_bytes.saturating_sub(used + CUT_NOTE_BYTES));
    if leg.body.output.has_items() {
        output.push(OutputItem::Text {
            text: save_rest(leg, &mut failure),
        });
    }
    let content = content(&leg.cell.run, None, &output);
    let result = CellResult::Failed(Failed {
        error,
        code: failure.kind.code(),
        failure,
        output,
        effects,
        warnings: std::mem::take(&mut leg.body.warnings),
        telemetry: telemetry_of(leg),
    });
    CellOutcome { result, content }
}

/// The result of a cell that could not be suspended: with the output of the result that nobody gets.
pub(crate) fn not_suspended(
    leg: &mut Leg<'_>,
    error: CellError,
    lost: CellOutcome,
    effects: Option<Effects>,
) -> CellOutcome {
    let mut outcome = failed(leg, error, effects);
    if let (CellResult::Failed(failed), CellResult::Waiting(waiting)) =
        (&mut outcome.result, lost.result)
    {
        let rest = std::mem::replace(&mut failed.output, waiting.output);
        failed.output.extend(rest);
        failed.warnings = waiting.warnings;
    }
    outcome.content.splice(0..0, lost.content);
    outcome
}

/// Room for the note about output that was cut, in bytes.
const CUT_NOTE_BYTES: u64 = 256;

/// Saves the output that a failed result has no room for, and says where it is.
fn save_rest(leg: &mut Leg<'_>, failure: &mut Failure) -> String {
    let rest = leg.body.output.to_json();
    leg.body.output.clear();
    if failure.saved.is_some() {
        return "[output cut: it is part of what is saved]".to_owned();
    }
    match save(leg, &rest) {
        Ok(saved) => {
            let id = &saved.id;
            let note = format!(
                "[output cut: results.load(\"{id}\") gives the rest in another cell of this run]"
            );
            failure.saved = Some(saved);
            note
        }
        Err(_) => "[output cut: the rest could not be saved]".to_owned(),
    }
}

/// The text, and after it what must not be repeated.
fn with_advice(text: String, advice: &str) -> String {
    match advice {
        "" => text,
        advice if text.ends_with('.') => format!("{text} {advice}"),
        advice => format!("{text}. {advice}"),
    }
}

/// Keeps what a failure quotes within a share of the output.
fn bound_failure(failure: &mut Failure, max_bytes: u64) {
    if failure
        .frame
        .as_ref()
        .is_some_and(|frame| frame.len() as u64 > max_bytes)
    {
        failure.frame = None;
    }
}

fn cut_text(text: String, max_bytes: u64) -> String {
    let max_bytes = max_bytes as usize;
    if text.len() <= max_bytes {
        return text;
    }
    let end = (0..=max_bytes.saturating_sub(3))
        .rev()
        .find(|at| text.is_char_boundary(*at));
    format!("{}…", &text[..end.unwrap_or(0)])
}

/// The result of a call that never got as far as a leg.
pub(crate) fn refused(
    error: &CellError,
    effects: Option<Effects>,
    telemetry: Telemetry,
) -> CellOutcome {
    let failure = error.to_failure();
    CellOutcome::plain(CellResult::Failed(Failed {
        error: error.to_string(),
        code: failure.kind.code(),
        failure,
        output: Vec::new(),
        effects,
        warnings: Vec::new(),
        telemetry,
    }))
}

/// The result of a cell that ended without a leg: aborted while suspended, or lost.
pub(crate) fn ended_without_leg(
    cell: &Cell,
    body: Option<&Body>,
    error: &CellError,
    effects: Option<Effects>,
) -> CellOutcome {
    let advice = cell.lock().calls.ledger().retry_advice();
    let telemetry = body.map_or_else(Telemetry::default, |body| telemetry(cell, body, None));
    let mut outcome = refused(error, effects, telemetry);
    if let CellResult::Failed(failed) = &mut outcome.result {
        failed.error = with_advice(std::mem::take(&mut failed.error), &advice);
    }
    outcome
}

fn content(run: &RunState, value: Option<&RawValue>, output: &[OutputItem]) -> Vec<ContentBlock> {
    let items = output.iter().filter_map(|item| match item {
        OutputItem::Json { value } => Some(value.get()),
        _ => None,
    });
    run.binary()
        .named_in(value.map(RawValue::get).into_iter().chain(items))
}

fn telemetry_of(leg: &Leg<'_>) -> Telemetry {
    let wall = leg
        .cell
        .services
        .now()
        .saturating_duration_since(leg.start_instant());
    telemetry(leg.cell, &leg.body, Some(wall.saturating_sub(leg.idle)))
}

/// Counts and sizes of a cell; with the time of a leg that was not spent waiting, durations too.
fn telemetry(cell: &Cell, body: &Body, busy: Option<Duration>) -> Telemetry {
    let (search_count, describe_count, call_count) = cell.run.counts();
    let called_tools = cell.lock().calls.ledger().called().to_vec();
    let ms = |duration: Duration| duration.as_secs_f64() * 1000.0;
    let stored_bytes = body.held.as_ref().and_then(|held| held.stored_bytes());
    Telemetry {
        catalog_size: body.facts.size,
        sources: body.facts.counts,
        search_count,
        describe_count,
        call_count,
        visible_tools: VISIBLE_TOOLS.map(str::to_owned).to_vec(),
        called_tools,
        inferred_language: body.inferred,
        snapshot_bytes: body.snapshot_bytes,
        stored_bytes,
        peak_memory_bytes: body.peak_bytes,
        timings: busy.map(|busy| Timings {
            guest_ms: ms(body.guest_time),
            host_ms: ms(busy.saturating_sub(body.guest_time)),
            suspend_ms: body.suspend_time.map(ms),
            resume_ms: body.resume_time.map(ms),
        }),
    }
}

/// Telemetry of a call that has no cell.
pub(crate) fn bare_telemetry(run: Option<&Arc<RunState>>) -> Telemetry {
    let (search_count, describe_count, call_count) = run.map_or((0, 0, 0), |run| run.counts());
    Telemetry {
        search_count,
        describe_count,
        call_count,
        visible_tools: VISIBLE_TOOLS.map(str::to_owned).to_vec(),
        ..Telemetry::default()
    }
}

/// One event for whoever counts: what ended how.
pub(crate) fn trace(tool: &'static str, outcome: &CellOutcome) {
    let (status, kind) = match &outcome.result {
        CellResult::Completed(_) => ("completed", None),
        CellResult::Waiting(_) => ("waiting", None),
        CellResult::Failed(failed) => ("failed", Some(failed.failure.kind)),
    };
    let kind = kind.map_or("", FailureKind::as_str);
    tracing::debug!(tool, status, kind, "cell result");
}
