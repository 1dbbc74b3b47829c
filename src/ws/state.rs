//! The state that all connections share.

use std::convert::Infallible;

use tokio::sync::{mpsc, watch};

use crate::accounts::SanctionReader;
use crate::auth::Auth;
use crate::clock::Clock;
use crate::live_store::LiveStore;
use crate::lobby::Lobby;
use crate::notices::Notices;
use crate::rate_limit::RateLimits;
use crate::social::Social;
use crate::ws::hooks::FaultHooks;
use crate::ws::link::monitor::LinkMonitor;

/// The state that all connections share.
#[derive(Clone, Debug)]
pub struct PlayState {
    pub auth: Auth,
    pub lobby: Lobby,
    pub live: LiveStore,
    pub rate_limits: RateLimits,
    /// Detects dead connections.
    pub links: LinkMonitor,
    pub notices: Notices,
    pub social: Social,
    /// Reads mutes and bans, with the clock below.
    pub sanctions: SanctionReader,
    pub clock: Clock,
    /// Becomes true when the server shuts down.
    pub stopping: watch::Receiver<bool>,
    /// Never used for sending: the receiver waits until the last connection has dropped it.
    pub alive: mpsc::Sender<Infallible>,
    pub hooks: FaultHooks,
}
