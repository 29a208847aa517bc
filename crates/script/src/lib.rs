//! From what a model sends to a checked program: TypeScript, module access, diagnostics.
//!
//! [`prepare`] takes the text of one `exec` call and gives back the body of an async function that the
//! engine can compile, or the reason why not, with the line and a caret. Nothing runs here, and nothing is
//! read from the clock, the environment or the disk. No other crate names the parser.
//!
//! What a caller may rely on: the compiled unit is exactly one function expression, whatever the text
//! contains; positions are those of the text sent; no input overflows the stack, and time and memory
//! are bounded by the length of the text, which is bounded itself.

#![forbid(unsafe_code)]

mod calls;
mod envelope;
mod error;
mod foreign;
mod nesting;
mod options;
mod parse;
mod prepare;
mod prepared;
mod shape;
mod source;
mod stack;
mod survey;
mod typescript;

pub use calls::{Field, FieldRead, Fields, Literal, Step, Target, ToolCall, ToolCalls, Unawaited};
pub use error::{Foreign, Place, ScriptError};
pub use options::{Language, LanguageSet, MAX_SOURCE_BYTES, PrepareOptions};
pub use prepare::{prepare, strip_types};
pub use prepared::{Directive, Prepared, ScriptWarning, Uses};
pub use source::{column_of_byte, frame, position};
