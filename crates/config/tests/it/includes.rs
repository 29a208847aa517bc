//! `$include` and `${VAR}`.

use crate::support::{World, path, setting};

#[test]
fn files_merge_in_order_and_own_keys_win() {
    let world = World::new(
        "{ $include: ['base.json5', 'more/extra.json5'], tools: { codeMode: { maxGuestMs: 900 } } }",
    )
    .file("base.json5", "{ tools: { deny: ['a'], codeMode: { timeoutMs: 200, maxGuestMs: 300 } } }")
    .file("more/extra.json5", "{ tools: { deny: ['b'], exec: { $include: 'exec.json5' } } }")
    .file("more/exec.json5", "\n{ timeoutMs: 777 }");
    let loaded = world.load(&[]).unwrap();
    insta::assert_snapshot!(
        [
            "tools.deny",
            "tools.codeMode.timeoutMs",
            "tools.codeMode.maxGuestMs",
            "tools.exec.timeoutMs",
        ]
        .map(|at| setting(&loaded, at))
        .join("\n")
    );
}

#[test]
fn own_keys_over_an_included_short_form_keep_it_on() {
    let world = World::new("{ tools: { codeMode: { $include: 'on.json5', timeoutMs: 200 } } }")
        .file("on.json5", "{ enabled: true }");
    let loaded = world.load(&[]).unwrap();
    insta::assert_snapshot!(
        setting(&loaded, "tools.codeMode.enabled"),
        @"tools.codeMode.enabled = true  (/conf/on.json5:1:3)"
    );
}

#[test]
fn what_is_wrong_with_includes() {
    let chain = |length: usize| {
        let world = World::new("{ $include: '0' }");
        (0..length).fold(world, |world, at| {
            world.file(&at.to_string(), &format!("{{ $include: '{}' }}", at + 1))
        })
    };
    let fan = (0..6).fold(World::new("{ $include: ['0','0','0'] }"), |world, at| {
        let next = at + 1;
        world.file(
            &at.to_string(),
            &format!("{{ $include: ['{next}','{next}','{next}'] }}"),
        )
    });
    let worlds = [
        ("outside", World::new("{ $include: '../secret.json5' }")),
        ("absolute", World::new("{ $include: '/etc/passwd' }")),
        ("missing", World::new("{ $include: 'nope.json5' }")),
        ("itself", World::new("{ $include: './codecell.json' }")),
        ("no file name", World::new("{ $include: 5 }")),
        ("none", World::new("{ $include: [] }")),
        ("mixed", World::new("{ $include: ['a', 1] }")),
        (
            "circle",
            World::new("{ $include: 'a' }")
                .file("a", "{ $include: 'b' }")
                .file("b", "{\n$include: 'a' }"),
        ),
        ("too deep", chain(12)),
        ("just deep enough", chain(9).file("9", "{}")),
        ("too many", fan.file("6", "{}")),
        (
            "error inside",
            World::new("{ tools: { $include: 'a' } }").file("a", "{\n  alow: [] }"),
        ),
        (
            "broken",
            World::new("{ $include: 'a' }").file("a", "{\n  tools: }"),
        ),
    ];
    let lines = worlds.map(|(name, world)| match world.load(&[]) {
        Ok(_) => format!("{name}: accepted"),
        Err(error) => format!("{name}: {error}"),
    });
    insta::assert_snapshot!(lines.join("\n"));
}

#[test]
fn variables_are_replaced_in_texts() {
    let text = r#"{ mcp: { servers: { a: { command: "${HOME_DIR}/bin/${NAME}",
        args: ["$${NAME}", "$NAME", "${lower}", "$$", "${NAME", "$${", "a$${NAME}b${NAME}"] } } } }"#;
    let world = World::new(text)
        .variable("HOME_DIR", "/h")
        .variable("NAME", "${NAME}!");
    let loaded = world.load(&[]).unwrap();
    insta::assert_snapshot!(
        loaded.config.get(&path("mcp.servers.a")).unwrap().value,
        @r#"{"command":"/h/bin/${NAME}!","args":["${NAME}","$NAME","${lower}","$$","${NAME","$${","a${NAME}b${NAME}!"]}"#
    );
    insta::assert_snapshot!(
        World::new("{\n mcp: { servers: { a: { url: 'https://x/${TOKEN}' } } } }").load(&[]).unwrap_err(),
        @"/conf/codecell.json:2:25: `mcp.servers.a.url` uses the environment variable TOKEN, which is not set. Set it, or write $${TOKEN} for the text itself"
    );
}
