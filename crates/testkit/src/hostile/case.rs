//! Hostile programs as they lie on disk.
//!
//! A file is one line of a class; it holds programs, each after a line `//## name`. The lines
//! `//# key: value` that follow are its header, the rest, to the next `//##`, is the text that is sent:
//!
//! * `expect`: `completed`, `waiting`, or `failed` and kinds; several are parted by `or`.
//! * `value`: the JSON that a completed program returns.
//! * `options`: fields of the run's options that differ, in the names of the configuration.
//! * `language`: `typescript`, where the caller says so.
//! * `waits`: how often a waiting cell is waited for, 32 unless said.
//! * `servers`: MCP servers that the run has besides its tools: `nasty` or `exploding`.
//! * `fill`: `NAME = "text" * count`; `@NAME@` in the program stands for it.

use std::path::Path;

use codecell_codemode::CodeModeOptions;
use codecell_protocol::{FailureKind, Language};
use serde_json::Value;

use super::fakes::ExtraServers;

/// How often a waiting cell is waited for when the header does not say.
const MAX_WAITS: u32 = 32;

/// How a program may end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// With a value.
    Completed,
    /// Still waiting after the last `wait`.
    Waiting,
    /// With one of these kinds.
    Failed(Vec<FailureKind>),
}

/// One program and what is said of it.
#[derive(Clone, Debug)]
pub struct Case {
    /// `class/line/name`.
    pub id: String,
    /// The text that is sent.
    pub code: String,
    /// The language that is named.
    pub language: Option<Language>,
    /// The run's options.
    pub options: CodeModeOptions,
    /// The endings that are right.
    pub endings: Vec<Ending>,
    /// What it must return, if it completes.
    pub value: Option<Value>,
    /// How often it is waited for.
    pub waits: u32,
    /// MCP servers that the run has as well.
    pub servers: ExtraServers,
}

/// The programs of a class, in the order of their ids.
///
/// # Errors
/// Which file and program cannot be read, and why.
pub fn load(folder: &Path, class: char) -> Result<Vec<Case>, String> {
    let folder = folder.join(class.to_ascii_lowercase().to_string());
    if !folder.is_dir() {
        return Ok(Vec::new());
    }
    let listed = std::fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let mut files: Vec<_> = listed.flatten().map(|entry| entry.path()).collect();
    files.sort();
    let mut cases = Vec::new();
    for file in files {
        let line = file
            .file_stem()
            .unwrap_or_default()
            .to_string_lossy()
            .into_owned();
        let text =
            std::fs::read_to_string(&file).map_err(|e| format!("{}: {e}", file.display()))?;
        cases.extend(parse(&format!("{class}/{line}"), &text)?);
    }
    Ok(cases)
}

/// The programs of one file.
///
/// # Errors
/// Which program cannot be read, and why.
pub fn parse(prefix: &str, text: &str) -> Result<Vec<Case>, String> {
    let mut cases = Vec::new();
    let (_, programs) = text
        .split_once("//## ")
        .ok_or(format!("{prefix}: no program"))?;
    for program in programs.split("\n//## ") {
        let (name, body) = program.split_once('\n').unwrap_or((program, ""));
        let id = format!("{prefix}/{}", name.trim());
        cases.push(one(&id, body).map_err(|reason| format!("{id}: {reason}"))?);
    }
    Ok(cases)
}

fn one(id: &str, body: &str) -> Result<Case, String> {
    let mut case = Case {
        id: id.to_owned(),
        code: String::new(),
        language: None,
        options: CodeModeOptions::default(),
        endings: Vec::new(),
        value: None,
        waits: MAX_WAITS,
        servers: ExtraServers::None,
    };
    let mut fills = Vec::new();
    let mut rest = body;
    while let Some(header) = rest.strip_prefix("//# ") {
        let (line, after) = header.split_once('\n').unwrap_or((header, ""));
        let (key, value) = line.split_once(':').ok_or("a header line needs a colon")?;
        if key == "fill" {
            fills.push(fill(value)?);
        } else {
            set(&mut case, key, value.trim())?;
        }
        rest = after;
    }
    case.code = rest.strip_suffix('\n').unwrap_or(rest).to_owned();
    for (name, text) in fills {
        case.code = case.code.replace(&format!("@{name}@"), &text);
    }
    if case.endings.is_empty() {
        return Err("it does not say how it ends".to_owned());
    }
    Ok(case)
}

fn set(case: &mut Case, key: &str, value: &str) -> Result<(), String> {
    match key {
        "expect" => case.endings = value.split(" or ").map(ending).collect::<Result<_, _>>()?,
        "value" => case.value = Some(serde_json::from_str(value).map_err(|e| e.to_string())?),
        "waits" => case.waits = value.parse().map_err(|_| "waits is a number".to_owned())?,
        "servers" if value == "nasty" => case.servers = ExtraServers::Nasty,
        "servers" if value == "exploding" => case.servers = ExtraServers::Exploding,
        "language" if value == "typescript" => case.language = Some(Language::TypeScript),
        "options" => set_options(&mut case.options, value)?,
        _ => return Err(format!("no header line is called {key}: {value}")),
    }
    Ok(())
}

fn ending(words: &str) -> Result<Ending, String> {
    let mut words = words.split_whitespace();
    match words.next() {
        Some("completed") => Ok(Ending::Completed),
        Some("waiting") => Ok(Ending::Waiting),
        Some("failed") => Ok(Ending::Failed(words.map(kind).collect::<Result<_, _>>()?)),
        other => Err(format!("{other:?} is no ending")),
    }
}

/// The kind of this name.
///
/// # Errors
/// When there is none.
pub fn kind(word: &str) -> Result<FailureKind, String> {
    let found = FailureKind::ALL.iter().find(|kind| kind.as_str() == word);
    found
        .copied()
        .ok_or(format!("{word} is no kind of failure"))
}

fn set_options(options: &mut CodeModeOptions, json: &str) -> Result<(), String> {
    let fields: serde_json::Map<String, Value> =
        serde_json::from_str(json).map_err(|e| e.to_string())?;
    for (name, value) in fields {
        let place = match name.as_str() {
            "timeoutMs" => &mut options.timeout_ms,
            "memoryLimitBytes" => &mut options.memory_limit_bytes,
            "maxOutputBytes" => &mut options.max_output_bytes,
            "maxSnapshotBytes" => &mut options.max_snapshot_bytes,
            "maxPendingToolCalls" => &mut options.max_pending_tool_calls,
            "maxGuestMs" => &mut options.max_guest_ms,
            _ => return Err(format!("no option is called {name}")),
        };
        *place = value.as_u64().ok_or(format!("{name} is a number"))?;
    }
    Ok(())
}

fn fill(value: &str) -> Result<(String, String), String> {
    let usage = "fill is NAME = \"text\" * count";
    let (name, value) = value.split_once('=').ok_or(usage)?;
    let (text, count) = value.rsplit_once('*').ok_or(usage)?;
    let text: String = serde_json::from_str(text.trim()).map_err(|e| e.to_string())?;
    let count: usize = count.trim().parse().map_err(|_| usage)?;
    Ok((name.trim().to_owned(), text.repeat(count)))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_file_is_read_as_its_description_says() {
        let text = "//# words\n//## one\n//# expect: completed\n//# value: 3\nreturn 3\n//## two\n\
                    //# expect: failed guest_deadline memory_limit_exceeded or completed\n\
                    //# options: {\"timeoutMs\": 200}\n//# fill: X = \"ab\" * 2\n@X@\nlast\n";
        let cases = parse("A/line", text).expect("it reads");
        assert_eq!(cases.len(), 2);
        assert_eq!(
            (cases[0].id.as_str(), cases[0].code.as_str()),
            ("A/line/one", "return 3")
        );
        assert_eq!(cases[0].value, Some(Value::from(3)));
        assert_eq!(cases[1].code, "abab\nlast");
        assert_eq!(cases[1].options.timeout_ms, 200);
        assert_eq!(cases[1].endings.len(), 2);
        assert!(parse("A/line", "//## none\nreturn 1").is_err());
        assert!(parse("A/line", "//## x\n//# expect: failed no_such_kind\n").is_err());
    }
}
