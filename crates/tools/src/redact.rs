//! Takes secrets out of what is stored or logged.
//!
//! One function, applied where events leave the executor. It knows keys that name secrets, and the
//! values that the process has registered as secret.

use std::sync::{Arc, PoisonError, RwLock};

use serde_json::{Map, Value};

/// What stands where a secret was.
pub const REDACTED: &str = "[redacted]";

/// A shorter value would take ordinary words out of every text, in bytes.
const MIN_SECRET_BYTES: usize = 6;

/// Parts of keys, in lower case without separators, whose values are secret.
const SECRET_KEYS: &[&str] = &[
    "password",
    "passwd",
    "passphrase",
    "secret",
    "apikey",
    "accesskey",
    "privatekey",
    "credential",
    "authorization",
    "cookie",
    "bearer",
];

/// Whole keys, and ends of keys, whose values are secret; as parts they would take too much
/// (`tokenCount`, `maxTokens`).
const SECRET_KEY_ENDS: &[&str] = &["token", "auth", "pwd", "pin", "otp"];

/// Knows what is secret. Cheap to clone; clones share what is registered.
#[derive(Debug, Clone, Default)]
pub struct Redactor {
    /// Longest first, so that a secret that contains another goes as a whole.
    values: Arc<RwLock<Vec<String>>>,
}

impl Redactor {
    /// Registers a value that must not be stored or logged. Values of less than six bytes are too
    /// common to be found again and are ignored.
    pub fn register(&self, secret: &str) {
        if secret.len() < MIN_SECRET_BYTES {
            return;
        }
        let mut values = self.values.write().unwrap_or_else(PoisonError::into_inner);
        if !values.iter().any(|known| known == secret) {
            values.push(secret.to_owned());
            values.sort_by_key(|value| std::cmp::Reverse(value.len()));
        }
    }

    /// Registers the value of a setting if its name says that it is secret, as of a header or of a variable
    /// of the environment; of `Bearer TOKEN` the token alone, too.
    pub fn register_named(&self, name: &str, value: &str) {
        if !names_a_secret(name) {
            return;
        }
        self.register(value);
        if let Some((_, last)) = value.rsplit_once(' ') {
            self.register(last);
        }
    }

    /// Forgets a registered value, such as a token that ended long ago.
    pub fn forget(&self, secret: &str) {
        let mut values = self.values.write().unwrap_or_else(PoisonError::into_inner);
        values.retain(|known| known != secret);
    }

    /// A text without registered values.
    #[must_use]
    pub fn text(&self, text: &str) -> String {
        let values = self.values.read().unwrap_or_else(PoisonError::into_inner);
        let mut clean = text.to_owned();
        for secret in values.iter() {
            if clean.contains(secret.as_str()) {
                clean = clean.replace(secret.as_str(), REDACTED);
            }
        }
        clean
    }

    /// A value without registered values, and without the values of keys that name secrets.
    #[must_use]
    pub fn value(&self, value: &Value) -> Value {
        match value {
            Value::String(text) => Value::String(self.text(text)),
            Value::Array(items) => items.iter().map(|item| self.value(item)).collect(),
            Value::Object(fields) => Value::Object(self.fields(fields)),
            other => other.clone(),
        }
    }

    fn fields(&self, fields: &Map<String, Value>) -> Map<String, Value> {
        let clean = |(key, field): (&String, &Value)| {
            let field = if names_a_secret(key) && !field.is_null() {
                Value::from(REDACTED)
            } else {
                self.value(field)
            };
            (self.text(key), field)
        };
        fields.iter().map(clean).collect()
    }
}

fn names_a_secret(key: &str) -> bool {
    let plain: String = key
        .chars()
        .filter(|c| c.is_alphanumeric())
        .flat_map(char::to_lowercase)
        .collect();
    SECRET_KEYS.iter().any(|part| plain.contains(part))
        || SECRET_KEY_ENDS
            .iter()
            .any(|end| ends_with_word(key, &plain, end))
}

/// Whether a key's last word is `end`: `access_token`, `authToken`, `token`, but not `shopping`.
fn ends_with_word(key: &str, plain: &str, end: &str) -> bool {
    let Some(before) = plain.strip_suffix(end) else {
        return false;
    };
    if before.is_empty() {
        return true;
    }
    // The word begins with a capital or after a separator in the key as written.
    let letters = key.chars().filter(|c| c.is_alphanumeric());
    let first = letters.clone().nth(before.chars().count());
    let separated = key
        .char_indices()
        .rev()
        .nth(end.len())
        .is_some_and(|(_, c)| !c.is_alphanumeric());
    separated || first.is_some_and(char::is_uppercase)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::Redactor;

    #[test]
    fn settings_are_secret_by_their_names() {
        let redactor = Redactor::default();
        redactor.register_named("Authorization", "Bearer abcdefgh");
        redactor.register_named("GITHUB_TOKEN", "ghp_12345");
        redactor.register_named("LOG_LEVEL", "verbose");
        let clean = redactor.text("Bearer abcdefgh, abcdefgh, ghp_12345, Bearer, verbose");
        assert_eq!(clean, "[redacted], [redacted], [redacted], Bearer, verbose");
    }

    #[test]
    fn keys_and_registered_values_go_and_the_rest_stays() {
        let redactor = Redactor::default();
        redactor.register("sk-12345");
        redactor.register("sk-12345-long");
        redactor.register("abc");
        let clean = redactor.value(&json!({
            "path": "abc/notes.txt",
            "password": "x",
            "headers": {"Authorization": "Bearer y", "X-Api-Key": "z", "accept": "*/*"},
            "access_token": "t", "authToken": "t", "token": 7, "max_tokens": 7, "tokenCount": 7,
            "shopping": "bread", "user-pin": 1, "secret": null,
            "env": ["KEY=sk-12345-long", "sk-12345"],
            "sk-12345": true,
        }));
        assert_eq!(
            clean,
            json!({
                "path": "abc/notes.txt",
                "password": "[redacted]",
                "headers": {"Authorization": "[redacted]", "X-Api-Key": "[redacted]", "accept": "*/*"},
                "access_token": "[redacted]", "authToken": "[redacted]", "token": "[redacted]",
                "max_tokens": 7, "tokenCount": 7,
                "shopping": "bread", "user-pin": "[redacted]", "secret": null,
                "env": ["KEY=[redacted]", "[redacted]"],
                "[redacted]": true,
            })
        );
        redactor.forget("sk-12345");
        assert_eq!(
            redactor.text("sk-12345 sk-12345-long"),
            "sk-12345 [redacted]"
        );
    }
}
