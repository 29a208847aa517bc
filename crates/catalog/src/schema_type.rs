//! From a JSON Schema to a small tree of TypeScript types.
//!
//! The schema is hostile data. Lowering visits a bounded number of schema nodes and members,
//! whatever the schema's size, follows references inside the document only, and gives up with
//! `unknown` where a reference leads back into itself. It checks nothing and knows nothing of text:
//! [`crate::type_text`] prints the tree. Types are wider than the schema where TypeScript has no
//! word for it, never narrower, except that `required` is believed.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// The most schema nodes that one lowering visits.
const MAX_NODES: usize = 1_024;

/// The most properties, members or literals taken from one node; the rest is counted.
const MAX_MEMBERS: usize = 64;

/// The most names of one `required` list that are read.
const MAX_REQUIRED: usize = 4_096;

/// How deep lowering goes.
const MAX_DEPTH: usize = 16;

/// How many literals of an enum are kept before it is widened.
const MAX_LITERALS: usize = 16;

/// The longest string that becomes a literal type, in bytes.
const MAX_LITERAL_BYTES: usize = 80;

/// The longest property name that is shown, in bytes; longer ones are counted only.
const MAX_PROPERTY_BYTES: usize = 120;

/// A TypeScript type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type<'a> {
    Unknown,
    Never,
    /// `string`, `number`, `boolean` or `null`.
    Primitive(&'static str),
    Literal(&'a Value),
    Array(Box<Type<'a>>),
    Tuple(Vec<Type<'a>>, Option<Box<Type<'a>>>),
    /// An object of which nothing is known.
    AnyObject,
    Record(Box<Type<'a>>),
    Object(Object<'a>),
    Union(Vec<Type<'a>>),
    Intersection(Vec<Type<'a>>),
}

/// An object type.
#[derive(Clone, Debug, Default, PartialEq)]
pub(crate) struct Object<'a> {
    pub(crate) properties: Vec<Property<'a>>,
    /// How many properties are not in the list.
    pub(crate) left_out: usize,
}

/// A property of an object type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Property<'a> {
    pub(crate) name: &'a str,
    pub(crate) is_optional: bool,
    pub(crate) ty: Type<'a>,
}

/// Lowers a schema document.
pub(crate) fn lower(root: &Value) -> Type<'_> {
    let mut lowering = Lowering {
        root,
        nodes_left: MAX_NODES,
        open_refs: vec!["#"],
    };
    lowering.schema(root, 0)
}

struct Lowering<'a> {
    root: &'a Value,
    nodes_left: usize,
    /// References that are being followed, to notice recursion.
    open_refs: Vec<&'a str>,
}

impl<'a> Lowering<'a> {
    fn schema(&mut self, schema: &'a Value, depth: usize) -> Type<'a> {
        if self.nodes_left == 0 || depth > MAX_DEPTH {
            return Type::Unknown;
        }
        self.nodes_left -= 1;
        match schema {
            Value::Bool(false) => Type::Never,
            Value::Object(fields) => self.object_schema(fields, depth),
            _ => Type::Unknown,
        }
    }

    fn object_schema(&mut self, fields: &'a Map<String, Value>, depth: usize) -> Type<'a> {
        if let Some(value) = fields.get("const") {
            return literal(value);
        }
        if let Some(Value::Array(values)) = fields.get("enum") {
            return nullable(enumeration(values), fields);
        }
        let mut parts = Vec::new();
        if let Some(Value::String(target)) = fields.get("$ref") {
            parts.push(self.reference(target, depth));
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(members)) = fields.get(keyword) {
                parts.push(self.any_of(members, depth));
            }
        }
        if let Some(Value::Array(members)) = fields.get("allOf") {
            let members = members.iter().take(MAX_MEMBERS);
            parts.extend(members.map(|member| self.schema(member, depth + 1)));
        }
        parts.push(self.typed(fields, depth));
        nullable(intersection(parts), fields)
    }

    fn reference(&mut self, target: &'a str, depth: usize) -> Type<'a> {
        let pointer = match target.strip_prefix('#') {
            Some(pointer) if !self.open_refs.contains(&target) => pointer,
            _ => return Type::Unknown,
        };
        let Some(schema) = self.root.pointer(&percent_decoded(pointer)) else {
            return Type::Unknown;
        };
        self.open_refs.push(target);
        let lowered = self.schema(schema, depth + 1);
        self.open_refs.pop();
        lowered
    }

    fn any_of(&mut self, members: &'a [Value], depth: usize) -> Type<'a> {
        if members.len() > MAX_MEMBERS {
            return Type::Unknown;
        }
        let lowered = members.iter().map(|member| self.schema(member, depth + 1));
        union(lowered.collect())
    }

    /// The type that `type` and the keywords of its kind give.
    fn typed(&mut self, fields: &'a Map<String, Value>, depth: usize) -> Type<'a> {
        match fields.get("type") {
            Some(Value::String(name)) => self.named(name, fields, depth),
            Some(Value::Array(names)) => {
                let names = names.iter().take(MAX_MEMBERS).filter_map(Value::as_str);
                union(names.map(|name| self.named(name, fields, depth)).collect())
            }
            _ if has_any(
                fields,
                &["properties", "additionalProperties", "patternProperties"],
            ) =>
            {
                self.object(fields, depth)
            }
            _ if has_any(fields, &["items", "prefixItems"]) => self.array(fields, depth),
            _ => Type::Unknown,
        }
    }

    fn named(&mut self, name: &str, fields: &'a Map<String, Value>, depth: usize) -> Type<'a> {
        match name {
            "string" => Type::Primitive("string"),
            "number" | "integer" => Type::Primitive("number"),
            "boolean" => Type::Primitive("boolean"),
            "null" => Type::Primitive("null"),
            "array" => self.array(fields, depth),
            "object" => self.object(fields, depth),
            _ => Type::Unknown,
        }
    }

    fn array(&mut self, fields: &'a Map<String, Value>, depth: usize) -> Type<'a> {
        let (first, rest) = match (fields.get("prefixItems"), fields.get("items")) {
            (Some(Value::Array(first)), rest) => (first, rest),
            // Before 2020-12 a list of items was the tuple.
            (_, Some(Value::Array(first))) => (first, fields.get("additionalItems")),
            (_, Some(each)) => return Type::Array(Box::new(self.schema(each, depth + 1))),
            (_, None) => return Type::Array(Box::new(Type::Unknown)),
        };
        if first.len() > MAX_MEMBERS {
            return Type::Array(Box::new(Type::Unknown));
        }
        let first = first
            .iter()
            .map(|item| self.schema(item, depth + 1))
            .collect();
        let rest = match rest {
            Some(Value::Bool(false)) => None,
            Some(rest) => Some(Box::new(self.schema(rest, depth + 1))),
            None => Some(Box::new(Type::Unknown)),
        };
        Type::Tuple(first, rest)
    }

    fn object(&mut self, fields: &'a Map<String, Value>, depth: usize) -> Type<'a> {
        let properties = match fields.get("properties") {
            Some(Value::Object(properties)) => Some(self.properties(properties, fields, depth)),
            _ => None,
        };
        let more = self.additional(fields, depth);
        match (properties, more) {
            (Some(object), Some(more)) if object.properties.is_empty() => {
                Type::Record(Box::new(more))
            }
            (Some(object), Some(more)) => {
                Type::Intersection(vec![Type::Object(object), Type::Record(Box::new(more))])
            }
            (Some(object), None) => Type::Object(object),
            (None, Some(more)) => Type::Record(Box::new(more)),
            (None, None) => match fields.get("additionalProperties") {
                Some(Value::Bool(false)) => Type::Object(Object::default()),
                _ => Type::AnyObject,
            },
        }
    }

    fn properties(
        &mut self,
        properties: &'a Map<String, Value>,
        fields: &'a Map<String, Value>,
        depth: usize,
    ) -> Object<'a> {
        let required: HashSet<&str> = match fields.get("required") {
            Some(Value::Array(names)) => names
                .iter()
                .take(MAX_REQUIRED)
                .filter_map(Value::as_str)
                .collect(),
            _ => HashSet::new(),
        };
        let mut object = Object::default();
        for (name, schema) in properties.iter().take(MAX_MEMBERS) {
            if name.len() > MAX_PROPERTY_BYTES {
                continue;
            }
            object.properties.push(Property {
                name,
                is_optional: !required.contains(name.as_str()),
                ty: self.schema(schema, depth + 1),
            });
        }
        object.left_out = properties.len() - object.properties.len();
        object
    }

    /// The type of the keys that are not named, when the schema says more than "anything".
    fn additional(&mut self, fields: &'a Map<String, Value>, depth: usize) -> Option<Type<'a>> {
        let mut types = Vec::new();
        if let Some(Value::Object(patterns)) = fields.get("patternProperties") {
            let patterns = patterns.values().take(MAX_MEMBERS);
            types.extend(patterns.map(|schema| self.schema(schema, depth + 1)));
        }
        match fields.get("additionalProperties") {
            Some(schema @ Value::Object(_)) => types.push(self.schema(schema, depth + 1)),
            Some(Value::Bool(true)) if !fields.contains_key("properties") => {
                types.push(Type::Unknown);
            }
            _ => {}
        }
        (!types.is_empty()).then(|| union(types))
    }
}

fn has_any(fields: &Map<String, Value>, names: &[&str]) -> bool {
    names.iter().any(|name| fields.contains_key(*name))
}

/// `nullable: true`, as OpenAPI 3.0 writes it.
fn nullable<'a>(ty: Type<'a>, fields: &Map<String, Value>) -> Type<'a> {
    match fields.get("nullable") {
        Some(Value::Bool(true)) => union(vec![ty, Type::Primitive("null")]),
        _ => ty,
    }
}

fn literal(value: &Value) -> Type<'_> {
    match value {
        Value::String(text) if text.len() > MAX_LITERAL_BYTES => Type::Primitive("string"),
        Value::Array(_) => Type::Array(Box::new(Type::Unknown)),
        Value::Object(_) => Type::AnyObject,
        Value::Null => Type::Primitive("null"),
        _ => Type::Literal(value),
    }
}

/// The literals of an enum; beyond the first few it is widened to the kind of those left out.
fn enumeration(values: &[Value]) -> Type<'_> {
    let mut members: Vec<Type<'_>> = values.iter().take(MAX_LITERALS).map(literal).collect();
    let rest = values.iter().skip(MAX_LITERALS).take(MAX_REQUIRED);
    members.extend(rest.map(widened));
    union(members)
}

fn widened(value: &Value) -> Type<'_> {
    match value {
        Value::String(_) => Type::Primitive("string"),
        Value::Number(_) => Type::Primitive("number"),
        Value::Bool(_) => Type::Primitive("boolean"),
        other => literal(other),
    }
}

/// A union without repetitions; one that admits anything is `unknown`.
fn union(members: Vec<Type<'_>>) -> Type<'_> {
    let mut kept: Vec<Type<'_>> = Vec::new();
    for member in members {
        let nested = match member {
            Type::Union(nested) => nested,
            Type::Never => continue,
            other => vec![other],
        };
        for ty in nested {
            if ty == Type::Unknown {
                return Type::Unknown;
            }
            if !kept.contains(&ty) {
                kept.push(ty);
            }
        }
    }
    match kept.len() {
        0 => Type::Never,
        1 => kept.swap_remove(0),
        _ => Type::Union(kept),
    }
}

/// An intersection without parts that say nothing; object types are merged into one.
fn intersection(parts: Vec<Type<'_>>) -> Type<'_> {
    let mut kept: Vec<Type<'_>> = Vec::new();
    let mut merged: Option<Object<'_>> = None;
    for part in parts {
        match part {
            Type::Unknown => {}
            Type::Object(object) => match &mut merged {
                Some(merged) => merge(merged, object),
                None => merged = Some(object),
            },
            other if kept.contains(&other) => {}
            other => kept.push(other),
        }
    }
    kept.extend(merged.map(Type::Object));
    if kept.len() > 1 {
        kept.retain(|part| *part != Type::AnyObject);
    }
    match kept.len() {
        0 => Type::Unknown,
        1 => kept.swap_remove(0),
        _ => Type::Intersection(kept),
    }
}

/// What both ask for: a property is optional only if it is in both.
fn merge<'a>(into: &mut Object<'a>, from: Object<'a>) {
    into.left_out += from.left_out;
    for property in from.properties {
        match into
            .properties
            .iter_mut()
            .find(|known| known.name == property.name)
        {
            Some(known) => {
                known.is_optional &= property.is_optional;
                let ty = std::mem::replace(&mut known.ty, Type::Unknown);
                known.ty = intersection(vec![ty, property.ty]);
            }
            None => into.properties.push(property),
        }
    }
}

/// A JSON pointer in a URI fragment may be percent-encoded.
fn percent_decoded(pointer: &str) -> String {
    if !pointer.contains('%') {
        return pointer.to_owned();
    }
    let mut bytes = Vec::with_capacity(pointer.len());
    let mut rest = pointer.as_bytes();
    while let [first, tail @ ..] = rest {
        let hex = tail.get(..2).and_then(|hex| std::str::from_utf8(hex).ok());
        match hex.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) if *first == b'%' => {
                bytes.push(byte);
                rest = &tail[2..];
            }
            _ => {
                bytes.push(*first);
                rest = tail;
            }
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}
