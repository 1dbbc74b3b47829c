//! A client that uses only the public API: REST for everything around the table, and one WebSocket
//! for play. The demo, the tests and the load tester play through it; it shares no knowledge of the
//! server's implementation.
//!
//! [`Client`] is a signed-in player. [`Play`] is one connection and reports everything that happens
//! to it. [`ReconnectingPlay`] is a player who reconnects automatically: a driver of the client core
//! of `bahay_client` on tokio. Both keep a [`ClientTable`], the player's copy of the table.

mod client;
mod io;
mod play;
mod reconnecting;
mod table;

pub use bahay_client::Outcome;
pub use client::{Client, ClientError, RoomSummary, Wallet};
pub use play::{Play, PlayError, RawMessage, SocketAuth};
pub use reconnecting::{CommandNumber, PlayEvent, ReconnectError, ReconnectingPlay, table_events};
pub use table::{AwaitedInput, ClientTable, VersionGap};
