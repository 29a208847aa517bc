//! Paths of keys, as people write and read them: `agents.list[0].tools.codeMode.timeoutMs`.
//!
//! A key that is no plain word stands in brackets and quotes: `mcp.servers["my.server"]`.

use std::fmt;

use crate::error::ConfigError;

/// The longest path that is parsed, in bytes.
const MAX_PATH_BYTES: usize = 4_096;

/// One step of a path.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Segment {
    /// A key of an object.
    Key(String),
    /// A position in an array, from zero.
    Index(usize),
}

/// Where a value stands in the configuration; the empty path is the whole.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct KeyPath(Vec<Segment>);

impl KeyPath {
    /// Reads a path; the empty text is the whole configuration.
    ///
    /// # Errors
    /// [`ConfigError::BadPath`] for empty segments and brackets that do not close.
    pub fn parse(text: &str) -> Result<Self, ConfigError> {
        let bad = || ConfigError::BadPath {
            path: text.chars().take(200).collect(),
        };
        if text.len() > MAX_PATH_BYTES {
            return Err(bad());
        }
        let mut segments = Vec::new();
        let mut rest = text;
        while !rest.is_empty() {
            let (segment, tail) = match rest.strip_prefix('[') {
                Some(inside) => bracketed(inside).ok_or_else(bad)?,
                None => plain(rest).ok_or_else(bad)?,
            };
            segments.push(segment);
            rest = match tail.strip_prefix('.') {
                Some("") => return Err(bad()),
                Some(tail) => tail,
                None if tail.is_empty() || tail.starts_with('[') => tail,
                None => return Err(bad()),
            };
        }
        Ok(Self(segments))
    }

    /// The steps.
    pub fn segments(&self) -> &[Segment] {
        &self.0
    }

    /// Whether this is the path of the whole configuration.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// The path of a key under this one.
    pub fn key(&self, name: &str) -> Self {
        self.with(Segment::Key(name.to_owned()))
    }

    /// The path of an element under this one.
    pub fn index(&self, at: usize) -> Self {
        self.with(Segment::Index(at))
    }

    /// The last step's key, if it is one.
    pub(crate) fn last_key(&self) -> Option<&str> {
        match self.0.last() {
            Some(Segment::Key(name)) => Some(name),
            _ => None,
        }
    }

    /// This path, then the other.
    pub(crate) fn join(&self, other: &Self) -> Self {
        Self(self.0.iter().chain(&other.0).cloned().collect())
    }

    pub(crate) fn from_segments(segments: &[Segment]) -> Self {
        Self(segments.to_vec())
    }

    fn with(&self, segment: Segment) -> Self {
        let mut segments = self.0.clone();
        segments.push(segment);
        Self(segments)
    }
}

/// What stands before the next dot or bracket; a number alone is a position.
fn plain(text: &str) -> Option<(Segment, &str)> {
    let end = text.find(['.', '[']).unwrap_or(text.len());
    let (name, tail) = text.split_at(end);
    let segment = match name.parse::<usize>() {
        Ok(at) if name.bytes().all(|b| b.is_ascii_digit()) => Segment::Index(at),
        _ => Segment::Key(name.to_owned()),
    };
    (!name.is_empty()).then_some((segment, tail))
}

/// `0]` or `"name"]`, after the opening bracket.
fn bracketed(text: &str) -> Option<(Segment, &str)> {
    if !text.starts_with('"') {
        let (number, tail) = text.split_once(']')?;
        return Some((Segment::Index(number.parse().ok()?), tail));
    }
    let mut strings = serde_json::Deserializer::from_str(text).into_iter::<String>();
    let name = strings.next()?.ok()?;
    let tail = text.get(strings.byte_offset()..)?.strip_prefix(']')?;
    Some((Segment::Key(name), tail))
}

/// The plain form can be parsed; the alternate form is for sentences.
impl fmt::Display for KeyPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match (f.alternate(), self.is_empty()) {
            (false, _) => self.write(f),
            (true, true) => f.write_str("the configuration"),
            (true, false) => {
                f.write_str("`")?;
                self.write(f)?;
                f.write_str("`")
            }
        }
    }
}

impl KeyPath {
    fn write(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (at, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Index(index) => write!(f, "[{index}]")?,
                Segment::Key(name) if is_plain(name) => {
                    let dot = if at > 0 { "." } else { "" };
                    write!(f, "{dot}{name}")?;
                }
                Segment::Key(name) => write!(f, "[{}]", serde_json::json!(name))?,
            }
        }
        Ok(())
    }
}

fn is_plain(name: &str) -> bool {
    let word = |b: u8| b.is_ascii_alphanumeric() || matches!(b, b'_' | b'$' | b'-' | b'@' | b'*');
    !name.is_empty() && name.bytes().all(word) && !name.bytes().all(|b| b.is_ascii_digit())
}

impl serde::Serialize for KeyPath {
    fn serialize<S: serde::Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}
