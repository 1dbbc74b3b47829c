//! The control of the crowd: the number of players, and mass disconnections.

use std::sync::Arc;
use std::time::Duration;

use bahay_base::entropy;
use bahay_client_tokio::{Client, ClientError};
use tokio::sync::watch;
use tokio::task::JoinSet;

use super::crowd::{Crowd, CrowdTarget, OrderReceiver};
use super::player::LoadPlayer;
use crate::loadtest::nodes::Nodes;
use crate::loadtest::{self, LoadError, Options};

/// The time that players have to leave at the end of a run.
const SHUTDOWN_MAX: Duration = Duration::from_secs(5);

/// A bound on the duration of a game, unless players think for very long.
const GAME_MAX: Duration = Duration::from_secs(60);

/// The control of the crowd.
#[derive(Debug)]
pub(in crate::loadtest) struct CrowdControl {
    pub(in crate::loadtest) crowd: Arc<Crowd>,
    target: watch::Sender<CrowdTarget>,
    players: JoinSet<()>,
    /// The number of the next player.
    next: u32,
}

impl CrowdControl {
    /// Creates a crowd without players. One guest signs in at each address to check that it is
    /// reachable.
    pub(in crate::loadtest) async fn new(options: &Options) -> Result<Self, LoadError> {
        let mut first = None;
        for url in &options.urls {
            let device = format!("load-{}", entropy::uuid());
            first =
                Some(Client::guest(url, &device, "Load").await.map_err(|error| match error {
                    ClientError::Refused { status: 429, code, .. } => {
                        LoadError::RateLimited { code }
                    }
                    error => LoadError::SignIn(error),
                })?);
        }
        let first = first.ok_or(LoadError::NoAddress)?;
        let seats = loadtest::read_seat_count(&first, &options.room).await?.into();
        let crowd = Arc::new(Crowd::new(options, seats, Nodes::new(options, &first)));
        let (target, _) = watch::channel(CrowdTarget {
            players: 0,
            at_once: false,
            seek_tables: true,
            storms: 0,
        });
        Ok(Self { crowd, target, players: JoinSet::new(), next: 0 })
    }

    /// Sets the wanted number of players. Missing ones are started; those with the highest numbers
    /// leave first.
    pub(in crate::loadtest) fn set_players(&mut self, players: u32) {
        self.target.send_modify(|target| target.players = players);
        if players < self.next {
            self.next = players;
        }
        while self.next < players {
            let orders = OrderReceiver::new(&self.target);
            self.players.spawn(LoadPlayer::new(self.crowd.clone(), self.next, orders).run());
            self.next += 1;
        }
        // Reaps players that have left.
        while self.players.try_join_next().is_some() {}
    }

    /// Sets whether players look for tables or only connect.
    pub(in crate::loadtest) fn set_seek_tables(&self, seek_tables: bool) {
        self.target.send_modify(|target| target.seek_tables = seek_tables);
    }

    /// Disconnects every player now.
    pub(in crate::loadtest) fn disconnect_all(&self) {
        self.target.send_modify(|target| target.storms += 1);
    }

    /// Returns the wanted number of players.
    pub(in crate::loadtest) fn players(&self) -> u32 {
        self.next
    }

    /// Lets all players leave after their current game, so that no game is left to the AI.
    pub(in crate::loadtest) async fn finish_games(&mut self) {
        self.dismiss_all(GAME_MAX).await;
        self.players.shutdown().await;
    }

    /// Lets all players leave, and waits for those that do so in time.
    async fn dismiss_all(&mut self, limit: Duration) {
        self.set_players(0);
        let gone = async { while self.players.join_next().await.is_some() {} };
        // The caller drops the others.
        let _ = tokio::time::timeout(limit, gone).await;
    }

    /// Lets all players leave at once, and drops the crowd.
    pub(in crate::loadtest) async fn shut_down(mut self) {
        self.target.send_modify(|target| target.at_once = true);
        self.dismiss_all(SHUTDOWN_MAX).await;
    }
}
