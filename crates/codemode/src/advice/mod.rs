//! Advice before dispatch: what a program will trip over, found in its text against the tools' schemas.
//!
//! Pure, bounded, and silent when unsure: whatever is said is true of the program and of the schema. It never
//! stops a program; the executor judges each call again when it is made.

mod fields;
mod schema;
mod servers;
#[cfg(test)]
mod tests;

use std::collections::HashSet;

use codecell_catalog::{Catalog, Entry, nearest};
use codecell_protocol::Warning;
use codecell_script::{Fields, Literal, Target, ToolCall, ToolCalls};
use serde_json::Value;

use schema::Schema;

/// The most warnings of one program.
const MAX_WARNINGS: usize = 8;
/// Findings after which nothing more is looked for; the same message counts again and again here.
const MAX_FINDINGS: usize = 256;
/// The most names that one warning lists.
const MAX_LISTED: usize = 8;
/// Steps of the budget that comparing one tool's name takes.
const NEAR_STEPS: usize = 16;
/// The longest name of the program's or the schema's that is repeated, in characters.
const MAX_NAME_CHARS: usize = 80;

/// What is wrong with a program's calls, in the order of its text. `text` is what the offsets count in.
#[must_use]
pub fn advise(calls: &ToolCalls, catalog: &Catalog, text: &str) -> Vec<Warning> {
    if calls.calls.is_empty() {
        return Vec::new();
    }
    let mut advice = Advice {
        calls,
        catalog,
        found: Vec::new(),
        told: HashSet::new(),
        budget: schema::Budget::default(),
    };
    for call in &calls.calls {
        if advice.found.len() >= MAX_FINDINGS {
            break;
        }
        advice.call(call);
    }
    fields::judge(&mut advice);
    let mut found = advice.found;
    found.sort_by_key(|finding| finding.offset);
    let mut said: Vec<String> = Vec::new();
    found.retain(|finding| {
        let news = said.len() < MAX_WARNINGS && !said.contains(&finding.message);
        if news {
            said.push(finding.message.clone());
        }
        news
    });
    let warning = |finding: Finding| {
        let (line, column) = codecell_script::position(text, finding.offset);
        Warning {
            kind: finding.kind.to_owned(),
            message: finding.message,
            line: Some(line),
            column: Some(column),
        }
    };
    found.into_iter().map(warning).collect()
}

/// One thing that is wrong.
struct Finding {
    kind: &'static str,
    message: String,
    offset: usize,
}

struct Advice<'a> {
    calls: &'a ToolCalls,
    catalog: &'a Catalog,
    found: Vec<Finding>,
    /// Names that are told of already: to look for near ones again would cost as much again.
    told: HashSet<&'a str>,
    budget: schema::Budget,
}

impl<'a> Advice<'a> {
    fn say(&mut self, kind: &'static str, offset: usize, message: String) {
        self.found.push(Finding {
            kind,
            message,
            offset,
        });
    }

    /// The tool that a call means.
    fn entry(&self, target: &Target) -> Option<&'a Entry> {
        match target {
            Target::Name(name) => self.catalog.by_safe_name(name).or_else(|| self.known(name)),
            Target::Id(id) | Target::RawId(id) => self.known(id),
            Target::Mcp(spelling) => self.catalog.by_mcp_spelling(spelling),
            Target::Api(_) => None,
        }
    }

    fn known(&self, id: &str) -> Option<&'a Entry> {
        self.catalog
            .knows(id)
            .then(|| self.catalog.resolve(id).ok())?
    }

    fn call(&mut self, call: &'a ToolCall) {
        if let Some(unawaited) = &call.unawaited {
            let spelled = spelled(&call.target);
            let message = format!(
                "{spelled} is called without `await`, and its promise {}; write `await {spelled}(...)`",
                unawaited.how
            );
            self.say("missing_await", unawaited.offset, message);
        }
        match (self.entry(&call.target), &call.target) {
            (Some(_), Target::Mcp(_)) if servers::is_no_object(call) => {
                self.no_object(call);
            }
            (Some(entry), _) => self.input(call, entry),
            (None, Target::Mcp(spelling)) => self.unknown_of_server(call, spelling),
            (None, Target::Api(name)) => self.api(call, name),
            (None, Target::Name(name) | Target::Id(name) | Target::RawId(name)) => {
                self.unknown(call, name);
            }
        }
    }

    /// A program that asks first, or catches the failure, knows that the tool may be missing.
    fn unknown(&mut self, call: &ToolCall, name: &'a str) {
        let is_probed = self.calls.probed.iter().any(|probed| probed == name);
        if call.caught || is_probed || !self.told.insert(name) {
            return;
        }
        // Near names cost a look at every tool; a hint without them is enough where that is much.
        let afford = self.catalog.knows(name) || self.budget.take(NEAR_STEPS * self.catalog.len());
        let message = match afford.then(|| self.catalog.resolve(name)) {
            Some(Ok(_)) => return,
            Some(Err(error)) => error.to_string(),
            None => format!(
                "unknown tool `{}`. Find tools with tools.search(\"keywords\").",
                cut(name)
            ),
        };
        self.say("unknown_tool", call.offset, message);
    }

    fn input(&mut self, call: &ToolCall, entry: &Entry) {
        let root = Schema::root(&entry.parameters);
        let spelled = spelled(&call.target);
        let none = Fields::default();
        match &call.input {
            None => self.object(&none, root, &spelled, call.offset),
            Some(Literal::Object(fields)) => self.object(fields, root, &spelled, call.offset),
            Some(Literal::Unknown) => {}
            Some(other) => {
                if !root.fits(other, &mut self.budget) {
                    let message = format!(
                        "{spelled} takes one object with its arguments, not {}",
                        schema::shown(other)
                    );
                    self.say("wrong_literal", call.offset, message);
                }
            }
        }
    }

    /// An object literal against the schema of its place; `place` is how the message names it.
    fn object(&mut self, given: &Fields, schema: Schema<'_>, place: &str, offset: usize) {
        let Some(object) = schema.object() else {
            return;
        };
        if !self.budget.take(given.fields.len() + 1) {
            return;
        }
        for name in object.required() {
            if !given.open && !given.fields.iter().any(|field| field.name == name) {
                let message = format!("{place} needs the argument `{}`", cut(name));
                self.say("missing_argument", offset, message);
            }
        }
        for field in &given.fields {
            match object.property(&field.name) {
                Some(property) => self.value(&field.value, property, place, field),
                None if object.is_closed() => {
                    let names: Vec<&str> = object.names().collect();
                    let message = format!(
                        "{place} has no argument `{}`{}",
                        cut(&field.name),
                        instead(&field.name, &names)
                    );
                    self.say("unknown_argument", field.offset, message);
                }
                None => {}
            }
        }
    }

    fn value(
        &mut self,
        value: &Literal,
        schema: Schema<'_>,
        place: &str,
        field: &codecell_script::Field,
    ) {
        let place = format!("{place}'s `{}`", cut(&field.name));
        if let (Literal::Object(inner), Some(_)) = (value, schema.object()) {
            return self.object(inner, schema, &place, field.offset);
        }
        if !schema.fits(value, &mut self.budget) {
            let message = format!(
                "{place} must be {}, not {}",
                schema.expectation(),
                schema::shown(value)
            );
            self.say("wrong_literal", field.offset, message);
        }
    }
}

/// How a program writes the call.
fn spelled(target: &Target) -> String {
    match target {
        Target::Name(name) => format!("tools.{}", cut(name)),
        Target::Id(id) => format!("tools.call({})", Value::from(cut(id))),
        Target::RawId(id) => format!("tools.callRaw({})", Value::from(cut(id))),
        Target::Mcp(spelling) => format!("MCP.{}", cut(spelling)),
        Target::Api(name) => cut(name),
    }
}

/// What to write instead of a name: the nearest one, or those that there are.
fn instead(asked: &str, names: &[&str]) -> String {
    if let Some(near) = nearest(asked, names.iter().copied()) {
        return format!("; did you mean `{}`?", cut(near));
    }
    let listed: Vec<String> = names
        .iter()
        .take(MAX_LISTED)
        .map(|name| format!("`{}`", cut(name)))
        .collect();
    let more = if names.len() > MAX_LISTED {
        ", ..."
    } else {
        ""
    };
    match listed.as_slice() {
        [] => "; it takes none".to_owned(),
        listed => format!("; there are {}{more}", listed.join(", ")),
    }
}

fn cut(name: &str) -> String {
    name.chars()
        .filter(|c| !c.is_control())
        .take(MAX_NAME_CHARS)
        .collect()
}
