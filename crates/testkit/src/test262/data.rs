//! Tests as JSON lines, and the harness as a folder.

use std::io;
use std::path::Path;

use super::{Harness, Test};

/// The tests of a file, one JSON object a line.
///
/// # Errors
/// When the file cannot be read or a line is no test.
pub fn read_lines(file: &Path) -> io::Result<Vec<Test>> {
    let text = std::fs::read_to_string(file)?;
    let tests = text.lines().map(serde_json::from_str::<Test>);
    tests.collect::<Result<_, _>>().map_err(io::Error::other)
}

/// The files of a harness folder.
///
/// # Errors
/// When the folder or a file cannot be read.
pub fn read_harness(folder: &Path) -> io::Result<Harness> {
    let mut files = Harness::new();
    for entry in std::fs::read_dir(folder)? {
        let path = entry?.path();
        if path.extension().is_some_and(|end| end == "js") {
            let name = path.file_name().unwrap_or_default().to_string_lossy();
            files.insert(name.into_owned(), std::fs::read_to_string(&path)?);
        }
    }
    Ok(files)
}
