//! Building, naming and resolving.

use codecell_catalog::{
    Catalog, CatalogError, Entry, IdError, MAX_OWNER_BYTES, ResolveError, Scope, Source,
    SourceCounts, Tier, ToolId,
};
use codecell_protocol::EffectKind;
use serde_json::json;

use crate::support::{catalog, entry, real_tools, with_parameters};

#[test]
fn ids_have_one_reading() {
    let id = ToolId::parse("mcp:github:issues:list").unwrap();
    assert_eq!(
        (id.source(), id.owner(), id.name()),
        (Source::Mcp, "github", "issues:list")
    );
    assert_eq!(
        ToolId::new(Source::Mcp, "github", "issues:list").unwrap(),
        id
    );
    assert_eq!(ToolId::core("read").unwrap().as_str(), "openclaw:core:read");
    let json = serde_json::to_string(&id).unwrap();
    assert_eq!(json, "\"mcp:github:issues:list\"");
    assert_eq!(serde_json::from_str::<ToolId>(&json).unwrap(), id);
    assert!(serde_json::from_str::<ToolId>("\"read\"").is_err());
}

#[test]
fn what_is_no_id() {
    let long = format!("mcp:{}:x", "s".repeat(MAX_OWNER_BYTES + 1));
    let texts = [
        "",
        "read",
        "mcp:read",
        "npm:a:b",
        "mcp::b",
        "mcp:a:",
        "mcp:a:b\nc",
        "mcp:\u{0}:b",
        &long,
    ];
    let lines = texts.map(|text| ToolId::parse(text).unwrap_err().to_string());
    insta::assert_snapshot!(lines.join("\n"));
    let colon = ToolId::new(Source::Mcp, "a:b", "c").unwrap_err();
    assert_eq!(
        colon,
        IdError::Character {
            part: "owner",
            character: ':'
        }
    );
}

#[test]
fn entries_stand_in_the_order_of_their_tiers() {
    let mut bundled = entry("openclaw:memory:search_memory", "");
    bundled.tier = Tier::BundledPlugin;
    let built = Catalog::build(vec![
        entry("client:ide:open", ""),
        entry("mcp:z:one", ""),
        entry("openclaw:plug:b", ""),
        entry("mcp:a:two", ""),
        entry("openclaw:plug:a", ""),
        bundled,
        entry("openclaw:core:write", ""),
        entry("openclaw:core:read", ""),
    ])
    .unwrap();
    let ids: Vec<&str> = built
        .entries()
        .iter()
        .map(|entry| entry.id.as_str())
        .collect();
    insta::assert_snapshot!(ids.join("\n"), @r"
    openclaw:core:write
    openclaw:core:read
    openclaw:memory:search_memory
    openclaw:plug:b
    openclaw:plug:a
    mcp:z:one
    mcp:a:two
    client:ide:open
    ");
    assert_eq!(
        built.counts(),
        SourceCounts {
            openclaw: 5,
            mcp: 2,
            client: 1
        }
    );
    assert_eq!(built.all_tools().count(), 6);
}

#[test]
fn what_is_no_catalog() {
    let twice = Catalog::build(vec![entry("mcp:a:b", ""), entry("mcp:a:b", "")]);
    insta::assert_snapshot!(
        twice.unwrap_err(),
        @"two tools have the id `mcp:a:b`: rename one of them or disable its source"
    );
    let misplaced = |id: &str, tier: Tier| {
        let mut entry = entry(id, "");
        entry.tier = tier;
        matches!(
            Catalog::build(vec![entry]),
            Err(CatalogError::WrongSource { .. })
        )
    };
    assert!(misplaced("mcp:a:b", Tier::Core));
    assert!(misplaced("openclaw:plug:b", Tier::Core));
    assert!(misplaced("openclaw:core:b", Tier::BundledPlugin));
    assert!(!misplaced("openclaw:plug:b", Tier::BundledPlugin));
}

#[test]
fn an_untrusted_tool_never_reads_only() {
    let mut claims = entry("mcp:a:b", "");
    claims.effect = EffectKind::Read;
    let mut trusted = entry("mcp:a:c", "");
    (trusted.effect, trusted.trusted) = (EffectKind::Read, true);
    let built = Catalog::build(vec![claims, trusted]).unwrap();
    let effects: Vec<EffectKind> = built.entries().iter().map(|entry| entry.effect).collect();
    assert_eq!(effects, [EffectKind::Write, EffectKind::Read]);
}

#[test]
fn safe_names_are_identifiers_that_shadow_nothing() {
    let built = catalog(&[
        "openclaw:core:read",
        "openclaw:core:apply_patch",
        "openclaw:core:delete",
        "openclaw:core:web-fetch",
        "openclaw:core:2fa check",
        "openclaw:core:search",
        "openclaw:core:call-raw",
        "openclaw:core:then",
        "openclaw:core:to_JSON",
        "openclaw:core:toJSON",
        "openclaw:core:__proto__",
        "openclaw:core:constructor",
        "openclaw:core:天气",
        "openclaw:core:get-item",
        "openclaw:core:get.item",
        "openclaw:core:exec",
        "openclaw:plug:exec",
        "mcp:srv:unique",
        "client:ide:open file",
    ]);
    let lines = built.entries().iter().map(|entry| {
        format!(
            "{} => {}",
            entry.id,
            built.safe_name(entry).unwrap_or("none")
        )
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
    for (name, entry) in built.safe_names() {
        assert_eq!(
            built.by_safe_name(name).map(|found| &found.id),
            Some(&entry.id)
        );
    }
    assert!(built.by_safe_name("exec").is_none());
    assert!(built.by_safe_name("unique").is_none());
}

#[test]
fn mcp_names_are_numbered_where_they_clash() {
    let built = catalog(&[
        "mcp:git-hub:list_issues",
        "mcp:git-hub:list-issues",
        "mcp:git-hub:delete",
        "mcp:git-hub:resources",
        "mcp:git_hub:x",
        "mcp:天气:搜索",
        "mcp:天气:查询",
        "mcp:1password:2fa",
        "mcp:class:then",
    ]);
    let lines = built.entries().iter().map(|entry| {
        format!(
            "{} => {}",
            entry.id,
            built.mcp_spelling(entry).unwrap_or("none")
        )
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
}

#[test]
fn names_resolve_or_say_why_not() {
    let built = catalog(&[
        "openclaw:core:read",
        "openclaw:core:read_many",
        "openclaw:core:exec",
        "openclaw:plug:exec",
        "openclaw:plug:web-fetch",
        "openclaw:core:list",
        "mcp:github:list_issues",
        "mcp:gitlab:list_issues",
        "mcp:github:create_issue",
        "mcp:github:list",
    ]);
    let asked = [
        "openclaw:core:read",
        "read",
        "webFetch",
        "web-fetch",
        "list",
        "exec",
        "raed",
        "readMany",
        "openclaw:core:raed",
        "fetch_web",
        "list_issues",
        "mcp:github:create_issue",
        "createissue",
        "issue_list",
        "quux",
        "",
        "a\nb",
    ];
    let lines = asked.map(|asked| {
        let shown = |result: Result<&Entry, ResolveError>| match result {
            Ok(entry) => entry.id.to_string(),
            Err(error) => error.to_string(),
        };
        let tools = shown(built.resolve(asked));
        let all = shown(built.resolve_in(asked, Scope::All));
        format!("{asked:?}\n    tools: {tools}\n    all: {all}")
    });
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn compact_and_described_forms() {
    let mut tool = with_parameters(
        "openclaw:plug:find-it",
        "Finds it.",
        json!({"type": "object"}),
    );
    let built = Catalog::build(vec![tool.clone()]).unwrap();
    insta::assert_snapshot!(
        built.all_tools_json(),
        @r#"[{"id":"openclaw:plug:find-it","name":"find-it","description":"Finds it.","source":"openclaw","sourceName":"plug"}]"#
    );
    tool.label = Some("Find it".to_owned());
    tool.output_schema = Some(json!({"type": "string"}).into());
    let built = Catalog::build(vec![tool]).unwrap();
    insta::assert_snapshot!(
        serde_json::to_string(&built.describe(&built.entries()[0])).unwrap(),
        @r#"{"id":"openclaw:plug:find-it","name":"find-it","label":"Find it","description":"Finds it.","source":"openclaw","sourceName":"plug","parameters":{"type":"object"},"outputSchema":{"type":"string"}}"#
    );
}

#[test]
fn equal_tool_sets_have_equal_hashes() {
    let one = || with_parameters("mcp:a:one", "x", json!({"type": "object", "required": []}));
    let two = || entry("mcp:a:two", "y");
    let hash = |entries| Catalog::build(entries).unwrap().content_hash();
    let mut other_order = one();
    other_order.parameters = json!({"required": [], "type": "object"}).into();
    let mut other_text = one();
    other_text.description = "z".to_owned();
    let known = hash(vec![one(), two()]);
    assert_eq!(known, hash(vec![two(), one()]));
    assert_eq!(known, hash(vec![two(), other_order]));
    assert_ne!(known, hash(vec![two(), other_text]));
    assert_ne!(known, hash(vec![two()]));
    insta::assert_snapshot!(hash(vec![]), @"af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262");
}

#[test]
fn real_tools_build_and_resolve_to_themselves() {
    let tools = real_tools();
    let count = tools.len();
    let built = Catalog::build(tools).unwrap();
    assert_eq!(built.len(), count);
    let mut spellings = std::collections::HashSet::new();
    for entry in built.entries() {
        let found = built.resolve_in(entry.id.as_str(), Scope::All).unwrap();
        assert_eq!(found.id, entry.id);
        assert!(matches!(
            built.resolve(entry.id.as_str()),
            Err(ResolveError::Mcp { .. })
        ));
        assert!(spellings.insert(built.mcp_spelling(entry).unwrap()));
    }
}
