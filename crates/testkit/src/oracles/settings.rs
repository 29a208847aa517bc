//! Configuration files.

use std::io;
use std::path::Path;

use codecell_config::{LoadRequest, Override, Sources, load};

use super::text_of;

/// A configuration is refused with words, or is the same each time it is read; numbers are inside
/// their ranges, and a file that includes itself ends.
///
/// # Panics
/// When it is otherwise.
pub fn config(bytes: &[u8]) {
    let text = text_of(bytes);
    let read_file = |path: &Path| {
        if path.ends_with("absent.json") {
            return Err(io::ErrorKind::NotFound.into());
        }
        Ok(text.clone())
    };
    let env = |name: &str| (name != "ABSENT").then(|| "value".to_owned());
    let sources = Sources {
        read_file: &read_file,
        env: &env,
    };
    let request = LoadRequest {
        file: Some("/config/codecell.json".into()),
        must_exist: true,
        overrides: Vec::new(),
    };
    match load(&request, &sources) {
        Ok(loaded) => {
            let again = load(&request, &sources);
            let again = again.map(|again| format!("{:?}", again.config));
            assert_eq!(again.ok(), Some(format!("{:?}", loaded.config)));
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
    let _ = Override::parse(&text);
}
