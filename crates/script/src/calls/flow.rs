//! Where the value of an expression goes, read off the nodes around it.

use oxc_ast::AstKind;
use oxc_ast::ast::{
    ArrowFunctionExpression, BinaryOperator, BindingPattern, CallExpression, Expression,
    ForStatementLeft, FormalParameters, Function, LogicalOperator, UnaryOperator,
};
use oxc_span::{GetSpan, Span};

use super::walk::{Held, Origin, Walk, holds};
use super::{FieldRead, Unawaited, literal};
use crate::parse;
use crate::survey::literal as text_literal;

/// Longest way into a result that is followed.
const MAX_PATH: usize = 16;

/// Members of a promise that a program may use without awaiting it.
const PROMISE_MEMBERS: [&str; 3] = ["then", "catch", "finally"];

/// Methods of arrays that hand each element to a function.
const EACH: [&str; 11] = [
    "map",
    "filter",
    "forEach",
    "find",
    "findLast",
    "findIndex",
    "some",
    "every",
    "flatMap",
    "findLastIndex",
    "toSorted",
];
/// Methods of arrays that give an array of the same elements.
const SAME: [&str; 6] = [
    "filter",
    "slice",
    "reverse",
    "toReversed",
    "toSorted",
    "sort",
];
/// Methods of arrays that give one element.
const ONE: [&str; 5] = ["find", "findLast", "at", "pop", "shift"];

impl<'a> Walk<'a, '_> {
    /// Index and node of what stands around the node at `at`, without wrappers that change nothing.
    fn around(&self, at: usize) -> Option<(usize, AstKind<'a>)> {
        let outer = self.stack.get(..at)?.iter().enumerate().rev();
        outer
            .map(|(index, node)| (index, *node))
            .find(|(_, node)| !is_wrapper(node))
    }

    /// The promise of a call appears as the expression on top of the stack.
    pub(super) fn promise_used(&mut self, call: usize, span: Span) {
        let top = self.stack.len() - 1;
        let Some((at, parent)) = self.around(top) else {
            return;
        };
        match parent {
            AstKind::AwaitExpression(_) => {
                self.fates[call].unsure = true;
                let origin = Origin {
                    call,
                    path: Vec::new(),
                };
                self.value_at(&origin, at);
            }
            AstKind::VariableDeclarator(declarator) => match &declarator.id {
                BindingPattern::BindingIdentifier(id)
                    if self.is_const() && self.is_unique(&id.name) =>
                {
                    self.hold(id.name.as_str(), Held::Promise(call));
                }
                BindingPattern::BindingIdentifier(_) => self.fates[call].unsure = true,
                _ => self.misuse(call, span, "is taken apart"),
            },
            AstKind::ExpressionStatement(_) => {}
            AstKind::ArrayExpression(_) if self.joined(call, span, at) => {
                self.fates[call].unsure = true;
            }
            _ => match self.misuse_of(span, at, parent) {
                Some(how) => self.misuse(call, span, how),
                None => self.fates[call].unsure = true,
            },
        }
    }

    /// `const [a, b] = await Promise.all([first, second])`: each result goes where its promise stands.
    fn joined(&mut self, call: usize, span: Span, at: usize) -> bool {
        let Some(AstKind::ArrayExpression(list)) = self.stack.get(at).copied() else {
            return false;
        };
        let Some((outer, AstKind::CallExpression(all))) = self.around(at) else {
            return false;
        };
        let Some((awaited, AstKind::AwaitExpression(_))) = self.around(outer) else {
            return false;
        };
        let place = list
            .elements
            .iter()
            .position(|element| holds(element.span(), span));
        let is_all = matches!(
            all.callee.get_inner_expression(),
            Expression::StaticMemberExpression(member)
                if member.property.name == "all"
                    && matches!(&member.object, Expression::Identifier(name) if name.name == "Promise")
        );
        if let (true, Some(place), Some((_, AstKind::VariableDeclarator(declarator)))) =
            (is_all, place, self.around(awaited))
            && self.is_const()
            && let BindingPattern::ArrayPattern(pattern) = &declarator.id
            && !list.elements[..place]
                .iter()
                .any(|element| element.is_spread())
            && let Some(Some(part)) = pattern.elements.get(place)
        {
            let origin = Origin {
                call,
                path: Vec::new(),
            };
            self.bind(&origin, part);
        }
        is_all
    }

    fn misuse(&mut self, call: usize, span: Span, how: &'static str) {
        let offset = parse::shift(span.start);
        let found = &mut self.found.calls[call].unawaited;
        found.get_or_insert(Unawaited { offset, how });
    }

    /// How a promise is used as if it were its value, if `parent` does so for sure.
    fn misuse_of(&self, span: Span, at: usize, parent: AstKind<'a>) -> Option<&'static str> {
        match parent {
            AstKind::StaticMemberExpression(member) if holds(member.object.span(), span) => {
                let name = member.property.name.as_str();
                let fine = PROMISE_MEMBERS.contains(&name) || name == "constructor";
                (!fine && !self.is_written(at)).then_some("is read like an object")
            }
            AstKind::ComputedMemberExpression(member) if holds(member.object.span(), span) => {
                (!self.is_written(at)).then_some("is read like an object")
            }
            AstKind::TemplateLiteral(_) => {
                let tagged = matches!(
                    self.around(at),
                    Some((_, AstKind::TaggedTemplateExpression(_)))
                );
                (!tagged).then_some("is put into a text")
            }
            AstKind::SpreadElement(_) => Some("is spread"),
            AstKind::ForOfStatement(it) if !it.r#await && holds(it.right.span(), span) => {
                Some("is looped over")
            }
            AstKind::ForInStatement(it) if holds(it.right.span(), span) => Some("is looped over"),
            AstKind::BinaryExpression(it) => computes(it.operator).then_some("is computed with"),
            AstKind::UnaryExpression(it) => (it.operator != UnaryOperator::Typeof
                && it.operator != UnaryOperator::Void)
                .then_some("is tested, which it always passes"),
            AstKind::IfStatement(it) if holds(it.test.span(), span) => {
                Some("is tested, which it always passes")
            }
            AstKind::ConditionalExpression(it) if holds(it.test.span(), span) => {
                Some("is tested, which it always passes")
            }
            AstKind::CallExpression(call) => self.is_shown(call, span).then_some("is shown"),
            AstKind::ObjectProperty(_) | AstKind::ArrayExpression(_) => {
                self.returned_inside(span, at)
            }
            _ => None,
        }
    }

    /// The member expression at this place of the stack is assigned to or deleted.
    fn is_written(&self, at: usize) -> bool {
        let Some(node) = self.stack.get(at) else {
            return false;
        };
        let span = node.span();
        match self.around(at) {
            Some((_, AstKind::AssignmentExpression(it))) => holds(it.left.span(), span),
            Some((_, AstKind::UnaryExpression(it))) => it.operator == UnaryOperator::Delete,
            Some((_, AstKind::UpdateExpression(_))) => true,
            _ => false,
        }
    }

    /// The call writes its arguments out: `text`, `json`, `console.*`, `JSON.stringify`.
    fn is_shown(&self, call: &CallExpression<'a>, span: Span) -> bool {
        if holds(call.callee.span(), span) {
            return false;
        }
        match call.callee.get_inner_expression() {
            Expression::Identifier(name) => {
                matches!(name.name.as_str(), "text" | "json") && !self.binds(&name.name)
            }
            Expression::StaticMemberExpression(member) => {
                match member.object.get_inner_expression() {
                    Expression::Identifier(object) => match object.name.as_str() {
                        "JSON" => member.property.name == "stringify" && !self.binds("JSON"),
                        "console" => !self.binds("console"),
                        _ => false,
                    },
                    _ => false,
                }
            }
            _ => false,
        }
    }

    /// A promise inside an object or array that the program returns or shows.
    fn returned_inside(&self, span: Span, mut at: usize) -> Option<&'static str> {
        loop {
            let node = self.stack.get(at)?;
            match node {
                AstKind::ObjectProperty(property) if !holds(property.value.span(), span) => {
                    return None;
                }
                AstKind::ObjectProperty(_)
                | AstKind::ObjectExpression(_)
                | AstKind::ArrayExpression(_) => {}
                AstKind::ReturnStatement(_) if self.depth <= self.functions => {
                    return Some("is returned inside of a value");
                }
                AstKind::CallExpression(call) => {
                    return self.is_shown(call, span).then_some("is shown");
                }
                node if is_wrapper(node) => {}
                _ => return None,
            }
            at = at.checked_sub(1)?;
        }
    }

    /// A known value appears as the expression on top of the stack.
    pub(super) fn value_used(&mut self, origin: &Origin, _: Span) {
        self.value_at(origin, self.stack.len() - 1);
    }

    /// The node at `at` of the stack is an expression whose value is known.
    fn value_at(&mut self, origin: &Origin, at: usize) {
        let Some(node) = self.stack.get(at) else {
            return;
        };
        let span = node.span();
        let Some((outer, parent)) = self.around(at) else {
            return;
        };
        match parent {
            AstKind::StaticMemberExpression(member) if holds(member.object.span(), span) => {
                self.read(
                    origin,
                    member.property.name.as_str(),
                    member.property.span,
                    outer,
                );
            }
            AstKind::ComputedMemberExpression(member) if holds(member.object.span(), span) => {
                match text_literal(&member.expression) {
                    Some(name) => self.read(origin, name, member.expression.span(), outer),
                    None => self.value_at(&origin.element(), outer),
                }
            }
            AstKind::AwaitExpression(_) => self.value_at(origin, outer),
            AstKind::LogicalExpression(it)
                if holds(it.left.span(), span) && it.operator != LogicalOperator::And =>
            {
                self.value_at(origin, outer);
            }
            AstKind::VariableDeclarator(declarator) if self.is_const() => {
                self.bind(origin, &declarator.id);
            }
            AstKind::ForOfStatement(it) if holds(it.right.span(), span) => {
                if let ForStatementLeft::VariableDeclaration(left) = &it.left
                    && left.kind.is_const()
                    && let Some(declarator) = left.declarations.first()
                {
                    self.bind(&origin.element(), &declarator.id);
                }
            }
            _ => {}
        }
    }

    /// A field of a known value is read by the member expression at `at`.
    fn read(&mut self, origin: &Origin, name: &'a str, span: Span, at: usize) {
        if self.is_written(at) || self.is_doubted(at) {
            let Origin { call, path } = origin.clone();
            self.doubted.push((call, path, name.to_owned()));
            return;
        }
        if origin.path.len() >= MAX_PATH {
            return;
        }
        self.found.reads.push(FieldRead {
            call: origin.call,
            path: origin.path.clone(),
            field: name.to_owned(),
            offset: parse::shift(span.start),
        });
        let called = match self.around(at) {
            Some((outer, AstKind::CallExpression(call)))
                if holds(call.callee.span(), self.stack[at].span()) =>
            {
                Some((outer, call))
            }
            _ => None,
        };
        let Some((outer, call)) = called else {
            return self.value_at(&origin.field(name), at);
        };
        if EACH.contains(&name) {
            self.bind_callback(&origin.element(), call);
        }
        if SAME.contains(&name) {
            self.value_at(origin, outer);
        } else if ONE.contains(&name) {
            self.value_at(&origin.element(), outer);
        }
    }

    /// The program itself is not sure that the field is there: `a.b?.c`, `a.b ?? d`, `if (a.b)`, `typeof a.b`.
    fn is_doubted(&self, at: usize) -> bool {
        let Some(node) = self.stack.get(at) else {
            return false;
        };
        let span = node.span();
        let own = match node {
            AstKind::StaticMemberExpression(member) => member.optional,
            AstKind::ComputedMemberExpression(member) => member.optional,
            _ => false,
        };
        own || match self.around(at) {
            Some((_, AstKind::StaticMemberExpression(member))) => member.optional,
            Some((_, AstKind::ComputedMemberExpression(member))) => member.optional,
            Some((_, AstKind::CallExpression(call))) => call.optional,
            Some((_, AstKind::LogicalExpression(it))) => holds(it.left.span(), span),
            Some((_, AstKind::UnaryExpression(_))) => true,
            Some((_, AstKind::IfStatement(it))) => holds(it.test.span(), span),
            Some((_, AstKind::ConditionalExpression(it))) => holds(it.test.span(), span),
            Some((_, AstKind::BinaryExpression(it))) => !computes(it.operator),
            _ => false,
        }
    }

    /// The variables of a pattern hold parts of a known value.
    fn bind(&mut self, origin: &Origin, pattern: &BindingPattern<'a>) {
        match pattern {
            BindingPattern::BindingIdentifier(id) => {
                self.hold(id.name.as_str(), Held::Value(origin.clone()));
            }
            BindingPattern::ObjectPattern(pattern) => {
                for property in &pattern.properties {
                    let Some(name) = literal::key_name(&property.key) else {
                        continue;
                    };
                    // A default says that the field may be missing.
                    if matches!(property.value, BindingPattern::AssignmentPattern(_)) {
                        continue;
                    }
                    self.found.reads.push(FieldRead {
                        call: origin.call,
                        path: origin.path.clone(),
                        field: name.to_owned(),
                        offset: parse::shift(property.key.span().start),
                    });
                    self.bind(&origin.field(name), &property.value);
                }
            }
            BindingPattern::ArrayPattern(pattern) => {
                for element in pattern.elements.iter().flatten() {
                    self.bind(&origin.element(), element);
                }
            }
            BindingPattern::AssignmentPattern(_) => {}
        }
    }

    fn bind_callback(&mut self, element: &Origin, call: &CallExpression<'a>) {
        let function = call
            .arguments
            .first()
            .and_then(|argument| argument.as_expression());
        let parameters = function.and_then(|function| match function.get_inner_expression() {
            Expression::ArrowFunctionExpression(arrow) => Some(parameters_of_arrow(arrow)),
            Expression::FunctionExpression(function) => Some(parameters_of(function)),
            _ => None,
        });
        if let Some(first) = parameters.and_then(|parameters| parameters.items.first())
            && first.initializer.is_none()
        {
            self.bind(element, &first.pattern);
        }
    }
}

fn parameters_of_arrow<'p, 'a>(arrow: &'p ArrowFunctionExpression<'a>) -> &'p FormalParameters<'a> {
    &arrow.params
}

fn parameters_of<'p, 'a>(function: &'p Function<'a>) -> &'p FormalParameters<'a> {
    &function.params
}

/// The node gives the value of the one inside of it.
fn is_wrapper(node: &AstKind<'_>) -> bool {
    matches!(
        node,
        AstKind::ParenthesizedExpression(_)
            | AstKind::ChainExpression(_)
            | AstKind::TSAsExpression(_)
            | AstKind::TSNonNullExpression(_)
            | AstKind::TSSatisfiesExpression(_)
            | AstKind::TSTypeAssertion(_)
            | AstKind::TSInstantiationExpression(_)
    )
}

/// The operator makes numbers, texts or an order of its operands.
fn computes(operator: BinaryOperator) -> bool {
    operator.is_arithmetic() || operator.is_compare()
}
