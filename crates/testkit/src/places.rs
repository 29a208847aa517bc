//! Where things lie in this checkout and its build folder.

use std::path::{Path, PathBuf};

/// The root of the workspace.
#[must_use]
pub fn workspace_root() -> PathBuf {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.ancestors().nth(2).unwrap_or(here).to_owned()
}

/// The folder for the compiled guest that all tests of one build share: compiling it takes seconds.
///
/// It lies in the build folder of the running test, so that cleaning the build removes it.
#[must_use]
pub fn engine_cache() -> PathBuf {
    cache_home().join("codecell")
}

/// The folder around [`engine_cache`], as `XDG_CACHE_HOME` names it to a command.
#[must_use]
pub fn cache_home() -> PathBuf {
    build_root().join("test-cache")
}

/// The build folder of the running test: the nearest one around it that is marked as one.
fn build_root() -> PathBuf {
    let test = std::env::current_exe().unwrap_or_default();
    let marked = test
        .ancestors()
        .find(|folder| folder.join("CACHEDIR.TAG").is_file());
    marked.map_or_else(|| workspace_root().join("target"), Path::to_owned)
}

/// Where tests leave the counts that a run of all of them prints at its end.
#[must_use]
pub fn reports() -> PathBuf {
    build_root().join("test-reports")
}
