//! Arguments against schemas: every text, and schemas that want to do harm.

use std::fmt::Write as _;
use std::sync::Arc;

use codecell_tools::schema::{ArgumentCheck, SchemaError};
use serde_json::{Value, json};

fn problems(schema: Value, input: Value) -> String {
    let check = ArgumentCheck::compile(Arc::new(schema)).unwrap();
    match check.check(&input) {
        Ok(()) => "fits".to_owned(),
        Err(mismatch) => {
            let mut text = mismatch.problems.join("\n");
            if mismatch.more > 0 {
                write!(text, "\nand {} more", mismatch.more).unwrap();
            }
            text
        }
    }
}

#[test]
fn every_kind_of_mismatch_has_its_text() {
    let object = |properties: Value| json!({"type": "object", "properties": properties});
    let one = |schema: Value| object(json!({"x": schema}));
    let cases = [
        (
            "wrong type",
            one(json!({"type": "string"})),
            json!({"x": 5}),
        ),
        (
            "wrong types",
            one(json!({"type": ["string", "null"]})),
            json!({"x": [1, 2]}),
        ),
        (
            "text for number",
            one(json!({"type": "integer"})),
            json!({"x": "5"}),
        ),
        ("not an object", object(json!({})), json!([1])),
        (
            "missing",
            json!({"type": "object", "properties": {"path": {"type": "string"}}, "required": ["path"]}),
            json!({}),
        ),
        (
            "missing with slip",
            json!({"type": "object", "properties": {"pattern": {"type": "string"}, "path": {}}, "required": ["pattern"]}),
            json!({"patern": "x", "path": "."}),
        ),
        (
            "missing and other style",
            json!({"type": "object", "properties": {"oldText": {"type": ["string", "null"]}}, "required": ["oldText"]}),
            json!({"old_text": "x"}),
        ),
        (
            "unknown with slip",
            json!({"properties": {"limit": {}, "path": {}}, "additionalProperties": false}),
            json!({"limt": 1}),
        ),
        (
            "unknown",
            json!({"properties": {"limit": {}, "path": {}}, "additionalProperties": false}),
            json!({"recursive": true, "depth": 2}),
        ),
        (
            "unknown where none are",
            json!({"additionalProperties": false}),
            json!({"a": 1}),
        ),
        (
            "deep",
            object(
                json!({"edits": {"items": {"properties": {"a b": {"items": {"type": "boolean"}}}}}}),
            ),
            json!({"edits": [{}, {"a b": [true, 0]}]}),
        ),
        (
            "slash in key",
            object(json!({"a/b~c": {"type": "null"}})),
            json!({"a/b~c": {}}),
        ),
        (
            "through a reference",
            json!({"$defs": {"edit": {"type": "object", "properties": {"newText": {"type": "string"}}, "required": ["newText"]}}, "properties": {"edit": {"$ref": "#/$defs/edit"}}}),
            json!({"edit": {"newtext": "a"}}),
        ),
        (
            "enum",
            one(json!({"enum": ["list", "poll", null]})),
            json!({"x": "kill"}),
        ),
        ("const", one(json!({"const": 1})), json!({"x": 2})),
        (
            "any of",
            one(
                json!({"anyOf": [{"type": "string"}, {"type": "integer"}, {"required": ["a"], "type": "object"}]}),
            ),
            json!({"x": 1.5}),
        ),
        (
            "one of several",
            one(json!({"oneOf": [{"type": "number"}, {"type": "integer"}]})),
            json!({"x": 1}),
        ),
        (
            "pattern",
            one(json!({"pattern": "^[a-z]+$"})),
            json!({"x": "A"}),
        ),
        ("minimum", one(json!({"minimum": 1})), json!({"x": 0})),
        ("maximum", one(json!({"maximum": 1})), json!({"x": 2})),
        (
            "exclusive",
            one(json!({"exclusiveMinimum": 1, "exclusiveMaximum": 1})),
            json!({"x": 1}),
        ),
        ("lengths", one(json!({"minLength": 2})), json!({"x": "a"})),
        (
            "long",
            one(json!({"maxLength": 2})),
            json!({"x": "a\u{1b}bc"}),
        ),
        (
            "items",
            one(json!({"minItems": 2, "maxItems": 2})),
            json!({"x": [1, 2, 3]}),
        ),
        ("few items", one(json!({"minItems": 2})), json!({"x": [1]})),
        (
            "properties",
            one(json!({"minProperties": 1})),
            json!({"x": {}}),
        ),
        (
            "many properties",
            one(json!({"maxProperties": 0})),
            json!({"x": {"a": 1}}),
        ),
        (
            "unique",
            one(json!({"uniqueItems": true})),
            json!({"x": [1, 1]}),
        ),
        ("multiple", one(json!({"multipleOf": 2})), json!({"x": 3})),
        ("never", one(json!(false)), json!({"x": 3})),
        (
            "not",
            one(json!({"not": {"type": "string"}})),
            json!({"x": "s"}),
        ),
        (
            "contains",
            one(json!({"contains": {"type": "string"}})),
            json!({"x": [1]}),
        ),
        (
            "key names",
            one(json!({"propertyNames": {"maxLength": 1}})),
            json!({"x": {"long": 1}}),
        ),
        (
            "many at once",
            json!({"required": ["a", "b", "c", "d", "e", "f", "g"]}),
            json!({}),
        ),
    ];
    let mut text = String::new();
    for (name, schema, input) in cases {
        writeln!(text, "[{name}]\n{}\n", problems(schema, input)).unwrap();
    }
    insta::assert_snapshot!(text);
}

#[test]
fn dialects_and_plain_schemas_work() {
    let accepted = [
        (json!({}), json!({"anything": 1})),
        (json!(true), json!({})),
        (
            json!({"$schema": "http://json-schema.org/draft-07/schema#", "properties": {"a": {"items": [{"type": "string"}]}}}),
            json!({"a": ["x", 1]}),
        ),
        (
            json!({"$schema": "https://json-schema.org/draft/2020-12/schema", "properties": {"a": {"prefixItems": [{"type": "string"}]}}}),
            json!({"a": ["x", 1]}),
        ),
        (
            json!({"$schema": "https://example.org/our-own-dialect", "type": "object"}),
            json!({}),
        ),
        (
            json!({"$id": "https://example.org/tool", "$defs": {"a b": {"$anchor": "here", "type": "string"}}, "properties": {"x": {"$ref": "#/$defs/a%20b"}, "y": {"$ref": "#here"}}}),
            json!({"x": "", "y": ""}),
        ),
        (
            json!({"properties": {"mail": {"format": "email", "pattern": "^(?!\\.)(?!.*\\.\\.)[a-z.]+@[a-z.]+$"}}}),
            json!({"mail": "a.b@c.d"}),
        ),
        // A recursive type of JSON values, as generators write it.
        (
            json!({"$ref": "#/$defs/json", "$defs": {"json": {"anyOf": [{"type": ["string", "number", "boolean", "null"]}, {"type": "array", "items": {"$ref": "#/$defs/json"}}, {"type": "object", "additionalProperties": {"$ref": "#/$defs/json"}}]}}}),
            nested(60),
        ),
    ];
    for (schema, input) in accepted {
        assert_eq!(problems(schema.clone(), input), "fits", "{schema}");
    }
}

fn nested(levels: usize) -> Value {
    (0..levels).fold(json!({"leaf": [1, "two", null]}), |inner, level| {
        match level % 2 {
            0 => json!({"next": inner}),
            _ => json!([inner, 1]),
        }
    })
}

#[test]
fn a_schema_that_cannot_be_trusted_is_not_used() {
    let deep = (0..300).fold(json!({}), |inner, _| json!({"not": inner}));
    let many: serde_json::Map<String, Value> =
        (0..20_000).map(|n| (n.to_string(), json!({}))).collect();
    let patterns: serde_json::Map<String, Value> =
        (0..500).map(|n| (n.to_string(), json!({}))).collect();
    let mut chain = serde_json::Map::new();
    for n in 0..2_000 {
        chain.insert(
            format!("d{n}"),
            json!({"$ref": format!("#/$defs/d{}", n + 1)}),
        );
    }
    chain.insert("d2000".to_owned(), json!({}));
    let cases = [
        ("text", json!("string")),
        ("deep", deep),
        ("large", json!({"properties": many})),
        ("long chain", json!({"$ref": "#/$defs/d0", "$defs": chain})),
        ("remote", json!({"$ref": "https://example.org/schema.json"})),
        ("file", json!({"$ref": "file:///etc/passwd"})),
        ("nowhere", json!({"$ref": "#/$defs/none"})),
        ("bad escape", json!({"$ref": "#/%zz"})),
        ("dynamic", json!({"$dynamicRef": "#x"})),
        (
            "own base",
            json!({"properties": {"a": {"$id": "https://example.org/a", "type": "string"}}}),
        ),
        ("wrong keyword", json!({"type": "strnig"})),
        ("wrong pattern", json!({"pattern": "("})),
        (
            "many patterns",
            json!({"patternProperties": patterns, "pattern": "a"}),
        ),
        (
            "huge pattern",
            json!({"pattern": "((a{1000}){1000}){1000}"}),
        ),
    ];
    let mut text = String::new();
    for (name, schema) in cases {
        let error = ArgumentCheck::compile(Arc::new(schema)).unwrap_err();
        writeln!(text, "[{name}] {error}").unwrap();
    }
    insta::assert_snapshot!(text);
}

#[test]
fn bombs_end_at_once() {
    // Two references per level: the work doubles with each level of the arguments.
    let doubling = json!({"$ref": "#/$defs/a", "$defs": {"a": {
        "properties": {"x": {"allOf": [{"$ref": "#/$defs/a"}, {"$ref": "#/$defs/a"}]}}}}});
    let input = (0..40).fold(json!({}), |inner, _| json!({"x": inner}));
    assert!(problems(doubling, input).contains("too deeply nested to be checked"));
    // The same without any depth in the arguments.
    let mut definitions = serde_json::Map::new();
    for n in 0..40 {
        let next = json!({"$ref": format!("#/$defs/d{}", n + 1)});
        definitions.insert(format!("d{n}"), json!({"allOf": [next, next]}));
    }
    definitions.insert("d40".to_owned(), json!({}));
    let exploding = json!({"$ref": "#/$defs/d0", "$defs": definitions});
    assert!(problems(exploding, json!({})).contains("too large"));
    // A reference that only leads to itself.
    let cycle = json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}});
    match ArgumentCheck::compile(Arc::new(cycle)) {
        Ok(check) => assert!(check.check(&json!({})).is_err()),
        Err(error) => assert!(matches!(error, SchemaError::Invalid(_)), "{error}"),
    }
    // A pattern that backtracks without end.
    let evil = json!({"properties": {"x": {"pattern": "^(?=(a+)+$)(a|a)*b$"}}});
    let text = problems(evil, json!({"x": "a".repeat(4_000)}));
    assert!(text.starts_with("input.x "), "{text}");
    assert_ne!(text, "fits");
}

#[test]
fn the_depth_of_a_judgement_has_an_edge() {
    let list = json!({"$ref": "#/$defs/list", "$defs": {"list": {
        "properties": {"next": {"$ref": "#/$defs/list"}}}}});
    let check = ArgumentCheck::compile(Arc::new(list)).unwrap();
    let chain = |levels: usize| (0..levels).fold(json!({}), |inner, _| json!({ "next": inner }));
    // Each level is a property and its reference.
    assert_eq!(check.check(&chain(149)), Ok(()));
    assert!(check.check(&chain(150)).is_err());
}

#[test]
fn the_budget_leaves_room_for_large_honest_arguments() {
    let schema = json!({"properties": {"rows": {"type": "array", "items": {
        "type": "object", "properties": {"id": {"type": "integer"}, "name": {"type": "string"}},
        "required": ["id"], "additionalProperties": false}}}});
    let rows: Vec<Value> = (0..20_000)
        .map(|id| json!({"id": id, "name": "row"}))
        .collect();
    assert_eq!(problems(schema, json!({"rows": rows})), "fits");
}
