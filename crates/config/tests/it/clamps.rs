//! Each clamp is reached from both sides, and one value just inside it is kept.

use codecell_config::keys::{CODE_MODE, Clamp, Kind};
use codecell_config::{Enabled, Language, OutputOverflow};
use serde_json::Value;

use crate::support::{loaded, setting};

/// The numbers of `tools.codeMode` with their clamps.
fn numbers() -> Vec<(&'static str, Clamp)> {
    let number = |key: &'static codecell_config::keys::Key| match key.kind {
        Kind::Integer(clamp) => Some((key.name, clamp)),
        _ => None,
    };
    CODE_MODE.iter().filter_map(number).collect()
}

/// What becomes of a number: the value in use, and whether it was reported as clamped.
fn used(name: &str, given: &str) -> (u64, bool) {
    let loaded = loaded(&format!(
        "{{ tools: {{ codeMode: {{ {name}: {given} }} }} }}"
    ));
    let setting = loaded
        .config
        .get(&crate::support::path(&format!("tools.codeMode.{name}")));
    let clamped = loaded
        .report
        .clamped
        .iter()
        .any(|c| c.path.to_string().ends_with(name));
    (setting.unwrap().value.as_u64().unwrap(), clamped)
}

#[test]
fn every_number_stops_at_its_bounds_and_keeps_what_is_inside() {
    let all = numbers();
    assert_eq!(all.len(), 16, "a new limit needs a look at this test");
    for (name, clamp) in all {
        assert_eq!(
            used(name, &clamp.min.to_string()),
            (clamp.min, false),
            "{name}: lowest"
        );
        assert_eq!(
            used(name, &clamp.max.to_string()),
            (clamp.max, false),
            "{name}: highest"
        );
        let below = i128::from(clamp.min) - 1;
        assert_eq!(
            used(name, &below.to_string()),
            (clamp.min, true),
            "{name}: below"
        );
        let above = clamp.max + 1;
        assert_eq!(
            used(name, &above.to_string()),
            (clamp.max, true),
            "{name}: above"
        );
        assert_eq!(used(name, "-1e300"), (clamp.min, true), "{name}: far below");
        assert_eq!(used(name, "1e300"), (clamp.max, true), "{name}: far above");
        if let Some(default) = clamp.default {
            assert!(
                (clamp.min..=clamp.max).contains(&default),
                "{name}: default"
            );
            assert_eq!(
                setting_value(name),
                Value::from(default),
                "{name}: default in use"
            );
        }
    }
}

fn setting_value(name: &str) -> Value {
    let path = crate::support::path(&format!("tools.codeMode.{name}"));
    loaded("{}").config.get(&path).unwrap().value
}

#[test]
fn the_getters_read_their_own_keys() {
    let text: String = numbers()
        .iter()
        .enumerate()
        .map(|(at, (name, clamp))| format!("{name}: {},\n", clamp.min + 1 + at as u64 % 2))
        .collect();
    let config = loaded(&format!("{{ tools: {{ codeMode: {{ {text} }} }} }}")).config;
    insta::assert_debug_snapshot!(config.code_mode());
}

#[test]
fn what_was_clamped_is_reported() {
    let loaded = loaded(
        "{ tools: { codeMode: { timeoutMs: 0x1, memoryLimitBytes: 1e12, maxSearchLimit: 5,
           searchDefaultLimit: 20 }, exec: { timeoutMs: 1 } },
           agents: { list: [ { id: 'a', tools: { codeMode: { maxGuestMs: 5 } } } ] } }",
    );
    let lines = loaded.report.clamped.iter().map(|c| {
        format!(
            "{} = {} -> {} ({} to {})",
            c.path, c.given, c.used, c.min, c.max
        )
    });
    insta::assert_snapshot!(lines.collect::<Vec<_>>().join("\n"));
    assert_eq!(loaded.config.code_mode().search_default_limit(), 5);
    assert_eq!(loaded.config.agents()[0].code_mode.max_guest_ms(), 100);
}

#[test]
fn a_lower_search_limit_takes_the_default_along() {
    let loaded = loaded("{ tools: { codeMode: { maxSearchLimit: 3 } } }");
    assert_eq!(loaded.config.code_mode().search_default_limit(), 3);
    assert_eq!(loaded.report.clamped, []);
}

#[test]
fn code_mode_is_on_only_when_it_is_said() {
    let enabled = |text: &str| loaded(text).config.code_mode().enabled();
    assert_eq!(enabled("{}"), Enabled::Off);
    assert_eq!(enabled("{ tools: { codeMode: true } }"), Enabled::On);
    assert_eq!(enabled("{ tools: { codeMode: false } }"), Enabled::Off);
    assert_eq!(enabled("{ tools: { codeMode: {} } }"), Enabled::Off);
    assert_eq!(
        enabled("{ tools: { codeMode: { timeoutMs: 500 } } }"),
        Enabled::Off
    );
    assert_eq!(
        enabled("{ tools: { codeMode: { enabled: true } } }"),
        Enabled::On
    );
    assert_eq!(
        enabled("{ tools: { codeMode: { enabled: 'auto' } } }"),
        Enabled::Auto
    );
}

#[test]
fn words_become_options() {
    let config = loaded(
        "{ tools: { codeMode: { languages: ['typescript'], outputOverflow: 'truncate',
           records: 'off' } } }",
    )
    .config;
    assert_eq!(config.code_mode().languages(), [Language::TypeScript]);
    assert_eq!(
        config.code_mode().output_overflow(),
        OutputOverflow::Truncate
    );
    assert!(!config.code_mode().records());
    let both = [Language::JavaScript, Language::TypeScript];
    assert_eq!(loaded("{}").config.code_mode().languages(), both);
}

#[test]
fn whole_numbers_may_be_written_in_every_way() {
    for (given, expected) in [("0x1F4", 500), ("5e2", 500), ("500.0", 500), ("+500", 500)] {
        let line = setting(
            &loaded(&format!(
                "{{ tools: {{ codeMode: {{ timeoutMs: {given} }} }} }}"
            )),
            "tools.codeMode.timeoutMs",
        );
        assert!(
            line.starts_with(&format!("tools.codeMode.timeoutMs = {expected} ")),
            "{line}"
        );
    }
}
