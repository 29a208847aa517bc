//! What a tool's owner wants to know of a person while a call runs: a few plain fields.
//!
//! Whoever puts the question together has bounded and sanitised it. An answer is checked here,
//! whoever gave it: only fields that were asked for, only values that fit, defaults for what was
//! left out.

use std::sync::Arc;

use codecell_catalog::ToolId;
use serde_json::{Map, Value};

/// A question with fields.
#[derive(Debug, Clone, PartialEq)]
pub struct Form {
    /// Who asks, as a person knows them: ``the MCP server `name` ``.
    pub asker: String,
    /// What for, in the asker's own words.
    pub message: String,
    /// What is to be filled in; none, if a yes is all that is wanted.
    pub fields: Vec<Field>,
}

/// One thing to fill in.
#[derive(Debug, Clone, PartialEq)]
pub struct Field {
    /// Its name in the answer.
    pub name: String,
    /// Its name for a person.
    pub title: Option<String>,
    /// What it is for.
    pub description: Option<String>,
    /// What fits.
    pub kind: FieldKind,
    /// What holds when it is left out. It fits.
    pub default: Option<Value>,
    /// Whether the answer must have it.
    pub is_required: bool,
}

/// What fits into a field.
#[derive(Debug, Clone, PartialEq)]
pub enum FieldKind {
    /// A text.
    Text {
        /// The fewest characters.
        min_chars: u64,
        /// The most characters.
        max_chars: u64,
        /// What it should look like, such as `email`: told, not checked.
        format: Option<String>,
    },
    /// A number.
    Number {
        /// Only whole numbers.
        is_whole: bool,
        /// The smallest.
        min: Option<f64>,
        /// The largest.
        max: Option<f64>,
    },
    /// Yes or no.
    Flag,
    /// One of these.
    Choice(Vec<Choice>),
    /// Some of these.
    Choices {
        /// What there is to choose from.
        of: Vec<Choice>,
        /// The fewest.
        min_items: usize,
        /// The most.
        max_items: usize,
    },
}

/// Something to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The value.
    pub value: String,
    /// What a person reads.
    pub title: String,
}

impl Form {
    /// The answer as it is given to the asker: every field fits or is left out, defaults are filled
    /// in. `None` if something that must be there is not, or does not fit.
    #[must_use]
    pub fn filled(&self, mut given: Map<String, Value>) -> Option<Map<String, Value>> {
        let mut filled = Map::new();
        for field in &self.fields {
            let value = match given.remove(&field.name) {
                None | Some(Value::Null) => field.default.clone(),
                Some(value) => Some(value),
            };
            match value {
                Some(value) if field.fits(&value) => {
                    filled.insert(field.name.clone(), value);
                }
                None if !field.is_required => {}
                _ => return None,
            }
        }
        Some(filled)
    }
}

impl Field {
    /// Whether a value fits.
    #[must_use]
    pub fn fits(&self, value: &Value) -> bool {
        let is_of =
            |value: &Value, of: &[Choice]| of.iter().any(|choice| *value == choice.value.as_str());
        match (&self.kind, value) {
            (
                FieldKind::Text {
                    min_chars,
                    max_chars,
                    ..
                },
                Value::String(text),
            ) => {
                let chars = u64::try_from(text.chars().count()).unwrap_or(u64::MAX);
                (*min_chars..=*max_chars).contains(&chars)
            }
            (FieldKind::Number { is_whole, min, max }, Value::Number(number)) => {
                let number = number.as_f64().unwrap_or(f64::NAN);
                (number.fract() == 0.0 || !is_whole)
                    && min.is_none_or(|min| number >= min)
                    && max.is_none_or(|max| number <= max)
            }
            (FieldKind::Flag, Value::Bool(_)) => true,
            (FieldKind::Choice(of), value) => is_of(value, of),
            (
                FieldKind::Choices {
                    of,
                    min_items,
                    max_items,
                },
                Value::Array(chosen),
            ) => {
                (*min_items..=*max_items).contains(&chosen.len())
                    && chosen.iter().all(|value| is_of(value, of))
            }
            _ => false,
        }
    }
}

/// A form on its way to a person.
#[derive(Debug, Clone)]
pub struct FormRequest {
    /// What is asked.
    pub form: Form,
    /// The tool that was called.
    pub tool: ToolId,
    /// The run.
    pub run_id: Arc<str>,
    /// The cell, if a cell calls.
    pub cell_id: Option<Arc<str>>,
    /// The call of the model that this one is nested in.
    pub parent_call: Option<Arc<str>>,
}

/// What a person did with a form.
#[derive(Debug, Clone, PartialEq)]
pub enum FormAnswer {
    /// Filled it in.
    Filled(Map<String, Value>),
    /// Said no.
    Declined,
    /// Went away, or the call did.
    Cancelled,
    /// There is nobody to ask.
    Unavailable,
}

impl FormAnswer {
    /// A yes without fields.
    #[must_use]
    pub fn yes() -> Self {
        Self::Filled(Map::new())
    }
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    fn field(name: &str, kind: FieldKind, default: Option<Value>, is_required: bool) -> Field {
        Field {
            name: name.to_owned(),
            title: None,
            description: None,
            kind,
            default,
            is_required,
        }
    }

    fn form() -> Form {
        let of = ["red", "blue"].map(|value| Choice {
            value: value.to_owned(),
            title: value.to_uppercase(),
        });
        let text = FieldKind::Text {
            min_chars: 1,
            max_chars: 3,
            format: None,
        };
        let number = FieldKind::Number {
            is_whole: true,
            min: Some(0.0),
            max: None,
        };
        let many = FieldKind::Choices {
            of: of.to_vec(),
            min_items: 1,
            max_items: 2,
        };
        Form {
            asker: "somebody".to_owned(),
            message: "?".to_owned(),
            fields: vec![
                field("text", text, None, true),
                field("number", number, Some(json!(7)), false),
                field("flag", FieldKind::Flag, None, false),
                field(
                    "one",
                    FieldKind::Choice(of.to_vec()),
                    Some(json!("red")),
                    true,
                ),
                field("many", many, None, false),
            ],
        }
    }

    fn filled(given: Value) -> Option<Value> {
        let Value::Object(given) = given else {
            panic!("an object");
        };
        form().filled(given).map(Value::Object)
    }

    #[test]
    fn what_is_left_out_gets_its_default_and_what_was_not_asked_for_is_dropped() {
        assert_eq!(
            filled(json!({"text": "ab", "other": 1, "flag": null})),
            Some(json!({"text": "ab", "number": 7, "one": "red"}))
        );
        let whole = json!({"text": "äöü", "number": 0, "flag": false, "one": "blue", "many": ["red", "blue"]});
        assert_eq!(filled(whole.clone()), Some(whole));
    }

    #[test]
    fn what_does_not_fit_is_no_answer() {
        for wrong in [
            json!({}),
            json!({"text": ""}),
            json!({"text": "four"}),
            json!({"text": 1}),
            json!({"text": "a", "number": 1.5}),
            json!({"text": "a", "number": -1}),
            json!({"text": "a", "number": "1"}),
            json!({"text": "a", "flag": "yes"}),
            json!({"text": "a", "one": "green"}),
            json!({"text": "a", "many": []}),
            json!({"text": "a", "many": ["green"]}),
            json!({"text": "a", "many": "red"}),
            json!({"text": "a", "many": ["red", "red", "red"]}),
        ] {
            assert_eq!(filled(wrong.clone()), None, "{wrong}");
        }
    }
}
