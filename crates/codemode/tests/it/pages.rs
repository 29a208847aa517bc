//! The page of internal limits is the table in code; with `UPDATE_EXPECTED=1` it is written.

const HEAD: &str = "# Limits\n\nWhat a person can set stands in [code-mode-keys.md](../code-mode-keys.md). These limits cannot be set; they hold for every\ncell, enforced by the host. The table is made from `INTERNAL_LIMITS` in `crates/codemode/src/limits.rs`. Those of\nMCP servers stand in [mcp-client.md](mcp-client.md#limits), those of the front in [mcp-front.md](mcp-front.md#limits).\n\n";

#[test]
fn the_page_of_limits_is_the_table() {
    let page = concat!(
        env!("CARGO_MANIFEST_DIR"),
        "/../../docs/technical/limits.md"
    );
    let expected = format!("{HEAD}{}", codecell_codemode::render_limits());
    if std::env::var_os("UPDATE_EXPECTED").is_some() {
        std::fs::write(page, &expected).unwrap();
    }
    assert_eq!(
        std::fs::read_to_string(page).unwrap(),
        expected,
        "UPDATE_EXPECTED=1 cargo test -p codecell-codemode pages"
    );
}
