//! One server's fields, from the words of other clients to ours.

use serde_json::{Map, Value, json};

use super::variables::Variables;
use crate::check::found;
use crate::keys;

/// The keys that hold a server's address.
pub(super) const ADDRESS_KEYS: [&str; 4] = ["url", "serverUrl", "httpUrl", "uri"];

/// Keys that mean nothing for how a server is reached.
const MEANINGLESS: [&str; 12] = [
    "$schema",
    "author",
    "category",
    "description",
    "dev",
    "displayName",
    "gallery",
    "icon",
    "metadata",
    "name",
    "source",
    "version",
];

/// Keys about what needs no asking. Approvals are ours to ask for.
const APPROVALS: [&str; 5] = [
    "alwaysAllow",
    "autoApprove",
    "trust",
    "autoApproved",
    "always_allow",
];

/// From here on a `timeout` without a unit is in milliseconds: clients differ.
const MILLISECONDS_FROM: f64 = 1_000.0;

/// A server being translated.
struct Server<'a> {
    fields: Map<String, Value>,
    variables: &'a Variables<'a>,
    result: Map<String, Value>,
    notes: Vec<String>,
}

/// The server in our keys, and what was not taken over.
///
/// # Errors
/// Why the server cannot be used.
pub(super) fn translate(
    value: &Value,
    variables: &Variables<'_>,
) -> Result<(Value, Vec<String>), String> {
    let Value::Object(fields) = value else {
        return Err(format!("it is {}, and a server is an object", found(value)));
    };
    let mut server = Server {
        fields: fields.clone(),
        variables,
        result: Map::new(),
        notes: Vec::new(),
    };
    match server.address()? {
        Some(url) => server.address_fields(url)?,
        None => server.command_fields()?,
    }
    server.common_fields()?;
    server.rest();
    Ok((Value::Object(server.result), server.notes))
}

impl Server<'_> {
    fn take(&mut self, name: &str) -> Option<Value> {
        self.fields
            .shift_remove(name)
            .filter(|value| !value.is_null())
    }

    fn put(&mut self, name: &str, value: Value) {
        self.result.insert(name.to_owned(), value);
    }

    fn note(&mut self, text: impl Into<String>) {
        self.notes.push(text.into());
    }

    /// A text with its variables worked in.
    fn text(&mut self, name: &str, value: &Value) -> Result<String, String> {
        let text = match value {
            Value::String(text) => text.clone(),
            Value::Number(number) => number.to_string(),
            Value::Bool(flag) => flag.to_string(),
            other => {
                return Err(format!(
                    "`{name}` must be a text, but it is {}",
                    found(other)
                ));
            }
        };
        let (text, notes) = self
            .variables
            .work_in(&text)
            .map_err(|reason| format!("`{name}` {reason}"))?;
        self.notes.extend(notes);
        Ok(text)
    }

    fn texts(&mut self, name: &str, value: Value) -> Result<Vec<String>, String> {
        match value {
            Value::Array(items) => items.iter().map(|item| self.text(name, item)).collect(),
            other => Err(format!(
                "`{name}` must be a list, but it is {}",
                found(&other)
            )),
        }
    }

    fn text_map(&mut self, name: &str, value: Value) -> Result<Value, String> {
        let Value::Object(fields) = value else {
            return Err(format!(
                "`{name}` must be an object, but it is {}",
                found(&value)
            ));
        };
        let mut texts = Map::new();
        for (key, value) in fields {
            if value.is_null() {
                continue;
            }
            let text = self.text(&format!("{name}.{key}"), &value)?;
            texts.insert(key, Value::String(text));
        }
        Ok(Value::Object(texts))
    }

    fn address(&mut self) -> Result<Option<String>, String> {
        let taken: Vec<_> = ADDRESS_KEYS
            .iter()
            .filter_map(|key| Some((*key, self.take(key)?)))
            .collect();
        let Some((key, value)) = taken.into_iter().next() else {
            return Ok(None);
        };
        if key == "httpUrl" {
            self.put("transport", json!("streamable-http"));
        }
        self.text(key, &value).map(Some)
    }

    fn address_fields(&mut self, url: String) -> Result<(), String> {
        self.put("url", Value::String(url));
        match self.kind() {
            None => {}
            Some(kind) => match kind.to_lowercase().as_str() {
                "http" | "streamable-http" | "streamablehttp" | "streamable_http" | "remote" => {
                    self.put("transport", json!("streamable-http"));
                }
                "sse" => self.put("transport", json!("sse")),
                other => return Err(unknown_kind(other)),
            },
        }
        let init = self.take("requestInit");
        let inner = init.and_then(|mut init| init.get_mut("headers").map(Value::take));
        let headers = ["headers", "http_headers", "httpHeaders"];
        let given = headers.iter().find_map(|key| self.take(key)).or(inner);
        if let Some(given) = given {
            let headers = self.text_map("headers", given)?;
            self.put("headers", headers);
        }
        match self.take("auth") {
            Some(Value::String(word)) if word == "oauth" => self.put("auth", json!("oauth")),
            Some(Value::Object(fields)) => self.oauth(fields)?,
            Some(_) => self.note("`auth` is not understood; put a token into headers"),
            None => {}
        }
        match self.take("oauth") {
            Some(Value::Object(fields)) => self.oauth(fields)?,
            Some(Value::Bool(true)) => self.put("auth", json!("oauth")),
            _ => {}
        }
        Ok(())
    }

    /// A client that is known to the authorization server, in the words of others.
    fn oauth(&mut self, mut fields: Map<String, Value>) -> Result<(), String> {
        if fields.shift_remove("enabled") == Some(json!(false)) {
            return Ok(());
        }
        let mut ours = Map::new();
        let names = [
            ("clientId", ["clientId", "client_id", "CLIENT_ID"]),
            (
                "clientSecret",
                ["clientSecret", "client_secret", "CLIENT_SECRET"],
            ),
            ("scope", ["scope", "scopes", "SCOPES"]),
        ];
        for (our, theirs) in names {
            let given = theirs.iter().find_map(|name| fields.shift_remove(*name));
            let text = match given {
                None | Some(Value::Null) => continue,
                Some(list @ Value::Array(_)) => self.texts(our, list)?.join(" "),
                Some(value) => self.text(our, &value)?,
            };
            ours.insert(our.to_owned(), Value::String(text));
        }
        if let Some(port) = fields.shift_remove("callbackPort") {
            ours.insert("callbackPort".to_owned(), port);
        }
        for name in fields.keys() {
            self.note(format!("`oauth.{name}` is not known and not taken over"));
        }
        self.put("auth", json!("oauth"));
        if !ours.is_empty() {
            self.put("oauth", Value::Object(ours));
        }
        Ok(())
    }

    fn command_fields(&mut self) -> Result<(), String> {
        let (command, mut args) = match self.take("command") {
            None => return Err("it has neither a command nor an address".to_owned()),
            Some(Value::Array(words)) => {
                let mut words = words.into_iter();
                let first = words.next().ok_or("`command` is an empty list")?;
                (first, Some(words.collect::<Vec<_>>()))
            }
            // One client has all of them inside.
            Some(Value::Object(inner)) => {
                let mut inner = inner;
                let path = inner
                    .shift_remove("path")
                    .ok_or("`command` has no `path`")?;
                for key in ["args", "env"] {
                    if let Some(value) = inner.shift_remove(key) {
                        self.fields.entry(key).or_insert(value);
                    }
                }
                (path, None)
            }
            Some(other) => (other, None),
        };
        let command = self.text("command", &command)?;
        for key in ["auth", "oauth"] {
            if self.take(key).is_some() {
                self.note(format!(
                    "`{key}` means nothing for a program that is started"
                ));
            }
        }
        if let Some(kind) = self.kind()
            && !["stdio", "local", "command"].contains(&kind.to_lowercase().as_str())
        {
            return Err(unknown_kind(&kind));
        }
        self.put("command", Value::String(command));
        match self.take("args") {
            None => {}
            Some(Value::Array(more)) => args.get_or_insert_default().extend(more),
            Some(other) => {
                return Err(format!(
                    "`args` must be a list, but it is {}",
                    found(&other)
                ));
            }
        }
        if let Some(args) = args {
            let args = self.texts("args", Value::Array(args))?;
            self.put("args", json!(args));
        }
        if let Some(env) = ["env", "environment"].iter().find_map(|key| self.take(key)) {
            let env = self.text_map("env", env)?;
            self.put("env", env);
        }
        if let Some(cwd) = self.take("cwd") {
            let cwd = self.text("cwd", &cwd)?;
            self.put("cwd", Value::String(cwd));
        }
        if let Some(file) = self.take("envFile") {
            let file = found(&file);
            self.note(format!(
                "`envFile` ({file}) is not read; name its variables in `env`"
            ));
        }
        Ok(())
    }

    /// `type` or `transport`, in the words of others.
    fn kind(&mut self) -> Option<String> {
        let given = [self.take("type"), self.take("transport")];
        given
            .into_iter()
            .flatten()
            .find_map(|value| value.as_str().map(str::to_owned))
    }

    fn common_fields(&mut self) -> Result<(), String> {
        if self.take("disabled") == Some(json!(true)) {
            self.put("enabled", json!(false));
        }
        if let Some(timeout) = self.take("timeout") {
            self.timeout(&timeout);
        }
        let mut filter = Map::new();
        let lists = [
            ("include", ["includeTools", "enabledTools", "tools"]),
            (
                "exclude",
                ["excludeTools", "disabledTools", "disallowedTools"],
            ),
        ];
        for (ours, theirs) in lists {
            let given = theirs.iter().find_map(|key| Some((*key, self.take(key)?)));
            if let Some((key, list)) = given {
                let names = self.texts(key, list)?;
                if names != ["*"] {
                    filter.insert(ours.to_owned(), json!(names));
                }
            }
        }
        if !filter.is_empty() {
            self.put("toolFilter", Value::Object(filter));
        }
        // Our own keys are our own words already.
        for key in keys::SERVER {
            if let Some(value) = self.take(key.name) {
                self.put(key.name, value);
            }
        }
        Ok(())
    }

    fn timeout(&mut self, given: &Value) {
        match given.as_f64() {
            Some(number) if number >= MILLISECONDS_FROM => {
                self.put("requestTimeoutMs", json!(number.round() as u64));
                self.note(format!("`timeout` {number} is taken as milliseconds"));
            }
            Some(number) if number > 0.0 => self.put("timeout", json!(number.ceil() as u64)),
            _ => self.note("`timeout` is no time and is not taken over"),
        }
    }

    fn rest(&mut self) {
        let left: Vec<String> = self.fields.keys().cloned().collect();
        for key in left {
            if MEANINGLESS.contains(&key.as_str()) {
                continue;
            }
            match APPROVALS.contains(&key.as_str()) {
                true => self.note(format!(
                    "`{key}` is not taken over: codecell asks before every tool of a server, unless --approve always"
                )),
                false => self.note(format!("`{key}` is not known and not taken over")),
            }
        }
    }
}

fn unknown_kind(kind: &str) -> String {
    let kind: String = kind.chars().take(40).collect();
    format!("its type `{kind}` is not spoken here; stdio, http and sse are")
}
