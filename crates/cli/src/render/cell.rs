//! A cell's result for a person: what goes to stdout, and what is told on stderr.

use std::fmt::Write as _;

use codecell_protocol::{
    CallState, CellResult, Completed, Effects, Failed, FailureKind, OutputItem, PendingCall,
    PendingState, Waiting, Warning,
};
use serde_json::value::RawValue;

use super::json;
use crate::escape::{foreign, visible};
use crate::streams::{Streams, style};

/// The largest output that can be configured, in bytes. Source: the clamp of `maxOutputBytes`.
const MAX_OUTPUT_BYTES: u64 = 10_485_760;

/// What an advised limit is rounded up to, in bytes: room for what a repetition adds.
const ROUND_BYTES: u64 = 4_096;

/// One item of output as it goes to stdout.
pub(crate) fn output_item(item: &OutputItem) -> String {
    match item {
        OutputItem::Text { text } => text.clone(),
        OutputItem::Json { value } => json::indent(value.get()),
    }
}

/// The value as it goes to stdout: a string as it is, anything else as indented JSON. `None` for a
/// `null` after output, which would only be noise.
pub(crate) fn value(value: &RawValue, wrote_output: bool) -> Option<String> {
    if wrote_output && value.get() == "null" {
        return None;
    }
    let text = serde_json::from_str::<String>(value.get());
    Some(text.unwrap_or_else(|_| json::indent(value.get())))
}

/// What stderr says about a result, line by line; empty when there is nothing to say.
pub(crate) fn remarks(streams: &Streams, result: &CellResult) -> String {
    let mut out = String::new();
    match result {
        CellResult::Completed(completed) => completed_remarks(streams, completed, &mut out),
        CellResult::Waiting(waiting) => waiting_remarks(streams, waiting, &mut out),
        CellResult::Failed(failed) => failed_remarks(streams, failed, &mut out),
    }
    out.trim_end().to_owned()
}

fn completed_remarks(streams: &Streams, completed: &Completed, out: &mut String) {
    warnings(streams, &completed.warnings, out);
    if let Some(hint) = &completed.hint {
        hint_line(streams, hint, out);
    }
    if let Some(saved) = &completed.saved {
        let text = format!(
            "what the program gave has {} bytes and was cut; {}",
            saved.bytes,
            raise(saved.bytes)
        );
        hint_line(streams, &text, out);
    }
    let unclear = completed
        .effects
        .as_ref()
        .is_some_and(|effects| effects.unknown > 0);
    if let Some(effects) = completed
        .effects
        .as_ref()
        .filter(|_| unclear || streams.verbose())
    {
        effect_lines(streams, effects, out);
    }
}

fn waiting_remarks(streams: &Streams, waiting: &Waiting, out: &mut String) {
    warnings(streams, &waiting.warnings, out);
    line(out, &format!("waiting: {} is suspended", waiting.run_id));
    for call in &waiting.pending_tool_calls {
        line(out, &format!("  {}", pending(call)));
    }
    if let Some(effects) = &waiting.effects {
        effect_lines(streams, effects, out);
    }
}

/// One outstanding call in words.
pub(crate) fn pending(call: &PendingCall) -> String {
    let name = visible(call.tool.as_deref().unwrap_or(&call.method));
    let seconds = call.elapsed_ms / 1000;
    match call.state {
        PendingState::Queued => format!("{name} waits for its turn"),
        PendingState::Running => format!("{name} has run for {seconds} s"),
        PendingState::Approval => format!("{name} waits for approval"),
    }
}

fn failed_remarks(streams: &Streams, failed: &Failed, out: &mut String) {
    let mut others = failed.warnings.clone();
    // The error may be the very thing that was foreseen.
    others.retain(|warning| !failed.error.contains(&warning.message));
    warnings(streams, &others, out);
    let heading = streams.styled_err(style::ERROR, "error:");
    line(out, &format!("{heading} {}", foreign(&error_text(failed))));
    if let Some(frame) = failed
        .failure
        .frame
        .as_deref()
        .filter(|frame| !failed.error.contains(frame))
    {
        line(out, &format!("  {}", foreign(frame)));
    }
    let mut kind = format!("({}, {}", failed.code, failed.failure.kind);
    if let Some(at) = failed
        .failure
        .line
        .filter(|at| !failed.error.contains(&format!("line {at}")))
    {
        let _ = write!(kind, ", line {at}");
        if let Some(column) = failed.failure.column {
            let _ = write!(kind, " column {column}");
        }
    }
    line(out, &streams.styled_err(style::DIM, kind + ")"));
    // Calls that never began are told by the error itself.
    if let Some(effects) = failed
        .effects
        .as_ref()
        .filter(|effects| has_happened(effects) || streams.verbose())
    {
        effect_lines(streams, effects, out);
    }
}

/// The error's text. A program that only threw keeps the class of what it threw; in our own texts
/// the plainest class says nothing that the heading does not.
fn error_text(failed: &Failed) -> String {
    let text = failed.error.as_str();
    if failed.failure.kind == FailureKind::GuestError {
        return text.to_owned();
    }
    text.strip_prefix("Error: ").unwrap_or(text).to_owned()
}

/// Puts advice that can be followed on the command line in the place of the one for models: what is
/// saved is gone when the command ends.
pub(crate) fn advise_on_size(failed: &mut Failed) {
    let kind = failed.failure.kind;
    let Some(bytes) = failed.failure.saved.as_ref().map(|saved| saved.bytes) else {
        return;
    };
    if kind != FailureKind::OutputLimitExceeded {
        return;
    }
    if let Some(at) = failed.error.find("It is saved: results.load(") {
        failed.error.truncate(at);
        failed.error.push_str(&format!(
            "Its output ends with this command: {}, cut it with --set tools.codeMode.outputOverflow=truncate, or return less",
            raise(bytes)
        ));
    }
}

/// How to let this many bytes through.
fn raise(bytes: u64) -> String {
    if bytes > MAX_OUTPUT_BYTES {
        return format!(
            "at most {MAX_OUTPUT_BYTES} can be let through, with --set tools.codeMode.maxOutputBytes={MAX_OUTPUT_BYTES}"
        );
    }
    let fitting = bytes.next_multiple_of(ROUND_BYTES).min(MAX_OUTPUT_BYTES);
    format!("raise the limit with --set tools.codeMode.maxOutputBytes={fitting}")
}

const fn has_happened(effects: &Effects) -> bool {
    effects.committed + effects.unknown + effects.failed > 0
}

fn warnings(streams: &Streams, warnings: &[Warning], out: &mut String) {
    for warning in warnings {
        let heading = streams.styled_err(style::WARNING, "warning:");
        let place = warning
            .line
            .map(|at| format!(" (line {at})"))
            .unwrap_or_default();
        line(
            out,
            &format!("{heading} {}{place}", foreign(&warning.message)),
        );
    }
}

/// A line of advice.
pub(crate) fn hint_line(streams: &Streams, hint: &str, out: &mut String) {
    let heading = streams.styled_err(style::HINT, "hint:");
    line(out, &format!("{heading} {}", foreign(hint)));
}

fn effect_lines(streams: &Streams, effects: &Effects, out: &mut String) {
    let heading = streams.styled_err(style::HEADING, "effects:");
    let counts = [
        (effects.committed, "committed"),
        (effects.unknown, "unknown"),
        (effects.failed, "failed without effect"),
        (effects.not_started, "not started"),
    ];
    let counts: Vec<String> = counts
        .iter()
        .filter(|(count, _)| *count > 0)
        .map(|(count, word)| format!("{count} {word}"))
        .collect();
    line(out, &format!("{heading} {}", counts.join(", ")));
    for call in &effects.calls {
        let state = match call.state {
            CallState::Committed => "committed",
            CallState::Unknown => "unknown",
            CallState::Failed => "failed",
            CallState::NotStarted => "not started",
        };
        line(out, &format!("  {state:<11}  {}", visible(&call.tool)));
    }
    let listed = effects.calls.len();
    let all = effects.committed + effects.unknown + effects.failed + effects.not_started;
    if (all as usize) > listed {
        line(out, &format!("  and {} more", all as usize - listed));
    }
    if effects.unknown > 0 {
        hint_line(
            streams,
            "an unknown call may or may not have had its effect: look before you run it again",
            out,
        );
    }
}

fn line(out: &mut String, text: &str) {
    out.push_str(text);
    out.push('\n');
}
