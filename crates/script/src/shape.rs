//! The shape of a whole program: a lone function that is to be called, and a value that is dropped at the end.

use oxc_ast::ast::{ArrowFunctionBody, Expression, FormalParameters, FunctionBody, Statement};
use oxc_span::GetSpan;

/// What the statements of a body amount to.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Shape {
    /// Statements to run as they are.
    Statements,
    /// One function without parameters; `end` is the offset in the parsed text behind the expression.
    Function {
        /// Where a semicolon after the function may start.
        end: u32,
    },
}

/// Tells a lone function from other programs.
pub(crate) fn of(body: &FunctionBody<'_>) -> Shape {
    let mut statements = body
        .statements
        .iter()
        .filter(|statement| !matches!(statement, Statement::EmptyStatement(_)));
    let (Some(only), None, true) = (
        statements.next(),
        statements.next(),
        body.directives.is_empty(),
    ) else {
        return Shape::Statements;
    };
    let end = match only {
        Statement::ExpressionStatement(statement) if is_callable(&statement.expression) => {
            statement.expression.span().end
        }
        Statement::FunctionDeclaration(function)
            if !function.generator && takes_nothing(&function.params) =>
        {
            function.span.end
        }
        _ => return Shape::Statements,
    };
    Shape::Function { end }
}

fn takes_nothing(params: &FormalParameters<'_>) -> bool {
    params.items.is_empty() && params.rest.is_none()
}

fn is_callable(expression: &Expression<'_>) -> bool {
    match expression.get_inner_expression() {
        Expression::ArrowFunctionExpression(function) => takes_nothing(&function.params),
        Expression::FunctionExpression(function) => {
            !function.generator && takes_nothing(&function.params)
        }
        _ => false,
    }
}

/// Says that the value of the last statement is dropped, if it is an expression. Calls whose effect is
/// output (`text`, `json`, `console`) are meant as statements.
pub(crate) fn hint(body: &FunctionBody<'_>) -> Option<String> {
    let last = body
        .statements
        .iter()
        .rev()
        .find(|statement| !matches!(statement, Statement::EmptyStatement(_)))?;
    match last {
        Statement::FunctionDeclaration(function) if body.statements.len() == 1 => {
            hint(function.body.as_ref()?)
        }
        Statement::ExpressionStatement(statement) => {
            match statement.expression.get_inner_expression() {
                Expression::ArrowFunctionExpression(function) if body.statements.len() == 1 => {
                    match &function.body {
                        ArrowFunctionBody::FunctionBody(inner) => hint(inner),
                        _ => None,
                    }
                }
                Expression::FunctionExpression(function) if body.statements.len() == 1 => {
                    hint(function.body.as_ref()?)
                }
                expression => dropped(expression),
            }
        }
        _ => None,
    }
}

fn dropped(expression: &Expression<'_>) -> Option<String> {
    let inner = match expression {
        Expression::AwaitExpression(awaited) => awaited.argument.get_inner_expression(),
        other => other,
    };
    if let Expression::CallExpression(call) = inner {
        let output = match &call.callee {
            Expression::Identifier(name) => matches!(name.name.as_str(), "text" | "json"),
            Expression::StaticMemberExpression(member) => {
                matches!(&member.object, Expression::Identifier(name) if name.name == "console")
            }
            _ => false,
        };
        if output {
            return None;
        }
        if matches!(
            call.callee.get_inner_expression(),
            Expression::ArrowFunctionExpression(_) | Expression::FunctionExpression(_)
        ) {
            return Some(
                "the last statement calls a function whose result was not returned; write `return await` before it".to_owned(),
            );
        }
    }
    Some("the last statement is an expression and was not returned; write `return` before it to get its value".to_owned())
}
