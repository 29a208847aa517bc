//! Declarations of real and made-up servers: they parse, and what they name can be called.

#![expect(clippy::unwrap_used, reason = "a test that cannot go on has failed")]

use std::fmt::Write as _;
use std::time::{Duration, Instant};

use codecell_catalog::{Catalog, Entry, McpServer, Operation, Source, ToolId, is_identifier};
use codecell_script::{Language, PrepareOptions, prepare};
use codecell_testkit::servers::{
    Servers, bombs, calling_program, check_types, generated, nasty, real,
};
use proptest::prelude::*;
use serde_json::{Value, json};

fn check_catalog(catalog: &Catalog) -> Result<(), String> {
    for file in catalog.declarations() {
        check_types(&file.content).map_err(|why| format!("{}: {why}", file.path))?;
        let words = [&file.path, &file.description];
        if words.iter().any(|text| text.contains(['\n', '\u{202e}'])) {
            return Err(format!("{file:?}"));
        }
    }
    for space in catalog.servers() {
        let path = catalog.declaration_path(space);
        let file = catalog.declarations().iter().find(|file| file.path == path);
        let content = &file.ok_or(format!("no {path}"))?.content;
        for entry in catalog.members(space) {
            let spelling = catalog.mcp_spelling(entry).unwrap_or_default();
            let own: Vec<&str> = spelling.split('.').collect();
            if !own.iter().all(|part| is_identifier(part)) {
                return Err(format!("{spelling} is no identifier"));
            }
            let name = own.last().copied().unwrap_or_default();
            let declared = content.matches(&format!("  function {name}(")).count();
            if declared == 0
                || (entry.operation == Operation::Tool
                    && declared != 1
                    && !["list", "read", "get"].contains(&name))
            {
                return Err(format!("{spelling} is declared {declared} times"));
            }
            check_types(&catalog.declaration_of(space, entry))?;
        }
    }
    Ok(())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn whatever_servers_say_their_declarations_parse(seed in any::<u64>()) {
        let catalog = generated(seed, 6).catalog().unwrap();
        prop_assert_eq!(check_catalog(&catalog), Ok(()));
    }
}

#[test]
fn every_nasty_text_is_harmless() {
    let catalog = nasty().unwrap().catalog().unwrap();
    assert_eq!(check_catalog(&catalog), Ok(()));
    assert!(catalog.len() > 40);
}

#[test]
fn the_parser_tells_broken_declarations() {
    assert_eq!(
        check_types("declare namespace A.b { function c(): void }"),
        Ok(())
    );
    assert!(check_types("declare namespace A.b { function c(: void }").is_err());
    assert!(check_types("/** */ } */ declare namespace A {}").is_err());
    assert!(check_types("const a = 1;").is_err());
}

#[test]
fn every_real_list_is_declared_named_and_found() {
    let Some(servers) = real("every_real_list_is_declared_named_and_found").unwrap() else {
        return;
    };
    let catalog = servers.catalog().unwrap();
    assert_eq!(check_catalog(&catalog), Ok(()));
    let tools = catalog.entries().iter();
    let tools: Vec<&Entry> = tools
        .filter(|entry| entry.operation == Operation::Tool)
        .collect();
    let mut found = 0;
    for entry in &tools {
        let request = codecell_catalog::SearchRequest {
            queries: vec![entry.name().to_owned()],
            limit: 10,
            scope: codecell_catalog::Scope::Mcp,
        };
        let hits = catalog.search(&request);
        found += usize::from(hits.iter().any(|hit| hit.entry.id == entry.id));
    }
    let files = catalog.declarations();
    let bytes: usize = files.iter().map(|file| file.content.len()).sum();
    let schemas: usize = tools
        .iter()
        .map(|entry| entry.parameters.to_string().len())
        .sum();
    let shortened = files
        .iter()
        .map(|file| file.content.matches("too large for this file").count());
    let mut counts = String::new();
    let _ = writeln!(
        counts,
        "real MCP servers: {} servers, {} tools, {} bytes of schemas",
        catalog.servers().len(),
        tools.len(),
        schemas
    );
    let _ = writeln!(
        counts,
        "declarations: {} files, {bytes} bytes, {} tools without types",
        files.len(),
        shortened.sum::<usize>()
    );
    let _ = writeln!(
        counts,
        "names: {} renamed, {found} of {} found by their own name",
        tools
            .iter()
            .filter(|entry| !catalog
                .mcp_spelling(entry)
                .unwrap()
                .ends_with(&format!(".{}", entry.name())))
            .count(),
        tools.len()
    );
    codecell_testkit::hostile::report::keep("declarations", counts.trim_end()).unwrap();
    assert!(
        catalog.servers().len() >= 22 && tools.len() >= 600,
        "{counts}"
    );
    assert_eq!(found, tools.len(), "{counts}");
    for file in files {
        assert!(
            !file.content.contains("too large for this file"),
            "{}",
            file.path
        );
    }
}

#[test]
fn the_calling_program_parses() {
    let catalog = generated(7, 20).catalog().unwrap();
    let options = PrepareOptions {
        language: Some(Language::TypeScript),
        max_source_bytes: usize::MAX,
        ..PrepareOptions::default()
    };
    prepare(&calling_program(&catalog), &options).unwrap();
}

/// A server with one tool of this schema.
fn server_of(schema: Value) -> Catalog {
    let id = ToolId::new(Source::Mcp, "bomb", "go").unwrap();
    Servers {
        entries: vec![Entry::new(id, "Goes.", schema)],
        servers: vec![McpServer::new("bomb")],
    }
    .catalog()
    .unwrap()
}

#[test]
fn schema_bombs_take_bounded_time_and_room() {
    for (name, schema) in bombs() {
        let catalog = server_of(schema);
        let begun = Instant::now();
        let bytes: usize = catalog
            .declarations()
            .iter()
            .map(|file| file.content.len())
            .sum();
        // Far above what it takes; what is wanted is that it ends.
        assert!(
            begun.elapsed() < Duration::from_secs(30),
            "{name}: {:?}",
            begun.elapsed()
        );
        assert!(bytes < 600 << 10, "{name}: {bytes} bytes");
        assert_eq!(check_catalog(&catalog), Ok(()), "{name}");
    }
}

#[test]
fn declarations_look_like_this() {
    let id = |name: &str| ToolId::new(Source::Mcp, "git-hub", name).unwrap();
    let issues = json!({
        "type": "object",
        "properties": {
            "owner": {"type": "string", "description": "Whose */ repository."},
            "state": {"enum": ["open", "closed", null], "default": "open"},
            "odd-name": {"type": ["integer", "null"], "description": "With a dash."},
            "filter": {"$ref": "#/$defs/Filter"},
            "range": {"type": "array", "prefixItems": [{"type": "number"}, {"type": "number"}], "minItems": 1, "items": false},
            "labels": {"type": "array", "items": {"type": "object", "properties": {"name": {"type": "string", "description": "Its name."}}, "required": ["name"]}},
            "extra": {"type": "object", "additionalProperties": {"type": "number"}},
            "mixed": {"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "number"}},
            "version": {"const": 2}
        },
        "required": ["owner", "filter"],
        "$defs": {"Filter": {"anyOf": [{"type": "string"}, {"type": "array", "items": {"$ref": "#/$defs/Filter"}}]}}
    });
    let mut list = Entry::new(id("list-issues"), "Lists issues.\n\nAll of them.", issues);
    list.output_schema = Some(json!({"type": "object", "properties": {"total": {"type": "integer"}}, "required": ["total"]}).into());
    let delete = Entry::new(
        id("delete"),
        "",
        json!({"type": "object", "properties": {}}),
    );
    let mut servers = Servers {
        entries: vec![list, delete],
        servers: vec![
            McpServer {
                description: Some("Issues and more.".into()),
                ..McpServer::new("git-hub")
            },
            McpServer {
                unavailable: Some("it does not start".into()),
                ..McpServer::new("down")
            },
        ],
    };
    for operation in Operation::OF_SERVER {
        servers
            .entries
            .push(codecell_testkit::servers::operation("git-hub", operation).unwrap());
    }
    let catalog = servers.catalog().unwrap();
    let mut text = String::new();
    for file in catalog.declarations() {
        let _ = write!(
            text,
            "// {} ({})\n{}\n",
            file.path, file.description, file.content
        );
    }
    insta::assert_snapshot!(text);
}
