//! What holds for every input: random names, texts, queries and schemas.

use std::collections::HashSet;

use codecell_catalog::{
    Catalog, Entry, IndexOptions, MAX_SIGNATURE_CHARS, ResolveError, Scope, SearchRequest, Source,
    ToolId, input_signature, is_identifier, output_signature,
};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::typescript::check_type;

fn source() -> impl Strategy<Value = Source> {
    prop_oneof![
        Just(Source::OpenClaw),
        Just(Source::Mcp),
        Just(Source::Client)
    ]
}

/// A few schemas; `signatures_are_whole_types` has the many.
fn parameters() -> impl Strategy<Value = Value> {
    prop::sample::select(vec![
        json!(null),
        json!({"type": "object", "properties": {"path": {"type": "string", "description": "a file"}}}),
        json!({"properties": {"": {"items": {"properties": {"deep 深": {"description": 5}}}}}}),
    ])
}

/// Names as they occur, and anything else.
fn name() -> impl Strategy<Value = String> {
    prop_oneof![
        "[a-zA-Z_.-]{1,12}",
        "[a-c]{1,2}[-_ ][a-c]{1,2}",
        "then|toJSON|search|call|constructor|__proto__|delete|class",
        "\\PC{1,10}",
        any::<String>(),
    ]
}

fn entry() -> impl Strategy<Value = Option<Entry>> {
    (
        source(),
        "core|[a-c]{1,2}|\\PC{1,6}",
        name(),
        any::<String>(),
        parameters(),
    )
        .prop_map(|(source, owner, name, text, parameters)| {
            let id = ToolId::new(source, &owner, &name).ok()?;
            Some(Entry::new(id, text, parameters))
        })
}

fn entries() -> impl Strategy<Value = Vec<Entry>> {
    prop::collection::vec(entry(), 0..24)
        .prop_map(|entries| entries.into_iter().flatten().collect())
}

/// Schemas with every keyword, right and wrong, at random.
fn schema() -> impl Strategy<Value = Value> {
    let word = prop_oneof!["[a-z]{1,6}", "\\PC{0,6}", any::<String>()];
    let types = prop::sample::select(vec!["string", "number", "object", "array", "null", "odd"]);
    let leaf = prop_oneof![
        any::<bool>().prop_map(Value::Bool),
        types.prop_map(|name| json!({"type": name})),
        prop::collection::vec(word.clone(), 0..30).prop_map(|words| json!({"enum": words})),
        any::<f64>().prop_map(|number| json!({"enum": [number, -1, null, true]})),
        word.clone().prop_map(|word| json!({"const": word})),
        Just(json!({"$ref": "#"})),
        Just(json!({"$ref": "#/properties/a"})),
        any::<i64>().prop_map(|number| json!({"type": number})),
    ];
    leaf.prop_recursive(5, 64, 6, move |inner| {
        let list = prop::collection::vec(inner.clone(), 0..6);
        let fields = prop::collection::vec((prop_oneof![Just("a".to_owned()), word.clone()], inner.clone()), 0..6);
        prop_oneof![
            (fields.clone(), inner.clone()).prop_map(|(fields, more)| {
                let names: Vec<String> = fields.iter().map(|(name, _)| name.clone()).take(2).collect();
                let properties: serde_json::Map<_, _> = fields.into_iter().collect();
                json!({"type": "object", "properties": properties, "required": names, "additionalProperties": more})
            }),
            fields.prop_map(|fields| {
                json!({"properties": fields.into_iter().collect::<serde_json::Map<_, _>>()})
            }),
            inner.clone().prop_map(|items| json!({"type": "array", "items": items})),
            (list.clone(), inner.clone())
                .prop_map(|(first, rest)| json!({"type": "array", "prefixItems": first, "items": rest})),
            list.clone().prop_map(|members| json!({"anyOf": members, "nullable": true})),
            list.clone().prop_map(|members| json!({"oneOf": members})),
            list.prop_map(|members| json!({"allOf": members})),
        ]
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 192, ..ProptestConfig::default() })]

    #[test]
    fn signatures_are_whole_types(schema in schema()) {
        for text in [input_signature(&schema), output_signature(Some(&schema))] {
            prop_assert_eq!(check_type(&text), Ok(()));
            prop_assert!(text.chars().count() <= MAX_SIGNATURE_CHARS);
            prop_assert!(!text.contains('`'));
        }
    }

    #[test]
    fn every_set_of_entries_builds_or_says_why(entries in entries()) {
        let ids: HashSet<ToolId> = entries.iter().map(|entry| entry.id.clone()).collect();
        let unique = ids.len() == entries.len();
        match Catalog::build(entries) {
            Err(_) => prop_assert!(!unique),
            Ok(catalog) => {
                prop_assert!(unique);
                let names: HashSet<&str> = catalog.safe_names().map(|(name, _)| name).collect();
                prop_assert_eq!(names.len(), catalog.safe_names().count());
                for (name, entry) in catalog.safe_names() {
                    prop_assert!(is_identifier(name));
                    prop_assert_ne!(entry.source(), Source::Mcp);
                    prop_assert!(!["search", "describe", "call", "callRaw", "then"].contains(&name));
                    prop_assert_eq!(&catalog.by_safe_name(name).unwrap().id, &entry.id);
                }
                for entry in catalog.entries() {
                    prop_assert_eq!(&catalog.resolve_in(entry.id.as_str(), Scope::All).unwrap().id, &entry.id);
                    let spelling = catalog.mcp_spelling(entry);
                    prop_assert_eq!(spelling.is_some(), entry.source() == Source::Mcp);
                    prop_assert!(spelling.is_none_or(|s| s.split('.').all(is_identifier)));
                }
                let parsed: Vec<Value> = serde_json::from_str(catalog.all_tools_json()).unwrap();
                prop_assert_eq!(parsed.len(), catalog.all_tools().count());
            }
        }
    }

    #[test]
    fn search_and_resolve_take_anything(
        entries in entries(),
        queries in prop::collection::vec(prop_oneof![any::<String>(), name()], 0..20),
        limit in 0..60_usize,
        max_chars in 0..900_usize,
    ) {
        let Ok(catalog) = Catalog::build(entries) else { return Ok(()) };
        for scope in [Scope::NonMcp, Scope::Mcp, Scope::All] {
            let request = SearchRequest { queries: queries.clone(), limit, scope };
            let hits = catalog.search(&request);
            prop_assert!(hits.len() <= limit.min(50));
            prop_assert!(hits.iter().all(|hit| scope.admits(hit.entry.source())));
            let ids: HashSet<&ToolId> = hits.iter().map(|hit| &hit.entry.id).collect();
            prop_assert_eq!(ids.len(), hits.len());
            for query in &queries {
                match catalog.resolve_in(query, scope) {
                    Ok(entry) => prop_assert!(scope.admits(entry.source())),
                    Err(ResolveError::Unknown { near, .. }) => prop_assert!(near.len() <= 3),
                    Err(ResolveError::Mcp { .. }) => prop_assert_eq!(scope, Scope::NonMcp),
                    Err(ResolveError::Ambiguous { ids, .. }) => prop_assert!(ids.len() > 1),
                }
            }
        }
        let index = catalog.index_text(&IndexOptions { max_chars });
        prop_assert!(index.chars().count() <= max_chars);
    }
}
