//! One walk over a parsed program: which globals it needs, and whether it asks for a module.
//!
//! The walk may name too many uses, never too few: scopes are not followed, so a local variable called
//! `tools` counts as the global. It does not judge anything that only exists as text.

use std::collections::{BTreeMap, BTreeSet};

use oxc_ast::ast::{
    AssignmentTarget, BindingIdentifier, BindingPattern, CallExpression, Class,
    ComputedMemberExpression, Decorator, ExportAllDeclaration, ExportDeclaration,
    ExportDefaultDeclaration, ExportFromDeclaration, ExportNamedDeclaration, Expression,
    IdentifierReference, ImportDeclaration, ImportExpression, ImportMeta, Program, PropertyKey,
    StaticMemberExpression, TSExportAssignment, TSExternalModuleDeclaration, TSGlobalDeclaration,
    TSImportEqualsDeclaration, TSModuleReference, TSNamespaceDeclaration, ThisExpression,
    UnaryExpression, UnaryOperator, VariableDeclarator,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::Span;

use crate::prepared::Uses;

/// Names of the global object that programs try.
const GLOBAL_OBJECTS: &[&str] = &["globalThis", "window", "self", "global"];

/// What the walk found.
#[derive(Default)]
pub(crate) struct Survey<'a> {
    tools: BTreeSet<&'a str>,
    names: BTreeSet<&'a str>,
    /// How often each name is bound.
    bound: BTreeMap<&'a str, u32>,
    tools_dynamic: bool,
    mcp_dynamic: bool,
    /// `API` beyond `API.search`.
    api: bool,
    api_paths: BTreeSet<&'a str>,
    api_dynamic: bool,
    global_object: bool,
    class_depth: u32,
    /// Inside a TypeScript namespace `export` marks a member and asks for no module.
    namespace_depth: u32,
    /// The first decorator, which the engine does not know.
    pub(crate) decorator: Option<u32>,
    /// Syntax that loads a module whatever is declared.
    modules: Vec<Access>,
    /// Uses of `require` and its like, by the variable that a local declaration makes harmless.
    requires: Vec<(&'a str, Access)>,
}

/// One request for a module.
#[derive(Debug, Clone)]
pub(crate) struct Access {
    /// Offset in the parsed text.
    pub(crate) offset: u32,
    /// The construct in words.
    pub(crate) what: String,
    /// The module, where a literal names it.
    pub(crate) module: Option<String>,
}

impl<'a> Survey<'a> {
    /// Walks over `program`.
    pub(crate) fn of(program: &Program<'a>) -> Self {
        let mut survey = Self::default();
        survey.visit_program(program);
        survey
    }

    /// The first request for a module.
    pub(crate) fn module_access(&self) -> Option<&Access> {
        let requires = self
            .requires
            .iter()
            .filter(|(root, _)| !self.binds(root) && !self.binds("require"));
        self.modules
            .iter()
            .chain(requires.map(|(_, access)| access))
            .min_by_key(|access| access.offset)
    }

    /// Whether the program binds `name` anywhere.
    pub(crate) fn binds(&self, name: &str) -> bool {
        self.bound.contains_key(name)
    }

    /// How often the program binds `name`.
    pub(crate) fn bindings(&self, name: &str) -> u32 {
        self.bound.get(name).copied().unwrap_or(0)
    }

    /// Whether any tool may be called: through `tools`, `MCP` or `API`.
    pub(crate) fn names_tools(&self) -> bool {
        let servers = ["MCP", "API"].iter().any(|name| self.names.contains(name));
        servers || !self.tools.is_empty() || self.tools_dynamic
    }

    /// The globals in need.
    pub(crate) fn uses(&self) -> Uses {
        let any = self.global_object;
        let named = |name: &str| any || self.names.contains(name);
        Uses {
            tools: self.tools.iter().map(|name| (*name).to_owned()).collect(),
            tools_dynamic: any || self.tools_dynamic,
            all_tools: named("ALL_TOOLS"),
            api: any || self.api,
            api_paths: self.api_paths.iter().map(|&path| path.to_owned()).collect(),
            api_dynamic: any || self.api_dynamic,
            mcp: named("MCP"),
            mcp_dynamic: any || self.mcp_dynamic,
            namespaces: named("namespaces"),
            results: named("results"),
            global_object: any,
            names: self.names.iter().map(|name| (*name).to_owned()).collect(),
        }
    }

    fn export(&mut self, span: Span, what: &str, module: Option<&str>) {
        if self.namespace_depth == 0 {
            self.module(span, what, module);
        }
    }

    fn module(&mut self, span: Span, what: &str, module: Option<&str>) {
        self.modules.push(Access {
            offset: span.start,
            what: what.to_owned(),
            module: module.map(str::to_owned),
        });
    }

    fn require(&mut self, root: &'a str, span: Span, what: &str, module: Option<&str>) {
        let access = Access {
            offset: span.start,
            what: what.to_owned(),
            module: module.map(str::to_owned),
        };
        self.requires.push((root, access));
    }

    fn name(&mut self, name: &'a str) {
        self.names.insert(name);
        match name {
            "tools" => self.tools_dynamic = true,
            "MCP" => self.mcp_dynamic = true,
            "API" => (self.api, self.api_dynamic) = (true, true),
            _ if GLOBAL_OBJECTS.contains(&name) => self.global_object = true,
            _ => {}
        }
    }

    /// A read of a member somewhere in `MCP`, the last of its row.
    fn mcp_member(&mut self, object: &Expression<'a>, property: &str) -> bool {
        let Some(above) = mcp_depth(object) else {
            return false;
        };
        // Without names an object can be called through, but not looked at.
        let is_object = match above {
            0 => property != "$api",
            1 => property == "resources" || property == "prompts",
            _ => false,
        };
        self.names.insert("MCP");
        self.mcp_dynamic |= is_object;
        true
    }

    /// A read of `object.property` with a known name; false if the object must be visited as usual.
    fn member(&mut self, object: &Expression<'a>, property: &'a str, span: Span) -> bool {
        if self.mcp_member(object, property) {
            return true;
        }
        match root_name(object) {
            Some("API") => {
                self.names.insert("API");
                self.api |= property != "search";
                self.api_dynamic |= property != "search" && property != "list";
                true
            }
            Some("tools") => {
                self.names.insert("tools");
                self.tools.insert(property);
                true
            }
            Some("module") if property == "require" => {
                self.require("module", span, "`module.require`", None);
                true
            }
            Some("require") if matches!(property, "resolve" | "cache" | "main") => {
                self.require("require", span, "`require`", None);
                true
            }
            Some("process")
                if matches!(
                    property,
                    "binding" | "dlopen" | "mainModule" | "getBuiltinModule"
                ) =>
            {
                self.require("process", span, "`process`", None);
                true
            }
            Some(global) if GLOBAL_OBJECTS.contains(&global) => {
                if property == "require" {
                    self.require("require", span, "`require`", None);
                }
                self.names.insert(global);
                self.name(property);
                true
            }
            _ => false,
        }
    }
}

/// How many known keys lead from `MCP` to what an expression is.
fn mcp_depth(expression: &Expression<'_>) -> Option<u32> {
    if root_name(expression) == Some("MCP") {
        return Some(0);
    }
    match expression.get_inner_expression() {
        Expression::StaticMemberExpression(member) => Some(mcp_depth(&member.object)? + 1),
        Expression::ComputedMemberExpression(member) => {
            literal(&member.expression)?;
            Some(mcp_depth(&member.object)? + 1)
        }
        _ => None,
    }
}

/// The path of a call `API.read("path")` and nothing more.
fn api_read<'a>(call: &CallExpression<'a>) -> Option<&'a str> {
    let member = match call.callee.get_inner_expression() {
        Expression::StaticMemberExpression(member) => member,
        _ => return None,
    };
    let is_read = root_name(&member.object) == Some("API") && member.property.name == "read";
    match call.arguments.as_slice() {
        [path] if is_read => literal(path.as_expression()?),
        _ => None,
    }
}

/// The variable that an expression is, through parentheses and type-only wrappers.
fn root_name<'a>(expression: &Expression<'a>) -> Option<&'a str> {
    match expression.get_inner_expression() {
        Expression::Identifier(name) => Some(name.name.as_str()),
        Expression::StaticMemberExpression(member) if is_global(&member.object) => {
            Some(member.property.name.as_str())
        }
        _ => None,
    }
}

fn is_global(expression: &Expression<'_>) -> bool {
    matches!(expression.get_inner_expression(), Expression::Identifier(name) if GLOBAL_OBJECTS.contains(&name.name.as_str()))
}

/// A string that is written out.
pub(crate) fn literal<'a>(expression: &Expression<'a>) -> Option<&'a str> {
    match expression.get_inner_expression() {
        Expression::StringLiteral(text) => Some(text.value.as_str()),
        Expression::TemplateLiteral(template) if template.expressions.is_empty() => template
            .quasis
            .first()?
            .value
            .cooked
            .map(|text| text.as_str()),
        _ => None,
    }
}

/// The property names that a pattern reads, if it names them all.
fn pattern_names<'a>(pattern: &BindingPattern<'a>) -> Option<Vec<&'a str>> {
    let BindingPattern::ObjectPattern(pattern) = pattern else {
        return None;
    };
    if pattern.rest.is_some() {
        return None;
    }
    let names = pattern
        .properties
        .iter()
        .map(|property| match &property.key {
            PropertyKey::StaticIdentifier(name) => Some(name.name.as_str()),
            PropertyKey::StringLiteral(text) => Some(text.value.as_str()),
            _ => None,
        });
    names.collect()
}

impl<'a> VisitJs<'a> for Survey<'a> {
    fn visit_identifier_reference(&mut self, it: &IdentifierReference<'a>) {
        self.name(it.name.as_str());
        if it.name == "require" {
            self.require("require", it.span, "`require`", None);
        }
    }

    fn visit_binding_identifier(&mut self, it: &BindingIdentifier<'a>) {
        *self.bound.entry(it.name.as_str()).or_default() += 1;
    }

    fn visit_static_member_expression(&mut self, it: &StaticMemberExpression<'a>) {
        if !self.member(&it.object, it.property.name.as_str(), it.span) {
            walk_js::walk_static_member_expression(self, it);
        }
    }

    fn visit_computed_member_expression(&mut self, it: &ComputedMemberExpression<'a>) {
        let known =
            literal(&it.expression).is_some_and(|name| self.member(&it.object, name, it.span));
        if !known {
            walk_js::walk_computed_member_expression(self, it);
        }
    }

    fn visit_variable_declarator(&mut self, it: &VariableDeclarator<'a>) {
        let tools = it
            .init
            .as_ref()
            .is_some_and(|init| root_name(init) == Some("tools"));
        match pattern_names(&it.id).filter(|_| tools) {
            Some(names) => {
                self.names.insert("tools");
                self.tools.extend(names);
                self.visit_binding_pattern(&it.id);
            }
            None => walk_js::walk_variable_declarator(self, it),
        }
    }

    fn visit_assignment_target(&mut self, it: &AssignmentTarget<'a>) {
        // `globalThis.require = ...` declares a name as well as `let` does.
        if let AssignmentTarget::StaticMemberExpression(member) = it
            && is_global(&member.object)
        {
            *self.bound.entry(member.property.name.as_str()).or_default() += 1;
        }
        walk_js::walk_assignment_target(self, it);
    }

    fn visit_unary_expression(&mut self, it: &UnaryExpression<'a>) {
        // `typeof require` asks without loading.
        let asks =
            it.operator == UnaryOperator::Typeof && root_name(&it.argument) == Some("require");
        if !asks {
            walk_js::walk_unary_expression(self, it);
        }
    }

    fn visit_call_expression(&mut self, it: &CallExpression<'a>) {
        if let Some(path) = api_read(it) {
            self.names.insert("API");
            self.api = true;
            self.api_paths.insert(path);
            return;
        }
        if root_name(&it.callee) == Some("require") {
            let module = it
                .arguments
                .first()
                .and_then(|argument| argument.as_expression())
                .and_then(literal);
            self.require("require", it.span, "`require`", module);
        }
        walk_js::walk_call_expression(self, it);
    }

    fn visit_this_expression(&mut self, _: &ThisExpression) {
        // In a sloppy function called without a receiver `this` is the global object; class code is strict.
        self.global_object |= self.class_depth == 0;
    }

    fn visit_class(&mut self, it: &Class<'a>) {
        self.class_depth += 1;
        walk_js::walk_class(self, it);
        self.class_depth -= 1;
    }

    fn visit_decorator(&mut self, it: &Decorator<'a>) {
        self.decorator.get_or_insert(it.span.start);
        walk_js::walk_decorator(self, it);
    }

    fn visit_ts_external_module_declaration(&mut self, _: &TSExternalModuleDeclaration<'a>) {
        // Types only, whatever it imports and exports.
    }

    fn visit_ts_global_declaration(&mut self, _: &TSGlobalDeclaration<'a>) {}

    fn visit_ts_namespace_declaration(&mut self, it: &TSNamespaceDeclaration<'a>) {
        self.namespace_depth += 1;
        walk_js::walk_ts_namespace_declaration(self, it);
        self.namespace_depth -= 1;
    }

    fn visit_import_expression(&mut self, it: &ImportExpression<'a>) {
        self.module(it.span, "`import()`", literal(&it.source));
        walk_js::walk_import_expression(self, it);
    }

    fn visit_import_meta(&mut self, it: &ImportMeta) {
        self.module(it.span, "`import.meta`", None);
    }

    fn visit_import_declaration(&mut self, it: &ImportDeclaration<'a>) {
        self.module(it.span, "`import`", Some(it.source.value.as_str()));
    }

    fn visit_export_declaration(&mut self, it: &ExportDeclaration<'a>) {
        self.export(it.span, "`export`", None);
        walk_js::walk_export_declaration(self, it);
    }

    fn visit_export_named_declaration(&mut self, it: &ExportNamedDeclaration<'a>) {
        self.export(it.span, "`export`", None);
    }

    fn visit_export_from_declaration(&mut self, it: &ExportFromDeclaration<'a>) {
        self.export(it.span, "`export`", Some(it.source.value.as_str()));
    }

    fn visit_export_all_declaration(&mut self, it: &ExportAllDeclaration<'a>) {
        self.export(it.span, "`export`", Some(it.source.value.as_str()));
    }

    fn visit_export_default_declaration(&mut self, it: &ExportDefaultDeclaration<'a>) {
        self.export(it.span, "`export default`", None);
        walk_js::walk_export_default_declaration(self, it);
    }

    fn visit_ts_export_assignment(&mut self, it: &TSExportAssignment<'a>) {
        self.export(it.span, "`export =`", None);
    }

    fn visit_ts_import_equals_declaration(&mut self, it: &TSImportEqualsDeclaration<'a>) {
        if let TSModuleReference::ExternalModuleReference(reference) = &it.module_reference {
            self.module(
                it.span,
                "`import`",
                Some(reference.expression.value.as_str()),
            );
        }
        walk_js::walk_ts_import_equals_declaration(self, it);
    }
}
