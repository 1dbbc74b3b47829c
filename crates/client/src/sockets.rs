//! Pending and active sockets, and the commands that the request for a socket carries: the token as
//! a subprotocol, and `join` as the query. A command in the request need not wait until the socket
//! is open, which saves a round trip.
//!
//! The token is never in the address, which is logged on the way; the position in a table's history
//! is no secret.

use std::fmt::Write;

use bahay_engine::table::TableId;
use bahay_protocol::brief::Form;
use bahay_protocol::{MessageReader, Tag};

use crate::input::SocketData;

/// The ids with which the server answers the commands in the request.
pub(crate) const AUTHENTICATE_ID: u32 = 0;
pub(crate) const JOIN_ID: u32 = 1;
/// The first id of the commands sent on the socket.
pub(crate) const FIRST_ID: u32 = 2;

/// The prefix of the token as a subprotocol.
const TOKEN_PREFIX: &str = "bahay.token.";

/// The position from which a table is joined again.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TablePosition {
    pub(crate) from: u64,
    pub(crate) tag: Tag,
    pub(crate) table: TableId,
}

/// A socket that is not in use: it is opening, or it is open and another one is used.
#[derive(Clone, Debug)]
pub(crate) struct PendingSocket {
    pub(crate) socket: u64,
    /// The time of the request; `None` for one before a sleep that no clock has measured.
    pub(crate) since_ms: Option<i64>,
    /// The token in the socket's request; `None` if all commands follow once it is open.
    pub(crate) token: Option<String>,
    /// The session of the token.
    pub(crate) session: Option<String>,
    /// The negotiated subprotocol; `None` until the socket is open.
    pub(crate) protocol: Option<String>,
    /// All messages received before the table has arrived.
    pub(crate) received: Vec<SocketData>,
}

/// The socket in use.
#[derive(Clone, Debug)]
pub(crate) struct ActiveSocket {
    pub(crate) reader: MessageReader,
    pub(crate) pending: PendingSocket,
    pub(crate) next_id: u32,
    /// True once `authenticate` has been sent.
    pub(crate) is_authenticated: bool,
    /// True once a command has been sent by which the table learns of this connection.
    pub(crate) has_sent: bool,
    /// True once such a command has been answered.
    pub(crate) has_answered: bool,
    pub(crate) token: Option<String>,
    /// The session of the token: its end is not the end of a newer session.
    pub(crate) session: Option<String>,
}

impl ActiveSocket {
    /// Returns a pending socket as an active one on which nothing has been sent.
    pub(crate) fn new(pending: PendingSocket, kind: Option<&str>) -> Self {
        let mut reader = MessageReader::new(Form::from_subprotocol(pending.protocol.as_deref()));
        if let Some(kind) = kind {
            reader.set_game_kind(kind);
        }
        Self {
            reader,
            next_id: if pending.token.is_some() { FIRST_ID } else { AUTHENTICATE_ID },
            is_authenticated: false,
            has_sent: false,
            has_answered: false,
            token: None,
            session: pending.session.clone(),
            pending,
        }
    }

    pub(crate) fn socket(&self) -> u64 {
        self.pending.socket
    }
}

/// Returns the address and the subprotocols of a new socket.
pub(crate) fn socket_request(
    url: String,
    forms: &[Form],
    token: Option<&str>,
    position: Option<TablePosition>,
) -> (String, Vec<String>) {
    let mut protocols: Vec<String> =
        forms.iter().map(|form| form.subprotocol().to_owned()).collect();
    let Some(token) = token else {
        return (url, protocols);
    };
    protocols.push(format!("{TOKEN_PREFIX}{token}"));
    let mut url = format!("{url}?type=join");
    if let Some(TablePosition { from, tag, table }) = position {
        // Neither an id nor a tag has a character that a query would have to escape.
        let Tag(tag) = tag;
        write!(url, "&from={from}&tag={tag}&table={}", table.0).expect("a text can be extended");
    }
    (url, protocols)
}
