//! Configuration files: ours, and those of other MCP clients.

use std::io;
use std::path::Path;

use codecell_config::{LoadRequest, Override, Sources, VariableUse, Variables, load, read_servers};

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

/// What no output may hold when variables are kept as they are written.
const SECRET: &str = "the value of a variable";

/// A file of another client is refused with words, or gives servers that each are the same when the
/// file is read again, are read by our own reader or refused by it with words, and hold the value of
/// no variable unless that was asked for.
///
/// # Panics
/// When it is otherwise.
pub fn foreign(bytes: &[u8]) {
    let text = text_of(bytes);
    // Our own references have no small letters: such values are written down, and said to be.
    let has_small = |name: &str| name.contains(|c: char| c.is_lowercase());
    let env = |name: &str| match name {
        "ABSENT" => None,
        name if has_small(name) => Some("small".to_owned()),
        _ => Some(SECRET.to_owned()),
    };
    for usage in [VariableUse::Keep, VariableUse::Resolve] {
        let variables = Variables {
            env: &env,
            usage,
            workspace: "/workspace",
            home: Some("/home"),
        };
        let read = || read_servers(Path::new("mcp.json"), &text, &variables);
        let found = match read() {
            Ok(found) => found,
            Err(error) => return assert!(!error.to_string().is_empty()),
        };
        assert_eq!(read().ok().as_ref(), Some(&found), "another answer");
        if usage == VariableUse::Keep && !text.contains(SECRET) {
            assert!(!format!("{found:?}").contains(SECRET), "{found:?}");
        }
        assert!(found.refused.iter().all(|server| !server.reason.is_empty()));
        for server in &found.servers {
            assert!(server.notes.iter().all(|note| !note.is_empty()));
            ours(&server.name, &server.value);
        }
    }
}

/// Reads a translated server as one of our own configuration.
fn ours(name: &str, value: &serde_json::Value) {
    let mut servers = serde_json::Map::new();
    servers.insert(name.to_owned(), value.clone());
    let text = serde_json::json!({"mcp": {"servers": servers}}).to_string();
    let sources = Sources {
        read_file: &|_| Ok(text.clone()),
        env: &|_| Some("value".to_owned()),
    };
    let request = LoadRequest {
        file: Some("/config/codecell.json".into()),
        must_exist: true,
        overrides: Vec::new(),
    };
    if let Err(error) = load(&request, &sources) {
        assert!(!error.to_string().is_empty());
    }
}
