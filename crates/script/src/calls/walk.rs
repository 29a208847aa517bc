//! The walk: finds calls of tools, directly and through constants, and hands each to where its value goes.

use std::collections::{HashMap, HashSet};

use oxc_ast::AstKind;
use oxc_ast::ast::{
    BinaryOperator, BindingPattern, CallExpression, Expression, IdentifierReference, Program,
    StaticMemberExpression, VariableDeclarator,
};
use oxc_ast_visit::VisitJs;
use oxc_span::{GetSpan, Span};

use super::servers::Way;
use super::{Literal, MAX_NODES, Step, Target, ToolCall, ToolCalls, literal};
use crate::parse;
use crate::survey::{Survey, literal as text_literal};

/// The members of `tools` that are no tools.
const HELPERS: [&str; 4] = ["search", "describe", "call", "callRaw"];

/// What a constant holds.
#[derive(Debug, Clone)]
pub(super) enum Held<'a> {
    /// `tools` itself.
    Tools,
    /// One of its members.
    Member(&'a str),
    /// `MCP`, a server, or one of its members.
    Mcp(Way<'a>),
    /// The promise of a call.
    Promise(usize),
    /// A part of a call's awaited result.
    Value(Origin),
}

/// Which part of which result.
#[derive(Debug, Clone)]
pub(super) struct Origin {
    pub(super) call: usize,
    pub(super) path: Vec<Step>,
}

impl Origin {
    pub(super) fn field(&self, name: &str) -> Self {
        self.then(Step::Field(name.to_owned()))
    }

    pub(super) fn element(&self) -> Self {
        self.then(Step::Element)
    }

    fn then(&self, step: Step) -> Self {
        let mut path = self.path.clone();
        path.push(step);
        Self {
            call: self.call,
            path,
        }
    }
}

/// What is known of the promise of a call.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Fate {
    /// It may be awaited somewhere, by way of something that is not followed.
    pub(super) unsure: bool,
}

/// The walk's state.
pub(super) struct Walk<'a, 's> {
    survey: &'s Survey<'a>,
    /// How many functions stand around the program's own statements.
    pub(super) functions: u32,
    /// The nodes that the walk is inside of, the outermost first.
    pub(super) stack: Vec<AstKind<'a>>,
    pub(super) depth: u32,
    nodes: usize,
    pub(super) held: HashMap<&'a str, Held<'a>>,
    pub(super) fates: Vec<Fate>,
    /// Fields that the program asks for, or sets itself: it may know more than a schema.
    pub(super) doubted: Vec<(usize, Vec<Step>, String)>,
    pub(super) found: ToolCalls,
}

impl<'a, 's> Walk<'a, 's> {
    pub(super) fn new(survey: &'s Survey<'a>, functions: u32) -> Self {
        Self {
            survey,
            functions,
            stack: Vec::new(),
            depth: 0,
            nodes: 0,
            held: HashMap::new(),
            fates: Vec::new(),
            doubted: Vec::new(),
            found: ToolCalls::default(),
        }
    }

    pub(super) fn over(mut self, program: &Program<'a>) -> ToolCalls {
        self.visit_program(program);
        if self.nodes > MAX_NODES {
            return ToolCalls::default();
        }
        for (call, fate) in self.found.calls.iter_mut().zip(&self.fates) {
            if fate.unsure {
                call.unawaited = None;
            }
        }
        let doubted: HashSet<_> = self.doubted.into_iter().collect();
        self.found.reads.retain(|read| {
            doubted.is_empty()
                || !doubted.contains(&(read.call, read.path.clone(), read.field.clone()))
        });
        self.found
    }

    /// The name is bound once in the whole program, so every use of it means that variable.
    pub(super) fn is_unique(&self, name: &str) -> bool {
        self.survey.bindings(name) == 1
    }

    /// The program has a variable of this name.
    pub(super) fn binds(&self, name: &str) -> bool {
        self.survey.binds(name)
    }

    pub(super) fn hold(&mut self, name: &'a str, held: Held<'a>) {
        if self.is_unique(name) {
            self.held.insert(name, held);
        }
    }

    fn is_tools(&self, expression: &Expression<'a>) -> bool {
        match expression.get_inner_expression() {
            // A local variable of this name: nothing is sure.
            Expression::Identifier(name) if name.name == "tools" => !self.binds("tools"),
            Expression::Identifier(name) => {
                matches!(self.held.get(name.name.as_str()), Some(Held::Tools))
            }
            _ => false,
        }
    }

    /// The member of `tools` that an expression is, and whether it is asked for with `?.`.
    fn member(&self, expression: &Expression<'a>) -> Option<(&'a str, bool)> {
        match expression.get_inner_expression() {
            Expression::StaticMemberExpression(member) if self.is_tools(&member.object) => {
                Some((member.property.name.as_str(), member.optional))
            }
            Expression::ComputedMemberExpression(member) if self.is_tools(&member.object) => {
                Some((text_literal(&member.expression)?, member.optional))
            }
            Expression::Identifier(name) => match self.held.get(name.name.as_str()) {
                Some(Held::Member(member)) => Some((member, false)),
                _ => None,
            },
            _ => None,
        }
    }

    fn call(&mut self, call: &CallExpression<'a>) {
        let argument = |at: usize| {
            call.arguments
                .get(at)
                .map(|argument| argument.as_expression())
        };
        let (target, input) = match self.member(&call.callee) {
            Some((member, optional)) => {
                if optional || call.optional {
                    self.found.probed.push(member.to_owned());
                }
                let id = argument(0).flatten().and_then(text_literal);
                let id = id.map(str::to_owned);
                match member {
                    "call" => (id.map(Target::Id), argument(1)),
                    "callRaw" => (id.map(Target::RawId), argument(1)),
                    other if HELPERS.contains(&other) => (None, None),
                    other => (Some(Target::Name(other.to_owned())), argument(0)),
                }
            }
            None => (self.server_call(call), argument(0)),
        };
        let Some(target) = target else { return };
        let input = input.map(|input| input.map_or(Literal::Unknown, literal::of));
        let index = self.found.calls.len();
        self.found.calls.push(ToolCall {
            target,
            input,
            offset: parse::shift(call.span.start),
            caught: self.is_caught(call.span),
            unawaited: None,
        });
        self.fates.push(Fate::default());
        self.promise_used(index, call.span);
    }

    /// The expression stands in a `try` that has a `catch`, or has `.catch(...)` behind it.
    fn is_caught(&self, span: Span) -> bool {
        self.stack.iter().any(|node| match node {
            AstKind::TryStatement(it) => it.handler.is_some() && holds(it.block.span, span),
            AstKind::StaticMemberExpression(member) => {
                member.property.name == "catch" && holds(member.object.span(), span)
            }
            _ => false,
        })
    }

    /// A member of `tools` that is read without being called: the program asks whether it is there.
    fn probe(&mut self, member: &StaticMemberExpression<'a>) {
        if !self.is_tools(&member.object) {
            let name = member.property.name.as_str();
            return self.probe_server(&member.object, name, member.span);
        }
        let called = self
            .stack
            .iter()
            .rev()
            .nth(1)
            .is_some_and(|parent| match parent {
                AstKind::CallExpression(call) => holds(call.callee.span(), member.span),
                AstKind::VariableDeclarator(_) => true,
                _ => false,
            });
        if !called {
            self.found
                .probed
                .push(member.property.name.as_str().to_owned());
        }
    }

    fn declarator(&mut self, it: &VariableDeclarator<'a>) {
        let Some(init) = it.init.as_ref().filter(|_| self.is_const()) else {
            return;
        };
        if let Some(way) = self.way(init) {
            return self.hold_servers(&it.id, &way);
        }
        let name = match &it.id {
            BindingPattern::BindingIdentifier(id) => id.name.as_str(),
            BindingPattern::ObjectPattern(pattern) if self.is_tools(init) => {
                for property in &pattern.properties {
                    if let (Some(member), BindingPattern::BindingIdentifier(id)) =
                        (literal::key_name(&property.key), &property.value)
                    {
                        self.hold(id.name.as_str(), Held::Member(member));
                    }
                }
                return;
            }
            _ => return,
        };
        if self.is_tools(init) {
            self.hold(name, Held::Tools);
        } else if let Some((member, false)) = self.member(init) {
            self.hold(name, Held::Member(member));
        }
    }

    /// The declarator on top of the stack belongs to a `const`.
    pub(super) fn is_const(&self) -> bool {
        self.stack
            .iter()
            .rev()
            .find_map(|node| match node {
                AstKind::VariableDeclaration(declaration) => Some(declaration.kind.is_const()),
                _ => None,
            })
            .unwrap_or(false)
    }

    fn reference(&mut self, it: &IdentifierReference<'a>) {
        match self.held.get(it.name.as_str()) {
            Some(Held::Promise(call)) => {
                let call = *call;
                self.promise_used(call, it.span);
            }
            Some(Held::Value(origin)) => {
                let origin = origin.clone();
                self.value_used(&origin, it.span);
            }
            _ => {}
        }
    }
}

/// Whether one span lies in another.
pub(super) fn holds(outer: Span, inner: Span) -> bool {
    outer.start <= inner.start && inner.end <= outer.end
}

impl<'a> VisitJs<'a> for Walk<'a, '_> {
    fn enter_node(&mut self, kind: AstKind<'a>) {
        self.nodes += 1;
        self.stack.push(kind);
        if self.nodes > MAX_NODES {
            return;
        }
        match kind {
            AstKind::CallExpression(call) => self.call(call),
            AstKind::IdentifierReference(name) => self.reference(name),
            AstKind::VariableDeclarator(declarator) => self.declarator(declarator),
            AstKind::StaticMemberExpression(member) => self.probe(member),
            AstKind::ComputedMemberExpression(member) => {
                if let Some(name) = text_literal(&member.expression) {
                    self.probe_server(&member.object, name, member.span);
                }
            }
            AstKind::BinaryExpression(binary) if binary.operator == BinaryOperator::In => {
                if self.is_tools(&binary.right) {
                    let name = text_literal(&binary.left);
                    self.found.probed.extend(name.map(str::to_owned));
                }
                self.asked_in(&binary.left, &binary.right);
            }
            AstKind::Function(_) | AstKind::ArrowFunctionExpression(_) => self.depth += 1,
            _ => {}
        }
    }

    fn leave_node(&mut self, kind: AstKind<'a>) {
        self.stack.pop();
        if matches!(
            kind,
            AstKind::Function(_) | AstKind::ArrowFunctionExpression(_)
        ) {
            self.depth -= 1;
        }
    }
}
