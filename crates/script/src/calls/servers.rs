//! What is called through `MCP` and `API`: by which names, and whether the program asks for them first.

use oxc_ast::AstKind;
use oxc_ast::ast::{BindingPattern, CallExpression, Expression};
use oxc_span::{GetSpan, Span};

use super::walk::{Held, Walk, holds};
use super::{Target, literal};
use crate::survey::literal as text_literal;

/// The member of a server, and of `MCP`, that tells of it.
const SELF: &str = "$api";

/// The members of a server that have members of their own.
const FAMILIES: [&str; 2] = ["resources", "prompts"];

/// The most names that lead to anything: `MCP.server.resources.list`.
const MAX_NAMES: usize = 3;

/// Names that lead from `MCP` to something.
#[derive(Debug, Clone, Default)]
pub(super) struct Way<'a> {
    names: Vec<&'a str>,
    /// One of them is asked for with `?.`.
    optional: bool,
}

impl<'a> Way<'a> {
    pub(super) fn to(&self, name: &'a str, optional: bool) -> Option<Self> {
        let mut way = self.clone();
        way.names.push(name);
        way.optional |= optional;
        (way.names.len() <= MAX_NAMES).then_some(way)
    }

    /// As the list of probed names has it.
    fn probed(&self) -> String {
        format!("MCP.{}", self.names.join("."))
    }

    /// What a call of it is; `None` when that is not sure.
    fn target(&self) -> Option<Target> {
        match self.names.as_slice() {
            [SELF] | [_, SELF] => Some(Target::Api(self.probed())),
            [_, _] => Some(Target::Mcp(self.names.join("."))),
            [_, family, _] if FAMILIES.contains(family) => Some(Target::Mcp(self.names.join("."))),
            _ => None,
        }
    }
}

impl<'a> Walk<'a, '_> {
    /// The way from `MCP` to what an expression is.
    pub(super) fn way(&self, expression: &Expression<'a>) -> Option<Way<'a>> {
        match expression.get_inner_expression() {
            Expression::Identifier(name) if name.name == "MCP" => {
                (!self.binds("MCP")).then(Way::default)
            }
            Expression::Identifier(name) => match self.held.get(name.name.as_str()) {
                Some(Held::Mcp(way)) => Some(way.clone()),
                _ => None,
            },
            Expression::StaticMemberExpression(member) => self
                .way(&member.object)?
                .to(member.property.name.as_str(), member.optional),
            Expression::ComputedMemberExpression(member) => self
                .way(&member.object)?
                .to(text_literal(&member.expression)?, member.optional),
            _ => None,
        }
    }

    /// What a call through `MCP` or `API` is.
    pub(super) fn server_call(&mut self, call: &CallExpression<'a>) -> Option<Target> {
        if let Expression::StaticMemberExpression(member) = call.callee.get_inner_expression()
            && matches!(&member.object, Expression::Identifier(name) if name.name == "API")
            && !self.binds("API")
        {
            let is_asked = member.optional || call.optional;
            return (!is_asked).then(|| Target::Api(format!("API.{}", member.property.name)));
        }
        let way = self.way(&call.callee)?;
        if way.optional || call.optional {
            self.found.probed.push(way.probed());
        }
        way.target()
    }

    /// A member of `MCP` or of a server that is neither called nor a step to another one.
    pub(super) fn probe_server(&mut self, object: &Expression<'a>, name: &'a str, span: Span) {
        let Some(way) = self.way(object).and_then(|way| way.to(name, false)) else {
            return;
        };
        let parent = self.stack.iter().rev().nth(1);
        let is_used = parent.is_some_and(|parent| match parent {
            AstKind::CallExpression(call) => holds(call.callee.span(), span),
            AstKind::StaticMemberExpression(member) => holds(member.object.span(), span),
            AstKind::ComputedMemberExpression(member) => holds(member.object.span(), span),
            AstKind::VariableDeclarator(_) => true,
            _ => false,
        });
        if !is_used {
            self.found.probed.push(way.probed());
        }
    }

    /// `"name" in MCP` or in a server.
    pub(super) fn asked_in(&mut self, left: &Expression<'a>, right: &Expression<'a>) {
        let way = self.way(right).zip(text_literal(left));
        let way = way.and_then(|(way, name)| way.to(name, false));
        self.found.probed.extend(way.map(|way| way.probed()));
    }

    /// A constant holds a server, one of its members, or several of them.
    pub(super) fn hold_servers(&mut self, pattern: &BindingPattern<'a>, way: &Way<'a>) {
        if way.optional {
            self.found.probed.push(way.probed());
        }
        match pattern {
            BindingPattern::BindingIdentifier(id) => {
                self.hold(id.name.as_str(), Held::Mcp(way.clone()));
            }
            BindingPattern::ObjectPattern(pattern) => {
                for property in &pattern.properties {
                    let way = literal::key_name(&property.key).and_then(|name| way.to(name, false));
                    if let Some(way) = way {
                        self.hold_servers(&property.value, &way);
                    }
                }
            }
            _ => {}
        }
    }
}
