//! Classes: modifiers, members that exist only as types, parameter properties.
//!
//! Parameter properties become fields, declared first in the class, and assignments in the constructor, as
//! TypeScript does for targets with class fields.

use oxc_ast::ast::{
    BindingPattern, Class, ClassElement, Expression, Function, MethodDefinition,
    MethodDefinitionKind, Statement,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::{GetSpan, Span};

use super::erase::Eraser;
use super::scan;

/// Modifiers without a meaning at run time.
const MODIFIERS: &[&str] = &[
    "public",
    "private",
    "protected",
    "readonly",
    "abstract",
    "override",
    "declare",
];

impl<'a> Eraser<'a> {
    /// Handles a class declaration or expression.
    pub(super) fn class(&mut self, it: &Class<'a>) {
        self.blank_modifiers(it.span.start, it.body.span.start, false);
        if let Some(types) = &it.type_parameters {
            self.blank_span(types.span);
        }
        let mut head_end = it.type_parameters.as_ref().map(|types| types.span.end);
        head_end = head_end.or(it.id.as_ref().map(|id| id.span.end));
        if let Some(heritage) = &it.heritage {
            head_end = Some(heritage.expression.span().end);
            if let Some(types) = &heritage.type_arguments {
                self.blank_span(types.span);
                head_end = Some(types.span.end);
            }
        }
        if let (Some(first), Some(last)) = (it.implements.first(), it.implements.last()) {
            let from = head_end.map_or(first.span.start as usize, |end| {
                scan::skip_trivia(self.text, end as usize)
            });
            let keyword = self.text[..first.span.start as usize]
                .rfind("implements")
                .unwrap_or(from);
            self.edits.blank(keyword, last.span.end as usize);
        }
        for decorator in &it.decorators {
            self.visit_decorator(decorator);
        }
        if let Some(heritage) = &it.heritage {
            self.visit_expression(&heritage.expression);
        }
        for element in &it.body.body {
            self.element(element, it);
        }
    }

    fn element(&mut self, element: &ClassElement<'a>, class: &Class<'a>) {
        let span = element.span();
        match element {
            ClassElement::TSIndexSignature(_) => return self.remove(span),
            ClassElement::StaticBlock(block) => return self.visit_static_block(block),
            ClassElement::MethodDefinition(method) if method.value.body.is_none() => {
                return self.remove(span);
            }
            ClassElement::PropertyDefinition(it) if it.declare || it.r#type.is_abstract() => {
                return self.remove(span);
            }
            ClassElement::AccessorProperty(it) if it.r#type.is_abstract() => {
                return self.remove(span);
            }
            ClassElement::MethodDefinition(method) => {
                self.key(span, method.key.span(), method.optional);
                if method.kind == MethodDefinitionKind::Constructor {
                    self.parameter_properties(method, class);
                }
                walk_js::walk_method_definition(self, method);
            }
            ClassElement::PropertyDefinition(it) => {
                self.key(span, it.key.span(), it.optional || it.definite);
                if let Some(types) = &it.type_annotation {
                    self.blank_span(types.span);
                }
                walk_js::walk_property_definition(self, it);
            }
            ClassElement::AccessorProperty(it) => {
                self.key(span, it.key.span(), it.definite);
                if let Some(types) = &it.type_annotation {
                    self.blank_span(types.span);
                }
                walk_js::walk_accessor_property(self, it);
            }
        }
        self.terminate(span);
    }

    /// Blanks the modifiers before a key and the mark behind it.
    fn key(&mut self, element: Span, key: Span, marked: bool) {
        self.blank_modifiers(element.start, key.start, true);
        if marked {
            let (at, byte) = scan::next_byte(self.text, key.end as usize);
            self.blank_mark(if byte == b']' { at as u32 + 1 } else { key.end });
        }
    }

    /// Blanks modifier words from `start` up to `end`. A member that follows an unfinished field begins
    /// with a semicolon then, as the modifier kept `x = 1⏎ public [y]` apart.
    fn blank_modifiers(&mut self, start: u32, end: u32, member: bool) {
        let mut at = start as usize;
        let apart = member && !matches!(scan::previous_byte(self.text, at), b'{' | b';');
        while at < end as usize {
            at = scan::skip_trivia(self.text, at);
            let word = scan::word(self.text, at);
            if word.is_empty() || at >= end as usize {
                break;
            }
            if MODIFIERS.contains(&word) {
                let head = if apart && at == start as usize {
                    ";"
                } else {
                    ""
                };
                self.edits.replace(at, at + word.len(), head);
            }
            at += word.len();
        }
    }

    fn parameter_properties(&mut self, method: &MethodDefinition<'a>, class: &Class<'a>) {
        let mut names = Vec::new();
        for parameter in method
            .value
            .params
            .items
            .iter()
            .filter(|parameter| parameter.has_modifier())
        {
            match &parameter.pattern {
                BindingPattern::BindingIdentifier(id) => names.push(id.name.as_str()),
                other => self.fail(
                    other.span().start,
                    "a parameter property must be one name, not a pattern",
                ),
            }
        }
        if names.is_empty() {
            return;
        }
        let fields: String = names.iter().map(|name| format!(" {name};")).collect();
        self.edits
            .insert(class.body.span.start as usize + 1, &fields);
        let assignments: String = names
            .iter()
            .map(|name| format!(" this.{name} = {name};"))
            .collect();
        if let Some((at, separate)) =
            self.constructor_start(&method.value, class.heritage.is_some())
        {
            self.edits.insert(
                at,
                &if separate {
                    format!(";{assignments}")
                } else {
                    assignments
                },
            );
        }
    }

    /// Where the assignments go: behind `super(...)` in a derived class, else behind the directives; and
    /// whether a semicolon must come first.
    fn constructor_start(&self, function: &Function<'a>, derived: bool) -> Option<(usize, bool)> {
        let body = function.body.as_ref()?;
        let call = body
            .statements
            .iter()
            .filter(|_| derived)
            .find(|statement| is_super_call(statement));
        let after = call
            .map(GetSpan::span)
            .or(body.directives.last().map(|directive| directive.span));
        Some(match after {
            Some(span) => (
                span.end as usize,
                !self.text[..span.end as usize].ends_with(';'),
            ),
            None => (body.span.start as usize + 1, false),
        })
    }
}

fn is_super_call(statement: &Statement<'_>) -> bool {
    let Statement::ExpressionStatement(statement) = statement else {
        return false;
    };
    let Expression::CallExpression(call) = &statement.expression else {
        return false;
    };
    matches!(call.callee, Expression::Super(_))
}
