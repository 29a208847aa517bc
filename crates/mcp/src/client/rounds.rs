//! Requests that a server answers with questions: in as many rounds as it needs, up to a bound.
//!
//! Source: multi round-trip requests of revision 2026-07-28. What the server gave as its state goes
//! back as it is, with the answers, in a request of its own; nobody here looks into it.

use std::collections::BTreeMap;
use std::time::Duration;

use codecell_tools::MidCallApprovals;
use rmcp::model::{ClientRequest, InputResponses, ProtocolVersion};
use serde_json::{Value, json};

use super::error::RequestError;
use super::forms;
use super::limits::ClientLimits;
use super::link::Link;

/// How long to wait before asking again a server that wants nothing but more time; it doubles.
const FIRST_PAUSE: Duration = Duration::from_millis(250);

/// What a request carries besides its own parameters.
#[derive(Default)]
pub(super) struct Round {
    /// The answers to what the last round asked.
    pub(super) responses: Option<InputResponses>,
    /// The state that the last round gave.
    pub(super) state: Option<String>,
}

/// Sends a request until it has a result, asking whoever the call can ask in between.
///
/// # Errors
/// Those of its requests, and for a server that asks too often, too much, or for what is not offered.
pub(super) async fn run(
    link: &Link,
    person: &MidCallApprovals,
    limits: &ClientLimits,
    request: impl Fn(Round) -> ClientRequest,
) -> Result<Value, RequestError> {
    let mut round = Round::default();
    let mut pause = FIRST_PAUSE;
    for rounds in 0..=limits.max_questions {
        let result = link.request(request(round)).await;
        let result = result.map_err(|error| match rounds {
            0 => error,
            _ => error.after_answers(),
        })?;
        if !wants_more(link, &result) {
            return Ok(result);
        }
        round = answered(link, person, limits, &result).await?;
        if round.responses.is_none() {
            tokio::time::sleep(pause).await;
            pause *= 2;
        }
    }
    Err(link.malformed(format!(
        "it asked for more than {} times",
        limits.max_questions
    )))
}

fn wants_more(link: &Link, result: &Value) -> bool {
    link.info().protocol_version >= ProtocolVersion::V_2026_07_28
        && result.get("resultType").and_then(Value::as_str) == Some("input_required")
}

async fn answered(
    link: &Link,
    person: &MidCallApprovals,
    limits: &ClientLimits,
    result: &Value,
) -> Result<Round, RequestError> {
    let state = result.get("requestState").and_then(Value::as_str);
    if state.is_some_and(|state| state.len() > limits.max_state_bytes) {
        let most = limits.max_state_bytes;
        return Err(link.malformed(format!("its requestState has more than {most} bytes")));
    }
    let requests = result.get("inputRequests").and_then(Value::as_object);
    let requests: Vec<_> = requests.into_iter().flatten().collect();
    if requests.is_empty() && state.is_none() {
        return Err(link.malformed("it asks for nothing, and gives no result".to_owned()));
    }
    if requests.len() > limits.max_questions {
        return Err(link.malformed(format!("it asks {} things at once", requests.len())));
    }
    let mut responses = BTreeMap::new();
    for (key, request) in requests {
        let response = answer(link, person, request).await?;
        responses.insert(key.clone(), response);
    }
    Ok(Round {
        responses: Some(responses).filter(|responses| !responses.is_empty()),
        state: state.map(str::to_owned),
    })
}

async fn answer(
    link: &Link,
    person: &MidCallApprovals,
    request: &Value,
) -> Result<Value, RequestError> {
    let params = request.get("params").unwrap_or(&Value::Null);
    match request.get("method").and_then(Value::as_str) {
        Some("elicitation/create") => {
            let answer = forms::ask(link.server(), params, person).await;
            Ok(json!(forms::result(answer)))
        }
        Some(method @ ("sampling/createMessage" | "roots/list")) => Err(RequestError::NotOffered {
            server: link.server().to_owned(),
            method: method.to_owned(),
        }),
        _ => Err(link.malformed("it asks for what is not of the protocol".to_owned())),
    }
}
