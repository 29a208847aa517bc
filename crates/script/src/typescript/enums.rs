//! Enums, rewritten in place: each member becomes an assignment where it stands.
//!
//! `const` enums become ordinary ones, so that they can be looked up at run time. A member without a value
//! after one whose value is not known here is one more than that value when the program runs.

use std::collections::HashSet;

use oxc_ast::ast::{Expression, TSEnumDeclaration, TSEnumMember, TSEnumMemberName};
use oxc_ast_visit::VisitJs;
use oxc_span::{GetSpan, Span};
use oxc_syntax::constant_value::ConstantValue;

use super::erase::{Body, Eraser};
use super::{facts, scan};

impl<'a> Eraser<'a> {
    /// Rewrites an enum; `owner` is the object of the namespace that exports it.
    pub(super) fn enum_declaration(&mut self, it: &TSEnumDeclaration<'a>, owner: Option<&str>) {
        let name = it.id.name.as_str();
        let keyword = self.declare(name);
        let open = it.body.span.start as usize + 1;
        self.edits.replace(
            it.span.start as usize,
            open,
            &format!("{keyword}(function ({name}) {{"),
        );
        self.bodies.push(Body {
            parameter: name.to_owned(),
            path: self.path(name),
            scope: it.body.scope_id.get(),
            homed: it
                .body
                .members
                .iter()
                .map(|member| member.id.static_name().to_string())
                .collect::<HashSet<_>>(),
        });
        let (mut next, mut previous) = (Some(0.0), None);
        for member in &it.body.members {
            next = self.enum_member(member, it, next, previous.as_deref());
            previous = Some(quoted(member));
        }
        self.bodies.pop();
        self.close_object(it.body.span, name, owner);
    }

    /// Writes `})(E || (E = {}));` over the closing brace.
    pub(super) fn close_object(&mut self, body: Span, name: &str, owner: Option<&str>) {
        let close = match owner {
            None => format!("}})({name} || ({name} = {{}}));"),
            Some(owner) => format!("}})({name} = {owner}.{name} || ({owner}.{name} = {{}}));"),
        };
        self.edits
            .replace(body.end as usize - 1, body.end as usize, &close);
    }

    /// `var E; ` or `let E; `, or nothing where the name exists already.
    pub(super) fn declare(&mut self, name: &str) -> String {
        let Some(list) = self.lists.last_mut() else {
            return format!("var {name}; ");
        };
        let first = list.declared.insert(name.to_owned());
        match (first, list.block) {
            (false, _) => String::new(),
            (true, true) => format!("let {name}; "),
            (true, false) => format!("var {name}; "),
        }
    }

    /// The path of a body called `name` inside the current one.
    pub(super) fn path(&self, name: &str) -> String {
        self.bodies
            .last()
            .map_or_else(|| name.to_owned(), |body| format!("{}.{name}", body.path))
    }

    /// Rewrites one member and returns the value that a following member without one gets.
    fn enum_member(
        &mut self,
        member: &TSEnumMember<'a>,
        it: &TSEnumDeclaration<'a>,
        next: Option<f64>,
        previous: Option<&str>,
    ) -> Option<f64> {
        let object = it.id.name.as_str();
        let key = quoted(member);
        let start = member.span.start as usize;
        let key_end = self.key_end(&member.id);
        let following = match &member.initializer {
            None => {
                let assigned = match (next, previous) {
                    (Some(value), _) => number(value),
                    // The value before is known at run time only, for example that of a `const` outside.
                    (None, Some(previous)) => format!("{object}[{previous}] + 1"),
                    (None, None) => number(0.0),
                };
                self.edits.replace(
                    start,
                    key_end,
                    &format!("{object}[{object}[{key}] = {assigned}] = {key}"),
                );
                next.map(|value| value + 1.0)
            }
            Some(value) => {
                let constant = facts::literal(value).or_else(|| self.constant(member, it));
                let text = matches!(constant, Some(ConstantValue::String(_))) || is_text(value);
                if text {
                    self.edits
                        .replace(start, key_end, &format!("{object}[{key}]"));
                    self.visit_expression(value);
                } else {
                    self.edits
                        .replace(start, key_end, &format!("{object}[{object}[{key}]"));
                    self.visit_expression(value);
                    self.edits
                        .insert(value.span().end as usize, &format!("] = {key}"));
                }
                match constant {
                    Some(ConstantValue::Number(value)) => Some(value + 1.0),
                    _ => None,
                }
            }
        };
        let (at, byte) = scan::next_byte(self.text, member.span.end as usize);
        if byte == b',' {
            self.edits.replace(at, at + 1, ";");
        } else {
            self.edits.insert(member.span.end as usize, ";");
        }
        following
    }

    fn key_end(&self, name: &TSEnumMemberName<'a>) -> usize {
        let end = name.span().end as usize;
        match name {
            TSEnumMemberName::Identifier(_) | TSEnumMemberName::String(_) => end,
            _ => scan::next_byte(self.text, end).0 + 1,
        }
    }

    fn constant(
        &self,
        member: &TSEnumMember<'a>,
        it: &TSEnumDeclaration<'a>,
    ) -> Option<ConstantValue> {
        let scoping = self.facts.scoping.as_ref()?;
        let symbol =
            scoping.get_binding(it.body.scope_id.get()?, member.id.static_name().into())?;
        scoping.get_enum_member_value(symbol).cloned()
    }
}

/// A member's name as a string literal.
fn quoted(member: &TSEnumMember<'_>) -> String {
    serde_json::Value::from(member.id.static_name().as_str()).to_string()
}

/// Whether an expression is text whatever its parts are.
fn is_text(value: &Expression<'_>) -> bool {
    match value.get_inner_expression() {
        Expression::StringLiteral(_) | Expression::TemplateLiteral(_) => true,
        Expression::BinaryExpression(binary) => {
            binary.operator == oxc_syntax::operator::BinaryOperator::Addition
                && (is_text(&binary.left) || is_text(&binary.right))
        }
        _ => false,
    }
}

/// A number as JavaScript writes it.
fn number(value: f64) -> String {
    if value.is_nan() {
        "NaN".to_owned()
    } else if value.is_infinite() {
        if value > 0.0 { "Infinity" } else { "-Infinity" }.to_owned()
    } else if value.abs() >= 1e21 {
        format!("{value:e}")
    } else {
        format!("{value}")
    }
}
