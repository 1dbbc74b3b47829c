//! A player's socket: reads frames, and closes the connection.
//!
//! Nothing here waits for a client that does not read. Unread frames queue at the write half, up to
//! [`QUEUED_FRAMES_MAX`] frames and [`QUEUED_BYTES_MAX`] bytes, and are written while the session
//! waits for its next input. Beyond these bounds the client is too slow: its connection is closed,
//! and it resumes by version.

use std::future::poll_fn;
use std::sync::Arc;
use std::task::{Context, Poll};
use std::time::Duration;

use axum::extract::ws::{CloseFrame, Message as Frame, Utf8Bytes, WebSocket};
use futures_util::StreamExt;
use tokio_tungstenite::tungstenite;

use crate::metrics::PlayMetrics;
use crate::rate_limit::{WriteBacklog, WriteHalf};
use crate::ws::hooks::FaultHooks;
use crate::ws::link::writer::MessageWriter;
use crate::ws::protocol::brief::Form;
use crate::ws::protocol::limits::{QUEUED_BYTES_MAX, QUEUED_FRAMES_MAX};
use crate::ws::protocol::{Message, close};
use bahay_engine::catalog::AnyGame;

/// The timeout of each step of closing a connection.
const CLOSE_STEP_TIMEOUT: Duration = Duration::from_secs(1);

/// A close code, and a reason for developers of clients.
pub(in crate::ws) type CloseReason = (u16, &'static str);

/// Returns the close reason for a frame that could not be read.
pub(in crate::ws) fn read_error_reason(error: axum::Error) -> CloseReason {
    let error = error.into_inner();
    match error.downcast_ref::<tungstenite::Error>() {
        Some(tungstenite::Error::Capacity(_)) => (close::TOO_LONG, "a text is at most 8192 bytes"),
        Some(_) | None => (close::PROTOCOL, "not readable"),
    }
}

/// The socket of one connection, with its writer.
pub(in crate::ws) struct PlayerSocket {
    socket: WebSocket,
    write_half: Arc<WriteHalf>,
    writer: Arc<MessageWriter>,
    play: Arc<PlayMetrics>,
}

impl Drop for PlayerSocket {
    fn drop(&mut self) {
        self.writer.revoke_lease();
        self.writer.report_backlog(WriteBacklog::default());
        self.play.sockets.dec();
    }
}

impl PlayerSocket {
    /// Creates a socket. `write_half` belongs to the same connection.
    pub(in crate::ws) fn new(
        socket: WebSocket,
        write_half: Arc<WriteHalf>,
        play: Arc<PlayMetrics>,
        hooks: FaultHooks,
    ) -> Self {
        play.sockets.inc();
        write_half.begin_frames();
        let agreed = socket.protocol().and_then(|agreed| agreed.to_str().ok());
        let writer = Arc::new(MessageWriter::new(
            &write_half,
            Form::from_subprotocol(agreed),
            play.clone(),
            hooks,
        ));
        Self { socket, write_half, writer, play }
    }

    /// Returns the writer of the connection.
    pub(in crate::ws) fn writer(&self) -> &Arc<MessageWriter> {
        &self.writer
    }

    /// Queues messages and writes as much as the client accepts without waiting.
    pub(in crate::ws) fn send(
        &self,
        messages: impl ExactSizeIterator<Item = Message<AnyGame>>,
    ) -> Result<(), CloseReason> {
        if messages.len() == 0 {
            return Ok(());
        }
        let waiting = self.writer.write(messages).map_err(|error| {
            tracing::error!(%error, "a message cannot be written");
            (close::INTERNAL, "internal error; connect again")
        })?;
        if waiting.frames > QUEUED_FRAMES_MAX || waiting.bytes > QUEUED_BYTES_MAX {
            return Err((close::TOO_SLOW, "too slow; connect again and resume"));
        }
        Ok(())
    }

    /// Reads the next frame, or `None` if the client has disconnected. Writes queued frames
    /// meanwhile. This method is cancel safe.
    pub(in crate::ws) async fn next_frame(&mut self) -> Option<Result<Frame, axum::Error>> {
        poll_fn(|context| {
            if self.poll_write(context).is_err() {
                return Poll::Ready(None);
            }
            self.socket.poll_next_unpin(context)
        })
        .await
        .inspect(|_| self.writer.link().record_frame())
    }

    /// Writes queued frames.
    fn poll_write(&self, context: &mut Context<'_>) -> std::io::Result<()> {
        if self.write_half.backlog().is_empty() {
            return Ok(());
        }
        let written = self.write_half.poll_drain(context);
        self.writer.report_backlog(self.write_half.backlog());
        match written {
            Poll::Ready(written) => written,
            Poll::Pending => Ok(()),
        }
    }

    /// Closes the connection with a reason, which a reading client receives.
    pub(in crate::ws) async fn close(mut self, (code, reason): CloseReason) {
        self.writer.revoke_lease();
        if code == close::TOO_SLOW {
            // The client would not read these frames either, and requests them again when it
            // resumes.
            self.write_half.discard_backlog();
        }
        // Frames before the close are still written if the client reads.
        let written = poll_fn(|context| self.write_half.poll_drain(context));
        let _ = tokio::time::timeout(CLOSE_STEP_TIMEOUT, written).await;
        let frame = CloseFrame { code, reason: Utf8Bytes::from_static(reason) };
        // The client may have disconnected.
        let close = self.socket.send(Frame::Close(Some(frame)));
        let _ = tokio::time::timeout(CLOSE_STEP_TIMEOUT, close).await;
        // Dropping a socket with unread data resets the connection, and the client would not
        // receive the reason. So the rest is read until the client closes its side, or until the
        // timeout.
        let unread = async { while let Some(Ok(_)) = self.socket.next().await {} };
        let _ = tokio::time::timeout(CLOSE_STEP_TIMEOUT, unread).await;
    }
}
