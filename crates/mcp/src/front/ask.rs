//! Approvals and forms on their way to a client: questions wait here until a request of their cell takes them.
//!
//! The executor asks on its own task; only a request that is being served can ask its client, so that
//! the question travels on that request's stream. A question whose request ended before the answer
//! came goes back, and the next `wait` of the cell asks it again. Everything but a clear yes is a no.

use std::sync::{Arc, Mutex, PoisonError};

use async_trait::async_trait;
use codecell_tools::approval::{
    Choice, Field, FieldKind, FormAnswer, FormRequest, escape_for_display,
};
use codecell_tools::{ApprovalRequest, Approver, Decision};
use rmcp::model::ElicitRequest;
use serde_json::{Value, json};
use tokio::sync::{Notify, oneshot};

use super::hub::Concern;

/// Characters of arguments that a question shows.
const SHOWN_CHARS: usize = 4000;

/// Questions that may be open in the whole process.
const MAX_OPEN: usize = 1024;

/// The formats that the protocol knows. Source: elicitation of revision 2025-06-18 and later.
const FORMATS: [&str; 4] = ["email", "uri", "date", "date-time"];

/// A question that a request has taken.
#[derive(Debug)]
pub(crate) struct Question {
    message: String,
    schema: Value,
    session: Arc<str>,
    parent: Option<Arc<str>>,
    cell: Option<Arc<str>>,
    answer: Answer,
}

/// Who waits for an answer, and of which kind.
#[derive(Debug)]
enum Answer {
    Decision {
        in_cell: bool,
        waiting: oneshot::Sender<Decision>,
    },
    Form(oneshot::Sender<FormAnswer>),
}

impl Question {
    fn of(request: &ApprovalRequest, waiting: oneshot::Sender<Decision>) -> Self {
        let in_cell = request.cell_id.is_some();
        Self {
            message: message(request),
            schema: schema(in_cell, &escape_for_display(&request.need.covers)),
            session: Arc::clone(&request.run_id),
            parent: request.parent_call.clone(),
            cell: request.cell_id.clone(),
            answer: Answer::Decision { in_cell, waiting },
        }
    }

    fn of_form(request: &FormRequest, waiting: oneshot::Sender<FormAnswer>) -> Self {
        Self {
            message: form_message(request),
            schema: form_schema(&request.form.fields),
            session: Arc::clone(&request.run_id),
            parent: request.parent_call.clone(),
            cell: request.cell_id.clone(),
            answer: Answer::Form(waiting),
        }
    }

    /// The question as a request to the client; `None` if it makes none, which a test rules out.
    pub(crate) fn request(&self) -> Option<ElicitRequest> {
        let params = json!({
            "mode": "form",
            "message": self.message,
            "requestedSchema": self.schema,
        });
        serde_json::from_value(params).ok().map(ElicitRequest::new)
    }

    /// Nobody waits for the answer any more.
    pub(crate) fn is_moot(&self) -> bool {
        match &self.answer {
            Answer::Decision { waiting, .. } => waiting.is_closed(),
            Answer::Form(waiting) => waiting.is_closed(),
        }
    }

    /// Returns when nobody waits for the answer any more.
    pub(crate) async fn moot(&mut self) {
        match &mut self.answer {
            Answer::Decision { waiting, .. } => waiting.closed().await,
            Answer::Form(waiting) => waiting.closed().await,
        }
    }

    /// Answers with what the client sent: its action, and the form's content. The call may have been
    /// aborted meanwhile.
    pub(crate) fn answer(self, action: &str, content: Option<&Value>) {
        match self.answer {
            Answer::Decision { in_cell, waiting } => {
                let _ = waiting.send(decide(action, content, in_cell));
            }
            Answer::Form(waiting) => {
                let _ = waiting.send(filled(action, content));
            }
        }
    }

    /// Answers that there is nobody to ask.
    pub(crate) fn nobody(self) {
        match self.answer {
            Answer::Decision { waiting, .. } => {
                let _ = waiting.send(Decision::Unavailable);
            }
            Answer::Form(waiting) => {
                let _ = waiting.send(FormAnswer::Unavailable);
            }
        }
    }
}

/// A server's words come after ours, each line marked, so that none can pass for ours.
fn form_message(request: &FormRequest) -> String {
    let form = &request.form;
    let mut message = format!(
        "{} asks, while a program calls {}. What is entered goes to that server: no passwords, no keys.\nIt says:",
        escape_for_display(&form.asker),
        escape_for_display(request.tool.as_str()),
    );
    for line in form.message.lines() {
        message.push_str("\n> ");
        message.push_str(&escape_for_display(line));
    }
    message
}

fn form_schema(fields: &[Field]) -> Value {
    let properties = fields
        .iter()
        .map(|field| (field.name.clone(), field_schema(field)));
    let required = fields.iter().filter(|field| field.is_required);
    let required: Vec<&str> = required.map(|field| field.name.as_str()).collect();
    json!({
        "type": "object",
        "properties": properties.collect::<serde_json::Map<_, _>>(),
        "required": required,
    })
}

fn field_schema(field: &Field) -> Value {
    let mut schema = match &field.kind {
        FieldKind::Text {
            min_chars,
            max_chars,
            format,
        } => {
            let mut schema =
                json!({"type": "string", "minLength": min_chars, "maxLength": max_chars});
            if let Some(format) = format.as_deref().filter(|format| FORMATS.contains(format)) {
                schema["format"] = json!(format);
            }
            schema
        }
        FieldKind::Number { is_whole, min, max } => {
            let kind = if *is_whole { "integer" } else { "number" };
            let mut schema = json!({"type": kind});
            let bounds = [("minimum", min), ("maximum", max)];
            for (key, bound) in bounds {
                if let Some(bound) = bound {
                    schema[key] = number(*bound);
                }
            }
            schema
        }
        FieldKind::Flag => json!({"type": "boolean"}),
        FieldKind::Choice(of) => {
            let values: Vec<_> = of.iter().map(|choice| &choice.value).collect();
            json!({"type": "string", "enum": values, "enumNames": titles(of)})
        }
        FieldKind::Choices {
            of,
            min_items,
            max_items,
        } => {
            let titled = of.iter().zip(titles(of));
            let titled =
                titled.map(|(choice, title)| json!({"const": choice.value, "title": title}));
            let items = json!({"anyOf": titled.collect::<Vec<_>>()});
            json!({"type": "array", "minItems": min_items, "maxItems": max_items, "items": items})
        }
    };
    let title = field.title.as_deref().unwrap_or(&field.name);
    schema["title"] = json!(escape_for_display(title));
    if let Some(description) = &field.description {
        schema["description"] = json!(escape_for_display(description));
    }
    if let Some(default) = &field.default {
        schema["default"] = default.clone();
    }
    schema
}

/// A whole number as one: clients may take no other for the bounds of an integer.
fn number(bound: f64) -> Value {
    match bound.fract() == 0.0 && bound.abs() < 1e15 {
        true => json!(bound as i64),
        false => json!(bound),
    }
}

fn titles(of: &[Choice]) -> Vec<String> {
    let titles = of.iter().map(|choice| escape_for_display(&choice.title));
    titles.collect()
}

fn filled(action: &str, content: Option<&Value>) -> FormAnswer {
    match (action, content) {
        ("accept", Some(Value::Object(content))) => FormAnswer::Filled(content.clone()),
        ("accept", None) => FormAnswer::yes(),
        ("cancel", _) => FormAnswer::Cancelled,
        _ => FormAnswer::Declined,
    }
}

fn message(request: &ApprovalRequest) -> String {
    let arguments = request.shown_arguments();
    let mut shown: String = arguments.chars().take(SHOWN_CHARS).collect();
    let hidden = arguments.chars().count().saturating_sub(SHOWN_CHARS);
    if hidden > 0 {
        shown.push_str(&format!("… and {hidden} more characters, not shown"));
    }
    format!(
        "A program wants to call {}, which {}.\nArguments: {shown}",
        escape_for_display(request.tool.as_str()),
        request.shown_reason(),
    )
}

fn schema(in_cell: bool, covers: &str) -> Value {
    let (mut words, mut titles) = (vec!["once"], vec!["Allow this call".to_owned()]);
    if in_cell {
        words.push("cell");
        titles.push("Allow for this cell".to_owned());
    }
    words.extend(["tool", "deny"]);
    titles.extend([
        format!("Allow for this session: {covers}"),
        "Deny".to_owned(),
    ]);
    json!({
        "type": "object",
        "properties": {
            "decision": {
                "type": "string",
                "title": "Decision",
                "description": "What to do with this call",
                "enum": words,
                "enumNames": titles
            },
            "reason": {
                "type": "string",
                "title": "Reason",
                "description": "If you deny it: why, for the model",
                "maxLength": 500
            }
        },
        "required": ["decision"]
    })
}

fn decide(action: &str, content: Option<&Value>, in_cell: bool) -> Decision {
    let field = |name: &str| content.and_then(|content| content.get(name)?.as_str());
    if action != "accept" {
        return Decision::Deny { reason: None };
    }
    match field("decision") {
        Some("once") => Decision::Once,
        Some("cell") if in_cell => Decision::ThisCell,
        Some("tool") => Decision::ThisTool,
        _ => {
            let reason = field("reason")
                .map(str::trim)
                .filter(|text| !text.is_empty());
            Decision::Deny {
                reason: reason.map(|text| escape_for_display(text).chars().take(500).collect()),
            }
        }
    }
}

/// The executor's approver that asks through the front's clients.
#[derive(Default)]
pub struct ElicitingApprover {
    open: Mutex<Vec<Question>>,
    came: Notify,
}

impl ElicitingApprover {
    /// Takes the next question that concerns a request of this session; waits until there is one.
    pub(crate) async fn next(&self, session: &Arc<str>, concern: &Concern) -> Question {
        loop {
            // Made before looking, so that a question which comes in between is not missed.
            let came = self.came.notified();
            if let Some(question) = self.take(session, concern) {
                return question;
            }
            came.await;
        }
    }

    fn take(&self, session: &Arc<str>, concern: &Concern) -> Option<Question> {
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|question| !question.is_moot());
        let at = open.iter().position(|question| {
            question.session == *session
                && concern.covers(question.parent.as_ref(), question.cell.as_ref())
        })?;
        Some(open.remove(at))
    }

    /// Puts a question back that its request could not get an answer to.
    pub(crate) fn put_back(&self, question: Question) {
        if question.is_moot() {
            return;
        }
        let mut open = self.open.lock().unwrap_or_else(PoisonError::into_inner);
        open.retain(|question| !question.is_moot());
        if open.len() >= MAX_OPEN {
            drop(open);
            question.nobody();
            return;
        }
        open.push(question);
        drop(open);
        self.came.notify_waiters();
    }
}

#[async_trait]
impl Approver for ElicitingApprover {
    async fn ask(&self, request: &ApprovalRequest) -> Decision {
        let (answer, answered) = oneshot::channel();
        self.put_back(Question::of(request, answer));
        answered.await.unwrap_or(Decision::Unavailable)
    }

    async fn fill(&self, request: &FormRequest) -> FormAnswer {
        let (answer, answered) = oneshot::channel();
        self.put_back(Question::of_form(request, answer));
        answered.await.unwrap_or(FormAnswer::Unavailable)
    }
}

#[cfg(test)]
mod tests {
    use codecell_tools::approval::Form;
    use codecell_tools::{ApprovalNeed, ToolId, ToolInput};

    use super::*;

    fn request(arguments: Value) -> ApprovalRequest {
        ApprovalRequest {
            call_id: "1".into(),
            tool: ToolId::parse("openclaw:core:write").expect("an id"),
            input: ToolInput::new(arguments),
            need: ApprovalNeed {
                key: "call".into(),
                reason: "can change things outside the sandbox".into(),
                covers: "every call of write".into(),
                asked_once: false,
            },
            agent_id: "main".into(),
            session_key: "s".into(),
            run_id: "s".into(),
            cell_id: Some("cm_1".into()),
            parent_call: Some("exec-1".into()),
        }
    }

    #[test]
    fn what_is_shown_is_escaped_and_bounded() {
        let message = message(&request(json!({"path": "a\u{1b}[2J\u{202e}b"})));
        assert_eq!(
            message,
            "A program wants to call openclaw:core:write, which can change things outside the sandbox.\n\
             Arguments: {\"path\":\"a\\u001b[2J\\u202eb\"}"
        );
        let long = super::message(&request(json!({"content": "z".repeat(10_000)})));
        assert!(
            long.ends_with("… and 6014 more characters, not shown"),
            "{long}"
        );
    }

    #[test]
    fn a_form_of_every_kind_is_a_request_with_the_words_of_the_server_marked() {
        let of = vec![Choice {
            value: "a".to_owned(),
            title: "A\u{202e}".to_owned(),
        }];
        let kinds = [
            FieldKind::Text {
                min_chars: 0,
                max_chars: 9,
                format: Some("email".to_owned()),
            },
            FieldKind::Number {
                is_whole: true,
                min: Some(1.0),
                max: None,
            },
            FieldKind::Flag,
            FieldKind::Choice(of.clone()),
            FieldKind::Choices {
                of,
                min_items: 0,
                max_items: 1,
            },
        ];
        let fields = kinds.into_iter().enumerate().map(|(at, kind)| Field {
            name: format!("f{at}"),
            title: None,
            description: Some("d\u{1b}".to_owned()),
            kind,
            default: None,
            is_required: at == 0,
        });
        let request = FormRequest {
            form: Form {
                asker: "the MCP server `s`".to_owned(),
                message: "Hi\u{1b}[2J\nDecision:".to_owned(),
                fields: fields.collect(),
            },
            tool: ToolId::parse("mcp:s:t").expect("an id"),
            run_id: "s".into(),
            cell_id: None,
            parent_call: None,
        };
        let (sender, mut answered) = oneshot::channel();
        let question = Question::of_form(&request, sender);
        let asked = serde_json::to_value(question.request().expect("a request"));
        insta::assert_snapshot!(
            serde_json::to_string_pretty(&asked.expect("json")["params"]).expect("text")
        );
        question.answer("accept", Some(&json!({"f0": "x"})));
        let Ok(FormAnswer::Filled(content)) = answered.try_recv() else {
            panic!("no answer");
        };
        assert_eq!(Value::Object(content), json!({"f0": "x"}));
        assert_eq!(filled("decline", Some(&json!({}))), FormAnswer::Declined);
        assert_eq!(filled("accept", Some(&json!([]))), FormAnswer::Declined);
        assert_eq!(filled("accept", None), FormAnswer::yes());
        assert_eq!(filled("cancel", None), FormAnswer::Cancelled);
    }

    #[test]
    fn everything_but_a_clear_yes_is_a_no() {
        let denied = Decision::Deny { reason: None };
        let form = |decision: &str| json!({"decision": decision});
        let decided = |action: &str, content: Value| decide(action, Some(&content), true);
        assert_eq!(decided("accept", form("once")), Decision::Once);
        assert_eq!(decided("accept", form("cell")), Decision::ThisCell);
        assert_eq!(decided("accept", form("tool")), Decision::ThisTool);
        assert_eq!(decided("decline", form("once")), denied);
        assert_eq!(decided("cancel", form("tool")), denied);
        for odd in [
            json!({}),
            json!([]),
            json!({"decision": true}),
            form("ONCE"),
            form("yes"),
        ] {
            assert_eq!(decided("accept", odd.clone()), denied, "{odd}");
        }
        assert_eq!(decide("accept", None, true), denied);
        assert_eq!(decide("accept", Some(&form("cell")), false), denied);
        assert_eq!(
            decided(
                "accept",
                json!({"decision": "deny", "reason": " it is\u{1b} mine "})
            ),
            Decision::Deny {
                reason: Some("it is\\u001b mine".into())
            }
        );
    }

    #[test]
    fn a_question_is_for_its_own_cell_in_its_own_session() {
        let desk = ElicitingApprover::default();
        let (sender, mut answered) = oneshot::channel();
        desk.put_back(Question::of(&request(json!({})), sender));
        let session = |name: &str| Arc::<str>::from(name);
        let cell = |id: &str| Concern::Cell(id.into());
        assert!(desk.take(&session("other"), &cell("cm_1")).is_none());
        assert!(desk.take(&session("s"), &cell("cm_2")).is_none());
        assert!(
            desk.take(&session("s"), &Concern::Call("exec-2".into()))
                .is_none()
        );
        let taken = desk.take(&session("s"), &Concern::Call("exec-1".into()));
        desk.put_back(taken.expect("the question"));
        let again = desk.take(&session("s"), &cell("cm_1")).expect("again");
        again.answer("accept", Some(&json!({"decision": "once"})));
        assert_eq!(answered.try_recv(), Ok(Decision::Once));
    }
}
