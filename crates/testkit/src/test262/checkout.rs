//! A checkout of tc39/test262, read from its folders.

use std::io;
use std::path::Path;

use super::{Harness, Test, data, frontmatter};

/// The harness and the tests of a checkout, in order of path. Only paths that contain `filter` are read.
///
/// # Errors
/// When the folder is no checkout or a file cannot be read.
pub fn read_checkout(root: &Path, filter: &str) -> io::Result<(Harness, Vec<Test>)> {
    let harness = data::read_harness(&root.join("harness"))?;
    let mut tests = Vec::new();
    let mut folders = vec![root.join("test")];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder)? {
            let path = entry?.path();
            if path.is_dir() {
                folders.push(path);
            } else if let Some(test) = one(root, &path, filter)? {
                tests.push(test);
            }
        }
    }
    tests.sort_by(|a, b| a.path.cmp(&b.path));
    Ok((harness, tests))
}

fn one(root: &Path, path: &Path, filter: &str) -> io::Result<Option<Test>> {
    let name = path.strip_prefix(root).unwrap_or(path).to_string_lossy();
    let name = name.replace('\\', "/");
    // Files with this ending are parts of other tests.
    if !name.ends_with(".js") || name.contains("_FIXTURE") || !name.contains(filter) {
        return Ok(None);
    }
    let text = String::from_utf8_lossy(&std::fs::read(path)?).into_owned();
    Ok(frontmatter::read(&name, text))
}
