//! A short soak: many cells with suspensions leave nothing behind. The long one is a command.

use std::process::Command;

use codecell_testkit::hostile::report::keep;

/// Enough for what grows by ten kilobytes a cell to show beside what allocators keep.
const CELLS: &str = "3000";

#[test]
fn memory_is_flat() {
    let output = Command::new(env!("CARGO_BIN_EXE_codecell-soak"))
        .args([CELLS, "300"])
        .output()
        .expect("the process starts");
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    let last = said.lines().last().unwrap_or_default();
    keep("soak", &format!("soak: {CELLS} cells; {last}")).expect("the counts are kept");
}
