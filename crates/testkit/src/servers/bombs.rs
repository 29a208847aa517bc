//! Schemas that explode when they are followed, printed or compared.

use serde_json::{Map, Value, json};

/// The schemas, each with a name.
#[must_use]
pub fn bombs() -> Vec<(&'static str, Value)> {
    let text = || json!({"type": "string", "description": "x".repeat(100)});
    let wide: Map<String, Value> = names().map(|name| (name, text())).collect();
    let required: Vec<String> = names().collect();
    let deep = (0..100).fold(
        json!({"type": "string"}),
        |inner, _| json!({"type": "object", "properties": {"a": inner}}),
    );
    let long_name = Map::from_iter([("a".repeat(1 << 20), json!({"type": "string"}))]);
    vec![
        ("all-of", doubling("allOf", 30)),
        ("any-of", doubling("anyOf", 30)),
        (
            "wide",
            json!({"type": "object", "properties": wide, "required": required}),
        ),
        ("deep", deep),
        (
            "cycle",
            json!({"$ref": "#/$defs/a", "$defs": {"a": {"$ref": "#/$defs/b"}, "b": {"$ref": "#/$defs/a"}}}),
        ),
        ("self", json!({"$ref": "#"})),
        (
            "self-below",
            json!({"type": "object", "properties": {"a": {"$ref": "#"}, "b": {"items": {"$ref": "#"}}}}),
        ),
        (
            "enum",
            json!({"type": "object", "properties": {"a": {"enum": (0..50_000).collect::<Vec<u32>>()}}}),
        ),
        (
            "pattern",
            json!({"type": "object", "properties": {"a": {"type": "string", "pattern": "^(a+)+$"}}}),
        ),
        (
            "long",
            json!({"type": "object", "properties": {"a": {"description": "x".repeat(10 << 20)}}}),
        ),
        (
            "long-name",
            json!({"type": "object", "properties": long_name}),
        ),
    ]
}

fn names() -> impl Iterator<Item = String> {
    (0..25_000).map(|at| format!("property_{at}"))
}

/// References that double at each of so many levels.
fn doubling(keyword: &str, levels: usize) -> Value {
    let mut defs = Map::new();
    for level in 0..levels {
        let next = json!({"$ref": format!("#/$defs/l{}", level + 1)});
        defs.insert(format!("l{level}"), json!({keyword: [next, next]}));
    }
    let last = json!({"type": "object", "properties": {"x": {"type": "string"}}});
    defs.insert(format!("l{levels}"), last);
    json!({"$ref": "#/$defs/l0", "$defs": defs})
}
