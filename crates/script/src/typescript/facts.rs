//! What must be known about a whole program before enums and namespaces can be rewritten: the scopes of
//! its names, and what the blocks of one namespace or enum export together.
//!
//! Programs without enums and namespaces cost nothing here, and scopes are made only where a name can mean
//! a member: in namespaces, in values of enum members that are no literals, and behind an alias of either.

use std::collections::{HashMap, HashSet};

use oxc_ast::ast::{
    BindingIdentifier, BindingPattern, Declaration, Expression, Program, Statement,
    TSEnumDeclaration, TSImportEqualsDeclaration, TSNamespaceDeclaration,
    TSNamespaceDeclarationBody,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_semantic::{Scoping, SemanticBuilder};
use oxc_syntax::constant_value::ConstantValue;
use oxc_syntax::operator::UnaryOperator;

/// The facts; empty for programs that need none.
#[derive(Default)]
pub(super) struct Facts<'a> {
    /// Scopes and references, if a name in the program can mean a member of an enum or namespace.
    pub(super) scoping: Option<Scoping>,
    /// Dotted path of a namespace or enum to the names it exports in any of its blocks.
    pub(super) exports: HashMap<String, HashSet<&'a str>>,
    path: Vec<&'a str>,
    names_members: bool,
}

impl<'a> Facts<'a> {
    /// Collects the facts about `program`.
    pub(super) fn of(program: &'a Program<'a>) -> Self {
        let mut facts = Self::default();
        facts.visit_program(program);
        if facts.names_members && !facts.exports.is_empty() {
            let built = SemanticBuilder::new().with_enum_eval(true).build(program);
            facts.scoping = Some(built.semantic.into_scoping());
        }
        facts
    }

    fn exported(&mut self) -> &mut HashSet<&'a str> {
        self.exports.entry(self.path.join(".")).or_default()
    }
}

/// Whether a namespace holds anything that exists at run time.
pub(super) fn is_instantiated(namespace: &TSNamespaceDeclaration<'_>) -> bool {
    match &namespace.body {
        TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => is_instantiated(inner),
        TSNamespaceDeclarationBody::TSModuleBlock(block) => {
            block.body.iter().any(|statement| match statement {
                Statement::ExportDeclaration(export) => declares_value(&export.declaration),
                other => other.as_declaration().is_none_or(declares_value),
            })
        }
    }
}

/// Whether a declaration leaves anything behind when types are gone.
pub(super) fn declares_value(declaration: &Declaration<'_>) -> bool {
    match declaration {
        Declaration::VariableDeclaration(it) => !it.declare,
        Declaration::FunctionDeclaration(it) => !it.declare && it.body.is_some(),
        Declaration::ClassDeclaration(it) => !it.declare,
        Declaration::TSEnumDeclaration(it) => !it.declare,
        Declaration::TSNamespaceDeclaration(it) => !it.declare && is_instantiated(it),
        Declaration::TSImportEqualsDeclaration(it) => it.import_kind.is_value(),
        _ => false,
    }
}

/// The names that a declaration binds to values.
pub(super) fn declared_names<'a>(declaration: &Declaration<'a>) -> Vec<&'a str> {
    let one = |id: &BindingIdentifier<'a>| vec![id.name.as_str()];
    match declaration {
        Declaration::VariableDeclaration(it) => it
            .declarations
            .iter()
            .flat_map(|declarator| pattern_names(&declarator.id))
            .collect(),
        Declaration::FunctionDeclaration(it) => it.id.as_ref().map_or_else(Vec::new, one),
        Declaration::ClassDeclaration(it) => it.id.as_ref().map_or_else(Vec::new, one),
        Declaration::TSEnumDeclaration(it) => one(&it.id),
        Declaration::TSNamespaceDeclaration(it) if is_instantiated(it) => one(&it.id),
        Declaration::TSImportEqualsDeclaration(it) => one(&it.id),
        _ => Vec::new(),
    }
}

fn pattern_names<'a>(pattern: &BindingPattern<'a>) -> Vec<&'a str> {
    pattern
        .get_binding_identifiers()
        .iter()
        .map(|id| id.name.as_str())
        .collect()
}

/// The value of a literal, a sign before it included.
pub(super) fn literal(value: &Expression<'_>) -> Option<ConstantValue> {
    match value {
        Expression::StringLiteral(text) => Some(ConstantValue::String(text.value.as_str().into())),
        Expression::NumericLiteral(number) => Some(ConstantValue::Number(number.value)),
        Expression::UnaryExpression(unary) => match (unary.operator, &unary.argument) {
            (UnaryOperator::UnaryNegation, Expression::NumericLiteral(number)) => {
                Some(ConstantValue::Number(-number.value))
            }
            _ => None,
        },
        _ => None,
    }
}

impl<'a> VisitJs<'a> for Facts<'a> {
    fn visit_ts_enum_declaration(&mut self, it: &TSEnumDeclaration<'a>) {
        self.path.push(it.id.name.as_str());
        let names = it
            .body
            .members
            .iter()
            .map(|member| member.id.static_name().as_str());
        self.exported().extend(names);
        let mut values = it.body.members.iter().map(|member| &member.initializer);
        self.names_members |=
            values.any(|value| value.as_ref().is_some_and(|value| literal(value).is_none()));
        walk_js::walk_ts_enum_declaration(self, it);
        self.path.pop();
    }

    fn visit_ts_import_equals_declaration(&mut self, _: &TSImportEqualsDeclaration<'a>) {
        self.names_members = true;
    }

    fn visit_ts_namespace_declaration(&mut self, it: &TSNamespaceDeclaration<'a>) {
        self.path.push(it.id.name.as_str());
        let mut names = Vec::new();
        match &it.body {
            TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => {
                names.push(inner.id.name.as_str())
            }
            TSNamespaceDeclarationBody::TSModuleBlock(block) => {
                for statement in &block.body {
                    if let Statement::ExportDeclaration(export) = statement {
                        names.extend(declared_names(&export.declaration));
                    }
                }
            }
        }
        self.exported().extend(names);
        self.names_members = true;
        walk_js::walk_ts_namespace_declaration(self, it);
        self.path.pop();
    }
}
