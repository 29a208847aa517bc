//! Search: what comes first, and that limits and scopes hold.

use codecell_catalog::{Catalog, MAX_SEARCH_LIMIT, Scope, SearchRequest};
use serde_json::json;

use crate::support::{entry, with_parameters};

fn tools() -> Catalog {
    let schema = json!({"type": "object", "properties": {
        "recipient": {"type": "string", "description": "Who gets the parcel"},
        "qzxv": {"type": "string"},
    }});
    let mut secretive = with_parameters("mcp:post:send_parcel", "Sends it.", schema.clone());
    secretive.trusted = false;
    Catalog::build(vec![
        entry("openclaw:core:read", "Read a file from the workspace."),
        entry(
            "openclaw:core:read_file_lines",
            "Reads some lines; also reads, reads, reads.",
        ),
        entry(
            "openclaw:core:web_fetch",
            "Fetch a web page and return its text.",
        ),
        entry(
            "openclaw:plug:getWeatherForecast",
            "The forecast for a city.",
        ),
        entry(
            "openclaw:plug:translator",
            "Translates text between languages.",
        ),
        entry("openclaw:plug:filesystem_stat", "Size and date."),
        with_parameters("openclaw:plug:post", "Posts it.", schema),
        secretive,
        entry("mcp:天气:查询", "查询城市的天气预报"),
        entry("client:ide:open", "Open a file in the editor."),
    ])
    .unwrap()
}

fn names(queries: &[&str], limit: usize, scope: Scope) -> Vec<String> {
    let catalog = tools();
    let request = SearchRequest {
        queries: queries.iter().map(|&query| query.to_owned()).collect(),
        limit,
        scope,
    };
    let hits = catalog.search(&request);
    hits.iter().map(|hit| hit.entry.name().to_owned()).collect()
}

fn first(query: &str) -> String {
    names(&[query], 1, Scope::All)
        .first()
        .cloned()
        .unwrap_or_default()
}

#[test]
fn what_models_write_finds_the_tool() {
    assert_eq!(
        first("read"),
        "read",
        "an exact name beats more occurrences"
    );
    assert_eq!(first("Read-File-Lines"), "read_file_lines");
    assert_eq!(first("openclaw:core:web_fetch"), "web_fetch");
    assert_eq!(first("get_weather_forecast"), "getWeatherForecast");
    assert_eq!(first("weather|climate"), "getWeatherForecast");
    assert_eq!(first("forecasts"), "getWeatherForecast");
    assert_eq!(first("translate some text"), "translator");
    assert_eq!(first("translation"), "translator");
    assert_eq!(first("fetching pages"), "web_fetch");
    let joined = names(&["file system"], 3, Scope::All);
    assert!(joined.contains(&"filesystem_stat".to_owned()), "{joined:?}");
    assert_eq!(first("transl"), "translator", "the start of a word");
    assert_eq!(first("天气"), "查询");
    assert_eq!(
        first("what is the weather going to be like"),
        "getWeatherForecast"
    );
}

#[test]
fn other_words_for_the_same_find_the_tool() {
    assert_eq!(first("climate"), "getWeatherForecast");
    assert_eq!(first("website"), "web_fetch");
    assert_eq!(names(&["documents"], 1, Scope::All).len(), 1);
}

#[test]
fn every_sentence_of_a_query_counts() {
    let query = "Please tell me what the weather will be in Oslo. Then translate it into French.";
    let mut found = names(&[query], 2, Scope::All);
    found.sort_unstable();
    assert_eq!(found, ["getWeatherForecast", "translator"]);
}

#[test]
fn a_name_among_other_words_comes_first() {
    assert_eq!(
        first("use filesystem_stat to read the weather of a city in a file"),
        "filesystem_stat"
    );
    assert_eq!(
        first("read a file of the workspace with getWeatherForecast"),
        "getWeatherForecast"
    );
    assert_eq!(first("translator, open_file"), "translator");
}

#[test]
fn parameters_of_untrusted_tools_are_not_searched() {
    assert_eq!(names(&["recipient parcel"], 1, Scope::NonMcp), ["post"]);
    assert_eq!(names(&["qzxv"], 10, Scope::NonMcp), ["post"]);
    assert_eq!(names(&["qzxv"], 10, Scope::Mcp), Vec::<String>::new());
    assert_eq!(
        names(&["parcel"], 10, Scope::Mcp),
        ["send_parcel"],
        "its name is"
    );
}

#[test]
fn several_queries_are_merged_by_rank() {
    let merged = names(&["weather", "translate", "weather", " "], 10, Scope::All);
    assert_eq!(merged[..2], ["getWeatherForecast", "translator"]);
    let unique: std::collections::HashSet<_> = merged.iter().collect();
    assert_eq!(unique.len(), merged.len());
}

#[test]
fn nothing_asked_gives_the_first_entries() {
    for queries in [&[][..], &["  "][..]] {
        assert_eq!(names(queries, 2, Scope::All), ["read", "read_file_lines"]);
        assert_eq!(names(queries, 9, Scope::Mcp), ["send_parcel", "查询"]);
    }
    assert!(names(&["qqqq"], 5, Scope::All).is_empty());
    assert!(names(&["?!"], 5, Scope::All).is_empty());
}

#[test]
fn limits_and_scopes_hold() {
    let many = (0..200).map(|at| entry(&format!("openclaw:core:thing_{at:03}"), "a thing"));
    let catalog = Catalog::build(many.collect()).unwrap();
    let search = |limit| {
        let request = SearchRequest {
            queries: vec!["thing".to_owned()],
            limit,
            scope: Scope::All,
        };
        let hits = catalog.search(&request);
        hits.iter()
            .map(|hit| hit.entry.name().to_owned())
            .collect::<Vec<_>>()
    };
    assert_eq!(search(0).len(), 0);
    assert_eq!(
        search(3),
        ["thing_000", "thing_001", "thing_002"],
        "ties go by id"
    );
    assert_eq!(search(49).len(), 49);
    assert_eq!(search(50).len(), 50);
    assert_eq!(search(51).len(), MAX_SEARCH_LIMIT);
    let catalog = tools();
    for (scope, query) in [(Scope::NonMcp, "parcel"), (Scope::Mcp, "file")] {
        let request = SearchRequest {
            queries: vec![query.to_owned()],
            limit: 50,
            scope,
        };
        let hits = catalog.search(&request);
        assert!(hits.iter().all(|hit| scope.admits(hit.entry.source())));
    }
}

#[test]
fn hits_carry_signatures() {
    let mut tool = with_parameters(
        "openclaw:core:a",
        "",
        json!({"properties": {"x": {"type": "string"}}}),
    );
    tool.output_schema = Some(json!({"type": "number"}).into());
    let catalog = Catalog::build(vec![tool, entry("openclaw:core:b", "")]).unwrap();
    let request = SearchRequest {
        queries: vec![],
        limit: 2,
        scope: Scope::All,
    };
    let hits = catalog.search(&request);
    assert_eq!(
        (hits[0].input.as_str(), hits[0].output.as_deref()),
        ("{ x?: string }", Some("number"))
    );
    assert_eq!(
        (hits[1].input.as_str(), hits[1].output.as_deref()),
        ("{}", None)
    );
}
