//! Where the measured data are: `CODECELL_DATA`, or `shared/data` beside the workspace.

use std::path::PathBuf;

use serde_json::Value;

/// The rows of a JSON-lines file, or `None`, said aloud, when the data are not there.
pub(crate) fn rows(path: &str) -> Option<Vec<Value>> {
    let beside = || PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../shared/data");
    let file = std::env::var_os("CODECELL_DATA")
        .map_or_else(beside, PathBuf::from)
        .join(path);
    let Ok(text) = std::fs::read_to_string(&file) else {
        eprintln!("skipped: no {}", file.display());
        return None;
    };
    Some(
        text.lines()
            .map(|line| serde_json::from_str(line).expect("a JSON row"))
            .collect(),
    )
}
