//! A JSON Schema, read as far as it is plain.
//!
//! Every answer errs on the side of acceptance: a keyword that is not understood here accepts everything.

use codecell_script::{Fields, Literal};
use serde_json::{Map, Value};

/// References that are followed in a row.
const MAX_REFERENCES: usize = 8;
/// Nesting of schemas that is looked into.
const MAX_DEPTH: u32 = 16;
/// Steps of one program's judgement.
const MAX_STEPS: usize = 20_000;
/// The most values of an `enum` that are listed.
const MAX_LISTED: usize = 8;
/// The longest value that is shown, in characters.
const MAX_SHOWN_CHARS: usize = 60;

/// Keywords beside which the properties of an object do not say all.
const COMPOSING: [&str; 10] = [
    "allOf",
    "anyOf",
    "oneOf",
    "not",
    "if",
    "dependentSchemas",
    "patternProperties",
    "unevaluatedProperties",
    "$dynamicRef",
    "$recursiveRef",
];

/// What is left of the steps of one judgement.
pub(super) struct Budget(usize);

impl Default for Budget {
    fn default() -> Self {
        Self(MAX_STEPS)
    }
}

impl Budget {
    /// Takes `steps`; `false` when they are used up.
    pub(super) fn take(&mut self, steps: usize) -> bool {
        let left = self.0.checked_sub(steps);
        self.0 = left.unwrap_or(self.0);
        left.is_some()
    }
}

/// A schema inside of the one that it belongs to.
#[derive(Clone, Copy)]
pub(super) struct Schema<'a> {
    root: &'a Value,
    node: &'a Value,
    depth: u32,
}

/// The schema of an object whose properties are all listed.
pub(super) struct ObjectSchema<'a> {
    schema: Schema<'a>,
    properties: &'a Map<String, Value>,
    closed: bool,
}

impl<'a> Schema<'a> {
    pub(super) fn root(root: &'a Value) -> Self {
        Self {
            root,
            node: root,
            depth: 0,
        }
    }

    fn inner(self, node: &'a Value) -> Self {
        Self {
            depth: self.depth + 1,
            node,
            ..self
        }
    }

    /// The schema behind references; `None` when they lead out or in circles.
    fn resolved(mut self) -> Option<Self> {
        for _ in 0..MAX_REFERENCES {
            let Some(reference) = self.node.get("$ref") else {
                return (self.depth <= MAX_DEPTH).then_some(self);
            };
            let pointer = reference.as_str()?.strip_prefix('#')?;
            self = self.inner(self.root.pointer(pointer)?);
        }
        None
    }

    /// The types that are accepted; `None` when all may be.
    fn types(self) -> Option<Vec<&'a str>> {
        match self.node.get("type")? {
            Value::String(one) => Some(vec![one.as_str()]),
            Value::Array(several) => several.iter().map(Value::as_str).collect(),
            _ => None,
        }
    }

    /// The one alternative of `anyOf` or `oneOf` that is not `null`, else the schema itself.
    fn without_null(self) -> Option<Self> {
        let schema = self.resolved()?;
        let alternatives = schema
            .node
            .get("anyOf")
            .or_else(|| schema.node.get("oneOf"));
        let Some(alternatives) = alternatives.and_then(Value::as_array) else {
            return Some(schema);
        };
        let mut others = alternatives
            .iter()
            .filter(|alternative| alternative.get("type").is_none_or(|kind| kind != "null"));
        match (others.next(), others.next()) {
            (Some(only), None) => schema.inner(only).resolved(),
            _ => None,
        }
    }

    /// The schema as that of an object whose properties are listed.
    pub(super) fn object(self) -> Option<ObjectSchema<'a>> {
        let schema = self.without_null()?;
        let fields = schema.node.as_object()?;
        let is_object = schema
            .types()
            .is_none_or(|types| types.iter().all(|kind| matches!(*kind, "object" | "null")));
        if !is_object
            || COMPOSING
                .iter()
                .any(|keyword| fields.contains_key(*keyword))
        {
            return None;
        }
        let closed = match fields.get("additionalProperties") {
            None => true,
            Some(more) => *more == Value::Bool(false),
        };
        Some(ObjectSchema {
            schema,
            properties: fields.get("properties")?.as_object()?,
            closed,
        })
    }

    /// The schema of the elements of an array.
    pub(super) fn items(self) -> Option<Self> {
        let schema = self.array()?;
        Some(schema.inner(schema.node.get("items")?))
    }

    /// The schema as that of an array.
    pub(super) fn array(self) -> Option<Self> {
        let schema = self.without_null()?;
        let types = schema.types()?;
        types
            .iter()
            .all(|kind| matches!(*kind, "array" | "null"))
            .then_some(schema)
    }

    /// Whether a literal may be accepted; `true` when that is not sure.
    pub(super) fn fits(self, literal: &Literal, budget: &mut Budget) -> bool {
        let Some(schema) = self.resolved() else {
            return true;
        };
        if !budget.take(1) || matches!(literal, Literal::Unknown) {
            return true;
        }
        let Some(fields) = schema.node.as_object() else {
            return true;
        };
        let one_of = |keyword: &str, budget: &mut Budget| match fields.get(keyword) {
            Some(Value::Array(several)) if !several.is_empty() => several
                .iter()
                .any(|alternative| schema.inner(alternative).fits(literal, budget)),
            _ => true,
        };
        schema.fits_type(literal)
            && fits_constant(fields, literal)
            && one_of("anyOf", budget)
            && one_of("oneOf", budget)
            && schema.fits_inside(literal, budget)
    }

    fn fits_type(self, literal: &Literal) -> bool {
        let Some(types) = self.types() else {
            return true;
        };
        types.iter().any(|kind| match *kind {
            "string" => matches!(literal, Literal::Text(_)),
            "number" => matches!(literal, Literal::Number(_)),
            "integer" => matches!(literal, Literal::Number(number) if number.fract() == 0.0),
            "boolean" => matches!(literal, Literal::Bool(_)),
            "null" => matches!(literal, Literal::Null),
            "array" => matches!(literal, Literal::List(_)),
            "object" => matches!(literal, Literal::Object(_)),
            _ => true,
        })
    }

    fn fits_inside(self, literal: &Literal, budget: &mut Budget) -> bool {
        match literal {
            Literal::List(elements) => match self.node.get("items") {
                Some(items) => elements
                    .iter()
                    .all(|element| self.inner(items).fits(element, budget)),
                None => true,
            },
            Literal::Object(given) => match self.object() {
                Some(object) => object.fits(given, budget),
                None => true,
            },
            _ => true,
        }
    }

    /// What the schema asks for, in words.
    pub(super) fn expectation(self) -> String {
        let Some(schema) = self.resolved() else {
            return "something else".to_owned();
        };
        if let Some(constant) = schema.node.get("const") {
            return clipped(&constant.to_string());
        }
        if let Some(Value::Array(values)) = schema.node.get("enum") {
            let listed: Vec<String> = values
                .iter()
                .take(MAX_LISTED)
                .map(|value| clipped(&value.to_string()))
                .collect();
            let more = if values.len() > MAX_LISTED {
                ", ..."
            } else {
                ""
            };
            return format!("one of {}{more}", listed.join(", "));
        }
        if let Some(types) = schema.types() {
            return match types.as_slice() {
                ["array"] => match schema.node.get("items") {
                    Some(items) => format!("an array of {}", schema.inner(items).expectation()),
                    None => "an array".to_owned(),
                },
                types => types.join(" or "),
            };
        }
        for keyword in ["anyOf", "oneOf"] {
            if let Some(Value::Array(several)) = schema.node.get(keyword) {
                let listed: Vec<String> = several
                    .iter()
                    .take(MAX_LISTED)
                    .map(|one| schema.inner(one).expectation())
                    .collect();
                return listed.join(" or ");
            }
        }
        "something else".to_owned()
    }
}

impl<'a> ObjectSchema<'a> {
    /// The names without which the object is refused.
    pub(super) fn required(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        let properties = self.properties;
        let names = self.schema.node.get("required").and_then(Value::as_array);
        let names = names.into_iter().flatten().filter_map(Value::as_str);
        names.filter(move |name| {
            properties
                .get(*name)
                .is_none_or(|property| property.get("default").is_none())
        })
    }

    /// The schema of a property.
    pub(super) fn property(&self, name: &str) -> Option<Schema<'a>> {
        Some(self.schema.inner(self.properties.get(name)?))
    }

    /// All names.
    pub(super) fn names(&self) -> impl Iterator<Item = &'a str> + use<'a> {
        self.properties.keys().map(String::as_str)
    }

    /// Nothing but the listed properties is declared.
    pub(super) fn is_closed(&self) -> bool {
        self.closed
    }

    fn fits(&self, given: &Fields, budget: &mut Budget) -> bool {
        let refuses_others = self
            .schema
            .node
            .get("additionalProperties")
            .is_some_and(|more| *more == Value::Bool(false));
        let complete = given.open
            || self
                .required()
                .all(|name| given.fields.iter().any(|field| field.name == name));
        complete
            && given
                .fields
                .iter()
                .all(|field| match self.property(&field.name) {
                    Some(property) => property.fits(&field.value, budget),
                    None => !refuses_others,
                })
    }
}

fn fits_constant(fields: &Map<String, Value>, literal: &Literal) -> bool {
    let Some(value) = as_json(literal) else {
        return true;
    };
    let is = |other: &Value| match (other.as_f64(), value.as_f64()) {
        (Some(a), Some(b)) => a == b,
        _ => *other == value,
    };
    let in_enum = match fields.get("enum") {
        Some(Value::Array(values)) => values.iter().any(is),
        _ => true,
    };
    in_enum && fields.get("const").is_none_or(is)
}

/// A scalar whose value is known.
fn as_json(literal: &Literal) -> Option<Value> {
    match literal {
        Literal::Text(Some(text)) => Some(Value::from(text.as_str())),
        Literal::Number(number) => Some(Value::from(*number)),
        Literal::Bool(flag) => Some(Value::from(*flag)),
        Literal::Null => Some(Value::Null),
        _ => None,
    }
}

/// A literal, as a message shows it.
pub(super) fn shown(literal: &Literal) -> String {
    match literal {
        Literal::Number(number) => format!("the number {number}"),
        Literal::Text(None) => "a string".to_owned(),
        Literal::List(_) => "an array".to_owned(),
        Literal::Object(_) => "such an object".to_owned(),
        Literal::Unknown => "this".to_owned(),
        scalar => as_json(scalar).map_or_else(String::new, |value| {
            let text = clipped(&value.to_string());
            match scalar {
                Literal::Text(_) => format!("the string {text}"),
                _ => text,
            }
        }),
    }
}

fn clipped(text: &str) -> String {
    let cut: String = text
        .chars()
        .filter(|c| !c.is_control())
        .take(MAX_SHOWN_CHARS)
        .collect();
    if cut.len() < text.len() {
        return format!("{cut}…");
    }
    cut
}
