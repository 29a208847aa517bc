//! Layers: who wins, and what `config get` says about where a value came from.

use codecell_config::{AskFallback, Enabled, LoadRequest, McpEndpoint, Origin, Override};
use serde_json::json;

use crate::support::{World, loaded, path, setting};

#[test]
fn every_value_remembers_where_it_came_from() {
    let world =
        World::new("{\n  tools: {\n    codeMode: { timeoutMs: 2000, maxGuestMs: 7000 },\n  },\n}");
    let loaded = world
        .load(&["tools.codeMode.timeoutMs=3000", "tools.deny=['exec']"])
        .unwrap();
    insta::assert_snapshot!(
        [
            "tools.codeMode.timeoutMs",
            "tools.codeMode.maxGuestMs",
            "tools.codeMode.maxOutputBytes",
            "tools.codeMode.maxGuestMemoryBytes",
            "tools.codeMode.snapshotStore",
            "tools.codeMode.enabled",
            "tools.deny",
            "tools.deny[0]",
            "tools.exec",
            "tools.nope",
            "agents.list[0]",
        ]
        .map(|at| setting(&loaded, at))
        .join("\n")
    );
}

#[test]
fn a_flag_over_the_short_form_keeps_it_on() {
    let world = World::new("{ tools: { codeMode: true } }");
    let loaded = world.load(&["tools.codeMode.timeoutMs=3000"]).unwrap();
    assert_eq!(loaded.config.code_mode().enabled(), Enabled::On);
    assert_eq!(loaded.config.code_mode().timeout_ms(), 3000);
}

#[test]
fn an_agent_merges_field_by_field_and_flags_win_over_it() {
    let text = "{ tools: { codeMode: { enabled: true, timeoutMs: 2000, maxGuestMs: 5000 } },
        agents: { list: [
            { id: 'off', tools: { codeMode: false } },
            { id: 'slow', default: true, tools: { deny: ['exec'], profile: 'coding',
                codeMode: { timeoutMs: 30000 } } },
        ] } }";
    let shown = |flags: &[&str], id: Option<&str>| {
        let agent = World::new(text)
            .load(flags)
            .unwrap()
            .config
            .agent(id)
            .unwrap();
        let mode = &agent.code_mode;
        format!(
            "{} {:?} {} {}",
            agent.id,
            mode.enabled(),
            mode.timeout_ms(),
            mode.max_guest_ms()
        )
    };
    assert_eq!(shown(&[], Some("off")), "off Off 2000 5000");
    assert_eq!(shown(&[], Some("slow")), "slow On 30000 5000");
    assert_eq!(shown(&[], None), "slow On 30000 5000");
    assert_eq!(shown(&[], Some("main")), "main On 2000 5000");
    let flags = ["tools.codeMode.timeoutMs=400"];
    assert_eq!(shown(&flags, Some("slow")), "slow On 400 5000");
    let rules = World::new(text)
        .load(&[])
        .unwrap()
        .config
        .agent(Some("slow"))
        .unwrap()
        .tools;
    assert_eq!(
        (rules.deny, rules.profile),
        (vec!["exec".to_owned()], Some("coding".to_owned()))
    );
}

#[test]
fn an_empty_allow_is_not_an_absent_one() {
    assert_eq!(
        loaded("{ tools: { allow: [] } }").config.tools().allow,
        Some(vec![])
    );
    assert_eq!(loaded("{ tools: {} }").config.tools().allow, None);
}

#[test]
fn the_other_options_are_read() {
    let config = loaded(
        "{ tools: { exec: { askFallback: 'full', timeoutMs: 5000, security: 'full' },
             webFetch: { allowHosts: ['*.example.com'], allowPrivateNetwork: true },
             alsoAllow: ['web'], profile: 'minimal' },
           mcp: { servers: { 'a.b': { command: 'x', args: ['y'], timeout: 5 } }, sessionIdleTtlMs: 7 },
           agents: { defaults: { models: { 'p/m': { codeMode: true }, 'p/n': { alias: 'n' } } } } }",
    )
    .config;
    assert_eq!(config.exec().ask_fallback(), AskFallback::Full);
    assert_eq!(config.exec().timeout_ms(), 5000);
    assert_eq!(config.web_fetch().allow_hosts, ["*.example.com"]);
    assert!(config.web_fetch().allow_private_network);
    assert_eq!(config.tools().also_allow, ["web"]);
    let server = &config.mcp_servers()["a.b"];
    assert_eq!(server.request_timeout_ms, Some(5_000));
    assert!(server.is_enabled && server.is_parallel);
    assert_eq!(config.mcp_idle_ttl_ms(), 7);
    let McpEndpoint::Command { command, args, .. } = &server.endpoint else {
        panic!("a command");
    };
    assert_eq!(
        (command.as_str(), args.as_slice()),
        ("x", &["y".to_owned()][..])
    );
    assert_eq!(config.model_code_mode("p/m"), Some(true));
    assert_eq!(config.model_code_mode("p/n"), None);
    let value = config
        .get(&path("mcp.servers[\"a.b\"].command"))
        .unwrap()
        .value;
    assert_eq!(value, json!("x"));
}

#[test]
fn nothing_configured_is_the_defaults() {
    let request = LoadRequest::default();
    let loaded = World::default().load_request(&request).unwrap();
    assert_eq!(loaded.config.exec().ask_fallback(), AskFallback::Deny);
    assert_eq!(loaded.config.agent(None).unwrap().id, "main");
    assert_eq!(loaded.report.file, None);
    insta::assert_json_snapshot!(loaded.config.get(&path("")).unwrap().value);
}

#[test]
fn a_missing_file_is_the_defaults_unless_it_was_named() {
    let mut request = LoadRequest {
        file: Some("/conf/./codecell.json".into()),
        ..LoadRequest::default()
    };
    assert_eq!(
        World::default().load_request(&request).unwrap().report.file,
        None
    );
    request.must_exist = true;
    assert!(World::default().load_request(&request).is_err());
}

#[test]
fn keys_without_a_part_in_this_program_are_named_once() {
    let loaded = loaded(
        "{ $schema: 'x', channels: { whatever: [1, 2] }, gateway: {}, tools: { toolSearch: true },
           agents: { defaults: { model: 'p/m', sandbox: { mode: 'off', docker: {} } },
                     list: [ { id: 'a', name: 'A' } ] } }",
    );
    let ignored: Vec<String> = loaded
        .report
        .ignored
        .iter()
        .map(ToString::to_string)
        .collect();
    insta::assert_snapshot!(ignored.join("\n"), @r"
    channels
    gateway
    tools.toolSearch
    agents.defaults.model
    agents.defaults.sandbox.docker
    agents.list[0].name
    ");
}

#[test]
fn overrides_that_are_no_flags_keep_their_name() {
    let request = LoadRequest {
        overrides: vec![Override {
            origin: Origin::Named("CODECELL_TIMEOUT".to_owned()),
            path: path("tools.codeMode.timeoutMs"),
            value: json!("soon"),
        }],
        ..LoadRequest::default()
    };
    insta::assert_snapshot!(
        World::default().load_request(&request).unwrap_err(),
        @r#"CODECELL_TIMEOUT: `tools.codeMode.timeoutMs` must be a whole number (ms), but it is the text "soon""#
    );
}

#[test]
fn paths_read_as_they_are_written() {
    for text in [
        "",
        "a.b",
        "agents.list[0].id",
        "mcp.servers[\"a.b \\\"]\"].x",
        "[\"\"]",
    ] {
        assert_eq!(path(text).to_string(), text);
    }
    assert_eq!(path("agents.list.0.id"), path("agents.list[0].id"));
}
