//! What servers send, read without any server: for the oracles of tests and fuzzers, and nobody else.
//!
//! The readers are those of the transports; here they get bytes in pieces, as a pipe gives them.

use std::collections::VecDeque;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};

use rmcp::transport::Transport as _;
use tokio::io::{AsyncRead, ReadBuf};

use super::limits::ClientLimits;
use super::lines::Lines;
use super::sse::Parser;

/// One event of a stream.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct WireEvent {
    /// Its kind, `message` if it names none.
    pub kind: String,
    /// Its data.
    pub data: String,
}

/// Gives its pieces one by one.
struct Pieces(VecDeque<Vec<u8>>);

impl AsyncRead for Pieces {
    fn poll_read(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        while let Some(piece) = self.0.front_mut() {
            let taken = piece.len().min(buffer.remaining());
            buffer.put_slice(&piece[..taken]);
            piece.drain(..taken);
            if piece.is_empty() {
                self.0.pop_front();
            }
            if taken > 0 {
                break;
            }
        }
        Poll::Ready(Ok(()))
    }
}

/// The messages of a process's output, each as JSON. Needs a runtime of tokio around it.
pub async fn messages(pieces: Vec<Vec<u8>>, limits: ClientLimits) -> Vec<String> {
    let reader = Pieces(pieces.into());
    let mut lines = Lines::new(reader, tokio::io::sink(), None, limits);
    let mut messages = Vec::new();
    while let Some(message) = lines.receive().await {
        messages.push(serde_json::to_string(&message).unwrap_or_default());
    }
    messages
}

/// The events of a stream, and whether all of it was read: not, when an event was too long.
#[must_use]
pub fn events(pieces: &[&[u8]], max_event_bytes: usize) -> (Vec<WireEvent>, bool) {
    let mut parser = Parser::new(max_event_bytes);
    let is_whole = pieces.iter().all(|piece| parser.push(piece));
    let events = parser.events.into_iter().map(|event| WireEvent {
        kind: event.kind,
        data: event.data,
    });
    (events.collect(), is_whole)
}
