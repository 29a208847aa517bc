//! Forms on the terminal: what an MCP server wants to know of the person there, field by field.
//!
//! The server's words are a stranger's: they come after ours and are marked. Nothing is told to the
//! server before a yes, and leaving in the middle tells it nothing either.

use codecell_tools::approval::{Choice, Field, FieldKind, FormAnswer, FormRequest};
use serde_json::{Map, Number, Value};

use crate::approve::{MAX_UNCLEAR_ANSWERS, Person};
use crate::escape::{visible, visible_line};

/// Has a person fill in a form.
pub(crate) fn at(person: &mut impl Person, request: &FormRequest) -> FormAnswer {
    person.forget_typed();
    if person.write(&heading(request)).is_err() {
        return FormAnswer::Unavailable;
    }
    match agrees(person) {
        Some(true) => {}
        Some(false) => return FormAnswer::Declined,
        None => return FormAnswer::Cancelled,
    }
    let mut filled = Map::new();
    for field in &request.form.fields {
        match answer(person, field) {
            Some(Given::Value(value)) => {
                filled.insert(field.name.clone(), value);
            }
            Some(Given::Nothing) => {}
            None => return FormAnswer::Cancelled,
        }
    }
    FormAnswer::Filled(filled)
}

fn heading(request: &FormRequest) -> String {
    let mut text = format!(
        "\n{} asks, for {}:\n",
        visible_line(&request.form.asker),
        visible_line(request.tool.as_str())
    );
    for line in visible(&request.form.message).lines() {
        text.push_str("  | ");
        text.push_str(line);
        text.push('\n');
    }
    text.push_str("What you answer goes to that server. Tell it no passwords and no keys.\n");
    text
}

fn agrees(person: &mut impl Person) -> Option<bool> {
    for _ in 0..MAX_UNCLEAR_ANSWERS {
        person.write("Answer it?  [y] yes  [n] no  > ").ok()?;
        match person.read_line()?.trim().to_ascii_lowercase().as_str() {
            "y" | "yes" => return Some(true),
            "" | "n" | "no" => return Some(false),
            _ => person
                .write("Please answer with one of the letters.\n")
                .ok()?,
        }
    }
    Some(false)
}

/// What was given for a field.
#[derive(Debug, PartialEq)]
enum Given {
    Value(Value),
    /// Its default, if it has one.
    Nothing,
}

/// Asks for one field until something fits; `None` when nobody answers any more, or only nonsense.
fn answer(person: &mut impl Person, field: &Field) -> Option<Given> {
    let prompt = prompt(field);
    for _ in 0..MAX_UNCLEAR_ANSWERS {
        person.write(&prompt).ok()?;
        let line = person.read_line()?;
        match read(field, line.trim()) {
            Some(given) => return Some(given),
            None => person
                .write(&format!("That does not fit: {}.\n", expected(field)))
                .ok()?,
        }
    }
    None
}

fn prompt(field: &Field) -> String {
    let mut text = visible_line(field.title.as_deref().unwrap_or(&field.name));
    if let Some(description) = &field.description {
        text.push_str(&format!(" ({})", visible_line(description)));
    }
    let of = match &field.kind {
        FieldKind::Choice(of) | FieldKind::Choices { of, .. } => of.as_slice(),
        _ => &[],
    };
    for (at, choice) in of.iter().enumerate() {
        text.push_str(&format!("\n  {} {}", at + 1, visible_line(&choice.title)));
    }
    if !of.is_empty() {
        text.push('\n');
    }
    let default = match &field.default {
        Some(Value::String(default)) => format!(", else {}", visible_line(default)),
        Some(default) => format!(", else {}", visible_line(&default.to_string())),
        None if field.is_required => String::new(),
        None => ", or nothing".to_owned(),
    };
    let gap = if of.is_empty() { " " } else { "" };
    format!("{text}{gap}[{}{default}] > ", expected(field))
}

fn expected(field: &Field) -> String {
    match &field.kind {
        FieldKind::Text {
            min_chars,
            max_chars,
            format,
        } => {
            let what = format.as_deref().map_or("text".to_owned(), visible_line);
            match (*min_chars, *max_chars) {
                (0 | 1, 10_000..) => what,
                (min, max) => format!("{what} of {min} to {max} characters"),
            }
        }
        FieldKind::Number { is_whole, min, max } => {
            let what = if *is_whole { "whole number" } else { "number" };
            let min = min.map_or(String::new(), |min| format!(" from {min}"));
            let max = max.map_or(String::new(), |max| format!(" up to {max}"));
            format!("{what}{min}{max}")
        }
        FieldKind::Flag => "y or n".to_owned(),
        FieldKind::Choice(of) => format!("1 to {}", of.len()),
        FieldKind::Choices { of, .. } => format!("some of 1 to {}, as 1,2", of.len()),
    }
}

/// What a line means; `None` when it does not fit.
fn read(field: &Field, line: &str) -> Option<Given> {
    if line.is_empty() {
        let may_be_left_out = field.default.is_some() || !field.is_required;
        return may_be_left_out.then_some(Given::Nothing);
    }
    let value = match &field.kind {
        FieldKind::Text { .. } => Value::from(line),
        FieldKind::Number { .. } => number(line)?,
        FieldKind::Flag => match line.to_ascii_lowercase().as_str() {
            "y" | "yes" | "true" => Value::Bool(true),
            "n" | "no" | "false" => Value::Bool(false),
            _ => return None,
        },
        FieldKind::Choice(of) => chosen(of, line)?,
        FieldKind::Choices { of, .. } => {
            let parts = line.split(',').map(|part| chosen(of, part.trim()));
            Value::Array(parts.collect::<Option<_>>()?)
        }
    };
    field.fits(&value).then_some(Given::Value(value))
}

fn number(line: &str) -> Option<Value> {
    if let Ok(whole) = line.parse::<i64>() {
        return Some(Value::from(whole));
    }
    Number::from_f64(line.parse().ok()?).map(Value::Number)
}

/// By its place, or in its own words.
fn chosen(of: &[Choice], line: &str) -> Option<Value> {
    let by_place = line.parse::<usize>().ok().and_then(|at| at.checked_sub(1));
    let named = || {
        of.iter()
            .find(|choice| choice.value == line || choice.title == line)
    };
    let choice = by_place.and_then(|at| of.get(at)).or_else(named)?;
    Some(Value::from(choice.value.as_str()))
}

#[cfg(test)]
mod tests {
    use std::io;

    use codecell_catalog::ToolId;
    use codecell_tools::approval::Form;
    use serde_json::json;

    use super::*;

    /// Types these lines, and keeps what was shown.
    struct Typist {
        lines: Vec<&'static str>,
        shown: String,
    }

    impl Person for Typist {
        fn forget_typed(&mut self) {}

        fn write(&mut self, text: &str) -> io::Result<()> {
            self.shown.push_str(text);
            Ok(())
        }

        fn read_line(&mut self) -> Option<String> {
            (!self.lines.is_empty()).then(|| {
                self.shown.push('\n');
                self.lines.remove(0).to_owned()
            })
        }
    }

    fn field(name: &str, kind: FieldKind, default: Option<Value>) -> Field {
        Field {
            name: name.to_owned(),
            title: None,
            description: None,
            is_required: default.is_none(),
            kind,
            default,
        }
    }

    fn request() -> FormRequest {
        let of = ["a", "b"].map(|value| Choice {
            value: value.to_owned(),
            title: format!("The {value}"),
        });
        let text = FieldKind::Text {
            min_chars: 2,
            max_chars: 5,
            format: None,
        };
        let number = FieldKind::Number {
            is_whole: true,
            min: Some(1.0),
            max: None,
        };
        let many = FieldKind::Choices {
            of: of.to_vec(),
            min_items: 1,
            max_items: 2,
        };
        let fields = vec![
            field("text\u{202e}", text, None),
            field("count", number, Some(json!(3))),
            field("flag", FieldKind::Flag, None),
            field("one", FieldKind::Choice(of.to_vec()), None),
            field("many", many, Some(json!(["a"]))),
        ];
        FormRequest {
            form: Form {
                asker: "the MCP server `s`".to_owned(),
                message: "Hi\u{1b}[2J\nAnswer it?".to_owned(),
                fields,
            },
            tool: ToolId::parse("mcp:s:t").unwrap(),
            run_id: "r".into(),
            cell_id: None,
            parent_call: None,
        }
    }

    fn typed(lines: &[&'static str]) -> (FormAnswer, String) {
        let mut typist = Typist {
            lines: lines.to_vec(),
            shown: String::new(),
        };
        (at(&mut typist, &request()), typist.shown)
    }

    #[test]
    fn fields_are_asked_one_by_one_until_they_fit() {
        let lines = ["y", "", "x", "text", "0", "7", "n", "3", "2", "1,The b"];
        let (answer, shown) = typed(&lines);
        let FormAnswer::Filled(filled) = answer else {
            panic!("{answer:?}");
        };
        assert_eq!(
            Value::Object(filled),
            json!({"text\u{202e}": "text", "count": 7, "flag": false, "one": "b", "many": ["a", "b"]})
        );
        insta::assert_snapshot!(shown);
    }

    #[test]
    fn nothing_is_told_before_a_yes_or_by_leaving() {
        assert_eq!(typed(&["n"]).0, FormAnswer::Declined);
        assert_eq!(typed(&[""]).0, FormAnswer::Declined);
        assert_eq!(typed(&["maybe"; 5]).0, FormAnswer::Declined);
        assert_eq!(typed(&[]).0, FormAnswer::Cancelled);
        assert_eq!(typed(&["y", "text"]).0, FormAnswer::Cancelled);
        assert_eq!(
            typed(&["y", "x", "x", "x", "x", "x"]).0,
            FormAnswer::Cancelled
        );
    }

    #[test]
    fn what_is_left_out_is_left_to_its_default() {
        let (answer, _) = typed(&["y", "text", "", "y", "a", ""]);
        let FormAnswer::Filled(filled) = answer else {
            panic!("{answer:?}");
        };
        assert_eq!(
            Value::Object(filled),
            json!({"text\u{202e}": "text", "flag": true, "one": "a"})
        );
    }
}
