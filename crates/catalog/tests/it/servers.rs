//! Servers and the spellings of what they offer.

use codecell_catalog::{
    Catalog, Entry, IndexOptions, McpServer, Operation, Source, ToolId, mcp_spelling_of,
};

use crate::support::entry;

fn operation(server: &str, operation: Operation) -> Entry {
    let id = ToolId::new(Source::Mcp, server, operation.method()).unwrap();
    let mut entry = entry(id.as_str(), "");
    entry.operation = operation;
    entry
}

fn unavailable(name: &str, why: &str) -> McpServer {
    McpServer {
        unavailable: Some(why.to_owned()),
        ..McpServer::new(name)
    }
}

fn spelled(catalog: &Catalog) -> Vec<&str> {
    let entries = catalog.entries().iter();
    entries
        .filter_map(|entry| catalog.mcp_spelling(entry))
        .collect()
}

#[test]
fn servers_are_named_with_and_without_tools() {
    let catalog = Catalog::with_servers(
        vec![
            entry("mcp:late:x", ""),
            entry("mcp:git-hub:list", ""),
            operation("git-hub", Operation::ResourcesList),
        ],
        vec![
            McpServer::new("git-hub"),
            unavailable("git hub", "it does not start"),
            McpServer::new("git-hub"),
            McpServer::new("GITHUB"),
            McpServer::new("index"),
        ],
    )
    .unwrap();
    let names: Vec<_> = catalog
        .servers()
        .iter()
        .map(|space| {
            (
                space.identifier.as_str(),
                space.server.name.as_str(),
                catalog.members(space).count(),
            )
        })
        .collect();
    assert_eq!(
        names,
        [
            ("gitHub", "git-hub", 2),
            ("gitHub2", "git hub", 0),
            ("gITHUB3", "GITHUB", 0),
            ("index2", "index", 0),
            ("late", "late", 1)
        ]
    );
    assert_eq!(
        catalog.index_text(&IndexOptions::default()),
        "MCP servers (number of tools): MCP.gitHub (1), MCP.gitHub2 (unavailable), MCP.gITHUB3 (0), MCP.index2 (0), MCP.late (1): find their tools with API.search(\"keywords\").\n"
    );
}

#[test]
fn operations_have_fixed_places_and_tools_make_way() {
    let catalog = Catalog::build(vec![
        entry("mcp:s:resources", ""),
        entry("mcp:s:prompts", ""),
        entry("mcp:s:resources.list", ""),
        operation("s", Operation::ResourcesList),
        operation("s", Operation::ResourcesRead),
        operation("s", Operation::PromptsList),
        operation("s", Operation::PromptsGet),
    ])
    .unwrap();
    assert_eq!(
        spelled(&catalog),
        [
            "MCP.s.resources2",
            "MCP.s.prompts2",
            "MCP.s.resourcesList",
            "MCP.s.resources.list",
            "MCP.s.resources.read",
            "MCP.s.prompts.list",
            "MCP.s.prompts.get",
        ]
    );
    for entry in catalog.entries() {
        let spelling = catalog.mcp_spelling(entry).unwrap();
        let found = catalog.by_mcp_spelling(&spelling["MCP.".len()..]).unwrap();
        assert_eq!(found.id, entry.id);
        let alone = mcp_spelling_of(entry.id.owner(), entry.name());
        assert_eq!(alone, spelling);
    }
    assert!(catalog.by_mcp_spelling("MCP.s.resources2").is_none());
    assert!(catalog.by_mcp_spelling("s.resources").is_none());
}

#[test]
fn names_stay_when_a_catalog_is_narrowed() {
    let catalog = Catalog::build(vec![
        entry("mcp:s:get-it", ""),
        entry("mcp:s:get_it", ""),
        entry("mcp:S:gone", ""),
        entry("openclaw:a:same", ""),
        entry("openclaw:b:same", ""),
    ])
    .unwrap();
    let kept = ["mcp:s:get_it", "openclaw:b:same"];
    let narrowed = catalog.narrowed(|entry| kept.contains(&entry.id.as_str()));
    assert_eq!(spelled(&narrowed), ["MCP.s.getIt2"]);
    assert!(narrowed.by_mcp_spelling("s.getIt").is_none());
    assert_eq!(narrowed.safe_names().count(), 0);
    let servers = narrowed.servers().iter();
    let servers: Vec<_> = servers.map(|space| space.identifier.as_str()).collect();
    assert_eq!(servers, ["s"]);
    for entry in narrowed.entries() {
        assert_eq!(narrowed.identity(entry), catalog.identity(entry));
    }
}

#[test]
fn what_servers_say_counts_for_the_hash_and_spellings_for_the_identity() {
    let hash = |servers| {
        Catalog::with_servers(vec![], servers)
            .unwrap()
            .content_hash()
    };
    let described = McpServer {
        description: Some("x".to_owned()),
        ..McpServer::new("a")
    };
    let hashes = [
        hash(vec![]),
        hash(vec![McpServer::new("a")]),
        hash(vec![unavailable("a", "x")]),
        hash(vec![described.clone()]),
    ];
    for (at, one) in hashes.iter().enumerate() {
        assert!(!hashes[at + 1..].contains(one), "{at}");
    }
    assert_eq!(
        hash(vec![described.clone(), McpServer::new("b")]),
        hash(vec![McpServer::new("b"), described])
    );
    let alone = Catalog::build(vec![entry("mcp:s:a_b", "")]).unwrap();
    let second = Catalog::build(vec![entry("mcp:s:a-b", ""), entry("mcp:s:a_b", "")]).unwrap();
    assert_ne!(
        alone.identity(&alone.entries()[0]),
        second.identity(&second.entries()[1])
    );
}
