//! Every way in which a configuration is refused, with the text that a person reads.

use crate::support::{World, loaded, path, refused};

/// One line per case: the config, then what it gets.
fn table(cases: &[&str]) -> String {
    cases
        .iter()
        .map(|case| format!("{case}\n    {}\n", refused(case)))
        .collect()
}

#[test]
fn what_is_wrong_with_keys_and_values() {
    insta::assert_snapshot!(table(&[
        // Unknown keys: a slip, the right name in the wrong place, nothing near.
        "{ tools: { codeMode: { timeoutms: 5 } } }",
        "{ tools: { codeMode: { timeout: 5 } } }",
        "{ codeMode: true }",
        "{ tools: { alow: [] } }",
        "{ tools: { webFetch: { zzzzz: 1 } } }",
        "{ tools: {\n  codeMode: {\n    // a comment\n    'max-pending': 1,\n  },\n} }",
        "{ agents: { list: [ { id: 'a' }, { id: 'b', tols: {} } ] } }",
        "{ agents: { defaults: { models: { 'p/m.x': { codemode: true } } } } }",
        // Wrong types.
        "[]",
        "{ tools: [] }",
        "{ tools: { codeMode: 'yes' } }",
        "{ tools: { codeMode: { enabled: 1 } } }",
        "{ tools: { codeMode: { enabled: 'always' } } }",
        "{ tools: { codeMode: { timeoutMs: '10s' } } }",
        "{ tools: { codeMode: { timeoutMs: 1.5 } } }",
        "{ tools: { codeMode: { timeoutMs: null } } }",
        "{ tools: { codeMode: { timeoutMs: Infinity } } }",
        "{ tools: { codeMode: { languages: [] } } }",
        "{ tools: { codeMode: { languages: ['javascript', 'python'] } } }",
        "{ tools: { codeMode: { languages: [1] } } }",
        "{ tools: { codeMode: { runtime: 'node' } } }",
        "{ tools: { codeMode: { mode: 'also' } } }",
        "{ tools: { codeMode: { outputOverflow: 'drop' } } }",
        "{ tools: { deny: 'exec' } }",
        "{ tools: { deny: ['exec', 1] } }",
        "{ tools: { profile: 'all' } }",
        "{ tools: { exec: { askFallback: 'allow' } } }",
        "{ tools: { webFetch: { allowPrivateNetwork: 'no' } } }",
        "{ mcp: { servers: { github: 'npx' } } }",
        "{ mcp: { servers: { github: { command: ['npx'] } } } }",
        "{ mcp: { servers: { github: { command: 'npx', env: { A: 1 } } } } }",
        "{ mcp: { servers: { github: { command: 'npx', arguments: [] } } } }",
        "{ mcp: { servers: { github: { url: 'https://x', transport: 'http' } } } }",
        "{ mcp: { servers: { github: { url: 'https://x', toolFilter: { includes: [] } } } } }",
        // Missing and conflicting keys.
        "{ mcp: { servers: { github: { command: 'npx', url: 'https://x' } } } }",
        "{ mcp: { servers: { github: { command: 'npx', transport: 'sse' } } } }",
        "{ mcp: { servers: { github: { url: 'https://x', transport: 'stdio' } } } }",
        "{ mcp: { servers: { github: { url: 'https://x', timeout: 5, requestTimeoutMs: 5000 } } } }",
        "{ mcp: { servers: { github: { args: [] } } } }",
        "{ agents: { list: [ { tools: {} } ] } }",
        "{ agents: { list: [ { id: 'a' }, { id: 'a' } ] } }",
        "{ tools: { allow: ['read'], alsoAllow: ['write'] } }",
        "{ tools: { codeMode: { enabled: true, snapshotStore: {} } } }",
    ]));
}

#[test]
fn what_restricts_and_is_not_enforced_refuses_to_start() {
    insta::assert_snapshot!(table(&[
        "{ tools: { sandbox: { tools: { allow: ['read'] } } } }",
        "{ tools: { byProvider: {} } }",
        "{ tools: { toolsBySender: {} } }",
        "{ tools: { exec: { security: 'deny' } } }",
        "{ tools: { exec: { mode: 'allowlist' } } }",
        "{ tools: { exec: { ask: 'always' } } }",
        "{ tools: { exec: { host: 'sandbox' } } }",
        "{ tools: { exec: { applyPatch: { enabled: false } } } }",
        "{ tools: { exec: { strictInlineEval: true } } }",
        "{ agents: { defaults: { sandbox: { mode: 'all' } } } }",
        "{ agents: { list: [ { id: 'a', sandbox: { mode: 'non-main' } } ] } }",
        "{ agents: { list: [ { id: 'a', tools: { byProvider: {} } } ] } }",
        "{ agents: { list: [ { id: 'a', tools: { exec: {} } } ] } }",
    ]));
}

#[test]
fn what_is_not_built_refuses_to_start() {
    insta::assert_snapshot!(table(&[
        "{ tools: { codeMode: { snapshotStore: { kind: 'sqlite', path: 'cells.db' } } } }",
        "{ tools: { codeMode: { snapshotStore: { kind: 'redis', url: 'redis://x' } } } }",
        "{ tools: { codeMode: { snapshotStore: { kind: 'postgres' } } } }",
        "{ tools: { codeMode: { snapshotStore: { kind: 'mysql' } } } }",
        "{ tools: { codeMode: { records: true } } }",
        "{ tools: { codeMode: { records: 'on' } } }",
        "{ agents: { list: [ { id: 'a', tools: { codeMode: { records: 'on' } } } ] } }",
    ]));
}

#[test]
fn what_is_no_json5() {
    insta::assert_snapshot!(table(&[
        "",
        "{",
        "{ tools: { codeMode: true }",
        "{\n  tools: {\n    allow: ['read'\n    deny: [] } }",
        "{ tools: tru }",
        "{} {}",
        "{ tools: {}, mcp: {}, tools: {} }",
        "{ tools: { allow: ['a'], \"\\u0061llow\": [] } }",
    ]));
    let deep = format!("{}{}", "[".repeat(100_000), "]".repeat(100_000));
    insta::assert_snapshot!(
        World::new(&deep).load(&[]).unwrap_err(),
        @"/conf/codecell.json:1:65: objects and arrays are nested deeper than 64 levels"
    );
    let large = format!("// {}", "x".repeat(2 * 1024 * 1024));
    insta::assert_snapshot!(
        World::new(&large).load(&[]).unwrap_err(),
        @"/conf/codecell.json: the file has 2097155 bytes; a config file may have 2097152"
    );
}

#[test]
fn what_is_wrong_with_overrides_and_paths() {
    let flags = [
        "tools.codeMode.timeoutMs",
        "=1",
        "tools..x=1",
        "tools[0=1",
        "tools.codeMode.timeoutMs=soon",
        "tools.codeMode.timout=1",
        "tools.codeMode.outputOverflow=drop",
        "tools.sandbox={}",
    ];
    let lines = flags.map(|flag| match World::new("{}").load(&[flag]) {
        Ok(_) => format!("{flag} is accepted"),
        Err(error) => format!("{flag}\n    {error}"),
    });
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn what_is_asked_for_and_not_there() {
    let config = loaded("{ agents: { list: [ { id: 'writer' }, { id: 'reader' } ] } }").config;
    let missing = |id| config.agent(Some(id)).unwrap_err().to_string();
    insta::assert_snapshot!(missing("writr"), @"unknown agent `writr`. Did you mean `writer`?");
    insta::assert_snapshot!(missing("x"), @"unknown agent `x`. Known here: `writer`, `reader`.");
    insta::assert_snapshot!(
        config.get(&path("tools.codeMode.timeoutM")).unwrap_err(),
        @"unknown key `tools.codeMode.timeoutM`. Did you mean `tools.codeMode.timeoutMs`?"
    );
    let absent = World::default().load(&[]).unwrap_err();
    insta::assert_snapshot!(
        absent,
        @"cannot read the config file /conf/codecell.json: no such file"
    );
}
