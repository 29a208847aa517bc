//! Where the program of `exec` comes from: the argument itself, a file, or stdin.
//!
//! The rule is documented in the help of `exec`; this module is the rule.

use std::fs::File;
use std::io::{self, Read};
use std::path::Path;

use codecell_protocol::Language;

use crate::error::{CliError, ProgramError};

/// A program's text and what its origin says about it.
#[derive(Debug, PartialEq, Eq)]
pub(crate) struct Program {
    /// The text.
    pub(crate) code: String,
    /// The language that a file's name tells.
    pub(crate) language: Option<Language>,
    /// What was chosen, for `-v`.
    pub(crate) origin: String,
}

/// Reads the program that the argument of `exec` names or is. Files are looked up from `folder`.
///
/// # Errors
///
/// [`CliError::NoCode`] without an argument or with a blank text, [`CliError::Program`] when a file
/// cannot be read, is no text, or has more than `limit_bytes`.
pub(crate) fn load(
    argument: Option<&str>,
    folder: &Path,
    limit_bytes: usize,
) -> Result<Program, CliError> {
    let program = match argument {
        None => return Err(CliError::NoCode),
        Some("-") => Program {
            code: read_text("stdin", io::stdin().lock(), limit_bytes)?,
            language: None,
            origin: "the program is what stdin gave".to_owned(),
        },
        Some(text) => named_or_inline(text, folder, limit_bytes)?,
    };
    if program.code.trim().is_empty() {
        return Err(CliError::NoCode);
    }
    Ok(program)
}

fn named_or_inline(text: &str, folder: &Path, limit_bytes: usize) -> Result<Program, ProgramError> {
    if could_be_path(text) {
        let path = folder.join(text);
        match path.metadata() {
            Ok(found) if found.is_dir() => return Err(ProgramError::Folder(text.to_owned())),
            Ok(_) => return read_file(text, &path, limit_bytes),
            Err(_) if looks_like_script(text) => {
                return Err(ProgramError::NoSuchFile(text.to_owned()));
            }
            Err(_) => {}
        }
    }
    Ok(Program {
        code: text.to_owned(),
        language: None,
        origin: "the argument names no file: it is the program itself".to_owned(),
    })
}

fn read_file(name: &str, path: &Path, limit_bytes: usize) -> Result<Program, ProgramError> {
    let file = File::open(path).map_err(|source| ProgramError::Read {
        name: name.to_owned(),
        source,
    })?;
    let extension = path.extension().and_then(|extension| extension.to_str());
    Ok(Program {
        code: read_text(name, file, limit_bytes)?,
        language: matches!(extension, Some("ts" | "mts" | "cts")).then_some(Language::TypeScript),
        origin: format!("the argument names a file: the program is what `{name}` holds"),
    })
}

fn read_text(name: &str, source: impl Read, limit_bytes: usize) -> Result<String, ProgramError> {
    let mut bytes = Vec::new();
    source
        .take(limit_bytes as u64 + 1)
        .read_to_end(&mut bytes)
        .map_err(|source| ProgramError::Read {
            name: name.to_owned(),
            source,
        })?;
    if bytes.len() > limit_bytes {
        return Err(ProgramError::TooLong {
            name: name.to_owned(),
            limit_bytes,
        });
    }
    String::from_utf8(bytes).map_err(|error| ProgramError::NotText {
        name: name.to_owned(),
        offset: error.utf8_error().valid_up_to(),
    })
}

/// The longest path that the system takes; longer texts need not be looked up.
const MAX_PATH_BYTES: usize = 4096;

fn could_be_path(text: &str) -> bool {
    !text.is_empty() && text.len() < MAX_PATH_BYTES && !text.contains(['\n', '\0'])
}

/// One word of a path's characters with a script's ending.
fn looks_like_script(text: &str) -> bool {
    let endings = [".js", ".mjs", ".cjs", ".ts", ".mts", ".cts"];
    endings.iter().any(|ending| text.ends_with(ending))
        && text
            .chars()
            .all(|c| c.is_alphanumeric() || matches!(c, '.' | '_' | '-' | '/' | '~'))
}

#[cfg(test)]
mod tests {
    use super::*;

    const LIMIT_BYTES: usize = 64;

    fn load_in(folder: &Path, argument: &str) -> Result<Program, String> {
        load(Some(argument), folder, LIMIT_BYTES).map_err(|error| error.to_string())
    }

    #[test]
    fn a_text_that_names_no_file_is_the_program() {
        let folder = tempfile::tempdir().unwrap();
        let program = load_in(folder.path(), "return a.b").unwrap();
        assert_eq!(
            (program.code.as_str(), program.language),
            ("return a.b", None)
        );
    }

    #[test]
    fn an_existing_file_wins_and_its_ending_tells_the_language() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::write(folder.path().join("job.ts"), "return 1 as number").unwrap();
        let program = load_in(folder.path(), "job.ts").unwrap();
        assert_eq!(program.code, "return 1 as number");
        assert_eq!(program.language, Some(Language::TypeScript));
    }

    #[test]
    fn what_cannot_be_had_says_so() {
        let folder = tempfile::tempdir().unwrap();
        std::fs::create_dir(folder.path().join("sub")).unwrap();
        std::fs::write(folder.path().join("bytes"), b"return '\xff'").unwrap();
        std::fs::write(folder.path().join("long"), "x".repeat(LIMIT_BYTES + 1)).unwrap();
        std::fs::write(folder.path().join("blank"), " \n").unwrap();
        std::fs::write(folder.path().join("full"), "x".repeat(LIMIT_BYTES)).unwrap();
        let cases = [
            ("src/job.js", "there is no file `src/job.js`"),
            ("sub", "`sub` is a folder, not a program"),
            (
                "bytes",
                "`bytes` is not UTF-8 text: byte 8 begins no character",
            ),
            (
                "long",
                "`long` is longer than the 64 bytes that a program may have",
            ),
            ("blank", "no code to run"),
            (" ", "no code to run"),
        ];
        for (argument, expected) in cases {
            assert_eq!(load_in(folder.path(), argument).unwrap_err(), expected);
        }
        assert!(
            load_in(folder.path(), "full").is_ok(),
            "exactly the limit is inside"
        );
    }
}
