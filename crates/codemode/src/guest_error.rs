//! The guest's error frame, read as hostile text, and what the host makes of it.
//!
//! The frame's words are quoted to the model. Which kind of failure it is depends on the frame's
//! source, on the engine's own flags and on the host's memory of the call that it names.

use codecell_sandbox::{ErrorSource, abi::fault};
use serde::Deserialize;

use crate::calls::{Calls, Refusal};
use crate::failure::{CellError, GuestError, Place};

/// Characters of a guest's message that are repeated.
const MESSAGE_CHARS: usize = 8_000;

/// Other unhandled rejections that are listed.
const OTHERS: usize = 8;

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Frame {
    name: String,
    message: String,
    line: Option<u32>,
    column: Option<u32>,
    call: Option<u32>,
    code: Option<serde_json::Value>,
    errors: Vec<Other>,
    others: Vec<Other>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(default)]
struct Other {
    name: String,
    message: String,
}

/// What is known besides the frame.
pub(crate) struct Known<'a> {
    /// The text that the model sent.
    pub(crate) source: &'a str,
    /// Bits of the engine's faults.
    pub(crate) faults: u32,
    /// The cell's calls.
    pub(crate) calls: &'a Calls,
    /// The guest has refused a whole turn.
    pub(crate) turn_refused: bool,
    /// The limit of the engine's memory.
    pub(crate) memory_limit_bytes: u64,
}

/// The failure that an error frame stands for.
pub(crate) fn judge(source: ErrorSource, json: &str, known: &Known<'_>) -> CellError {
    let frame: Frame = serde_json::from_str(json).unwrap_or_default();
    if known.faults & fault::ENDED_BY_MEMORY != 0 {
        return CellError::Memory {
            limit_bytes: known.memory_limit_bytes,
        };
    }
    if known.faults & fault::ENDED_BY_STACK != 0 {
        return CellError::Stack;
    }
    let error = describe(&frame, source, known.source);
    if source == ErrorSource::Syntax {
        return CellError::EngineSyntax(error);
    }
    let is_too_many =
        frame.code.as_ref().and_then(|code| code.as_str()) == Some("too_many_pending_tool_calls");
    match frame.call.and_then(|call| known.calls.rejection_of(call)) {
        Some(Refusal::TooMany) => CellError::TooManyPending(error),
        Some(Refusal::Other) => CellError::NestedTool(error),
        None if is_too_many && known.turn_refused => CellError::TooManyPending(error),
        None => CellError::Guest(error),
    }
}

fn describe(frame: &Frame, source: ErrorSource, program: &str) -> GuestError {
    let mut text = headline(&frame.name, &frame.message);
    let place = place(frame, program);
    if let Some(place) = &place {
        text += &format!(" (line {}, column {})", place.line, place.column);
    }
    if source == ErrorSource::Unhandled {
        text = format!(
            "a rejected promise was left without a handler: {text}. Await it, or add .catch"
        );
    }
    if source == ErrorSource::Timer {
        text = format!(
            "a function given to setTimeout threw: {text}. Catch it there: nothing else can"
        );
    }
    if source == ErrorSource::Conversion {
        text = format!("the program ended, but its value cannot be returned: {text}");
    }
    let line = place.as_ref().map_or(0, |place| place.line as usize);
    let line = program
        .lines()
        .nth(line.wrapping_sub(1))
        .unwrap_or_default();
    if let Some(hint) = hint(&frame.name, &frame.message, line) {
        text += &format!(". {hint}");
    }
    for part in frame.errors.iter().take(OTHERS) {
        text += &format!("\none of them: {}", headline(&part.name, &part.message));
    }
    for other in frame.others.iter().take(OTHERS) {
        text += &format!("\nalso rejected: {}", headline(&other.name, &other.message));
    }
    GuestError { text, place }
}

fn headline(name: &str, message: &str) -> String {
    let name = match name {
        "" => "Error",
        name => name,
    };
    let text = match message {
        "" => name.to_owned(),
        message => format!("{name}: {message}"),
    };
    match text.char_indices().nth(MESSAGE_CHARS) {
        Some((at, _)) => format!("{}…", &text[..at]),
        None => text,
    }
}

/// The place, if it is one of the text that was sent.
fn place(frame: &Frame, program: &str) -> Option<Place> {
    let (line, column) = (frame.line?, frame.column.unwrap_or(1).max(1));
    // The engine counts bytes; readers and editors do not.
    let column = codecell_script::column_of_byte(program, line, column);
    let lines = program.split('\n').count();
    let exists = line >= 1 && line as usize <= lines;
    exists.then(|| Place {
        line,
        column,
        frame: codecell_script::frame(program, line, column),
    })
}

/// What to write instead of a global that other runtimes have.
fn hint(name: &str, message: &str, line: &str) -> Option<String> {
    if name == "TypeError" && reads_a_part_of_a_tool(line) {
        return Some(
            "A tool has no parts: call it as tools.<name>({...}) or tools.call(id, {...}); tools.search finds names and ids"
                .to_owned(),
        );
    }
    let missing = message
        .strip_suffix(" is not defined")
        .filter(|_| name == "ReferenceError")?;
    let missing = missing.trim_matches(|c| c == '\'' || c == '`');
    let known = match missing {
        "fetch" | "XMLHttpRequest" | "WebSocket" | "axios" => {
            "There is no network here: call a tool, for example tools.web_fetch, or find one with tools.search"
        }
        "require" | "module" | "exports" | "fs" | "path" | "os" | "child_process" => {
            "There are no modules here: call a tool, for example tools.read, or find one with tools.search"
        }
        "process" | "Deno" | "Bun" | "__dirname" | "__filename" => {
            "There is no process here: what a program may do, it does through tools"
        }
        "Buffer" => "Use Uint8Array, TextEncoder, TextDecoder, atob and btoa",
        "setInterval" | "setImmediate" | "queueMicrotask" => "Use setTimeout or await",
        _ => {
            let missing: String = missing.chars().take(64).collect();
            return Some(format!(
                "Declare `{missing}`; if it should be a tool, call tools.<name>({{...}}), and find its name with tools.search"
            ));
        }
    };
    Some(known.to_owned())
}

/// `tools.a.b`, as other hosts have it.
fn reads_a_part_of_a_tool(line: &str) -> bool {
    let is_name = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    line.match_indices("tools.").any(|(at, found)| {
        let rest = &line[at + found.len()..];
        let name = rest.split(|c| !is_name(c)).next().unwrap_or_default();
        let part = rest[name.len()..].strip_prefix('.').unwrap_or_default();
        !name.is_empty() && part.starts_with(is_name)
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::calls::CallBounds;
    use crate::reply::Rejection;
    use codecell_protocol::{EffectKind, FailureKind};

    fn calls() -> Calls {
        let mut calls = Calls::new(CallBounds {
            in_flight: 1,
            queued_bytes: 1,
            undelivered_bytes: 1,
            message_bytes: 1,
        });
        let tool = "t".into();
        calls.refuse(1, &tool, EffectKind::Write, Rejection::too_many(1), 1);
        calls.refuse(
            2,
            &tool,
            EffectKind::Write,
            Rejection::approval_expired(&tool),
            1,
        );
        calls
    }

    fn judged(source: ErrorSource, json: &str, faults: u32, turn_refused: bool) -> CellError {
        let known = Known {
            source: "a\nb",
            faults,
            calls: &calls(),
            turn_refused,
            memory_limit_bytes: 9,
        };
        judge(source, json, &known)
    }

    #[test]
    fn the_kind_is_the_hosts_not_the_guests() {
        use FailureKind as K;
        let too_many = r#"{"message":"m","code":"too_many_pending_tool_calls"}"#;
        let cases = [
            (r#"{"message":"out of memory"}"#, 0, false, K::GuestError),
            (
                r#"{"message":"m"}"#,
                fault::OUT_OF_MEMORY,
                false,
                K::GuestError,
            ),
            (
                r#"{"message":"m"}"#,
                fault::ENDED_BY_MEMORY,
                false,
                K::MemoryLimitExceeded,
            ),
            (
                r#"{"message":"m"}"#,
                fault::ENDED_BY_STACK,
                false,
                K::StackOverflow,
            ),
            (r#"{"call":1}"#, 0, false, K::TooManyPendingToolCalls),
            (r#"{"call":2}"#, 0, false, K::NestedToolFailed),
            (r#"{"call":3,"tool":"t"}"#, 0, false, K::GuestError),
            (too_many, 0, false, K::GuestError),
            (too_many, 0, true, K::TooManyPendingToolCalls),
            ("not json", 0, false, K::GuestError),
        ];
        for (json, faults, refused, kind) in cases {
            assert_eq!(
                judged(ErrorSource::Program, json, faults, refused).kind(),
                kind,
                "{json}"
            );
        }
        assert_eq!(
            judged(ErrorSource::Syntax, "{}", 0, false).kind(),
            K::SyntaxError
        );
    }

    #[test]
    fn texts_quote_the_guest_and_say_what_to_do() {
        let json = r#"{"name":"ReferenceError","message":"fetch is not defined","line":2,"column":1,"others":[{"name":"E","message":"x"}]}"#;
        assert_eq!(
            judged(ErrorSource::Program, json, 0, false).to_string(),
            "ReferenceError: fetch is not defined (line 2, column 1). There is no network here: call a tool, \
             for example tools.web_fetch, or find one with tools.search\nalso rejected: E: x"
        );
        let json = r#"{"name":"ReferenceError","message":"state is not defined"}"#;
        assert_eq!(
            judged(ErrorSource::Program, json, 0, false).to_string(),
            "ReferenceError: state is not defined. Declare `state`; if it should be a tool, call \
             tools.<name>({...}), and find its name with tools.search"
        );
        assert!(reads_a_part_of_a_tool("await tools.github.issues({})"));
        assert!(!reads_a_part_of_a_tool("(await tools.read({})).text"));
        let json = r#"{"name":"Error","message":"boom"}"#;
        assert_eq!(
            judged(ErrorSource::Unhandled, json, 0, false).to_string(),
            "a rejected promise was left without a handler: Error: boom. Await it, or add .catch"
        );
        assert_eq!(
            judged(ErrorSource::Timer, json, 0, false).to_string(),
            "a function given to setTimeout threw: Error: boom. Catch it there: nothing else can"
        );
    }

    #[test]
    fn columns_count_characters_not_bytes() {
        let frame = Frame {
            line: Some(1),
            column: Some(22),
            ..Frame::default()
        };
        let place = place(&frame, "const é = \"日本\"; null.x").unwrap();
        assert_eq!((place.line, place.column), (1, 17));
    }

    #[test]
    fn a_place_outside_of_the_text_is_left_out() {
        let error = judged(ErrorSource::Program, r#"{"line":3,"column":1}"#, 0, false);
        assert_eq!(error.to_failure().line, None);
    }
}
