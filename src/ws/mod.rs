//! Play over WebSocket: one connection of one player, at the table where the player sits.
//!
//! `protocol` is what goes over the wire. `door` opens sockets, `entry` asks who it is where no
//! token came with the request, `session` is the life of one connection, `feed` the messages of
//! its table, `chat` what it hears from and sees of others, `spectate` how late a spectator sees
//! it, `seeking` its search for a table, `hint` what the AI would play, `control` what it waits for and hardly ever hears,
//! `link_monitor` notices that it has gone dead, `writer` what writes to it, `wire` its socket. docs/PROTOCOL.md tells
//! a client's author the same in prose, asyncapi.yaml in types.

mod asyncapi;
mod chat;
mod control_events;
mod upgrade;
mod authentication;
mod examples;
mod feed;
mod advice;
mod command_rate;
mod link_monitor;
mod lobby_refusals;
mod handshake;
mod refusals;
mod session_confirmation;
mod sanctions;
mod matchmaking;
mod session;
mod spectator;
mod socket;
mod writer;

pub use bahay_protocol as protocol;

use std::sync::Arc;

use axum::Router;
use axum::routing::get;

pub use asyncapi::{asyncapi, asyncapi_yaml};
pub use upgrade::{FaultHooks, PlayState};
pub use examples::{commands as example_commands, messages as example_messages};
pub use link_monitor::{LinkMonitor, LinkTimes, Silence};
pub use refusals::{SocketRefusal, refusals};

/// The socket's one route.
pub fn router(state: PlayState) -> Router {
    Router::new().route("/v1/play", get(upgrade::upgrade)).with_state(Arc::new(state))
}
