//! Signatures of schemas as they occur, and of schemas made to hurt.

use std::time::{Duration, Instant};

use codecell_catalog::{MAX_SIGNATURE_CHARS, input_signature, output_signature};
use serde_json::{Value, json};

use crate::support::real_tools;
use crate::typescript::check_type;

fn assert_is_signature(text: &str) {
    assert_eq!(check_type(text), Ok(()));
    assert!(text.chars().count() <= MAX_SIGNATURE_CHARS, "{text}");
}

fn shown(schemas: &[Value]) -> String {
    let line = |schema: &Value| {
        let text = output_signature(Some(schema));
        assert_is_signature(&text);
        format!("{schema}\n    {text}\n")
    };
    schemas.iter().map(line).collect()
}

#[test]
fn every_keyword_has_its_type() {
    insta::assert_snapshot!(shown(&[
        json!({"type": "string"}),
        json!({"type": "integer", "minimum": 1}),
        json!({"type": ["string", "null"]}),
        json!({"type": "string", "nullable": true}),
        json!({"enum": ["a", "b", 3, true, null]}),
        json!({"const": "x"}),
        json!({"const": {"deep": 1}}),
        json!({"type": "array", "items": {"type": "string"}}),
        json!({"type": "array", "items": {"anyOf": [{"type": "string"}, {"type": "number"}]}}),
        json!({"type": "array"}),
        json!({"type": "array", "prefixItems": [{"type": "string"}, {"type": "number"}], "items": false}),
        json!({"type": "array", "items": [{"type": "string"}], "additionalItems": {"type": "object", "properties": {"a": true}}}),
        json!({"type": "object", "properties": {"path": {"type": "string"}, "limit": {"type": "number"}}, "required": ["path"]}),
        json!({"type": "object", "additionalProperties": {"type": "number"}}),
        json!({"type": "object", "additionalProperties": true}),
        json!({"type": "object", "additionalProperties": false}),
        json!({"type": "object", "properties": {"a": {"type": "string"}}, "additionalProperties": {"type": "number"}}),
        json!({"type": "object", "patternProperties": {"^x": {"type": "string"}}}),
        json!({"properties": {"a": {"type": "string"}}}),
        json!({"oneOf": [{"type": "string"}, {"type": "object", "properties": {"id": {"type": "number"}}, "required": ["id"]}]}),
        json!({"anyOf": [{"required": ["a"]}, {"required": ["b"]}], "type": "object", "properties": {"a": {"type": "string"}, "b": {}}}),
        json!({"allOf": [{"type": "object", "properties": {"a": {"type": "string"}}, "required": ["a"]}, {"type": "object", "properties": {"b": {"type": "number"}, "a": {}}}]}),
        json!({"allOf": [{"type": "string"}, {"type": "string", "minLength": 2}]}),
        json!({"$ref": "#/$defs/a%20b/properties/x~1y", "$defs": {"a b": {"properties": {"x/y": {"type": "boolean"}}}}}),
        json!({"$ref": "https://example.com/schema.json"}),
        json!({"$ref": "#/nowhere"}),
        json!({"type": "object", "properties": {"child": {"$ref": "#"}}}),
        json!({"$defs": {"node": {"type": "object", "properties": {"value": {"type": "string"}, "next": {"$ref": "#/$defs/node"}}}}, "$ref": "#/$defs/node"}),
        json!({"type": "object", "properties": {"delete": {"type": "string"}, "x-y": {"type": "string"}, "1": {"type": "string"}, "": {}}}),
        json!({"type": "object", "properties": {"*/\n`${x}`": {"enum": ["*/", "\u{2028}", "a\"b\\"]}}}),
        json!(true),
        json!(false),
        json!({}),
        json!("nonsense"),
        json!({"type": "nonsense", "properties": []}),
        json!({"type": []}),
        json!({"enum": []}),
    ]));
}

#[test]
fn inputs_that_ask_for_nothing_are_empty_objects() {
    for schema in [
        json!({}),
        json!(null),
        json!({"type": "object"}),
        json!({"type": "object", "properties": {}}),
        json!({"type": "object", "properties": {}, "additionalProperties": false}),
    ] {
        assert_eq!(input_signature(&schema), "{}", "{schema}");
    }
    let open = json!({"type": "object", "additionalProperties": true});
    assert_eq!(input_signature(&open), "Record<string, unknown>");
    assert_eq!(output_signature(None), "?");
}

#[test]
fn what_does_not_fit_is_counted() {
    let many: serde_json::Map<String, Value> = (0..100)
        .map(|at| (format!("property{at}"), json!({"type": "string"})))
        .collect();
    let nested = (0..12).fold(json!({"type": "string"}), |inner, at| {
        json!({"type": "object", "properties": {format!("level{at}"): inner, "other": {"type": "array", "items": {"type": "object", "properties": {"a_rather_long_name": {"type": "number"}, "b": {"type": "boolean"}}}}}})
    });
    let words: Vec<String> = (0..200).map(|at| format!("value-{at}")).collect();
    let union: Vec<Value> = (0..60)
        .map(|at| json!({"type": "object", "properties": {format!("variant{at}"): {"type": "string"}}}))
        .collect();
    insta::assert_snapshot!(
        shown(&[
            json!({"type": "object", "properties": many}),
            nested,
            json!({"enum": words}),
            json!({"anyOf": union}),
            json!({"const": "x".repeat(500)}),
        ])
        .lines()
        .filter(|line| line.starts_with("    "))
        .collect::<Vec<_>>()
        .join("\n")
    );
}

#[test]
fn schemas_made_to_hurt_are_cheap() {
    let doubling: serde_json::Map<String, Value> = (0..60)
        .map(|at| {
            let next = json!({"$ref": format!("#/$defs/d{}", at + 1)});
            (
                format!("d{at}"),
                json!({"allOf": [next.clone(), next.clone()], "anyOf": [next.clone(), next]}),
            )
        })
        .collect();
    let wide: serde_json::Map<String, Value> = (0..30_000)
        .map(|at| {
            (
                format!("p{at}"),
                json!({"type": "string", "description": "x".repeat(60)}),
            )
        })
        .collect();
    let names: Vec<String> = wide.keys().cloned().collect();
    // `json!` would copy, and so recurse.
    let around = |inner| Value::Object([("items".to_owned(), inner)].into_iter().collect());
    let deep = (0..10_000).fold(Value::Null, |inner, _| around(inner));
    let bombs = [
        json!({"$ref": "#/$defs/d0", "$defs": doubling}),
        json!({"type": "object", "properties": wide, "required": names}),
        json!({"enum": names}),
        json!({"anyOf": names.iter().map(|name| json!({"const": name})).collect::<Vec<_>>()}),
        json!({"allOf": names.iter().map(|name| json!({"properties": {name: {"type": "string"}}})).collect::<Vec<_>>()}),
    ];
    let started = Instant::now();
    for bomb in &bombs {
        assert_is_signature(&output_signature(Some(bomb)));
        assert_is_signature(&input_signature(bomb));
    }
    assert_is_signature(&input_signature(&deep));
    assert!(
        started.elapsed() < Duration::from_secs(10),
        "{:?}",
        started.elapsed()
    );
    // Dropping a value nested this deep recurses; the schema came from a bounded parser in life.
    std::mem::forget(deep);
}

#[test]
fn real_tools_have_real_signatures() {
    for entry in real_tools() {
        assert_is_signature(&input_signature(&entry.parameters));
        if let Some(schema) = entry.output_schema.as_deref() {
            assert_is_signature(&output_signature(Some(schema)));
        }
    }
}

#[test]
fn names_that_are_too_long_to_be_shown_are_counted() {
    let name = "n".repeat(MAX_SIGNATURE_CHARS);
    let none = json!({"properties": {&*name: {"type": "string"}}});
    assert_eq!(input_signature(&none), "{ /* 1 fields */ }");
    let some = json!({"properties": {"a": {"type": "string"}, &*name: {"type": "string"}}});
    assert_eq!(input_signature(&some), "{ a?: string; /* 1 more */ }");
}
