//! The inputs of a client: messages, and intents that it has formed earlier.

use std::rc::Rc;

use bahay_engine::table::{ConnectionId, GameId, TableId};

/// An input of a client.
pub(crate) enum ClientEvent {
    Message(ConnectionId, Rc<str>),
    Disconnected(ConnectionId),
    Alarm(Intent),
}

/// An intent that is carried out at a later time if it still applies.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum Intent {
    /// Ask again for the seat.
    Seat,
    Join,
    /// Join again so many times on this connection.
    JoinAgain(ConnectionId, u32),
    /// Join by a second connection.
    ConnectTwice(ConnectionId),
    Ready(GameId),
    Reveal(GameId),
    Act(GameId, u32),
    TakeBack(GameId),
    /// Leave for another table.
    GiveUp(TableId),
    /// Rejoin or reconnect if no message has arrived since.
    CheckSilence {
        received: u64,
        is_asked: bool,
    },
}
