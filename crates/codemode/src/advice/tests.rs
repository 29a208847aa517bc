//! What is said of small programs, and of which nothing is said.

use codecell_catalog::{Catalog, Entry, McpServer, Operation, ToolId};
use codecell_protocol::Warning;
use codecell_script::{PrepareOptions, prepare};
use serde_json::{Value, json};

use super::advise;

fn tool(id: &str, parameters: Value, output: Option<Value>) -> Entry {
    let mut entry = Entry::new(ToolId::parse(id).expect("an id"), "d", parameters);
    entry.output_schema = output.map(std::sync::Arc::new);
    entry
}

fn operation(server: &str, operation: Operation) -> Entry {
    let mut entry = tool(
        &format!("mcp:{server}:{}", operation.method()),
        json!({"type": "object"}),
        None,
    );
    entry.operation = operation;
    entry
}

fn catalog() -> Catalog {
    let read = json!({
        "type": "object",
        "properties": {
            "path": {"type": "string"},
            "limit": {"type": "integer", "default": 10},
            "mode": {"enum": ["text", "bytes"]},
            "options": {"$ref": "#/$defs/options"},
            "tags": {"type": "array", "items": {"type": "string"}},
            "since": {"anyOf": [{"type": "string"}, {"type": "null"}]},
            "kind": {"const": "file"}
        },
        "required": ["path", "limit"],
        "additionalProperties": false,
        "$defs": {"options": {"type": "object", "properties": {"deep": {"type": "boolean"}}}}
    });
    let found = json!({
        "type": "object",
        "properties": {
            "content": {"type": "string"},
            "lines": {"type": "array", "items": {"type": "object", "properties": {"text": {"type": "string"}}}},
            "more": {"type": "object"}
        }
    });
    let open = json!({"type": "object", "properties": {"a": {"type": "number"}}, "additionalProperties": true});
    let either =
        json!({"anyOf": [{"type": "object", "properties": {"x": {}}}, {"type": "string"}]});
    let entries = vec![
        tool("mcp:git-hub:list_files", read.clone(), Some(found.clone())),
        tool("mcp:git-hub:delete", json!({"type": "object"}), None),
        operation("git-hub", Operation::ResourcesList),
        tool("openclaw:core:read", read, Some(found)),
        tool("openclaw:core:open", open.clone(), Some(open)),
        tool("openclaw:core:either", either.clone(), Some(either)),
        tool("openclaw:core:any", json!(true), None),
    ];
    let down = McpServer {
        unavailable: Some("it does not start".into()),
        ..McpServer::new("down")
    };
    Catalog::with_servers(entries, vec![McpServer::new("git-hub"), down]).expect("a catalog")
}

fn advice(code: &str) -> Vec<Warning> {
    let program = prepare(code, &PrepareOptions::default()).expect("a program");
    advise(&program.calls, &catalog(), code)
}

fn shown(code: &str) -> Vec<String> {
    let one = |warning: Warning| {
        let at = format!(
            "{}:{}",
            warning.line.unwrap_or(0),
            warning.column.unwrap_or(0)
        );
        format!("{at} {}: {}", warning.kind, warning.message)
    };
    advice(code).into_iter().map(one).collect()
}

#[test]
fn each_mistake_is_told_where_it_is() {
    let cases = [
        "return await tools.raed({path: 'a'});",
        "return await tools.call('openclaw:core:raed', {path: 'a'});",
        "const { raed } = tools;\nreturn await raed({path: 'a'});",
        "const t = tools;\nreturn await t.raed();",
        "return await tools.read({path: 'a', pth: 1});",
        "return await tools.read();",
        "return await tools.read({path: 5});",
        "return await tools.read({path: 'a', limit: 1.5, mode: 'txt', kind: 'dir'});",
        "return await tools.read({path: 'a', options: {deep: 'yes', depp: 1}});",
        "return await tools.read({path: 'a', tags: ['b', 3], since: 4});",
        "return await tools.read('a');",
        "const r = tools.read({path: 'a'});\nreturn r.content;",
        "return tools.read({path: 'a'}).content;",
        "return `${tools.read({path: 'a'})}`;",
        "const { content } = tools.read({path: 'a'});\nreturn content;",
        "return { a: tools.read({path: 'a'}) };",
        "text(tools.read({path: 'a'}));",
        "if (tools.read({path: 'a'})) return 1;",
        "for (const line of tools.read({path: 'a'})) text(line);",
        "const r = await tools.read({path: 'a'});\nreturn r.contents;",
        "const { contents } = await tools.read({path: 'a'});\nreturn contents;",
        "return (await tools.read({path: 'a'})).lines.map(line => line.txt);",
        "const r = await tools.read({path: 'a'});\nfor (const line of r.lines) text(line.txt);",
        "const [a] = await Promise.all([tools.read({path: 'a'})]);\nreturn a.contents;",
        "const r = await tools.read({path: 'a'});\nreturn r.lines.count;",
        "async () => { return (await tools.read({path: 'a'})).lines[0].txt; }",
    ];
    let text: Vec<String> = cases
        .iter()
        .map(|code| format!("{code}\n  {}", shown(code).join("\n  ")))
        .collect();
    insta::assert_snapshot!(text.join("\n\n"));
}

#[test]
fn mistakes_in_calls_of_servers_are_told_where_they_are() {
    let cases = [
        "return await MCP.github.listFiles({path: 'a'});",
        "return await MCP.gitHub.list_files({path: 'a'});",
        "return await MCP.gitHub.nothingLikeIt();",
        "return await MCP.down.anything({});",
        "return await MCP.gitHub.resources.read({uri: 'x:y'});",
        "const { gitHub } = MCP;\nreturn await gitHub.listFile({path: 'a'});",
        "const { gitHub: { listFile } } = MCP;\nreturn await listFile({path: 'a'});",
        "const { listFiles } = MCP.gitHub;\nreturn await listFiles({pth: 'a'});",
        "return await MCP['gitHub']['listFiles']({path: 5, limit: 'x'});",
        "return await MCP.gitHub.listFiles('a');",
        "return await MCP.gitHub.delete2(['a']);",
        "return await MCP.gitHub.listFiles(null);",
        "return await MCP.gitHub.listFiles();",
        "const r = MCP.gitHub.listFiles({path: 'a'});\nreturn r.structuredContent;",
        "return { a: MCP.gitHub.delete2() };",
        "for (const one of MCP.gitHub.resources.list()) text(one);",
        "const r = await MCP.gitHub.listFiles({path: 'a'});\nreturn r.lines;",
        "return (await MCP.gitHub.listFiles({path: 'a'})).structuredContent.contents;",
        "const { structuredContent } = await MCP.gitHub.listFiles({path: 'a'});\nreturn structuredContent.lines.map(line => line.txt);",
        "const r = await MCP.gitHub.delete2();\nreturn r.deleted;",
        "return await MCP.github.$api();",
        "const api = MCP.gitHub.$api('listFiles');\nreturn api.header;",
        "return API.read('mcp/gitHub.d.ts').content;",
        "return (await API.read('mcp/github.d.ts')).content;",
        "return (await API.read('x')).content;",
        "for (const hit of API.search('files')) text(hit.call);",
        "return await API.describe('mcp/gitHub.d.ts');",
    ];
    let text: Vec<String> = cases
        .iter()
        .map(|code| format!("{code}\n  {}", shown(code).join("\n  ")))
        .collect();
    insta::assert_snapshot!(text.join("\n\n"));
}

#[test]
fn nothing_is_said_of_calls_of_servers_that_are_not_sure() {
    let cases = [
        "const MCP = { github: { x() {} } };\nreturn await MCP.github.x();",
        "function f(MCP) { return MCP.github.x(); }\nreturn f({ github: { x: () => 1 } });",
        "const API = { describe() { return []; } };\nfor (const x of API.describe()) text(x);",
        "if ('github' in MCP) return await MCP.github.listFiles({path: 'a'});",
        "if ('nothing' in MCP.gitHub) return await MCP.gitHub.nothing({});",
        "if (MCP.github) return await MCP.github.listFiles({path: 'a'});",
        "if (MCP.gitHub.nothing) return await MCP.gitHub.nothing();",
        "if (typeof MCP.gitHub.nothing === 'function') return await MCP.gitHub.nothing();",
        "return await MCP.gitHub.nothing?.();",
        "return await MCP.github?.listFiles({path: 'a'});",
        "const nothing = MCP.gitHub?.nothing;\nreturn nothing ? await nothing({}) : null;",
        "const f = MCP.gitHub.nothing ?? MCP.gitHub.listFiles;\nreturn await f({path: 'a'});",
        "try { return await MCP.github.listFiles({}); } catch (e) { return e.message; }",
        "return await MCP.github.x().catch(() => null);",
        "const name = 'github';\nreturn await MCP[name].x();",
        "const more = {};\nreturn await MCP.gitHub.listFiles({ ...more });",
        "const input = { path: 'a' };\nreturn await MCP.gitHub.listFiles(input);",
        "const { listFiles } = MCP.gitHub;\nreturn await Promise.all(['a', 'b'].map(path => listFiles({ path })));",
        "const [a, b] = await Promise.all([MCP.gitHub.listFiles({path: 'a'}), MCP.gitHub.resources.list()]);\nreturn [a.structuredContent.content, b.resources, b.anything];",
        "const r = await MCP.gitHub.listFiles({path: 'a'});\nreturn r.isError ? r.content[0].text : r.structuredContent.lines[0].text;",
        "const r = await MCP.gitHub.listFiles({path: 'a'});\nreturn r.lines ?? r.structuredContent;",
        "const data = (r) => r.structuredContent ?? r.anything;\nreturn data(await MCP.gitHub.delete2());",
        "return await MCP.gitHub.delete2({ anything: 1 });",
        "return MCP.gitHub.listFiles({path: 'a'});",
        "return await MCP.gitHub.listFiles.call(null, {path: 'a'});",
        "return (await MCP.$api()).servers;",
        "return (await MCP.down.$api()).header;",
        "const path = 'mcp/' + 'x';\nreturn await API.read(path);",
        "return (await API.read('mcp/gitHub.d.ts')).content + (await API.read('mcp/index.d.ts')).content;",
        "return (await API.list('mcp')).files;",
        "const hits = await API.search(['a', 'b'], {limit: 3});\nreturn hits[0].call;",
        "for (const name of Object.keys(MCP)) text(name);",
        "const server = MCP.gitHub;\nconst r = await server.listFiles({path: 'a'});\nreturn r.structuredContent;",
    ];
    for code in cases {
        assert_eq!(shown(code), Vec::<String>::new(), "{code}");
    }
}

#[test]
fn nothing_is_said_of_what_is_not_sure() {
    let cases = [
        "const tools = { raed() {} };\nreturn await tools.raed();",
        "function f(tools) { return tools.raed(); }\nreturn f({ raed: () => 1 });",
        "if ('raed' in tools) return await tools.raed();",
        "if (tools.raed) return await tools.raed();",
        "return await tools.raed?.();",
        "try { return await tools.raed(); } catch (e) { return e.message; }",
        "return await tools.raed().catch(() => null);",
        "const name = 'raed';\nreturn await tools[name]();",
        "const more = {};\nreturn await tools.read({ ...more });",
        "const key = 'path';\nreturn await tools.read({ [key]: 'a' });",
        "const path = ALL_TOOLS[0].name;\nreturn await tools.read({ path, limit: path.length });",
        "const input = { path: 'a' };\nreturn await tools.read(input);",
        "return await tools.read({ path: undefined });",
        "return await tools.read({ path: `a${1}`, since: null, tags: [] });",
        "return await tools.open({ a: 1, b: 2 });",
        "return (await tools.open({})).b;",
        "return (await tools.either('x')).y;",
        "return await tools.any(7);",
        "return await tools.search('raed');",
        "const p = tools.read({path: 'a'});\nreturn await p;",
        "const p = tools.read({path: 'a'});\nconst r = await p;\nreturn r.content;",
        "return tools.read({path: 'a'});",
        "return tools.read({path: 'a'}).then(r => r.content);",
        "return await Promise.all([tools.read({path: 'a'}), tools.read({path: 'b'})]);",
        "const all = [tools.read({path: 'a'})];\nreturn await Promise.all(all);",
        "tools.read({path: 'a'});",
        "const o = { p: tools.read({path: 'a'}) };\nreturn await o.p;",
        "const f = path => tools.read({ path });\nreturn await f('a');",
        "const r = await tools.read({path: 'a'});\nr.extra = 1;\nreturn r.content;",
        "const r = await tools.read({path: 'a'});\nreturn r.items ?? r.lines;",
        "const r = await tools.read({path: 'a'});\nreturn r.items?.length;",
        "const r = await tools.read({path: 'a'});\nif (r.error) return r.error.message;\nreturn r.more.x;",
        "const r = await tools.callRaw('read', {path: 'a'});\nreturn r.result;",
        "const r = await tools.read({path: 'a'});\nreturn [r.lines.length, r.lines[0].text, r.toString()];",
        "let r = tools.read({path: 'a'});\nr = await r;\nreturn r.content;",
        "const r = await tools.read({path: 'a'});\n{ const r = { foo: 1 }; text(r.foo); }\nreturn 1;",
    ];
    for code in cases {
        assert_eq!(shown(code), Vec::<String>::new(), "{code}");
    }
}

#[test]
fn a_program_full_of_mistakes_gets_a_bounded_answer() {
    let many: Vec<String> = (0..2000)
        .map(|at| format!("await tools.raed{at}({{}});"))
        .collect();
    assert_eq!(advice(&many.join("\n")).len(), 8);
    assert_eq!(advice(&"await tools.raed({});\n".repeat(2000)).len(), 1);
    let wide = format!(
        "await tools.read({{path: 'a', tags: [{}]}});",
        "1,".repeat(20_000)
    );
    assert!(advice(&wide).len() <= 8);
}
