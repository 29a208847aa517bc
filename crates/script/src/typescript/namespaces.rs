//! Namespaces, rewritten in place: a function called with the namespace's object.
//!
//! Exported variables live on the object only, so every use of them is rewritten; exported functions,
//! classes and enums stay local names that are copied to the object. Names that another block of the same
//! namespace exports are looked up on the object.

use std::collections::HashSet;

use oxc_ast::ast::{
    BindingPattern, Declaration, ExportDeclaration, Statement, TSImportEqualsDeclaration,
    TSModuleReference, TSNamespaceDeclaration, TSNamespaceDeclarationBody, VariableDeclaration,
};
use oxc_ast_visit::{VisitJs, walk_js};
use oxc_span::{GetSpan, Span};

use super::erase::{Body, Eraser, List, member};
use super::{facts, scan};

impl<'a> Eraser<'a> {
    /// Whether `export` marks a member of a namespace here.
    pub(super) fn in_namespace(&self) -> bool {
        !self.bodies.is_empty()
    }

    /// Rewrites a namespace; `owner` is the object of the namespace that exports it.
    pub(super) fn namespace(&mut self, it: &TSNamespaceDeclaration<'a>, owner: Option<&str>) {
        let name = it.id.name.as_str();
        let parameter = self.parameter(it);
        let keyword = self.declare(name);
        let head = format!("{keyword}(function ({parameter}) {{");
        let body = Body {
            path: self.path(name),
            scope: it.scope_id.get(),
            homed: homed(it),
            parameter: parameter.clone(),
        };
        self.bodies.push(body);
        match &it.body {
            TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => {
                self.edits
                    .replace(it.span.start as usize, inner.span.start as usize, &head);
                self.lists.push(List {
                    block: true,
                    ..List::default()
                });
                self.namespace(inner, Some(&parameter));
                self.lists.pop();
                self.bodies.pop();
                let close = object_call(name, owner);
                self.edits.insert(it.span.end as usize, &close);
            }
            TSNamespaceDeclarationBody::TSModuleBlock(block) => {
                self.edits
                    .replace(it.span.start as usize, block.span.start as usize + 1, &head);
                self.next_list_is_block = true;
                self.visit_statements(&block.body);
                self.bodies.pop();
                self.close_object(block.span, name, owner);
            }
        }
    }

    /// The namespace's own name, or another where the body declares that name itself.
    fn parameter(&self, it: &TSNamespaceDeclaration<'a>) -> String {
        let name = it.id.name.as_str();
        let taken = |candidate: &str| match &it.body {
            TSNamespaceDeclarationBody::TSNamespaceDeclaration(inner) => inner.id.name == candidate,
            TSNamespaceDeclarationBody::TSModuleBlock(block) => {
                block.body.iter().any(|statement| {
                    let declaration = match statement {
                        Statement::ExportDeclaration(export) => Some(&export.declaration),
                        other => other.as_declaration(),
                    };
                    declaration
                        .filter(|found| facts::declares_value(found))
                        .is_some_and(|found| facts::declared_names(found).contains(&candidate))
                })
            }
        };
        let mut candidate = name.to_owned();
        let mut number = 1;
        while taken(&candidate) {
            candidate = format!("{name}_{number}");
            number += 1;
        }
        candidate
    }

    /// Rewrites `export ...` inside a namespace.
    pub(super) fn namespace_export(&mut self, export: &ExportDeclaration<'a>) {
        let declaration = &export.declaration;
        if !facts::declares_value(declaration) {
            return self.remove(export.span);
        }
        let owner = self
            .bodies
            .last()
            .map_or_else(String::new, |body| body.parameter.clone());
        let inner = declaration.span();
        self.edits
            .replace(export.span.start as usize, inner.start as usize, ";");
        match declaration {
            Declaration::VariableDeclaration(it) => self.exported_variables(it, &owner),
            Declaration::TSEnumDeclaration(it) => self.enum_declaration(it, Some(&owner)),
            Declaration::TSNamespaceDeclaration(it) => self.namespace(it, Some(&owner)),
            Declaration::TSImportEqualsDeclaration(it) => {
                self.alias(it, &format!("{} =", member(&owner, it.id.name.as_str())));
            }
            other => {
                walk_js::walk_declaration(self, other);
                for name in facts::declared_names(other) {
                    self.edits
                        .insert(inner.end as usize, &format!(" {owner}.{name} = {name};"));
                }
            }
        }
    }

    /// `export let a = 1, { b } = c` becomes assignments to the object.
    fn exported_variables(&mut self, it: &VariableDeclaration<'a>, owner: &str) {
        let Some(first) = it.declarations.first() else {
            return;
        };
        self.edits
            .blank(it.span.start as usize, first.span.start as usize);
        for declarator in &it.declarations {
            let pattern = !matches!(declarator.id, BindingPattern::BindingIdentifier(_));
            if pattern {
                self.edits.insert(declarator.span.start as usize, "(");
            }
            self.assign_pattern(&declarator.id, owner);
            if declarator.definite {
                self.blank_mark(declarator.id.span().end);
            }
            if let Some(types) = &declarator.type_annotation {
                self.blank_span(types.span);
            }
            if let Some(init) = &declarator.init {
                self.visit_expression(init);
            }
            if pattern {
                self.edits.insert(declarator.span.end as usize, ")");
            }
        }
        self.terminate(it.span);
    }

    /// Turns the names that a pattern binds into members of the object.
    fn assign_pattern(&mut self, pattern: &BindingPattern<'a>, owner: &str) {
        match pattern {
            BindingPattern::BindingIdentifier(id) => {
                self.edits.replace(
                    id.span.start as usize,
                    id.span.end as usize,
                    &member(owner, id.name.as_str()),
                );
            }
            BindingPattern::AssignmentPattern(it) => {
                self.assign_pattern(&it.left, owner);
                self.visit_expression(&it.right);
            }
            BindingPattern::ArrayPattern(it) => {
                for element in it.elements.iter().flatten() {
                    self.assign_pattern(element, owner);
                }
                if let Some(rest) = &it.rest {
                    self.assign_pattern(&rest.argument, owner);
                }
            }
            BindingPattern::ObjectPattern(it) => {
                for property in &it.properties {
                    if property.shorthand {
                        let key = property.key.span();
                        self.edits.insert(
                            key.start as usize,
                            &format!("{}: ", &self.text[key.start as usize..key.end as usize]),
                        );
                    } else if property.computed {
                        self.visit_property_key(&property.key);
                    }
                    self.assign_pattern(&property.value, owner);
                }
                if let Some(rest) = &it.rest {
                    self.assign_pattern(&rest.argument, owner);
                }
            }
        }
    }

    /// `import a = b.c`, which names a member of a namespace.
    pub(super) fn import_alias(&mut self, it: &TSImportEqualsDeclaration<'a>, outer: Span) {
        if matches!(
            it.module_reference,
            TSModuleReference::ExternalModuleReference(_)
        ) {
            return self.fail(
                outer.start,
                "`import x = require()` loads a module, and a cell has none",
            );
        }
        let scoping = self.facts.scoping.as_ref();
        let read = match (scoping, it.id.symbol_id.get()) {
            (Some(scoping), Some(symbol)) => scoping
                .get_resolved_references(symbol)
                .any(|reference| reference.is_value()),
            _ => true,
        };
        if !read && outer == it.span {
            return self.remove(outer);
        }
        self.alias(it, &format!("var {} =", it.id.name));
    }

    fn alias(&mut self, it: &TSImportEqualsDeclaration<'a>, head: &str) {
        let target = it.module_reference.span();
        let equals = scan::next_byte(self.text, it.id.span.end as usize).0;
        self.edits.replace(it.span.start as usize, equals + 1, head);
        let first = scan::word(self.text, target.start as usize);
        let home = self.bodies.iter().rev().find(|body| {
            self.facts
                .exports
                .get(&body.path)
                .is_some_and(|names| names.contains(first))
                && body.homed.contains(first)
        });
        if let Some(home) = home.map(|body| member(&body.parameter, first)) {
            self.edits.replace(
                target.start as usize,
                target.start as usize + first.len(),
                &home,
            );
        }
    }

    /// Blanks an import or export specifier with the comma behind it.
    pub(super) fn blank_with_comma(&mut self, span: Span) {
        let (at, byte) = scan::next_byte(self.text, span.end as usize);
        let end = if byte == b',' {
            at + 1
        } else {
            span.end as usize
        };
        self.edits.blank(span.start as usize, end);
    }
}

fn object_call(name: &str, owner: Option<&str>) -> String {
    match owner {
        None => format!(" }})({name} || ({name} = {{}}));"),
        Some(owner) => format!(" }})({name} = {owner}.{name} || ({owner}.{name} = {{}}));"),
    }
}

/// The exported variables of a block, which have no local name.
fn homed(it: &TSNamespaceDeclaration<'_>) -> HashSet<String> {
    let TSNamespaceDeclarationBody::TSModuleBlock(block) = &it.body else {
        return HashSet::new();
    };
    let names = block.body.iter().filter_map(|statement| match statement {
        Statement::ExportDeclaration(export) => match &export.declaration {
            found @ (Declaration::VariableDeclaration(_)
            | Declaration::TSImportEqualsDeclaration(_)) => Some(facts::declared_names(found)),
            _ => None,
        },
        _ => None,
    });
    names.flatten().map(str::to_owned).collect()
}
