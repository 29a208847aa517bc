//! Turns a validator's findings into text for the model that wrote the arguments.
//!
//! Each problem names the place as the program would write it, what is expected there, and the
//! nearest name where a name is wrong.

use jsonschema::Validator;
use jsonschema::error::{TypeKind, ValidationError, ValidationErrorKind as Kind};
use serde_json::{Map, Value};

use super::Mismatch;

/// The most problems that one error lists.
const MAX_PROBLEMS: usize = 5;
/// The most findings that are counted.
const MAX_COUNTED: usize = 100;
/// The longest quotation of a schema or of the arguments, in characters.
const MAX_QUOTED_CHARS: usize = 160;
/// The most property names that an error lists.
const MAX_LISTED_NAMES: usize = 12;

pub(super) fn mismatch(validator: &Validator, schema: &Value, input: &Value) -> Mismatch {
    let mut problems: Vec<String> = Vec::new();
    let mut counted = 0;
    for error in validator.iter_errors(input).take(MAX_COUNTED) {
        let problem = Finding {
            schema,
            input,
            error: &error,
        }
        .explain();
        // A chain of `allOf` says the same thing several times.
        if problems.contains(&problem) {
            continue;
        }
        counted += 1;
        if problems.len() < MAX_PROBLEMS {
            problems.push(problem);
        }
    }
    Mismatch {
        more: counted - problems.len(),
        problems,
    }
}

struct Finding<'a> {
    schema: &'a Value,
    input: &'a Value,
    error: &'a ValidationError<'a>,
}

impl Finding<'_> {
    fn explain(&self) -> String {
        let place = place(self.input, self.error.instance_path().as_str());
        match self.error.kind() {
            Kind::Required { property } => self.missing(&place, property),
            Kind::AdditionalProperties { unexpected }
            | Kind::UnevaluatedProperties { unexpected } => self.unexpected(&place, unexpected),
            Kind::FalseSchema => match self.uncalled_for() {
                Some(names) => format!("{place} must not have {names}; it takes none"),
                None => format!("{place} is not accepted at all; leave it out"),
            },
            kind => format!("{place} {}", self.expectation(kind)),
        }
    }

    fn expectation(&self, kind: &Kind) -> String {
        let found = shape_of(self.error.instance());
        match kind {
            Kind::Type { kind } => format!("must be {}, not {found}", types(kind)),
            Kind::Enum { options } => format!("must be one of {}, not {found}", listed(options)),
            Kind::Constant { expected_value } => {
                format!("must be {}, not {found}", clipped(&expected_value.to_string()))
            }
            Kind::AnyOf { context }
            | Kind::OneOfNotValid { context }
            | Kind::OneOfMultipleValid { context } => alternatives(kind, context, &found),
            Kind::Pattern { pattern } => {
                format!("must match the pattern {}", clipped(pattern))
            }
            Kind::BacktrackLimitExceeded { .. } | Kind::RegexEngineFailure { .. } => {
                "could not be checked against its pattern within the limit; use a shorter or simpler text".to_owned()
            }
            Kind::MinItems { limit } => format!("must have at least {limit} items"),
            Kind::MaxItems { limit } => format!("must have at most {limit} items"),
            Kind::MinLength { limit } => format!("must have at least {limit} characters"),
            Kind::MaxLength { limit } => format!("must have at most {limit} characters"),
            Kind::MinProperties { limit } => format!("must have at least {limit} properties"),
            Kind::MaxProperties { limit } => format!("must have at most {limit} properties"),
            Kind::Minimum { limit } => format!("must be at least {limit}, not {found}"),
            Kind::Maximum { limit } => format!("must be at most {limit}, not {found}"),
            Kind::ExclusiveMinimum { limit } => format!("must be more than {limit}, not {found}"),
            Kind::ExclusiveMaximum { limit } => format!("must be less than {limit}, not {found}"),
            Kind::UniqueItems => "must not repeat an item".to_owned(),
            Kind::PropertyNames { error } => {
                format!("has a key that is not allowed: {}", clipped(&error.masked().to_string()))
            }
            other => format!("does not satisfy `{}`: {}", other.keyword(), clipped(&self.error.masked().to_string())),
        }
    }

    fn missing(&self, place: &str, property: &Value) -> String {
        let name = property.as_str().unwrap_or_default();
        let declared = self.declared();
        let expected = declared
            .and_then(|declared| declared.get(name))
            .and_then(type_of_schema)
            .map(|kind| format!(" ({kind})"))
            .unwrap_or_default();
        let given = self.error.instance().as_object();
        let strangers = given
            .into_iter()
            .flat_map(Map::keys)
            .filter(|key| declared.is_none_or(|declared| !declared.contains_key(key.as_str())));
        let hint = nearest(name, strangers)
            .map(|near| format!("; `{near}` was given, did you mean `{name}`?"))
            .unwrap_or_default();
        format!("{} is missing{expected}{hint}", member(place, name))
    }

    fn unexpected(&self, place: &str, names: &[String]) -> String {
        let Some(declared) = self.declared() else {
            return format!("{place} must not have {}", quoted(names.iter()));
        };
        let hints: Vec<String> = names
            .iter()
            .filter_map(|name| Some(format!("`{}`", nearest(name, declared.keys())?)))
            .collect();
        let advice = match hints.as_slice() {
            [] => format!("it takes {}", quoted(declared.keys())),
            hints => format!("did you mean {}?", hints.join(", ")),
        };
        format!("{place} must not have {}; {advice}", quoted(names.iter()))
    }

    /// The properties of an object whose schema declares none and allows none.
    fn uncalled_for(&self) -> Option<String> {
        let path = self.error.schema_path().as_str();
        let at = self.error.instance_path().as_str();
        let given = self.input.pointer(at)?.as_object()?;
        let forbidden = path.ends_with("/additionalProperties");
        forbidden.then(|| quoted(given.keys()))
    }

    /// The properties that the failing part of the schema declares.
    fn declared(&self) -> Option<&Map<String, Value>> {
        let path = self.error.schema_path().as_str();
        let (parent, _keyword) = path.rsplit_once('/')?;
        let parent = parent.strip_suffix("/required").unwrap_or(parent);
        self.schema.pointer(parent)?.get("properties")?.as_object()
    }
}

fn alternatives(kind: &Kind, context: &[Vec<ValidationError<'static>>], found: &str) -> String {
    if matches!(kind, Kind::OneOfMultipleValid { .. }) {
        return "fits more than one of the alternatives; it must fit exactly one".to_owned();
    }
    let mut wanted: Vec<String> = Vec::new();
    for errors in context {
        let text = match errors.first().map(ValidationError::kind) {
            Some(Kind::Type { kind }) => types(kind),
            Some(Kind::Required { property }) => {
                format!("an object with {}", clipped(&property.to_string()))
            }
            Some(Kind::Enum { options }) => format!("one of {}", listed(options)),
            Some(Kind::Constant { expected_value }) => clipped(&expected_value.to_string()),
            _ => continue,
        };
        if !wanted.contains(&text) && wanted.len() < MAX_LISTED_NAMES {
            wanted.push(text);
        }
    }
    if wanted.is_empty() {
        return format!("fits none of the {} alternatives", context.len());
    }
    format!("must be {}, not {found}", wanted.join(" or "))
}

fn types(kind: &TypeKind) -> String {
    match kind {
        TypeKind::Single(one) => with_article(&one.to_string()),
        TypeKind::Multiple(several) => {
            let names: Vec<String> = several
                .iter()
                .map(|one| with_article(&one.to_string()))
                .collect();
            names.join(" or ")
        }
    }
}

fn type_of_schema(schema: &Value) -> Option<String> {
    match schema.get("type")? {
        Value::String(one) => Some(one.clone()),
        Value::Array(several) => {
            let names: Vec<&str> = several.iter().filter_map(Value::as_str).collect();
            Some(names.join(" or "))
        }
        _ => None,
    }
}

fn with_article(kind: &str) -> String {
    match kind {
        "null" => "null".to_owned(),
        "array" | "object" | "integer" => format!("an {kind}"),
        _ => format!("a {kind}"),
    }
}

fn shape_of(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::Object(_) => "an object".to_owned(),
        Value::String(_) => format!("the string {}", clipped(&value.to_string())),
        Value::Bool(_) | Value::Number(_) => clipped(&value.to_string()),
    }
}

fn listed(options: &Value) -> String {
    let Value::Array(options) = options else {
        return clipped(&options.to_string());
    };
    let texts = options.iter().take(MAX_LISTED_NAMES).map(Value::to_string);
    let mut text = clipped(&texts.collect::<Vec<_>>().join(", "));
    if options.len() > MAX_LISTED_NAMES {
        text.push_str(", ...");
    }
    text
}

fn quoted<'a>(names: impl Iterator<Item = &'a String>) -> String {
    let names: Vec<_> = names
        .take(MAX_LISTED_NAMES)
        .map(|name| format!("`{}`", clipped(name)))
        .collect();
    names.join(", ")
}

/// The candidate that is close enough to be a slip of the keyboard, another case or another style.
fn nearest<'a>(name: &str, candidates: impl Iterator<Item = &'a String>) -> Option<&'a str> {
    const MAX_CANDIDATES: usize = 1_000;
    const MAX_NAME_BYTES: usize = 64;
    let plain = |name: &str| -> String {
        let letters = name.chars().filter(|c| c.is_alphanumeric());
        letters.flat_map(char::to_lowercase).collect()
    };
    let wanted = plain(name);
    let rank = |candidate: &'a String| {
        let other = plain(candidate);
        let longer = wanted.chars().count().max(other.chars().count());
        let contained = wanted.len().min(other.len()) > 2
            && (wanted.contains(&other) || other.contains(&wanted));
        let edits = strsim::osa_distance(&wanted, &other);
        (contained || edits <= longer.div_ceil(3)).then_some((edits, candidate.as_str()))
    };
    candidates
        .filter(|candidate| candidate.len() <= MAX_NAME_BYTES && name.len() <= MAX_NAME_BYTES)
        .take(MAX_CANDIDATES)
        .filter_map(rank)
        .min()
        .map(|(_, candidate)| candidate)
}

/// A JSON pointer into the arguments as a program would write the place.
fn place(input: &Value, pointer: &str) -> String {
    let mut text = "input".to_owned();
    let mut at = Some(input);
    for segment in pointer.split('/').skip(1) {
        let name = segment.replace("~1", "/").replace("~0", "~");
        if at.is_some_and(Value::is_array) {
            text = format!("{text}[{name}]");
            at = at.and_then(|value| value.get(name.parse::<usize>().ok()?));
        } else {
            text = member(&text, &name);
            at = at.and_then(|value| value.get(&name));
        }
    }
    text
}

fn member(place: &str, name: &str) -> String {
    if codecell_catalog::is_identifier(name) {
        format!("{place}.{}", clipped(name))
    } else {
        format!("{place}[{}]", clipped(&Value::from(name).to_string()))
    }
}

/// A bounded, printable quotation.
pub(super) fn clipped(text: &str) -> String {
    let mut kept: String = text
        .chars()
        .map(|c| if c.is_control() { ' ' } else { c })
        .take(MAX_QUOTED_CHARS)
        .collect();
    if kept.len() < text.len() && text.chars().count() > MAX_QUOTED_CHARS {
        kept.push_str("...");
    }
    kept
}
