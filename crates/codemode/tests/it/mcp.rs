//! Programs that call MCP servers, through the whole house but for the servers.

use std::sync::{Arc, Mutex};

use async_trait::async_trait;
use codecell_catalog::{McpServer, Operation};
use codecell_codemode::{CellOutcome, CodeModeOptions, Park};
use codecell_tools::{
    CallContext, ContentBlock, Policy, PolicyOptions, PolicyRules, Tool, ToolDefinition, ToolError,
    ToolId, ToolInput, ToolOutput, ToolSet, ToolSource,
};
use serde_json::{Value, json};

use crate::support::{World, kind, run_id, text, value};

/// What a member of a server answers.
enum Act {
    Echo,
    Answer(ToolOutput),
    Fail,
}

struct Member {
    definition: ToolDefinition,
    act: Act,
    calls: Arc<Mutex<Vec<String>>>,
}

#[async_trait]
impl Tool for Member {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: ToolInput, _ctx: &CallContext) -> Result<ToolOutput, ToolError> {
        let call = format!("{} {}", self.definition.id, input.text());
        self.calls.lock().unwrap().push(call);
        match &self.act {
            Act::Echo => Ok(ToolOutput {
                content: vec![ContentBlock::Text("echo".into())],
                details: Some(input.value().clone()),
                is_error: false,
            }),
            Act::Answer(output) => Ok(output.clone()),
            Act::Fail => Err(ToolError::new("server_died", "the server died")),
        }
    }
}

/// The servers of a test.
#[derive(Clone, Default)]
struct Servers {
    members: Vec<Arc<dyn Tool>>,
    servers: Vec<McpServer>,
    calls: Arc<Mutex<Vec<String>>>,
}

impl ToolSource for Servers {
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.members.clone()
    }

    fn servers(&self) -> Vec<McpServer> {
        self.servers.clone()
    }
}

impl Servers {
    fn with(mut self, id: &str, parameters: Value, act: Act) -> Self {
        let id = ToolId::parse(id).unwrap();
        let mut definition = ToolDefinition::new(id, "Does a thing.", parameters);
        definition.operation = Operation::OF_SERVER
            .into_iter()
            .find(|operation| operation.method() == definition.name())
            .unwrap_or_default();
        self.members.push(Arc::new(Member {
            definition,
            act,
            calls: Arc::clone(&self.calls),
        }));
        self
    }

    fn set(&self, deny: &[&str]) -> ToolSet {
        let mut rules = PolicyRules::new("tools");
        rules.deny = deny.iter().map(|text| (*text).to_owned()).collect();
        let options = PolicyOptions {
            scopes: vec![rules],
            ..PolicyOptions::default()
        };
        ToolSet::build(&[Arc::new(self.clone())], &Policy::build(&options).unwrap()).unwrap()
    }

    fn world(&self) -> World {
        let mut world = World::new();
        world.run.tools = self.set(&[]);
        world
    }

    fn calls(&self) -> Vec<String> {
        self.calls.lock().unwrap().clone()
    }
}

fn any() -> Value {
    json!({"type": "object"})
}

fn image() -> ContentBlock {
    ContentBlock::Image {
        mime_type: "image/png".into(),
        data: vec![1, 2, 3].into(),
    }
}

fn servers() -> Servers {
    let issues = json!({
        "type": "object",
        "properties": {
            "owner": {"type": "string", "description": "Whose."},
            "state": {"enum": ["open", "closed"], "default": "open"},
            "limit": {"type": "integer", "default": 30}
        },
        "required": ["owner"],
        "additionalProperties": false
    });
    let failing = ToolOutput {
        content: vec![ContentBlock::Text("no such repository".into())],
        details: None,
        is_error: true,
    };
    let picture = ToolOutput {
        content: vec![ContentBlock::Text("a picture".into()), image()],
        details: Some(json!({"width": 1})),
        is_error: false,
    };
    let blob = json!({"contents": [
        {"uri": "file:///a.txt", "text": "hello"},
        {"uri": "file:///a.bin", "mimeType": "application/zip", "blob": "AQID"},
        {"uri": "file:///b.bin", "blob": "not base64!"}
    ]});
    let prompt = json!({"description": "d", "messages": [
        {"role": "user", "content": {"type": "text", "text": "hi"}},
        {"role": "user", "content": {"type": "image", "mimeType": "image/png", "data": "AQID"}}
    ]});
    let mut servers = Servers::default()
        .with("mcp:git-hub:list_issues", issues, Act::Echo)
        .with("mcp:git-hub:delete", any(), Act::Answer(failing))
        .with("mcp:git-hub:get-picture", any(), Act::Answer(picture))
        .with("mcp:git-hub:get_picture", any(), Act::Echo)
        .with("mcp:git-hub:die", any(), Act::Fail)
        .with(
            "mcp:files:resources/list",
            any(),
            Act::Answer(ToolOutput::details(
                json!({"resources": [{"uri": "file:///a.txt", "name": "a"}]}),
            )),
        )
        .with(
            "mcp:files:resources/read",
            any(),
            Act::Answer(ToolOutput::details(blob)),
        )
        .with(
            "mcp:files:prompts/get",
            any(),
            Act::Answer(ToolOutput::details(prompt)),
        );
    servers.servers = vec![
        McpServer::new("git-hub"),
        McpServer {
            unavailable: Some("it did not start: no such file".into()),
            ..McpServer::new("down")
        },
    ];
    servers
}

fn calls_of(outcome: &CellOutcome) -> Value {
    let json: Value = serde_json::from_str(&text(outcome)).unwrap();
    let calls = json["effects"]["calls"].as_array().cloned();
    let shown = |call: &Value| json!([call["tool"], call["state"], call["effect"]]);
    calls.unwrap_or_default().iter().map(shown).collect()
}

#[tokio::test]
async fn a_call_gives_the_result_of_the_protocol() {
    let servers = servers();
    let world = servers.world();
    let outcome = world
        .exec("return await MCP.gitHub.listIssues({owner: 'o', limit: 5})")
        .await;
    assert_eq!(
        value(&outcome),
        json!({
            "content": [{"type": "text", "text": "echo"}],
            "structuredContent": {"owner": "o", "limit": 5, "state": "open"}
        })
    );
    assert_eq!(
        servers.calls(),
        [r#"mcp:git-hub:list_issues {"owner":"o","limit":5,"state":"open"}"#]
    );
    assert_eq!(
        calls_of(&outcome),
        json!([["mcp:git-hub:list_issues", "committed", "write"]])
    );
}

#[tokio::test]
async fn a_tool_that_failed_resolves_and_a_server_that_died_rejects() {
    let world = servers().world();
    let outcome = world
        .exec(
            "const failed = await MCP.gitHub.delete2({});
             const died = await MCP.gitHub.die().catch((e) => [e.code, e.message, e.tool, e.effectStatus]);
             return [failed, died]",
        )
        .await;
    assert_eq!(
        value(&outcome),
        json!([
            {"content": [{"type": "text", "text": "no such repository"}], "isError": true},
            ["server_died", "the server died", "mcp:git-hub:die", "unknown"]
        ])
    );
    assert_eq!(
        calls_of(&outcome),
        json!([
            ["mcp:git-hub:delete", "unknown", "write"],
            ["mcp:git-hub:die", "unknown", "write"]
        ])
    );
}

#[tokio::test]
async fn bytes_stay_outside_and_their_references_lead_back() {
    let world = servers().world();
    let outcome = world
        .exec(
            "const picture = await MCP.gitHub.getPicture();
             const {contents} = await MCP.files.resources.read({uri: 'file:///a.bin'});
             const {messages} = await MCP.files.prompts.get({name: 'p'});
             const kinds = [picture.content[1], contents[1], messages[1].content].map((one) => typeof one.ref);
             json(picture.content[1]);
             return [picture.structuredContent, kinds, contents.map(({ref, ...rest}) => rest),
               messages.map(({content: {ref, ...rest}}) => rest)]",
        )
        .await;
    assert_eq!(
        value(&outcome),
        json!([
            {"width": 1},
            ["string", "string", "string"],
            [
                {"uri": "file:///a.txt", "text": "hello"},
                {"uri": "file:///a.bin", "mimeType": "application/zip", "bytes": 3},
                {"uri": "file:///b.bin", "note": "not kept: it is not base64"}
            ],
            [{"type": "text", "text": "hi"}, {"type": "image", "mimeType": "image/png", "bytes": 3}]
        ])
    );
    assert_eq!(outcome.content, [image()]);
}

#[tokio::test]
async fn arguments_are_one_object_or_nothing() {
    let servers = servers();
    let world = servers.world();
    let program = "const wrong = [];
        for (const list of [['x'], [[1]], [null], [5], [true], [{}, {}], [{owner: 'o'}, null]]) {
          wrong.push(await MCP.gitHub.getPicture2(...list).then(() => 'made', (e) => e.message));
        }
        wrong.push(await MCP.gitHub.listIssues().then(() => 'made', (e) => e.code + ' ' + /owner/.test(e.message)));
        wrong.push(await MCP.gitHub.listIssues({owner: 'o', ownr: 1}).then(() => 'made', (e) => e.code));
        const right = [];
        for (const list of [[], [undefined], [{}], [{a: undefined}], [{}, undefined]]) {
          right.push((await MCP.gitHub.getPicture2(...list)).structuredContent);
        }
        return [wrong, right]";
    let found = world.value(program).await;
    insta::assert_json_snapshot!(found, @r#"
    [
      [
        "MCP.gitHub.getPicture2 takes one object with named arguments, or nothing; it was given a text",
        "MCP.gitHub.getPicture2 takes one object with named arguments, or nothing; it was given an array",
        "MCP.gitHub.getPicture2 takes one object with named arguments, or nothing; it was given null",
        "MCP.gitHub.getPicture2 takes one object with named arguments, or nothing; it was given a number",
        "MCP.gitHub.getPicture2 takes one object with named arguments, or nothing; it was given a boolean",
        "MCP.gitHub.getPicture2 takes one object with named arguments, or nothing; it was given 2 arguments",
        "MCP.gitHub.getPicture2 takes one object with named arguments, or nothing; it was given 2 arguments",
        "invalid_arguments true",
        "invalid_arguments"
      ],
      [
        {},
        {},
        {},
        {},
        {}
      ]
    ]
    "#);
    let made = servers.calls().len();
    assert_eq!(made, 5, "{:?}", servers.calls());
}

#[tokio::test]
async fn unknown_names_say_what_was_meant() {
    let world = servers().world();
    let found = world
        .value(
            "const why = (call) => call.then(() => 'made', (e) => [e.code, e.message, e.effectStatus]);
             return [
               await why(MCP.github.listIssues({})),
               await why(MCP.gitHub.list_issues({})),
               await why(MCP.gitHub.nothingLikeIt({})),
               await why(MCP.down.anything({})),
               await why(MCP.nowhere.resources.list()),
               await why(MCP.gitHub.resources.list()),
               await why(tools.call('mcp:git-hub:delete', {})),
               await why(tools.delete({})),
             ]",
        )
        .await;
    insta::assert_json_snapshot!(found, @r#"
    [
      [
        "unknown_server",
        "there is no MCP server `github` here. Did you mean MCP.gitHub?",
        "notStarted"
      ],
      [
        "unknown_tool",
        "MCP.gitHub has no tool `list_issues`. Did you mean MCP.gitHub.listIssues?",
        "notStarted"
      ],
      [
        "unknown_tool",
        "MCP.gitHub has no tool `nothingLikeIt`. API.search(\"words\") finds tools.",
        "notStarted"
      ],
      [
        "server_unavailable",
        "the MCP server MCP.down is unavailable: it did not start: no such file",
        "notStarted"
      ],
      [
        "unknown_server",
        "there is no MCP server `nowhere` here. API.list() names the servers.",
        "notStarted"
      ],
      [
        "unknown_tool",
        "MCP.gitHub has no tool `resources.list`. API.search(\"words\") finds tools.",
        "notStarted"
      ],
      [
        "mcp_tool",
        "`mcp:git-hub:delete` is a tool of an MCP server; call it as MCP.gitHub.delete2({...})",
        "notStarted"
      ],
      [
        "mcp_tool",
        "`delete` is a tool of an MCP server; call it as MCP.gitHub.delete2({...})",
        "notStarted"
      ]
    ]
    "#);
}

#[tokio::test]
async fn the_objects_are_frozen_and_list_what_there_is() {
    let world = servers().world();
    let program = r#"
        "use strict";
        const tried = [];
        const attempt = (f) => { try { f(); tried.push("done"); } catch (e) { tried.push(e.name); } };
        attempt(() => { MCP.gitHub.listIssues = 1; });
        attempt(() => { MCP.gitHub = 1; });
        attempt(() => { delete MCP.gitHub.listIssues; });
        attempt(() => { Object.defineProperty(MCP.gitHub, "x", {value: 1}); });
        attempt(() => { Object.setPrototypeOf(MCP.gitHub, {}); });
        attempt(() => { MCP = 1; });
        const {listIssues} = MCP.gitHub;
        return {
          tried,
          servers: Object.keys(MCP),
          members: Object.keys(MCP.gitHub),
          files: Object.keys(MCP.files),
          resources: Object.keys(MCP.files.resources),
          all: Object.getOwnPropertyNames(MCP.down),
          frozen: [MCP, MCP.gitHub, MCP.files.resources].map(Object.isFrozen),
          has: ["gitHub" in MCP, "github" in MCP, "then" in MCP.gitHub, "$api" in MCP],
          language: [MCP.then, MCP.gitHub.then, MCP.gitHub.toString, MCP.gitHub.constructor, MCP.__proto__, MCP[Symbol.toPrimitive]].map((x) => x === undefined),
          prototypes: [Object.getPrototypeOf(MCP), Object.getPrototypeOf(MCP.gitHub)],
          same: MCP.gitHub === MCP.gitHub && MCP.gitHub.listIssues === listIssues,
          types: [typeof MCP.gitHub, typeof MCP.gitHub.listIssues, typeof MCP.gitHub.$api],
          awaited: (await MCP.gitHub) === MCP.gitHub,
          bound: (await listIssues({owner: "o"})).content[0].text,
          named: Object.keys(MCP).map((name) => typeof MCP[name]),
        }"#;
    insta::assert_json_snapshot!(world.value(program).await);
}

#[tokio::test]
async fn names_and_results_outlive_suspension() {
    for park in [Park::AsNeeded, Park::EveryAwait] {
        let servers = servers();
        let world = servers.world().with_options(CodeModeOptions {
            park,
            ..CodeModeOptions::default()
        });
        let waiting = world
            .exec(
                "const server = MCP.gitHub; const read = (await API.read('mcp/gitHub.d.ts')).content;
                 await yield_control();
                 const {files} = await API.list();
                 const again = (await API.read('mcp/gitHub.d.ts')).content;
                 return [(await server.listIssues({owner: 'o'})).structuredContent.state, read === again, files.length,
                   Object.keys(MCP).length]",
            )
            .await;
        let done = world.wait(&run_id(&waiting)).await;
        assert_eq!(value(&done), json!(["open", true, 4, 3]));
    }
}

#[tokio::test]
async fn a_name_never_moves_to_another_tool_while_a_cell_is_suspended() {
    let servers = servers();
    let world = servers.world();
    let program = "await yield_control();
        const why = (call) => call.then((r) => r.structuredContent, (e) => [e.code, e.tool]);
        return [await why(MCP.gitHub.getPicture()), await why(MCP.gitHub.getPicture2())]";
    let waiting = world.exec(program).await;
    let mut now = world.run.clone();
    now.tools = servers.set(&["git-hub__get-picture"]);
    let done = world.wait_in(&run_id(&waiting), None, &now).await;
    assert_eq!(
        value(&done),
        json!([
            ["tool_unavailable", "gitHub.getPicture"],
            ["tool_unavailable", "gitHub.getPicture2"]
        ])
    );
    assert_eq!(servers.calls(), Vec::<String>::new());
}

#[tokio::test]
async fn what_policy_denies_is_nowhere() {
    let servers = servers();
    let mut world = servers.world();
    world.run.tools = servers.set(&["git-hub__*", "down__*"]);
    let outcome = world
        .exec(
            "const why = (call) => call.then(() => 'made', (e) => e.code);
             return [Object.keys(MCP), (await API.list()).files.map((f) => f.path),
               await why(MCP.gitHub.listIssues({owner: 'o'})), await why(MCP.gitHub.$api()),
               (await API.search('issues')).filter((hit) => hit.server !== 'files'), (await MCP.$api()).servers]",
        )
        .await;
    assert_eq!(
        value(&outcome),
        json!([
            ["files"],
            ["mcp/index.d.ts", "mcp/files.d.ts"],
            "unknown_server",
            "unknown_server",
            [],
            [{"identifier": "files", "serverName": "files", "toolCount": 0}]
        ])
    );
    assert_eq!(servers.calls(), Vec::<String>::new());
}

#[tokio::test]
async fn approval_is_asked_for_and_its_refusal_is_caught() {
    let servers = servers();
    let mut world = World::of(crate::support::Setup {
        asks: true,
        ..crate::support::Setup::default()
    });
    world.run.tools = servers.set(&[]);
    world.stage.release("deny");
    let outcome = world
        .exec("return await MCP.gitHub.listIssues({owner: 'o'}).catch((e) => [e.code, e.effectStatus])")
        .await;
    assert_eq!(value(&outcome), json!(["approval_denied", "notStarted"]));
    assert_eq!(servers.calls(), Vec::<String>::new());
}

#[tokio::test]
async fn the_files_are_served_and_the_api_says_the_same() {
    let world = servers().world();
    let found = world
        .value(
            "const {files} = await API.list();
             const {files: below} = await API.list('mcp/');
             const file = await API.read('mcp/gitHub.d.ts');
             const api = await MCP.gitHub.$api();
             const tool = await MCP.gitHub.$api('listIssues', {schema: true});
             const own = await MCP.gitHub.$api('list_issues');
             const root = await MCP.$api();
             const {header, ...rest} = tool;
             const wrong = await Promise.all([
               API.read('mcp/github.d.ts'), API.read('mcp/../x'), API.list('other'),
               MCP.gitHub.$api('listIssue'), MCP.gitHub.$api(5),
             ].map((p) => p.then(() => 'done', (e) => e.message)));
             return {
               files, same: JSON.stringify(files) === JSON.stringify(below),
               text: [`${file}` === file.content, file.bytes === file.content.length, file.path],
               header: api.header === file.content,
               tools: api.tools.length, scope: api.scope,
               rest, own: own.header === header,
               one: [header.includes('function listIssues('), header.includes('function die(')],
               root: root.servers, index: root.header === (await API.read('mcp/index.d.ts')).content,
               wrong,
             }",
        )
        .await;
    insta::assert_json_snapshot!(found);
}

#[tokio::test]
async fn only_what_is_read_is_laid_into_the_guest() {
    let world = servers().world();
    let found = world
        .value(
            "const literal = (await API.read('mcp/files.d.ts')).content.length;
             const {files} = await API.list();
             return [literal === files.find((f) => f.path === 'mcp/files.d.ts').bytes, ALL_TOOLS.length]",
        )
        .await;
    assert_eq!(found, json!([true, 0]));
    let world = World::new();
    let found = world
        .value(
            "const path = 'mcp/' + 'gitHub.d.ts';
             const file = await API.read(path);
             return [file.content.includes('function listIssues('), ALL_TOOLS.length, ALL_TOOLS[0].name, [...ALL_TOOLS].length]",
        )
        .await;
    assert_eq!(found, json!([true, 16, "echo", 16]));
}

#[tokio::test]
async fn a_forged_target_reaches_nothing() {
    let servers = servers();
    let world = servers.world();
    let outcome = world
        .exec(
            "const why = (call) => call.then(() => 'made', (e) => e.code);
             return [await why(MCP['mcp:git-hub'].delete({})), await why(MCP['gitHub.delete2'].x({})),
               await why(MCP['']['']({})), await why(MCP.gitHub['delete2.x']({}))]",
        )
        .await;
    assert_eq!(
        value(&outcome),
        json!([
            "unknown_server",
            "unknown_tool",
            "unknown_server",
            "unknown_tool"
        ])
    );
    assert_eq!(servers.calls(), Vec::<String>::new());
}

#[tokio::test]
async fn an_error_that_nobody_catches_names_the_tool() {
    let world = servers().world();
    let outcome = world.exec("await MCP.gitHub.die()").await;
    assert_eq!(
        kind(&outcome),
        codecell_protocol::FailureKind::NestedToolFailed
    );
}
