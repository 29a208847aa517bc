//! The walk that turns types into blanks. Enums, namespaces and classes have files of their own.
//!
//! Removing a type must not join what a line break kept apart, nor let a statement begin with a token that
//! means something else there; each such place says so.

use std::collections::HashSet;

use oxc_ast::ast::{
    ArrowFunctionExpression, AssignmentTargetPropertyIdentifier, BlockStatement, CallExpression,
    CatchParameter, Class, Declaration, Decorator, ExportDefaultDeclaration,
    ExportDefaultDeclarationKind, ExportSpecifier, Expression, FormalParameter,
    FormalParameterRest, Function, IdentifierReference, ImportDeclaration,
    ImportDeclarationSpecifier, NewExpression, ObjectProperty, Program, Statement, StaticBlock,
    SwitchCase, TSAsExpression, TSInstantiationExpression, TSNonNullExpression,
    TSSatisfiesExpression, TSTypeAssertion, TaggedTemplateExpression, VariableDeclarator,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::{GetSpan, Span};
use oxc_syntax::scope::{ScopeFlags, ScopeId};

use super::Failure;
use super::edits::Edits;
use super::facts::{self, Facts};
use super::scan;

/// A namespace or enum body that the walk is inside of.
pub(super) struct Body {
    /// The parameter that stands for its object.
    pub(super) parameter: String,
    /// Its path, as in [`Facts::exports`].
    pub(super) path: String,
    /// The scope of its declarations.
    pub(super) scope: Option<ScopeId>,
    /// Names declared here whose only home is the object: exported variables and enum members.
    pub(super) homed: HashSet<String>,
}

/// A list of statements that the walk is inside of.
#[derive(Default)]
pub(super) struct List {
    /// Function-like bodies hoist with `var`; blocks and namespaces use `let`.
    pub(super) block: bool,
    /// Names that need no declaration any more.
    pub(super) declared: HashSet<String>,
}

/// The walk's state.
pub(super) struct Eraser<'a> {
    pub(super) text: &'a str,
    pub(super) edits: Edits,
    pub(super) facts: Facts<'a>,
    pub(super) bodies: Vec<Body>,
    pub(super) lists: Vec<List>,
    pub(super) next_list_is_block: bool,
    pub(super) failure: Option<Failure>,
}

impl<'a> Eraser<'a> {
    pub(super) fn new(program: &'a Program<'a>) -> Self {
        Self {
            text: program.source_text,
            edits: Edits::default(),
            facts: Facts::of(program),
            bodies: Vec::new(),
            lists: Vec::new(),
            next_list_is_block: false,
            failure: None,
        }
    }

    pub(super) fn fail(&mut self, offset: u32, message: &str) {
        self.failure.get_or_insert_with(|| Failure {
            offset,
            message: message.to_owned(),
        });
    }

    pub(super) fn blank_span(&mut self, span: Span) {
        self.edits.blank(span.start as usize, span.end as usize);
    }

    pub(super) fn blank_between(&mut self, start: u32, end: u32) {
        self.edits.blank(start as usize, end as usize);
    }

    /// Removes a statement or class element; the semicolon keeps its neighbours apart.
    pub(super) fn remove(&mut self, span: Span) {
        self.edits
            .replace(span.start as usize, span.end as usize, ";");
    }

    /// Ends a statement whose end was only marked by a type.
    pub(super) fn terminate(&mut self, span: Span) {
        if !self.text[..span.end as usize].ends_with([';', '}'])
            || self.text[..span.end as usize].ends_with('}')
        {
            self.edits.terminate(span.end as usize);
        }
    }

    /// Blanks one of `?` and `!` behind `end`, if it comes next.
    pub(super) fn blank_mark(&mut self, end: u32) {
        let (at, byte) = scan::next_byte(self.text, end as usize);
        if matches!(byte, b'?' | b'!') {
            self.edits.blank(at, at + 1);
        }
    }

    /// Handles a declaration; `outer` is the whole statement, `export` included.
    pub(super) fn declaration(&mut self, declaration: &Declaration<'a>, outer: Span) {
        if !facts::declares_value(declaration) {
            return self.remove(outer);
        }
        match declaration {
            Declaration::TSEnumDeclaration(it) => self.enum_declaration(it, None),
            Declaration::TSNamespaceDeclaration(it) => self.namespace(it, None),
            Declaration::TSImportEqualsDeclaration(it) => self.import_alias(it, outer),
            other => walk_js::walk_declaration(self, other),
        }
        self.terminate(outer);
    }

    /// A lone string that a type made an expression would become a directive.
    fn keep_out_of_prologue(&mut self, expression: &Expression<'a>, span: Span) {
        let wrapped = matches!(
            expression,
            Expression::TSAsExpression(_)
                | Expression::TSSatisfiesExpression(_)
                | Expression::TSNonNullExpression(_)
                | Expression::TSTypeAssertion(_)
        );
        if wrapped
            && matches!(
                expression.get_inner_expression(),
                Expression::StringLiteral(_)
            )
        {
            self.edits.insert(span.start as usize, "(");
            self.edits
                .insert(expression.get_inner_expression().span().end as usize, ")");
        }
    }

    fn function_head(&mut self, it: &Function<'a>) {
        if let Some(types) = &it.type_parameters {
            self.blank_span(types.span);
        }
        if let Some(this) = &it.this_param {
            let (comma, byte) = scan::next_byte(self.text, this.span.end as usize);
            let end = if byte == b',' {
                comma + 1
            } else {
                this.span.end as usize
            };
            self.edits.blank(this.span.start as usize, end);
        }
        if let Some(returns) = &it.return_type {
            self.blank_span(returns.span);
        }
    }

    /// The text that a name must be replaced with, if it lives on the object of a namespace or enum.
    pub(super) fn home(&self, name: &str, it: &IdentifierReference<'a>) -> Option<String> {
        let scoping = self.facts.scoping.as_ref()?;
        let reference = scoping.get_reference(it.reference_id.get()?);
        let scope = reference
            .symbol_id()
            .map(|symbol| scoping.symbol_scope_id(symbol));
        for body in self.bodies.iter().rev() {
            let inside = matches!((scope, body.scope), (Some(scope), Some(own)) if scope == own || scoping.scope_is_descendant_of(scope, own));
            if inside {
                let direct = scope == body.scope && body.homed.contains(name);
                return direct.then(|| member(&body.parameter, name));
            }
            if self
                .facts
                .exports
                .get(&body.path)
                .is_some_and(|names| names.contains(name))
            {
                return Some(member(&body.parameter, name));
            }
        }
        None
    }
}

/// `object.name`, or `object["name"]` for names that are not identifiers.
pub(super) fn member(object: &str, name: &str) -> String {
    format!("{object}.{name}")
}

impl<'a> VisitJs<'a> for Eraser<'a> {
    fn visit_statements(&mut self, it: &oxc_allocator::ArenaVec<'a, Statement<'a>>) {
        let mut list = List {
            block: std::mem::take(&mut self.next_list_is_block),
            ..List::default()
        };
        for statement in it {
            let declaration = match statement {
                Statement::ExportDeclaration(export) => Some(&export.declaration),
                other => other.as_declaration(),
            };
            if let Some(
                found @ (Declaration::FunctionDeclaration(_) | Declaration::ClassDeclaration(_)),
            ) = declaration
                && facts::declares_value(found)
            {
                list.declared.extend(
                    facts::declared_names(found)
                        .iter()
                        .map(|name| (*name).to_owned()),
                );
            }
        }
        self.lists.push(list);
        walk_js::walk_statements(self, it);
        self.lists.pop();
    }

    fn visit_block_statement(&mut self, it: &BlockStatement<'a>) {
        self.next_list_is_block = true;
        walk_js::walk_block_statement(self, it);
    }

    fn visit_static_block(&mut self, it: &StaticBlock<'a>) {
        self.next_list_is_block = true;
        walk_js::walk_static_block(self, it);
    }

    fn visit_switch_case(&mut self, it: &SwitchCase<'a>) {
        if let Some(test) = &it.test {
            self.visit_expression(test);
        }
        self.next_list_is_block = true;
        self.visit_statements(&it.consequent);
    }

    fn visit_statement(&mut self, it: &Statement<'a>) {
        let span = it.span();
        if let Some(declaration) = it.as_declaration() {
            return self.declaration(declaration, span);
        }
        match it {
            Statement::ExportDeclaration(export) if self.in_namespace() => {
                self.namespace_export(export)
            }
            Statement::ExportDeclaration(export) => self.declaration(&export.declaration, span),
            Statement::ExportNamedDeclaration(export) if export.export_kind.is_type() => {
                self.remove(span)
            }
            Statement::ExportFromDeclaration(export) if export.export_kind.is_type() => {
                self.remove(span)
            }
            Statement::ExportAllDeclaration(export) if export.export_kind.is_type() => {
                self.remove(span)
            }
            Statement::ImportDeclaration(import) if import.import_kind.is_type() => {
                self.remove(span)
            }
            Statement::TSNamespaceExportDeclaration(_) => self.remove(span),
            Statement::TSExportAssignment(_) => self.fail(
                span.start,
                "`export =` has no meaning in a cell; use `return`",
            ),
            Statement::ExpressionStatement(statement) => {
                self.keep_out_of_prologue(&statement.expression, span);
                walk_js::walk_expression_statement(self, statement);
            }
            other => walk_js::walk_statement(self, other),
        }
        self.terminate(span);
    }

    fn visit_export_default_declaration(&mut self, it: &ExportDefaultDeclaration<'a>) {
        match &it.declaration {
            ExportDefaultDeclarationKind::TSInterfaceDeclaration(_) => self.remove(it.span),
            ExportDefaultDeclarationKind::FunctionDeclaration(function)
                if function.body.is_none() =>
            {
                self.remove(it.span)
            }
            _ => walk_js::walk_export_default_declaration(self, it),
        }
    }

    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        for specifier in it.specifiers.iter().flatten() {
            if let ImportDeclarationSpecifier::ImportSpecifier(specifier) = specifier
                && specifier.import_kind.is_type()
            {
                self.blank_with_comma(specifier.span);
            }
        }
    }

    fn visit_export_specifier(&mut self, it: &ExportSpecifier<'a>) {
        if it.export_kind.is_type() {
            self.blank_with_comma(it.span);
        }
    }

    fn visit_decorator(&mut self, it: &Decorator<'a>) {
        self.fail(
            it.span.start,
            "decorators are not supported; call the function around the class or method instead",
        );
    }

    fn visit_function(&mut self, it: &Function<'a>, flags: ScopeFlags) {
        self.function_head(it);
        walk_js::walk_function(self, it, flags);
    }

    fn visit_arrow_function_expression(&mut self, it: &ArrowFunctionExpression<'a>) {
        let open = it.params.span.start as usize;
        if let Some(types) = &it.type_parameters {
            if scan::breaks_line(self.text, types.span.start as usize, open) {
                // `return <T>⏎(x) => x`: the parenthesis goes where the type parameters began.
                self.edits
                    .replace(types.span.start as usize, types.span.end as usize, "(");
                self.edits.blank(open, open + 1);
            } else {
                self.blank_span(types.span);
            }
        }
        if let Some(returns) = &it.return_type {
            let close = it.params.span.end as usize;
            if scan::breaks_line(self.text, close, returns.span.end as usize) {
                // No line may end between `)` and `=>`: the parenthesis goes where the type ended.
                self.edits.blank(close - 1, close);
                self.edits
                    .blank_until(returns.span.start as usize, returns.span.end as usize, ')');
            } else {
                self.blank_span(returns.span);
            }
        }
        walk_js::walk_arrow_function_expression(self, it);
    }

    fn visit_formal_parameter(&mut self, it: &FormalParameter<'a>) {
        let pattern = it.pattern.span();
        if it.has_modifier() {
            self.blank_between(it.span.start, pattern.start);
        }
        if it.optional {
            self.blank_mark(pattern.end);
        }
        if let Some(types) = &it.type_annotation {
            self.blank_span(types.span);
        }
        walk_js::walk_formal_parameter(self, it);
    }

    fn visit_formal_parameter_rest(&mut self, it: &FormalParameterRest<'a>) {
        if let Some(types) = &it.type_annotation {
            self.blank_span(types.span);
        }
        walk_js::walk_formal_parameter_rest(self, it);
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        if it.definite {
            self.blank_mark(it.id.span().end);
        }
        if let Some(types) = &it.type_annotation {
            self.blank_span(types.span);
        }
        walk_js::walk_variable_declarator(self, it);
    }

    fn visit_catch_parameter(&mut self, it: &CatchParameter<'a>) {
        if let Some(types) = &it.type_annotation {
            self.blank_span(types.span);
        }
        walk_js::walk_catch_parameter(self, it);
    }

    fn visit_ts_as_expression(&mut self, it: &TSAsExpression<'a>) {
        self.blank_between(it.expression.span().end, it.span.end);
        self.visit_expression(&it.expression);
    }

    fn visit_ts_satisfies_expression(&mut self, it: &TSSatisfiesExpression<'a>) {
        self.blank_between(it.expression.span().end, it.span.end);
        self.visit_expression(&it.expression);
    }

    fn visit_ts_non_null_expression(&mut self, it: &TSNonNullExpression<'a>) {
        self.blank_between(it.expression.span().end, it.span.end);
        self.visit_expression(&it.expression);
    }

    fn visit_ts_instantiation_expression(&mut self, it: &TSInstantiationExpression<'a>) {
        self.blank_between(it.expression.span().end, it.span.end);
        self.visit_expression(&it.expression);
    }

    fn visit_ts_type_assertion(&mut self, it: &TSTypeAssertion<'a>) {
        let (start, end) = (it.span.start as usize, it.expression.span().start as usize);
        let first = self.text.as_bytes().get(end).copied().unwrap_or(0);
        let opens_statement = first == b'{'
            || matches!(
                scan::word(self.text, end),
                "function" | "class" | "async" | "let"
            );
        // `return <T>⏎x` would return nothing, and `() => <T>{}` would get an empty body.
        if opens_statement || scan::breaks_line(self.text, start, end) {
            self.edits.replace(start, end, "(");
            self.visit_expression(&it.expression);
            self.edits.insert(it.span.end as usize, ")");
        } else {
            self.edits.blank(start, end);
            self.visit_expression(&it.expression);
        }
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if let Some(types) = &it.type_arguments {
            self.blank_span(types.span);
        }
        walk_js::walk_call_expression(self, it);
    }

    fn visit_new_expression(&mut self, it: &NewExpression<'a>) {
        if let Some(types) = &it.type_arguments {
            self.blank_span(types.span);
        }
        walk_js::walk_new_expression(self, it);
    }

    fn visit_tagged_template_expression(&mut self, it: &TaggedTemplateExpression<'a>) {
        if let Some(types) = &it.type_arguments {
            self.blank_span(types.span);
        }
        walk_js::walk_tagged_template_expression(self, it);
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        self.class(it);
    }

    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        if let Some(home) = self.home(it.name.as_str(), it) {
            self.edits
                .replace(it.span.start as usize, it.span.end as usize, &home);
        }
    }

    fn visit_object_property(&mut self, it: &ObjectProperty<'a>) {
        match (&it.value, it.shorthand) {
            (Expression::Identifier(name), true) => {
                if let Some(home) = self.home(name.name.as_str(), name) {
                    self.edits
                        .insert(it.span.end as usize, &format!(": {home}"));
                }
            }
            _ => walk_js::walk_object_property(self, it),
        }
    }

    fn visit_assignment_target_property_identifier(
        &mut self,
        it: &AssignmentTargetPropertyIdentifier<'a>,
    ) {
        if let Some(home) = self.home(it.binding.name.as_str(), &it.binding) {
            self.edits
                .insert(it.binding.span.end as usize, &format!(": {home}"));
        }
        if let Some(init) = &it.init {
            self.visit_expression(init);
        }
    }
}
