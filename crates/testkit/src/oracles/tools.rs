//! What servers say of their tools, what programs ask the catalog, and patches.

use std::sync::OnceLock;

use codecell_script::strip_types;
use codecell_tools::ToolId;
use codecell_tools::core::patch_paths;
use serde_json::Value;

use super::text_of;

/// A schema becomes a type on one line, of bounded length, that TypeScript's grammar accepts.
///
/// # Panics
/// When it is otherwise.
pub fn schema(bytes: &[u8]) {
    let Ok(schema) = serde_json::from_slice::<Value>(bytes) else {
        return;
    };
    let types = [
        codecell_catalog::input_signature(&schema),
        codecell_catalog::output_signature(Some(&schema)),
    ];
    for text in types {
        assert!(
            text.chars().count() <= codecell_catalog::MAX_SIGNATURE_CHARS,
            "{text}"
        );
        assert!(!text.chars().any(|c| c.is_control()), "{text:?}");
        if text != codecell_catalog::UNDECLARED {
            let program = format!("type T = {text};");
            let read = strip_types(&program);
            assert!(read.is_ok(), "{program}: {read:?}");
        }
    }
}

/// Names and texts as servers give them.
const TOOLS: &[(&str, &str)] = &[
    (
        "openclaw:core:read_file",
        "Reads a file of the workspace and gives its text.",
    ),
    ("openclaw:core:write-file", "Writes a file; makes folders."),
    ("openclaw:core:exec", "Runs a shell command."),
    (
        "openclaw:plugin:getWeatherForecast",
        "The weather of the coming days for a city.",
    ),
    ("openclaw:plugin:send_mail", "Sends a message to somebody."),
    (
        "mcp:git-hub:list_issues",
        "Lists issues */ of a `repository` ${x}.",
    ),
    (
        "mcp:git-hub:delete",
        "Deletes \u{202e} what is named.\u{1b}[31m",
    ),
    ("mcp:日本:検索", "検索します。"),
    ("client:app:then", ""),
];

fn catalog() -> &'static codecell_catalog::Catalog {
    static CATALOG: OnceLock<codecell_catalog::Catalog> = OnceLock::new();
    CATALOG.get_or_init(|| {
        let entries = TOOLS.iter().filter_map(|(id, text)| {
            let id = ToolId::parse(id).ok()?;
            Some(codecell_catalog::Entry::new(id, *text, Value::Null))
        });
        let built = codecell_catalog::Catalog::build(entries.collect());
        built.unwrap_or_else(|error| panic!("the catalog: {error}"))
    })
}

/// A search gives at most what was asked for, each entry once, best first, the same each time, and
/// nothing outside its scope; a wrong id gets at most a few near names.
///
/// # Panics
/// When it is otherwise.
pub fn search(bytes: &[u8]) {
    use codecell_catalog::{Scope, SearchRequest};
    let text = text_of(bytes);
    let limit = bytes.first().map_or(8, |byte| usize::from(*byte) % 60);
    let queries: Vec<String> = text.split('\u{1f}').map(str::to_owned).collect();
    for scope in [Scope::NonMcp, Scope::Mcp, Scope::All] {
        let request = SearchRequest {
            queries: queries.clone(),
            limit,
            scope,
        };
        let ids = |hits: &[codecell_catalog::Hit<'_>]| {
            let ids = hits.iter().map(|hit| hit.entry.id.to_string());
            ids.collect::<Vec<_>>()
        };
        let hits = catalog().search(&request);
        assert!(hits.len() <= limit.min(codecell_catalog::MAX_SEARCH_LIMIT));
        assert!(hits.iter().all(|hit| scope.admits(hit.entry.id.source())));
        assert!(hits.iter().all(|hit| hit.score.is_finite()));
        let found = ids(&hits);
        let unique: std::collections::BTreeSet<_> = found.iter().collect();
        assert_eq!(unique.len(), found.len(), "an entry twice");
        assert_eq!(
            found,
            ids(&catalog().search(&request)),
            "another answer to the same question"
        );
        let _ = catalog().resolve(&text);
    }
}

/// A patch is read as changes to named files, each once, or refused with a line of it.
///
/// # Panics
/// When it is otherwise.
pub fn patch(bytes: &[u8]) {
    let text = text_of(bytes);
    match patch_paths(&text) {
        Ok(paths) => {
            assert!(!paths.is_empty(), "a patch of nothing");
            assert!(paths.len() <= text.lines().count(), "more files than lines");
            assert!(
                paths.iter().all(|path| !path.is_empty()),
                "a file without a name"
            );
        }
        Err(error) => assert!(!error.is_empty()),
    }
}
