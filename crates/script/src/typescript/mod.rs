//! TypeScript to JavaScript, from source text to source text.
//!
//! Types become white space of the same shape; enums, namespaces and parameter properties are rewritten in
//! place, token by token. So every line keeps its number, and every token its column unless code was
//! inserted before it on its line. What cannot be expressed is a [`Failure`], never a silent change:
//! decorators, `export =`, `import x = require()`.

mod classes;
mod edits;
mod enums;
mod erase;
mod facts;
mod namespaces;
pub(crate) mod scan;

use oxc_ast::ast::Program;
use oxc_ast_visit::VisitJs;

use erase::Eraser;

/// A construct that has no JavaScript here.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Failure {
    /// Byte offset in the program's text.
    pub(crate) offset: u32,
    /// Which construct and what to write instead.
    pub(crate) message: String,
}

/// The JavaScript of a parsed TypeScript program.
///
/// # Errors
/// The first construct that cannot be expressed.
pub(crate) fn transform<'a>(program: &'a Program<'a>) -> Result<String, Failure> {
    let mut eraser = Eraser::new(program);
    eraser.visit_program(program);
    match eraser.failure {
        Some(failure) => Err(failure),
        None => Ok(eraser.edits.apply(program.source_text)),
    }
}
