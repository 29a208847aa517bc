//! What models put around a program: a Markdown fence, a hashbang, a `// @exec: {json}` line.
//!
//! Whatever is taken away is replaced by white space of the same length in bytes and in UTF-16 units, so
//! every later position is still one of the text that was sent.

use serde_json::Value;

use crate::error::{Foreign, ScriptError};
use crate::foreign;
use crate::options::Language;
use crate::prepared::{Directive, ScriptWarning};
use crate::source;

/// A text without its wrapping.
pub(crate) struct Envelope {
    /// The program, as long as the text sent.
    pub(crate) body: String,
    /// The language that the fence names.
    pub(crate) fence: Option<Language>,
    /// The leading directive line.
    pub(crate) directive: Directive,
    /// Remarks about the directive line.
    pub(crate) warnings: Vec<ScriptWarning>,
}

/// Takes the wrapping off `text`.
///
/// # Errors
/// [`ScriptError::Blank`] when nothing is left, [`ScriptError::NotJavaScript`] when a fence or hashbang
/// names another language.
pub(crate) fn open(text: &str) -> Result<Envelope, ScriptError> {
    let mut body = text.to_owned();
    let fence = remove_fence(&mut body)?;
    if body
        .trim_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
        .is_empty()
    {
        return Err(ScriptError::Blank);
    }
    remove_hashbang(&mut body)?;
    let (directive, warnings) = read_directive(&body);
    Ok(Envelope {
        body,
        fence,
        directive,
        warnings,
    })
}

const BLANKS: &str = "                                                                ";

/// Appends white space of the same shape: line terminators stay, every other character becomes blanks of
/// equal length in bytes and UTF-16 units.
pub(crate) fn push_blank(out: &mut String, text: &str) {
    if text.is_ascii() && !text.contains(['\n', '\r']) {
        let mut left = text.len();
        while left > 0 {
            let blanks = left.min(BLANKS.len());
            out.push_str(&BLANKS[..blanks]);
            left -= blanks;
        }
        return;
    }
    for character in text.chars() {
        match character.len_utf8() {
            1 if matches!(character, '\n' | '\r') => out.push(character),
            1 => out.push(' '),
            2 => out.push('\u{a0}'),
            3 if matches!(character, '\u{2028}' | '\u{2029}') => out.push(character),
            3 => out.push('\u{3000}'),
            _ => out.push_str("\u{a0}\u{a0}"),
        }
    }
}

fn blank_range(body: &mut String, start: usize, end: usize) {
    let mut blank = String::with_capacity(end - start);
    push_blank(&mut blank, &body[start..end]);
    body.replace_range(start..end, &blank);
}

/// Blanks one fence around the whole text and returns the language it names.
fn remove_fence(body: &mut String) -> Result<Option<Language>, ScriptError> {
    let trimmed = body.trim();
    let Some(mark) = ['`', '~']
        .into_iter()
        .find(|mark| trimmed.starts_with(&mark.to_string().repeat(3)))
    else {
        return Ok(None);
    };
    let ticks = trimmed.chars().take_while(|c| *c == mark).count();
    let start = body.len() - body.trim_start().len();
    let Some(first_end) = body[start..].find('\n').map(|at| start + at) else {
        return Ok(None);
    };
    let end = body.trim_end().len();
    let last_start = body[..end].rfind('\n').map_or(0, |at| at + 1);
    let last = body[last_start..end].trim();
    if last_start <= start || last.chars().any(|c| c != mark) || last.len() < ticks {
        return Ok(None);
    }
    let info = body[start + ticks..first_end]
        .split_whitespace()
        .next()
        .unwrap_or("")
        .to_owned();
    if info.contains('`') {
        return Ok(None);
    }
    if let Some(what) = foreign::of_name(&info) {
        return Err(foreign::refusal(what, &body[first_end..last_start]));
    }
    blank_range(body, last_start, end);
    blank_range(body, start, first_end);
    Ok(Language::from_alias(&info))
}

/// Blanks a `#!` line; one that starts another interpreter is refused.
fn remove_hashbang(body: &mut String) -> Result<(), ScriptError> {
    let start = body.len()
        - body
            .trim_start_matches(|c: char| c.is_whitespace() || c == '\u{feff}')
            .len();
    if !body[start..].starts_with("#!") {
        return Ok(());
    }
    let end = body[start..]
        .find(['\n', '\r', '\u{2028}', '\u{2029}'])
        .map_or(body.len(), |at| start + at);
    let line = &body[start..end];
    let interpreter = line
        .split(['/', ' ', '\t'])
        .rfind(|word| !word.is_empty() && !word.starts_with('-'));
    let what = match interpreter
        .unwrap_or("")
        .trim_end_matches(|c: char| c.is_ascii_digit() || c == '.')
    {
        "sh" | "bash" | "zsh" | "dash" | "ksh" | "fish" => Some(Foreign::Shell),
        "python" => Some(Foreign::Python),
        _ => None,
    };
    if let Some(what) = what {
        return Err(foreign::refusal(what, &body[end..]));
    }
    blank_range(body, start, end);
    Ok(())
}

/// Reads `// @exec: {json}` from the first line that is not blank. Broken JSON and unusable values give a
/// warning and are ignored: the line is a comment, so the program runs all the same.
fn read_directive(body: &str) -> (Directive, Vec<ScriptWarning>) {
    let mut directive = Directive::default();
    let mut warnings = Vec::new();
    let start = body.len() - body.trim_start().len();
    let line = body[start..].lines().next().unwrap_or("");
    let json = line
        .strip_prefix("//")
        .and_then(|rest| rest.trim_start().strip_prefix("@exec"));
    let Some(json) = json.and_then(|rest| rest.trim_start().strip_prefix(':')) else {
        return (directive, warnings);
    };
    let (line_number, column) = source::position(body, start);
    let mut warn = |kind, message| {
        warnings.push(ScriptWarning {
            kind,
            message,
            line: line_number,
            column,
        })
    };
    match serde_json::from_str::<Value>(json.trim()) {
        Ok(Value::Object(fields)) => {
            for (key, value) in &fields {
                if let Err((kind, message)) = apply(&mut directive, key, value) {
                    warn(kind, message);
                }
            }
        }
        Ok(_) => warn(
            "directive_invalid",
            "`// @exec:` takes one JSON object; the line was ignored".to_owned(),
        ),
        Err(error) => {
            warn(
                "directive_invalid",
                format!("`// @exec:` is not valid JSON ({error}); the line was ignored"),
            );
        }
    }
    (directive, warnings)
}

fn apply(
    directive: &mut Directive,
    key: &str,
    value: &Value,
) -> Result<(), (&'static str, String)> {
    match key {
        "language" => {
            directive.language = value.as_str().and_then(Language::from_alias);
            let known = directive.language.is_some();
            known.then_some(()).ok_or_else(|| {
                (
                    "directive_invalid",
                    "`language` must be \"javascript\" or \"typescript\"; it was ignored"
                        .to_owned(),
                )
            })
        }
        "timeoutMs" => {
            directive.timeout_ms = value.as_u64().filter(|ms| *ms > 0);
            let usable = directive.timeout_ms.is_some();
            usable.then_some(()).ok_or_else(|| {
                (
                    "directive_invalid",
                    "`timeoutMs` must be a whole number of milliseconds above 0; it was ignored"
                        .to_owned(),
                )
            })
        }
        _ => {
            let key: String = key.chars().take(64).collect();
            Err((
                "directive_unknown_key",
                format!(
                    "`// @exec:` knows `language` and `timeoutMs`; `{}` was ignored",
                    key.escape_debug()
                ),
            ))
        }
    }
}
