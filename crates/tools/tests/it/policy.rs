//! Which tools a policy leaves, as tables.

use std::sync::Arc;

use codecell_protocol::EffectKind;
use codecell_tools::{
    Policy, PolicyOptions, PolicyRules, Profile, Tool, ToolDefinition, ToolSet, ToolSetError,
    Verdict,
};
use serde_json::Value;

use crate::support::{Act, Fake, Log, definition};

const TOOLS: &[&str] = &[
    "openclaw:core:read",
    "openclaw:core:write",
    "openclaw:core:edit",
    "openclaw:core:apply_patch",
    "openclaw:core:grep",
    "openclaw:core:exec",
    "openclaw:core:process",
    "openclaw:core:web_fetch",
    "openclaw:core:session_status",
    "openclaw:weather:forecast",
    "openclaw:weather:Read",
    "mcp:github:get_issue",
    "mcp:github:delete_repo",
    "mcp:files:read",
    "client:ide:open_file",
];

fn definitions() -> Vec<ToolDefinition> {
    TOOLS.iter().map(|id| definition(id)).collect()
}

fn rules(label: &str, allow: Option<&[&str]>, also: &[&str], deny: &[&str]) -> PolicyRules {
    let texts = |list: &[&str]| list.iter().map(|text| (*text).to_owned()).collect();
    PolicyRules {
        label: label.to_owned(),
        allow: allow.map(texts),
        also_allow: texts(also),
        deny: texts(deny),
    }
}

fn left(profile: Profile, scopes: Vec<PolicyRules>) -> String {
    let policy = Policy::build(&PolicyOptions { profile, scopes }).unwrap();
    let kept = definitions()
        .iter()
        .filter(|tool| policy.judge(tool) == Verdict::Allowed)
        .map(|tool| {
            let id = tool.id.as_str();
            id.strip_prefix("openclaw:core:").unwrap_or(id).to_owned()
        })
        .collect::<Vec<_>>();
    if kept.len() == TOOLS.len() {
        return "everything".to_owned();
    }
    kept.join(" ")
}

#[test]
fn one_scope() {
    type Row<'a> = (Option<&'a [&'a str]>, &'a [&'a str], &'a str);
    let cases: &[Row<'_>] = &[
        (None, &[], "everything"),
        (Some(&[]), &[], ""),
        (Some(&["*"]), &[], "everything"),
        (Some(&["write"]), &[], "write apply_patch"),
        (Some(&["  WRITE "]), &[], "write apply_patch"),
        (Some(&["write"]), &["apply_patch"], "write"),
        (Some(&["write"]), &["apply-patch"], "write"),
        // A group is of core tools: the plugin's `Read` is not in it.
        (Some(&["group:fs"]), &["write"], "read edit apply_patch"),
        (Some(&["bash"]), &[], "exec"),
        (Some(&["group:runtime"]), &[], "exec process"),
        (Some(&["GROUP:Web"]), &[], "web_fetch"),
        (
            Some(&["group:openclaw"]),
            &["group:fs", "group:runtime"],
            "grep web_fetch session_status",
        ),
        (
            Some(&["group:plugins"]),
            &[],
            "openclaw:weather:forecast openclaw:weather:Read mcp:github:get_issue mcp:github:delete_repo mcp:files:read",
        ),
        (
            Some(&["weather"]),
            &[],
            "openclaw:weather:forecast openclaw:weather:Read",
        ),
        (
            Some(&["group:weather"]),
            &["forecast"],
            "openclaw:weather:Read",
        ),
        (
            Some(&["bundle-mcp"]),
            &["github__delete_*"],
            "mcp:github:get_issue mcp:files:read",
        ),
        (
            Some(&["github__*"]),
            &[],
            "mcp:github:get_issue mcp:github:delete_repo",
        ),
        (
            Some(&["mcp:github:*"]),
            &["mcp:github:delete_repo"],
            "mcp:github:get_issue",
        ),
        (Some(&["mcp:*:get_*"]), &[], "mcp:github:get_issue"),
        (Some(&["client:ide:open_file"]), &[], "client:ide:open_file"),
        (Some(&["client:ide:*"]), &["IDE"], ""),
        // Nor does the bare name of a server or client let its tools in.
        (Some(&["github", "files", "ide"]), &[], ""),
        (
            None,
            &["github", "FILES", "ide", "weather", "group:openclaw"],
            "",
        ),
        // A server cannot name its tool after an allowed one.
        (Some(&["read"]), &[], "read openclaw:weather:Read"),
        (Some(&["openclaw:core:read"]), &[], "read"),
        (Some(&["nodes", "no_such_tool"]), &[], ""),
    ];
    for (allow, deny, expected) in cases {
        let scope = rules("tools", *allow, &[], deny);
        assert_eq!(
            left(Profile::Full, vec![scope]),
            *expected,
            "{allow:?} {deny:?}"
        );
    }
}

#[test]
fn a_denied_name_is_denied_in_every_spelling() {
    for deny in [
        "read",
        "READ",
        " Read ",
        "rea*",
        "*ead",
        "group:fs",
        "group:openclaw",
        "*",
        "openclaw:core:read",
        "OpenClaw:Core:READ",
        "openclaw:*",
    ] {
        let scope = rules("tools", None, &[], &[deny]);
        let kept = left(Profile::Full, vec![scope]);
        assert!(
            !kept.split(' ').any(|name| name == "read"),
            "{deny}: {kept}"
        );
        assert_ne!(kept, "everything");
    }
    // The bare name of a server's tool is enough to deny it.
    let scope = rules("tools", None, &[], &["delete_repo", "get_issue"]);
    let kept = left(Profile::Full, vec![scope]);
    assert!(!kept.contains("github"), "{kept}");
    // And `write` does not deny what also writes under another name.
    let scope = rules("tools", None, &[], &["write"]);
    assert!(left(Profile::Full, vec![scope]).contains("apply_patch"));
}

#[test]
fn profiles_and_what_extends_them() {
    let also = |entries: &[&str]| vec![rules("tools", None, entries, &[])];
    assert_eq!(left(Profile::Minimal, vec![]), "session_status");
    assert_eq!(
        left(Profile::Coding, vec![]),
        "read write edit apply_patch grep exec process web_fetch session_status mcp:github:get_issue mcp:github:delete_repo mcp:files:read"
    );
    assert_eq!(
        left(Profile::Messaging, vec![]),
        "session_status mcp:github:get_issue mcp:github:delete_repo mcp:files:read"
    );
    assert_eq!(left(Profile::Full, vec![]), "everything");
    assert_eq!(
        left(Profile::Minimal, also(&["read", "weather"])),
        "read session_status openclaw:weather:forecast openclaw:weather:Read"
    );
    // Without a profile that restricts, alsoAllow restricts nothing.
    assert_eq!(left(Profile::Full, also(&["read"])), "everything");
    // It extends the profile, it does not undo a denial.
    let scopes = vec![
        rules("tools", None, &["exec"], &[]),
        rules("agents.main.tools", None, &[], &["exec"]),
    ];
    assert_eq!(left(Profile::Minimal, scopes), "session_status");
}

#[test]
fn a_tool_has_to_survive_every_scope() {
    let scopes = |inner: &[&str]| {
        vec![
            rules("tools", Some(&["group:fs", "exec"]), &[], &["edit"]),
            rules("--allow", Some(inner), &[], &[]),
        ]
    };
    assert_eq!(
        left(Profile::Full, scopes(&["read", "exec", "grep"])),
        "read exec"
    );
    assert_eq!(left(Profile::Full, scopes(&["edit"])), "");
    assert_eq!(
        left(Profile::Full, scopes(&["*"])),
        "read write apply_patch exec"
    );
}

#[test]
fn the_removing_step_is_named_for_audits() {
    let options = PolicyOptions {
        profile: Profile::Coding,
        scopes: vec![rules("tools", None, &[], &["exec"])],
    };
    let policy = Policy::build(&options).unwrap();
    assert_eq!(
        policy.judge(&definition("openclaw:core:exec")),
        Verdict::Removed("tools")
    );
    assert_eq!(
        policy.judge(&definition("client:ide:open_file")),
        Verdict::Removed("tools.profile (coding)")
    );
}

#[test]
fn rules_that_make_no_sense_are_errors() {
    let build = |scope| {
        Policy::build(&PolicyOptions {
            profile: Profile::Full,
            scopes: vec![scope],
        })
        .unwrap_err()
        .to_string()
    };
    let texts = [
        build(rules("tools", Some(&[]), &["x"], &[])),
        build(rules("tools", None, &[], &["read", " "])),
        build(rules("agents.main.tools", Some(&[""]), &[], &[])),
        build(rules("tools", None, &[&"x".repeat(1025)], &[])),
        build(rules("tools", None, &[], &["x"; 10_001])),
        "huge".parse::<Profile>().unwrap_err().to_string(),
    ];
    insta::assert_snapshot!(texts.join("\n"));
}

fn build(allow: Option<&[&str]>) -> Result<ToolSet, ToolSetError> {
    let tools: Vec<Arc<dyn Tool>> = definitions()
        .into_iter()
        .map(|definition| {
            Arc::new(Fake {
                definition,
                act: Act::Echo,
                needs: None,
                log: Arc::new(Log::default()),
            }) as Arc<dyn Tool>
        })
        .collect();
    let options = PolicyOptions {
        profile: Profile::Full,
        scopes: vec![rules("tools", allow, &[], &["exec"])],
    };
    ToolSet::build(&[Arc::new(tools)], &Policy::build(&options).unwrap())
}

#[test]
fn an_empty_allow_list_means_no_tools_and_a_useless_one_is_an_error() {
    assert!(build(Some(&[])).unwrap().catalog().is_empty());
    let error = build(Some(&["no_such_tool"])).unwrap_err();
    assert_eq!(
        error.to_string(),
        "no tool is left: tools allows none of the tools of this run; correct the names, or set allow to [] if a run without tools is meant"
    );
}

#[test]
fn unknown_entries_are_named_and_removals_are_kept() {
    let set = build(Some(&[
        "read",
        "exec",
        "reed",
        "group:media",
        "group:medium",
        "x*",
    ]))
    .unwrap();
    let unknown: Vec<_> = set
        .unknown_allow_entries()
        .iter()
        .map(|(label, entry)| format!("{label} {entry}"))
        .collect();
    assert_eq!(unknown, ["tools reed", "tools group:medium", "tools x*"]);
    assert_eq!(set.removals().len(), TOOLS.len() - set.catalog().len());
}

#[test]
fn a_definition_tells_the_catalog_what_it_may() {
    let mut claims = definition("mcp:files:read").read_only();
    assert_eq!(claims.entry().effect, EffectKind::Write);
    assert!(!claims.failure_is_clean());
    claims.trusted = true;
    assert_eq!(claims.entry().effect, EffectKind::Read);
    assert!(claims.failure_is_clean());
    let labelled = definition("openclaw:core:read")
        .with_label("Read a file")
        .with_output(Value::Bool(true));
    let entry = labelled.entry();
    assert_eq!(entry.label.as_deref(), Some("Read a file"));
    assert!(entry.output_schema.is_some());
}

/// A source whose servers have these tools.
struct Servers(Vec<&'static str>, Vec<&'static str>);

impl codecell_tools::ToolSource for Servers {
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        let fake = |id: &&str| -> Arc<dyn Tool> {
            Arc::new(Fake {
                definition: definition(id),
                act: Act::Echo,
                needs: None,
                log: Arc::new(Log::default()),
            })
        };
        self.1.iter().map(fake).collect()
    }

    fn servers(&self) -> Vec<codecell_catalog::McpServer> {
        let names = self.0.iter();
        names
            .map(|name| codecell_catalog::McpServer::new(*name))
            .collect()
    }
}

#[test]
fn a_run_learns_of_the_servers_that_policy_leaves_something_of() {
    let servers = || {
        Servers(
            vec!["files", "down"],
            vec!["mcp:files:read", "openclaw:core:ls"],
        )
    };
    type Row<'a> = (Option<&'a [&'a str]>, &'a [&'a str], &'a str);
    let cases: &[Row<'_>] = &[
        (None, &[], "files down"),
        (None, &["bundle-mcp"], ""),
        (None, &["files__*"], "down"),
        (None, &["mcp:down:*"], "files"),
        (None, &["group:plugins"], ""),
        (Some(&["ls"]), &[], ""),
        (Some(&["ls", "files__read"]), &[], "files"),
        (Some(&["ls", "files__write"]), &[], ""),
        (Some(&["ls", "down__get"]), &[], "down"),
        (Some(&["ls", "mcp:down:get"]), &[], "down"),
        (Some(&["ls", "d*get"]), &[], "down"),
        (Some(&["ls", "bundle-mcp"]), &["down"], "files"),
    ];
    for (allow, deny, expected) in cases {
        let options = PolicyOptions {
            profile: Profile::default(),
            scopes: vec![rules("tools", *allow, &[], deny)],
        };
        let policy = Policy::build(&options).unwrap();
        let set = ToolSet::build(&[Arc::new(servers())], &policy).unwrap();
        let shown = set.catalog().servers().iter();
        let shown: Vec<_> = shown.map(|space| space.identifier.as_str()).collect();
        assert_eq!(shown.join(" "), *expected, "{allow:?} {deny:?}");
    }
}
