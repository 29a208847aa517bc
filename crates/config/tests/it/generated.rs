//! The committed schema and table of keys are what the code makes.
//!
//! With `UPDATE_EXPECTED=1` the files are written instead.

use std::path::PathBuf;

use codecell_config::{clamp_table_markdown, schema};

fn check(name: &str, expected: &str) {
    let file = PathBuf::from(concat!(env!("CARGO_MANIFEST_DIR"), "/../../docs")).join(name);
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(&file, expected).unwrap();
    }
    let committed = std::fs::read_to_string(&file).unwrap_or_default();
    assert!(
        committed == expected,
        "docs/{name} is out of date: run UPDATE_EXPECTED=1 cargo test -p codecell-config generated"
    );
}

#[test]
fn the_schema() {
    check("config.schema.json", &format!("{:#}\n", schema()));
}

#[test]
fn the_table_of_limits() {
    let text = format!(
        "# `tools.codeMode`\n\nThe keys, their defaults and their bounds. A number outside its bounds is \
         clamped, and `codecell doctor` says so. This file is made from the table in `codecell-config`.\n\n{}",
        clamp_table_markdown()
    );
    check("code-mode-keys.md", &text);
}
