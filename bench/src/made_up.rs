//! Any number of tools, made up of words that tools are made of, so that no data set is needed.

use codecell_catalog::{Entry, Source, ToolId};
use serde_json::{Value, json};

const VERBS: [&str; 10] = [
    "get", "list", "create", "update", "delete", "search", "convert", "send", "analyze", "schedule",
];
const THINGS: [&str; 20] = [
    "invoice",
    "weather",
    "calendar",
    "message",
    "customer",
    "flight",
    "hotel",
    "recipe",
    "patient",
    "shipment",
    "ticket",
    "payment",
    "playlist",
    "document",
    "sensor",
    "portfolio",
    "contract",
    "vehicle",
    "repository",
    "course",
];
const ASPECTS: [&str; 25] = [
    "forecast",
    "history",
    "details",
    "summary",
    "report",
    "status",
    "image",
    "comment",
    "price",
    "location",
    "member",
    "schedule",
    "category",
    "review",
    "permission",
    "template",
    "attachment",
    "statistics",
    "reminder",
    "label",
    "archive",
    "balance",
    "rating",
    "alert",
    "version",
];

/// So many tools of plugins, no two alike.
pub(crate) fn entries(count: usize) -> anyhow::Result<Vec<Entry>> {
    (0..count).map(entry).collect()
}

fn entry(at: usize) -> anyhow::Result<Entry> {
    let verb = VERBS[at % 10];
    let thing = THINGS[at / 10 % 20];
    let aspect = ASPECTS[at / 200 % 25];
    let round = at / 5000;
    let id = ToolId::new(
        Source::OpenClaw,
        &format!("{thing}{round}"),
        &format!("{verb}_{thing}_{aspect}"),
    )?;
    let description = format!(
        "Use this to {verb} the {aspect} of a {thing}. Gives the {aspect} with its {thing} and the date of the \
         last change; fails when the {thing} is not known in region {round}."
    );
    Ok(Entry::new(id, description, parameters(thing, aspect)))
}

fn parameters(thing: &str, aspect: &str) -> Value {
    let thing_id = format!("{thing}_id");
    json!({
        "type": "object",
        "properties": {
            thing_id.as_str(): { "type": "string", "description": format!("The id of the {thing}") },
            aspect: { "type": "string", "description": format!("Which {aspect} is meant") },
            "order": { "type": "string", "enum": ["ascending", "descending"] },
            "limit": { "type": "integer", "description": "The most results to give" },
        },
        "required": [thing_id],
    })
}
