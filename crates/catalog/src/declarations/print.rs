//! Prints types over several lines, with the names that references have.
//!
//! Where a schema allows more than the type that TypeScript could check, the type is widened: an
//! index signature never contradicts the properties beside it.

use std::fmt::Write as _;

use super::comment;
use crate::schema_type::{Object, Tuple, Type};
use crate::type_text::{write_literal, write_name};

/// The longest description of a property, in characters.
const MAX_DOC_CHARS: usize = 600;

const ANY_OBJECT: &str = "{ [key: string]: unknown }";

/// Prints one type.
pub(super) struct Printer<'n> {
    /// What the named types are called.
    pub(super) names: &'n [String],
    /// Whether the outermost properties carry their descriptions.
    pub(super) docs_outside: bool,
}

impl Printer<'_> {
    /// Appends the type; its first line goes on where the text ends, at this indentation.
    pub(super) fn write(&self, ty: &Type<'_>, indent: usize, out: &mut String) {
        self.ty(ty, indent, self.docs_outside, out);
    }

    fn ty(&self, ty: &Type<'_>, indent: usize, docs: bool, out: &mut String) {
        match ty {
            Type::Unknown => out.push_str("unknown"),
            Type::Never => out.push_str("never"),
            Type::Primitive(name) => out.push_str(name),
            Type::Literal(value) => write_literal(value, out),
            Type::AnyObject => out.push_str(ANY_OBJECT),
            Type::Named(number) => {
                out.push_str(self.names.get(*number).map_or("unknown", String::as_str))
            }
            Type::Array(each) => self.array(each, indent, out),
            Type::Tuple(tuple) => self.tuple(tuple, indent, out),
            Type::Record(value) => {
                out.push_str("{ [key: string]: ");
                self.ty(value, indent, true, out);
                out.push_str(" }");
            }
            Type::Object(object) => self.object(object, indent, docs, out),
            Type::Union(members) => {
                for (at, member) in members.iter().enumerate() {
                    out.push_str(if at > 0 { " | " } else { "" });
                    self.grouped(member, indent, docs, out);
                }
            }
            Type::Intersection(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    out.push_str(if at > 0 { " & " } else { "" });
                    match part {
                        // Properties beside it need not fit its values.
                        Type::Record(_) => out.push_str(ANY_OBJECT),
                        part => self.grouped(part, indent, docs, out),
                    }
                }
            }
        }
    }

    fn grouped(&self, ty: &Type<'_>, indent: usize, docs: bool, out: &mut String) {
        let needs_group = matches!(ty, Type::Union(_) | Type::Intersection(_));
        out.push_str(if needs_group { "(" } else { "" });
        self.ty(ty, indent, docs, out);
        out.push_str(if needs_group { ")" } else { "" });
    }

    fn array(&self, each: &Type<'_>, indent: usize, out: &mut String) {
        match each {
            Type::Primitive(_) | Type::Named(_) | Type::Unknown => {
                self.ty(each, indent, true, out);
                out.push_str("[]");
            }
            _ => {
                out.push_str("Array<");
                self.ty(each, indent, true, out);
                out.push('>');
            }
        }
    }

    fn tuple(&self, tuple: &Tuple<'_>, indent: usize, out: &mut String) {
        out.push('[');
        for (at, ty) in tuple.first.iter().enumerate() {
            out.push_str(if at > 0 { ", " } else { "" });
            if at < tuple.required {
                self.ty(ty, indent, true, out);
            } else {
                out.push('(');
                self.ty(ty, indent, true, out);
                out.push_str(")?");
            }
        }
        if let Some(rest) = &tuple.rest {
            // With brackets: of `...Array<T>` TypeScript asks at once what `T` is, also of itself.
            out.push_str(if tuple.first.is_empty() {
                "...("
            } else {
                ", ...("
            });
            self.ty(rest, indent, true, out);
            out.push_str(")[]");
        }
        out.push(']');
    }

    fn object(&self, object: &Object<'_>, indent: usize, docs: bool, out: &mut String) {
        if object.properties.is_empty() {
            out.push_str(if object.left_out > 0 {
                ANY_OBJECT
            } else {
                "{}"
            });
            return;
        }
        out.push_str("{\n");
        for property in &object.properties {
            if let Some(doc) = property.doc.filter(|_| docs) {
                let doc = comment::line(doc, MAX_DOC_CHARS);
                if !doc.is_empty() {
                    let _ = writeln!(out, "{:indent$}/** {doc} */", "", indent = indent + 2);
                }
            }
            let _ = write!(out, "{:indent$}", "", indent = indent + 2);
            write_name(property.name, out);
            out.push_str(if property.is_optional { "?: " } else { ": " });
            self.ty(&property.ty, indent + 2, true, out);
            out.push_str(";\n");
        }
        if object.left_out > 0 {
            let more = object.left_out;
            let _ = writeln!(
                out,
                "{:indent$}[key: string]: unknown; // {more} more",
                "",
                indent = indent + 2
            );
        }
        let _ = write!(out, "{:indent$}}}", "");
    }
}
