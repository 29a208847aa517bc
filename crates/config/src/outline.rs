//! Where the keys and values of a JSON5 text stand.
//!
//! The JSON5 library gives values without places. This scanner gives places without values, for
//! error messages and for edits that keep comments. It runs over text that the library has
//! accepted, so it recognises structure only; on anything unexpected it ends early and places are
//! missing, which costs a line number, never a value.

use std::ops::Range;

/// A value with its place, in bytes.
#[derive(Debug)]
pub(crate) struct Node {
    pub(crate) span: Range<usize>,
    pub(crate) shape: Shape,
}

#[derive(Debug)]
pub(crate) enum Shape {
    Scalar,
    Array(Vec<Node>),
    Object {
        members: Vec<Member>,
        /// Whether a comma follows the last member.
        ends_with_comma: bool,
    },
}

/// A key with its value.
#[derive(Debug)]
pub(crate) struct Member {
    pub(crate) name: String,
    pub(crate) key: Range<usize>,
    pub(crate) value: Node,
}

/// The outline of a text, if it has the form of JSON5.
pub(crate) fn outline(text: &str) -> Option<Node> {
    let mut scanner = Scanner { text, at: 0 };
    scanner.value()
}

/// The byte at which brackets are nested deeper than `max_depth`, if they are.
pub(crate) fn first_too_deep(text: &str, max_depth: usize) -> Option<usize> {
    let mut scanner = Scanner { text, at: 0 };
    let mut depth = 0_usize;
    loop {
        scanner.skip_blank();
        match scanner.peek()? {
            '{' | '[' => {
                depth += 1;
                if depth > max_depth {
                    return Some(scanner.at);
                }
                scanner.bump();
            }
            '}' | ']' => {
                depth = depth.saturating_sub(1);
                scanner.bump();
            }
            '"' | '\'' => scanner.string(),
            _ => scanner.bump(),
        }
    }
}

/// Line and column of a byte, from one; columns count characters.
pub(crate) fn line_and_column(text: &str, at: usize) -> (usize, usize) {
    let before = &text[..text.floor_char_boundary(at)];
    let line = before.matches('\n').count() + 1;
    let line_start = before.rfind('\n').map_or(0, |newline| newline + 1);
    (line, before[line_start..].chars().count() + 1)
}

struct Scanner<'a> {
    text: &'a str,
    at: usize,
}

impl Scanner<'_> {
    fn value(&mut self) -> Option<Node> {
        self.skip_blank();
        let start = self.at;
        let shape = match self.peek()? {
            '{' => self.object()?,
            '[' => self.array()?,
            '"' | '\'' => {
                self.string();
                Shape::Scalar
            }
            _ => {
                self.bare_word();
                Shape::Scalar
            }
        };
        let span = start..self.at;
        (!span.is_empty()).then_some(Node { span, shape })
    }

    fn object(&mut self) -> Option<Shape> {
        self.bump();
        let mut members = Vec::new();
        let mut ends_with_comma = false;
        loop {
            self.skip_blank();
            if self.take('}') {
                return Some(Shape::Object {
                    members,
                    ends_with_comma,
                });
            }
            let start = self.at;
            match self.peek()? {
                '"' | '\'' => self.string(),
                _ => self.bare_word(),
            }
            let key = start..self.at;
            self.skip_blank();
            if key.is_empty() || !self.take(':') {
                return None;
            }
            let name = key_name(&self.text[key.clone()])?;
            members.push(Member {
                name,
                key,
                value: self.value()?,
            });
            self.skip_blank();
            ends_with_comma = self.take(',');
        }
    }

    fn array(&mut self) -> Option<Shape> {
        self.bump();
        let mut items = Vec::new();
        loop {
            self.skip_blank();
            if self.take(']') {
                return Some(Shape::Array(items));
            }
            items.push(self.value()?);
            self.skip_blank();
            self.take(',');
        }
    }

    /// From a quote to behind the one that ends it.
    fn string(&mut self) {
        let quote = self.peek();
        self.bump();
        while let Some(c) = self.peek() {
            self.bump();
            if c == '\\' {
                self.bump();
            } else if Some(c) == quote {
                return;
            }
        }
    }

    fn bare_word(&mut self) {
        while let Some(c) = self.peek() {
            if c.is_whitespace() || matches!(c, ',' | ':' | '{' | '}' | '[' | ']' | '/') {
                return;
            }
            self.bump();
        }
    }

    fn skip_blank(&mut self) {
        loop {
            let rest = &self.text[self.at..];
            let blank = rest.len() - rest.trim_start_matches(is_blank).len();
            let comment = match rest.get(blank..) {
                Some(rest) if rest.starts_with("//") => {
                    rest.find(is_line_end).unwrap_or(rest.len())
                }
                Some(rest) if rest.starts_with("/*") => {
                    rest.find("*/").map_or(rest.len(), |end| end + 2)
                }
                _ => 0,
            };
            self.at += blank + comment;
            if blank + comment == 0 {
                return;
            }
        }
    }

    fn peek(&self) -> Option<char> {
        self.text[self.at..].chars().next()
    }

    fn bump(&mut self) {
        self.at += self.peek().map_or(0, char::len_utf8);
    }

    fn take(&mut self, wanted: char) -> bool {
        let found = self.peek() == Some(wanted);
        if found {
            self.bump();
        }
        found
    }
}

fn is_blank(c: char) -> bool {
    c.is_whitespace() || c == '\u{feff}'
}

fn is_line_end(c: char) -> bool {
    matches!(c, '\n' | '\r' | '\u{2028}' | '\u{2029}')
}

/// The name that a key's text stands for.
fn key_name(key: &str) -> Option<String> {
    if !key.contains('\\') {
        return Some(key.trim_matches(['"', '\'']).to_owned());
    }
    let object: serde_json::Map<String, serde_json::Value> =
        json5::from_str(&format!("{{{key}:0}}")).ok()?;
    object.into_iter().next().map(|(name, _)| name)
}
