//! From a JSON Schema to a small tree of TypeScript types.
//!
//! The schema is hostile data. Lowering visits a bounded number of schema nodes and members,
//! whatever the schema's size, follows references inside the document only, and gives up with
//! `unknown` where a reference leads back into itself. It checks nothing and knows nothing of text:
//! [`crate::type_text`] prints the tree. Types are wider than the schema where TypeScript has no
//! word for it, never narrower, except that `required` is believed.

use std::collections::HashSet;

use serde_json::{Map, Value};

/// How much of a schema is read.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Caps {
    /// The most schema nodes that one lowering visits.
    pub(crate) nodes: usize,
    /// The most properties, members or elements taken from one node; the rest is counted.
    pub(crate) members: usize,
    /// How deep lowering goes.
    pub(crate) depth: usize,
    /// How many literals of an enum are kept before it is widened.
    pub(crate) literals: usize,
    /// The longest string that becomes a literal type, in bytes.
    pub(crate) literal_bytes: usize,
    /// The longest property name that is shown, in bytes; longer ones are counted only.
    pub(crate) property_bytes: usize,
}

/// What goes into a line.
pub(crate) const SIGNATURE: Caps = Caps {
    nodes: 1_024,
    members: 64,
    depth: 16,
    literals: 16,
    literal_bytes: 80,
    property_bytes: 120,
};

/// The most names of one `required` list that are read.
const MAX_REQUIRED: usize = 4_096;

/// How many names of a `required` list, or literals of an enum, cost as much as one node.
const NAMES_PER_NODE: usize = 8;

/// The most types of one document that get a name.
const MAX_NAMED: usize = 512;

/// A TypeScript type.
#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Type<'a> {
    Unknown,
    Never,
    /// `string`, `number`, `boolean` or `null`.
    Primitive(&'static str),
    Literal(&'a Value),
    Array(Box<Type<'a>>),
    Tuple(Tuple<'a>),
    /// An object of which nothing is known.
    AnyObject,
    Record(Box<Type<'a>>),
    Object(Object<'a>),
    /// The target of a reference, by its number among the named ones.
    Named(usize),
    Union(Vec<Type<'a>>),
    Intersection(Vec<Type<'a>>),
}

/// An array whose first elements have types of their own.
#[derive(Clone, Debug, PartialEq)]
pub(crate) struct Tuple<'a> {
    pub(crate) first: Vec<Type<'a>>,
    /// How many of the first elements must be there.
    pub(crate) required: usize,
    pub(crate) rest: Option<Box<Type<'a>>>,
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
    /// What the schema says of it; only where types have names.
    pub(crate) doc: Option<&'a str>,
}

/// Lowers a schema document, every reference replaced by what it leads to.
pub(crate) fn lower(root: &Value) -> Type<'_> {
    Lowering::new(root, SIGNATURE, None).schema(root, 0)
}

/// A document whose references stay references.
pub(crate) struct Document<'a> {
    pub(crate) root: Type<'a>,
    /// What references lead to, with their targets.
    pub(crate) named: Vec<(&'a str, Type<'a>)>,
    /// How many nodes were visited.
    pub(crate) nodes: usize,
}

/// Lowers a schema document to a type that may speak of itself: what references lead to has names.
///
/// A reference is only followed in place where TypeScript would not accept a name: where nothing,
/// neither object nor array, stands between a type and itself.
pub(crate) fn lower_named(root: &Value, caps: Caps) -> Document<'_> {
    let mut lowering = Lowering::new(root, caps, Some(Vec::new()));
    let lowered = lowering.schema(root, 0);
    let mut named = Vec::new();
    while let Some(target) = lowering.target(named.len()) {
        let ty = lowering.definition(target);
        named.push((target, ty));
    }
    Document {
        root: lowered,
        named,
        nodes: caps.nodes - lowering.nodes_left,
    }
}

struct Lowering<'a> {
    root: &'a Value,
    caps: Caps,
    nodes_left: usize,
    /// References that are being followed, to notice recursion.
    open_refs: Vec<&'a str>,
    /// Targets that have a name, when references keep theirs.
    named: Option<Vec<&'a str>>,
    /// Objects and arrays around the place that is being lowered.
    around: usize,
}

impl<'a> Lowering<'a> {
    fn new(root: &'a Value, caps: Caps, named: Option<Vec<&'a str>>) -> Self {
        Self {
            root,
            caps,
            nodes_left: caps.nodes,
            open_refs: vec!["#"],
            named,
            around: 0,
        }
    }

    /// The target with this number, if there are so many.
    fn target(&self, number: usize) -> Option<&'a str> {
        self.named.as_ref()?.get(number).copied()
    }

    fn definition(&mut self, target: &'a str) -> Type<'a> {
        let Some(schema) = self.resolve(target) else {
            return Type::Unknown;
        };
        self.open_refs = vec![target];
        self.around = 0;
        self.schema(schema, 0)
    }

    fn resolve(&self, target: &str) -> Option<&'a Value> {
        self.root
            .pointer(&percent_decoded(target.strip_prefix('#')?))
    }

    /// Lowers what stands inside of an object or array.
    fn inner(&mut self, schema: &'a Value, depth: usize) -> Type<'a> {
        self.around += 1;
        let lowered = self.schema(schema, depth + 1);
        self.around -= 1;
        lowered
    }

    fn charge(&mut self, names: usize) {
        self.nodes_left = self.nodes_left.saturating_sub(names / NAMES_PER_NODE);
    }

    fn schema(&mut self, schema: &'a Value, depth: usize) -> Type<'a> {
        if self.nodes_left == 0 || depth > self.caps.depth {
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
            return literal(value, self.caps);
        }
        if let Some(Value::Array(values)) = fields.get("enum") {
            self.charge(values.len());
            return nullable(enumeration(values, self.caps), fields);
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
            let members = members.iter().take(self.caps.members);
            parts.extend(members.map(|member| self.schema(member, depth + 1)));
        }
        parts.push(self.typed(fields, depth));
        nullable(intersection(parts), fields)
    }

    fn reference(&mut self, target: &'a str, depth: usize) -> Type<'a> {
        if self.around > 0
            && let Some(number) = self.number_of(target)
        {
            return Type::Named(number);
        }
        if self.open_refs.contains(&target) {
            return Type::Unknown;
        }
        let Some(schema) = self.resolve(target) else {
            return Type::Unknown;
        };
        self.open_refs.push(target);
        let lowered = self.schema(schema, depth + 1);
        self.open_refs.pop();
        lowered
    }

    /// The number of a target among those that have names, a new one if there is room.
    fn number_of(&mut self, target: &'a str) -> Option<usize> {
        self.resolve(target)?;
        let named = self.named.as_mut()?;
        if let Some(known) = named.iter().position(|known| *known == target) {
            return Some(known);
        }
        if named.len() >= MAX_NAMED {
            return None;
        }
        named.push(target);
        Some(named.len() - 1)
    }

    fn any_of(&mut self, members: &'a [Value], depth: usize) -> Type<'a> {
        if members.len() > self.caps.members {
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
                let names = names
                    .iter()
                    .take(self.caps.members)
                    .filter_map(Value::as_str);
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
            (_, Some(each)) => return Type::Array(Box::new(self.inner(each, depth))),
            (_, None) => return Type::Array(Box::new(Type::Unknown)),
        };
        if first.len() > self.caps.members {
            return Type::Array(Box::new(Type::Unknown));
        }
        let first: Vec<_> = first.iter().map(|item| self.inner(item, depth)).collect();
        let rest = match rest {
            Some(Value::Bool(false)) => None,
            Some(rest) => Some(Box::new(self.inner(rest, depth))),
            None => Some(Box::new(Type::Unknown)),
        };
        let required = fields.get("minItems").and_then(Value::as_u64).unwrap_or(0);
        Type::Tuple(Tuple {
            required: usize::try_from(required)
                .unwrap_or(usize::MAX)
                .min(first.len()),
            first,
            rest,
        })
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
        if let Some(Value::Array(names)) = fields.get("required") {
            self.charge(names.len().min(MAX_REQUIRED));
        }
        let required: HashSet<&str> = match fields.get("required") {
            Some(Value::Array(names)) => names
                .iter()
                .take(MAX_REQUIRED)
                .filter_map(Value::as_str)
                .collect(),
            _ => HashSet::new(),
        };
        let mut object = Object::default();
        for (name, schema) in properties.iter().take(self.caps.members) {
            if name.len() > self.caps.property_bytes {
                continue;
            }
            object.properties.push(Property {
                name,
                is_optional: !required.contains(name.as_str()),
                ty: self.inner(schema, depth),
                doc: self.doc(schema),
            });
        }
        object.left_out = properties.len() - object.properties.len();
        object
    }

    fn doc(&self, schema: &'a Value) -> Option<&'a str> {
        self.named.as_ref()?;
        schema.get("description")?.as_str()
    }

    /// The type of the keys that are not named, when the schema says more than "anything".
    fn additional(&mut self, fields: &'a Map<String, Value>, depth: usize) -> Option<Type<'a>> {
        let mut types = Vec::new();
        if let Some(Value::Object(patterns)) = fields.get("patternProperties") {
            let patterns = patterns.values().take(self.caps.members);
            types.extend(patterns.map(|schema| self.inner(schema, depth)));
        }
        match fields.get("additionalProperties") {
            Some(schema @ Value::Object(_)) => types.push(self.inner(schema, depth)),
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

fn literal(value: &Value, caps: Caps) -> Type<'_> {
    match value {
        Value::String(text) if text.len() > caps.literal_bytes => Type::Primitive("string"),
        Value::Array(_) => Type::Array(Box::new(Type::Unknown)),
        Value::Object(_) => Type::AnyObject,
        Value::Null => Type::Primitive("null"),
        _ => Type::Literal(value),
    }
}

/// The literals of an enum; beyond the first few it is widened to the kind of those left out.
fn enumeration(values: &[Value], caps: Caps) -> Type<'_> {
    let first = values.iter().take(caps.literals);
    let mut members: Vec<Type<'_>> = first.map(|value| literal(value, caps)).collect();
    let rest = values.iter().skip(caps.literals).take(MAX_REQUIRED);
    members.extend(rest.map(widened));
    union(members)
}

fn widened(value: &Value) -> Type<'_> {
    match value {
        Value::String(_) => Type::Primitive("string"),
        Value::Number(_) => Type::Primitive("number"),
        Value::Bool(_) => Type::Primitive("boolean"),
        other => literal(other, SIGNATURE),
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
