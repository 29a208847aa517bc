//! Cells that call MCP servers, across processes: what they did goes on, is unknown, is gone, is asked
//! about again, or is replayed.

use std::sync::Arc;
use std::time::Duration;

use async_trait::async_trait;
use codecell_catalog::{McpServer, Operation, ToolId};
use codecell_codemode::{
    Ownership, RecordFault, RecordSink, ReplayOptions, SnapshotStore, StoreError, StoredCell,
    StoredRow, StoredValue, ValueChange, Write,
};
use codecell_protocol::{CellId, CellResult, Effects, FailureKind};
use codecell_sandbox::SnapshotKey;
use codecell_tools::{
    CallContext, ContentBlock, Tool, ToolDefinition, ToolError, ToolInput, ToolOutput, ToolSource,
};
use serde_json::{Value, json};

use crate::child::{Job, Trap};
use crate::replay::Collected;
use crate::server;
use crate::world::{Person, Places, Setup, World, open, value};

/// What the servers offer, if nothing is taken away.
pub(crate) const MEMBERS: [&str; 8] = [
    "mcp:outer:effect",
    "mcp:outer:get-it",
    "mcp:outer:get_it",
    "mcp:files:resources/list",
    "mcp:files:resources/read",
    "mcp:files:prompts/list",
    "mcp:files:prompts/get",
    "mcp:files:picture",
];

struct Member {
    definition: ToolDefinition,
    server: String,
}

#[async_trait]
impl Tool for Member {
    fn definition(&self) -> &ToolDefinition {
        &self.definition
    }

    async fn call(&self, input: ToolInput, _: &CallContext) -> Result<ToolOutput, ToolError> {
        let delay = input.value()["delayMs"].as_u64().unwrap_or(0);
        tokio::time::sleep(Duration::from_millis(delay)).await;
        Ok(match self.definition.name() {
            "effect" => {
                let token = input.value()["token"]
                    .as_str()
                    .unwrap_or_default()
                    .to_owned();
                let server = self.server.clone();
                let asked = tokio::task::spawn_blocking(move || server::ask(&server, &token)).await;
                let asked = asked.unwrap();
                asked.map_err(|error| ToolError::new("unreachable", error.to_string()))?;
                ToolOutput::details(json!("ok"))
            }
            "resources/list" => ToolOutput::details(
                json!({"resources": [{"uri": "file:///a", "name": "a"}], "nextCursor": "1"}),
            ),
            "resources/read" => ToolOutput::details(json!({"contents": [
                {"uri": "file:///a", "text": "h\u{e9}llo \u{2028}"},
                {"uri": "file:///b", "mimeType": "application/zip", "blob": "AQID"}
            ]})),
            "prompts/list" => ToolOutput::details(json!({"prompts": [{"name": "p"}]})),
            "prompts/get" => ToolOutput::details(json!({"messages": [
                {"role": "user", "content": {"type": "text", "text": "hi"}}
            ]})),
            "picture" => ToolOutput {
                content: vec![ContentBlock::Image {
                    mime_type: "image/png".into(),
                    data: vec![1, 2, 3].into(),
                }],
                details: Some(json!({"width": 0.1, "height": 1e21})),
                is_error: false,
            },
            name => ToolOutput::text(name),
        })
    }
}

pub(crate) struct Servers(Vec<Arc<dyn Tool>>);

impl ToolSource for Servers {
    fn tools(&self) -> Vec<Arc<dyn Tool>> {
        self.0.clone()
    }

    fn servers(&self) -> Vec<McpServer> {
        let owners = self
            .0
            .iter()
            .map(|tool| tool.definition().id.owner().to_owned());
        let mut owners: Vec<String> = owners.collect();
        owners.dedup();
        owners.into_iter().map(McpServer::new).collect()
    }
}

/// The servers that offer these.
pub(crate) fn source(server: &str, members: &[&str]) -> Servers {
    let tool = |id: &&str| {
        let id = ToolId::parse(id).unwrap();
        let mut definition = ToolDefinition::new(id, "Does a thing.", json!({"type": "object"}));
        let mut operations = Operation::OF_SERVER.into_iter();
        let operation = operations.find(|operation| operation.method() == definition.name());
        definition.operation = operation.unwrap_or_default();
        Arc::new(Member {
            definition,
            server: server.to_owned(),
        }) as Arc<dyn Tool>
    };
    Servers(members.iter().map(tool).collect())
}

fn effects(result: &CellResult) -> Option<&Effects> {
    match result {
        CellResult::Completed(completed) => completed.effects.as_ref(),
        CellResult::Failed(failed) => failed.effects.as_ref(),
        CellResult::Waiting(waiting) => waiting.effects.as_ref(),
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn servers_files_and_calls_go_on_in_another_process() {
    let places = Places::new();
    let id = places
        .suspended(
            "const {outer} = MCP; const {list} = MCP.files.resources;
             const look = async () => [Object.keys(MCP), Object.keys(outer), (await API.list()).files,
               (await API.read('mcp/outer.d.ts')).content, await MCP.$api(), await outer.$api('effect', {schema: true}),
               await list()];
             const before = await look();
             const first = await outer.effect({token: 'first'});
             await yield_control();
             const after = await look();
             const same = before.map((one, at) => JSON.stringify(one) === JSON.stringify(after[at]));
             return [same, first.structuredContent, (await outer.effect({token: 'second'})).structuredContent,
               (await API.search('thing')).length > 0]",
        )
        .await;
    let result = places.later(&id, &MEMBERS).await;
    assert_eq!(
        value(&result),
        json!([[true, true, true, true, true, true, true], "ok", "ok", true])
    );
    let counts = ["first", "second"].map(|token| places.server.count(token));
    assert_eq!(counts, [1, 1]);
    assert_eq!(effects(&result).unwrap().committed, 4);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_call_that_was_under_way_is_unknown() {
    let places = Places::new();
    let id = places
        .suspended(
            "const slow = MCP.outer.effect({token: 'slow', delayMs: 60000}).then(() => 'made', (e) => [e.code, e.effectStatus, e.tool]);
             await yield_control(); return await slow",
        )
        .await;
    let result = places.later(&id, &MEMBERS).await;
    assert_eq!(
        value(&result),
        json!(["aborted", "unknown", "mcp:outer:effect"])
    );
    assert_eq!(effects(&result).unwrap().unknown, 1);
    assert_eq!(places.server.count("slow"), 0);
}

#[test]
fn a_call_whose_process_was_killed_is_unknown_and_not_made_again() {
    let places = Places::new();
    let address = places.server.address();
    let program = "return await MCP.outer.effect({token: 'killed', delayMs: 60000}).then(() => 'made', (e) => [e.code, e.effectStatus])";
    // The first step of a call's says that the executor has it.
    let job = Job {
        folder: &places.path,
        server: &address,
        trap: Trap::Record {
            kind: 6,
            nth: 1,
            after: true,
        },
        program: Some(program),
        parks: false,
        person: None,
    };
    assert!(job.run().died);
    let rest = Job {
        trap: Trap::None,
        program: None,
        ..job
    };
    let results = rest.run().results;
    assert_eq!(value(&results[0]), json!(["lost", "unknown"]));
    assert_eq!(effects(&results[0]).unwrap().unknown, 1);
    assert_eq!(places.server.count("killed"), 0);
}

const AFTERWARDS: &str = "const why = (call) => call.then(() => 'made', (e) => [e.code, e.effectStatus]);
    const first = await why(MCP.outer.getIt());
    await yield_control();
    return [await why(MCP.outer.getIt()), await why(MCP.outer.getIt2()), await why(MCP.files.resources.list()),
      Object.keys(MCP)]";

#[tokio::test(flavor = "multi_thread")]
async fn a_server_that_is_gone_meanwhile_refuses_and_the_others_go_on() {
    let places = Places::new();
    let id = places.suspended(AFTERWARDS).await;
    let gone = json!(["tool_unavailable", "notStarted"]);
    let files: Vec<&str> = MEMBERS
        .into_iter()
        .filter(|id| id.contains("files"))
        .collect();
    let found = value(&places.later(&id, &files).await);
    assert_eq!(
        found,
        json!([gone, gone, "made", ["outer", "files"]]),
        "what was named stays named"
    );
    let id = places.suspended(AFTERWARDS).await;
    let found = value(&places.later(&id, &[]).await);
    assert_eq!(found, json!([gone, gone, gone, ["outer", "files"]]));
}

#[tokio::test(flavor = "multi_thread")]
async fn a_name_does_not_move_to_another_tool_in_a_later_process() {
    let places = Places::new();
    let id = places.suspended(AFTERWARDS).await;
    let left: Vec<&str> = MEMBERS
        .into_iter()
        .filter(|id| !id.ends_with("get-it"))
        .collect();
    let found = value(&places.later(&id, &left).await);
    let gone = json!(["tool_unavailable", "notStarted"]);
    assert_eq!((&found[0], &found[1]), (&gone, &gone), "{found}");
}

/// Reads every record as if it had been written with another build of the guest.
struct OtherGuest(Arc<dyn SnapshotStore>);

/// Turns the first digit of the image's hash into another one.
fn with_other_image(bytes: &mut [u8]) {
    const KEY: &[u8] = br#""image":""#;
    let found = bytes.windows(KEY.len()).position(|window| window == KEY);
    if let Some(at) = found {
        let digit = &mut bytes[at + KEY.len()];
        *digit = if *digit == b'0' { b'1' } else { b'0' };
    }
}

impl SnapshotStore for OtherGuest {
    fn own(&self, id: &CellId) -> Result<Option<Box<dyn Ownership>>, StoreError> {
        self.0.own(id)
    }

    fn write(&self, write: Write) {
        self.0.write(write);
    }

    fn read(&self, id: &CellId) -> Result<Option<StoredCell>, StoreError> {
        let mut cell = self.0.read(id)?;
        for record in cell.iter_mut().flat_map(|cell| &mut cell.records) {
            with_other_image(&mut record.bytes);
        }
        Ok(cell)
    }

    fn rows(&self) -> Result<Vec<StoredRow>, StoreError> {
        self.0.rows()
    }

    fn remove(&self, id: &CellId) -> Result<(), StoreError> {
        self.0.remove(id)
    }

    fn values(&self, scope: &[u8; 32]) -> Result<Vec<StoredValue>, StoreError> {
        self.0.values(scope)
    }

    fn change_value(
        &self,
        scope: &[u8; 32],
        change: ValueChange,
        expires_us: u64,
    ) -> Result<(), StoreError> {
        self.0.change_value(scope, change, expires_us)
    }

    fn forget_values(&self, scope: &[u8; 32]) -> Result<(), StoreError> {
        self.0.forget_values(scope)
    }

    fn sweep_values(&self, now_us: u64) -> Result<(), StoreError> {
        self.0.sweep_values(now_us)
    }

    fn snapshot_key(&self) -> &SnapshotKey {
        self.0.snapshot_key()
    }

    fn flush(&self) {
        self.0.flush();
    }
}

#[tokio::test(flavor = "multi_thread")]
async fn a_cell_of_another_guest_does_not_come_back_and_says_what_it_did() {
    let places = Places::new();
    let id = places
        .suspended("await MCP.outer.effect({token: 'done'}); await yield_control(); return 1")
        .await;
    let mut setup = places.setup();
    setup.store = Some(Arc::new(OtherGuest(open(&places.path))));
    let result = World::of(setup).wait(&id, None).await;
    assert_eq!(
        result.failure_kind(),
        Some(FailureKind::SnapshotRestoreFailed)
    );
    assert_eq!(effects(&result).unwrap().committed, 1);
    let text = result.model_text().unwrap();
    assert!(text.contains("belongs to guest image"), "{text}");
    // With the guest that it belongs to it goes on: nothing was taken away from it.
    assert_eq!(value(&places.later(&id, &MEMBERS).await), json!(1));
}

/// Suspends a cell whose call waits for a person, kills its process, and goes on with it.
fn asked_and_killed(places: &Places, token: &str, later: Person) -> CellResult {
    let address = places.server.address();
    let program = format!(
        "const said = await MCP.outer.effect({{token: '{token}'}}).then((r) => r.structuredContent, (e) => [e.code, e.effectStatus]); return said"
    );
    // The step that says that a person is asked is the second of this call's.
    let job = Job {
        folder: &places.path,
        server: &address,
        trap: Trap::Record {
            kind: 6,
            nth: 2,
            after: true,
        },
        program: Some(&program),
        parks: false,
        person: Some(Person::Ponders),
    };
    assert!(job.run().died, "nobody was asked");
    assert_eq!(places.server.count(token), 0);
    let rest = Job {
        trap: Trap::None,
        program: None,
        person: Some(later),
        ..job
    };
    let report = rest.run();
    assert!(!report.died);
    report.results.into_iter().next_back().unwrap()
}

#[test]
fn a_question_that_was_open_when_the_process_died_is_asked_again() {
    let places = Places::new();
    let agreed = asked_and_killed(&places, "agreed", Person::Agrees);
    assert_eq!(value(&agreed), json!("ok"));
    assert_eq!(places.server.count("agreed"), 1);
    let refused = asked_and_killed(&places, "refused", Person::Refuses);
    assert_eq!(value(&refused), json!(["approval_denied", "notStarted"]));
    assert_eq!(places.server.count("refused"), 0);
}

/// A program over everything that servers have.
const EVERYTHING: &str = "const {contents} = await MCP.files.resources.read({uri: 'file:///a'});
    const picture = await MCP.files.picture();
    await yield_control();
    const failed = await MCP.nowhere.x({}).catch((e) => [e.code, e.message]);
    const all = await Promise.all([MCP.files.resources.list(), MCP.files.prompts.list(), MCP.files.prompts.get({name: 'p'}),
      MCP.outer.effect({token: 'TOKEN'}), MCP.outer.getIt2({a: [1, {b: null}]}), MCP.$api(), API.search('thing')]);
    json(picture.content[0]);
    return [contents, picture, failed, all, (await API.read('mcp/files.d.ts')).content.length, Math.random(), Date.now()]";

async fn recorded(places: &Places) -> (Vec<u8>, CellResult) {
    let record = Collected::new();
    let mut setup = places.setup();
    setup.record = Some(Arc::clone(&record) as Arc<dyn RecordSink>);
    let world = World::of(setup);
    let first = world.exec(EVERYTHING).await;
    let result = world.wait_out(first).await;
    (record.bytes(), result)
}

#[tokio::test(flavor = "multi_thread")]
async fn what_servers_said_is_replayed_without_them() {
    let places = Places::new();
    let (record, result) = recorded(&places).await;
    let said = value(&result);
    assert_eq!(
        said[1]["structuredContent"],
        json!({"width": 0.1, "height": 1e21})
    );
    for members in [&MEMBERS[..], &[]] {
        let world = World::of(Setup {
            mcp: members.to_vec(),
            store: None,
            ..places.setup()
        });
        let options = ReplayOptions::default();
        let replayed = world
            .cells
            .replay(&record, options, &world.run)
            .await
            .unwrap();
        assert_eq!(
            replayed.is_same,
            Some(true),
            "{:?}",
            replayed.outcome.result
        );
        let text = |value: &Value| value.to_string();
        assert_eq!(text(&value(&replayed.outcome.result)), text(&said));
    }
    assert_eq!(places.server.count("TOKEN"), 1);
    // A fork that has the first two answers makes the other calls.
    let world = World::of(places.setup());
    let options = ReplayOptions {
        until: Some(2),
        fork: true,
    };
    let forked = world
        .cells
        .replay(&record, options, &world.run)
        .await
        .unwrap();
    let forked = value(&world.wait_out(forked.outcome.result).await);
    assert_eq!((&forked[1], &forked[3][3]), (&said[1], &said[3][3]));
    assert_eq!(places.server.count("TOKEN"), 2);
}

#[tokio::test(flavor = "multi_thread")]
async fn a_record_of_another_guest_is_refused() {
    let places = Places::new();
    let (mut record, _) = recorded(&places).await;
    with_other_image(&mut record);
    let world = World::of(places.setup());
    let refused = world
        .cells
        .replay(&record, ReplayOptions::default(), &world.run)
        .await;
    assert_eq!(refused.unwrap_err(), RecordFault::Image);
}
