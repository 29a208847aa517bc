//! One message a line over two pipes: the transport of servers that are processes.
//!
//! What is no message is skipped and remembered, never fatal. Every line has a bound; an answer
//! that is longer fails the one request that it belongs to. Writes are made by one task, in order
//! and whole, whoever stops waiting for them; it ends with the transport.

use std::collections::{HashSet, VecDeque};
use std::io;

use rmcp::RoleClient;
use rmcp::model::{
    ClientRequest, ErrorCode, ErrorData, JsonRpcMessage, RequestId, ServerJsonRpcMessage,
};
use rmcp::service::{RxJsonRpcMessage, TxJsonRpcMessage};
use rmcp::transport::Transport;
use tokio::io::{AsyncBufReadExt as _, AsyncRead, AsyncWrite, AsyncWriteExt as _, BufReader};
use tokio::sync::{mpsc, oneshot};
use tokio_util::task::AbortOnDropHandle;

use super::limits::ClientLimits;
use super::message::{Decoded, decode, id_of_cut_answer};
use super::process::Process;

/// Messages that wait to be written, before a sender has to wait.
const QUEUED_WRITES: usize = 64;

/// What is kept of the ends of a line that is too long, in bytes.
const KEPT_OF_LONG_LINE: usize = 256;

/// A line to be written, and who wants to know.
type Write = (Vec<u8>, oneshot::Sender<Result<(), SendError>>);

/// Why a message did not go through.
#[derive(Debug, thiserror::Error)]
pub(super) enum SendError {
    /// The message is none.
    #[error("{0}")]
    Json(#[from] serde_json::Error),
    /// The pipe is closed, and nothing of the message went into it.
    #[error("the server takes no more input")]
    Closed,
    /// The pipe broke, and how much of the message was read is unknown.
    #[error("the server stopped reading: {0}")]
    Cut(io::Error),
}

/// The transport.
pub(super) struct Lines<R> {
    reader: BufReader<R>,
    line: Line,
    ready: VecDeque<RxJsonRpcMessage<RoleClient>>,
    typed: HashSet<RequestId>,
    writes: mpsc::Sender<Write>,
    writer: Option<AbortOnDropHandle<()>>,
    skipped_bytes: usize,
    limits: ClientLimits,
    process: Option<Process>,
}

/// The line that is being read.
#[derive(Default)]
struct Line {
    kept: Vec<u8>,
    /// The last bytes of a line that is too long.
    tail: Vec<u8>,
    is_cut: bool,
}

impl Line {
    fn push(&mut self, bytes: &[u8], max_bytes: usize) {
        if !self.is_cut && self.kept.len() + bytes.len() <= max_bytes {
            self.kept.extend_from_slice(bytes);
            return;
        }
        if !self.is_cut {
            self.is_cut = true;
            // Both ends are the same however the line was cut into pieces.
            let from = self.kept.len().saturating_sub(KEPT_OF_LONG_LINE);
            self.tail.extend_from_slice(&self.kept[from..]);
            let room = KEPT_OF_LONG_LINE.saturating_sub(self.kept.len());
            self.kept.extend_from_slice(&bytes[..bytes.len().min(room)]);
            self.kept.truncate(KEPT_OF_LONG_LINE);
            self.kept.shrink_to_fit();
        }
        let from = bytes.len().saturating_sub(KEPT_OF_LONG_LINE);
        self.tail.extend_from_slice(&bytes[from..]);
        let excess = self.tail.len().saturating_sub(KEPT_OF_LONG_LINE);
        self.tail.drain(..excess);
    }
}

impl<R: AsyncRead + Send + Unpin> Lines<R> {
    /// A transport over two pipes. `process` ends with it.
    pub(super) fn new<W: AsyncWrite + Send + Unpin + 'static>(
        reader: R,
        writer: W,
        process: Option<Process>,
        limits: ClientLimits,
    ) -> Self {
        let (writes, queue) = mpsc::channel(QUEUED_WRITES);
        Self {
            reader: BufReader::new(reader),
            line: Line::default(),
            ready: VecDeque::new(),
            typed: HashSet::new(),
            writes,
            writer: Some(AbortOnDropHandle::new(tokio::spawn(write(writer, queue)))),
            skipped_bytes: 0,
            limits,
            process,
        }
    }

    /// The next line; `None` at the end. Safe to be dropped at any time.
    async fn next_line(&mut self) -> Option<Line> {
        loop {
            let bytes = match self.reader.fill_buf().await {
                Ok([]) | Err(_) => return None,
                Ok(bytes) => bytes,
            };
            let end = bytes.iter().position(|byte| *byte == b'\n');
            let used = end.map_or(bytes.len(), |end| end + 1);
            self.line
                .push(&bytes[..end.unwrap_or(used)], self.limits.max_message_bytes);
            self.reader.consume(used);
            if end.is_some() {
                return Some(std::mem::take(&mut self.line));
            }
        }
    }

    fn take_in(&mut self, line: &Line) {
        let bytes = line.kept.len() + line.tail.len();
        let messages = match line.is_cut {
            true => self.refused(line).into_iter().collect(),
            false => match decode(&line.kept, |id| self.typed.contains(id)) {
                Decoded::Messages(messages) => messages,
                Decoded::Noise => Vec::new(),
            },
        };
        if messages.is_empty() {
            self.skipped_bytes = self.skipped_bytes.saturating_add(bytes);
            if let Some(process) = &self.process {
                process.noise(&line.kept);
            }
            return;
        }
        self.skipped_bytes = 0;
        for message in &messages {
            if let JsonRpcMessage::Response(answer) = message {
                self.typed.remove(&answer.id);
            }
        }
        self.ready.extend(messages);
    }

    /// The error that takes the place of an answer that is too long.
    fn refused(&self, line: &Line) -> Option<ServerJsonRpcMessage> {
        let id = id_of_cut_answer(&line.kept, &line.tail)?;
        let text = format!(
            "the answer has more than {} bytes, the most for one message",
            self.limits.max_message_bytes
        );
        let error = ErrorData::new(ErrorCode::INTERNAL_ERROR, text, None);
        Some(ServerJsonRpcMessage::error(error, Some(id)))
    }
}

/// Writes until nobody sends any more or the pipe is closed.
async fn write<W: AsyncWrite + Unpin>(mut pipe: W, mut queue: mpsc::Receiver<Write>) {
    while let Some((line, told)) = queue.recv().await {
        let written = write_line(&mut pipe, &line).await;
        let is_broken = written.is_err();
        // Whoever asked may have gone.
        let _ = told.send(written);
        if is_broken {
            break;
        }
    }
    queue.close();
    while let Some((_, told)) = queue.recv().await {
        let _ = told.send(Err(SendError::Closed));
    }
}

async fn write_line<W: AsyncWrite + Unpin>(pipe: &mut W, line: &[u8]) -> Result<(), SendError> {
    let mut rest = line;
    while !rest.is_empty() {
        match pipe.write(rest).await {
            Ok(bytes @ 1..) => rest = &rest[bytes..],
            _ if rest.len() == line.len() => return Err(SendError::Closed),
            Ok(_) => return Err(SendError::Cut(io::ErrorKind::WriteZero.into())),
            Err(error) => return Err(SendError::Cut(error)),
        }
    }
    pipe.flush().await.map_err(SendError::Cut)
}

impl<R: AsyncRead + Send + Unpin + 'static> Transport<RoleClient> for Lines<R> {
    type Error = SendError;

    fn send(
        &mut self,
        item: TxJsonRpcMessage<RoleClient>,
    ) -> impl Future<Output = Result<(), SendError>> + Send + 'static {
        if let JsonRpcMessage::Request(request) = &item
            && is_greeting(&request.request)
        {
            self.typed.insert(request.id.clone());
        }
        let writes = self.writes.clone();
        async move {
            let mut line = serde_json::to_vec(&item)?;
            line.push(b'\n');
            let (told, written) = oneshot::channel();
            let queued = writes.send((line, told)).await;
            queued.map_err(|_| SendError::Closed)?;
            // The writer was stopped, maybe in the middle of this line.
            let stopped = |_| SendError::Cut(io::ErrorKind::BrokenPipe.into());
            written.await.map_err(stopped)?
        }
    }

    async fn receive(&mut self) -> Option<RxJsonRpcMessage<RoleClient>> {
        loop {
            if let Some(message) = self.ready.pop_front() {
                return Some(message);
            }
            if self.skipped_bytes > self.limits.max_skipped_bytes {
                return None;
            }
            let line = self.next_line().await?;
            self.take_in(&line);
        }
    }

    async fn close(&mut self) -> Result<(), SendError> {
        // Without the writer the pipe to the server is closed, which asks it to end.
        self.writer = None;
        if let Some(process) = self.process.take() {
            process.stop(self.limits.stop_patience).await;
        }
        Ok(())
    }
}

/// Whether the SDK needs the answer as a type.
pub(super) fn is_greeting(request: &ClientRequest) -> bool {
    matches!(
        request,
        ClientRequest::InitializeRequest(_)
            | ClientRequest::DiscoverRequest(_)
            | ClientRequest::SubscriptionsListenRequest(_)
    )
}

#[cfg(test)]
mod tests {
    use tokio::io::AsyncReadExt as _;

    use super::*;

    #[tokio::test]
    async fn a_line_that_was_begun_is_not_told_as_unsent() {
        let (mut ours, mut theirs) = tokio::io::duplex(4);
        let (written, ()) = tokio::join!(write_line(&mut ours, b"0123456789\n"), async move {
            theirs.read_u8().await.unwrap();
        });
        assert!(matches!(written, Err(SendError::Cut(_))), "{written:?}");
        let again = write_line(&mut ours, b"next\n").await;
        assert!(matches!(again, Err(SendError::Closed)), "{again:?}");
    }
}
