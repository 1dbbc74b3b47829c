//! The model server: the REST calls that a client makes by itself, and the socket of
//! docs/PROTOCOL.md as far as one player's client can observe it, at a practice table of the
//! engine.
//!
//! [`ModelServer`] is a state machine without I/O. The tests of clients run it in virtual time, and
//! `bahay-lab certify` behind real sockets. It knows no client: a message that a client must not
//! send is answered as the server answers it, and recorded as a [`Violation`].

mod model_server;
mod reply;
mod rest;
mod sockets;
mod tokens;
mod upgrade;

pub use model_server::{
    ClosedPrompt, ModelServer, Output, PLAYER, ServerOptions, Submission, Violation, WireData,
};
pub use reply::Reply;
pub use rest::RestRequest;
pub use tokens::{RefreshReply, TokenIssuer};
pub use upgrade::upgrade_commands;
