//! A socket and what waits to be written to it.
//!
//! Nothing here waits for a client that does not read: what cannot be written yet is kept, up to
//! [`WAITING_MAX`] messages and [`WAITING_BYTES_MAX`] bytes, and written while the session waits
//! for whatever comes next. Beyond that the client is too slow: it is sent away, and resumes by
//! version.

use std::collections::VecDeque;
use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll, ready};
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message as Frame, Utf8Bytes, WebSocket};
use futures_util::{SinkExt, StreamExt};
use tokio_tungstenite::tungstenite;

use crate::metrics::Play;
use crate::tables::catalog::Tongits;
use crate::ws::protocol::brief::{Form, FormError, Shorthand};
use crate::ws::protocol::{Message, close};

/// Messages that may wait for one client.
pub(super) const WAITING_MAX: usize = 64;
/// Bytes that may wait for one client, whatever the number of messages.
pub(super) const WAITING_BYTES_MAX: usize = 256 * 1024;
/// How long each step of ending a connection may take.
const LINGER: Duration = Duration::from_secs(1);

/// Most messages fit into this, so that writing one grows no buffer.
const TEXT_BYTES: usize = 512;

/// What ends a connection: the close code, and a word for whoever debugs a client.
pub(super) type Ended = (u16, &'static str);

/// The client's side of the wire is out of reach.
#[derive(Debug)]
pub(super) struct Gone;

/// Why a frame that could not be read ends the connection.
pub(super) fn unreadable(error: axum::Error) -> Ended {
    let error = error.into_inner();
    match error.downcast_ref::<tungstenite::Error>() {
        Some(tungstenite::Error::Capacity(_)) => (close::TOO_LONG, "a text is at most 8192 bytes"),
        Some(_) | None => (close::PROTOCOL, "not readable"),
    }
}

pub(super) struct Wire {
    socket: WebSocket,
    shorthand: Shorthand,
    waiting: VecDeque<Frame>,
    waiting_bytes: usize,
    play: Arc<Play>,
    /// How many wait, as the figures know it.
    shown: usize,
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.play.messages_waiting.by(0, self.shown);
        self.play.sockets.down();
    }
}

impl Wire {
    pub(super) fn new(socket: WebSocket, play: Arc<Play>) -> Self {
        play.sockets.up();
        let agreed = socket.protocol().and_then(|agreed| agreed.to_str().ok());
        let shorthand = Shorthand::new(Form::named(agreed));
        Self { socket, shorthand, waiting: VecDeque::new(), waiting_bytes: 0, play, shown: 0 }
    }

    /// How messages look here.
    pub(super) fn form(&self) -> Form {
        self.shorthand.form()
    }

    /// Puts messages behind what waits, and writes as much as the client takes at once.
    pub(super) async fn say(
        &mut self,
        messages: impl Iterator<Item = Message<Tongits>>,
    ) -> Result<(), Ended> {
        for message in messages {
            let frame = frame_of(&mut self.shorthand, &message).map_err(|error| {
                tracing::error!(%error, "a message cannot be written");
                (close::INTERNAL, "the server made a mistake; connect again")
            })?;
            self.play.messages_out.one();
            self.play.bytes_out.more(bytes_of(&frame));
            self.waiting_bytes += bytes_of(&frame);
            self.waiting.push_back(frame);
        }
        // A broken connection shows itself when it is read.
        poll_fn(|context| Poll::Ready(self.poll_write(context).is_ready())).await;
        self.show();
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
        let next = poll_fn(|context| {
            if let Poll::Ready(Err(Gone)) = self.poll_write(context) {
                return Poll::Ready(None);
            }
            self.socket.poll_next_unpin(context)
        })
        .await;
        self.show();
        next
    }

    fn show(&mut self) {
        self.play.messages_waiting.by(self.waiting.len(), self.shown);
        self.shown = self.waiting.len();
    }

    /// Ready when nothing waits any more.
    fn poll_write(&mut self, context: &mut Context<'_>) -> Poll<Result<(), Gone>> {
        while !self.waiting.is_empty() {
            ready!(self.socket.poll_ready_unpin(context)).map_err(|_| Gone)?;
            if let Some(frame) = self.waiting.pop_front() {
                self.waiting_bytes -= bytes_of(&frame);
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

fn frame_of(shorthand: &mut Shorthand, message: &Message<Tongits>) -> Result<Frame, FormError> {
    let mut bytes = Vec::with_capacity(TEXT_BYTES);
    shorthand.write(message, &mut bytes)?;
    Ok(match shorthand.form() {
        Form::Full | Form::Brief => {
            // What this writer writes is UTF-8, so this looks and does not copy.
            let text = String::from_utf8(bytes).map_err(serde::ser::Error::custom);
            Frame::Text(text.map_err(FormError::Json)?.into())
        }
        Form::Compact => Frame::Binary(bytes.into()),
    })
}

/// What counts of a frame: that of a message, not of a ping.
fn bytes_of(frame: &Frame) -> usize {
    match frame {
        Frame::Text(text) => text.len(),
        Frame::Binary(bytes) => bytes.len(),
        Frame::Ping(_) | Frame::Pong(_) | Frame::Close(_) => 0,
    }
}
