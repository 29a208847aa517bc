//! What holds for every policy, every argument and every secret.

use codecell_tools::approval::escape_for_display;
use codecell_tools::redact::{REDACTED, Redactor};
use codecell_tools::{Policy, PolicyOptions, PolicyRules, Profile, ToolDefinition, Verdict};
use proptest::prelude::*;
use serde_json::{Value, json};

use crate::support::definition;

fn tools() -> Vec<ToolDefinition> {
    [
        "openclaw:core:read",
        "openclaw:core:write",
        "openclaw:core:apply_patch",
        "openclaw:core:exec",
        "openclaw:weather:forecast",
        "mcp:github:get_issue",
        "mcp:files:read",
        "client:ide:open_file",
    ]
    .map(definition)
    .into()
}

fn entry() -> impl Strategy<Value = String> {
    prop_oneof![
        proptest::sample::select(vec![
            "read",
            "write",
            "apply_patch",
            "bash",
            "group:fs",
            "group:plugins",
            "weather",
            "bundle-mcp",
            "github__*",
            "mcp:*",
            "*",
            "openclaw:core:exec",
            "Read ",
            "ide",
        ])
        .prop_map(str::to_owned),
        "[a-z*:_]{1,12}",
    ]
}

fn scope() -> impl Strategy<Value = PolicyRules> {
    let entries = || proptest::collection::vec(entry(), 0..4);
    (proptest::option::of(entries()), entries()).prop_map(|(allow, deny)| PolicyRules {
        label: "scope".to_owned(),
        allow,
        also_allow: Vec::new(),
        deny,
    })
}

fn left(scopes: &[PolicyRules]) -> Vec<bool> {
    let policy = Policy::build(&PolicyOptions {
        profile: Profile::Full,
        scopes: scopes.to_vec(),
    })
    .unwrap();
    let judge = |tool: &ToolDefinition| policy.judge(tool) == Verdict::Allowed;
    tools().iter().map(judge).collect()
}

fn json_value() -> impl Strategy<Value = Value> {
    let leaf = prop_oneof![
        Just(Value::Null),
        any::<bool>().prop_map(Value::from),
        any::<i64>().prop_map(Value::from),
        any::<String>().prop_map(Value::from),
    ];
    leaf.prop_recursive(4, 32, 4, |inner| {
        prop_oneof![
            proptest::collection::vec(inner.clone(), 0..4).prop_map(Value::from),
            proptest::collection::vec((any::<String>(), inner), 0..4)
                .prop_map(|fields| Value::Object(fields.into_iter().collect())),
        ]
    })
}

proptest! {
    #[test]
    fn a_further_scope_never_adds_a_tool(scopes in proptest::collection::vec(scope(), 1..4)) {
        for shorter in 0..scopes.len() {
            let fewer = left(&scopes[..shorter]);
            let more = left(&scopes[..=shorter]);
            for (before, after) in fewer.iter().zip(&more) {
                prop_assert!(*before || !after);
            }
        }
    }

    #[test]
    fn a_further_denial_never_adds_a_tool(rules in scope(), denied in entry()) {
        let mut stricter = rules.clone();
        stricter.deny.push(denied);
        for (before, after) in left(&[rules]).iter().zip(&left(&[stricter])) {
            prop_assert!(*before || !after);
        }
    }

    #[test]
    fn what_is_shown_is_the_same_value_and_acts_on_nothing(value in json_value()) {
        let shown = escape_for_display(&value.to_string());
        prop_assert_eq!(serde_json::from_str::<Value>(&shown).unwrap(), value);
        let acts = |c: char| c.is_control() || ('\u{202a}'..='\u{202e}').contains(&c);
        prop_assert!(!shown.chars().any(acts), "{}", shown);
    }

    #[test]
    fn a_registered_secret_never_leaves(value in json_value(), secret in "[A-Za-z0-9]{6,12}", prefix in ".{0,8}") {
        let redactor = Redactor::default();
        redactor.register(&secret);
        let value = json!({"a": [value], "b": format!("{prefix}{secret}{prefix}"), secret.as_str(): 1});
        let clean = redactor.value(&value).to_string();
        prop_assert!(!clean.contains(&secret) || REDACTED.contains(&secret), "{}", clean);
    }
}
