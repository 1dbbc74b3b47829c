//! The reading of the sockets' messages, and the ends of sockets.

use bahay_engine::catalog::AnyGame;
use bahay_protocol::brief::FormError;
use bahay_protocol::{Message, close};

use crate::client_core::{ClientCore, keep_received};
use crate::input::SocketData;
use crate::limits::{BACKOFF_TOO_FAST_MS, FIRST_PING_ID, LATE_COMMAND_MS, RETRY_MS, clamp_time};
use crate::sockets::{AUTHENTICATE_ID, ActiveSocket, FIRST_ID};
use crate::state::Link;
use crate::timers::Timer;

impl ClientCore {
    pub(super) fn handle_data(&mut self, socket: u64, data: SocketData) {
        if self.active.as_ref().is_none_or(|active| active.socket() != socket) {
            self.buffer_pending(socket, data);
            return;
        }
        if self.state.link == Link::Weak {
            self.set_link(Link::Live);
        }
        self.record_received(false);
        self.handle_first_answer();
        // A socket with all commands in its request may still be the first to receive the table.
        let is_live = self.state.link == Link::Live;
        let unused = self.pending.iter().filter(|pending| is_live || pending.token.is_none());
        for unused in unused.map(|pending| pending.socket).collect::<Vec<_>>() {
            self.close_pending(unused);
        }
        if let Some(active) = self.active.as_mut().filter(|_| !is_live) {
            keep_received(&mut active.pending.received, data.clone());
        }
        self.read_if_active(socket, &data);
        if self.active.as_ref().is_some_and(|active| active.socket() == socket) {
            // An expected answer may have been lost with a network that has already returned.
            self.record_received(self.has_unanswered());
        }
    }

    /// Buffers a message of an unused socket. Until the table has arrived, the socket that has
    /// received more is used.
    fn buffer_pending(&mut self, socket: u64, data: SocketData) {
        let Some(pending) = self.pending.iter_mut().find(|pending| pending.socket == socket) else {
            return;
        };
        keep_received(&mut pending.received, data);
        let received = pending.received.len();
        let active = self.active.as_ref();
        if active.is_some_and(|active| received > active.pending.received.len()) {
            self.activate_socket(socket);
        }
    }

    pub(super) fn read_if_active(&mut self, socket: u64, data: &SocketData) {
        let Some(active) = self.active.as_mut().filter(|active| active.socket() == socket) else {
            return;
        };
        let message = match active.reader.read_known(data.as_bytes()) {
            Ok(Some(message)) => message,
            // Messages of later versions are ignored.
            Ok(None) => return,
            Err(FormError::UnknownGame { kind }) => {
                let reason = format!("this version does not know the game {kind}");
                self.end_connection(Link::Broken { reason });
                return;
            }
            Err(error) => {
                self.handle_protocol_error(format!("a message could not be read: {error}"));
                return;
            }
        };
        let id = answered_id(&message);
        active.has_answered |= active.has_sent && id.is_some_and(|id| id >= FIRST_ID);
        let is_update = matches!(message, Message::Update { .. });
        if !is_update && id.is_some_and(|id| id >= FIRST_PING_ID) {
            // The table could not be told of this connection.
            if matches!(message, Message::Refusal { retryable: true, .. }) {
                let ms = self.cx.random.draw_jitter(RETRY_MS);
                self.cx.schedule(ms, Timer::Ping { socket });
            }
            return;
        }
        match message {
            Message::Refusal { id: Some(AUTHENTICATE_ID), code, .. } => {
                self.handle_authentication_refusal(&code);
            }
            Message::Hello { server_time_ms, .. } => {
                self.set_server_time(clamp_time(server_time_ms.ms()));
                self.handle_message(message);
            }
            message => self.handle_message(message),
        }
    }

    pub(super) fn handle_close(&mut self, socket: u64, code: u16) {
        if let Some(place) = self.pending.iter().position(|pending| pending.socket == socket) {
            self.pending.remove(place);
            if self.active.is_none() && self.pending.is_empty() {
                self.retry_connection("the socket was not opened", None);
            }
            return;
        }
        let Some(mut active) = self.active.take_if(|active| active.socket() == socket) else {
            return;
        };
        self.stop_watching();
        // The server replaces only connections that the table knows.
        active.has_answered |= code == close::REPLACED;
        self.record_left(&active);
        self.handle_close_code(&active, code);
    }

    /// Handles a close code; docs/PROTOCOL.md, "Closing", defines them.
    fn handle_close_code(&mut self, active: &ActiveSocket, code: u16) {
        match code {
            close::REPLACED => {
                // A `join` that this client sent on an abandoned connection may have arrived late.
                let left_at_ms = self.left_at_ms;
                if left_at_ms.is_some_and(|left_ms| self.ms_since(left_ms) < LATE_COMMAND_MS) {
                    self.left_at_ms = None;
                    self.retry_connection("replaced by a connection of its own", None);
                } else {
                    self.end_connection(Link::Replaced);
                }
            }
            close::SIGNED_OUT => {
                if self.is_of_older_session(active) {
                    self.retry_connection("an older session has ended", None);
                } else {
                    self.end_session("session_ended");
                }
            }
            close::TOO_FAST => self.retry_connection("too fast", Some(BACKOFF_TOO_FAST_MS)),
            close::PROTOCOL | close::TOO_LONG => {
                self.handle_protocol_error(format!("closed with {code}"));
            }
            close::NOT_AUTHENTICATED => {
                if let Some(token) = &active.token {
                    self.reject_token(token);
                }
                self.retry_connection("not authenticated", None);
            }
            _ => self.retry_connection(&format!("closed with {code}"), None),
        }
    }

    fn handle_authentication_refusal(&mut self, code: &str) {
        let Some(active) = self.active.clone() else {
            return;
        };
        if code == "token_revoked" && !self.is_of_older_session(&active) {
            self.end_session(code);
        } else if code.starts_with("token_")
            && let Some(token) = &active.token
        {
            // The server closes the socket, and the usual retry follows; only the token is
            // requested now.
            self.reject_token(token);
            self.request_token();
        }
    }

    fn is_of_older_session(&self, active: &ActiveSocket) -> bool {
        active.session.as_deref() != self.session.id()
    }

    fn end_session(&mut self, code: &str) {
        self.forget_session();
        self.end_connection(Link::SignedOut { code: code.to_owned(), detail: String::new() });
    }
}

/// Returns the id of the command that a message answers.
fn answered_id(message: &Message<AnyGame>) -> Option<u32> {
    match message {
        Message::Refusal { id, .. } => *id,
        other => other.acked_command(),
    }
}
