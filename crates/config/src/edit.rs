//! Setting one key in the text of a config file.
//!
//! It edits the text in place, so comments, order and layout of everything else stay. What is set
//! is written as JSON. The new text is checked against the table of keys before it is returned, for
//! the key that is set; whether the whole configuration loads is for the caller to see.

use std::path::Path;

use serde_json::Value;

use crate::check;
use crate::document::{self, Raw};
use crate::error::ConfigError;
use crate::load;
use crate::outline::{Node, Shape};
use crate::path::{KeyPath, Segment};

/// The text of a config file with one key set; an empty text is an empty configuration.
///
/// `file` names the file in errors. A key that comes from an included file is set in this text, on
/// top of it.
///
/// # Errors
/// When the text is not JSON5, the key is unknown, the value has the wrong type or is refused, or
/// something that is no object stands in the way.
pub fn set_in_text(
    file: &Path,
    text: &str,
    path: &KeyPath,
    value: &Value,
) -> Result<String, ConfigError> {
    let kind = load::known(path)?;
    check::check_part(&Raw::default(), kind, value, path)?;
    if path.is_empty() || text.trim().is_empty() {
        let nested = nested(path.segments(), value);
        return Ok(format!("{}\n", pretty(&nested, "")));
    }
    let (_, outline) = document::parse(file, text)?;
    let Some(root) = outline else {
        return Err(obstacle(file, text, 0, path));
    };
    let editor = Editor { file, text, path };
    editor.set(&root, 0, value)
}

/// The text without a key of an object, and everything else as it is; `None` when it has no such
/// key.
///
/// # Errors
/// When the text is no JSON5.
pub fn remove_from_text(
    file: &Path,
    text: &str,
    path: &KeyPath,
) -> Result<Option<String>, ConfigError> {
    let Some((Segment::Key(name), around)) = path.segments().split_last() else {
        return Ok(None);
    };
    let (_, outline) = document::parse(file, text)?;
    let mut node = outline.as_ref();
    for segment in around {
        node = match (node.map(|node| &node.shape), segment) {
            (Some(Shape::Object { members, .. }), Segment::Key(name)) => members
                .iter()
                .rfind(|member| member.name == *name)
                .map(|member| &member.value),
            (Some(Shape::Array(items)), Segment::Index(at)) => items.get(*at),
            _ => None,
        };
    }
    let Some(Shape::Object { members, .. }) = node.map(|node| &node.shape) else {
        return Ok(None);
    };
    let Some(at) = members.iter().position(|member| member.name == *name) else {
        return Ok(None);
    };
    let gone = &members[at];
    // With its comma, and the line it stands on if that is left empty.
    let after = &text[gone.value.span.end..];
    let blank = after.len() - after.trim_start().len();
    let comma = usize::from(after[blank..].starts_with(','));
    let end = gone.value.span.end + if comma == 1 { blank + 1 } else { 0 };
    let line_start = text[..gone.key.start]
        .rfind('\n')
        .map_or(0, |newline| newline + 1);
    let stands_first = text[line_start..gone.key.start].trim().is_empty();
    let rest = &text[end..];
    let line_end = rest.find('\n').map_or(rest.len(), |newline| newline + 1);
    let stands_last = rest[..line_end].trim().is_empty();
    let (start, end) = match stands_first && stands_last && line_start > 0 {
        true => (line_start, end + line_end),
        false => (gone.key.start, end),
    };
    Ok(Some(format!("{}{}", &text[..start], &text[end..])))
}

fn obstacle(file: &Path, text: &str, at: usize, path: &KeyPath) -> ConfigError {
    ConfigError::Edit {
        at: document::place(file, text, at),
        key: path.clone(),
        why: "what stands here is no object or list that has it; change this place by hand"
            .to_owned(),
    }
}

struct Editor<'a> {
    file: &'a Path,
    text: &'a str,
    path: &'a KeyPath,
}

impl Editor<'_> {
    /// Sets what is left of the path, from the step `done` on, inside a node.
    fn set(&self, node: &Node, done: usize, value: &Value) -> Result<String, ConfigError> {
        let rest = &self.path.segments()[done..];
        match (rest, &node.shape) {
            ([], _) => Ok(self.replaced(node, &pretty(value, self.indent_of(node.span.start)))),
            ([Segment::Index(at), ..], Shape::Array(items)) if *at < items.len() => {
                self.set(&items[*at], done + 1, value)
            }
            ([Segment::Key(name), tail @ ..], Shape::Object { members, .. }) => {
                match members.iter().rfind(|member| member.name == *name) {
                    Some(member) => self.set(&member.value, done + 1, value),
                    None => Ok(self.inserted(node, name, &nested(tail, value))),
                }
            }
            // `codeMode: true` stands for an object with `enabled`.
            (rest, Shape::Scalar) if self.is_code_mode(done) => {
                let is_on = self.text[node.span.clone()].trim() == "true";
                let mut object = serde_json::json!({ "enabled": is_on });
                document::put(&mut object, &KeyPath::from_segments(rest), value.clone());
                Ok(self.replaced(node, &pretty(&object, self.indent_of(node.span.start))))
            }
            _ => Err(obstacle(self.file, self.text, node.span.start, self.path)),
        }
    }

    fn is_code_mode(&self, done: usize) -> bool {
        let here = self.path.segments().get(done.wrapping_sub(1));
        matches!(here, Some(Segment::Key(name)) if name == "codeMode")
    }

    fn replaced(&self, node: &Node, with: &str) -> String {
        let (before, after) = (&self.text[..node.span.start], &self.text[node.span.end..]);
        format!("{before}{with}{after}")
    }

    /// The text with a new last member in an object.
    fn inserted(&self, object: &Node, name: &str, value: &Value) -> String {
        let Shape::Object {
            members,
            ends_with_comma,
        } = &object.shape
        else {
            return self.text.to_owned();
        };
        let close = object.span.end - 1;
        let on_one_line = !self.text[object.span.clone()].contains('\n');
        let last = members.last().map(|member| member.value.span.end);
        let comma = if last.is_some() && !ends_with_comma {
            ","
        } else {
            ""
        };
        // The comma goes right behind the last member, before any comment that follows it.
        let split = last.unwrap_or(object.span.start + 1);
        let (head, middle) = (&self.text[..split], &self.text[split..close]);
        let tail = &self.text[close..];
        let key = Value::String(name.to_owned());
        if on_one_line && !members.is_empty() {
            let value = compact(value);
            return format!("{head}{comma}{} {key}: {value} {tail}", middle.trim_end());
        }
        let outer = self.indent_of(object.span.start);
        let inner = match members.first() {
            Some(member) if !on_one_line => self.indent_of(member.key.start).to_owned(),
            _ => format!("{outer}  "),
        };
        let value = pretty(value, &inner);
        let middle = middle.trim_end();
        format!("{head}{comma}{middle}\n{inner}{key}: {value}\n{outer}{tail}")
    }

    /// What the line of a byte begins with.
    fn indent_of(&self, at: usize) -> &str {
        let line_start = self.text[..at].rfind('\n').map_or(0, |newline| newline + 1);
        let line = &self.text[line_start..at];
        &line[..line.len() - line.trim_start_matches([' ', '\t']).len()]
    }
}

/// A value inside the objects that a path needs.
fn nested(path: &[Segment], value: &Value) -> Value {
    path.iter()
        .rev()
        .fold(value.clone(), |inner, segment| match segment {
            Segment::Key(name) => Value::Object([(name.clone(), inner)].into_iter().collect()),
            Segment::Index(_) => Value::Array(vec![inner]),
        })
}

fn compact(value: &Value) -> String {
    value.to_string()
}

/// JSON on several lines, whose further lines are indented.
fn pretty(value: &Value, indent: &str) -> String {
    format!("{value:#}").replace('\n', &format!("\n{indent}"))
}
