//! A socket and what waits to be written to it.
//!
//! Nothing here waits for a client that does not read: what cannot be written yet is kept, up to
//! [`WAITING_MAX`] messages and [`WAITING_BYTES_MAX`] bytes, and written while the session waits
//! for whatever comes next. Beyond that the client is too slow: it is sent away, and resumes by
//! version.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message as Frame, Utf8Bytes, WebSocket};
use futures_util::{SinkExt, StreamExt};

use crate::tables::catalog::Tongits;
use crate::ws::protocol::{Message, close};

/// Messages that may wait for one client.
pub(super) const WAITING_MAX: usize = 64;
/// Bytes that may wait for one client, whatever the number of messages.
pub(super) const WAITING_BYTES_MAX: usize = 256 * 1024;
/// How long each step of ending a connection may take.
const LINGER: Duration = Duration::from_secs(1);

/// What ends a connection: the close code, and a word for whoever debugs a client.
pub(super) type Ended = (u16, &'static str);

/// The client's side of the wire is out of reach.
#[derive(Debug)]
pub(super) struct Gone;

pub(super) struct Wire {
    socket: WebSocket,
    waiting: VecDeque<Frame>,
    waiting_bytes: usize,
}

impl Wire {
    pub(super) fn new(socket: WebSocket) -> Self {
        Self { socket, waiting: VecDeque::new(), waiting_bytes: 0 }
    }

    /// Puts messages behind what waits, and writes as much as the client takes at once.
    pub(super) async fn say(
        &mut self,
        messages: impl Iterator<Item = Message<Tongits>>,
    ) -> Result<(), Ended> {
        for message in messages {
            let text = serde_json::to_string(&message).map_err(|error| {
                tracing::error!(%error, "a message cannot be written");
                (close::INTERNAL, "the server made a mistake; connect again")
            })?;
            self.waiting_bytes += text.len();
            self.waiting.push_back(Frame::Text(text.into()));
        }
        // A broken connection shows itself when it is read.
        poll_fn(|context| Poll::Ready(self.poll_write(context).is_ready())).await;
        if self.waiting.len() > WAITING_MAX || self.waiting_bytes > WAITING_BYTES_MAX {
            return Err((close::TOO_SLOW, "too slow; connect again and resume"));
        }
        Ok(())
    }

    /// Asks whether the client is there, behind what waits.
    pub(super) fn ping(&mut self) {
        self.waiting.push_back(Frame::Ping(Default::default()));
    }

    /// The next frame; `None` when the client has gone. Writes what waits meanwhile. Nothing is
    /// lost when this is dropped before it is ready.
    pub(super) async fn next(&mut self) -> Option<Result<Frame, axum::Error>> {
        poll_fn(|context| {
            if let Poll::Ready(Err(Gone)) = self.poll_write(context) {
                return Poll::Ready(None);
            }
            self.socket.poll_next_unpin(context)
        })
        .await
    }

    /// Ready when nothing waits any more.
    fn poll_write(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Gone>> {
        while !self.waiting.is_empty() {
            ready!(self.socket.poll_ready_unpin(context)).map_err(|_| Gone)?;
            if let Some(frame) = self.waiting.pop_front() {
                if let Frame::Text(text) = &frame {
                    self.waiting_bytes -= text.len();
                }
                self.socket.start_send_unpin(frame).map_err(|_| Gone)?;
            }
        }
        self.socket.poll_flush_unpin(context).map_err(|_| Gone)
    }

    /// Ends the connection with a reason, which the client sees if it reads.
    pub(super) async fn end(mut self, (code, reason): Ended) {
        if code == close::TOO_SLOW {
            // It would not read this either, and asks for it again.
            self.waiting.clear();
        }
        // What was said before the end is still written, if the client reads it.
        let written = poll_fn(|context| self.poll_write(context));
        let _ = tokio::time::timeout(LINGER, written).await;
        let frame = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
        // The client may be gone already.
        let close = self.socket.send(Frame::Close(Some(frame)));
        let _ = tokio::time::timeout(LINGER, close).await;
        // A socket dropped with something unread is reset, and the client would never see why:
        // read until it has closed its side, or for long enough.
        let unread = async { while let Some(Ok(_)) = self.socket.next().await {} };
        let _ = tokio::time::timeout(LINGER, unread).await;
    }
}
