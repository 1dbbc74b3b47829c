//! Play over WebSocket: one connection of one player, at the table where the player sits.
//!
//! `protocol` is what goes over the wire, `session` the life of one connection. The token is
//! checked before the socket opens. docs/PROTOCOL.md tells a client's author the same in prose,
//! asyncapi.yaml in types.

mod asyncapi;
mod examples;
mod limit;
pub mod protocol;
mod refusals;
mod session;

use axum::Router;
use axum::routing::get;

pub use asyncapi::{asyncapi, asyncapi_yaml};
pub use examples::{commands as example_commands, messages as example_messages};
pub use refusals::{Refused, refusals};
pub use session::PlayState;

/// The socket's one route.
pub fn router(state: PlayState) -> Router {
    Router::new().route("/v1/play", get(session::upgrade)).with_state(state)
}
