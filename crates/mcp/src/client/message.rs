//! From a line of a server to a message of the protocol, leniently.
//!
//! Results are kept as the JSON that they are: which of the protocol's many result types one is
//! depends on the request, and guessing it from the fields loses what a type does not know. Only the
//! answers of the greeting are read as types, since the SDK needs them.

use rmcp::RoleClient;
use rmcp::model::{
    CustomResult, ErrorCode, ErrorData, RequestId, ServerJsonRpcMessage, ServerResult,
};
use rmcp::service::RxJsonRpcMessage;
use serde_json::Value;

/// What a line turned out to be.
#[derive(Debug)]
pub(super) enum Decoded {
    /// Messages, usually one; some revisions allow several in an array.
    Messages(Vec<RxJsonRpcMessage<RoleClient>>),
    /// Something else, for example a log line.
    Noise,
}

/// Reads one line. `is_typed` says whether the answer to a request is read as a type.
pub(super) fn decode(line: &[u8], is_typed: impl Fn(&RequestId) -> bool) -> Decoded {
    let Some(value) = json(line) else {
        return Decoded::Noise;
    };
    let values = match value {
        Value::Array(values) => values,
        value => vec![value],
    };
    let messages: Vec<_> = values
        .into_iter()
        .filter_map(|value| message(value, &is_typed))
        .collect();
    match messages.is_empty() {
        true => Decoded::Noise,
        false => Decoded::Messages(messages),
    }
}

/// The JSON of a line, also after words that were written without an end of line.
fn json(line: &[u8]) -> Option<Value> {
    if let Ok(value) = serde_json::from_slice(line) {
        return Some(value);
    }
    let start = line.iter().position(|byte| *byte == b'{')?;
    (start > 0)
        .then(|| serde_json::from_slice(&line[start..]).ok())
        .flatten()
}

fn message(value: Value, is_typed: impl Fn(&RequestId) -> bool) -> Option<ServerJsonRpcMessage> {
    let Value::Object(mut fields) = value else {
        return None;
    };
    if fields.get("jsonrpc").and_then(Value::as_str) != Some("2.0") {
        return None;
    }
    if fields.contains_key("method") {
        return serde_json::from_value(Value::Object(fields)).ok();
    }
    let id = fields.get("id").and_then(request_id);
    if let Some(error) = fields.remove("error") {
        return Some(ServerJsonRpcMessage::error(error_data(error), id));
    }
    let result = fields.remove("result")?;
    let id = id?;
    let result = match is_typed(&id) {
        true => serde_json::from_value(result).ok()?,
        false => ServerResult::CustomResult(CustomResult(result)),
    };
    Some(ServerJsonRpcMessage::response(result, id))
}

fn request_id(value: &Value) -> Option<RequestId> {
    match value {
        Value::String(text) => Some(RequestId::String(text.as_str().into())),
        // Some servers answer with 3.0 what was asked with 3.
        Value::Number(number) => number
            .as_i64()
            .or_else(|| {
                let float = number.as_f64().filter(|float| float.fract() == 0.0)?;
                Some(float as i64)
            })
            .map(RequestId::Number),
        _ => None,
    }
}

/// An error as it should be, or what can be said of one that is not.
fn error_data(error: Value) -> ErrorData {
    let code = error.get("code").and_then(Value::as_i64);
    let code = code.and_then(|code| i32::try_from(code).ok());
    let message = match error.get("message") {
        Some(Value::String(message)) => message.clone(),
        _ => error.to_string(),
    };
    let data = error.get("data").cloned();
    ErrorData::new(
        ErrorCode(code.unwrap_or(ErrorCode::INTERNAL_ERROR.0)),
        message,
        data,
    )
}

/// The result as the JSON that it was.
pub(super) fn raw_result(result: ServerResult) -> Option<Value> {
    match result {
        ServerResult::CustomResult(CustomResult(value)) => Some(value),
        other => serde_json::to_value(other).ok(),
    }
}

/// The id of an answer that is too long to be read, from its first and last bytes; the error then
/// reaches whoever waits, instead of nobody.
pub(super) fn id_of_cut_answer(head: &[u8], tail: &[u8]) -> Option<RequestId> {
    let head = String::from_utf8_lossy(head);
    let head: String = head.chars().filter(|c| !c.is_whitespace()).collect();
    let after = head
        .strip_prefix("{\"jsonrpc\":\"2.0\",\"id\":")
        .or_else(|| head.strip_prefix("{\"id\":"));
    if let Some(number) = after.and_then(leading_number) {
        return Some(RequestId::Number(number));
    }
    let tail = String::from_utf8_lossy(tail);
    let tail = tail.trim_end().strip_suffix('}')?.trim_end();
    let digits = tail.rfind(|c: char| !c.is_ascii_digit())? + 1;
    let key = tail[..digits].trim_end().strip_suffix(':')?.trim_end();
    let number = tail[digits..].parse().ok()?;
    key.ends_with("\"id\"").then_some(RequestId::Number(number))
}

fn leading_number(text: &str) -> Option<i64> {
    let end = text
        .find(|c: char| !c.is_ascii_digit())
        .unwrap_or(text.len());
    text[..end].parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(line: &str) -> String {
        match decode(line.as_bytes(), |_| false) {
            Decoded::Noise => "noise".to_owned(),
            Decoded::Messages(messages) => serde_json::to_string(&messages).unwrap(),
        }
    }

    #[test]
    fn what_is_no_message_is_noise() {
        let lines = [
            "",
            "Server listening on stdio",
            "{}",
            "[]",
            "{\"level\":\"info\"}",
            "{\"jsonrpc\":\"1.0\",\"id\":1,\"result\":{}}",
            "{\"jsonrpc\":\"2.0\",\"result\":{}}",
            "{\"jsonrpc\":\"2.0\",\"id\":null,\"result\":{}}",
            "{\"jsonrpc\":\"2.0\",\"id\":1.5,\"result\":{}}",
            "{\"jsonrpc\":\"2.0\",\"id\":1}",
            "{\"jsonrpc\":\"2.0\",\"id\":1,\"result\":",
            "\u{feff}{\"jsonrpc\":\"2.0\"}",
        ];
        for line in lines {
            assert_eq!(shown(line), "noise", "{line}");
        }
    }

    #[test]
    fn results_stay_the_json_that_they_are() {
        let line = r#"{"jsonrpc":"2.0","id":3.0,"result":{"z":1,"content":[{"type":"odd","a":[]}],"_x":null}}"#;
        assert_eq!(
            shown(line),
            r#"[{"jsonrpc":"2.0","id":3,"result":{"z":1,"content":[{"type":"odd","a":[]}],"_x":null}}]"#
        );
    }

    #[test]
    fn words_before_a_message_do_not_hide_it() {
        assert_eq!(
            shown(r#"loading... {"jsonrpc":"2.0","id":1,"result":{}}"#),
            r#"[{"jsonrpc":"2.0","id":1,"result":{}}]"#
        );
    }

    #[test]
    fn errors_need_not_be_well_formed() {
        assert_eq!(
            shown(r#"{"jsonrpc":"2.0","id":1,"error":"no"}"#),
            r#"[{"jsonrpc":"2.0","id":1,"error":{"code":-32603,"message":"\"no\""}}]"#
        );
        assert_eq!(
            shown(r#"{"jsonrpc":"2.0","id":1,"error":{"code":7,"message":"m","data":[1]}}"#),
            r#"[{"jsonrpc":"2.0","id":1,"error":{"code":7,"message":"m","data":[1]}}]"#
        );
    }

    #[test]
    fn a_batch_is_several_messages() {
        let line = r#"[{"jsonrpc":"2.0","id":1,"result":1},5,{"jsonrpc":"2.0","id":2,"result":2}]"#;
        let Decoded::Messages(messages) = decode(line.as_bytes(), |_| false) else {
            panic!("noise");
        };
        assert_eq!(messages.len(), 2);
    }

    #[test]
    fn the_id_of_a_cut_answer_is_found_at_either_end() {
        let cases: [(&str, &str, Option<i64>); 5] = [
            (
                "{\"jsonrpc\": \"2.0\", \"id\": 12, \"result\": {",
                "",
                Some(12),
            ),
            ("{\"id\":7,\"jsonrpc\"", "", Some(7)),
            (
                "{\"result\":",
                "\"},\"jsonrpc\":\"2.0\",\"id\":9}\n",
                Some(9),
            ),
            ("{\"result\":", "{\"id\":9}}", None),
            ("{\"result\":", "xx", None),
        ];
        for (head, tail, id) in cases {
            let found = id_of_cut_answer(head.as_bytes(), tail.as_bytes());
            assert_eq!(found, id.map(RequestId::Number), "{head} {tail}");
        }
    }
}
