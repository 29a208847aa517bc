//! One walk over a raw value along the table of keys: it refuses, clamps and notes.
//!
//! After it every value has the type that its key says, so that making options of it cannot fail.

use serde_json::{Map, Value};

use crate::document::Raw;
use crate::error::ConfigError;
use crate::keys::{self, Clamp, Key, Kind};
use crate::options::Clamped;
use crate::path::KeyPath;

/// The longest text that an error repeats, in characters.
const MAX_SHOWN_CHARS: usize = 60;

/// The most known keys that an error lists.
const MAX_LISTED_KEYS: usize = 12;

/// What a walk notes besides refusing.
#[derive(Debug, Default)]
pub(crate) struct Notes {
    pub(crate) ignored: Vec<KeyPath>,
    pub(crate) clamped: Vec<Clamped>,
}

/// Checks a whole configuration.
pub(crate) fn check(raw: &Raw) -> Result<Notes, ConfigError> {
    check_part(raw, &keys::ROOT, &raw.value, &KeyPath::default())
}

/// Checks the value at one path of a configuration.
pub(crate) fn check_part(
    raw: &Raw,
    kind: &'static Kind,
    value: &Value,
    path: &KeyPath,
) -> Result<Notes, ConfigError> {
    let mut walk = Walk {
        raw,
        notes: Notes::default(),
    };
    walk.value(kind, value, path)?;
    Ok(walk.notes)
}

struct Walk<'a> {
    raw: &'a Raw,
    notes: Notes,
}

impl Walk<'_> {
    fn value(
        &mut self,
        kind: &'static Kind,
        value: &Value,
        path: &KeyPath,
    ) -> Result<(), ConfigError> {
        match (kind, value) {
            (Kind::Free, _)
            | (Kind::Flag(_) | Kind::FlagOr(_) | Kind::FlagOrObject(_), Value::Bool(_))
            | (Kind::Text, Value::String(_)) => Ok(()),
            (Kind::Ignored, _) => {
                self.notes.ignored.push(path.clone());
                Ok(())
            }
            (Kind::Restricting(advice), _) => Err(self.not_enforced(path, advice)),
            (Kind::OnlyOpen(open, advice), _) => match value.as_str() {
                Some(word) if open.contains(&word) => Ok(()),
                _ => Err(self.not_enforced(path, advice)),
            },
            (Kind::FlagOr(words), Value::String(word)) if words.contains(&word.as_str()) => Ok(()),
            (Kind::Choice(words, _), Value::String(word)) => self.word(words, word, path),
            (Kind::Choices(words), Value::Array(items)) if !items.is_empty() => {
                self.words(words, items, path)
            }
            (Kind::Integer(clamp), value) => self.number(*clamp, value, path),
            (Kind::Texts, Value::Array(items)) => self.texts(items, path),
            (Kind::Object(keys) | Kind::FlagOrObject(keys), Value::Object(fields)) => {
                self.object(keys, fields, path)
            }
            (Kind::Map(each), Value::Object(fields)) => fields
                .iter()
                .try_for_each(|(name, field)| self.value(each, field, &path.key(name))),
            (Kind::List(each), Value::Array(items)) => {
                let mut items = items.iter().enumerate();
                items.try_for_each(|(at, item)| self.value(each, item, &path.index(at)))
            }
            (Kind::Server, Value::Object(fields)) => self.server(fields, path),
            (kind, value) => Err(self.wrong_type(path, expected(kind), value)),
        }
    }

    fn object(
        &mut self,
        keys: &'static [Key],
        fields: &Map<String, Value>,
        path: &KeyPath,
    ) -> Result<(), ConfigError> {
        for (name, field) in fields {
            let path = path.key(name);
            let Some(key) = keys::find(keys, name) else {
                return Err(unknown_key(self.raw, path, keys));
            };
            self.value(&key.kind, field, &path)?;
        }
        if fields.contains_key("allow") && fields.contains_key("alsoAllow") {
            let other = path.key("alsoAllow");
            return Err(ConfigError::Conflict {
                at: self.raw.origin(&other),
                key: path.key("allow"),
                other,
                why: "`allow` is the whole list, `alsoAllow` adds to the profile".to_owned(),
            });
        }
        self.search_limits(fields, path);
        Ok(())
    }

    /// The one bound that depends on another key.
    fn search_limits(&mut self, fields: &Map<String, Value>, path: &KeyPath) {
        let number = |name: &str| fields.get(name).and_then(whole);
        let (Some(default), Some(max)) = (number("searchDefaultLimit"), number("maxSearchLimit"))
        else {
            return;
        };
        let max = max.clamp(1, 50);
        if default > max && default <= 50 {
            self.notes.clamped.push(Clamped {
                path: path.key("searchDefaultLimit"),
                given: default.to_string(),
                used: max,
                min: 1,
                max,
            });
        }
    }

    fn number(&mut self, clamp: Clamp, value: &Value, path: &KeyPath) -> Result<(), ConfigError> {
        let Some(used) = clamped(clamp, value) else {
            return Err(self.wrong_type(path, format!("a whole number ({})", clamp.unit), value));
        };
        if whole(value) != Some(used) {
            self.notes.clamped.push(Clamped {
                path: path.clone(),
                given: value.to_string(),
                used,
                min: clamp.min,
                max: clamp.max,
            });
        }
        Ok(())
    }

    fn word(
        &self,
        words: &'static [&'static str],
        word: &str,
        path: &KeyPath,
    ) -> Result<(), ConfigError> {
        if words.contains(&word) {
            return Ok(());
        }
        Err(ConfigError::UnknownValue {
            at: self.raw.origin(path),
            key: path.clone(),
            given: quoted(word),
            allowed: words.iter().map(|word| quoted(word)).collect(),
        })
    }

    fn words(
        &self,
        words: &'static [&'static str],
        items: &[Value],
        path: &KeyPath,
    ) -> Result<(), ConfigError> {
        let mut items = items.iter().enumerate();
        items.try_for_each(|(at, item)| match item {
            Value::String(word) => self.word(words, word, &path.index(at)),
            other => Err(self.wrong_type(&path.index(at), "a text".to_owned(), other)),
        })
    }

    fn texts(&self, items: &[Value], path: &KeyPath) -> Result<(), ConfigError> {
        match items.iter().position(|item| !item.is_string()) {
            None => Ok(()),
            Some(at) => Err(self.wrong_type(&path.index(at), "a text".to_owned(), &items[at])),
        }
    }

    /// A server is reached in one way, and no bound is set twice.
    fn server(&mut self, fields: &Map<String, Value>, path: &KeyPath) -> Result<(), ConfigError> {
        self.object(keys::SERVER, fields, path)?;
        if !fields.contains_key("command") && !fields.contains_key("url") {
            return Err(ConfigError::Missing {
                at: self.raw.origin(path),
                key: path.clone(),
                needs: "`command` (a program to start) or `url` (a server to reach)".to_owned(),
            });
        }
        let exclusive = [
            ("command", "url", "a server is started or reached, not both"),
            (
                "timeout",
                "requestTimeoutMs",
                "both are the time of one request",
            ),
            (
                "connectTimeout",
                "connectionTimeoutMs",
                "both are the time of starting and listing",
            ),
        ];
        let both = exclusive
            .iter()
            .find(|(one, other, _)| fields.contains_key(*one) && fields.contains_key(*other));
        if let Some((one, other, why)) = both {
            return Err(ConfigError::Conflict {
                at: self.raw.origin(&path.key(other)),
                key: path.key(one),
                other: path.key(other),
                why: (*why).to_owned(),
            });
        }
        self.server_transport(fields, path)
    }

    fn server_transport(
        &self,
        fields: &Map<String, Value>,
        path: &KeyPath,
    ) -> Result<(), ConfigError> {
        let transport = fields.get("transport").and_then(Value::as_str);
        let is_process = fields.contains_key("command");
        if transport.is_none_or(|transport| (transport == "stdio") == is_process) {
            return Ok(());
        }
        let (needed, why) = match is_process {
            true => ("command", "a program is spoken with over stdio"),
            false => ("url", "an address is spoken with over HTTP"),
        };
        let other = path.key("transport");
        Err(ConfigError::Conflict {
            at: self.raw.origin(&other),
            key: path.key(needed),
            other,
            why: why.to_owned(),
        })
    }

    fn not_enforced(&self, path: &KeyPath, advice: &str) -> ConfigError {
        ConfigError::NotEnforced {
            at: self.raw.origin(path),
            key: path.clone(),
            advice: advice.to_owned(),
        }
    }

    fn wrong_type(&self, path: &KeyPath, expected: String, value: &Value) -> ConfigError {
        ConfigError::WrongType {
            at: self.raw.origin(path),
            key: path.clone(),
            expected,
            found: found(value),
        }
    }
}

/// The value of a number that is whole and not negative.
pub(crate) fn whole(value: &Value) -> Option<u64> {
    match value.as_u64() {
        Some(number) => Some(number),
        // JSON5 writes 1e4 and 10000.0 for whole numbers too; up to 2^53 they are exact.
        None => value
            .as_f64()
            .filter(|number| {
                number.fract() == 0.0 && (0.0..=9_007_199_254_740_992.0).contains(number)
            })
            .map(|number| number as u64),
    }
}

/// The number that is used for a value; `None` when it is no whole number.
pub(crate) fn clamped(clamp: Clamp, value: &Value) -> Option<u64> {
    let number = value.as_f64().filter(|number| number.fract() == 0.0)?;
    Some(match whole(value) {
        Some(number) => number.clamp(clamp.min, clamp.max),
        None if number < 0.0 => clamp.min,
        None => clamp.max,
    })
}

/// A kind in words.
fn expected(kind: &Kind) -> String {
    match kind {
        Kind::Flag(_) => "true or false".to_owned(),
        Kind::FlagOr(words) => format!("true, false or {}", listed(words)),
        Kind::Integer(clamp) => format!("a whole number ({})", clamp.unit),
        Kind::Text => "a text".to_owned(),
        Kind::Choice(words, _) => listed(words),
        Kind::Choices(words) => format!("a list that names at least one of {}", listed(words)),
        Kind::Texts => "a list of texts".to_owned(),
        Kind::FlagOrObject(_) => "true, false or an object".to_owned(),
        Kind::List(_) => "a list".to_owned(),
        Kind::Object(_) | Kind::Map(_) | Kind::Server => "an object".to_owned(),
        Kind::Free | Kind::Ignored | Kind::Restricting(_) | Kind::OnlyOpen(..) => {
            "anything".to_owned()
        }
    }
}

fn listed(words: &[&str]) -> String {
    words
        .iter()
        .map(|word| quoted(word))
        .collect::<Vec<_>>()
        .join(" or ")
}

/// What stands there, in words; long texts are cut.
pub(crate) fn found(value: &Value) -> String {
    match value {
        Value::Null => "null".to_owned(),
        Value::Bool(flag) => flag.to_string(),
        Value::Number(number) => format!("the number {number}"),
        Value::String(text) => format!("the text {}", quoted(text)),
        Value::Array(items) if items.is_empty() => "an empty list".to_owned(),
        Value::Array(_) => "a list".to_owned(),
        Value::Object(_) => "an object".to_owned(),
    }
}

fn quoted(text: &str) -> String {
    let cut: String = text.chars().take(MAX_SHOWN_CHARS).collect();
    let mark = if cut.len() < text.len() { "…" } else { "" };
    format!("{}{mark}", Value::String(cut))
}

/// The error for a key that its object does not have.
pub(crate) fn unknown_key(raw: &Raw, path: KeyPath, keys: &'static [Key]) -> ConfigError {
    ConfigError::UnknownKey {
        at: raw.origin(&path),
        near: nearest(&path, keys),
        key: path,
    }
}

/// The key that was probably meant: one with a similar name here, else one with this name
/// elsewhere; without either, what there is.
fn nearest(path: &KeyPath, keys: &'static [Key]) -> Vec<String> {
    let name = path.last_key().unwrap_or_default().to_lowercase();
    let around = &path.segments()[..path.segments().len().saturating_sub(1)];
    let here = |key: &Key| vec![KeyPath::from_segments(around).key(key.name).to_string()];
    let distance = |key: &&Key| strsim::osa_distance(&name, &key.name.to_lowercase());
    let allowed = name.chars().count().div_ceil(4);
    if let Some(key) = keys
        .iter()
        .min_by_key(distance)
        .filter(|key| distance(key) <= allowed)
    {
        return here(key);
    }
    let mut elsewhere = Vec::new();
    find_elsewhere(&keys::ROOT, &KeyPath::default(), &name, &mut elsewhere);
    if let Some(first) = elsewhere.into_iter().next() {
        return vec![first];
    }
    let likeness = |key: &Key| strsim::jaro_winkler(&name, &key.name.to_lowercase());
    let by_likeness = |a: &&Key, b: &&Key| likeness(a).total_cmp(&likeness(b));
    if let Some(key) = keys
        .iter()
        .max_by(by_likeness)
        .filter(|key| likeness(key) > 0.8)
    {
        return here(key);
    }
    let used = keys.iter().filter(|key| !key.doc.is_empty());
    let mut names: Vec<String> = used.map(|key| format!("`{}`", key.name)).collect();
    if names.len() > MAX_LISTED_KEYS {
        let more = names.len() - MAX_LISTED_KEYS;
        names.truncate(MAX_LISTED_KEYS);
        names.push(format!("and {more} more"));
    }
    names
}

fn find_elsewhere(kind: &'static Kind, path: &KeyPath, name: &str, found: &mut Vec<String>) {
    for key in kind.keys().unwrap_or_default() {
        let path = path.key(key.name);
        if key.name.to_lowercase() == name && !key.doc.is_empty() {
            found.push(path.to_string());
        }
        find_elsewhere(&key.kind, &path, name, found);
    }
}
