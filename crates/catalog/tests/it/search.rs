//! Search: what comes first, and that limits and scopes hold.

use codecell_catalog::{Catalog, Entry, MAX_SEARCH_LIMIT, Scope, SearchRequest};
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

/// What a search gives, to the last bit.
fn answers(catalog: &Catalog) -> Vec<(String, u32, String)> {
    let queries = [
        "thing",
        "weather of a city",
        "translate it. then send mail",
        "things 17",
        "read_file_lines",
        "gone qqqq",
    ];
    let mut answers = Vec::new();
    for query in queries {
        let request = SearchRequest {
            queries: vec![query.to_owned()],
            limit: 20,
            scope: Scope::All,
        };
        let hits = catalog.search(&request);
        answers.extend(hits.iter().map(|hit| {
            let id = hit.entry.id.to_string();
            (id, hit.score.to_bits(), hit.input.clone())
        }));
    }
    answers
}

#[test]
fn a_successor_is_searched_like_a_fresh_catalog() {
    let mut entries = tools().entries().to_vec();
    let mut catalog = Catalog::build(entries.clone()).unwrap();
    answers(&catalog);
    let changes: [fn(&mut Vec<Entry>); 8] = [
        |entries| entries[1].description += " Weather and things.",
        |entries| entries[3].label = Some("City weather".into()),
        |entries| entries.truncate(8),
        |entries| entries.push(entry("openclaw:plug:thing_17", "Mail for every thing.")),
        |entries| entries.swap(0, 2),
        |entries| {
            let trusted = entries.iter_mut().filter(|entry| !entry.trusted);
            trusted.for_each(|entry| entry.trusted = true);
        },
        |entries| entries[6].parameters = json!({"properties": {"city": {}}}).into(),
        |entries| entries[6].output_schema = Some(json!({"properties": {"mail": {}}}).into()),
    ];
    for (at, change) in changes.into_iter().enumerate() {
        change(&mut entries);
        catalog = catalog.succeeded_by(entries.clone(), Vec::new()).unwrap();
        // One that nobody searched stands between.
        if at != 4 {
            let fresh = Catalog::build(entries.clone()).unwrap();
            assert_eq!(answers(&catalog), answers(&fresh), "change {at}");
        }
    }
    let kept = |entry: &Entry| entry.name().len().is_multiple_of(2);
    let narrowed = catalog.narrowed(kept);
    let fresh = Catalog::build(narrowed.entries().to_vec()).unwrap();
    assert_eq!(answers(&narrowed), answers(&fresh));
}

#[test]
fn many_tools_are_indexed_alike_at_once_and_bit_by_bit() {
    const WORDS: [&str; 7] = [
        "weather",
        "mail",
        "thing",
        "city",
        "read",
        "things",
        "translated",
    ];
    let made = |at: usize| {
        let words = [WORDS[at % 7], WORDS[at / 7 % 7], WORDS[at / 49 % 7]];
        let id = format!("openclaw:plug{}:{}_{at}", at % 30, words.join("_"));
        let schema =
            json!({"properties": {(words[1]): {"description": format!("word{}", at % 100)}}});
        with_parameters(&id, &format!("For {} {at}.", words.join(" of a ")), schema)
    };
    let entries: Vec<Entry> = (0..2_500).map(made).collect();
    let at_once = Catalog::build(entries.clone()).unwrap();
    let mut bit_by_bit = Catalog::build(Vec::new()).unwrap();
    for count in [900, 1_800, 2_500] {
        let some = entries[..count].to_vec();
        bit_by_bit = bit_by_bit.succeeded_by(some, Vec::new()).unwrap();
        answers(&bit_by_bit);
    }
    assert_eq!(answers(&at_once), answers(&bit_by_bit));
}

#[test]
fn a_sentence_of_unknown_words_takes_nothing_away() {
    let found = names(&["Qqqq zzzz xxxx. Fetch a web page."], 1, Scope::All);
    assert_eq!(found, ["web_fetch"]);
}
