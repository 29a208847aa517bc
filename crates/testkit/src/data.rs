//! The data from outside of the project, for tests that measure against the real world.
//!
//! It is not part of a clone: a test that needs it says so and passes when it is absent.

use std::path::PathBuf;

use crate::places::workspace_root;

/// The folder named by `CODECELL_DATA`, else `../shared/data` beside the workspace, if it exists.
#[must_use]
pub fn data_folder() -> Option<PathBuf> {
    let named = std::env::var_os("CODECELL_DATA").filter(|value| !value.is_empty());
    let folder = named.map_or_else(|| workspace_root().join("../shared/data"), PathBuf::from);
    folder.is_dir().then_some(folder)
}

/// A file or folder of the data, or a printed note that `test` is skipped for want of it.
#[must_use]
pub fn data_or_skip(test: &str, path: &str) -> Option<PathBuf> {
    let found = data_folder()
        .map(|folder| folder.join(path))
        .filter(|path| path.exists());
    if found.is_none() {
        eprintln_skip(test, path);
    }
    found
}

#[expect(
    clippy::print_stderr,
    reason = "a skipped test has to say so, and this crate runs in tests only"
)]
fn eprintln_skip(test: &str, path: &str) {
    eprintln!("skipped {test}: no {path} in CODECELL_DATA or ../shared/data");
}
