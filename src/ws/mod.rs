//! Play over WebSocket: one connection of one player, at the table where the player sits.
//!
//! `protocol` is the wire format. `entry` opens sockets and authenticates clients. `session` runs
//! one connection: `session/feed` builds its table's messages, `chat` handles talk, `spectator`
//! delays a spectator's updates, `matchmaking` handles tickets, `advice` asks the AI. `link` reads
//! frames, writes messages and detects dead connections.
//!
//! docs/PROTOCOL.md describes the protocol in prose, asyncapi.yaml its types.

mod entry;
mod hooks;
mod link;
mod refusal;
mod session;
mod state;

pub use bahay_protocol as protocol;

use std::sync::Arc;

use axum::Router;
use axum::routing::get;

pub use hooks::FaultHooks;
pub use link::monitor::LinkMonitor;
pub use protocol::limits::{LinkTimes, Silence};
pub use state::PlayState;

/// Returns the router with the socket's only route.
pub fn router(state: PlayState) -> Router {
    Router::new().route("/v1/play", get(entry::upgrade::upgrade)).with_state(Arc::new(state))
}
