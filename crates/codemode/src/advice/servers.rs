//! Calls through `MCP` and `API`: servers, members and files that are not there, and what is no object.

use codecell_catalog::{INDEX_PATH, McpLookupError, nearest};
use codecell_script::{Literal, ToolCall};

use super::{Advice, MAX_LISTED, NEAR_STEPS, cut, schema, spelled};

/// The members of `API`.
const API: [&str; 3] = ["list", "read", "search"];

/// Whether the one argument of a call is written out as something else than an object.
pub(super) fn is_no_object(call: &ToolCall) -> bool {
    !matches!(
        call.input,
        None | Some(Literal::Object(_) | Literal::Unknown)
    )
}

impl<'a> Advice<'a> {
    /// An MCP tool takes an object, whatever its schema says.
    pub(super) fn no_object(&mut self, call: &ToolCall) {
        let given = call.input.as_ref().map_or_else(String::new, schema::shown);
        let message = format!(
            "{} takes one object with its arguments, not {given}",
            spelled(&call.target)
        );
        self.say("wrong_literal", call.offset, message);
    }

    /// A server that is not there or cannot be reached, or has no such tool.
    pub(super) fn unknown_of_server(&mut self, call: &ToolCall, spelling: &'a str) {
        let names = format!("MCP.{spelling}");
        let is_asked_for = |probed: &String| {
            let rest = names.strip_prefix(probed.as_str());
            rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        if call.caught || self.calls.probed.iter().any(is_asked_for) {
            return;
        }
        if !self.told.insert(spelling) || !self.budget.take(NEAR_STEPS * self.near(spelling)) {
            return;
        }
        let error = self.catalog.explain_mcp(spelling);
        let kind = match error {
            McpLookupError::Unavailable { .. } => "unavailable_server",
            _ => "unknown_tool",
        };
        self.say(kind, call.offset, error.to_string());
    }

    /// How many names an unknown one is compared with.
    fn near(&self, spelling: &str) -> usize {
        let server = spelling.split('.').next().unwrap_or(spelling);
        let space = self.catalog.server(server);
        space.map_or(self.catalog.servers().len(), |space| {
            self.catalog.members(space).count()
        })
    }

    /// `API.<member>`, `MCP.$api` or `MCP.<server>.$api`.
    pub(super) fn api(&mut self, call: &ToolCall, name: &'a str) {
        let of_server = name
            .strip_prefix("MCP.")
            .and_then(|rest| rest.strip_suffix(".$api"));
        if let Some(server) = of_server {
            if self.catalog.server(server).is_none() {
                self.unknown_of_server(call, server);
            }
            return;
        }
        let member = name.strip_prefix("API.").unwrap_or("search");
        if !call.caught && !API.contains(&member) {
            let message = format!(
                "API has no `{}`; there are `list`, `read` and `search`",
                cut(member)
            );
            return self.say("unknown_tool", call.offset, message);
        }
        if let (false, "read", Some(Literal::Text(Some(path)))) = (call.caught, member, &call.input)
        {
            self.file(call, path);
        }
    }

    /// A file that is read by a path that is written out.
    fn file(&mut self, call: &ToolCall, path: &str) {
        let servers = self.catalog.servers();
        if !self.budget.take(servers.len() + 1) {
            return;
        }
        let mut paths = vec![INDEX_PATH.to_owned()];
        paths.extend(
            servers
                .iter()
                .map(|space| self.catalog.declaration_path(space)),
        );
        if paths.iter().any(|known| known == path) || !self.budget.take(NEAR_STEPS * paths.len()) {
            return;
        }
        let hint = match nearest(path, paths.iter().map(String::as_str)) {
            Some(near) => format!("did you mean {near:?}?"),
            None => {
                let listed: Vec<&str> = paths.iter().take(MAX_LISTED).map(String::as_str).collect();
                format!("there is {}", listed.join(", "))
            }
        };
        let message = format!("API has no file {:?}; {hint}", cut(path));
        self.say("wrong_literal", call.offset, message);
    }
}
