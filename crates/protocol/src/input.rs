//! What `exec` and `wait` take.
//!
//! Parsed by hand from JSON so that every refusal names the argument and what to write instead.

use serde::{Deserialize, Serialize};
use serde_json::{Map, Value};

/// The language of a cell.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Language {
    /// ECMAScript, as quickjs-ng runs it.
    #[default]
    JavaScript,
    /// TypeScript, transformed to JavaScript with its positions kept.
    TypeScript,
}

impl Language {
    /// The word that inputs, results and hooks use.
    #[must_use]
    pub const fn as_str(self) -> &'static str {
        match self {
            Self::JavaScript => "javascript",
            Self::TypeScript => "typescript",
        }
    }
}

/// Why an input was refused. Every variant is an `invalid_input` failure.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum InputError {
    /// The arguments are no JSON object.
    #[error("arguments must be an object such as {example}")]
    NotAnObject {
        /// A correct input.
        example: &'static str,
    },
    /// An argument has the wrong type.
    #[error("argument `{name}` must be {expected}")]
    WrongType {
        /// The argument.
        name: &'static str,
        /// The type it takes, in words.
        expected: &'static str,
    },
    /// An argument that does not exist.
    #[error("unknown argument `{name}`; {tool} takes {known}")]
    UnknownArgument {
        /// The argument as it was given, cut to a readable length.
        name: String,
        /// The tool.
        tool: &'static str,
        /// The arguments that exist, in words.
        known: &'static str,
    },
    /// Neither `code` nor `command` has text.
    #[error("no code: pass the program as `code`, for example {{\"code\": \"return 1 + 1\"}}")]
    NoCode,
    /// `code` and `command` differ.
    #[error("`code` and `command` must match: pass the program as `code` only")]
    CodeAndCommandDiffer,
    /// A language that does not exist.
    #[error("unsupported language `{given}`: use \"javascript\" or \"typescript\"")]
    UnsupportedLanguage {
        /// The language as it was given, cut to a readable length.
        given: String,
    },
    /// `wait` without the id of a cell.
    #[error(
        "no cell: pass the `runId` of the `waiting` result, for example {{\"runId\": \"cm_…\"}}"
    )]
    NoRunId,
    /// `wait` got a tool's session id, not a cell's.
    #[error(
        "`sessionId` names a session of a tool, not a cell: pass the `runId` of the `waiting` result"
    )]
    SessionIdIsNotARun,
}

/// Input of `exec`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ExecInput {
    /// The program's text as the model sent it, never blank.
    pub code: String,
    /// The language, when it was given.
    pub language: Option<Language>,
}

impl ExecInput {
    /// Reads the arguments of `exec`: `code` or its alias `command`, and `language`.
    ///
    /// # Errors
    ///
    /// [`InputError`] when the arguments are no object, an argument is unknown or has the wrong
    /// type, both spellings of the program are given and differ, or none has text.
    pub fn from_arguments(arguments: &Value) -> Result<Self, InputError> {
        let map = object(arguments, r#"{"code": "return 1 + 1"}"#)?;
        only(
            map,
            "exec",
            "`code` and `language`",
            &["code", "command", "language"],
        )?;
        let code = text(map, "code", "a string")?.filter(|text| !text.trim().is_empty());
        let command = text(map, "command", "a string")?.filter(|text| !text.trim().is_empty());
        let code = match (code, command) {
            (Some(code), Some(command)) if code != command => {
                return Err(InputError::CodeAndCommandDiffer);
            }
            (Some(code), _) | (None, Some(code)) => code.to_owned(),
            (None, None) => return Err(InputError::NoCode),
        };
        let language = text(map, "language", "\"javascript\" or \"typescript\"")?;
        Ok(Self {
            code,
            language: language.map(parse_language).transpose()?,
        })
    }
}

/// Input of `wait`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WaitInput {
    /// The cell's id as it was given; it may name nothing.
    pub run_id: String,
    /// The `seq` of the `waiting` result that the caller has seen, to ask for its successor again.
    pub after: Option<u64>,
}

impl WaitInput {
    /// Reads the arguments of `wait`: `runId` (or `run_id`), and `after`.
    ///
    /// # Errors
    ///
    /// [`InputError`] when the arguments are no object, an argument is unknown or has the wrong
    /// type, or the id is missing.
    pub fn from_arguments(arguments: &Value) -> Result<Self, InputError> {
        let map = object(arguments, r#"{"runId": "cm_…"}"#)?;
        let known = ["runId", "run_id", "after"];
        if map.contains_key("sessionId")
            && !map.contains_key("runId")
            && !map.contains_key("run_id")
        {
            return Err(InputError::SessionIdIsNotARun);
        }
        only(map, "wait", "`runId` and `after`", &known)?;
        let run_id = match text(map, "runId", "a string")? {
            Some(id) => Some(id),
            None => text(map, "run_id", "a string")?,
        };
        let run_id = run_id
            .map(str::trim)
            .filter(|id| !id.is_empty())
            .ok_or(InputError::NoRunId)?;
        Ok(Self {
            run_id: run_id.to_owned(),
            after: sequence(map)?,
        })
    }
}

fn parse_language(given: &str) -> Result<Language, InputError> {
    match given.trim().to_ascii_lowercase().as_str() {
        "javascript" | "js" => Ok(Language::JavaScript),
        "typescript" | "ts" => Ok(Language::TypeScript),
        _ => Err(InputError::UnsupportedLanguage { given: cut(given) }),
    }
}

fn object<'a>(
    arguments: &'a Value,
    example: &'static str,
) -> Result<&'a Map<String, Value>, InputError> {
    arguments
        .as_object()
        .ok_or(InputError::NotAnObject { example })
}

fn only(
    map: &Map<String, Value>,
    tool: &'static str,
    known: &'static str,
    names: &[&str],
) -> Result<(), InputError> {
    match map.keys().find(|key| !names.contains(&key.as_str())) {
        Some(name) => Err(InputError::UnknownArgument {
            name: cut(name),
            tool,
            known,
        }),
        None => Ok(()),
    }
}

fn text<'a>(
    map: &'a Map<String, Value>,
    name: &'static str,
    expected: &'static str,
) -> Result<Option<&'a str>, InputError> {
    match map.get(name) {
        None | Some(Value::Null) => Ok(None),
        Some(Value::String(text)) => Ok(Some(text)),
        Some(_) => Err(InputError::WrongType { name, expected }),
    }
}

fn sequence(map: &Map<String, Value>) -> Result<Option<u64>, InputError> {
    match map.get("after") {
        None | Some(Value::Null) => Ok(None),
        Some(value) => value.as_u64().map(Some).ok_or(InputError::WrongType {
            name: "after",
            expected: "the `seq` of a `waiting` result",
        }),
    }
}

fn cut(text: &str) -> String {
    text.chars().filter(|c| !c.is_control()).take(40).collect()
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn either_spelling_of_the_program_is_taken() {
        for arguments in [
            json!({"code": "x"}),
            json!({"command": "x"}),
            json!({"code": "x", "command": "x"}),
            json!({"code": " ", "command": "x"}),
        ] {
            assert_eq!(
                ExecInput::from_arguments(&arguments),
                Ok(ExecInput {
                    code: "x".into(),
                    language: None
                })
            );
        }
    }

    #[test]
    fn wrong_arguments_of_exec_say_what_to_write() {
        let cases = [
            (
                json!("x"),
                "arguments must be an object such as {\"code\": \"return 1 + 1\"}",
            ),
            (
                json!({}),
                "no code: pass the program as `code`, for example {\"code\": \"return 1 + 1\"}",
            ),
            (
                json!({"code": "\n"}),
                "no code: pass the program as `code`, for example {\"code\": \"return 1 + 1\"}",
            ),
            (json!({"code": 1}), "argument `code` must be a string"),
            (
                json!({"code": "a", "command": "b"}),
                "`code` and `command` must match: pass the program as `code` only",
            ),
            (
                json!({"code": "a", "language": "python"}),
                "unsupported language `python`: use \"javascript\" or \"typescript\"",
            ),
            (
                json!({"code": "a", "cwd": "/"}),
                "unknown argument `cwd`; exec takes `code` and `language`",
            ),
        ];
        for (arguments, expected) in cases {
            let error = ExecInput::from_arguments(&arguments).expect_err("refused");
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn wrong_arguments_of_wait_say_what_to_write() {
        let cases = [
            (
                json!({}),
                "no cell: pass the `runId` of the `waiting` result, for example {\"runId\": \"cm_…\"}",
            ),
            (
                json!({"sessionId": "x"}),
                "`sessionId` names a session of a tool, not a cell: pass the `runId` of the `waiting` result",
            ),
            (
                json!({"runId": "cm_1", "after": -1}),
                "argument `after` must be the `seq` of a `waiting` result",
            ),
            (
                json!({"runId": "cm_1", "code": "x"}),
                "unknown argument `code`; wait takes `runId` and `after`",
            ),
        ];
        for (arguments, expected) in cases {
            let error = WaitInput::from_arguments(&arguments).expect_err("refused");
            assert_eq!(error.to_string(), expected);
        }
    }

    #[test]
    fn both_spellings_of_the_id_are_taken() {
        for arguments in [
            json!({"runId": "cm_1", "after": 3}),
            json!({"run_id": " cm_1 ", "after": 3}),
        ] {
            assert_eq!(
                WaitInput::from_arguments(&arguments),
                Ok(WaitInput {
                    run_id: "cm_1".into(),
                    after: Some(3)
                })
            );
        }
    }
}
