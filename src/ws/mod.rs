//! Play over WebSocket: one connection of one player, at the table where the player sits.
//!
//! `protocol` is the wire format. `upgrade` opens sockets, `handshake` reads credentials and a join
//! from the request, `authentication` waits for credentials otherwise, `session_confirmation`
//! admits returning players while PostgreSQL is down. `session` runs one connection, `feed` builds
//! its table's messages, `chat` handles talk, `spectator` delays a spectator's updates,
//! `matchmaking` handles tickets, `advice` asks the AI, `command_rate` limits commands,
//! `control_events` merges rare events, `link_monitor` detects dead links, `writer` writes messages
//! and `socket` reads frames.
//!
//! docs/PROTOCOL.md describes the protocol in prose, asyncapi.yaml its types.

mod advice;
mod asyncapi;
mod authentication;
mod chat;
mod command_rate;
mod control_events;
mod examples;
mod feed;
mod handshake;
mod link_monitor;
mod lobby_refusals;
mod matchmaking;
mod refusals;
mod sanctions;
mod session;
mod session_confirmation;
mod socket;
mod spectator;
mod upgrade;
mod writer;

pub use bahay_protocol as protocol;

use std::sync::Arc;

use axum::Router;
use axum::routing::get;

pub use asyncapi::{asyncapi, asyncapi_yaml};
pub use examples::{commands as example_commands, messages as example_messages};
pub use link_monitor::{LinkMonitor, LinkTimes, Silence};
pub use refusals::{SocketRefusal, refusals};
pub use upgrade::{FaultHooks, PlayState};

/// Returns the router with the socket's only route.
pub fn router(state: PlayState) -> Router {
    Router::new().route("/v1/play", get(upgrade::upgrade)).with_state(Arc::new(state))
}
