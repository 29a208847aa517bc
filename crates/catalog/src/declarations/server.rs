//! The file of one server.

use std::collections::HashSet;
use std::fmt::Write as _;

use serde_json::Value;

use super::print::Printer;
use super::{SHARED, comment, shown_name, standing};
use crate::catalog::Catalog;
use crate::entry::Entry;
use crate::mcp::{McpSpace, Operation};
use crate::schema_type::{self, Caps, Document, Type};

/// How much of one schema is declared.
const CAPS: Caps = Caps {
    nodes: 8_192,
    members: 512,
    depth: 24,
    literals: 256,
    literal_bytes: 200,
    property_bytes: 500,
};

/// The most schema nodes of one server that are declared.
const MAX_SERVER_NODES: usize = 400_000;

/// The most bytes of one tool's declaration; beyond them its types are left out.
const MAX_TOOL_BYTES: usize = 512 << 10;

/// The size of a file beyond which types and long descriptions are left out, in bytes.
const MAX_FILE_BYTES: usize = 8 << 20;

/// The longest description of a server or tool, in characters.
const MAX_TEXT_CHARS: usize = 8_000;

/// The longest description of a parameter, in characters.
const MAX_PARAMETER_CHARS: usize = 1_000;

/// The longest default value that is shown, in bytes.
const MAX_DEFAULT_BYTES: usize = 120;

/// The longest description of a tool in a file that is too large, in characters.
const MAX_SHORT_CHARS: usize = 100;

const RESOURCES: &str = "  namespace resources {
    function list(input?: { cursor?: string }): Promise<{ resources: Array<{ uri: string; name: string; title?: string; description?: string; mimeType?: string; [key: string]: unknown }>; nextCursor?: string; [key: string]: unknown }>;
    /** Binary content is not in the result: it has `bytes` and a `ref` in its place. */
    function read(input: { uri: string }): Promise<{ contents: Array<{ uri: string; mimeType?: string; text?: string; bytes?: number; ref?: string; [key: string]: unknown }>; [key: string]: unknown }>;
  }
";

const PROMPTS: &str = "  namespace prompts {
    function list(input?: { cursor?: string }): Promise<{ prompts: Array<{ name: string; title?: string; description?: string; arguments?: Array<{ name: string; description?: string; required?: boolean }>; [key: string]: unknown }>; nextCursor?: string; [key: string]: unknown }>;
    function get(input: { name: string; arguments?: { [key: string]: string } }): Promise<{ description?: string; messages: Array<{ role: string; content: McpContent }>; [key: string]: unknown }>;
  }
";

const API: &str = "  /** This text for the server or one tool, as data; `schema: true` adds the raw JSON Schemas. */
  function $api(tool?: string, options?: { schema?: boolean }): Promise<{ kind: string; scope: string; server: string; header: string; tools: Array<{ method: string; path: string; mcpTool: string; operation: string; description: string }>; schemas?: { [method: string]: { inputSchema: unknown; outputSchema?: unknown } }; note: string }>;
";

/// The file, with the members that `is_wanted` admits.
pub(super) fn file(
    catalog: &Catalog,
    space: &McpSpace,
    is_wanted: impl Fn(&Entry) -> bool,
) -> String {
    let mut writer = Writer {
        catalog,
        text: head(catalog, space),
        types: HashSet::new(),
        nodes_left: MAX_SERVER_NODES,
    };
    let members = || catalog.members(space).filter(|entry| is_wanted(entry));
    for entry in members().filter(|entry| entry.operation == Operation::Tool) {
        writer.tool(entry);
    }
    let has =
        |operations: [Operation; 2]| members().any(|entry| operations.contains(&entry.operation));
    if has([Operation::ResourcesList, Operation::ResourcesRead]) {
        writer.text.push_str(RESOURCES);
    }
    if has([Operation::PromptsList, Operation::PromptsGet]) {
        writer.text.push_str(PROMPTS);
    }
    writer.text.push_str(API);
    writer.text.push_str("}\n");
    writer.text.push_str(SHARED);
    writer.text
}

fn head(catalog: &Catalog, space: &McpSpace) -> String {
    let mut text = String::from("/**\n");
    let title = format!("{}: {}.", shown_name(space), standing(catalog, space));
    let mut first = title.chars();
    let title: String = first
        .next()
        .map(|c| c.to_ascii_uppercase())
        .into_iter()
        .chain(first)
        .collect();
    let _ = writeln!(text, " * {title}");
    if let Some(description) = &space.server.description {
        comment::lines(description, " * ", MAX_TEXT_CHARS, &mut text);
    }
    let _ = write!(text, " */\ndeclare namespace MCP.{} {{\n", space.identifier);
    text
}

struct Writer<'c> {
    catalog: &'c Catalog,
    text: String,
    /// Names of types that this file has.
    types: HashSet<String>,
    nodes_left: usize,
}

impl Writer<'_> {
    fn tool(&mut self, entry: &Entry) {
        let spelling = self.catalog.mcp_spelling(entry).unwrap_or_default();
        let method = spelling.rsplit('.').next().unwrap_or_default();
        let start = self.text.len();
        self.declare(entry, method);
        let bytes = self.text.len() - start;
        if bytes > MAX_TOOL_BYTES || self.text.len() > MAX_FILE_BYTES {
            self.text.truncate(start);
            self.declare_shortly(entry, method);
        }
    }

    fn declare(&mut self, entry: &Entry, method: &str) {
        if self.nodes_left == 0 || self.text.len() > MAX_FILE_BYTES {
            return self.declare_shortly(entry, method);
        }
        let input = self.lower(&entry.parameters);
        let output = entry
            .output_schema
            .as_deref()
            .map(|schema| self.lower(schema));
        let input_names = self.name_types(method, "", &input);
        let output_names = output
            .as_ref()
            .map(|output| self.name_types(method, "Result", output));
        for (document, names) in [
            Some((&input, &input_names)),
            output.as_ref().zip(output_names.as_ref()),
        ]
        .into_iter()
        .flatten()
        {
            self.aliases(document, names);
        }
        self.comment(entry, method);
        let _ = write!(self.text, "  function {method}(");
        self.parameter(&input, &input_names, &entry.parameters);
        self.text.push_str("): Promise<McpToolResult");
        if let (Some(output), Some(names)) = (&output, &output_names) {
            self.text.push('<');
            self.print(&output.root, names, true);
            self.text.push('>');
        }
        self.text.push_str(">;\n");
    }

    /// A tool of which only the name is worth its room.
    fn declare_shortly(&mut self, entry: &Entry, method: &str) {
        let text = comment::line(&entry.description, MAX_SHORT_CHARS);
        let _ = writeln!(
            self.text,
            "  /** {text} (Its types are too large for this file: $api(\"{method}\", {{schema: true}}) has its schema.) */"
        );
        let _ = writeln!(
            self.text,
            "  function {method}(input?: {{ [key: string]: unknown }}): Promise<McpToolResult>;"
        );
    }

    fn lower<'v>(&mut self, schema: &'v Value) -> Document<'v> {
        let caps = Caps {
            nodes: CAPS.nodes.min(self.nodes_left),
            ..CAPS
        };
        let document = schema_type::lower_named(schema, caps);
        self.nodes_left -= document.nodes;
        document
    }

    /// Names that no other type of the file has. All hold an underscore, as no global type does.
    fn name_types(&mut self, method: &str, infix: &str, document: &Document<'_>) -> Vec<String> {
        let mut names = Vec::with_capacity(document.named.len());
        for (target, _) in &document.named {
            let last = target.rsplit('/').next().unwrap_or_default();
            let own = match crate::names::identifier(last) {
                Some(own) => capitalised(&own.chars().take(60).collect::<String>()),
                None => "Itself".to_owned(),
            };
            let base = format!("{}{infix}_{own}", capitalised(method));
            let mut name = base.clone();
            let mut number = 2;
            while !self.types.insert(name.clone()) {
                name = format!("{base}_{number}");
                number += 1;
            }
            names.push(name);
        }
        names
    }

    fn aliases(&mut self, document: &Document<'_>, names: &[String]) {
        for ((_, ty), name) in document.named.iter().zip(names) {
            let _ = write!(self.text, "  type {name} = ");
            self.print(ty, names, true);
            self.text.push_str(";\n");
        }
    }

    fn print(&mut self, ty: &Type<'_>, names: &[String], docs_outside: bool) {
        let printer = Printer {
            names,
            docs_outside,
        };
        printer.write(ty, 2, &mut self.text);
    }

    /// The one parameter; it may be left out when nothing of it is required.
    fn parameter(&mut self, input: &Document<'_>, names: &[String], schema: &Value) {
        let requires = schema.get("required").and_then(Value::as_array);
        let is_needed = requires.is_some_and(|names| !names.is_empty()) || needs_any(&input.root);
        self.text
            .push_str(if is_needed { "input: " } else { "input?: " });
        match &input.root {
            Type::Object(object) if object.properties.is_empty() && object.left_out == 0 => {
                self.text.push_str("{}");
            }
            Type::Object(_) | Type::Record(_) | Type::Union(_) | Type::Intersection(_) => {
                // The comment has those of plain properties.
                let has_comment = schema.get("properties").is_some();
                self.print(&input.root, names, !has_comment);
            }
            // Whatever the schema says, arguments are an object.
            _ => self.text.push_str("{ [key: string]: unknown }"),
        }
    }

    fn comment(&mut self, entry: &Entry, method: &str) {
        self.text.push_str("  /**\n");
        if entry.name() != method {
            let name = comment::line(entry.name(), 200);
            let _ = writeln!(self.text, "   * [{name}]");
        }
        comment::lines(&entry.description, "   * ", MAX_TEXT_CHARS, &mut self.text);
        let properties = entry
            .parameters
            .get("properties")
            .and_then(Value::as_object);
        for (name, schema) in properties.into_iter().flatten().take(CAPS.members) {
            if name.len() <= CAPS.property_bytes {
                self.param(name, schema);
            }
        }
        self.text.push_str("   */\n");
    }

    fn param(&mut self, name: &str, schema: &Value) {
        let text = schema.get("description").and_then(Value::as_str);
        let text = comment::line(text.unwrap_or_default(), MAX_PARAMETER_CHARS);
        let default = schema.get("default").map(Value::to_string);
        let default = default.filter(|default| default.len() <= MAX_DEFAULT_BYTES);
        if text.is_empty() && default.is_none() {
            return;
        }
        let name = match crate::names::is_identifier(name) {
            true => format!("input.{name}"),
            false => format!(
                "input[{}]",
                comment::line(&Value::from(name).to_string(), 200)
            ),
        };
        let _ = write!(self.text, "   * @param {name}");
        if !text.is_empty() {
            let _ = write!(self.text, " - {text}");
        }
        if let Some(default) = default {
            let _ = write!(self.text, " (default {})", comment::line(&default, 200));
        }
        self.text.push('\n');
    }
}

fn needs_any(ty: &Type<'_>) -> bool {
    match ty {
        Type::Object(object) => object.properties.iter().any(|one| !one.is_optional),
        Type::Intersection(parts) => parts.iter().any(needs_any),
        Type::Union(members) => members.iter().all(needs_any),
        _ => false,
    }
}

fn capitalised(identifier: &str) -> String {
    let mut chars = identifier.chars();
    let first = chars.next().map(|c| c.to_ascii_uppercase());
    first.into_iter().chain(chars).collect()
}
