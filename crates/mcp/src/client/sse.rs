//! The older HTTP transport: one stream of events from the server, and an address to post to.
//!
//! The server names that address in its first event; it must be of the server's own origin, so that
//! no server sends our messages and headers to another. Events have a bound, and a stream that ends
//! is the end of the connection.

use std::collections::{HashSet, VecDeque};

use http::{HeaderMap, StatusCode};
use reqwest::Response;
use rmcp::RoleClient;
use rmcp::model::{JsonRpcMessage, RequestId};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use rmcp::transport::streamable_http_client::StreamableHttpError;
use url::Url;

use super::error::StartError;
use super::lines::is_greeting;
use super::message::{Decoded, decode};
use super::oauth::{Bearer, refusal};

/// What goes wrong on the way.
#[derive(Debug, thiserror::Error)]
pub(super) enum SseError {
    /// The request failed.
    #[error(transparent)]
    Http(#[from] StreamableHttpError<reqwest::Error>),
    /// The server refused a message.
    #[error("the server answered a message with {0}")]
    Refused(StatusCode),
}

/// The transport.
pub(super) struct Sse {
    client: Bearer,
    headers: HeaderMap,
    post_to: Url,
    events: Events,
    ready: VecDeque<RxJsonRpcMessage<RoleClient>>,
    typed: HashSet<RequestId>,
}

impl Sse {
    /// Opens the stream and waits for the address to post to.
    ///
    /// # Errors
    /// [`StartError`]; the time is the caller's to bound.
    pub(super) async fn open(
        client: Bearer,
        url: &str,
        headers: HeaderMap,
        max_event_bytes: usize,
    ) -> Result<Self, StartError> {
        let failed = |reason: String| StartError::Greeting {
            reason,
            stderr: String::new(),
        };
        let base = Url::parse(url)
            .map_err(|error| StartError::Options(format!("`{url}` is no address: {error}")))?;
        let request = |client: &reqwest::Client| {
            let request = client.get(base.clone()).headers(headers.clone());
            request.header("accept", "text/event-stream")
        };
        let response = client.send(request).await.map_err(|error| {
            refusal(&error).map_or_else(
                || failed(super::http::explain(&error)),
                StartError::Unauthorized,
            )
        })?;
        if !response.status().is_success() {
            return Err(failed(format!("it answered with {}", response.status())));
        }
        let mut events = Events::new(response, max_event_bytes);
        let post_to = loop {
            match events.next().await {
                Some(event) if event.kind == "endpoint" => break event.data,
                Some(_) => {}
                None => return Err(failed("its event stream names no endpoint".to_owned())),
            }
        };
        let post_to = base.join(post_to.trim()).ok();
        let post_to = post_to.filter(|address| address.origin() == base.origin());
        let Some(post_to) = post_to else {
            return Err(failed(
                "its endpoint is at another origin, which is refused".to_owned(),
            ));
        };
        Ok(Self {
            client,
            headers,
            post_to,
            events,
            ready: VecDeque::new(),
            typed: HashSet::new(),
        })
    }
}

impl Transport<RoleClient> for Sse {
    type Error = SseError;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), SseError>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &item
            && is_greeting(&request.request)
        {
            self.typed.insert(request.id.clone());
        }
        let client = self.client.clone();
        let (address, headers) = (self.post_to.clone(), self.headers.clone());
        async move {
            // A message of the protocol always serialises.
            let body = serde_json::to_vec(&item).unwrap_or_default();
            let request = |client: &reqwest::Client| {
                let request = client.post(address.clone()).headers(headers.clone());
                request
                    .header("content-type", "application/json")
                    .body(body.clone())
            };
            let response = client.send(request).await?;
            match response.status() {
                status if status.is_success() => Ok(()),
                status => Err(SseError::Refused(status)),
            }
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            let event = self.events.next().await?;
            if event.kind != "message" {
                continue;
            }
            let typed = &self.typed;
            if let Decoded::Messages(messages) =
                decode(event.data.as_bytes(), |id| typed.contains(id))
            {
                self.ready.extend(messages);
            }
        }
    }

    async fn close(&mut self) -> Result<(), SseError> {
        self.events.response = None;
        Ok(())
    }
}

/// One event.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct Event {
    pub(super) kind: String,
    pub(super) data: String,
}

/// The events of a response. Source: the event stream format of the HTML standard, section 9.2.
struct Events {
    response: Option<Response>,
    parser: Parser,
}

impl Events {
    fn new(response: Response, max_event_bytes: usize) -> Self {
        Self {
            response: Some(response),
            parser: Parser::new(max_event_bytes),
        }
    }

    /// The next event; `None` at the end, and for an event that is too long. Safe to be dropped.
    async fn next(&mut self) -> Option<Event> {
        loop {
            if let Some(event) = self.parser.events.pop_front() {
                return Some(event);
            }
            let chunk = self.response.as_mut()?.chunk().await.ok()??;
            if !self.parser.push(&chunk) {
                self.response = None;
                return None;
            }
        }
    }
}

/// Bytes to events.
pub(super) struct Parser {
    line: Vec<u8>,
    after_return: bool,
    kind: String,
    data: String,
    has_data: bool,
    /// No line has ended yet: a mark of the byte order may stand before the first.
    is_start: bool,
    pub(super) events: VecDeque<Event>,
    max_bytes: usize,
}

impl Parser {
    pub(super) fn new(max_bytes: usize) -> Self {
        Self {
            line: Vec::new(),
            after_return: false,
            kind: String::new(),
            data: String::new(),
            has_data: false,
            is_start: true,
            events: VecDeque::new(),
            max_bytes,
        }
    }

    /// Takes bytes; `false` when an event is too long.
    pub(super) fn push(&mut self, bytes: &[u8]) -> bool {
        for byte in bytes {
            let was_return = std::mem::replace(&mut self.after_return, *byte == b'\r');
            match byte {
                b'\n' if was_return => {}
                b'\n' | b'\r' => self.end_line(),
                byte => self.line.push(*byte),
            }
            if self.line.len() + self.data.len() > self.max_bytes {
                return false;
            }
        }
        true
    }

    fn end_line(&mut self) {
        let line = std::mem::take(&mut self.line);
        let line = String::from_utf8_lossy(&line);
        let line = match std::mem::take(&mut self.is_start) {
            true => line.strip_prefix('\u{feff}').unwrap_or(&line),
            false => &line,
        };
        if line.is_empty() {
            self.end_event();
            return;
        }
        let (field, value) = line.split_once(':').unwrap_or((line, ""));
        let value = value.strip_prefix(' ').unwrap_or(value);
        match field {
            "event" => value.clone_into(&mut self.kind),
            "data" => {
                if self.has_data {
                    self.data.push('\n');
                }
                self.has_data = true;
                self.data.push_str(value);
            }
            _ => {}
        }
    }

    fn end_event(&mut self) {
        let kind = std::mem::take(&mut self.kind);
        let data = std::mem::take(&mut self.data);
        if std::mem::take(&mut self.has_data) {
            let kind = if kind.is_empty() {
                "message".to_owned()
            } else {
                kind
            };
            self.events.push_back(Event { kind, data });
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(chunks: &[&str]) -> Vec<String> {
        let mut parser = Parser::new(100);
        for chunk in chunks {
            assert!(parser.push(chunk.as_bytes()));
        }
        let events = parser.events.into_iter();
        events
            .map(|event| format!("{}={}", event.kind, event.data))
            .collect()
    }

    #[test]
    fn events_are_read_however_they_are_cut() {
        let text = "event: endpoint\r\ndata: /post\r\n\r\n: comment\nid: 1\ndata: a\ndata:b\n\nevent: x\n\ndata\n\n";
        let whole = ["endpoint=/post", "message=a\nb", "message="];
        assert_eq!(parsed(&[text]), whole);
        let bytes: Vec<&str> = text.split("").filter(|piece| !piece.is_empty()).collect();
        assert_eq!(parsed(&bytes), whole);
    }

    #[test]
    fn a_mark_of_the_byte_order_is_no_part_of_the_first_field() {
        let text = "\u{feff}event: endpoint\ndata: /post\n\n\u{feff}data: x\n\n";
        assert_eq!(parsed(&[text]), ["endpoint=/post"]);
    }

    #[test]
    fn an_event_that_is_too_long_ends_the_stream() {
        let mut parser = Parser::new(100);
        assert!(!parser.push("data: x\n".repeat(200).as_bytes()));
        let mut parser = Parser::new(100);
        assert!(!parser.push("x".repeat(200).as_bytes()));
    }
}
