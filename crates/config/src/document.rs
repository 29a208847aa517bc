//! From a file to one raw value: reading, JSON5, `$include` and `${VAR}`.
//!
//! Keys are not judged here. Every key of the result has the place from which it came, across
//! files. The invariant: nothing is read outside the folder of the first file (by the written path;
//! symbolic links are the reader's business), and no file twice within itself.

use std::collections::BTreeMap;
use std::io;
use std::path::{Component, Path, PathBuf};

use serde_json::{Map, Value};

use crate::error::{ConfigError, Origin};
use crate::outline::{self, Node, Shape};
use crate::path::KeyPath;

/// The largest file, in bytes.
pub const MAX_CONFIG_BYTES: usize = 2 * 1024 * 1024;

/// How deep objects and arrays of one file may nest, in levels.
pub const MAX_CONFIG_DEPTH: usize = 64;

/// How deep includes may nest, in files.
pub const MAX_INCLUDE_DEPTH: usize = 10;

/// How many files one configuration may include, each time counted.
const MAX_INCLUDES: usize = 256;

/// The key that includes other files.
const INCLUDE: &str = "$include";

/// What the crate reads from: the caller decides what a file and a variable are.
#[derive(Clone, Copy)]
pub struct Sources<'a> {
    /// Reads a text file.
    pub read_file: &'a dyn Fn(&Path) -> io::Result<String>,
    /// Reads an environment variable.
    pub env: &'a dyn Fn(&str) -> Option<String>,
}

/// A raw value with the places of its keys.
#[derive(Debug, Default)]
pub(crate) struct Raw {
    pub(crate) value: Value,
    pub(crate) origins: BTreeMap<KeyPath, Origin>,
}

impl Raw {
    /// The place of a key, or of the nearest thing around it.
    pub(crate) fn origin(&self, path: &KeyPath) -> Origin {
        origin_of(&self.origins, path)
    }
}

/// The place of a key, or of the nearest thing around it.
pub(crate) fn origin_of(origins: &BTreeMap<KeyPath, Origin>, path: &KeyPath) -> Origin {
    let segments = path.segments();
    let around = (0..=segments.len())
        .rev()
        .map(|n| KeyPath::from_segments(&segments[..n]));
    around
        .filter_map(|path| origins.get(&path))
        .next()
        .cloned()
        .unwrap_or(Origin::Default)
}

/// Reads a file and all that it includes.
pub(crate) fn read(path: &Path, sources: &Sources<'_>) -> Result<Raw, ConfigError> {
    let path = normal(path);
    let text = read_text(&path, sources)?;
    from_text(&path, &text, sources)
}

/// As [`read`], for a text that is at hand.
pub(crate) fn from_text(
    path: &Path,
    text: &str,
    sources: &Sources<'_>,
) -> Result<Raw, ConfigError> {
    let mut reader = Reader {
        sources,
        root: path.parent().map(normal).unwrap_or_default(),
        open: Vec::new(),
        included: 0,
    };
    reader.file(path, text)
}

/// A text's value and outline.
pub(crate) fn parse(path: &Path, text: &str) -> Result<(Value, Option<Node>), ConfigError> {
    if text.len() > MAX_CONFIG_BYTES {
        return Err(ConfigError::TooLarge {
            path: path.to_owned(),
            bytes: text.len(),
            max_bytes: MAX_CONFIG_BYTES,
        });
    }
    if let Some(at) = outline::first_too_deep(text, MAX_CONFIG_DEPTH) {
        let at = place(path, text, at);
        return Err(ConfigError::TooDeep {
            at,
            max_depth: MAX_CONFIG_DEPTH,
        });
    }
    let value = json5::from_str(text).map_err(|error| syntax_error(path, &error))?;
    Ok((value, outline::outline(text)))
}

fn syntax_error(path: &Path, error: &json5::Error) -> ConfigError {
    let (line, column) = error
        .position()
        .map_or((1, 1), |at| (at.line + 1, at.column + 1));
    let message = match error.code() {
        Some(code) => code.to_string(),
        None => error.to_string(),
    };
    ConfigError::Syntax {
        at: Origin::File {
            path: path.to_owned(),
            line,
            column,
        },
        message,
    }
}

/// The place of a byte of a file.
pub(crate) fn place(path: &Path, text: &str, at: usize) -> Origin {
    let (line, column) = outline::line_and_column(text, at);
    Origin::File {
        path: path.to_owned(),
        line,
        column,
    }
}

fn read_text(path: &Path, sources: &Sources<'_>) -> Result<String, ConfigError> {
    (sources.read_file)(path).map_err(|source| ConfigError::Read {
        path: path.to_owned(),
        source,
    })
}

struct Reader<'a> {
    sources: &'a Sources<'a>,
    /// The folder that includes may not leave.
    root: PathBuf,
    /// The files that are being read, outermost first.
    open: Vec<PathBuf>,
    /// How many files have been included.
    included: usize,
}

impl Reader<'_> {
    fn file(&mut self, path: &Path, text: &str) -> Result<Raw, ConfigError> {
        let (value, outline) = parse(path, text)?;
        let mut origins = BTreeMap::new();
        if let Some(outline) = &outline {
            let places = Places {
                path,
                text,
                line_starts: line_starts(text),
            };
            origins.insert(KeyPath::default(), places.origin(outline.span.start));
            places.collect(outline, &KeyPath::default(), &mut origins)?;
        }
        self.open.push(path.to_owned());
        let raw = self.resolve(value, &KeyPath::default(), &origins)?;
        self.open.pop();
        Ok(raw)
    }

    /// Replaces variables and includes in a value at `path` of its file.
    ///
    /// The result's places are relative to the value.
    fn resolve(
        &mut self,
        value: Value,
        path: &KeyPath,
        origins: &BTreeMap<KeyPath, Origin>,
    ) -> Result<Raw, ConfigError> {
        let here = origin_of(origins, path);
        let mut result = Raw::default();
        result.origins.insert(KeyPath::default(), here.clone());
        match value {
            Value::String(text) => {
                result.value = Value::String(self.with_variables(&text, path, &here)?);
            }
            Value::Array(items) => {
                let mut resolved = Vec::with_capacity(items.len());
                for (at, item) in items.into_iter().enumerate() {
                    let item = self.resolve(item, &path.index(at), origins)?;
                    adopt(
                        &mut result.origins,
                        &KeyPath::default().index(at),
                        item.origins,
                    );
                    resolved.push(item.value);
                }
                result.value = Value::Array(resolved);
            }
            Value::Object(mut fields) => {
                let include = fields.shift_remove(INCLUDE);
                let mut own = Raw {
                    value: Value::Object(Map::new()),
                    origins: result.origins,
                };
                for (name, field) in fields {
                    let field = self.resolve(field, &path.key(&name), origins)?;
                    adopt(
                        &mut own.origins,
                        &KeyPath::default().key(&name),
                        field.origins,
                    );
                    set_field(&mut own.value, name, field.value);
                }
                result = match include {
                    None => own,
                    Some(include) => self.include(&include, &path.key(INCLUDE), origins, own)?,
                };
            }
            other => result.value = other,
        }
        Ok(result)
    }

    /// The included files, merged in order, with the object's own keys on top.
    fn include(
        &mut self,
        include: &Value,
        path: &KeyPath,
        origins: &BTreeMap<KeyPath, Origin>,
        own: Raw,
    ) -> Result<Raw, ConfigError> {
        let at = origin_of(origins, path);
        let files: Vec<&str> = match include {
            Value::String(file) => vec![file],
            Value::Array(files) => files.iter().filter_map(Value::as_str).collect(),
            _ => Vec::new(),
        };
        let given = include.as_array().map_or(1, Vec::len);
        if files.is_empty() || files.len() != given {
            return Err(ConfigError::WrongType {
                at,
                key: path.clone(),
                expected: "a file name or a list of them".to_owned(),
                found: crate::check::found(include),
            });
        }
        let mut merged: Option<Raw> = None;
        for file in files {
            let raw = self.included(Path::new(file), &at)?;
            merged = Some(match merged {
                None => raw,
                Some(below) => merge(below, raw),
            });
        }
        let merged = merged.unwrap_or_default();
        let has_own = own
            .value
            .as_object()
            .is_some_and(|fields| !fields.is_empty());
        Ok(if has_own { merge(merged, own) } else { merged })
    }

    fn included(&mut self, file: &Path, at: &Origin) -> Result<Raw, ConfigError> {
        if self.open.len() > MAX_INCLUDE_DEPTH {
            return Err(ConfigError::IncludeTooDeep {
                at: at.clone(),
                max_depth: MAX_INCLUDE_DEPTH,
            });
        }
        let folder = self
            .open
            .last()
            .and_then(|path| path.parent())
            .unwrap_or(&self.root);
        let path = normal(&folder.join(file));
        if !path.starts_with(&self.root) || path.components().any(|c| c == Component::ParentDir) {
            return Err(ConfigError::IncludeOutside {
                at: at.clone(),
                path: file.to_owned(),
            });
        }
        if self.open.contains(&path) {
            return Err(ConfigError::IncludeCycle {
                at: at.clone(),
                path: file.to_owned(),
            });
        }
        self.included += 1;
        if self.included > MAX_INCLUDES {
            return Err(ConfigError::TooManyIncludes {
                at: at.clone(),
                max_files: MAX_INCLUDES,
            });
        }
        let text = read_text(&path, self.sources)?;
        self.file(&path, &text)
    }

    /// A text with each `${NAME}` replaced; `$${NAME}` stands for `${NAME}` itself.
    fn with_variables(
        &self,
        text: &str,
        key: &KeyPath,
        at: &Origin,
    ) -> Result<String, ConfigError> {
        let mut result = String::with_capacity(text.len());
        let mut rest = text;
        while let Some(dollar) = rest.find('$') {
            let (before, tail) = rest.split_at(dollar);
            result.push_str(before);
            let is_literal = tail.starts_with("$${");
            let reference = if is_literal { &tail[1..] } else { tail };
            let Some(name) = variable_name(reference) else {
                result.push('$');
                rest = &tail[1..];
                continue;
            };
            let end = name.len() + "${}".len();
            if is_literal {
                result.push_str(&reference[..end]);
            } else {
                let value = (self.sources.env)(name);
                result.push_str(&value.ok_or_else(|| ConfigError::MissingVariable {
                    at: at.clone(),
                    key: key.clone(),
                    name: name.to_owned(),
                })?);
            }
            rest = &reference[end..];
        }
        result.push_str(rest);
        Ok(result)
    }
}

/// The name in `${NAME}` at the start of a text: capitals, digits and underscores.
fn variable_name(text: &str) -> Option<&str> {
    let (name, _) = text.strip_prefix("${")?.split_once('}')?;
    let starts_well = name.starts_with(|c: char| c.is_ascii_uppercase() || c == '_');
    let word = |b: u8| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_';
    (starts_well && name.bytes().all(word)).then_some(name)
}

/// One value over another: objects key by key, everything else as a whole.
pub(crate) fn merge(below: Raw, above: Raw) -> Raw {
    let mut result = below;
    overlay(
        &mut result,
        &KeyPath::default(),
        above.value,
        &above.origins,
    );
    result
}

fn overlay(below: &mut Raw, path: &KeyPath, value: Value, origins: &BTreeMap<KeyPath, Origin>) {
    let is_object = crate::load::lookup(&below.value, path).is_some_and(Value::is_object);
    match value {
        Value::Object(fields) if is_object => {
            for (name, field) in fields {
                overlay(below, &path.key(&name), field, origins);
            }
        }
        value => {
            for known in under(&below.origins, path) {
                below.origins.remove(&known);
            }
            let inside = under(origins, path).into_iter();
            below.origins.extend(
                inside
                    .filter_map(|path| origins.get_key_value(&path))
                    .map(|(path, at)| (path.clone(), at.clone())),
            );
            put(&mut below.value, path, value);
        }
    }
}

/// The paths at or below a path; they stand together in the map's order.
fn under(origins: &BTreeMap<KeyPath, Origin>, path: &KeyPath) -> Vec<KeyPath> {
    let from = origins.range(path.clone()..).map(|(known, _)| known);
    from.take_while(|known| known.segments().starts_with(path.segments()))
        .cloned()
        .collect()
}

/// Puts a value at a path of keys, making objects on the way.
pub(crate) fn put(root: &mut Value, path: &KeyPath, value: Value) {
    let mut slot = root;
    for segment in path.segments() {
        let next = match segment {
            crate::path::Segment::Key(name) => {
                make_object(slot);
                slot.as_object_mut()
                    .map(|fields| fields.entry(name.clone()).or_insert(Value::Null))
            }
            crate::path::Segment::Index(at) => slot.get_mut(at),
        };
        let Some(next) = next else { return };
        slot = next;
    }
    *slot = value;
}

/// Makes an object of anything else; `true` or `false` stands for its `enabled`.
fn make_object(slot: &mut Value) {
    if slot.is_object() {
        return;
    }
    let mut fields = Map::new();
    if slot.is_boolean() {
        fields.insert("enabled".to_owned(), slot.take());
    }
    *slot = Value::Object(fields);
}

fn set_field(object: &mut Value, name: String, value: Value) {
    if let Some(fields) = object.as_object_mut() {
        fields.insert(name, value);
    }
}

/// Takes over the places of a part that stands at `prefix` of the whole.
fn adopt(into: &mut BTreeMap<KeyPath, Origin>, prefix: &KeyPath, from: BTreeMap<KeyPath, Origin>) {
    into.extend(from.into_iter().map(|(path, at)| (prefix.join(&path), at)));
}

/// A path without `.` and, where possible, without `..`.
pub(crate) fn normal(path: &Path) -> PathBuf {
    let mut result = PathBuf::new();
    for component in path.components() {
        match component {
            Component::CurDir => {}
            Component::ParentDir
                if matches!(result.components().next_back(), Some(Component::Normal(_))) =>
            {
                result.pop();
            }
            other => result.push(other),
        }
    }
    result
}

fn line_starts(text: &str) -> Vec<usize> {
    let after_newlines = text.match_indices('\n').map(|(at, _)| at + 1);
    std::iter::once(0).chain(after_newlines).collect()
}

struct Places<'a> {
    path: &'a Path,
    text: &'a str,
    line_starts: Vec<usize>,
}

impl Places<'_> {
    fn origin(&self, at: usize) -> Origin {
        let line = self.line_starts.partition_point(|&start| start <= at);
        let start = self
            .line_starts
            .get(line.saturating_sub(1))
            .copied()
            .unwrap_or(0);
        Origin::File {
            path: self.path.to_owned(),
            line,
            column: self.text[start..at].chars().count() + 1,
        }
    }

    /// Collects the places of all keys, and refuses a key that stands twice in one object.
    fn collect(
        &self,
        node: &Node,
        path: &KeyPath,
        origins: &mut BTreeMap<KeyPath, Origin>,
    ) -> Result<(), ConfigError> {
        match &node.shape {
            Shape::Scalar => {}
            Shape::Array(items) => {
                for (at, item) in items.iter().enumerate() {
                    let path = path.index(at);
                    origins.insert(path.clone(), self.origin(item.span.start));
                    self.collect(item, &path, origins)?;
                }
            }
            Shape::Object { members, .. } => {
                for member in members {
                    let path = path.key(&member.name);
                    let at = self.origin(member.key.start);
                    if origins.insert(path.clone(), at.clone()).is_some() {
                        return Err(ConfigError::DuplicateKey { at, key: path });
                    }
                    self.collect(&member.value, &path, origins)?;
                }
            }
        }
        Ok(())
    }
}
