//! The texts and schemas of the two tools that a model sees.
//!
//! Byte-stable for the same catalog and options, so that prompt caches keep working. Text of MCP
//! servers and clients never enters; their servers are named, nothing more.

use std::sync::{Arc, LazyLock};

use codecell_catalog::{Catalog, IndexOptions};
use codecell_tools::SurfaceTool;
use serde_json::{Value, json};

use crate::options::CodeModeOptions;

const EXEC_INTRO: &str = "\
Runs a small JavaScript or TypeScript program in a sandbox and gives back what it returns. Every other tool is \
called from inside such a program: use it whenever you need tools, and combine several calls, loops, filters and \
joins in one program rather than one program per call.

- The program is the body of an async function: use `await`, and `return` the result. Without `return` the value is null.
- `await tools.<name>({...})` calls a tool; `tools.call(id, {...})` does so by id. A failed call throws an Error with `code`, `tool` and `effectStatus`.
- Run independent calls together with `Promise.all`. Return only what you need: the result is bounded.
- `await tools.search(\"words\", {limit: 5})` finds tools, `await tools.describe(id)` gives their schemas, `ALL_TOOLS` lists them.
- `text(value)` and `json(value)` add output; `console.log` adds notes. `await yield_control(reason)` pauses and hands back to you.
- `results.save(value)` keeps a value for later programs of this run; `results.load(id)` and `results.delete(id)` go with it.
- There is no network, file system, process, `require` or `import`: what a program may do, it does through tools.
- A result with status `waiting` is not finished: call `wait` with its `runId`.
";

const MCP_INTRO: &str = "\
- Tools of MCP servers are not in `tools`: `API.list()`, `API.read(path)` and `await API.search(\"words\")` describe them, \
and `await MCP.<server>.<tool>({...})` calls them; a result is `{content, structuredContent?, isError?}`.
";

const WAIT: &str = "\
Goes on with a program that `exec` answered with status `waiting`. Call it only then, with the `runId` of that result. \
It answers like `exec`: `completed`, `failed`, or `waiting` again.";

/// The description of `exec` for a catalog.
#[must_use]
pub fn exec_description(catalog: &Catalog, options: &CodeModeOptions) -> String {
    let mut text = EXEC_INTRO.to_owned();
    if !catalog.servers().is_empty() {
        text.push_str(MCP_INTRO);
    }
    let index = IndexOptions {
        max_chars: options.prompt_index_chars as usize,
    };
    let index = catalog.index_text(&index);
    if !index.is_empty() {
        text.push_str("\nTools:\n");
        text.push_str(&index);
    }
    text
}

/// The description of `wait`.
#[must_use]
pub const fn wait_description() -> &'static str {
    WAIT
}

fn exec_input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "code": {
                "type": "string",
                "description": "The program: the body of an async function. Return the result."
            },
            "language": {
                "type": "string",
                "enum": ["javascript", "typescript"],
                "description": "The language of the program; javascript unless given."
            }
        },
        "required": ["code"]
    })
}

fn wait_input() -> Value {
    json!({
        "type": "object",
        "properties": {
            "runId": {
                "type": "string",
                "description": "The runId of the result with status waiting."
            },
            "after": {
                "type": "integer",
                "description": "The seq of that result: the same number again gives the same answer again."
            }
        },
        "required": ["runId"]
    })
}

fn output() -> Value {
    json!({
        "type": "object",
        "properties": {
            "status": {"type": "string", "enum": ["completed", "waiting", "failed"]},
            "value": {"description": "What the program returned, when completed."},
            "output": {"type": "array", "items": {"type": "object"}},
            "hint": {"type": "string"},
            "runId": {"type": "string", "description": "What wait takes, when waiting."},
            "seq": {"type": "integer"},
            "reason": {"type": "string", "enum": ["pending_tools", "yield"]},
            "pendingToolCalls": {"type": "array", "items": {"type": "object"}},
            "morePendingToolCalls": {"type": "integer"},
            "error": {"type": "string", "description": "What happened and what to change, when failed."},
            "code": {"type": "string"},
            "failure": {"type": "object"},
            "saved": {"type": "object"},
            "effects": {"type": "object", "description": "What the calls did, when any was not read-only."},
            "warnings": {"type": "array", "items": {"type": "object"}},
            "telemetry": {"type": "object"}
        },
        "required": ["status", "telemetry"]
    })
}

struct Schemas {
    exec: Arc<Value>,
    wait: Arc<Value>,
    output: Arc<Value>,
    annotations: Arc<Value>,
}

static SCHEMAS: LazyLock<Schemas> = LazyLock::new(|| Schemas {
    exec: Arc::new(exec_input()),
    wait: Arc::new(wait_input()),
    output: Arc::new(output()),
    annotations: Arc::new(json!({"readOnlyHint": false, "openWorldHint": true})),
});

/// The two tools, `exec` first.
#[must_use]
pub fn surface_tools(catalog: &Catalog, options: &CodeModeOptions) -> Vec<SurfaceTool> {
    let tool = |name: &str, description: &str, schema: &Arc<Value>| SurfaceTool {
        name: name.into(),
        description: description.into(),
        input_schema: Arc::clone(schema),
        output_schema: Some(Arc::clone(&SCHEMAS.output)),
        annotations: Some(Arc::clone(&SCHEMAS.annotations)),
    };
    vec![
        tool("exec", &exec_description(catalog, options), &SCHEMAS.exec),
        tool("wait", WAIT, &SCHEMAS.wait),
    ]
}

#[cfg(test)]
mod tests {
    use codecell_catalog::{Entry, ToolId};

    use super::*;

    fn catalog(ids: &[&str]) -> Catalog {
        let entry = |id: &&str| {
            Entry::new(
                ToolId::parse(id).expect("an id"),
                "SECRET WORDS",
                json!({"type": "object"}),
            )
        };
        Catalog::build(ids.iter().map(entry).collect()).expect("a catalog")
    }

    #[test]
    fn mcp_servers_are_named_and_nothing_of_theirs_is_quoted() {
        let text = exec_description(
            &catalog(&["mcp:files:x", "mcp:git-hub:list"]),
            &CodeModeOptions::default(),
        );
        assert!(text.contains("MCP.files (1), MCP.gitHub (1):"), "{text}");
        assert!(!text.contains("SECRET WORDS"), "{text}");
        assert!(
            !exec_description(
                &catalog(&["openclaw:core:read"]),
                &CodeModeOptions::default()
            )
            .contains("MCP")
        );
    }

    #[test]
    fn the_description_is_the_same_for_the_same_catalog() {
        let options = CodeModeOptions::default();
        let ids = ["openclaw:core:read", "mcp:files:x"];
        assert_eq!(
            exec_description(&catalog(&ids), &options),
            exec_description(&catalog(&ids), &options)
        );
    }

    #[test]
    fn the_schemas_are_flat() {
        for tool in surface_tools(&catalog(&[]), &CodeModeOptions::default()) {
            let text = tool.input_schema.to_string();
            assert!(!text.contains("oneOf") && !text.contains("anyOf"), "{text}");
        }
        let names: Vec<_> = exec_input()["properties"]
            .as_object()
            .expect("an object")
            .keys()
            .cloned()
            .collect();
        assert_eq!(names, ["code", "language"]);
    }
}
