//! Prints the types of [`crate::schema_type`] as TypeScript on one line.
//!
//! Whatever names and literals the schema holds, the text is one whole type: names that are no
//! identifiers and all literals are quoted and escaped, and neither a line break nor the end of a
//! comment can come out of them.

use std::fmt::Write as _;

use serde_json::Value;

use crate::names::is_identifier;
use crate::schema_type::{Object, Type};

/// How much of a type is printed.
pub(crate) struct Printer {
    /// Objects nested deeper than this are only named as such.
    pub(crate) max_depth: usize,
    /// The most properties of an object, and the most members of a union, that are printed.
    pub(crate) max_members: usize,
}

impl Printer {
    /// Everything down to a depth.
    pub(crate) fn whole(max_depth: usize) -> Self {
        Self {
            max_depth,
            max_members: usize::MAX,
        }
    }

    pub(crate) fn print(&self, ty: &Type<'_>) -> String {
        let mut out = String::new();
        self.write(ty, 0, &mut out);
        out
    }

    fn write(&self, ty: &Type<'_>, depth: usize, out: &mut String) {
        match ty {
            Type::Unknown => out.push_str("unknown"),
            Type::Never => out.push_str("never"),
            Type::Primitive(name) => out.push_str(name),
            Type::Literal(value) => write_literal(value, out),
            Type::AnyObject => out.push_str("Record<string, unknown>"),
            Type::Array(each) => self.write_array(each, depth, out),
            Type::Tuple(tuple) => {
                self.write_tuple(&tuple.first, tuple.rest.as_deref(), depth, out);
            }
            Type::Named(_) => out.push_str("unknown"),
            Type::Record(value) => {
                out.push_str("Record<string, ");
                self.write(value, depth, out);
                out.push('>');
            }
            Type::Object(object) => self.write_object(object, depth, out),
            Type::Union(members) => self.write_union(members, depth, out),
            Type::Intersection(parts) => {
                for (at, part) in parts.iter().enumerate() {
                    out.push_str(if at > 0 { " & " } else { "" });
                    self.write_grouped(part, depth, out);
                }
            }
        }
    }

    fn write_array(&self, each: &Type<'_>, depth: usize, out: &mut String) {
        match each {
            Type::Primitive(name) => {
                let _ = write!(out, "{name}[]");
            }
            _ => {
                out.push_str("Array<");
                self.write(each, depth, out);
                out.push('>');
            }
        }
    }

    fn write_tuple(
        &self,
        first: &[Type<'_>],
        rest: Option<&Type<'_>>,
        depth: usize,
        out: &mut String,
    ) {
        out.push('[');
        for (at, ty) in first.iter().enumerate() {
            out.push_str(if at > 0 { ", " } else { "" });
            self.write(ty, depth, out);
        }
        if let Some(rest) = rest {
            out.push_str(if first.is_empty() { "..." } else { ", ..." });
            self.write_array(rest, depth, out);
        }
        out.push(']');
    }

    fn write_object(&self, object: &Object<'_>, depth: usize, out: &mut String) {
        let total = object.properties.len() + object.left_out;
        if total == 0 {
            out.push_str("{}");
            return;
        }
        let shown = object.properties.len().min(self.max_members);
        if depth >= self.max_depth || shown == 0 {
            let _ = write!(out, "{{ /* {total} fields */ }}");
            return;
        }
        out.push_str("{ ");
        for (at, property) in object.properties[..shown].iter().enumerate() {
            out.push_str(if at > 0 { "; " } else { "" });
            write_name(property.name, out);
            out.push_str(if property.is_optional { "?: " } else { ": " });
            self.write(&property.ty, depth + 1, out);
        }
        if shown < total {
            let _ = write!(out, "; /* {} more */", total - shown);
        }
        out.push_str(" }");
    }

    fn write_union(&self, members: &[Type<'_>], depth: usize, out: &mut String) {
        if members.len() > self.max_members {
            let _ = write!(out, "unknown /* one of {} types */", members.len());
            return;
        }
        for (at, member) in members.iter().enumerate() {
            out.push_str(if at > 0 { " | " } else { "" });
            self.write_grouped(member, depth, out);
        }
    }

    fn write_grouped(&self, ty: &Type<'_>, depth: usize, out: &mut String) {
        let needs_group = matches!(ty, Type::Union(_) | Type::Intersection(_));
        out.push_str(if needs_group { "(" } else { "" });
        self.write(ty, depth, out);
        out.push_str(if needs_group { ")" } else { "" });
    }
}

pub(crate) fn write_name(name: &str, out: &mut String) {
    match is_identifier(name) {
        true => out.push_str(name),
        false => write_string(name, out),
    }
}

pub(crate) fn write_literal(value: &Value, out: &mut String) {
    match value {
        Value::String(text) => write_string(text, out),
        other => {
            let _ = write!(out, "{other}");
        }
    }
}

/// A string literal without line breaks, and without anything that begins or ends a comment or a fence.
pub(crate) fn write_string(text: &str, out: &mut String) {
    out.push('"');
    for c in text.chars() {
        match c {
            '"' => out.push_str("\\\""),
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '/' => out.push_str(if out.ends_with('*') { "\\/" } else { "/" }),
            '*' => out.push_str(if out.ends_with('/') { "\\u002a" } else { "*" }),
            '`' | '\u{7f}'..='\u{9f}' | '\u{2028}' | '\u{2029}' | '\u{feff}' => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c if c.is_control() => {
                let _ = write!(out, "\\u{:04x}", u32::from(c));
            }
            c => out.push(c),
        }
    }
    out.push('"');
}
