//! What servers ask before they answer: in rounds, and by requests of their own.

use std::time::Duration;

use codecell_tools::CallContext;
use codecell_tools::approval::FormAnswer;
use serde_json::{Map, Value, json};

use crate::support::{World, script, server, shown};

/// A question with two fields, the second with a default.
fn question() -> Value {
    json!({"method": "elicitation/create", "params": {
        "message": "Which one?",
        "requestedSchema": {"type": "object", "required": ["name"], "properties": {
            "name": {"type": "string"},
            "size": {"type": "integer", "default": 3},
        }},
    }})
}

fn filled(content: Value) -> FormAnswer {
    FormAnswer::Filled(content.as_object().unwrap().clone())
}

fn old(tools: &[&str]) -> World {
    World::asking(server("asks", &script(tools, json!({}))))
}

fn modern(tools: &[&str]) -> World {
    World::asking(server("asks", &script(tools, json!({"modern": true}))))
}

impl World {
    fn answers(&self, answers: Vec<FormAnswer>) {
        *self.person.answers.lock().unwrap() = answers;
    }

    fn questions(&self) -> Vec<String> {
        let asked = self.person.asked.lock().unwrap();
        let asked = asked.iter();
        asked
            .map(|request| {
                let form = &request.form;
                let fields = form.fields.iter().map(|field| field.name.as_str());
                let fields = fields.collect::<Vec<_>>().join(", ");
                format!(
                    "{} for {}: {} [{fields}]",
                    form.asker, request.tool, form.message
                )
            })
            .collect()
    }

    async fn rounds(&self, rounds: Value) -> Result<Value, String> {
        let set = self.tools().await;
        let report = self.call(&set, "rounds", json!({"rounds": rounds})).await;
        match &report.outcome {
            Ok(output) => Ok(output.details.clone().unwrap_or_default()["rounds"].clone()),
            Err(_) => Err(shown(&report)),
        }
    }
}

#[tokio::test]
async fn a_call_that_was_half_answered_is_not_begun_again() {
    let flags = json!({"modern": true, "deaf_after_a_round": true});
    let world = World::of("asks", &script(&["rounds"], flags));
    let rounds = json!([{"resultType": "input_required", "requestState": "wait"}]);
    let refused = world.rounds(rounds).await.unwrap_err();
    assert!(refused.starts_with("Unknown mcp_server_died"), "{refused}");
}

#[tokio::test]
async fn a_question_in_a_result_is_answered_in_a_request_of_its_own() {
    let world = modern(&["rounds"]);
    let state = " {\"odd\":\u{1b}\"\\u0000ä\n} ";
    world.answers(vec![
        filled(json!({"name": "x", "other": 1})),
        FormAnswer::Declined,
    ]);
    let rounds = json!([
        {"resultType": "input_required", "inputRequests": {"first": question()}, "requestState": state},
        {"resultType": "input_required", "requestState": "wait"},
        {"resultType": "input_required", "inputRequests": {"second": question()}},
    ]);
    let came = world.rounds(rounds).await.unwrap();
    let came = came.as_array().unwrap();
    let bare = |round: &Value| (round["state"].clone(), round["responses"].clone());
    let accepted = json!({"first": {"action": "accept", "content": {"name": "x", "size": 3}}});
    assert_eq!(bare(&came[0]), (Value::Null, Value::Null));
    assert_eq!(bare(&came[1]), (json!(state), accepted));
    assert_eq!(bare(&came[2]), (json!("wait"), Value::Null));
    // The state of an earlier round is none of the last.
    let declined = json!({"second": {"action": "decline"}});
    assert_eq!(bare(&came[3]), (Value::Null, declined));
    let mut ids: Vec<_> = came.iter().map(|round| round["id"].to_string()).collect();
    ids.dedup();
    assert_eq!(ids.len(), 4);
    assert_eq!(
        world.questions(),
        ["the MCP server `asks` for mcp:asks:rounds: Which one? [name, size]"; 2]
    );
}

#[tokio::test]
async fn a_server_asks_neither_for_ever_nor_for_everything() {
    let asked =
        |requests: Value| json!({"resultType": "input_required", "inputRequests": requests});
    let state = |state: String| json!({"resultType": "input_required", "requestState": state});
    let many: Map<_, _> = (0..11).map(|n| (n.to_string(), question())).collect();
    let endless: Vec<_> = (0..20).map(|_| asked(json!({"q": question()}))).collect();
    let sampling =
        json!({"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}});
    let cases = [
        (
            json!([state("s".repeat(2 << 20))]),
            "its requestState has more than 1048576 bytes",
        ),
        (
            json!([asked(Value::Object(many))]),
            "it asks 11 things at once",
        ),
        (
            json!([asked(json!({}))]),
            "it asks for nothing, and gives no result",
        ),
        (
            json!([asked(json!({"a": {"method": "tools/list"}}))]),
            "what is not of the protocol",
        ),
        (
            json!([asked(json!({"a": sampling}))]),
            "wants `sampling/createMessage`",
        ),
        (
            json!([asked(json!({"a": {"method": "roots/list"}}))]),
            "wants `roots/list`",
        ),
        (Value::Array(endless), "it asked for more than 10 times"),
    ];
    for (rounds, expected) in cases {
        let world = modern(&["rounds"]);
        let refused = world.rounds(rounds).await.unwrap_err();
        assert!(refused.contains(expected), "{refused}");
        // Whatever the server did meanwhile, nobody knows.
        assert!(refused.starts_with("Unknown mcp_"), "{refused}");
    }
}

#[tokio::test]
async fn a_server_of_the_older_revisions_asks_by_a_request() {
    let world = old(&["ask"]);
    let set = world.tools().await;
    let ask = || world.details(&set, "ask", json!({"question": question()}));
    world.answers(vec![
        filled(json!({"name": "x"})),
        filled(json!({})),
        FormAnswer::Cancelled,
    ]);
    let accepted = json!({"action": "accept", "content": {"name": "x", "size": 3}});
    assert_eq!(ask().await["result"], accepted);
    // Without what it must have, a form is no answer.
    assert_eq!(ask().await["result"], json!({"action": "decline"}));
    assert_eq!(ask().await["result"], json!({"action": "cancel"}));
    assert_eq!(ask().await["result"], json!({"action": "decline"}));
    assert_eq!(world.questions().len(), 4);
}

#[tokio::test]
async fn what_must_not_be_shown_is_declined_and_nobody_is_asked() {
    let world = old(&["ask"]);
    let set = world.tools().await;
    let ask = |question: Value| world.details(&set, "ask", json!({"question": question}));
    let mut secret = question();
    secret["params"]["requestedSchema"]["properties"]["password"] = json!({"type": "string"});
    assert_eq!(ask(secret).await["result"], json!({"action": "decline"}));
    let url = json!({"method": "elicitation/create", "params": {
        "mode": "url", "message": "m", "url": "https://example.com", "elicitationId": "1",
    }});
    assert_eq!(ask(url).await["result"], json!({"action": "decline"}));
    let sampling =
        json!({"method": "sampling/createMessage", "params": {"messages": [], "maxTokens": 1}});
    assert_eq!(ask(sampling).await["error"], -32601);
    let roots = ask(json!({"method": "roots/list"})).await;
    assert_eq!(roots["result"], json!({"roots": []}));
    assert_eq!(world.questions(), Vec::<String>::new());
}

#[tokio::test]
async fn the_time_of_a_call_stands_still_while_a_person_thinks() {
    let mut options = server("asks", &script(&["ask", "stall"], json!({})));
    options.request_timeout = Duration::from_millis(400);
    let world = World::asking(options);
    let set = world.tools().await;
    *world.person.takes.lock().unwrap() = Duration::from_millis(1_200);
    world.answers(vec![filled(json!({"name": "x"}))]);
    let told = world
        .details(&set, "ask", json!({"question": question()}))
        .await;
    assert_eq!(told["result"]["action"], "accept");
    let stalled = world.call(&set, "stall", json!({})).await;
    assert_eq!(stalled.failure().unwrap().code, "mcp_timeout");
}

#[tokio::test]
async fn nobody_is_asked_about_a_call_of_somebody_else() {
    let world = old(&["ask", "stall"]);
    let set = world.tools().await;
    world.answers(vec![filled(json!({"name": "x"}))]);
    let stranger = CallContext::new("main", "another session", "r");
    let abort = stranger.abort.clone();
    let stalls = world.call_in(&set, "stall", json!({}), stranger);
    let asks = async {
        // The other call is on its way before this one: calls of a server are sent in turn.
        let told = world
            .details(&set, "ask", json!({"question": question()}))
            .await;
        abort.cancel();
        told
    };
    let (_, told) = tokio::join!(stalls, asks);
    assert_eq!(told["result"], json!({"action": "decline"}));
    assert_eq!(world.questions(), Vec::<String>::new());
}

#[tokio::test]
async fn only_who_can_ask_says_so() {
    for can_ask in [false, true] {
        let server = server("asks", &script(&["greeting"], json!({})));
        let mut options = codecell_mcp::client::PoolOptions::new(vec![server]);
        options.can_ask = can_ask;
        let world = World::with(options);
        let set = world.tools().await;
        let greeting = world.details(&set, "greeting", json!({})).await;
        let expected = match can_ask {
            true => json!({"elicitation": {"form": {}}}),
            false => json!({}),
        };
        assert_eq!(greeting["capabilities"], expected);
    }
}
