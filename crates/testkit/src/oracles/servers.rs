//! What MCP servers send: lines of a process, events of a stream, lists of tools.

use std::cell::OnceCell;

use codecell_catalog::{Entry, McpServer, Source, ToolId};
use codecell_mcp::client::ClientLimits;
use codecell_mcp::client::wire::{WireEvent, events, messages};
use serde_json::{Value, json};

use super::text_of;
use crate::servers::{Servers, check_types};

/// The longest message and event of the oracles, in bytes.
const MAX_BYTES: usize = 4_096;

/// What a server may say last, whatever it said before.
const LAST: &str = r#"{"jsonrpc":"2.0","id":7,"result":{"last":true}}"#;

/// Messages are the same however a pipe cuts them; whatever was said before, a message on a line of its
/// own arrives; none is longer than is allowed.
///
/// # Panics
/// When it is otherwise.
pub fn lines(bytes: &[u8]) {
    let mut whole = bytes.to_vec();
    whole.extend_from_slice(format!("\n{LAST}\n").as_bytes());
    let found = read(vec![whole.clone()]);
    assert_eq!(found.last().map(String::as_str), Some(LAST), "{found:?}");
    let step = bytes.first().map_or(1, |byte| usize::from(*byte) % 61 + 1);
    assert_eq!(
        found,
        read(whole.chunks(step).map(<[u8]>::to_vec).collect())
    );
    // A message is written anew here, and may grow by that: escapes, numbers, our own words.
    assert!(found.iter().all(|one| one.len() <= 8 * MAX_BYTES));
    let lines = whole.split(|byte| *byte == b'\n').count();
    assert!(found.len() <= whole.len() / 2 && lines > 0);
}

fn read(pieces: Vec<Vec<u8>>) -> Vec<String> {
    thread_local! {
        static RUNTIME: OnceCell<tokio::runtime::Runtime> = const { OnceCell::new() };
    }
    let limits = ClientLimits {
        max_message_bytes: MAX_BYTES,
        ..ClientLimits::default()
    };
    let runtime = || {
        let built = tokio::runtime::Builder::new_current_thread().build();
        built.unwrap_or_else(|error| panic!("no runtime: {error}"))
    };
    RUNTIME.with(|kept| kept.get_or_init(runtime).block_on(messages(pieces, limits)))
}

/// Events are what the standard says, however the stream is cut; one that is too long ends it.
///
/// # Panics
/// When it is otherwise.
pub fn sse(bytes: &[u8]) {
    let found = events(&[bytes], MAX_BYTES);
    let step = bytes.first().map_or(1, |byte| usize::from(*byte) % 61 + 1);
    let pieces: Vec<&[u8]> = bytes.chunks(step).collect();
    assert_eq!(found, events(&pieces, MAX_BYTES), "cut into {step}");
    let (found, is_whole) = found;
    let wanted = by_the_standard(&text_of(bytes));
    assert!(wanted.starts_with(&found), "{found:?} for {wanted:?}");
    if is_whole {
        assert_eq!(found, wanted);
    }
    assert!(found.iter().all(|event| event.data.len() <= 3 * MAX_BYTES));
}

/// The events of a whole text, as the HTML standard tells it, section 9.2.6, step by step.
fn by_the_standard(text: &str) -> Vec<WireEvent> {
    let text = text.strip_prefix('\u{feff}').unwrap_or(text);
    let text = text.replace("\r\n", "\n").replace('\r', "\n");
    let (mut kind, mut data, mut events) = (String::new(), String::new(), Vec::new());
    // What follows the last end of a line is no line yet.
    let whole = text.rsplit_once('\n').map_or("", |(whole, _)| whole);
    let lines = (!text.is_empty() && text.contains('\n')).then(|| whole.split('\n'));
    for line in lines.into_iter().flatten() {
        match line.split_once(':').unwrap_or((line, "")) {
            ("", "") if line.is_empty() => {
                let kind = std::mem::take(&mut kind);
                let data = std::mem::take(&mut data);
                if let Some(data) = data.strip_suffix('\n') {
                    let kind = if kind.is_empty() {
                        "message".to_owned()
                    } else {
                        kind
                    };
                    let data = data.to_owned();
                    events.push(WireEvent { kind, data });
                }
            }
            ("event", value) => value
                .strip_prefix(' ')
                .unwrap_or(value)
                .clone_into(&mut kind),
            ("data", value) => {
                data.push_str(value.strip_prefix(' ').unwrap_or(value));
                data.push('\n');
            }
            _ => {}
        }
    }
    events
}

/// Whatever a server lists, its declarations are bounded, parse, are types and nothing else, and name
/// each of its tools. The bytes are a list of tools as `tools/list` gives it, or one schema.
///
/// # Panics
/// When it is otherwise.
pub fn declarations(bytes: &[u8]) {
    let Ok(value) = serde_json::from_slice::<Value>(bytes) else {
        return;
    };
    let alone = json!([{"name": "tool", "inputSchema": value, "outputSchema": value}]);
    let tools = value.get("tools").filter(|tools| tools.is_array());
    let tools = tools
        .unwrap_or(&alone)
        .as_array()
        .cloned()
        .unwrap_or_default();
    let server = value
        .get("name")
        .and_then(Value::as_str)
        .unwrap_or("server");
    let mut servers = Servers {
        entries: tools
            .iter()
            .filter_map(|tool| entry(server, tool))
            .collect(),
        servers: vec![McpServer {
            description: value.get("instructions").map(Value::to_string),
            ..McpServer::new(server)
        }],
    };
    servers.entries.dedup_by(|one, other| one.id == other.id);
    // Two tools of one name are refused before there is anything to declare.
    let Ok(catalog) = servers.catalog() else {
        return;
    };
    let files = catalog.declarations();
    let size: usize = files.iter().map(|file| file.content.len()).sum();
    assert!(size < (1 + tools.len()) << 20, "{size} bytes");
    for file in files {
        if let Err(why) = check_types(&file.content) {
            panic!("{}: {why}", file.path);
        }
    }
    for entry in catalog.entries() {
        let spelling = catalog.mcp_spelling(entry).unwrap_or_default();
        let name = spelling.rsplit('.').next().unwrap_or_default();
        let declared = format!("  function {name}(");
        let is_there = files.iter().any(|file| file.content.contains(&declared));
        assert!(is_there, "{spelling} is not declared");
    }
}

fn entry(server: &str, tool: &Value) -> Option<Entry> {
    let name = tool.get("name")?.as_str()?;
    let id = ToolId::new(Source::Mcp, server, name).ok()?;
    let words = tool.get("description").and_then(Value::as_str);
    let schema = tool.get("inputSchema").cloned().unwrap_or_default();
    let mut entry = Entry::new(id, words.unwrap_or_default(), schema);
    entry.output_schema = tool.get("outputSchema").cloned().map(Into::into);
    Some(entry)
}
