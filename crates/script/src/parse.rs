//! Parsing a text as the body of an async function, exactly as the engine will see it.
//!
//! The parser is given the wrapper that the engine compiles, and the result is accepted only if the whole
//! of it is one function expression whose body ends where the text does. So no text can leave the wrapper.
//! The parser's own positions are shifted by the wrapper's first line; [`shift`] undoes that.

use oxc_allocator::Allocator;
use oxc_ast::ast::{Expression, Function, FunctionBody, Program, Statement};
use oxc_diagnostics::OxcDiagnostic;
use oxc_parser::{ParseOptions, Parser};
use oxc_span::SourceType;

use crate::options::Language;
use crate::source;

const OPEN: &str = "(async function(){\n";
const CLOSE: &str = "\n})";
/// As long as [`OPEN`], so that positions shift equally.
const OPEN_EXPRESSION: &str = "(async function(){(";
const CLOSE_EXPRESSION: &str = "\n)})";

/// What is said about a text that stops in the middle.
pub(crate) const ENDS_EARLY: &str = "The program ends too early";

/// Why a text did not parse.
#[derive(Debug, Clone)]
pub(crate) struct Refusal {
    /// Byte offset in the text.
    pub(crate) offset: usize,
    /// The reason.
    pub(crate) message: String,
}

/// The compile unit of a body without prefix and suffix.
pub(crate) fn wrap(body: &str) -> String {
    [OPEN, body, CLOSE].concat()
}

/// Like [`wrap`] for a text that is an expression; the parentheses stand on lines of the wrapper.
pub(crate) fn wrap_expression(body: &str) -> String {
    [OPEN_EXPRESSION, body, CLOSE_EXPRESSION].concat()
}

/// The body in the compile unit that [`wrap`] made or that was made from one.
pub(crate) fn unwrap(wrapped: &str) -> &str {
    let close = if wrapped.starts_with(OPEN_EXPRESSION) {
        CLOSE_EXPRESSION
    } else {
        CLOSE
    };
    wrapped
        .get(OPEN.len()..wrapped.len() - close.len())
        .unwrap_or("")
}

/// The offset in the body of an offset in [`wrap`]'s result.
pub(crate) fn shift(offset: u32) -> usize {
    (offset as usize).saturating_sub(OPEN.len())
}

fn source_type(language: Language) -> SourceType {
    match language {
        Language::JavaScript => SourceType::script(),
        Language::TypeScript => SourceType::ts().with_script(true),
    }
}

/// Parses the result of [`wrap`].
///
/// # Errors
/// The first thing that keeps it from being one async function expression.
pub(crate) fn parse<'a>(
    allocator: &'a Allocator,
    wrapped: &'a str,
    language: Language,
) -> Result<&'a Program<'a>, Refusal> {
    let parsed = Parser::new(allocator, wrapped, source_type(language)).parse();
    if let Some(diagnostic) = parsed.diagnostics.errors().next() {
        return Err(explain(diagnostic, wrapped));
    }
    let program: &'a Program<'a> = allocator.alloc(parsed.program);
    match function(program) {
        Some(found) => match &found.body {
            Some(body) if body.span.end as usize == wrapped.len() - 1 => Ok(program),
            Some(body) => Err(stray_brace(shift(body.span.end - 1))),
            None => Err(stray_brace(0)),
        },
        None => Err(leaves_wrapper(program)),
    }
}

fn stray_brace(offset: usize) -> Refusal {
    Refusal {
        offset,
        message: "Unexpected `}`: it closes nothing that this program opened".to_owned(),
    }
}

/// The text ended the wrapper's function and went on; points at the brace that did it.
fn leaves_wrapper(program: &Program<'_>) -> Refusal {
    let first = program.body.first().and_then(|statement| match statement {
        Statement::ExpressionStatement(statement) => first_function(&statement.expression),
        _ => None,
    });
    let end = first
        .and_then(|function| function.body.as_ref())
        .map_or(0, |body| shift(body.span.end.max(1) - 1));
    stray_brace(end)
}

/// The leftmost function of an expression such as `(function(){})(), ...`.
fn first_function<'p, 'a>(expression: &'p Expression<'a>) -> Option<&'p Function<'a>> {
    let mut expression = expression;
    loop {
        expression = match expression {
            Expression::FunctionExpression(function) => return Some(function),
            Expression::ParenthesizedExpression(inner) => &inner.expression,
            Expression::CallExpression(call) => &call.callee,
            Expression::SequenceExpression(sequence) => sequence.expressions.first()?,
            Expression::BinaryExpression(binary) => &binary.left,
            Expression::LogicalExpression(logical) => &logical.left,
            Expression::ConditionalExpression(conditional) => &conditional.test,
            Expression::StaticMemberExpression(member) => &member.object,
            Expression::ComputedMemberExpression(member) => &member.object,
            Expression::TaggedTemplateExpression(tagged) => &tagged.tag,
            _ => return None,
        };
    }
}

/// The wrapper's function, if the program is nothing else.
fn function<'p, 'a>(program: &'p Program<'a>) -> Option<&'p Function<'a>> {
    let [Statement::ExpressionStatement(statement)] = program.body.as_slice() else {
        return None;
    };
    let Expression::ParenthesizedExpression(outer) = &statement.expression else {
        return None;
    };
    let Expression::FunctionExpression(function) = &outer.expression else {
        return None;
    };
    (program.directives.is_empty() && program.hashbang.is_none()).then_some(&**function)
}

/// The body of a program that [`parse`] accepted.
pub(crate) fn body<'p, 'a>(program: &'p Program<'a>) -> Option<&'p FunctionBody<'a>> {
    function(program)?.body.as_deref()
}

fn explain(diagnostic: &OxcDiagnostic, wrapped: &str) -> Refusal {
    let label = diagnostic
        .labels
        .iter()
        .find(|label| label.primary())
        .or_else(|| diagnostic.labels.first());
    let at = label.map_or(0, |label| label.offset());
    let mut message = source::visible(&diagnostic.message);
    if at as usize + CLOSE.len() > wrapped.len() {
        message = ENDS_EARLY.to_owned();
    }
    let end = wrapped.len().saturating_sub(OPEN.len() + CLOSE.len());
    Refusal {
        offset: shift(at).min(end),
        message,
    }
}

/// Parses a text by itself as a module, which allows `import` and `export`; for saying what is wrong
/// with a text that [`parse`] refused.
pub(crate) fn as_module<'a>(
    allocator: &'a Allocator,
    body: &'a str,
) -> (&'a Program<'a>, Option<Refusal>) {
    let options = ParseOptions {
        allow_return_outside_function: true,
        ..ParseOptions::default()
    };
    let parsed = Parser::new(allocator, body, SourceType::ts())
        .with_options(options)
        .parse();
    let first = parsed.diagnostics.errors().next();
    let refusal = first.map(|diagnostic| Refusal {
        offset: diagnostic
            .labels
            .first()
            .map_or(0, |label| label.offset() as usize),
        message: source::visible(&diagnostic.message),
    });
    (allocator.alloc(parsed.program), refusal)
}
