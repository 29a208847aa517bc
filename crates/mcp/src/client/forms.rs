//! A server's question for a person: from its words to a form that may be shown, and the answer back.
//!
//! The words are a stranger's. They are cut, shown behind the server's name, and a form that would
//! have a person type a secret is never shown: the protocol forbids servers to ask for one so.

use codecell_tools::MidCallApprovals;
use codecell_tools::approval::{Choice, Field, FieldKind, Form, FormAnswer, escape_for_display};
use rmcp::model::{ElicitResult, ElicitationAction};
use serde_json::{Map, Value};

/// The longest message, in characters.
const MAX_MESSAGE_CHARS: usize = 2_000;

/// The most fields.
const MAX_FIELDS: usize = 32;

/// The most things to choose from in one field.
const MAX_CHOICES: usize = 256;

/// The longest name, title, description or value of a choice, in characters.
const MAX_WORDS_CHARS: usize = 300;

/// The longest text that is given to a server, in characters.
const MAX_TEXT_CHARS: u64 = 10_000;

/// What is not to be told to strangers: a word, or two words written as one.
const SECRETS: [&str; 14] = [
    "passwd",
    "passcode",
    "secret",
    "token",
    "accesskey",
    "privatekey",
    "credential",
    "creditcard",
    "cardnumber",
    "cvv",
    "pincode",
    "otp",
    "socialsecurity",
    "seedphrase",
];

/// The same, and within a longer word, too.
const SECRET_PARTS: [&str; 3] = ["password", "passphrase", "apikey"];

/// Has a person answer the `params` of an `elicitation/create`, if it may be shown to one.
pub(super) async fn ask(server: &str, params: &Value, person: &MidCallApprovals) -> FormAnswer {
    match form(server, params) {
        Ok(form) => person.fill(form).await,
        Err(reason) => {
            tracing::warn!(server, reason, "a question of an MCP server is declined");
            FormAnswer::Declined
        }
    }
}

/// Reads the `params` of an `elicitation/create`.
///
/// # Errors
/// Why it is not shown to anybody.
fn form(server: &str, params: &Value) -> Result<Form, String> {
    if params.get("mode").is_some_and(|mode| mode != "form") {
        return Err("it is no form".to_owned());
    }
    let message = words(params.get("message"), MAX_MESSAGE_CHARS).unwrap_or_default();
    let schema = params.get("requestedSchema").and_then(Value::as_object);
    let schema = schema.ok_or("it has no requestedSchema")?;
    let properties = schema.get("properties").and_then(Value::as_object);
    let required: Vec<&str> = array(schema, "required")
        .filter_map(Value::as_str)
        .collect();
    let properties: Vec<_> = properties.into_iter().flatten().collect();
    if properties.len() > MAX_FIELDS {
        return Err(format!("it has more than {MAX_FIELDS} fields"));
    }
    let fields = properties
        .into_iter()
        .map(|(name, schema)| field(name, schema, required.contains(&name.as_str())));
    let form = Form {
        asker: format!("the MCP server `{server}`"),
        message,
        fields: fields.collect::<Result<_, _>>()?,
    };
    match wants_a_secret(&form) {
        true => Err("it asks for a secret, which no form may".to_owned()),
        false => Ok(form),
    }
}

/// The result of an `elicitation/create`. Nobody to ask is a no.
pub(super) fn result(answer: FormAnswer) -> ElicitResult {
    let (action, content) = match answer {
        FormAnswer::Filled(content) => (ElicitationAction::Accept, Some(content)),
        FormAnswer::Declined | FormAnswer::Unavailable => (ElicitationAction::Decline, None),
        FormAnswer::Cancelled => (ElicitationAction::Cancel, None),
    };
    let mut result = ElicitResult::new(action);
    result.content = content.map(Value::Object);
    result
}

fn field(name: &str, schema: &Value, is_required: bool) -> Result<Field, String> {
    let Value::Object(schema) = schema else {
        return Err(format!("its field {name:?} has no schema"));
    };
    if !is_plain(name) {
        return Err("the name of a field is too long, or not readable".to_owned());
    }
    let kind = kind(schema).ok_or_else(|| format!("its field {name:?} is of no kind there is"))?;
    let mut field = Field {
        name: name.to_owned(),
        title: words(schema.get("title"), MAX_WORDS_CHARS),
        description: words(schema.get("description"), MAX_WORDS_CHARS),
        kind,
        default: None,
        is_required,
    };
    let default = schema.get("default").cloned();
    field.default = default.filter(|default| field.fits(default));
    Ok(field)
}

fn kind(schema: &Map<String, Value>) -> Option<FieldKind> {
    let number = |key: &str| schema.get(key).and_then(Value::as_f64);
    let count = |key: &str| schema.get(key).and_then(Value::as_u64);
    Some(match schema.get("type")?.as_str()? {
        "boolean" => FieldKind::Flag,
        kind @ ("number" | "integer") => FieldKind::Number {
            is_whole: kind == "integer",
            min: number("minimum"),
            max: number("maximum"),
        },
        "string" => match choices(schema)? {
            of if of.is_empty() => FieldKind::Text {
                min_chars: count("minLength").unwrap_or(0),
                max_chars: count("maxLength").map_or(MAX_TEXT_CHARS, |max| max.min(MAX_TEXT_CHARS)),
                format: words(schema.get("format"), MAX_WORDS_CHARS),
            },
            of => FieldKind::Choice(of),
        },
        "array" => {
            let of = choices(schema.get("items")?.as_object()?)?;
            let items = |key: &str| count(key).and_then(|count| usize::try_from(count).ok());
            FieldKind::Choices {
                min_items: items("minItems").unwrap_or(0),
                max_items: items("maxItems").map_or(of.len(), |max| max.min(of.len())),
                of: Some(of).filter(|of| !of.is_empty())?,
            }
        }
        _ => return None,
    })
}

/// What a schema gives to choose from, in each of the protocol's ways to write it; `None` for more
/// than anybody reads.
fn choices(schema: &Map<String, Value>) -> Option<Vec<Choice>> {
    let names: Vec<_> = array(schema, "enumNames").collect();
    let plain = array(schema, "enum").enumerate().map(|(at, value)| {
        let title = names.get(at).copied().unwrap_or(value);
        (value, Some(title))
    });
    let titled = array(schema, "oneOf").chain(array(schema, "anyOf"));
    let titled = titled.filter_map(|one| Some((one.get("const")?, one.get("title"))));
    let all: Vec<_> = plain.chain(titled).collect();
    if all.len() > MAX_CHOICES {
        return None;
    }
    let choices = all.into_iter().map(|(value, title)| {
        let value = value.as_str()?;
        is_plain(value).then(|| Choice {
            value: value.to_owned(),
            title: words(title, MAX_WORDS_CHARS).unwrap_or_else(|| value.to_owned()),
        })
    });
    choices.collect()
}

fn array<'a>(
    schema: &'a Map<String, Value>,
    key: &str,
) -> impl Iterator<Item = &'a Value> + use<'a> {
    schema
        .get(key)
        .and_then(Value::as_array)
        .into_iter()
        .flatten()
}

/// Whether what goes back to the server can be read by a person as it is.
fn is_plain(text: &str) -> bool {
    text.chars().count() <= MAX_WORDS_CHARS && escape_for_display(text) == text
}

fn words(value: Option<&Value>, max_chars: usize) -> Option<String> {
    let text = value?.as_str()?.trim();
    let mut cut: String = text.chars().take(max_chars).collect();
    if cut.len() < text.len() {
        cut.push('…');
    }
    (!cut.is_empty()).then_some(cut)
}

/// Whether a person would type something that servers are not to be told. Told by the words around a
/// free text; it errs on the side of not asking.
fn wants_a_secret(form: &Form) -> bool {
    let is_text = |field: &&Field| matches!(field.kind, FieldKind::Text { .. });
    let texts: Vec<_> = form.fields.iter().filter(is_text).collect();
    if texts.is_empty() {
        return false;
    }
    let of_fields = texts.into_iter().flat_map(|field| {
        let format = match &field.kind {
            FieldKind::Text { format, .. } => format.as_deref(),
            _ => None,
        };
        let own = [field.title.as_deref(), field.description.as_deref(), format];
        own.into_iter().flatten().chain([field.name.as_str()])
    });
    let mut all = of_fields.chain([form.message.as_str()]);
    all.any(speaks_of_a_secret)
}

fn speaks_of_a_secret(text: &str) -> bool {
    let words = split(text);
    let single = words.iter().cloned();
    let pairs = words.windows(2).map(|pair| pair.concat());
    single.chain(pairs).any(|word| {
        let word = word.strip_suffix('s').unwrap_or(&word);
        SECRETS.contains(&word) || SECRET_PARTS.iter().any(|part| word.contains(part))
    })
}

/// The words of a text, in lower case; `camelCase` is two.
fn split(text: &str) -> Vec<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in text.chars() {
        let begins = !c.is_alphanumeric() || (was_lower && c.is_uppercase());
        if begins && words.last().is_some_and(|word| !word.is_empty()) {
            words.push(String::new());
        }
        was_lower = c.is_lowercase();
        if let (true, Some(word)) = (c.is_alphanumeric(), words.last_mut()) {
            word.extend(c.to_lowercase());
        }
    }
    words
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn of(properties: Value) -> Result<Form, String> {
        form(
            "s",
            &json!({"message": "m", "requestedSchema": {"type": "object", "properties": properties}}),
        )
    }

    #[test]
    fn every_kind_of_field_is_read() {
        let form = of(json!({
            "text": {"type": "string", "title": "T", "maxLength": 5, "default": "abc", "format": "email"},
            "long default": {"type": "string", "maxLength": 2, "default": "abc"},
            "count": {"type": "integer", "minimum": 1, "default": 3},
            "flag": {"type": "boolean", "default": true},
            "plain": {"type": "string", "enum": ["a", "b"], "enumNames": ["A", "B"], "default": "b"},
            "titled": {"type": "string", "oneOf": [{"const": "x", "title": "X"}]},
            "many": {"type": "array", "items": {"type": "string", "enum": ["a", "b"]}, "default": ["a"]},
            "titled many": {"type": "array", "maxItems": 9, "items": {"anyOf": [{"const": "x", "title": "X"}]}},
        }))
        .expect("a form");
        let shown: Vec<_> = form
            .fields
            .iter()
            .map(|field| format!("{} {:?} {:?}", field.name, field.kind, field.default))
            .collect();
        insta::assert_snapshot!(shown.join("\n"));
    }

    #[test]
    fn what_is_no_form_is_not_shown() {
        assert!(
            form(
                "s",
                &json!({"mode": "url", "url": "https://x", "message": "m"})
            )
            .is_err()
        );
        assert!(form("s", &json!({"message": "m"})).is_err());
        let fields: Map<_, _> = (0..40)
            .map(|n| (n.to_string(), json!({"type": "boolean"})))
            .collect();
        for wrong in [
            json!({"a": {"type": "object"}}),
            json!({"a": true}),
            json!({"a\u{202e}b": {"type": "boolean"}}),
            json!({"a": {"type": "string", "enum": ["\u{1b}[2J"]}}),
            json!({"a": {"type": "array", "items": {"type": "string"}}}),
            json!({"a": {"type": "string", "enum": [1]}}),
            Value::Object(fields),
        ] {
            assert!(of(wrong.clone()).is_err(), "{wrong}");
        }
        // A yes without fields is a question, too.
        assert_eq!(of(json!({})).map(|form| form.fields.len()), Ok(0));
    }

    #[test]
    fn nobody_is_asked_for_a_secret() {
        let text = json!({"type": "string"});
        for name in [
            "mypassword",
            "API key",
            "apiKeys",
            "github_token",
            "Credit-Card",
            "x",
        ] {
            let title = if name == "x" { "Your pass phrase" } else { "" };
            let asked = of(json!({name: {"type": "string", "title": title}}));
            assert!(asked.is_err(), "{name}");
        }
        let message = json!({"message": "Your password, please", "requestedSchema": {"properties": {"a": text}}});
        assert!(form("s", &message).is_err());
        assert!(
            of(json!({"footprint": {"type": "string", "description": "if not possible: why"}}))
                .is_ok()
        );
        // What is no free text can be no secret.
        assert!(of(json!({"max_tokens": {"type": "integer"}})).is_ok());
        let reset =
            json!({"message": "Reset the password?", "requestedSchema": {"properties": {}}});
        assert!(form("s", &reset).is_ok());
    }

    #[test]
    fn words_are_cut() {
        let form = form(
            "s",
            &json!({"message": "m".repeat(9_000), "requestedSchema": {}}),
        )
        .expect("a form");
        assert_eq!(form.message.chars().count(), MAX_MESSAGE_CHARS + 1);
    }
}
