//! What is known of a value from the way it is written.

use oxc_ast::ast::{
    ArrayExpressionElement, Expression, ObjectExpression, ObjectPropertyKind, PropertyKey,
    PropertyKind, UnaryOperator,
};
use oxc_span::GetSpan;

use crate::parse;

/// A value as far as it is written out.
#[derive(Debug, Clone, PartialEq)]
pub enum Literal {
    /// Anything may come of it.
    Unknown,
    /// A string; its text where that is short and written out.
    Text(Option<String>),
    /// A number.
    Number(f64),
    /// `true` or `false`.
    Bool(bool),
    /// `null`.
    Null,
    /// An array; spread parts are [`Literal::Unknown`].
    List(Vec<Literal>),
    /// An object.
    Object(Fields),
}

/// The fields of an object literal.
#[derive(Debug, Clone, PartialEq, Default)]
pub struct Fields {
    /// Those that are written out, the last of each name.
    pub fields: Vec<Field>,
    /// There may be others: something is spread, or a name is computed.
    pub open: bool,
}

/// One field.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name.
    pub name: String,
    /// Its value.
    pub value: Literal,
    /// Where it starts, in bytes of the text sent.
    pub offset: usize,
}

/// Longest text that is kept, in bytes: no `enum` has longer ones.
const MAX_TEXT_BYTES: usize = 200;
/// Deepest nesting that is looked into.
const MAX_DEPTH: u32 = 12;
/// Most elements of one array that are looked at.
const MAX_ELEMENTS: usize = 64;

/// The value of an expression.
pub(super) fn of(expression: &Expression<'_>) -> Literal {
    at_depth(expression, 0)
}

fn at_depth(expression: &Expression<'_>, depth: u32) -> Literal {
    match expression.get_inner_expression() {
        _ if depth > MAX_DEPTH => Literal::Unknown,
        Expression::StringLiteral(text) => text_of(Some(text.value.as_str())),
        Expression::TemplateLiteral(template) if template.expressions.is_empty() => {
            let whole = template.quasis.first().and_then(|part| part.value.cooked);
            text_of(whole.as_ref().map(|text| text.as_str()))
        }
        Expression::TemplateLiteral(_) => Literal::Text(None),
        Expression::NumericLiteral(number) => Literal::Number(number.value),
        Expression::BooleanLiteral(flag) => Literal::Bool(flag.value),
        Expression::NullLiteral(_) => Literal::Null,
        Expression::UnaryExpression(unary) if unary.operator == UnaryOperator::UnaryNegation => {
            match at_depth(&unary.argument, depth + 1) {
                Literal::Number(number) => Literal::Number(-number),
                _ => Literal::Unknown,
            }
        }
        Expression::ArrayExpression(array) => {
            let elements = array.elements.iter().take(MAX_ELEMENTS);
            Literal::List(elements.map(|element| element_of(element, depth)).collect())
        }
        Expression::ObjectExpression(object) => Literal::Object(fields_of(object, depth)),
        _ => Literal::Unknown,
    }
}

fn text_of(text: Option<&str>) -> Literal {
    let kept = text.filter(|text| text.len() <= MAX_TEXT_BYTES);
    Literal::Text(kept.map(str::to_owned))
}

fn element_of(element: &ArrayExpressionElement<'_>, depth: u32) -> Literal {
    match element.as_expression() {
        Some(expression) => at_depth(expression, depth + 1),
        None => Literal::Unknown,
    }
}

fn fields_of(object: &ObjectExpression<'_>, depth: u32) -> Fields {
    let mut found = Fields::default();
    for property in &object.properties {
        let ObjectPropertyKind::ObjectProperty(property) = property else {
            found.open = true;
            continue;
        };
        let Some(name) = key_name(&property.key).filter(|name| *name != "__proto__") else {
            found.open = true;
            continue;
        };
        let plain = property.kind == PropertyKind::Init && !property.method;
        let value = if plain {
            at_depth(&property.value, depth + 1)
        } else {
            Literal::Unknown
        };
        found.fields.retain(|field| field.name != name);
        found.fields.push(Field {
            name: name.to_owned(),
            value,
            offset: parse::shift(property.key.span().start),
        });
    }
    found
}

/// The name that a key is, if it is written out.
pub(super) fn key_name<'a>(key: &PropertyKey<'a>) -> Option<&'a str> {
    match key {
        PropertyKey::StaticIdentifier(name) => Some(name.name.as_str()),
        PropertyKey::StringLiteral(text) => Some(text.value.as_str()),
        _ => None,
    }
}
